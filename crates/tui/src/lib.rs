//! The face: panes, composer, transcript view, markdown, diff, pickers. It speaks to the mind through
//! [`base::Client`] alone.
//!
//! Map of the room, from what happens to what is written to the terminal:
//!
//! | module | does |
//! |---|---|
//! | [`face`] | the loop: messages in, effects out, frames drawn |
//! | [`message`] | what comes in, what goes out |
//! | [`app`] | the interface as a whole: what it knows, what it does with a message, where it draws |
//! | [`linear`] | the interface without a screen: lines, for screen readers and plain terminals |
//! | [`transcript`] | the conversation: items, laid out when they are seen |
//! | [`markdown`], [`code`], [`diff`], [`picture`] | what it is made of, as rows |
//! | [`composer`] | where prompts are written |
//! | [`panel`] | questions: may this run, what do you think |
//! | [`pane`], [`picker`] | lists and pages over the conversation; the list they share |
//! | [`welcome`] | the first run: a model, trust, instructions |
//! | [`field`] | a text of one line that is being written |
//! | `figures` | times, token counts and money as people read them |
//! | [`keymap`], [`theme`], [`look`] | which key does what; what things look like |
//! | [`text`], [`style`], [`line`] | graphemes and their width; colours; styled rows, wrapped |
//! | [`canvas`], [`screen`] | a grid of cells; the bytes that change a terminal from one to the next |
//! | [`terminal`] | the device: raw mode, its bytes read and understood, clipboard, notifications, pictures |
//! | [`key`] | keys, pastes, the mouse, answers of the terminal |

pub mod app;
pub mod canvas;
pub mod code;
pub mod composer;
pub mod diff;
pub mod face;
pub mod field;
mod figures;
pub mod key;
pub mod keymap;
pub mod line;
pub mod linear;
pub mod look;
pub mod markdown;
pub mod message;
pub mod pane;
pub mod panel;
pub mod picker;
pub mod picture;
pub mod screen;
pub mod style;
pub mod terminal;
pub mod text;
pub mod theme;
pub mod transcript;
pub mod welcome;
