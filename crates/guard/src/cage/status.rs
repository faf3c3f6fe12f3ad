//! What the sandbox of this system enforces, line by line.

use std::fmt;

use serde::Serialize;

use crate::policy::CageState;

/// What the sandbox of this system enforces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Whether commands can be caged at all.
    pub works: bool,
    /// Version of the kernel's Landlock; 0 without it.
    pub landlock_abi: u8,
    /// The kind of mount namespace in use.
    pub namespace: Namespace,
    /// Each part.
    pub items: Vec<Item>,
}

/// One part of what a sandbox can enforce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// What it keeps from happening.
    pub what: &'static str,
    /// Whether it does, here.
    pub state: State,
    /// By what, or why not.
    pub how: String,
}

/// Whether a part is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As documented.
    Enforced,
    /// In a weaker form.
    Partly,
    /// Not at all.
    Missing,
}

/// How caged processes get a view of the file system of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Namespace {
    /// Made with our own privileges.
    Privileged,
    /// Made in a user namespace that knows only this user.
    User,
    /// Not at all: Landlock alone, which cannot except a place from a folder it allows.
    None,
}

impl Status {
    /// What the policy wants to know.
    pub fn state(&self) -> CageState {
        if self.works { CageState::Works } else { CageState::Missing }
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Privileged => "mount namespace",
            Self::User => "user and mount namespace",
            Self::None => "no namespace",
        })
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Enforced => "enforced",
            Self::Partly => "partly",
            Self::Missing => "missing",
        })
    }
}
