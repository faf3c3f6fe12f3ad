//! Text that is typed into a running job.
//!
//! A shell runs what is typed, so it is judged like a command line, with the reach the job has already. Any other
//! program is judged by what it can reach. Deny and ask rules hold for both, line by line.

use base::protocol::Mode;

use super::line::Line;
use super::{Decision, Judge, Reason, Verdict, blame};
use crate::action::{JobText, Taint};
use crate::cage::Reach;
use crate::fence::Fence;
use crate::rule::{Kind, Rule};
use crate::shell;

/// Programs that run the commands they read, or start a program that does.
const SHELLS: &[&str] = &[
    "ash",
    "bash",
    "busybox",
    "chroot",
    "csh",
    "dash",
    "doas",
    "elvish",
    "expect",
    "fish",
    "ksh",
    "mksh",
    "mosh",
    "newgrp",
    "nix-shell",
    "nsenter",
    "nu",
    "pwsh",
    "rbash",
    "rksh",
    "runuser",
    "screen",
    "script",
    "sg",
    "sh",
    "ssh",
    "su",
    "sudo",
    "tcsh",
    "telnet",
    "tmux",
    "toybox",
    "unshare",
    "xonsh",
    "yash",
    "zsh",
];
/// The interrupt key: in a terminal it throws the current line away.
const INTERRUPT: &str = "\u{3}";
/// The end-of-input key.
const END_OF_INPUT: &str = "\u{4}";

impl Judge<'_> {
    pub(super) fn judge_typed(
        &self,
        tool: &str,
        typed: &JobText,
        lines: &[Line<'_>],
        taint: &Taint,
    ) -> Verdict {
        let about = |rule: &&Rule| rule.covers_tool(tool, Kind::Run);
        let deny = self.rules.deny.iter().find(about);
        if let Some(rule) = deny {
            return Verdict::by_rule(Decision::Deny, rule);
        }
        if typed.is_key() {
            return Verdict::allow(Reason::TypesNoCommand).reaching(typed.reach);
        }
        let judged: Vec<Verdict> =
            lines.iter().map(|line| self.judge_piece(typed, line, taint)).collect();
        typed.blaming(self.judge_text(tool, typed, (lines, judged), taint))
    }

    /// What becomes of a text whose pieces have been judged.
    fn judge_text(
        &self,
        tool: &str,
        typed: &JobText,
        (lines, judged): (&[Line<'_>], Vec<Verdict>),
        taint: &Taint,
    ) -> Verdict {
        let ruled = |verdict: &&Verdict| {
            verdict.decision == Decision::Deny
                || verdict.rule().is_some() && verdict.decision == Decision::Ask
        };
        if let Some(verdict) = judged.iter().filter(ruled).max_by_key(|it| it.decision) {
            return verdict.clone();
        }
        let is_for_shell = typed.is_for_shell();
        if is_for_shell && let Some(verdict) = self.judge_unreadable(typed) {
            return verdict;
        }
        if self.mode == Mode::Bypass {
            // A critical delete is asked about in every mode.
            let asked = judged.into_iter().find(|verdict| verdict.decision == Decision::Ask);
            return asked.unwrap_or_else(Self::bypassed);
        }
        let about = |rule: &&Rule| rule.covers_tool(tool, Kind::Run);
        if let Some(rule) = self.rules.ask.iter().find(about) {
            return Verdict::by_rule(Decision::Ask, rule);
        }
        let only_reads = is_for_shell && only_read(lines);
        let by_reach = self.judge_reach(typed, (is_for_shell, only_reads), taint);
        let verdict = by_reach.unwrap_or_else(|| {
            let all = judged.into_iter().reduce(Verdict::and);
            all.unwrap_or_else(|| Verdict::allow(Reason::TypesNoCommand))
        });
        verdict.reaching(typed.reach)
    }

    /// One piece of the text, judged as a command line in the job's folder.
    fn judge_piece(&self, typed: &JobText, line: &Line<'_>, taint: &Taint) -> Verdict {
        let mut verdict = self.judge_run(line, taint);
        // Rules for the command would not lift the question: earlier text was typed into the same shell.
        if !typed.before.is_empty() {
            verdict.grants.clear();
        }
        verdict
    }

    /// Text of which nobody can tell what the shell will run: control characters edit it, `!` and `^` recall
    /// earlier lines. Rules cannot be held against it.
    fn judge_unreadable(&self, typed: &JobText) -> Option<Verdict> {
        if !typed.is_unreadable() {
            return None;
        }
        let about_commands = |rule: &Rule| rule.command().is_some();
        let reason = Reason::EditsTypedLine;
        match self.mode {
            Mode::Bypass if self.rules.deny.iter().any(about_commands) => {
                Some(Verdict::deny(Reason::UncheckedDenyRules { inner: Box::new(reason) }))
            }
            Mode::Bypass => None,
            Mode::Plan => Some(Verdict::deny(reason.denied_by(self.mode))),
            Mode::Default | Mode::AcceptEdits | Mode::DontAsk => Some(Verdict::ask(reason)),
        }
    }

    /// What the job's reach decides by itself; `None` where the text decides.
    fn judge_reach(
        &self,
        typed: &JobText,
        (is_for_shell, only_reads): (bool, bool),
        taint: &Taint,
    ) -> Option<Verdict> {
        let planning = self.mode == Mode::Plan;
        let is_sandboxed = matches!(typed.reach, Reach::ReadOnly | Reach::Workspace);
        if !is_sandboxed {
            let reason = Reason::JobOutsideSandbox;
            return Some(if planning {
                Verdict::deny(reason.denied_by(self.mode))
            } else {
                Verdict::ask(reason)
            });
        }
        if planning && typed.reach != Reach::ReadOnly && !only_reads {
            return Some(Verdict::deny(Reason::JobMayWrite.denied_by(self.mode)));
        }
        match taint {
            Taint::From(origin) if !only_reads => {
                Some(Verdict::ask(Reason::TypesIntoJob.tainted(origin)))
            }
            Taint::From(_) | Taint::Clean if is_for_shell => None,
            Taint::From(_) | Taint::Clean => Some(Verdict::allow(Reason::JobSandbox)),
        }
    }
}

/// Whether the job has been given nothing but commands that only read, this text included.
fn only_read(lines: &[Line<'_>]) -> bool {
    let reads =
        |line: &Line<'_>| line.parsed.as_ref().is_ok_and(|known| known.script.read_only().is_ok());
    lines.iter().all(reads)
}

impl JobText {
    /// A single key that runs nothing: the interrupt, or the end of the input with no line begun.
    fn is_key(&self) -> bool {
        match self.text.as_str() {
            INTERRUPT => self.terminal,
            END_OF_INPUT | "" | "\n" => self.pending().is_empty(),
            _ => false,
        }
    }

    /// The line that was begun and not ended before.
    fn pending(&self) -> &str {
        self.before.rsplit('\n').next().unwrap_or_default()
    }

    /// The command lines the text may stand for: together with everything typed before, by itself, and line by
    /// line. A program that reads from the same input may take any line away from the shell.
    fn pieces(&self) -> Vec<String> {
        let whole = format!("{}{}", self.before, self.text);
        let fresh = format!("{}{}", self.pending(), self.text);
        // A backslash at the end of a line joins it with the next one.
        let joined = whole.replace("\\\n", "");
        let last = joined.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
        let mut pieces: Vec<String> = vec![last.to_owned(), fresh.clone(), self.text.clone()];
        pieces.extend(fresh.lines().map(str::to_owned));
        pieces.extend([joined, whole]);
        pieces.retain(|piece| !piece.trim().is_empty());
        let mut once = Vec::new();
        for piece in pieces {
            if !once.contains(&piece) {
                once.push(piece);
            }
        }
        once
    }

    /// Whether the job may run typed lines as commands.
    fn is_for_shell(&self) -> bool {
        let is_shell = |word: &str| SHELLS.contains(&word.rsplit('/').next().unwrap_or(word));
        let Ok(script) = shell::parse(&self.command) else { return true };
        script.all_commands().iter().any(|command| {
            let unknown = command.program().is_none();
            unknown || command.words.iter().any(|word| word.plain().is_none_or(is_shell))
        })
    }

    fn is_unreadable(&self) -> bool {
        let edits = |c: char| c.is_control() && c != '\n' && (c != '\t' || self.terminal);
        let fresh = format!("{}{}", self.pending(), self.text);
        fresh.contains(edits)
            || fresh.contains('!')
            || fresh.lines().any(|line| line.trim_start().starts_with('^'))
    }

    /// The lines that the text may be, analysed.
    pub(super) fn lines(&self, fence: &Fence) -> Vec<Line<'_>> {
        let pieces = self.pieces().into_iter();
        pieces.map(|piece| Line::new("bash", piece, &self.folder, fence)).collect()
    }

    /// Names the whole text as what the user should look at.
    fn blaming(&self, mut verdict: Verdict) -> Verdict {
        verdict.blame.clear();
        verdict.blaming([blame::whole(&self.text)])
    }
}
