//! What code keeps of the part that is taken out, whatever the model makes of it: goal, todos, files,
//! failed commands, the user's other words, names and addresses.

use std::collections::HashMap;
use std::fmt::Write;

use base::transcript::{Call, CallResult, Origin, Outcome, Part, PartBody, Piece};
use base::{CallId, Entry, EntryKind};
use serde_json::Value;

use super::{cut, short_id};

/// Longest first and latest prompt, other prompt, command and exit line, in bytes.
const GOAL_BYTES: usize = 2_000;
const PROMPT_BYTES: usize = 300;
const COMMAND_BYTES: usize = 200;
const LINE_BYTES: usize = 160;
/// Most lines of a section.
const LINES: usize = 40;
/// Most failed commands, and names and addresses.
const FAILED: usize = 12;
const NAMES: usize = 30;

/// The facts about `gone` as text of about `limit` bytes. What matters most comes first and so stays.
pub(super) fn text(gone: &[Entry], limit: usize) -> String {
    let ledger = Ledger::of(gone);
    let mut text = "# Kept from it".to_owned();
    for (heading, lines) in ledger.sections() {
        if lines.is_empty() || text.len() >= limit {
            continue;
        }
        // Writing to a string cannot fail.
        write!(text, "\n## {heading}").ok();
        for line in lines {
            let room = limit.saturating_sub(text.len());
            if room < 20 {
                break;
            }
            write!(text, "\n{}", cut(&line, room)).ok();
        }
    }
    text
}

/// Everything that is noted while the entries are walked through.
#[derive(Default)]
struct Ledger {
    prompts: Vec<String>,
    todos: Vec<String>,
    changed: Vec<String>,
    read: Vec<String>,
    failed: Vec<(String, String)>,
    names: Vec<String>,
}

impl Ledger {
    fn of(entries: &[Entry]) -> Self {
        let mut ledger = Self::default();
        let mut calls: HashMap<&CallId, &Call> = HashMap::new();
        for entry in entries {
            ledger.hear(entry);
            for part in entry.kind.parts() {
                match &part.body {
                    PartBody::Call(call) => {
                        calls.insert(&call.id, call);
                    }
                    PartBody::Result(result) => {
                        if let Some(call) = calls.get(&result.call) {
                            ledger.settle(call, result);
                        }
                    }
                    PartBody::Text { text } => ledger.note_names(text),
                    PartBody::Reasoning { .. } | PartBody::File(_) | PartBody::Opaque { .. } => {}
                }
            }
        }
        ledger
    }

    /// Takes down what a person said.
    fn hear(&mut self, entry: &Entry) {
        let EntryKind::User { parts } = &entry.kind else { return };
        let by_person = |part: &&Part| matches!(part.origin, Origin::User | Origin::Channel(_));
        let said: Vec<&str> = parts.iter().filter(by_person).filter_map(Part::as_text).collect();
        let said = said.join("\n");
        if !said.trim().is_empty() {
            self.prompts.push(format!("[{}] {}", short_id(entry), said.trim()));
        }
    }

    fn settle(&mut self, call: &Call, result: &CallResult) {
        let input = &call.input.value;
        let worked = result.outcome == Outcome::Done;
        match call.name.as_str() {
            "view" if worked => touch(&mut self.read, path_of(input)),
            "edit" | "multiedit" | "write" | "download" if worked => {
                touch(&mut self.changed, path_of(input));
            }
            "apply_patch" if worked => {
                let patch = input.get("patch").or_else(|| input.get("input"));
                for path in patch.and_then(Value::as_str).into_iter().flat_map(patched) {
                    touch(&mut self.changed, Some(path.to_owned()));
                }
            }
            "todos" if worked => self.todos = todos(input.get("todos")),
            "bash" => self.ran(input.get("command").and_then(Value::as_str), result),
            _ => {}
        }
    }

    fn ran(&mut self, command: Option<&str>, result: &CallResult) {
        let Some(command) = command else { return };
        let command = cut(&one_line(command), COMMAND_BYTES);
        self.failed.retain(|(failed, _)| *failed != command);
        let texts = result.pieces.iter().filter_map(|piece| match piece {
            Piece::Text { text } => Some(text.as_str()),
            Piece::File(_) => None,
        });
        let last = texts.flat_map(str::lines).rfind(|line| !line.trim().is_empty());
        let last = last.unwrap_or_default().trim();
        let exit = last.strip_prefix("exit code ").is_some_and(|code| code.trim() != "0");
        if exit || result.outcome == Outcome::Failed {
            self.failed.push((command, cut(last, LINE_BYTES)));
        }
    }

    fn note_names(&mut self, text: &str) {
        let parted = |c: char| c.is_whitespace() || "()<>[]{}\"'`,;|".contains(c);
        for word in text.split(parted) {
            let word = word.trim_end_matches(['.', ':', '!', '?']);
            if is_name(word) {
                touch(&mut self.names, Some(word.to_owned()));
            }
        }
    }

    /// Headings and lines, most important first.
    fn sections(self) -> Vec<(&'static str, Vec<String>)> {
        let Self { mut prompts, todos, changed, mut read, failed, names } = self;
        read.retain(|path| !changed.contains(path));
        let latest = if prompts.len() > 1 { prompts.pop() } else { None };
        let mut prompts = prompts.into_iter();
        let first = prompts.next();
        let mut goal: Vec<String> = Vec::new();
        goal.extend(first.map(|text| format!("first: {}", cut(&text, GOAL_BYTES))));
        goal.extend(latest.map(|text| format!("latest: {}", cut(&text, GOAL_BYTES))));
        let others: Vec<String> = prompts.map(|text| cut(&one_line(&text), PROMPT_BYTES)).collect();
        let failed: Vec<String> =
            failed.into_iter().map(|(command, exit)| format!("{command} → {exit}")).collect();
        vec![
            ("What the user asked for", goal),
            ("To do", todos),
            ("Files changed", newest(changed, LINES)),
            ("Commands that failed", newest(failed, FAILED)),
            ("Also said by the user", newest(others, LINES)),
            ("Files read", newest(read, LINES)),
            ("Names and addresses", newest(names, NAMES)),
        ]
    }
}

/// The last `limit` lines, and how many came before them.
fn newest(mut lines: Vec<String>, limit: usize) -> Vec<String> {
    if lines.len() <= limit {
        return lines;
    }
    let rest = lines.split_off(lines.len() - limit);
    std::iter::once(format!("({} older ones)", lines.len())).chain(rest).collect()
}

/// Moves or adds an item to the end.
fn touch(list: &mut Vec<String>, item: Option<String>) {
    let Some(item) = item else { return };
    list.retain(|known| *known != item);
    list.push(item);
}

fn path_of(input: &serde_json::Map<String, Value>) -> Option<String> {
    let path = input.get("file_path").or_else(|| input.get("path"))?.as_str()?;
    Some(cut(&one_line(path), COMMAND_BYTES))
}

/// The files a patch names.
fn patched(patch: &str) -> impl Iterator<Item = &str> {
    let marks = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
    patch
        .lines()
        .filter_map(move |line| marks.iter().find_map(|mark| line.trim().strip_prefix(mark)))
}

fn todos(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten().take(LINES);
    let line = |item: &Value| {
        let field = |keys: [&str; 2]| keys.iter().find_map(|key| item.get(*key)?.as_str());
        let text = field(["content", "text"])?;
        let mark = match field(["status", "state"]) {
            Some("completed" | "done") => "x",
            Some("in_progress") => ">",
            Some(_) | None => " ",
        };
        Some(format!("[{mark}] {}", cut(&one_line(text), PROMPT_BYTES)))
    };
    items.filter_map(line).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a word is one nobody can guess again: an address, a commit, an id, a ticket.
fn is_name(word: &str) -> bool {
    if !(2..=200).contains(&word.len()) {
        return false;
    }
    let is_address = word.starts_with("https://") || word.starts_with("http://");
    let is_hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let has_letter = word.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_commit = (7..=64).contains(&word.len()) && is_hex(word) && has_digit && has_letter;
    let is_uuid = word.len() == 36 && word.split('-').count() == 5 && word.split('-').all(is_hex);
    let numbered = |digits: &str| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let is_ticket = word.split_once('-').is_some_and(|(team, number)| {
        (2..=10).contains(&team.len())
            && team.bytes().all(|byte| byte.is_ascii_uppercase())
            && numbered(number)
    });
    let is_issue = word.rsplit_once('#').is_some_and(|(_, number)| numbered(number));
    is_address || is_commit || is_uuid || is_ticket || is_issue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_nobody_can_guess_again() {
        for name in [
            "https://example.com/a?b=1",
            "4504b4d",
            "0198c2f1-7a3e-7c1b-9d55-1f2e3d4c5b6a",
            "PROJ-1234",
            "#42",
            "owner/repo#7",
        ] {
            assert!(is_name(name), "{name}");
        }
        for word in ["the", "decade", "1234567", "facade", "a-1", "UTF-8x", "#", "x#y", "T-1"] {
            assert!(!is_name(word), "{word}");
        }
    }

    #[test]
    fn a_patch_names_its_files() {
        let patch =
            "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n*** Add File: c.rs\n";
        assert_eq!(patched(patch).collect::<Vec<_>>(), ["a.rs", "b.rs", "c.rs"]);
    }
}
