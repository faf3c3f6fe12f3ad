//! Commands: every part of a line, its redirects, and the paths it names.

use base::protocol::Mode;

use super::line::{Known, Line};
use super::part::{PartVerdict, line_grants};
use super::program_options::running_word;
use super::verdict::BlamedPart;
use super::{CageState, Decision, Judge, Reason, Verdict, blame, denials};
use crate::action::Taint;
use crate::cage::Reach;
use crate::fence::Spot;
use crate::rule::{Kind, Rule};
use crate::shell::{Direction, Simple, Unclear};

impl Judge<'_> {
    pub(super) fn judge_run(&self, line: &Line<'_>, taint: &Taint) -> Verdict {
        let mut verdict = self.judge_line(line, taint);
        if line.uncaged {
            verdict.blame.clear();
        }
        if verdict.blame.is_empty() {
            verdict = verdict.blaming([blame::whole(&line.command)]);
        }
        verdict
    }

    fn judge_line(&self, line: &Line<'_>, taint: &Taint) -> Verdict {
        let known = line.parsed.as_ref().ok();
        let texts = denials::texts(&line.command, known.map(|known| &known.script));
        if let Some((rule, _)) = self.find_rule(&self.rules.deny, line, &texts) {
            return Verdict::by_rule(Decision::Deny, rule);
        }
        if let Some((target, command)) = self.critical(line) {
            let reach =
                if self.mode == Mode::Bypass { Reach::Everything } else { Reach::Workspace };
            let parts = command.map(|command| line.blame(command)).unwrap_or_default();
            let verdict = Verdict::ask(Reason::DeletesCritical { target });
            return verdict.blaming(parts).reaching(self.reach(reach));
        }
        if self.mode == Mode::Bypass {
            let is_ruled = self.rules.deny.iter().any(|rule| rule.command().is_some());
            if is_ruled && known.is_none_or(|known| denials::hides_commands(&known.script)) {
                return Verdict::ask(Reason::HiddenCommands).reaching(Reach::Everything);
            }
            return Self::bypassed();
        }

        let verdict = self.judge_without_rules_that_ask(line, taint);
        match self.find_rule(&self.rules.ask, line, &texts) {
            Some((rule, parts)) if verdict.decision != Decision::Deny => {
                let asked = Verdict::by_rule(Decision::Ask, rule).blaming(parts);
                asked.blaming(verdict.blame).reaching(verdict.reach)
            }
            Some(_) | None => verdict,
        }
    }

    /// A rule among `rules` about the tool, any command of the line, or a place it names; with the parts it is about.
    fn find_rule<'r>(
        &self,
        rules: &'r [Rule],
        line: &Line<'_>,
        texts: &[String],
    ) -> Option<(&'r Rule, Vec<BlamedPart>)> {
        let Some(rule) = find_command(rules, line.tool, texts) else {
            return self.find_place(rules, line);
        };
        let mut parts = Vec::new();
        if let (Some(pattern), Ok(known)) = (rule.command(), &line.parsed) {
            for command in known.script.all_commands() {
                let texts = [command.text(), command.plain_text(), command.bare_text()];
                if texts.iter().any(|text| pattern.matches(text)) {
                    parts.extend(line.blame(command));
                }
            }
        }
        Some((rule, parts))
    }

    /// A rule among `rules` about a place that the line reads or writes, with the part that names it.
    fn find_place<'r>(
        &self,
        rules: &'r [Rule],
        line: &Line<'_>,
    ) -> Option<(&'r Rule, Vec<BlamedPart>)> {
        let known = line.parsed.as_ref().ok()?;
        if !rules.iter().any(Rule::is_about_files) {
            return None;
        }
        let hit = |spot: &Spot, kinds: &[Kind]| {
            let about = |rule: &&Rule| kinds.iter().any(|kind| self.forbids(rule, *kind, spot));
            rules.iter().find(about)
        };
        for redirect in known.script.all_redirects() {
            let kinds: &[Kind] = match redirect.direction {
                Direction::In => &[Kind::Read],
                Direction::Out => &[Kind::Edit, Kind::Read],
            };
            let text = redirect.target.plain().unwrap_or(&redirect.target.raw);
            let spots = known.folders.locate(text, self.fence).unwrap_or_default();
            if let Some(rule) = spots.iter().find_map(|spot| hit(spot, kinds)) {
                let part = blame::word_in(&line.command, &redirect.target);
                return Some((rule, part.into_iter().collect()));
            }
        }
        for (command, named) in known.commands(self.fence) {
            if matches!(command.program_name(), Some("echo" | "printf" | ":" | "true" | "false")) {
                continue;
            }
            let writes = command.read_only().is_err();
            let kinds: &[Kind] = if writes { &[Kind::Read, Kind::Edit] } else { &[Kind::Read] };
            // A folder's name stands for what a rule says of the files inside.
            let inside = |spot: &Spot| Spot {
                asked: spot.asked.join("…"),
                real: spot.real.join("…"),
                inside: spot.inside,
            };
            let mut spots = named().spots.iter();
            let rule =
                spots.find_map(|spot| hit(spot, kinds).or_else(|| hit(&inside(spot), kinds)));
            if let Some(rule) = rule {
                return Some((rule, line.blame(command)));
            }
        }
        None
    }

    /// What becomes of a line when no rule denies it or asks about it.
    fn judge_without_rules_that_ask(&self, line: &Line<'_>, taint: &Taint) -> Verdict {
        let planning = self.mode == Mode::Plan;
        if line.uncaged {
            return if planning {
                Verdict::deny(Reason::OutsideSandbox.denied_by(self.mode))
            } else {
                Verdict::ask(Reason::OutsideSandbox).reaching(Reach::Everything)
            };
        }
        let reach = self.reach(if planning { Reach::ReadOnly } else { Reach::Workspace });
        let known = match &line.parsed {
            Ok(known) => known,
            Err(unclear) => return self.judge_unparsable(line, unclear, taint).reaching(reach),
        };
        let redirects = known.script.all_redirects().into_iter().filter_map(|redirect| {
            let verdict = self.judge_redirect(line.tool, redirect, known, taint)?;
            Some(verdict.blaming(blame::word_in(&line.command, &redirect.target)))
        });
        let reads = known.commands(self.fence).filter_map(|(command, named)| {
            let verdict = self.judge_paths(command, named, known)?;
            Some(verdict.blaming(line.blame(command)))
        });
        redirects.chain(reads).fold(self.judge_commands(line, known, taint), Verdict::and)
    }

    /// A line that nobody can look into: only a rule for all commands or for just this line allows it, and with
    /// untrusted content in the context only where the sandbox holds it.
    fn judge_unparsable(&self, line: &Line<'_>, unclear: &Unclear, taint: &Taint) -> Verdict {
        let caged = self.cage == CageState::Works;
        let reason = Reason::Unparsable { detail: unclear.0.clone() };
        let ask = |reason| {
            let grant = Rule::exact_command(&line.command);
            Verdict::ask(reason).granting(grant.into_iter().collect())
        };
        match (self.rule_for_line(line), self.mode) {
            (Some(rule), Mode::Default | Mode::AcceptEdits | Mode::DontAsk) => match taint {
                Taint::From(origin) if !caged => ask(reason.tainted(origin)),
                Taint::From(_) | Taint::Clean => Verdict::by_rule(Decision::Allow, rule),
            },
            (_, Mode::Plan) if !caged => Verdict::deny(reason.denied_by(self.mode)),
            (_, Mode::Default | Mode::AcceptEdits | Mode::DontAsk | Mode::Plan | Mode::Bypass) => {
                ask(reason)
            }
        }
    }

    fn judge_commands(&self, line: &Line<'_>, known: &Known, taint: &Taint) -> Verdict {
        let caged = self.cage == CageState::Works;
        let Err(not_read_only) = self.check_read_only(known) else {
            return Verdict::allow(Reason::OnlyReads).reaching(self.reach(Reach::ReadOnly));
        };
        if self.mode == Mode::Plan {
            return if caged {
                Verdict::allow(Reason::ReadOnlySandbox).reaching(Reach::ReadOnly)
            } else {
                Verdict::deny(not_read_only.denied_by(self.mode))
            };
        }

        let commands = &known.script.commands;
        let parts: Vec<PartVerdict> = commands.iter().map(|it| self.judge_part(it)).collect();
        let open = commands.iter().zip(&parts).filter(|(_, part)| part.needs_approval());
        let open: Vec<BlamedPart> = open.flat_map(|(command, _)| line.blame(command)).collect();
        let reach = self.reach(Reach::Workspace);
        if let Taint::From(origin) = taint
            && let Some((reason, command)) = self.find_risk_of_taint(known)
        {
            let parts = command.map(|command| line.blame(command)).unwrap_or_default();
            let verdict = Verdict::ask(reason.tainted(origin)).blaming(open);
            return verdict.blaming(parts).reaching(reach);
        }
        if let Some(rule) = self.find_allowing(line, &known.script, &parts) {
            return Verdict::by_rule(Decision::Allow, rule).reaching(reach);
        }
        if self.mode == Mode::AcceptEdits && caged && *taint == Taint::Clean {
            return Verdict::allow(Reason::WorkspaceSandbox).reaching(reach);
        }
        let grants = line_grants(line, &known.script, &parts);
        let first = parts.into_iter().find_map(PartVerdict::into_reason);
        let mut reason = first.unwrap_or(not_read_only);
        if let (Mode::AcceptEdits, Taint::From(origin)) = (self.mode, taint) {
            // A page that says "run this" must not find it run.
            reason = reason.tainted(origin);
        }
        Verdict::ask(reason).blaming(open).granting(grants).reaching(reach)
    }

    /// What a line that does more than read must not do unasked while untrusted content is in the context, with the
    /// command to blame.
    fn find_risk_of_taint<'k>(&self, known: &'k Known) -> Option<(Reason, Option<&'k Simple>)> {
        if self.cage == CageState::Missing {
            return Some((Reason::NoSandbox, None));
        }
        if let Some(command) = self.find_persistent(known) {
            return Some((Reason::TouchesPersistentPath, Some(command)));
        }
        known.script.all_commands().into_iter().find_map(|command| {
            let word = running_word(command)?.to_owned();
            Some((Reason::MayRunProgram { word }, Some(command)))
        })
    }

    /// Whether a line runs without a question because it only reads; why not, if it does not.
    fn check_read_only(&self, known: &Known) -> Result<(), Reason> {
        let assurance = known
            .script
            .read_only()
            .map_err(|why| Reason::NotReadOnly { detail: why.to_string(), part: None })?;
        if !self.suffices(assurance) {
            return Err(Reason::NoSandboxToEnforce { part: None });
        }
        match self.foreign_repository(known) {
            Some(command) => Err(Reason::OtherRepository { part: command.text() }),
            None => Ok(()),
        }
    }

    /// An allow rule for all commands, or for just this line.
    pub(super) fn rule_for_line(&self, line: &Line<'_>) -> Option<&Rule> {
        self.rules.allow.iter().find(|rule| {
            rule.covers_tool(line.tool, Kind::Run) || is_this_line(rule, &line.command)
        })
    }
}

/// A rule about all commands of a tool, or about one of these texts.
fn find_command<'r>(rules: &'r [Rule], tool: &str, texts: &[String]) -> Option<&'r Rule> {
    let about = |rule: &&Rule| {
        rule.covers_tool(tool, Kind::Run)
            || rule.command().is_some_and(|pattern| texts.iter().any(|text| pattern.matches(text)))
    };
    rules.iter().find(about)
}

fn is_this_line(rule: &Rule, line: &str) -> bool {
    rule.command().is_some_and(|pattern| pattern.is_exact() && pattern.matches(line.trim()))
}
