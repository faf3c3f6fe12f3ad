//! What works before anything is set up: help, version, completions, the manual page.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::home::{Done, Home, Running};

/// Every command, as its `--help` is asked for.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["tui"],
    &["run"],
    &["init"],
    &["session"],
    &["session", "list"],
    &["session", "show"],
    &["session", "last"],
    &["session", "rename"],
    &["session", "delete"],
    &["session", "export"],
    &["agents"],
    &["agents", "list"],
    &["agents", "show"],
    &["agents", "new"],
    &["agents", "edit"],
    &["agents", "enable"],
    &["agents", "disable"],
    &["agents", "check"],
    &["skills"],
    &["skills", "list"],
    &["skills", "show"],
    &["stats"],
    &["models"],
    &["models", "refresh"],
    &["login"],
    &["logout"],
    &["config"],
    &["config", "show"],
    &["config", "check"],
    &["config", "path"],
    &["config", "schema"],
    &["config", "docs"],
    &["hooks"],
    &["hooks", "list"],
    &["hooks", "test"],
    &["doctor"],
    &["trust"],
    &["completions"],
    &["man"],
];

/// Runs without any environment at all.
fn homeless(home: &Home, args: &[&str]) -> Done {
    let mut command = home.command(args);
    command.env_clear();
    Running { child: command.spawn().unwrap() }.end()
}

#[test]
fn version_and_help_need_no_home_and_no_settings() {
    let home = Home::new().settings("{ broken");
    for args in [&["--version"][..], &["--help"], &["run", "--help"], &["session", "-h"]] {
        for done in [homeless(&home, args), home.run(args)] {
            assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
            assert!(done.out.ends_with('\n'), "{args:?}");
        }
    }
    let version = homeless(&home, &["--version"]).out;
    assert_eq!(version, concat!("caiman ", env!("CARGO_PKG_VERSION"), "\n"));
    assert!(!home.path(".local").exists() && !home.path(".cache").exists());
}

#[test]
fn completions_and_manual_need_no_home_either() {
    let home = Home::new();
    for args in [&["completions", "bash"][..], &["man"]] {
        let done = homeless(&home, args);
        assert_eq!((done.code, done.err.as_str()), (0, ""), "{args:?}");
    }
}

#[test]
fn a_run_without_a_home_says_what_is_missing() {
    let done = homeless(&Home::new(), &["run", "hi"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert!(done.err.contains("HOME"), "{}", done.err);
}

#[test]
fn every_command_explains_itself() {
    let home = Home::new();
    let explained = |command: &&[&str]| {
        let done = home.run(&[*command, &["--help"][..]].concat());
        assert_eq!(done.code, 0, "{command:?}: {}", done.err);
        let about = done.out.lines().next().unwrap();
        let usage = done.out.lines().find(|line| line.starts_with("Usage: ")).unwrap();
        format!("{}\n    {about}\n", usage.trim_start_matches("Usage: "))
    };
    let list: String = COMMANDS.iter().map(explained).collect();
    insta::assert_snapshot!(list, @"
    caiman [OPTIONS] [PROMPT]  (the interface; `caiman tui --help` lists its options)
        A terminal coding agent that runs with any model
    caiman tui [OPTIONS] [PROMPT]...
        Open the interface, as `caiman` alone does: `--continue`, `--session ID`, `--inline`, `--linear`
    caiman run [OPTIONS] [PROMPT]...
        Let a model work on a prompt with tools, and print its answer.
    caiman init [OPTIONS]
        Write an instruction file for this project, from what is found in it
    caiman session [OPTIONS] <COMMAND>
        List, show, rename, delete and export sessions
    caiman session list [OPTIONS]
        List the sessions of this project, newest first
    caiman session show [OPTIONS] [ID]
        Print a session's transcript
    caiman session last [OPTIONS]
        Print the transcript of the newest session of this project
    caiman session rename [OPTIONS] <ID> <TITLE>...
        Give a session another title
    caiman session delete [OPTIONS] <ID>...
        Delete sessions for good. What they cost stays in `caiman stats`
    caiman session export [OPTIONS] <ID>
        Write a session as JSON lines or Markdown
    caiman agents [OPTIONS] <COMMAND>
        List, show, write, switch and check custom agents
    caiman agents list [OPTIONS]
        List the agents that can be used here, and those that are switched off
    caiman agents show [OPTIONS] <NAME>
        Show everything about one agent
    caiman agents new [OPTIONS] <NAME>
        Write a file for a new agent, to be filled in
    caiman agents edit [OPTIONS] <NAME>
        Open an agent's file in your editor ($VISUAL or $EDITOR), and check it afterwards
    caiman agents enable [OPTIONS] <NAME>
        Use an agent again that was switched off
    caiman agents disable [OPTIONS] <NAME>
        Leave an agent out, in all your projects
    caiman agents check [OPTIONS] [PATHS]...
        Look for mistakes in definition files; fails when one cannot be used
    caiman skills [OPTIONS] <COMMAND>
        List and show skills
    caiman skills list [OPTIONS]
        List the skills that can be used here
    caiman skills show [OPTIONS] <NAME>
        Show everything about one skill
    caiman stats [OPTIONS]
        Show what models were used for, and what it cost
    caiman models [OPTIONS] [SEARCH]...
        List models: by default those of providers you have a key for
    caiman models refresh [OPTIONS]
        Ask each provider you have a key for which models it has now
    caiman login [OPTIONS] [PROVIDER]
        Store a provider's key, or list where each key comes from
    caiman logout [OPTIONS] <PROVIDER|--all>
        Forget a stored key
    caiman config [OPTIONS] <COMMAND>
        Show, check and explain settings
    caiman config show [OPTIONS] [KEY]
        Print the merged settings and the file and line each value came from, secrets masked
    caiman config check [OPTIONS]
        Look for mistakes in all settings files; fails when there is an error
    caiman config path [OPTIONS]
        List the files settings are read from, lowest priority first
    caiman config schema [OPTIONS]
        Print the JSON Schema of the settings
    caiman config docs [OPTIONS]
        Print the manual of all settings
    caiman hooks [OPTIONS] <COMMAND>
        List and try out the programs that run at events
    caiman hooks list [OPTIONS]
        List the hooks that run here, by event
    caiman hooks test [OPTIONS] <EVENT>
        Run the hooks of an event as if it happened, and print what each says and what comes of it
    caiman doctor [OPTIONS]
        Check that everything works: sandbox, shell, git, database, settings, keys, terminal
    caiman trust [OPTIONS] [FOLDER]
        Let a project run what its files say: hooks, servers, commands
    caiman completions [OPTIONS] <SHELL>
        Print a completion script, for example `caiman completions bash > /etc/bash_completion.d/caiman`
    caiman man [OPTIONS]
        Print the manual page, in roff; `caiman man | man -l -` shows it
    ");
}

#[test]
fn a_wrong_command_line_exits_1_and_shows_the_right_one() {
    let home = Home::new().with("TERM", "xterm");
    for (args, word) in [
        (&["runn", "hi"][..], "'run'"),
        (&["run", "--modell", "x"], "--model"),
        (&["run", "--output-format", "xml", "hi"], "stream-json"),
        (&[], "the interface needs a terminal"),
    ] {
        let done = home.run(args);
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{args:?}");
        assert!(done.err.contains(word), "{args:?}: {}", done.err);
    }
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let done = Home::new().run(&["-C", "nowhere", "run", "hi"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("nowhere") && done.err.contains("--cwd"), "{}", done.err);
}

#[test]
fn completions_are_made_for_every_shell_and_bash_can_read_its_own() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let done = home.run(&["completions", shell]);
        assert_eq!(done.code, 0, "{}", done.err);
        assert!(done.out.contains("stream-json") && done.out.contains("export"), "{shell}");
    }
    read_by("bash", &["-n"], &home.run(&["completions", "bash"]).out);
}

#[test]
fn the_manual_page_is_roff_that_man_can_show() {
    let page = Home::new().run(&["man"]).out;
    assert!(page.contains(".TH") && page.contains("caiman"), "{page}");
    read_by("man", &["-l", "-"], &page);
}

/// Pipes `text` into a program that must not complain; says so where there is no such program.
#[expect(clippy::disallowed_methods, reason = "a shell is no child of ours to guard")]
fn read_by(program: &str, args: &[&str], text: &str) {
    let child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        testkit::parts::skipped(&format!("there is no {program} here"));
        return;
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
}
