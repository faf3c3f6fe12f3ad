//! Looks through commands that run other commands: `timeout`, `env`, `sh -c`, `sudo`, `xargs` …
//!
//! Options in front of the inner command are read by the tables here. An option that is not in them may take the
//! next word or not, so what runs is not known, and the line is unclear.

use super::{Assignment, Script, Simple, Unclear, Word, Wrapped, parse_at};

/// What a command adds to the one it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrap {
    /// Nothing: a rule for what it runs covers it.
    Transparent,
    /// Nothing that writes or connects, but a rule must name what it runs as it will be run: `sh -c`,
    /// `eval`, `env A=b`.
    Reparsed,
    /// Words of unknown value behind the inner command's own: `xargs -n1`.
    AppendsWords,
    /// The commands of `find -exec`, which a rule for `find` never covers.
    PerFile,
    /// Another user, machine, time or place. Rules must name the outer command.
    ChangesContext,
}

/// A command whose operands are another command.
struct Prefix {
    name: &'static str,
    /// Letters of options without a value.
    flags: &'static str,
    /// Letters of options with one.
    valued: &'static str,
    /// Long options; those that end with `=` have a value.
    long: &'static [&'static str],
    /// Operands before the command.
    skip: usize,
    wrap: Wrap,
}

const fn prefix(name: &'static str, letters: (&'static str, &'static str), wrap: Wrap) -> Prefix {
    Prefix { name, flags: letters.0, valued: letters.1, long: &[], skip: 0, wrap }
}

const fn skipping(mut prefix: Prefix, skip: usize) -> Prefix {
    prefix.skip = skip;
    prefix
}

const fn with_long(mut prefix: Prefix, long: &'static [&'static str]) -> Prefix {
    prefix.long = long;
    prefix
}

const PREFIXES: &[Prefix] = &[
    skipping(
        with_long(
            prefix("timeout", ("v", "ks"), Wrap::Transparent),
            &["foreground", "preserve-status", "verbose", "kill-after=", "signal="],
        ),
        1,
    ),
    prefix("time", ("p", ""), Wrap::Transparent),
    with_long(prefix("nice", ("", "n"), Wrap::Transparent), &["adjustment="]),
    with_long(prefix("stdbuf", ("", "ioe"), Wrap::Transparent), &["input=", "output=", "error="]),
    prefix("nohup", ("", ""), Wrap::Transparent),
    prefix("command", ("p", ""), Wrap::Transparent),
    prefix("builtin", ("", ""), Wrap::Transparent),
    prefix("noglob", ("", ""), Wrap::Transparent),
    prefix("exec", ("", ""), Wrap::Reparsed),
    prefix("setsid", ("cfw", ""), Wrap::ChangesContext),
    prefix("ionice", ("t", "cnpPu"), Wrap::ChangesContext),
    skipping(prefix("chrt", ("abdfimorv", "TPD"), Wrap::ChangesContext), 1),
    skipping(prefix("taskset", ("ac", ""), Wrap::ChangesContext), 1),
    prefix("unbuffer", ("p", ""), Wrap::ChangesContext),
    prefix("caffeinate", ("dimsu", "tw"), Wrap::ChangesContext),
    prefix("sudo", ("AbEeHiKklNnPSsVv", "ugpCrtTUDRh"), Wrap::ChangesContext),
    prefix("doas", ("Lns", "uCa"), Wrap::ChangesContext),
    with_long(prefix("pkexec", ("", ""), Wrap::ChangesContext), &["user="]),
    skipping(prefix("chroot", ("", ""), Wrap::ChangesContext), 1),
    prefix("unshare", ("munpiUCTrcf", "SGR"), Wrap::ChangesContext),
    prefix("nsenter", ("amunpiCUTrwFZ", "tSG"), Wrap::ChangesContext),
    prefix("systemd-run", ("dGtPq", "puEHM"), Wrap::ChangesContext),
    prefix("busybox", ("", ""), Wrap::ChangesContext),
    prefix("toybox", ("", ""), Wrap::ChangesContext),
    prefix("strace", ("fFCcdhiqrtTvVxyYzZk", "eopsuEPSaAbIOX"), Wrap::ChangesContext),
    prefix("ltrace", ("bcCfhiLrStTV", "eopsunlaADxw"), Wrap::ChangesContext),
    prefix("fakeroot", ("uh", "lsib"), Wrap::ChangesContext),
    prefix("xvfb-run", ("ahl", "efnpsw"), Wrap::ChangesContext),
    skipping(prefix("flock", ("sxneuoFvV", "wE"), Wrap::ChangesContext), 1),
    prefix("parallel", ("0kqtuvXm", "jaSINnLdEP"), Wrap::ChangesContext),
];

/// Shells whose `-c` text is read as bash would.
const SHELLS: &[&str] = &["sh", "bash", "dash"];
/// Shells with a syntax of their own: the text is looked into, but never taken for understood.
const OTHER_SHELLS: &[&str] = &["zsh", "ksh", "ash", "mksh", "rbash", "fish", "tcsh", "csh", "nu"];

/// Programs whose operands are joined to a text for a shell: flags, letters with a value, operands to skip.
const JOINERS: &[(&str, (&str, &str), usize)] = &[
    ("watch", ("bcdegptxh", "nq"), 0),
    ("ssh", ("46AaCfGgKkMNnqsTtVvXxYy", "bcDEeFIiJLlmOopQRSWw"), 1),
];

/// Whether a name is one of the wrappers.
pub(super) fn is_known(name: &str) -> bool {
    PREFIXES.iter().any(|it| it.name == name)
        || SHELLS.contains(&name)
        || OTHER_SHELLS.contains(&name)
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

type Unwrapped = Result<Option<(Wrap, Script)>, Unclear>;

fn unwrap(command: &Simple, depth: usize) -> Unwrapped {
    let Some(name) = command.program_name() else { return Ok(None) };
    let arguments = command.arguments();
    if let Some(prefix) = PREFIXES.iter().find(|it| it.name == name) {
        return unwrap_prefix(prefix, arguments);
    }
    if SHELLS.contains(&name) {
        return unwrap_shell(arguments, depth);
    }
    if OTHER_SHELLS.contains(&name) {
        // A syntax error there is none of ours.
        let inner = unwrap_shell(arguments, depth).ok().flatten();
        return Ok(inner.map(|(_, inner)| (Wrap::ChangesContext, inner)));
    }
    if let Some((_, (flags, valued), skip)) = JOINERS.iter().find(|it| it.0 == name) {
        let options = Options { flags, valued, long: &[] };
        let start = options.end(arguments)?;
        return joined(
            Wrap::ChangesContext,
            arguments.get(start + skip..).unwrap_or_default(),
            depth,
        );
    }
    match name {
        "env" => unwrap_env(arguments, depth),
        "eval" => {
            let rest = match arguments.first().and_then(Word::plain) {
                Some("--") => &arguments[1..],
                Some(_) | None => arguments,
            };
            joined(Wrap::Reparsed, rest, depth)
        }
        "trap" => {
            let rest = match arguments.first().and_then(Word::plain) {
                Some("--") => &arguments[1..],
                Some(_) | None => arguments,
            };
            joined(Wrap::ChangesContext, rest.get(..1).unwrap_or_default(), depth)
        }
        "su" | "script" => unwrap_option_text(arguments, depth),
        "xargs" => unwrap_xargs(arguments),
        "find" => Ok(unwrap_find(arguments)),
        _ => Ok(None),
    }
}

fn unwrap_prefix(prefix: &Prefix, arguments: &[Word]) -> Unwrapped {
    // `command -v` only looks a name up.
    let looks_up = |it: &Word| matches!(it.plain(), Some("-v" | "-V"));
    if prefix.name == "command" && arguments.first().is_some_and(looks_up) {
        return Ok(None);
    }
    // `nice -5 ls`: an old way to say `-n 5`.
    let numeric = prefix.name == "nice"
        && arguments.first().and_then(Word::plain).is_some_and(|it| {
            let digits = it.trim_start_matches(['-', '+']);
            it.starts_with('-')
                && !digits.is_empty()
                && digits.chars().all(|it| it.is_ascii_digit())
        });
    let options = Options { flags: prefix.flags, valued: prefix.valued, long: prefix.long };
    let start = if numeric { 1 } else { options.end(arguments)? } + prefix.skip;
    match arguments.get(start..).filter(|rest| !rest.is_empty()) {
        Some(rest) => {
            let mut words = rest.to_vec();
            if prefix.name == "parallel" {
                words.push(Word::unknown("…"));
            }
            Ok(Some((prefix.wrap, one(words))))
        }
        None => Ok(None),
    }
}

/// `bash -c TEXT`: options may also follow `-c`; the text is the first word after them.
fn unwrap_shell(arguments: &[Word], depth: usize) -> Unwrapped {
    if let [only] = arguments
        && matches!(only.plain(), Some("--version" | "--help"))
    {
        return Ok(None);
    }
    let mut wrap = Wrap::Reparsed;
    let mut has_text = false;
    let mut words = arguments.iter().peekable();
    while let Some(option) = words.peek().and_then(|it| it.plain()) {
        let Some(letters) = option.strip_prefix(['-', '+']).filter(|it| !it.is_empty()) else {
            break;
        };
        words.next();
        if option == "--" {
            break;
        }
        if option.starts_with("--") {
            return Err(Unclear::new(format!("the shell's option `{option}` is not known")));
        }
        let mut is_plain =
            option.starts_with('-') && letters.chars().all(|it| "ceuxno".contains(it));
        has_text |= letters.contains('c') && option.starts_with('-');
        for _ in letters.chars().filter(|it| matches!(it, 'o' | 'O')) {
            let setting = words.next().and_then(Word::plain);
            is_plain &= matches!(setting, Some("pipefail" | "errexit" | "nounset"));
        }
        if !is_plain {
            wrap = Wrap::ChangesContext;
        }
    }
    if !has_text {
        return Ok(None);
    }
    let text = words.next().map(std::slice::from_ref).unwrap_or_default();
    joined(wrap, text, depth)
}

/// `su -c TEXT`, `script -qc TEXT`.
fn unwrap_option_text(arguments: &[Word], depth: usize) -> Unwrapped {
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.plain() else { continue };
        if let Some(text) = text.strip_prefix("--command=") {
            return joined(Wrap::ChangesContext, &[Word::exactly(text)], depth);
        }
        let bundle = text.starts_with('-') && !text.starts_with("--");
        if bundle && let Some((_, attached)) = text.split_once('c').filter(|_| text.len() > 1) {
            let own = [Word::exactly(attached)];
            let next = arguments.get(at + 1..at + 2).unwrap_or_default();
            let text = if attached.is_empty() { next } else { own.as_slice() };
            return joined(Wrap::ChangesContext, text, depth);
        }
        if text == "--command" {
            let next = arguments.get(at + 1..at + 2).unwrap_or_default();
            return joined(Wrap::ChangesContext, next, depth);
        }
    }
    Ok(None)
}

/// Words that a shell reads as one text; none if there are none.
fn joined(wrap: Wrap, words: &[Word], depth: usize) -> Unwrapped {
    if words.is_empty() {
        return Ok(None);
    }
    let texts: Option<Vec<&str>> = words.iter().map(Word::plain).collect();
    let texts = texts
        .ok_or_else(|| Unclear::new("it runs a text that is only known when the command runs"))?;
    Ok(Some((wrap, parse_at(&texts.join(" "), depth + 1)?)))
}

fn unwrap_env(arguments: &[Word], depth: usize) -> Unwrapped {
    if let Some(text) = split_string(arguments) {
        return joined(Wrap::ChangesContext, &[text], depth);
    }
    let options = Options {
        flags: "i0v",
        valued: "uC",
        long: &["ignore-environment", "null", "unset=", "chdir=", "debug"],
    };
    // A lone `-` is `-i`.
    let skip = usize::from(arguments.first().and_then(Word::plain) == Some("-"));
    let start = options.end(&arguments[skip..])? + skip;
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
    let wrap = if plain_options { Wrap::Reparsed } else { Wrap::ChangesContext };
    Ok(Some((wrap, Script { commands: vec![inner], ..Script::default() })))
}

/// The text of `env -S TEXT WORDS`, which `env` splits itself, with the words after it.
fn split_string(arguments: &[Word]) -> Option<Word> {
    let texts: Vec<&str> = arguments.iter().map(|it| it.plain().unwrap_or(&it.raw)).collect();
    let at = texts.iter().position(|it| {
        it.starts_with("--split-string")
            || (it.starts_with('-') && !it.starts_with("--") && it.contains('S'))
    })?;
    let option = texts[at];
    let attached = match option.strip_prefix("--split-string") {
        Some(rest) => rest.trim_start_matches('='),
        None => option.split_once('S').map_or("", |(_, rest)| rest),
    };
    let rest = texts.get(at + 1..).unwrap_or_default().join(" ");
    Some(Word::exactly(format!("{attached} {rest}").trim().to_owned()))
}

fn unwrap_xargs(arguments: &[Word]) -> Unwrapped {
    let options = Options {
        flags: "0rtx",
        valued: "nPLIdsEa",
        long: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "exit",
            "max-args=",
            "max-procs=",
            "max-lines=",
            "replace=",
            "delimiter=",
            "max-chars=",
            "arg-file=",
            "eof=",
        ],
    };
    let start = options.end(arguments)?;
    let (own, rest) = arguments.split_at(start);
    let wrap = if own.is_empty() { Wrap::Transparent } else { Wrap::AppendsWords };
    let mut words = if rest.is_empty() { vec![Word::exactly("echo")] } else { rest.to_vec() };
    if let Some(mark) = replaced_mark(own) {
        let holds = |word: &Word| word.plain().is_none_or(|it| it.contains(mark));
        words
            .iter_mut()
            .filter(|word| holds(word))
            .for_each(|word| *word = Word::unknown(word.raw.clone()));
    }
    words.push(Word::unknown("…"));
    Ok(Some((wrap, one(words))))
}

/// The text that `xargs -I` replaces.
fn replaced_mark(options: &[Word]) -> Option<&str> {
    let texts: Vec<&str> = options.iter().filter_map(Word::plain).collect();
    texts.iter().enumerate().find_map(|(at, text)| {
        if let Some(rest) = text.strip_prefix("--replace") {
            return Some(rest.strip_prefix('=').or(texts.get(at + 1).copied()).unwrap_or("{}"));
        }
        let bundle = text.strip_prefix('-').filter(|it| !it.starts_with('-'))?;
        let (_, attached) = bundle.split_once('I')?;
        if attached.is_empty() { texts.get(at + 1).copied() } else { Some(attached) }
    })
}

fn unwrap_find(arguments: &[Word]) -> Option<(Wrap, Script)> {
    let mut inner = Script::default();
    let mut wrap = Wrap::PerFile;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(action) = word.plain() else { continue };
        match action {
            "-exec" => {}
            // In the file's own folder a relative `PATH` finds other programs; `-ok` asks the terminal.
            "-execdir" | "-ok" | "-okdir" => wrap = Wrap::ChangesContext,
            _ => continue,
        }
        let ends = |it: &&Word| !matches!(it.plain(), Some(";" | "+"));
        let command: Vec<Word> = words.by_ref().take_while(ends).cloned().collect();
        inner.commands.push(Simple::new(command.into_iter().map(per_file).collect()));
    }
    (!inner.commands.is_empty()).then_some((wrap, inner))
}

/// A word of `find -exec`: `{}` alone is a path that begins as a start point of the search does, so it is never an
/// option.
fn per_file(word: Word) -> Word {
    if word.plain() == Some("{}") {
        return Word { raw: word.raw, meaning: super::Meaning::Anchored(String::new()) };
    }
    if word.raw.contains("{}") { Word::unknown(word.raw) } else { word }
}

/// The options a wrapper has.
struct Options {
    flags: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
}

impl Options {
    /// Where options end.
    fn end(&self, words: &[Word]) -> Result<usize, Unclear> {
        let mut index = 0;
        while let Some(word) = words.get(index) {
            let text = word
                .plain()
                .ok_or_else(|| Unclear::new("what it runs is only known when the command runs"))?;
            if text == "--" {
                return Ok(index + 1);
            }
            if !text.starts_with('-') || text == "-" {
                return Ok(index);
            }
            let takes_next = self.takes_next(text).ok_or_else(|| {
                Unclear::new(format!("the option `{text}` in front of a command is not known"))
            })?;
            index += if takes_next { 2 } else { 1 };
        }
        Ok(words.len())
    }

    /// Whether an option's value is the next word; none if the option is not known.
    fn takes_next(&self, text: &str) -> Option<bool> {
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            return self.long.iter().find_map(|it| match it.strip_suffix('=') {
                Some(valued) if valued == name => Some(value.is_none()),
                None if *it == name && value.is_none() => Some(false),
                Some(_) | None => None,
            });
        }
        let mut letters = text.chars().skip(1);
        while let Some(letter) = letters.next() {
            if self.valued.contains(letter) {
                return Some(letters.next().is_none());
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(false)
    }
}

fn one(words: Vec<Word>) -> Script {
    Script { commands: vec![Simple::new(words)], ..Script::default() }
}
