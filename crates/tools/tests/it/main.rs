//! The hands from outside: each tool as a model calls it, on real files and processes.
#![allow(clippy::unwrap_used, reason = "tests fail by it")]

mod apply_patch;
mod bash;
mod edit;
mod editor;
mod format;
mod jobs;
mod lsp;
mod lsp_odd;
mod lsp_trouble;
mod pages;
mod past;
mod processes;
mod question;
mod recall;
mod researcher;
mod room;
mod search;
mod servers;
mod site;
mod todos;
mod view;
mod web;
mod web_search;
mod write;
