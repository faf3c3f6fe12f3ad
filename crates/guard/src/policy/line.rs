//! A command line and what is known of it before any rule is looked at: analysed once per decision.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::blame;
use super::paths::{self, Folders, Named};
use super::verdict::BlamedPart;
use crate::fence::{Fence, Spot};
use crate::shell::{self, Script, Simple, Unclear};

/// A command line to judge, with what is known of it before any rule is looked at.
pub(super) struct Line<'a> {
    pub(super) tool: &'a str,
    pub(super) command: Cow<'a, str>,
    pub(super) uncaged: bool,
    pub(super) parsed: Result<Known, Unclear>,
}

/// What is known of a line that was understood.
pub(super) struct Known {
    pub(super) script: Script,
    pub(super) folders: Folders,
    /// The places each command names, looked up at most once a decision; in the order of `all_commands`.
    named: Vec<OnceCell<Named>>,
}

impl<'a> Line<'a> {
    /// Analyses a line that would run in `folder`.
    pub(super) fn new(
        tool: &'a str,
        command: impl Into<Cow<'a, str>>,
        folder: &Spot,
        fence: &Fence,
    ) -> Self {
        let command = command.into();
        let parsed = shell::parse(&command).map(|script| {
            let folders = Folders::of(&script, &folder.real, fence);
            let named = script.all_commands().iter().map(|_| OnceCell::new()).collect();
            Known { script, folders, named }
        });
        Self { tool, command, uncaged: false, parsed }
    }

    /// A command of the line, as it is written in it.
    pub(super) fn blame(&self, command: &Simple) -> Vec<BlamedPart> {
        blame::command_in(&self.command, command)
    }
}

impl Known {
    /// Every command of the line, with the places it names. They are looked up when they are first asked for.
    pub(super) fn commands<'k>(
        &'k self,
        fence: &'k Fence,
    ) -> impl Iterator<Item = (&'k Simple, impl Fn() -> &'k Named + 'k)> {
        self.script.all_commands().into_iter().zip(&self.named).map(move |(command, named)| {
            let look_up = move || named.get_or_init(|| paths::named(command, &self.folders, fence));
            (command, look_up)
        })
    }
}
