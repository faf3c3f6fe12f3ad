//! Deletes that nobody wants to have allowed by the way.

use std::path::{Path, PathBuf};

use super::Policy;
use super::paths::{Folders, is_temporary};
use super::run::{Known, Line};
use crate::shell::{self, Meaning, Simple, Word};

impl Policy {
    /// What a critical `rm` or `rmdir` of the line would delete: the system, the home folder, the
    /// workspace or what is above it.
    pub(super) fn critical(&self, line: &Line<'_>, known: Option<&Known<'_>>) -> Option<String> {
        let Some(known) = known else {
            let folders = Folders::Lost;
            return shell::fragments(line.command).iter().find_map(|fragment| {
                let mut words = fragment.split(' ');
                words.next().filter(|it| matches!(*it, "rm" | "rmdir"))?;
                words.find(|word| self.is_critical(word, &folders)).map(str::to_owned)
            });
        };
        let deletes = |it: &&Simple| matches!(it.program_name(), Some("rm" | "rmdir"));
        known.script.all_commands().into_iter().filter(deletes).find_map(|command| {
            let operand = |word: &&Word| match &word.meaning {
                Meaning::Plain(text) | Meaning::Pattern(text) => {
                    self.is_critical(text, &known.folders)
                }
                // An empty variable leaves what stands around it.
                Meaning::Unknown(rest) => {
                    !rest.is_empty() && self.is_critical(rest, &known.folders)
                }
            };
            command.arguments().iter().find(operand).map(|word| word.raw.clone())
        })
    }

    fn is_critical(&self, text: &str, folders: &Folders) -> bool {
        if text.starts_with('-') || text.is_empty() {
            return false;
        }
        let all = |it: &str| matches!(it, "*" | ".*" | "." | "{*,.*}");
        let base = match text.rsplit_once('/') {
            Some((folder, last)) if last.is_empty() || all(last) => {
                if folder.is_empty() {
                    "/"
                } else {
                    folder
                }
            }
            None if all(text) => ".",
            Some(_) | None => text,
        };
        let Some(spots) = folders.locate(base, &self.fence) else {
            return matches!(base, "." | "..") || base.starts_with("../");
        };
        let home = self.fence.home();
        spots.iter().any(|spot| {
            let holds = |path: &PathBuf, root: &Path| root.starts_with(path);
            let shallow = |path: &Path| path.components().count() <= 2 && !is_temporary(path);
            [&spot.asked, &spot.real].iter().any(|path| {
                self.fence.roots().iter().any(|root| holds(path, root))
                    || holds(path, home)
                    || shallow(path)
            })
        })
    }
}
