//! The analysis against a real bash: what it takes for a reader runs nothing else and writes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::Env;
use base::command::{CommandLine, RunCommand};
use guard::{Runner, shell};
use proptest::prelude::*;
use tempfile::TempDir;

/// About one in twenty is taken for a reader, and runs: 2 s. 300,000 have been tried.
const CASES: u32 = 3_000;

/// A folder in which every program only notes that it ran.
struct Stage {
    dir: TempDir,
}

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir_in(crate::place::lasting()).unwrap();
        let stage = Self { dir };
        for folder in ["bin", "work"] {
            fs::create_dir(stage.path(folder)).unwrap();
        }
        for name in [
            "rm", "touch", "x", "EOF", "A", "a", "b", "ls", "cat", "git", "log", "find", "sed",
            "awk",
        ] {
            let file = stage.path("bin").join(name);
            let log = stage.path("log");
            fs::write(&file, format!("#!/bin/sh\necho {name} >> {}\n", log.display())).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in ["sh", "env", "xargs", "nice", "timeout"] {
            let real = [Path::new("/usr/bin").join(name), Path::new("/bin").join(name)];
            if let Some(real) = real.iter().find(|it| it.exists()) {
                std::os::unix::fs::symlink(real, stage.path("bin").join(name)).unwrap();
            }
        }
        stage
    }

    fn path(&self, rest: &str) -> PathBuf {
        self.dir.path().join(rest)
    }

    /// Runs a line and says what it should not have done.
    fn misdeeds(&self, line: &str) -> Option<String> {
        fs::write(self.path("log"), "").unwrap();
        let bin = self.path("bin");
        let env = Env::from_iter([("PATH", bin.to_str().unwrap()), ("HOME", "/nonexistent")]);
        let mut command = CommandLine::new("/bin/bash", ["-c".to_owned(), line.to_owned()], &env);
        command.folder = Some(self.path("work"));
        command.timeout = Duration::from_secs(2);
        drop(Runner.run(&command));
        let log = fs::read_to_string(self.path("log")).unwrap();
        let ran = log.lines().find(|it| {
            !["ls", "cat", "git", "find", "sed", "awk"]
                .contains(&it.split(' ').next().unwrap_or_default())
        });
        if let Some(ran) = ran {
            return Some(format!("it ran `{ran}`"));
        }
        let made = fs::read_dir(self.path("work")).unwrap().flatten().next();
        made.map(|made| format!("it made {}", made.file_name().display()))
    }
}

/// What lines are made of: readers, two writers, and everything that joins, quotes and hides.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "ls", "cat", "echo", "echo", "git log", "true", "cd .", "sh -c", "eval", "xargs", "env",
    "nice", "test -f", "[[ a", "]]", "[ a ]", "printf", "a", "x", "b", "rm x", "rm x", "touch x",
    "$(rm x)", "`rm x`", "<(rm x)", "'", "\"", "\"", "\\", "\\\n", "\n", ";", "&&", "||", "|",
    "&", ">", "<", ">&2", "2>&1", "<<EOF", "\nEOF\n", "<<'EOF'", "<<-EOF", "<<<", "{", "}", "(",
    ")", ",", "{a,rm}", "$", "${a", "${a:-", "$((", "))", "$'", "$\"", "\\x72m", "#", "!", "=",
    "a=", "A=1", "*", "?", "[", "]", "~", "if", "then", "fi", "for a in", "do", "done",
    "while false;", "case a in", "a)", ";;", "esac", "f()", "function", "-", "--", "-n", "@",
    "%", "é", "😀", "time", "timeout 1", "command", "builtin", "exec", ":", "[[ -f x ]]", "$a",
    "\"$a\"", "$(ls)", "`ls`",
];

fn token() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(TOKENS)
}

fn joined(tokens: Vec<(&'static str, bool)>) -> String {
    tokens.into_iter().fold(String::new(), |line, (token, apart)| {
        let space = if apart && !line.is_empty() { " " } else { "" };
        format!("{line}{space}{token}")
    })
}

#[test]
fn what_is_taken_for_a_reader_only_reads_in_a_real_bash() {
    if !Path::new("/bin/bash").exists() {
        eprintln!("skipped: there is no /bin/bash");
        return;
    }
    let stage = Stage::new();
    assert!(stage.misdeeds("touch x").is_some() && stage.misdeeds("ls > y").is_some());
    fs::remove_file(stage.path("work/y")).unwrap();
    let tokens = proptest::collection::vec((token(), any::<bool>()), 1..12);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(CASES)
    });
    runner
        .run(&tokens, |tokens| {
            let line = joined(tokens);
            if shell::parse(&line).is_ok_and(|script| script.read_only().is_ok()) {
                let misdeed = stage.misdeeds(&line);
                prop_assert!(misdeed.is_none(), "{line:?}: {misdeed:?}");
            }
            Ok(())
        })
        .unwrap();
}
