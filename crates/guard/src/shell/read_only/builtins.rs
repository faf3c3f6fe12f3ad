//! Builtins that set variables or evaluate their arguments, and programs whose first word is a bundle of options.

use super::{
    Assurance, NotReadOnly, Proof, changes_what_runs, is_harmless_for_programs,
    is_harmless_in_shell, unsure,
};
use crate::shell::{Assignment, Simple, Word};

/// The proof for a builtin with rules of its own; none for every other command.
pub(super) fn proof(name: &str, command: &Simple) -> Option<Proof> {
    let arguments = command.arguments();
    let own = match name {
        "export" => declaration(command, &[], is_listed_name),
        "declare" | "typeset" | "local" | "readonly" => {
            declaration(command, &["-a", "-A", "-r", "-g"], is_harmless_in_shell)
        }
        "unset" => declaration(command, &["-v"], is_harmless_in_shell),
        "read" => read(command),
        "mapfile" | "readarray" => names_after(arguments, &["-t"], ""),
        "test" | "[" => test(arguments),
        "[[" => conditional(arguments),
        "printf" => printf(arguments),
        "set" => set(arguments),
        "command" if command.wraps.is_none() => lookup(arguments),
        "env" if arguments.is_empty() => Ok(Assurance::Checked),
        _ => return None,
    };
    let sets =
        matches!(name, "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "read");
    let odd = command.assignments.iter().find(|it| !sets && !is_harmless_for_programs(it));
    Some(odd.map_or(own, |odd| Err(changes_what_runs(odd))))
}

/// Whether a variable may be exported by its name alone.
fn is_listed_name(name: &str) -> bool {
    is_harmless_for_programs(&Assignment { name: name.to_owned(), value: Word::unknown("") })
}

/// `export NAME=value` and its kin: a word with `=` is an assignment however it is quoted.
fn declaration(command: &Simple, flags: &[&str], may_set: fn(&str) -> bool) -> Proof {
    if let Some(odd) = command.assignments.iter().find(|it| !may_set(&it.name)) {
        return Err(changes_what_runs(odd));
    }
    let program = command.program().unwrap_or_default();
    for word in command.arguments() {
        // `local f="src/$x"`: the name is literal, the value need not be.
        let name = match word.plain() {
            Some(option) if option.starts_with('-') => {
                if !flags.contains(&option) {
                    return Err(NotReadOnly::new(format!(
                        "`{program} {option}` may change what runs"
                    )));
                }
                continue;
            }
            // A value in brackets is a list, whose indexes are evaluated.
            Some(text) if text.contains("=(") => return Err(unsure(program, word)),
            Some(text) => text.split('=').next().unwrap_or(text),
            None => return Err(unsure(program, word)),
        };
        if !may_set(name) {
            let value = Word::exactly("");
            return Err(changes_what_runs(&Assignment { name: name.to_owned(), value }));
        }
    }
    Ok(Assurance::Inert)
}

/// `read` into shell variables. `IFS=` in front says how it splits, and no more.
fn read(command: &Simple) -> Proof {
    let odd = |it: &&Assignment| it.name != "IFS" && !is_harmless_for_programs(it);
    if let Some(odd) = command.assignments.iter().find(odd) {
        return Err(changes_what_runs(odd));
    }
    names_after(command.arguments(), &["-r", "-s"], "dnNtpa")
}

/// Options, then names of shell variables. A letter of `valued` may end a word, and takes the next one.
fn names_after(arguments: &[Word], flags: &[&str], valued: &str) -> Proof {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.plain() else { return Err(unsure("read", word)) };
        if flags.contains(&text) {
            continue;
        }
        let Some(letters) = text.strip_prefix('-') else {
            if !is_harmless_in_shell(text) {
                return Err(NotReadOnly::new(format!("setting {text} may change what runs")));
            }
            continue;
        };
        let is_flag = |it: char| flags.iter().any(|flag| flag.ends_with(it));
        let (last, before) = match letters.char_indices().last() {
            Some((at, last)) => (last, &letters[..at]),
            None => continue,
        };
        if !before.chars().all(is_flag) || !(is_flag(last) || valued.contains(last)) {
            return Err(NotReadOnly::new(format!(
                "`read {text}` is not on the list of read-only options"
            )));
        }
        if valued.contains(last) {
            let value = words.next().and_then(Word::plain).unwrap_or_default();
            // `-a` names an array.
            if last == 'a' && !is_harmless_in_shell(value) {
                return Err(NotReadOnly::new(format!("setting {value} may change what runs")));
            }
        }
    }
    Ok(Assurance::Inert)
}

/// `test` and `[`: operators are words, so a word of unknown value may be one. Only one operator evaluates a name:
/// `-v`, and `-R` beside it.
fn test(arguments: &[Word]) -> Proof {
    let words = match arguments.split_last() {
        Some((last, rest)) if last.plain() == Some("]") => rest,
        Some(_) | None => arguments,
    };
    if let Some(odd) = words.iter().find(|it| matches!(it.plain(), Some("-v" | "-R"))) {
        return Err(NotReadOnly::new(format!("`{}` may run what it evaluates", odd.raw)));
    }
    for (at, word) in words.iter().enumerate() {
        if word.plain().is_some() || !word.may_be_option() {
            continue;
        }
        // In quotes it stays one word, and beside a literal operator that word is an operand.
        let is_operand = is_one_word(word) && has_operator_beside(words, at);
        if !is_operand {
            return Err(unsure("test", word));
        }
    }
    Ok(Assurance::Inert)
}

/// Whether a word of unknown value stays one word: it stands in double quotes as a whole.
fn is_one_word(word: &Word) -> bool {
    let raw = &word.raw;
    raw.len() > 1
        && raw.starts_with('"')
        && raw.ends_with('"')
        && !raw.contains("$@")
        && !raw.contains("[@]")
        && !raw.contains("${@")
}

/// Whether the word at `at` is the operand of a literal operator: `-n WORD`, `WORD = x`, `x = WORD`.
fn has_operator_beside(words: &[Word], at: usize) -> bool {
    const UNARY: &[&str] = &[
        "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S",
        "-t", "-u", "-w", "-x", "-z", "-O", "-G", "-N",
    ];
    const BINARY: &[&str] =
        &["=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "<", ">"];
    let literal = |index: usize, known: &[&str]| {
        words.get(index).and_then(Word::plain).is_some_and(|it| known.contains(&it))
    };
    // Two words: an operator and its operand. Three: an operator between two operands.
    let alone = match words.first().and_then(Word::plain) {
        Some("!") => words.len() - 1,
        Some(_) | None => words.len(),
    };
    let before = at.checked_sub(1);
    match alone {
        1 => true,
        2 => before.is_some_and(|it| literal(it, UNARY)),
        3 => literal(at + 1, BINARY) || before.is_some_and(|it| literal(it, BINARY)),
        _ => false,
    }
}

/// `[[ … ]]`: operators are syntax. `-v` evaluates a name, and comparisons of numbers evaluate both sides.
fn conditional(arguments: &[Word]) -> Proof {
    const EVALUATES: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.plain() else { continue };
        if matches!(text, "-v" | "-R") {
            return Err(NotReadOnly::new(format!("`{text}` may run what it evaluates")));
        }
        if !EVALUATES.contains(&text) {
            continue;
        }
        let before = at.checked_sub(1).and_then(|it| arguments.get(it));
        let is_number = |it: Option<&Word>| it.is_some_and(Word::is_number);
        if !is_number(before) || !is_number(arguments.get(at + 1)) {
            return Err(NotReadOnly::new(format!("`{text}` may run what it evaluates")));
        }
    }
    Ok(Assurance::Inert)
}

/// `printf` that sets no variable: neither by `-v` nor by `%n`.
fn printf(arguments: &[Word]) -> Proof {
    let (format, rest) = match arguments.split_first() {
        Some((first, rest)) if first.plain() == Some("--") => match rest.split_first() {
            Some((format, rest)) => (format, rest),
            None => return Ok(Assurance::Inert),
        },
        Some((format, rest)) => (format, rest),
        None => return Ok(Assurance::Inert),
    };
    let sets = match format.plain() {
        Some(text) => text.starts_with('-') && text != "-" || has_count(text),
        // Without further words there is no name to set; a word that may be an option may be `-v`.
        None => format.may_be_option() && !is_one_word(format) || !rest.is_empty(),
    };
    if sets { Err(NotReadOnly::new("`printf` may set a variable")) } else { Ok(Assurance::Inert) }
}

/// Whether a format has a conversion that stores a count: `%n`.
fn has_count(format: &str) -> bool {
    format.replace("%%", "").split('%').skip(1).any(|rest| {
        rest.trim_start_matches(|it: char| it.is_ascii_digit() || "#-+ .*'lhjztL".contains(it))
            .starts_with('n')
    })
}

fn set(arguments: &[Word]) -> Proof {
    const NAMES: &[&str] =
        &["pipefail", "errexit", "nounset", "xtrace", "noglob", "noclobber", "verbose"];
    for word in arguments {
        let known = word.plain().is_some_and(|text| match text.strip_prefix(['-', '+']) {
            Some(letters) => {
                !letters.is_empty() && letters.chars().all(|it| "euxofvC".contains(it))
            }
            None => NAMES.contains(&text),
        });
        if !known {
            return Err(NotReadOnly::new(format!("`set {}` may change what runs", word.raw)));
        }
    }
    Ok(Assurance::Inert)
}

/// `command -v name`.
fn lookup(arguments: &[Word]) -> Proof {
    match arguments.first().and_then(Word::plain) {
        Some("-v" | "-V") => Ok(Assurance::Inert),
        Some(_) | None => Err(NotReadOnly::new("`command` runs what it names")),
    }
}

/// `ps`: words without a dash are options too, and `e` among them shows the environment of other processes.
pub(super) fn ps(arguments: &[Word]) -> Proof {
    let mut is_value = false;
    for word in arguments {
        let was_value = std::mem::take(&mut is_value);
        let Some(text) = word.plain() else { return Err(unsure("ps", word)) };
        let shows_environment = text.contains("environ") || text.contains("env,");
        let known = match text.strip_prefix('-') {
            Some(long) if long.starts_with('-') => {
                let name = long.trim_start_matches('-').split('=').next().unwrap_or_default();
                [
                    "sort",
                    "forest",
                    "no-headers",
                    "headers",
                    "pid",
                    "ppid",
                    "user",
                    "format",
                    "cols",
                    "rows",
                    "version",
                ]
                .contains(&name)
            }
            Some(letters) => {
                is_value =
                    letters.ends_with(['o', 'O', 'p', 'u', 'U', 'C', 't', 'g', 'G', 'q', 's', 'k']);
                letters.chars().all(|it| {
                    "AaCdefgGHjlLmMnNoOpPqsStTuUVwxyZFkc".contains(it) || it.is_ascii_digit()
                })
            }
            None if was_value => true,
            None => {
                is_value = text.ends_with(['o', 'O', 'p', 'k', 'U', 't']);
                let digits = text.chars().all(|it| it.is_ascii_digit() || it == ',');
                digits || text.chars().all(|it| "aAxurlwfjsvTXhHcmnLokOpSUt".contains(it))
            }
        };
        if !known || shows_environment {
            return Err(NotReadOnly::new(format!(
                "`ps {text}` is not on the list of read-only options"
            )));
        }
    }
    Ok(Assurance::Checked)
}

/// `tar t…`: lists an archive. Its first word may be options without a dash.
pub(super) fn tar(arguments: &[Word]) -> Proof {
    const LONG: &[&str] = &[
        "list",
        "verbose",
        "gzip",
        "gunzip",
        "bzip2",
        "xz",
        "zstd",
        "file",
        "wildcards",
        "exclude",
        "full-time",
        "numeric-owner",
        "auto-compress",
        "version",
        "help",
    ];
    let refused =
        |word: &str| NotReadOnly::new(format!("`tar {word}` may do more than list an archive"));
    let mut lists = false;
    for (at, word) in arguments.iter().enumerate() {
        let Some(text) = word.plain() else {
            if word.may_be_option() {
                return Err(unsure("tar", word));
            }
            continue;
        };
        let letters = match text.strip_prefix('-') {
            Some(long) if long.starts_with('-') => {
                let name = long.trim_start_matches('-').split('=').next().unwrap_or_default();
                lists |= matches!(name, "list" | "version" | "help");
                if !LONG.contains(&name) || text.contains(':') {
                    return Err(refused(text));
                }
                continue;
            }
            Some(letters) => letters,
            None if at == 0 => text,
            // A colon names another machine.
            None if text.contains(':') => return Err(refused(text)),
            None => continue,
        };
        let (bundle, attached) = match (text.starts_with('-'), letters.split_once('f')) {
            (true, Some((before, file))) => (before, file),
            (true | false, _) => (letters, ""),
        };
        if attached.contains(':') || !bundle.chars().all(|it| "tvzjJaf".contains(it)) {
            return Err(refused(text));
        }
        lists |= bundle.contains('t');
    }
    if lists { Ok(Assurance::Sandboxed) } else { Err(refused("")) }
}
