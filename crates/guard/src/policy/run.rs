//! Commands: every part of a line, its redirects, and the paths it names.

use base::protocol::Mode;

use super::paths::{self, Folders};
use super::program_options::running_word;
use super::{CageState, Decision, Policy, Verdict, denials, grants};
use crate::action::Taint;
use crate::cage::Reach;
use crate::fence::Spot;
use crate::rule::{Kind, Rule};
use crate::shell::{self, Assurance, Direction, Script, Simple, Unclear, Wrap};

/// A command line to judge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) tool: &'a str,
    pub(super) command: &'a str,
    pub(super) folder: &'a Spot,
    pub(super) uncaged: bool,
}

/// One part of a line, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The part, as it was written.
    pub text: String,
    /// How it stands.
    pub standing: Standing,
}

/// How a part of a line stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It only reads.
    ReadOnly,
    /// A rule allows it.
    Allowed(Rule),
    /// Neither; this is what it may do.
    Open(String),
}

/// What is known of a line before it is judged.
pub(super) struct Known<'a> {
    pub(super) script: &'a Script,
    pub(super) folders: Folders,
}

impl Policy {
    /// The parts of a command line, each with how it stands; an error if it is not understood.
    pub fn parts(&self, command: &str) -> Result<Vec<Part>, Unclear> {
        let script = shell::parse(command)?;
        Ok(script.commands.iter().map(|it| self.part(it)).collect())
    }

    pub(super) fn judge_run(&self, line: &Line<'_>, taint: &Taint) -> Verdict {
        let parsed = shell::parse(line.command);
        let script = parsed.as_ref().ok();
        let known = script.map(|script| Known {
            script,
            folders: Folders::of(script, &line.folder.real, &self.fence),
        });
        let mut verdict = self.judge_parsed(line, &parsed, known.as_ref(), taint);
        verdict.risky = self.risky(line, known.as_ref(), taint, &verdict);
        verdict
    }

    fn judge_parsed(
        &self,
        line: &Line<'_>,
        parsed: &Result<Script, Unclear>,
        known: Option<&Known<'_>>,
        taint: &Taint,
    ) -> Verdict {
        let script = known.map(|known| known.script);
        let texts = denials::texts(line.command, script);
        if let Some(verdict) = self.denied(line.tool, &texts, known) {
            return verdict;
        }
        if let Some(target) = self.critical(line, known) {
            let reach =
                if self.mode == Mode::Bypass { Reach::Everything } else { Reach::Workspace };
            return Verdict::ask(format!("it deletes {target}")).reaching(self.reach(reach));
        }
        if self.mode == Mode::Bypass {
            let is_ruled = self.rules.deny.iter().any(|rule| rule.command().is_some());
            if is_ruled && denials::hides_commands(parsed) {
                let why =
                    "which commands it runs is only known when it runs, and a rule denies some";
                return Verdict::ask(why).reaching(Reach::Everything);
            }
            return Self::bypassed();
        }
        let standing = self.standing(line, parsed, known, taint);
        match self.asked(line.tool, &texts, known) {
            Some(asked) if standing.decision != Decision::Deny => asked.reaching(standing.reach),
            Some(_) | None => standing,
        }
    }

    /// What a deny rule says: about the tool, any command of the line, or a place it names.
    fn denied(&self, tool: &str, texts: &[String], known: Option<&Known<'_>>) -> Option<Verdict> {
        let deny = &self.rules.deny;
        let rule = find_command(deny, tool, texts);
        let rule = rule.or_else(|| self.find_place(deny, known?));
        rule.map(|rule| Verdict::by_rule(Decision::Deny, rule))
    }

    fn asked(&self, tool: &str, texts: &[String], known: Option<&Known<'_>>) -> Option<Verdict> {
        let ask = &self.rules.ask;
        let rule = find_command(ask, tool, texts);
        let rule = rule.or_else(|| self.find_place(ask, known?));
        rule.map(|rule| Verdict::by_rule(Decision::Ask, rule))
    }

    /// A rule among `rules` about a place that the line reads or writes.
    fn find_place<'r>(&self, rules: &'r [Rule], known: &Known<'_>) -> Option<&'r Rule> {
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
            let spots = known.folders.locate(text, &self.fence).unwrap_or_default();
            if let Some(rule) = spots.iter().find_map(|spot| hit(spot, kinds)) {
                return Some(rule);
            }
        }
        for command in known.script.all_commands() {
            if matches!(command.program_name(), Some("echo" | "printf" | ":" | "true" | "false")) {
                continue;
            }
            let writes = command.read_only().is_err();
            let kinds: &[Kind] = if writes { &[Kind::Read, Kind::Edit] } else { &[Kind::Read] };
            let named = paths::named(command, &known.folders, &self.fence);
            // A folder's name stands for what a rule says of the files inside.
            let inside = |spot: &Spot| Spot {
                asked: spot.asked.join("…"),
                real: spot.real.join("…"),
                inside: spot.inside,
            };
            let rule = named
                .spots
                .iter()
                .find_map(|spot| hit(spot, kinds).or_else(|| hit(&inside(spot), kinds)));
            if rule.is_some() {
                return rule;
            }
        }
        None
    }

    /// How a line stands when no rule forbids it or asks about it.
    fn standing(
        &self,
        line: &Line<'_>,
        parsed: &Result<Script, Unclear>,
        known: Option<&Known<'_>>,
        taint: &Taint,
    ) -> Verdict {
        let planning = self.mode == Mode::Plan;
        if line.uncaged {
            return if planning {
                Verdict::deny("nothing runs outside the sandbox while planning")
            } else {
                Verdict::ask("it asks to run outside the sandbox").reaching(Reach::Everything)
            };
        }
        let reach = self.reach(if planning { Reach::ReadOnly } else { Reach::Workspace });
        let known = match (parsed, known) {
            (Ok(_), Some(known)) => known,
            (Err(unclear), _) => return self.unclear(line, unclear, taint).reaching(reach),
            (Ok(_), None) => return Verdict::ask("it is not understood").reaching(reach),
        };
        let verdict = self.commands_standing(line, known, taint);
        let touched = self.redirects_standing(line.tool, known, taint).into_iter();
        touched.chain(self.secrets_standing(known)).fold(verdict, Verdict::and)
    }

    /// A line nobody can look into: only a rule for all commands or for just this line allows it, and
    /// only where the cage holds it.
    fn unclear(&self, line: &Line<'_>, unclear: &Unclear, taint: &Taint) -> Verdict {
        let all = self.rules.allow.iter().find(|rule| {
            rule.covers_tool(line.tool, Kind::Run) || is_this_line(rule, line.command)
        });
        let caged = self.cage == CageState::Works;
        match (all, self.mode) {
            (Some(rule), Mode::Default | Mode::AcceptEdits | Mode::DontAsk)
                if caged || *taint == Taint::Clean =>
            {
                Verdict::by_rule(Decision::Allow, rule)
            }
            (_, Mode::Plan) if !caged => {
                Verdict::deny(format!("{unclear}, and nothing is changed while planning"))
            }
            (_, Mode::Default | Mode::AcceptEdits | Mode::DontAsk | Mode::Plan | Mode::Bypass) => {
                let grant = Rule::exact_command(line.command);
                Verdict::ask(unclear.to_string()).granting(grant.into_iter().collect())
            }
        }
    }

    pub(super) fn commands_standing(
        &self,
        line: &Line<'_>,
        known: &Known<'_>,
        taint: &Taint,
    ) -> Verdict {
        let caged = self.cage == CageState::Works;
        let not_read_only = match self.read_only(known) {
            Ok(()) => {
                let reach = self.reach(Reach::ReadOnly);
                return Verdict::allow("it only reads").reaching(reach);
            }
            Err(why) => why,
        };
        if self.mode == Mode::Plan {
            return if caged {
                Verdict::allow("it runs where nothing can be changed").reaching(Reach::ReadOnly)
            } else {
                Verdict::deny(format!("{not_read_only}, and nothing is changed while planning"))
            };
        }
        let reach = self.reach(Reach::Workspace);
        if let Taint::From(origin) = taint {
            let tainted = |what: &str| {
                let why = format!("{what} while words from {origin} are in the context");
                Verdict::ask(why).reaching(reach)
            };
            if !caged {
                return tainted("it runs without a sandbox");
            }
            if self.names_persistent(known) {
                return tainted("it touches what others obey later");
            }
            let running = known.script.all_commands().into_iter().find_map(running_word);
            if let Some(word) = running {
                return tainted(&format!("`{word}` may run another program"));
            }
        }
        if let Some(rule) = self.allowing(line, known.script) {
            return Verdict::by_rule(Decision::Allow, &rule).reaching(reach);
        }
        if self.mode == Mode::AcceptEdits && caged && *taint == Taint::Clean {
            return Verdict::allow("the sandbox keeps it inside the workspace").reaching(reach);
        }
        let open = known.script.commands.iter().find_map(|it| match self.part(it).standing {
            Standing::Open(why) => Some(why),
            Standing::ReadOnly | Standing::Allowed(_) => None,
        });
        let mut why = open.unwrap_or(not_read_only);
        if let (Mode::AcceptEdits, Taint::From(origin)) = (self.mode, taint) {
            // A page that says "run this" must not find it run.
            why = format!("{why}, while words from {origin} are in the context");
        }
        Verdict::ask(why).granting(self.line_grants(line, known.script)).reaching(reach)
    }

    /// Whether a line runs without a question because it only reads; why not, if it does not.
    fn read_only(&self, known: &Known<'_>) -> Result<(), String> {
        let assurance = known.script.read_only().map_err(|why| why.to_string())?;
        if !self.suffices(assurance) {
            return Err("it only reads, but there is no sandbox that would make sure".to_owned());
        }
        match self.foreign_repository(known) {
            Some(command) => Err(format!("`{}` reads another repository", command.text())),
            None => Ok(()),
        }
    }

    /// Whether a command with this assurance may run unasked on this machine.
    fn suffices(&self, assurance: Assurance) -> bool {
        match assurance {
            Assurance::Inert => true,
            Assurance::Checked | Assurance::Sandboxed => self.cage == CageState::Works,
        }
    }

    /// The rule that allows a line: one for all commands, one for just this line, or one for each part
    /// (the first is told).
    fn allowing(&self, line: &Line<'_>, script: &Script) -> Option<Rule> {
        let whole = |rule: &&Rule| {
            rule.covers_tool(line.tool, Kind::Run) || is_this_line(rule, line.command)
        };
        if let Some(rule) = self.rules.allow.iter().find(whole) {
            return Some(rule.clone());
        }
        if !script.hazards.is_empty() || sets_odd_variable(script) {
            return None;
        }
        let mut first = None;
        for command in &script.commands {
            match self.part(command).standing {
                Standing::ReadOnly => {}
                Standing::Allowed(rule) => first = first.or(Some(rule)),
                Standing::Open(_) => return None,
            }
        }
        // Without any rule, something about the line as a whole made it more than a reader.
        first
    }

    pub(super) fn part(&self, command: &Simple) -> Part {
        let text = command.text();
        let standing = match (command.read_only(), self.covering(command)) {
            (Ok(assurance), _) if self.suffices(assurance) => Standing::ReadOnly,
            (Ok(_) | Err(_), Some(rule)) => Standing::Allowed(rule.clone()),
            (Ok(_), None) => Standing::Open(
                "it only reads, but there is no sandbox that would make sure".to_owned(),
            ),
            (Err(why), None) => Standing::Open(why.to_string()),
        };
        Part { text, standing }
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

    fn line_grants(&self, line: &Line<'_>, script: &Script) -> Vec<Rule> {
        let open = |it: &&Simple| matches!(self.part(it).standing, Standing::Open(_));
        let whole = || Rule::exact_command(line.command).into_iter().collect();
        let odd = sets_odd_variable(script) || !script.hazards.is_empty();
        let mut rules: Vec<Rule> = Vec::new();
        for command in script.commands.iter().filter(open) {
            let odd = sets_odd_variable_for(command);
            match grants::for_command(command).filter(|_| !odd && !needs_exact_rule(command)) {
                Some(rule) if !rules.contains(&rule) => rules.push(rule),
                Some(_) => {}
                None => return whole(),
            }
        }
        if odd || rules.is_empty() || rules.len() > super::MOST_GRANTS { whole() } else { rules }
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

/// Whether a line sets a variable that may change what its commands do.
fn sets_odd_variable(script: &Script) -> bool {
    script.assignments.iter().any(|it| !shell::is_harmless_in_shell(&it.name))
}

/// Whether a variable is set for one command that may change what it does.
fn sets_odd_variable_for(command: &Simple) -> bool {
    command.assignments.iter().any(|it| !shell::is_harmless_for_programs(it))
}

fn is_this_line(rule: &Rule, line: &str) -> bool {
    rule.command().is_some_and(|pattern| pattern.is_exact() && pattern.matches(line.trim()))
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
