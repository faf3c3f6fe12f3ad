//! Looks through commands that run other commands: `timeout`, `env`, `sh -c`, `sudo`, `xargs` …

use super::{Assignment, Script, Simple, Unclear, Word, Wrapped, parse_at};

/// What a command adds to the one it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing: a rule for what it runs covers it.
    Nothing,
    /// Nothing that writes or connects, but a rule must name what it runs as it will be run: `sh -c`,
    /// `eval`, `env A=b`.
    Text,
    /// Further words that are not known: `xargs -n1`.
    Words,
    /// More than that: another user, machine, time or place. Rules must name the outer command.
    Powers,
}

/// A command whose operands are another command.
struct Prefix {
    name: &'static str,
    /// Options that take the next word.
    valued: &'static [&'static str],
    /// Operands before the command.
    skip: usize,
    wrap: Wrap,
}

const fn prefix(
    name: &'static str,
    valued: &'static [&'static str],
    skip: usize,
    wrap: Wrap,
) -> Prefix {
    Prefix { name, valued, skip, wrap }
}

const PREFIXES: &[Prefix] = &[
    prefix("timeout", &["-k", "--kill-after", "-s", "--signal"], 1, Wrap::Nothing),
    prefix("time", &["-f", "--format", "-o", "--output"], 0, Wrap::Nothing),
    prefix("nice", &["-n", "--adjustment"], 0, Wrap::Nothing),
    prefix("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0, Wrap::Nothing),
    prefix("nohup", &[], 0, Wrap::Nothing),
    prefix("command", &[], 0, Wrap::Nothing),
    prefix("builtin", &[], 0, Wrap::Nothing),
    prefix("noglob", &[], 0, Wrap::Nothing),
    prefix("exec", &["-a"], 0, Wrap::Text),
    prefix("setsid", &[], 0, Wrap::Powers),
    prefix("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0, Wrap::Powers),
    prefix("chrt", &[], 1, Wrap::Powers),
    prefix("taskset", &[], 1, Wrap::Powers),
    prefix("unbuffer", &[], 0, Wrap::Powers),
    prefix("caffeinate", &["-t", "-w"], 0, Wrap::Powers),
    prefix("sudo", SUDO, 0, Wrap::Powers),
    prefix("doas", &["-u", "-C"], 0, Wrap::Powers),
    prefix("pkexec", &["--user"], 0, Wrap::Powers),
    prefix("chroot", &[], 1, Wrap::Powers),
    prefix("unshare", &[], 0, Wrap::Powers),
    prefix("nsenter", &["-t", "--target"], 0, Wrap::Powers),
    prefix("systemd-run", &["-p", "--property", "-u", "--unit"], 0, Wrap::Powers),
    prefix("busybox", &[], 0, Wrap::Powers),
    prefix("toybox", &[], 0, Wrap::Powers),
    prefix("strace", &["-e", "-o", "-p", "-s", "-u", "-E"], 0, Wrap::Powers),
    prefix("ltrace", &["-e", "-o", "-p", "-s", "-u", "-n"], 0, Wrap::Powers),
    prefix("fakeroot", &[], 0, Wrap::Powers),
    prefix("xvfb-run", &["-e", "-f", "-n", "-p", "-s", "-w"], 0, Wrap::Powers),
    prefix("flock", &["-w", "--timeout", "-E"], 1, Wrap::Powers),
    prefix("parallel", &["-j", "-a", "-S", "-I", "--jobs"], 0, Wrap::Powers),
];

const SUDO: &[&str] = &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R"];

/// Shells that run the text after `-c`.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "rbash", "fish"];

/// Programs whose operands are joined to a text for a shell.
const JOINERS: &[(&str, &[&str], usize)] = &[
    ("watch", &["-n", "--interval"], 0),
    ("ssh", &["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c", "-E", "-w"], 1),
];

/// Whether a name is one of the wrappers.
pub(super) fn is_known(name: &str) -> bool {
    PREFIXES.iter().any(|it| it.name == name)
        || SHELLS.contains(&name)
        || JOINERS.iter().any(|it| it.0 == name)
        || ["env", "eval", "xargs", "find", "trap", "su", "script"].contains(&name)
}

/// Finds what each command runs in turn.
pub(super) fn look_through(script: &mut Script, depth: usize) -> Result<(), Unclear> {
    for command in &mut script.commands {
        if let Some((wrap, mut inner)) = unwrap(command, depth)? {
            // What came from a text has been looked through already.
            if inner.commands.iter().any(|it| it.wraps.is_none()) {
                if depth > 6 {
                    return Err(Unclear::new("commands are nested too deep"));
                }
                look_through(&mut inner, depth + 1)?;
            }
            command.wraps = Some(Box::new(Wrapped { wrap, inner }));
        }
    }
    Ok(())
}

fn unwrap(command: &Simple, depth: usize) -> Result<Option<(Wrap, Script)>, Unclear> {
    let Some(name) = command.program_name() else { return Ok(None) };
    let arguments = command.arguments();
    if let Some(prefix) = PREFIXES.iter().find(|it| it.name == name) {
        return unwrap_prefix(prefix, arguments);
    }
    if SHELLS.contains(&name) {
        return unwrap_shell(arguments, depth);
    }
    if let Some((_, valued, skip)) = JOINERS.iter().find(|it| it.0 == name) {
        let start = first_operand(arguments, valued)?;
        return joined(Wrap::Powers, arguments.get(start + skip..).unwrap_or_default(), depth);
    }
    match name {
        "env" => unwrap_env(arguments),
        "eval" => joined(Wrap::Text, arguments, depth),
        "trap" => joined(Wrap::Powers, arguments.get(..1).unwrap_or_default(), depth),
        "su" | "script" => {
            let text = arguments.iter().position(|it| it.plain() == Some("-c"));
            let text = text.and_then(|at| arguments.get(at + 1..at + 2)).unwrap_or_default();
            joined(Wrap::Powers, text, depth)
        }
        "xargs" => unwrap_xargs(arguments),
        "find" => Ok(unwrap_find(arguments)),
        _ => Ok(None),
    }
}

fn unwrap_prefix(prefix: &Prefix, arguments: &[Word]) -> Result<Option<(Wrap, Script)>, Unclear> {
    let start = first_operand(arguments, prefix.valued)? + prefix.skip;
    let options = &arguments[..start.min(arguments.len())];
    // `command -v` only looks a name up.
    let looks_up =
        |it: &Word| it.plain().is_some_and(|it| it.starts_with('-') && it.contains(['v', 'V']));
    if prefix.name == "command" && options.iter().any(looks_up) {
        return Ok(None);
    }
    let Some(rest) = arguments.get(start..).filter(|rest| !rest.is_empty()) else {
        return Ok(None);
    };
    // GNU `time -o` writes a file.
    let plain_time = options.iter().all(|it| it.plain() == Some("-p"));
    let wrap = if prefix.name == "time" && !plain_time { Wrap::Powers } else { prefix.wrap };
    Ok(Some((wrap, one(rest.to_vec()))))
}

fn unwrap_shell(arguments: &[Word], depth: usize) -> Result<Option<(Wrap, Script)>, Unclear> {
    let mut wrap = Wrap::Text;
    let mut words = arguments.iter();
    while let Some(option) = words.next().and_then(Word::plain) {
        let Some(letters) = option.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
            return Ok(None);
        };
        if !letters.chars().all(|it| "ceux".contains(it)) {
            wrap = Wrap::Powers;
        }
        if letters.contains('c') {
            let text = words.next().map(std::slice::from_ref).unwrap_or_default();
            return joined(wrap, text, depth);
        }
        if letters.ends_with(['o', 'O']) {
            words.next();
        }
    }
    Ok(None)
}

/// Words that a shell reads as one text; none if one of them is not known.
fn joined(wrap: Wrap, words: &[Word], depth: usize) -> Result<Option<(Wrap, Script)>, Unclear> {
    if words.is_empty() {
        return Ok(None);
    }
    let texts: Option<Vec<&str>> = words.iter().map(Word::plain).collect();
    let texts = texts.ok_or_else(|| Unclear::new("it runs a text that shows only when it runs"))?;
    Ok(Some((wrap, parse_at(&texts.join(" "), depth + 1)?)))
}

fn unwrap_env(arguments: &[Word]) -> Result<Option<(Wrap, Script)>, Unclear> {
    let valued = ["-u", "--unset", "-C", "--chdir", "-S", "--split-string"];
    let start = first_operand(arguments, &valued)?;
    let plain_options = arguments[..start].iter().all(|it| {
        it.plain().is_some_and(|it| matches!(it, "-i" | "-" | "--ignore-environment" | "--"))
    });
    let mut inner = Simple::new(Vec::new());
    for word in &arguments[start..] {
        let assignment = word.plain().and_then(|it| it.split_once('='));
        match assignment.filter(|_| inner.words.is_empty()) {
            Some((name, value)) => inner
                .assignments
                .push(Assignment { name: name.to_owned(), value: Word::exactly(value) }),
            None => inner.words.push(word.clone()),
        }
    }
    if inner.words.is_empty() {
        return Ok(None);
    }
    let wrap = if plain_options { Wrap::Text } else { Wrap::Powers };
    Ok(Some((wrap, Script { commands: vec![inner], ..Script::default() })))
}

fn unwrap_xargs(arguments: &[Word]) -> Result<Option<(Wrap, Script)>, Unclear> {
    let valued = ["-n", "-P", "-L", "-I", "-d", "-s", "-E", "-a", "--max-args", "--max-procs"];
    let start = first_operand(arguments, &valued)?;
    let (options, rest) = arguments.split_at(start);
    let option = |it: &Word| it.plain().is_some_and(|it| it.starts_with('-'));
    let harmless = |it: &Word| {
        it.plain().is_some_and(|it| {
            !it.starts_with('-')
                || ["-0", "-r", "-t", "-n", "-P", "-L", "-I", "-d"]
                    .iter()
                    .any(|ok| it.starts_with(ok))
        })
    };
    let wrap = match (options.iter().any(option), options.iter().all(harmless)) {
        (false, _) => Wrap::Nothing,
        (true, true) => Wrap::Words,
        (true, false) => Wrap::Powers,
    };
    let mut words = if rest.is_empty() { vec![Word::exactly("echo")] } else { rest.to_vec() };
    let replaced = options.iter().any(|it| it.plain().is_some_and(|it| it.starts_with("-I")));
    if replaced {
        words.iter_mut().skip(1).for_each(|word| *word = Word::unknown(word.raw.clone()));
        if words[0].plain().is_none_or(|it| it.contains(['{', '}', '%'])) {
            words[0] = Word::unknown(words[0].raw.clone());
        }
    }
    words.push(Word::unknown("…"));
    Ok(Some((wrap, one(words))))
}

fn unwrap_find(arguments: &[Word]) -> Option<(Wrap, Script)> {
    let mut inner = Script::default();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let runs = ["-exec", "-execdir", "-ok", "-okdir"];
        if !word.plain().is_some_and(|it| runs.contains(&it)) {
            continue;
        }
        let ends = |it: &&Word| !matches!(it.plain(), Some(";" | "+"));
        let command: Vec<Word> = words.by_ref().take_while(ends).cloned().collect();
        let known = |it: Word| {
            if it.raw.contains("{}") { Word::unknown(it.raw) } else { it }
        };
        inner.commands.push(Simple::new(command.into_iter().map(known).collect()));
    }
    (!inner.commands.is_empty()).then_some((Wrap::Powers, inner))
}

/// Where options end.
fn first_operand(words: &[Word], valued: &[&str]) -> Result<usize, Unclear> {
    let mut index = 0;
    while let Some(word) = words.get(index) {
        let text =
            word.plain().ok_or_else(|| Unclear::new("what it runs shows only when it runs"))?;
        if text == "--" {
            return Ok(index + 1);
        }
        if !text.starts_with('-') && !text.starts_with('+') {
            return Ok(index);
        }
        index += if valued.contains(&text) { 2 } else { 1 };
    }
    Ok(words.len())
}

fn one(words: Vec<Word>) -> Script {
    Script { commands: vec![Simple::new(words)], ..Script::default() }
}
