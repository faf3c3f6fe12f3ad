//! What fills a context window, item by item, in the order of a request.

use base::protocol::{Bill, BillLine};
use base::transcript::{PartBody, Seen, ToolSpec};
use base::{Entry, Role};

use crate::skills::listing;
use crate::{prompt, tokens};

/// A tool with more tokens than this gets a line of its own.
const LARGE_TOOL: u64 = 120;

/// The bill of a branch whose requests begin with these segments and tools. What is empty is left out.
pub fn of(branch: &[Entry], (system, tools): (&[String], &[ToolSpec]), window: u64) -> Bill {
    let mut bill = Bill { window, lines: Vec::new() };
    add_system(&mut bill, system);
    add_tools(&mut bill, tools);
    add_talk(&mut bill, branch);
    let used: u64 = bill.lines.iter().map(|line| line.tokens).sum();
    add(&mut bill, "free", window.saturating_sub(used));
    bill
}

fn add(bill: &mut Bill, what: impl Into<String>, tokens: u64) {
    if tokens > 0 {
        bill.lines.push(BillLine { what: what.into(), tokens });
    }
}

fn add_system(bill: &mut Bill, system: &[String]) {
    let (mut own, mut around, mut skills, mut files) = (0, 0, 0, Vec::new());
    for segment in system {
        let size = tokens::of_text(segment);
        if let Some(name) = prompt::file_of(segment) {
            files.push((name, size));
        } else if prompt::is_around(segment) {
            around += size;
        } else if listing::is_segment(segment) {
            skills += size;
        } else {
            own += size;
        }
    }
    add(bill, "system prompt", own);
    for (name, size) in files {
        add(bill, name, size);
    }
    add(bill, "skills", skills);
    add(bill, "environment", around);
}

/// Large tools one by one, largest first, and the others together.
fn add_tools(bill: &mut Bill, tools: &[ToolSpec]) {
    let sized = tools.iter().map(|tool| (tokens::of_tools(std::slice::from_ref(tool)), tool));
    let (mut large, small): (Vec<_>, Vec<_>) = sized.partition(|(size, _)| *size > LARGE_TOOL);
    large.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    let is_any_large = !large.is_empty();
    for (size, tool) in large {
        add(bill, format!("tool {}", tool.name), size);
    }
    let count = small.len();
    let what = match (count, is_any_large) {
        (1, false) => "1 tool".to_owned(),
        (1, true) => "1 other tool".to_owned(),
        (_, false) => format!("{count} tools"),
        (_, true) => format!("{count} other tools"),
    };
    add(bill, what, small.iter().map(|(size, _)| size).sum());
}

/// The conversation by who said what.
fn add_talk(bill: &mut Bill, branch: &[Entry]) {
    let seen = Seen::of(branch);
    let summary = seen.summary.map_or(0, tokens::of_text);
    let (mut user, mut answers, mut thoughts) = (0, 0, 0);
    let (mut calls, mut results, mut files) = (0, 0, 0);
    for turn in seen.turns() {
        for part in &turn.parts {
            let size = tokens::of_parts(std::slice::from_ref(part));
            match (&part.body, turn.role) {
                (PartBody::Call(_), _) => calls += size,
                (PartBody::Result(_), _) => results += size,
                (PartBody::File(_), _) => files += size,
                (PartBody::Reasoning { .. }, _) => thoughts += size,
                (PartBody::Text { .. } | PartBody::Opaque { .. }, Role::User) => user += size,
                (PartBody::Text { .. } | PartBody::Opaque { .. }, Role::Assistant) => {
                    answers += size;
                }
            }
        }
    }
    add(bill, "summary of the older part", summary);
    add(bill, "your messages", user - summary.min(user));
    add(bill, "files", files);
    add(bill, "answers", answers);
    add(bill, "thoughts", thoughts);
    add(bill, "tool calls", calls);
    add(bill, "results of tools", results);
}
