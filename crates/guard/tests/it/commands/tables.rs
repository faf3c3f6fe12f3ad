//! The tables of command lines, one text file per class.
//!
//! A file holds sections: `== title` and then one command per line. `⏎` stands for a line break, `⟦a0⟧` for the
//! character with that hexadecimal code.

/// One section of a table.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) lines: Vec<String>,
}

/// Ordinary read-only commands: they run unasked in the default mode with a sandbox.
pub(crate) fn harmless() -> Vec<Section> {
    let files = [
        include_str!("harmless_basic.txt"),
        include_str!("harmless_git.txt"),
        include_str!("harmless_search.txt"),
        include_str!("harmless_shell.txt"),
        include_str!("harmless_tools.txt"),
        include_str!("more_harmless.txt"),
    ];
    files.into_iter().flat_map(sections).collect()
}

/// Commands that may write, run or connect: they are never allowed without a question.
pub(crate) fn hostile() -> Vec<Section> {
    let files = [
        include_str!("hostile_programs.txt"),
        include_str!("hostile_git.txt"),
        include_str!("hostile_options.txt"),
        include_str!("hostile_scripts.txt"),
        include_str!("hostile_syntax.txt"),
        include_str!("hostile_expansions.txt"),
        include_str!("hostile_environment.txt"),
        include_str!("more_hostile.txt"),
    ];
    files.into_iter().flat_map(sections).collect()
}

/// Hostile commands behind programs that run other programs.
pub(crate) fn wrapped() -> Vec<Section> {
    sections(include_str!("wrapped.txt"))
}

/// Titles are `allow RULE` or `ask RULE`: the decision while that allow rule holds.
pub(crate) fn rule_covered() -> Vec<Section> {
    let files = [include_str!("rules.txt"), include_str!("more_rules.txt")];
    files.into_iter().flat_map(sections).collect()
}

/// Titles are `deny RULE` or `keep RULE`: whether that deny rule applies.
pub(crate) fn denied() -> Vec<Section> {
    let files = [include_str!("denied.txt"), include_str!("more_denied.txt")];
    files.into_iter().flat_map(sections).collect()
}

/// Titles are `asks` and `allows`: the decision in bypass mode.
pub(crate) fn critical() -> Vec<Section> {
    let files = [include_str!("critical.txt"), include_str!("more_critical.txt")];
    files.into_iter().flat_map(sections).collect()
}

/// Titles are `allow RULE` or `ask RULE`: the decision under that allow rule while the context is tainted.
pub(crate) fn tainted() -> Vec<Section> {
    let files = [include_str!("tainted.txt"), include_str!("more_tainted.txt")];
    files.into_iter().flat_map(sections).collect()
}

/// Titles are `asks` and `allows`: the decision in the default mode without a sandbox.
pub(crate) fn no_sandbox() -> Vec<Section> {
    sections(include_str!("no_sandbox.txt"))
}

/// All lines of some sections.
pub(crate) fn lines(sections: Vec<Section>) -> Vec<String> {
    sections.into_iter().flat_map(|section| section.lines).collect()
}

fn sections(text: &'static str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line.strip_prefix("== ") {
            Some(title) => sections.push(Section { title, lines: Vec::new() }),
            None => sections.last_mut().unwrap().lines.push(decode(line)),
        }
    }
    sections
}

fn decode(line: &str) -> String {
    let mut decoded = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('⟦') {
        let (code, after) = after.split_once('⟧').unwrap();
        decoded.push_str(before);
        decoded.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        rest = after;
    }
    decoded.push_str(rest);
    decoded.replace('⏎', "\n")
}
