//! Panes: what they look up, what their keys do, what they look like.

mod behaviour;
mod fixture;
mod screens;
mod small;
