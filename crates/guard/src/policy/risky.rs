//! Which parts of a command line make it ask: what whoever is asked should look at first.

use super::run::{Known, Line};
use super::{Decision, Policy, Standing, Verdict};
use crate::action::Taint;
use crate::shell::{Redirect, Simple};

impl Policy {
    /// The parts of a line that made a verdict ask, as they stand in it; the whole line where no part is to
    /// blame, or where it is not understood.
    pub(super) fn risky(
        &self,
        line: &Line<'_>,
        known: Option<&Known<'_>>,
        taint: &Taint,
        verdict: &Verdict,
    ) -> Vec<String> {
        if verdict.decision != Decision::Ask {
            return Vec::new();
        }
        let mut parts = match known {
            Some(known) if !line.uncaged => self.risky_of(line, known, taint, verdict),
            Some(_) | None => Vec::new(),
        };
        if parts.is_empty() {
            parts.push(line.command.trim().to_owned());
        }
        let mut once: Vec<String> = Vec::new();
        parts.retain(|part| {
            let is_new = !once.contains(part);
            once.push(part.clone());
            is_new
        });
        parts
    }

    fn risky_of(
        &self,
        line: &Line<'_>,
        known: &Known<'_>,
        taint: &Taint,
        verdict: &Verdict,
    ) -> Vec<String> {
        let all = known.script.all_commands().into_iter();
        if let Some(pattern) = verdict.rule.as_ref().and_then(|rule| rule.command()) {
            let fits = |it: &&Simple| {
                let texts = [it.text(), it.plain_text(), it.bare_text()];
                texts.iter().any(|text| pattern.matches(text))
            };
            return all.filter(fits).flat_map(|it| written(line.command, it)).collect();
        }
        if let Some(target) = self.critical(line, Some(known)) {
            let deletes = |it: &&Simple| {
                matches!(it.program_name(), Some("rm" | "rmdir"))
                    && it.arguments().iter().any(|word| word.raw == target)
            };
            return all.filter(deletes).flat_map(|it| written(line.command, it)).collect();
        }
        let mut parts = Vec::new();
        if self.commands_standing(line, known, taint).decision == Decision::Ask {
            let open = |it: &&Simple| matches!(self.part(it).standing, Standing::Open(_));
            let open: Vec<_> = known.script.commands.iter().filter(open).collect();
            parts.extend(open.into_iter().flat_map(|it| written(line.command, it)));
        }
        let asks = |it: &&Redirect| {
            let verdict = self.redirect_standing(line.tool, it, known, taint);
            verdict.is_some_and(|verdict| verdict.decision == Decision::Ask)
        };
        let redirects = known.script.all_redirects().into_iter().filter(asks);
        parts.extend(redirects.map(|it| it.target.raw.clone()));
        let reads = all.filter(|it| self.reads_standing(it, known).is_some());
        parts.extend(reads.flat_map(|it| written(line.command, it)));
        parts.retain(|part| line.command.contains(part.as_str()));
        parts
    }
}

/// A command as it stands in the line; word by word where something stands between its words.
fn written(line: &str, command: &Simple) -> Vec<String> {
    let words: Vec<&str> = command.words.iter().map(|word| word.raw.as_str()).collect();
    let Some(first) = words.first().filter(|first| !first.is_empty()) else { return Vec::new() };
    let whole = line.match_indices(first).find_map(|(start, _)| {
        let mut end = start + first.len();
        for word in &words[1..] {
            let rest = &line[end..];
            let gap = rest.len() - rest.trim_start_matches([' ', '\t']).len();
            rest[gap..].strip_prefix(word)?;
            end += gap + word.len();
        }
        Some(line[start..end].to_owned())
    });
    match whole {
        Some(whole) => vec![whole],
        None => words.into_iter().filter(|word| line.contains(word)).map(str::to_owned).collect(),
    }
}
