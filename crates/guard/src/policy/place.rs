//! Reading and changing files.

use std::fs;
use std::path::{Path, PathBuf};

use base::protocol::Mode;

use super::{Decision, Judge, Reason, Verdict};
use crate::action::Taint;
use crate::fence::{Fence, Spot};
use crate::protect;
use crate::rule::{Kind, Reading, Rule, Source};

impl Judge<'_> {
    pub(super) fn judge_read(&self, tool: &str, spot: &Spot) -> Verdict {
        let about = |rule: &&Rule| {
            rule.covers_tool(tool, Kind::Read) || self.forbids(rule, Kind::Read, spot)
        };
        if let Some(verdict) = self.decide_by_rule_or_bypass(about) {
            return verdict;
        }
        let path = self.fence.name(spot);
        let grants = || grant("Read", spot, self.fence);
        if self.is_secret(spot) {
            return match self.allows_secret(spot) {
                Some(rule) => Verdict::by_rule(Decision::Allow, rule),
                None => Verdict::ask(Reason::MayHoldSecrets { path }).granting(grants()),
            };
        }
        if spot.inside {
            return Verdict::allow(Reason::ReadsWorkspace);
        }
        match self.rules.allow.iter().find(|rule| self.permits(rule, Kind::Read, spot)) {
            Some(rule) => Verdict::by_rule(Decision::Allow, rule),
            None => Verdict::ask(Reason::OutsideWorkspace { path }).granting(grants()),
        }
    }

    pub(super) fn judge_edit(&self, tool: &str, spot: &Spot, taint: &Taint) -> Verdict {
        // What may not be seen may not be changed, either.
        let about = |rule: &&Rule| {
            rule.covers_tool(tool, Kind::Edit)
                || self.forbids(rule, Kind::Edit, spot)
                || self.forbids(rule, Kind::Read, spot)
        };
        if let Some(rule) = self.rules.deny.iter().find(about) {
            return Verdict::by_rule(Decision::Deny, rule);
        }
        if self.mode == Mode::Plan {
            let path = self.fence.name(spot);
            return Verdict::deny(Reason::EditsFile { path }.denied_by(self.mode));
        }
        // Reading is no change: only rules about changes ask here.
        let asks = |rule: &&Rule| {
            rule.covers_tool(tool, Kind::Edit) || self.forbids(rule, Kind::Edit, spot)
        };
        if let Some(verdict) = self.decide_by_rule_or_bypass(asks) {
            return verdict;
        }
        let path = self.fence.name(spot);
        if self.is_protected(spot) {
            return Verdict::ask(Reason::ProtectedPath { path });
        }
        if has_other_names(&spot.real) {
            return Verdict::ask(Reason::HardLink { path });
        }
        if let Taint::From(origin) = taint
            && self.is_persistent(spot)
        {
            return Verdict::ask(Reason::PersistentPath { path }.tainted(origin));
        }
        let covers_all = |rule: &&Rule| spot.inside && rule.covers_tool(tool, Kind::Edit);
        let allowing = self.rules.allow.iter();
        let rule = allowing
            .clone()
            .find(covers_all)
            .or_else(|| allowing.clone().find(|rule| self.permits(rule, Kind::Edit, spot)));
        if let Some(rule) = rule {
            return Verdict::by_rule(Decision::Allow, rule);
        }
        let grants = grant("Edit", spot, self.fence);
        if !spot.inside {
            return Verdict::ask(Reason::OutsideWorkspace { path }).granting(grants);
        }
        if self.mode == Mode::AcceptEdits {
            return Verdict::allow(Reason::EditsWorkspace);
        }
        Verdict::ask(Reason::EditsFile { path }).granting(grants)
    }

    /// Whether a rule that denies or asks is about doing this to a place.
    pub(super) fn forbids(&self, rule: &Rule, kind: Kind, spot: &Spot) -> bool {
        rule.covers_place(kind, spot, self.fence, Reading::Wide)
    }

    fn permits(&self, rule: &Rule, kind: Kind, spot: &Spot) -> bool {
        rule.covers_place(kind, spot, self.fence, Reading::Narrow)
    }

    pub(super) fn is_secret(&self, spot: &Spot) -> bool {
        let home = self.fence.home();
        protect::is_secret(&spot.asked, home) || protect::is_secret(&spot.real, home)
    }

    /// A rule that opens a secret place: it names files, and no project wrote it.
    pub(super) fn allows_secret(&self, spot: &Spot) -> Option<&Rule> {
        let own = self.rules.allow.iter().filter(|rule| rule.source() == Source::User);
        own.into_iter().find(|rule| self.permits(rule, Kind::Read, spot))
    }

    pub(super) fn is_protected(&self, spot: &Spot) -> bool {
        let home = self.fence.home();
        // Whoever works in one of the home folder's places works on it.
        let counts = !spot.inside || self.fence.roots().iter().any(|root| home.starts_with(root));
        let is_of_home = |path: &PathBuf| counts && protect::is_home_start_up(path, home);
        self.guarded(spot, protect::is_protected)
            || is_of_home(&spot.asked)
            || is_of_home(&spot.real)
    }

    pub(super) fn is_persistent(&self, spot: &Spot) -> bool {
        self.guarded(spot, protect::is_persistent)
    }

    fn guarded(&self, spot: &Spot, is: fn(&Path, &Path) -> bool) -> bool {
        let roots = self.fence.roots().iter().map(AsRef::as_ref);
        // Outside the fence the home folder's own files count.
        let home = (!spot.inside).then(|| self.fence.home());
        roots.chain(home).any(|root| is(&spot.asked, root) || is(&spot.real, root))
    }
}

/// The rule for just this file.
fn grant(verb: &str, spot: &Spot, fence: &Fence) -> Vec<Rule> {
    let escaped = |path: &Path| {
        let mut text = String::new();
        for letter in path.to_string_lossy().chars() {
            if matches!(letter, '*' | '?' | '[' | '\\' | '!') {
                text.push('\\');
            }
            text.push(letter);
        }
        text
    };
    // A bare name would float to any depth.
    let text = match spot.asked.strip_prefix(fence.folder()) {
        Ok(below) if spot.inside && below.as_os_str().is_empty() => return Vec::new(),
        Ok(below) if spot.inside => format!("{verb}(./{})", escaped(below)),
        Ok(_) | Err(_) => format!("{verb}(/{})", escaped(&spot.real)),
    };
    Rule::parse(&text).into_iter().collect()
}

/// Whether a file can be reached by another name, so that changing it changes something else.
#[cfg(unix)]
fn has_other_names(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).is_ok_and(|it| it.is_file() && it.nlink() > 1)
}

/// Whether a file can be reached by another name; not known here.
#[cfg(not(unix))]
fn has_other_names(path: &Path) -> bool {
    let _ = fs::symlink_metadata(path);
    false
}
