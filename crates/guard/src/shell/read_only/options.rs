//! Options that turn a reader into a writer, and small programs with rules of their own.

use super::{NotReadOnly, Proof, Word};

/// Options a program must not have.
pub(super) struct Banned {
    /// Letters, alone or among others.
    pub(super) short: &'static str,
    /// Long names, also when they are cut short.
    pub(super) long: &'static [&'static str],
}

impl Banned {
    /// Proves that none of them is there.
    pub(super) fn check(&self, program: &str, arguments: &[Word]) -> Proof {
        for word in arguments.iter().take_while(|word| word.plain() != Some("--")) {
            if !word.may_be_option() {
                continue;
            }
            let Some(text) = word.plain() else {
                return Err(unsure(program, word));
            };
            let bad = match text.strip_prefix("--") {
                Some(long) => {
                    let name = long.split('=').next().unwrap_or(long);
                    self.long.iter().any(|banned| banned.starts_with(name))
                }
                None => text.chars().any(|letter| self.short.contains(letter)),
            };
            if bad {
                return Err(NotReadOnly::new(format!("`{program} {text}` may do more than read")));
            }
        }
        Ok(())
    }
}

/// Only these words.
pub(super) fn only(program: &str, arguments: &[Word], allowed: &[&str]) -> Proof {
    let known = |word: &&Word| word.plain().is_none_or(|text| !allowed.contains(&text));
    match arguments.iter().find(known) {
        Some(odd) => {
            Err(NotReadOnly::new(format!("`{program} {}` may do more than read", odd.raw)))
        }
        None => Ok(()),
    }
}

/// At most one operand, since a second would be written.
pub(super) fn one_operand(
    program: &str,
    arguments: &[Word],
    valued: &[&str],
    banned_letters: &str,
) -> Proof {
    let mut operands = 0;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.plain() else { return Err(unsure(program, word)) };
        if !text.starts_with('-') || text == "-" {
            operands += 1;
        } else if text.starts_with("--") && text != "--"
            || text.chars().any(|letter| banned_letters.contains(letter))
        {
            return Err(NotReadOnly::new(format!("`{program} {text}` may do more than read")));
        } else if valued.contains(&text) {
            words.next();
        }
    }
    if operands > 1 {
        return Err(NotReadOnly::new(format!("`{program}` writes its second file")));
    }
    Ok(())
}

/// Tests and actions of `find` that only look.
const FIND: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-type",
    "-xtype",
    "-maxdepth",
    "-mindepth",
    "-depth",
    "-d",
    "-print",
    "-print0",
    "-printf",
    "-ls",
    "-prune",
    "-quit",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-size",
    "-empty",
    "-mtime",
    "-mmin",
    "-atime",
    "-amin",
    "-ctime",
    "-cmin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-newermt",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-nouser",
    "-nogroup",
    "-perm",
    "-links",
    "-inum",
    "-samefile",
    "-lname",
    "-ilname",
    "-readable",
    "-writable",
    "-executable",
    "-true",
    "-false",
    "-mount",
    "-xdev",
    "-follow",
    "-daystart",
    "-noleaf",
    "-L",
    "-H",
    "-P",
    "-E",
    "-x",
    "-s",
    "-X",
    "-warn",
    "-nowarn",
    "-fstype",
    "-used",
    "-ignore_readdir_race",
];

/// `find` without actions that write, delete or run.
pub(super) fn find(arguments: &[Word]) -> Proof {
    for word in arguments {
        let Some(text) = word.plain() else {
            if word.may_be_option() {
                return Err(unsure("find", word));
            }
            continue;
        };
        let Some(option) = text.strip_prefix('-') else { continue };
        // `-mtime -1` has a number for its value.
        let number = option.starts_with(|it: char| it.is_ascii_digit());
        if !number && !FIND.contains(&text) {
            return Err(NotReadOnly::new(format!("`find {text}` may do more than look")));
        }
    }
    Ok(())
}

/// `date` that shows the time and does not set it.
pub(super) fn date(arguments: &[Word]) -> Proof {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.plain() else { return Err(unsure("date", word)) };
        match text {
            "-d" | "--date" | "-r" | "--reference" => drop(words.next()),
            "-u" | "--utc" | "-R" | "-I" | "--rfc-email" => {}
            _ if text.starts_with('+')
                || text.starts_with("-I")
                || text.starts_with("--date=")
                || text.starts_with("--iso-8601")
                || text.starts_with("--rfc-3339=") => {}
            _ => return Err(NotReadOnly::new(format!("`date {text}` may set the clock"))),
        }
    }
    Ok(())
}

/// `test`, `[` and `[[`: no array index and no arithmetic that could run code.
pub(super) fn test(arguments: &[Word]) -> Proof {
    let evaluates = ["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let number = |word: &Word| {
        word.plain()
            .is_some_and(|it| it.parse::<i64>().is_ok() || it.starts_with('-') || is_syntax(it))
    };
    let operator = arguments.iter().find(|it| it.plain().is_some_and(|it| evaluates.contains(&it)));
    if let Some(operator) = operator
        && (matches!(operator.plain(), Some("-v" | "-R")) || !arguments.iter().all(number))
    {
        return Err(NotReadOnly::new(format!("`{}` may run what it evaluates", operator.raw)));
    }
    match arguments.iter().find(|word| word.plain().is_none()) {
        Some(word) => Err(unsure("test", word)),
        None => Ok(()),
    }
}

fn is_syntax(text: &str) -> bool {
    ["]", "]]", "&&", "||", "!", "(", ")"].contains(&text)
}

/// `command -v name`.
pub(super) fn lookup(arguments: &[Word]) -> Proof {
    match arguments.first().and_then(Word::plain) {
        Some("-v" | "-V") => Ok(()),
        Some(_) | None => Err(NotReadOnly::new("`command` runs what it names")),
    }
}

/// A word that shows only when it runs may be any option.
pub(super) fn unsure(program: &str, word: &Word) -> NotReadOnly {
    NotReadOnly::new(format!(
        "`{}` may be an option of {program} that does more than read",
        word.raw
    ))
}
