//! Variables whose value a line shows: set once, to a literal.

use std::collections::HashMap;

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

/// Variables with a known value.
#[derive(Debug, Default)]
pub(super) struct Constants(HashMap<String, String>);

impl Constants {
    /// The constants of a line. None if anything but plain assignments may set a variable.
    pub(super) fn of(script: &Script, updated: &[String]) -> Self {
        let all = assignments(script);
        let odd = script.commands.iter().any(has_setter) || !script.hazards.is_empty();
        if odd || all.iter().any(|it| it.name == "IFS") {
            return Self::default();
        }
        let mut known = HashMap::new();
        for assignment in &script.assignments {
            let once = all.iter().filter(|it| it.name == assignment.name).count() == 1;
            let is_fixed = once && !updated.contains(&assignment.name);
            if let Some(text) = assignment.value.plain().filter(|_| is_fixed) {
                known.insert(assignment.name.clone(), text.to_owned());
            }
        }
        Self(known)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a variable. A home folder in it has been looked up when it was set.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|it| !it.starts_with('~'))
    }
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
