//! Variables whose value a line shows: set once, to a literal.

use std::collections::{HashMap, HashSet};

use super::super::{Assignment, Script, Simple};

/// Builtins that set variables in ways the text does not show, or change how text is read.
const SETTERS: &[&str] = &[
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "let",
    "eval",
    "source",
    ".",
    "trap",
    "alias",
    "enable",
    "wait",
    "builtin",
    "command",
    "select",
    "coproc",
    "exec",
];

/// What is known of variables.
#[derive(Debug, Default)]
pub(super) struct Constants {
    /// Values of those that are set once, to a literal.
    values: HashMap<String, String>,
    /// Those that only get words which cannot be options.
    anchored: HashSet<String>,
}

impl Constants {
    /// The constants of a line. None if anything but plain assignments may set a variable.
    pub(super) fn of(script: &Script, updated: &[String]) -> Self {
        let all = assignments(script);
        let odd = script.commands.iter().any(|it| it.program().is_some() && has_setter(it));
        if odd || !script.hazards.is_empty() || all.iter().any(|it| it.name == "IFS") {
            return Self::default();
        }
        let mut known = Self::default();
        for assignment in &script.assignments {
            let name = &assignment.name;
            let given: Vec<_> = all.iter().filter(|it| it.name == *name).collect();
            if updated.contains(name) {
                continue;
            }
            if let (Some(text), [_]) = (assignment.value.plain(), given.as_slice()) {
                known.values.insert(name.clone(), text.to_owned());
            }
            let is_operand =
                |it: &&&Assignment| !it.value.may_be_option() && !it.value.raw.is_empty();
            if given.iter().all(is_operand) {
                known.anchored.insert(name.clone());
            }
        }
        known
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty() && self.anchored.is_empty()
    }

    /// The value of a variable. A home folder in it has been looked up when it was set.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|it| !it.starts_with('~'))
    }

    /// Whether a variable only gets words that cannot be options.
    pub(super) fn is_anchored(&self, name: &str) -> bool {
        self.anchored.contains(name)
    }
}

/// Whether a command of the line may set variables in a way the text does not show.
pub(super) fn may_set(script: &Script) -> bool {
    script.commands.iter().any(has_setter)
}

/// Whether every value a line gives a variable is a number, and it gives one.
pub(super) fn is_numeric(name: &str, script: &Script) -> bool {
    let mut values = assignments(script).into_iter().filter(|it| it.name == name).peekable();
    let is_set = values.peek().is_some();
    let may_set = |it: &Simple| {
        has_setter(it)
            && it.words.iter().any(|word| word.plain().is_none_or(|it| it.contains(name)))
    };
    is_set && values.all(|it| it.value.is_number()) && !script.commands.iter().any(may_set)
}

fn assignments(script: &Script) -> Vec<&Assignment> {
    let of_commands = script.commands.iter().flat_map(|it| &it.assignments);
    script.assignments.iter().chain(of_commands).collect()
}

fn has_setter(command: &Simple) -> bool {
    let Some(first) = command.words.first() else { return false };
    match first.plain() {
        // `printf -v` sets the variable it names; `%n` in a format does so, too.
        Some("printf") => command.arguments().iter().any(|word| {
            word.plain().is_none_or(|text| text.starts_with("-v") || text.contains('n'))
        }),
        Some(program) => SETTERS.contains(&program),
        None => true,
    }
}
