//! Every option that a program's own help names is judged: none that writes, runs or connects is allowed.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use base::Env;
use base::command::{CommandLine, RunCommand};
use guard::{Decision, Runner};
use regex::Regex;

use super::{Report, say, tables};
use crate::room::Room;

/// Read-only programs as agents use them, beside those of the harmless tables.
#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "ag", "arch", "awk", "b2sum", "base32", "base64", "basename", "basenc", "bat", "bzcat", "bzgrep", "bzless",
    "c++filt", "cal", "cat", "cksum", "cloc", "cmp", "colordiff", "column", "comm", "cut", "date", "df", "diff",
    "diff3", "dir", "dirname", "dirs", "dmesg", "du", "egrep", "env", "exa", "expand", "expr", "eza", "factor", "fd",
    "fdfind", "fgrep", "file", "find", "findmnt", "fmt", "fold", "free", "fuser", "gawk", "getconf", "getent", "glow",
    "grep", "groups", "gunzip", "gzip", "head", "hexdump", "hexyl", "hostname", "hostid", "htop", "iconv", "id",
    "iostat", "ip", "join", "jq", "ldd", "less", "link", "locale", "locate", "logname", "look", "ls", "lsattr",
    "lsblk", "lscpu", "lsd", "lsmod", "lsof", "lspci", "lsusb", "mawk", "md5sum", "mount", "mountpoint", "namei",
    "netstat", "nice", "nl", "nm", "nproc", "numfmt", "objdump", "od", "paste", "pathchk", "pgrep", "pidof", "pmap",
    "pr", "printenv", "printf", "ps", "pstree", "ptx", "pwd", "pwdx", "readelf", "readlink", "realpath", "rev", "rg",
    "sdiff", "sed", "seq", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shuf", "size", "sleep",
    "sort", "ss", "stat", "stdbuf", "strings", "sum", "tac", "tail", "tar", "tee", "timeout", "tokei", "tr", "tree",
    "tsort", "tty", "uname", "unexpand", "uniq", "unzip", "uptime", "users", "vdir", "vmstat", "w", "wc", "whereis",
    "which", "who", "whoami", "xargs", "xxd", "xz", "xzcat", "yq", "zcat", "zdiff", "zgrep", "zipinfo", "zless",
    "zstdcat",
];

/// Words in an option's name that say it may write, run, load or connect.
#[rustfmt::skip]
const NAME_WORDS: &[&str] = &[
    "output", "exec", "execdir", "execute", "command", "program", "place", "inplace", "write", "compress", "pager",
    "config", "plugin", "filter", "filters", "pre", "script", "rsh", "rmt", "edit", "editor", "delete", "remove",
    "hook", "load", "compile", "set", "kill", "upload", "connect", "host", "proxy", "shell", "textconv", "ext",
    "signature", "fprint", "fprintf", "fls", "ok", "okdir", "checkpoint", "save", "log", "daemon", "extract",
    "append", "update", "create",
];

/// Options whose names or texts sound like it, but that only read; `*` stands for every program.
#[rustfmt::skip]
const REVIEWED: &[(&str, &[&str])] = &[
    ("*", &["--help", "--version", "-h", "-V", "-v", "--output-delimiter", "--output-separator", "--output-width",
        "--output-duplicates", "--output-tabs", "--output-all", "--dereference-command-line",
        "--dereference-command-line-symlink-to-dir", "--no-pager", "--no-config", "--no-ext-diff", "--no-textconv",
        "--no-filters"]),
    ("addr2line", &["-e", "--exe"]),
    ("df", &["--output"]),
    ("fd", &["-t", "--type", "-j", "--threads"]),
    ("fdfind", &["-t", "--type", "-j", "--threads"]),
    ("find", &["-readable", "-writable", "-executable", "-print", "-print0", "-printf"]),
    ("findmnt", &["--output", "--shell"]),
    ("git cat-file", &["--batch-command"]),
    ("git range-diff", &["-B", "--break-rewrites", "-D", "--irreversible-delete", "--diff-filter"]),
    ("git reflog", &["--rewrite", "--updateref"]),
    ("git rev-list", &["--remove-empty"]),
    ("git symbolic-ref", &["-q"]),
    ("lsblk", &["--output", "--shell"]),
    ("nm", &["-g", "--extern-only"]),
    ("numfmt", &["--padding"]),
    ("objdump", &["-d", "--disassemble", "--disassembler-color"]),
    ("readelf", &["--program-headers", "--ctf-symbols", "--ctf-strings"]),
    ("rg", &["--pre-glob"]),
    ("sed", &["-e", "--expression", "--debug"]),
    ("tr", &["-d", "--delete"]),
    ("xargs", &["-r", "-t", "--no-run-if-empty", "--verbose"]),
    ("xz", &["-c", "--stdout"]),
    ("yq", &["--yaml-output"]),
];

/// What the text of an option says if it may write, run, load or connect.
fn text_words() -> Regex {
    Regex::new(
        r"(?i)\b(writes? (to|the|its|output|results?|into)|output (to|file)|to (the )?(file|FILE) instead|execut\w+|in[- ]place|(run|runs|invoke|invokes|launch|spawn|start)s? (a |an |the |each |this |given |specified |external )*(command|program|pager|script|shell|editor|browser|viewer)|plug-?in|shell command|preprocess\w*|external|download|connects?|overwrit\w*|deletes?|unlink|compile magic)\b",
    )
    .unwrap()
}

/// One option as a help text describes it.
#[derive(Debug)]
struct OptionText {
    name: String,
    text: String,
}

/// The help of a command, run in an empty folder with nothing to read.
fn help(command: &str) -> String {
    let folder = tempfile::tempdir_in(crate::place::lasting()).unwrap();
    let home = folder.path().to_str().unwrap().to_owned();
    let path = Env::of_process().get("PATH").unwrap_or("/usr/bin:/bin").to_owned();
    let env = Env::from_iter([
        ("PATH", path.as_str()),
        ("HOME", &home),
        ("LC_ALL", "C"),
        ("PAGER", "cat"),
    ]);
    let flag = if command.starts_with("git ") { "-h" } else { "--help" };
    let text = format!("ulimit -f 0; {command} {flag} < /dev/null 2>&1; true");
    let mut line = CommandLine::shell(text, &env);
    line.folder = Some(folder.path().to_owned());
    line.timeout = Duration::from_secs(10);
    Runner.run(&line).unwrap_or_default()
}

fn parse_help(text: &str) -> Vec<OptionText> {
    let starts = Regex::new(r"^\s{0,12}(\[?-|or: )").unwrap();
    let name = Regex::new(r"(?:^|[\s,\[|(/])(--?[A-Za-z0-9][A-Za-z0-9_-]*)").unwrap();
    let mut options: Vec<OptionText> = Vec::new();
    let mut current = 0;
    for line in text.lines() {
        if !starts.is_match(line) {
            for option in options.iter_mut().skip(current) {
                option.text.push(' ');
                option.text.push_str(line.trim());
            }
            continue;
        }
        current = options.len();
        let trimmed = line.trim_start();
        let head = trimmed.split("  ").next().unwrap_or(trimmed);
        for found in name.captures_iter(head) {
            options.push(OptionText { name: found[1].to_owned(), text: trimmed.to_owned() });
        }
    }
    options
}

/// Programs and subcommands of git that are judged, as far as they are installed.
fn commands() -> Vec<String> {
    let mut names: BTreeSet<String> = PROGRAMS.iter().map(|name| (*name).to_owned()).collect();
    for line in tables::lines(tables::harmless()) {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        let plain =
            |word: &&&str| word.chars().all(|it| it.is_ascii_alphanumeric() || "-_+".contains(it));
        match words.iter().take_while(plain).copied().collect::<Vec<_>>()[..] {
            ["git", subcommand] if !subcommand.starts_with('-') => {
                names.insert(format!("git {subcommand}"));
            }
            [first, ..] => {
                names.insert(first.to_owned());
            }
            [] => {}
        }
    }
    let path = Env::of_process().get("PATH").unwrap_or("/usr/bin:/bin").to_owned();
    let installed = |name: &String| {
        let program = name.split(' ').next().unwrap_or(name);
        path.split(':').any(|folder| Path::new(folder).join(program).is_file())
    };
    names.into_iter().filter(installed).collect()
}

/// The helps of all commands, read by a few threads.
fn helps() -> Vec<(String, Vec<OptionText>)> {
    let queue = Mutex::new(commands());
    let read = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(command) = { queue.lock().unwrap().pop() } {
                    let options = parse_help(&help(&command));
                    read.lock().unwrap().push((command, options));
                }
            });
        }
    });
    let mut read = read.into_inner().unwrap();
    read.sort_by(|left, right| left.0.cmp(&right.0));
    read
}

/// The forms in which an option is written.
fn spellings(command: &str, option: &str) -> Vec<String> {
    let mut lines = vec![
        format!("{command} {option}"),
        format!("{command} {option}=x"),
        format!("{command} {option} x"),
    ];
    // awk takes every word after its program for a file.
    if !command.ends_with("awk") {
        lines.push(format!("{command} x {option} x"));
    }
    if !option.starts_with("--") {
        lines.push(format!("{command} {option}x"));
    }
    lines
}

fn is_reviewed(command: &str, option: &str) -> bool {
    let named = |(program, options): &(&str, &[&str])| {
        (*program == "*" || *program == command) && options.contains(&option)
    };
    REVIEWED.iter().any(named)
}

#[test]
fn no_option_that_its_help_calls_dangerous_is_allowed() {
    let room = Room::new();
    let texts = text_words();
    let (mut judged, mut allowed, mut wrong) = (0, 0, Vec::new());
    let helps = helps();
    for (command, options) in &helps {
        for option in options {
            judged += 1;
            let allows = |line: &String| room.run(line).decision == Decision::Allow;
            let Some(line) = spellings(command, &option.name).into_iter().find(allows) else {
                continue;
            };
            allowed += 1;
            let by_name = option.name.split('-').any(|word| NAME_WORDS.contains(&word));
            let by_text = texts.is_match(&option.text);
            if (by_name || by_text) && !is_reviewed(command, &option.name) {
                let text: String = option.text.chars().take(160).collect();
                wrong.push(format!("  {line:?}  {text}"));
            }
        }
    }
    say(&format!("options: {} programs, {judged} options, {allowed} allowed\n", helps.len()));
    assert!(judged >= 1_000, "only {judged} options were found");
    assert!(wrong.is_empty(), "{} options:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn made_up_options_are_never_allowed() {
    // These take any word as text.
    let texts = ["echo", "true", "false", "printf", "test", "expr", "seq", "yes"];
    let room = Room::new();
    let mut report = Report::default();
    for command in commands().into_iter().filter(|command| !texts.contains(&command.as_str())) {
        let mut lines = vec![
            format!("{command} --no-such-option-x"),
            format!("{command} --no-such-option-x=y"),
            format!("{command} --no-such-option-x y"),
            format!("{command} -\u{1}"),
            format!("{command} -@"),
            format!("{command} -\u{e9}"),
        ];
        if !command.ends_with("awk") {
            lines.push(format!("{command} x --no-such-option-x"));
        }
        report.check(&command, &lines, |line| {
            (room.run(line).decision == Decision::Allow).then(|| "is allowed".to_owned())
        });
    }
    report.assert_none_wrong();
}
