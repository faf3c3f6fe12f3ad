//! The parts of a line, each judged by itself: it only reads, a rule allows it, or it needs approval.

use super::line::Line;
use super::verdict::MOST_GRANTS;
use super::{CageState, Judge, Policy, Reason, grants};
use crate::rule::Rule;
use crate::shell::{self, Assurance, Script, Simple, Unclear, Wrap};

/// One part of a line, and how it is judged by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The part, as it was written.
    pub text: String,
    /// How it is judged.
    pub verdict: PartVerdict,
}

/// How a part of a line is judged by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartVerdict {
    /// It only reads.
    ReadOnly,
    /// A rule allows it.
    AllowedBy(Rule),
    /// Neither; this is what it may do.
    NeedsApproval(Reason),
}

impl Policy {
    /// The parts of a command line, each with how it is judged by itself; an error if it is not understood.
    pub fn parts(&self, command: &str) -> Result<Vec<Part>, Unclear> {
        let script = shell::parse(command)?;
        let part = |it: &Simple| Part { text: it.text(), verdict: self.judge().judge_part(it) };
        Ok(script.commands.iter().map(part).collect())
    }
}

impl Judge<'_> {
    pub(super) fn judge_part(&self, command: &Simple) -> PartVerdict {
        match (command.read_only(), self.covering(command)) {
            (Ok(assurance), _) if self.suffices(assurance) => PartVerdict::ReadOnly,
            (Ok(_) | Err(_), Some(rule)) => PartVerdict::AllowedBy(rule.clone()),
            (Ok(_), None) => {
                let part = Some(command.text());
                PartVerdict::NeedsApproval(Reason::NoSandboxToEnforce { part })
            }
            (Err(why), None) => {
                let (detail, part) = (why.to_string(), Some(command.text()));
                PartVerdict::NeedsApproval(Reason::NotReadOnly { detail, part })
            }
        }
    }

    /// Whether a command with this assurance may run unasked on this machine.
    pub(super) fn suffices(&self, assurance: Assurance) -> bool {
        match assurance {
            Assurance::Inert => true,
            Assurance::Checked | Assurance::Sandboxed => self.cage == CageState::Works,
        }
    }

    /// The rule that allows a line: one for all commands, one for just this line, or one for each part (the first of
    /// them).
    pub(super) fn find_allowing<'s>(
        &'s self,
        line: &Line<'_>,
        script: &Script,
        parts: &'s [PartVerdict],
    ) -> Option<&'s Rule> {
        if let Some(rule) = self.rule_for_line(line) {
            return Some(rule);
        }
        if !script.hazards.is_empty() || sets_odd_variable(script) {
            return None;
        }
        if parts.iter().any(PartVerdict::needs_approval) {
            return None;
        }
        // Without any rule, something about the line as a whole made it more than a reader.
        parts.iter().find_map(|part| match part {
            PartVerdict::AllowedBy(rule) => Some(rule),
            PartVerdict::ReadOnly | PartVerdict::NeedsApproval(_) => None,
        })
    }

    /// A rule that allows one command, itself or by what it runs.
    fn covering(&self, command: &Simple) -> Option<&Rule> {
        if sets_odd_variable_for(command) {
            return None;
        }
        let (text, plain) = (command.text(), command.plain_text());
        let exact_only = needs_exact_rule(command);
        let direct = self.rules.allow.iter().find(|rule| {
            rule.command().is_some_and(|pattern| {
                (pattern.is_exact() || !exact_only)
                    && (pattern.matches(&text) || pattern.matches(&plain))
            })
        });
        direct.or_else(|| {
            let wrapped = command.wraps.as_ref()?;
            match wrapped.wrap {
                Wrap::Transparent | Wrap::Reparsed => self.covering_all(&wrapped.inner),
                Wrap::AppendsWords | Wrap::PerFile | Wrap::ChangesContext => None,
            }
        })
    }

    fn covering_all(&self, script: &Script) -> Option<&Rule> {
        if !script.hazards.is_empty() || sets_odd_variable(script) {
            return None;
        }
        let mut first = None;
        for command in &script.commands {
            if !command.read_only().is_ok_and(|it| self.suffices(it)) {
                let rule = self.covering(command)?;
                first = first.or(Some(rule));
            }
        }
        first
    }
}

impl PartVerdict {
    pub(super) fn needs_approval(&self) -> bool {
        matches!(self, Self::NeedsApproval(_))
    }

    pub(super) fn into_reason(self) -> Option<Reason> {
        match self {
            Self::NeedsApproval(reason) => Some(reason),
            Self::ReadOnly | Self::AllowedBy(_) => None,
        }
    }
}

/// The narrowest rules that would allow the parts of a line that need approval; else one for the line as a whole.
pub(super) fn line_grants(line: &Line<'_>, script: &Script, parts: &[PartVerdict]) -> Vec<Rule> {
    let whole = || Rule::exact_command(&line.command).into_iter().collect();
    let odd = sets_odd_variable(script) || !script.hazards.is_empty();
    let mut rules: Vec<Rule> = Vec::new();
    let open = script.commands.iter().zip(parts).filter(|(_, part)| part.needs_approval());
    for (command, _) in open {
        let odd = sets_odd_variable_for(command);
        match grants::for_command(command).filter(|_| !odd && !needs_exact_rule(command)) {
            Some(rule) if !rules.contains(&rule) => rules.push(rule),
            Some(_) => {}
            None => return whole(),
        }
    }
    if odd || rules.is_empty() || rules.len() > MOST_GRANTS { whole() } else { rules }
}

/// Whether a line sets a variable that may change what its commands do.
fn sets_odd_variable(script: &Script) -> bool {
    script.assignments.iter().any(|it| !shell::is_harmless_in_shell(&it.name))
}

/// Whether a variable is set for one command that may change what it does.
fn sets_odd_variable_for(command: &Simple) -> bool {
    command.assignments.iter().any(|it| !shell::is_harmless_for_programs(it))
}

/// Commands that a rule with `*` never covers: it would cover anything they run or delete. Behind a word of unknown
/// value such an action may hide.
fn needs_exact_rule(command: &Simple) -> bool {
    match command.program_name() {
        Some("watch" | "setsid" | "ionice" | "flock") => true,
        Some("find" | "fd" | "fdfind") => command.arguments().iter().any(|it| {
            let acts = ["-exec", "-ok", "-delete", "-fprint", "-fls"];
            match it.plain() {
                Some(text) => acts.iter().any(|act| text.starts_with(act)),
                None => it.may_be_option(),
            }
        }),
        Some(_) | None => false,
    }
}
