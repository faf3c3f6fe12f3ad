//! The interface as a person meets it: the real binary in a terminal emulator, keys in, settled screens out.
//!
//! | module | holds |
//! |---|---|
//! | `stage` | a user with a project and a scripted model; screens compared with approved ones |
//! | `steady` | a screen without what differs from run to run |
//! | `live` | a model whose answer is held half-way for as long as a test likes |
//! | `first_run` | onboarding, keys, trust, the demo |
//! | `chat` | streaming, every kind of block, thoughts |
//! | `asking` | permission and the model's questions |
//! | `panes` | everything that lies over the conversation |
//! | `faults` | wrong keys, no network, errors of the provider |
//! | `writing` | completion, history, pastes, the editor, drafts |
//! | `living` | resizing, stopping, suspending, kills and coming back |
//! | `ways` | inline, colours |
//! | `lines` | linear mode, at a terminal and in pipes |
//! | `promises` | what must hold: idle, key latency, bytes |
//! | `tmux` | the main flow inside tmux |
//!
//! Approved screens are in `snapshots/`; `INSTA_UPDATE=always cargo test -p cli --test it face` writes new ones.

mod asking;
mod chat;
mod faults;
mod first_run;
mod lines;
mod live;
mod living;
mod panes;
mod promises;
mod stage;
mod steady;
mod tmux;
mod ways;
mod writing;
