//! What a call says of itself in one line, live and stored alike.

use base::transcript::CallInput;

use super::ToolCall;
use crate::figures::counted;

/// What a call is about, from its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// The argument that matters most.
    main: String,
    /// The shell command, if its title says something else.
    pub(super) command: Option<String>,
}

/// Arguments that say what a call is about, the most telling first.
const TELLING: [&str; 11] = [
    "command",
    "file_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
    "symbol",
    "id",
    "name",
];

impl Subject {
    pub(super) fn of(name: &str, input: &CallInput) -> Self {
        let text = |key: &str| input.value.get(key).and_then(|value| value.as_str());
        let main = match name {
            "grep" | "glob" => text("pattern"),
            // The command itself stands below.
            "bash" => text("description").filter(|text| !text.trim().is_empty()),
            _ => None,
        };
        let main = main.or_else(|| TELLING.iter().find_map(|key| text(key))).unwrap_or_default();
        let says_all = |command: &&str| {
            text("description").is_none_or(|text| text.trim().is_empty())
                && !command.trim().contains('\n')
        };
        let command = text("command").filter(|command| name == "bash" && !says_all(command));
        Self {
            main: main.lines().next().unwrap_or_default().to_owned(),
            command: command.map(|command| command.trim().to_owned()),
        }
    }
}

/// The title of a call: what its tool says, with what it was called for where that says it not.
pub(super) fn line(call: &ToolCall) -> String {
    let main = call.subject.main.as_str();
    let said = call.title.lines().next().unwrap_or_default();
    let is_search = matches!(call.name.as_str(), "grep" | "glob");
    if said.is_empty() || said == call.name {
        return main.to_owned();
    }
    if is_search && !main.is_empty() && !said.contains(main) {
        return format!("{main} · {said}");
    }
    said.to_owned()
}

/// Whether a tool only reads: such calls in a row are told of together.
pub(crate) fn is_reading(name: &str) -> bool {
    matches!(name, "view" | "grep" | "glob" | "ls")
}

/// Whether a tool has others work.
pub(super) fn is_agent(name: &str) -> bool {
    matches!(name, "agent" | "agentic_fetch")
}

/// Whether a tool may have others work.
pub(super) fn may_delegate(name: &str) -> bool {
    is_agent(name) || name == "skill"
}

/// Calls that only read, together.
pub(super) fn group<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let (mut files, mut searches, mut folders) = (0, 0, 0);
    for name in names {
        match name {
            "view" => files += 1,
            "ls" => folders += 1,
            _ => searches += 1,
        }
    }
    let told = [
        (files, format!("read {}", counted(files, "file"))),
        (searches, format!("searched {searches}×")),
        (folders, format!("listed {}", counted(folders, "folder"))),
    ];
    let told: Vec<String> =
        told.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    told.join(", ")
}
