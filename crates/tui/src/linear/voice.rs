//! What is said, as lines that are safe to print: who speaks, what a tool shows, what was said before.

use base::block::{Node, TodoState};
use base::{Block, Entry, EntryKind, Origin, Part};

use crate::panel::collapsed;
use crate::text;

/// Rows of a tool's output that are read out.
const OUTPUT_ROWS: usize = 20;

/// Lines on their way out.
#[derive(Debug, Default)]
pub(super) struct Voice {
    /// What of the answer is not yet a whole line.
    partial: String,
    /// Who spoke last, so that a label is said only when it changes.
    speaker: Option<Speaker>,
    out: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    Caiman,
    Thought,
}

impl Voice {
    /// Lines that were not taken before.
    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.out)
    }

    /// Says something, in one line or several.
    pub(super) fn say(&mut self, words: &str) {
        self.finish_line();
        self.out.extend(words.lines().map(|line| text::clean(line).into_owned()));
    }

    /// Adds to what is being said; whole lines are told at once.
    pub(super) fn stream(&mut self, speaker: Speaker, delta: &str) {
        if self.speaker != Some(speaker) {
            self.finish_line();
            self.speaker = Some(speaker);
            self.partial.push_str(match speaker {
                Speaker::Caiman => "Caiman: ",
                Speaker::Thought => "Thinking: ",
            });
        }
        self.partial.push_str(delta);
        while let Some(end) = self.partial.find('\n') {
            let line: String = self.partial.drain(..=end).collect();
            self.out.push(text::clean(line.trim_end_matches('\n')).into_owned());
        }
    }

    /// Ends the line that is being said.
    pub(super) fn finish_line(&mut self) {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.out.push(text::clean(&line).into_owned());
        }
        self.speaker = None;
    }

    /// Says what was said in a session before.
    pub(super) fn read_out(&mut self, entry: &Entry) {
        if let EntryKind::User { parts } = &entry.kind {
            self.quote("You: ", parts.iter().filter(|part| part.origin == Origin::User));
        } else if let EntryKind::Assistant { parts, .. } = &entry.kind {
            self.quote("Caiman: ", parts.iter());
        } else if let EntryKind::Notice { text, class: Some(_) } = &entry.kind {
            self.say(&format!("Error: {text}"));
        }
    }

    fn quote<'a>(&mut self, label: &str, parts: impl Iterator<Item = &'a Part>) {
        let all = parts.filter_map(Part::as_text).collect::<Vec<_>>().join("\n");
        if !all.is_empty() {
            self.say(&format!("{label}{all}"));
        }
    }

    /// Says all that a call would do; returns how many lines that were. Runs of blank lines are counted.
    pub(super) fn show_all(&mut self, block: &Block) -> usize {
        let lines = collapsed(&words_of(block));
        for line in &lines {
            self.say(&format!("  {line}"));
        }
        lines.len()
    }

    /// Says what a tool shows; long output is only counted after its beginning.
    pub(super) fn show(&mut self, block: &Block) {
        let text = words_of(block);
        let total = text.lines().count();
        for line in text.lines().take(OUTPUT_ROWS) {
            self.say(&format!("  {line}"));
        }
        if total > OUTPUT_ROWS {
            self.say(&format!("  and {} more lines", total - OUTPUT_ROWS));
        }
    }
}

fn words_of(block: &Block) -> String {
    let lines = |lines: &mut dyn Iterator<Item = String>| lines.collect::<Vec<_>>().join("\n");
    match block {
        Block::Text { text } => text.clone(),
        Block::Diff { path, unified } => format!("Change to {path}:\n{unified}"),
        Block::Table { head, rows } => {
            lines(&mut std::iter::once(head).chain(rows).map(|row| row.join(", ")))
        }
        Block::Image { file } => {
            format!("Picture {}", file.name.as_deref().unwrap_or("without a name"))
        }
        Block::Todos { items } => {
            let state = |state| match state {
                TodoState::Pending => "to do",
                TodoState::InProgress => "being done",
                TodoState::Completed => "done",
            };
            lines(&mut items.iter().map(|item| format!("{}: {}", state(item.state), item.text)))
        }
        Block::Tree { roots } => {
            let mut all = Vec::new();
            for root in roots {
                branches(root, 0, &mut all);
            }
            all.join("\n")
        }
    }
}

/// A node and all below it, each deeper by two blanks.
fn branches(node: &Node, depth: usize, all: &mut Vec<String>) {
    all.push(format!("{}{}", "  ".repeat(depth), node.label));
    for child in &node.children {
        branches(child, depth + 1, all);
    }
}
