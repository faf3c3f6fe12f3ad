//! Folders that nobody trusts yet, and that would like to run something. Each plants a tripwire: a program that leaves
//! a mark outside the folder.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use base::Env;
use serde_json::{Value, json};
use testkit::{Script, parts};

use crate::home::{Home, lab};
use crate::model::Model;

fn path() -> String {
    Env::of_process().get("PATH").unwrap_or_default().to_owned()
}

/// A user whose programs can be found, with these settings besides a model.
fn home(model: &Model, more: &Value) -> Home {
    let mut settings = lab(&model.base_url(), &json!({}));
    for (name, value) in more.as_object().unwrap() {
        settings[name] = value.clone();
    }
    Home::new().with("PATH", &path()).settings(&settings.to_string())
}

/// Writes a program into the home that leaves `TRIPPED` there.
fn tripwire(home: &Home, file: &str) -> String {
    let mark = home.path("TRIPPED");
    program(home, file, &format!("#!/bin/sh\ntouch {}\nexec cat\n", mark.display()));
    home.path(file).display().to_string()
}

fn program(home: &Home, file: &str, text: &str) {
    home.write(file, text);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.path(file), mode).unwrap();
}

fn tripped(home: &Home) -> bool {
    home.path("TRIPPED").exists()
}

#[expect(clippy::disallowed_methods, reason = "the test prepares a repository")]
fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(args).current_dir(folder);
    assert!(command.output().unwrap().status.success(), "{args:?}");
}

fn run_in(home: &Home, folder: &str) {
    let done = home.run(&["-C", folder, "run", "hi"]);
    assert_eq!(done.code, 0, "{}", done.err);
}

/// What the model was told of the repository in the first request.
fn told(model: &Model) -> String {
    String::from_utf8_lossy(&model.requests()[0].bytes).into_owned()
}

#[test]
fn a_clone_with_an_embedded_bare_repository_runs_nothing() {
    let model = Model::saying("Hello.");
    let home = home(&model, &json!({}));
    let script = tripwire(&home, "tripwire.sh");
    home.write("clone/a.txt", "one");
    git(&home.path("clone"), &["init", "-q", "-b", "main"]);
    home.write("clone/sub/made/file", "one");
    let made = home.path("clone/sub/made");
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "x"]] {
        git(&made, args);
    }
    for name in ["HEAD", "objects", "refs", "index"] {
        std::fs::rename(made.join(".git").join(name), home.path("clone/sub").join(name)).unwrap();
    }
    home.write("clone/sub/wt/file", "two");
    home.write("clone/sub/wt/.gitattributes", "* filter=x\n");
    let config = format!(
        "[core]\n\trepositoryformatversion = 0\n\tworktree = wt\n[filter \"x\"]\n\tclean = {script}\n"
    );
    home.write("clone/sub/config", &config);
    std::fs::remove_dir_all(made).unwrap();

    run_in(&home, "clone/sub");
    assert!(!tripped(&home));
    assert!(told(&model).contains("Git branch at the start: main"), "{}", told(&model));
    git(&home.path("clone/sub"), &["status", "--porcelain"]);
    assert!(tripped(&home), "the trap works for plain git");
}

#[test]
fn a_git_file_with_a_padded_commondir_runs_nothing() {
    let model = Model::saying("Hello.");
    let home = home(&model, &json!({}));
    let script = tripwire(&home, "tripwire.sh");
    let folder = home.path("work");
    home.write("work/a.txt", "one");
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "x"]] {
        git(&folder, args);
    }
    git(&folder, &["config", "filter.x.clean", &script]);
    home.write("work/a.txt", "two");
    home.write("work/.gitattributes", "* filter=x\n");
    std::fs::rename(folder.join(".git"), folder.join("shared")).unwrap();
    std::fs::create_dir(folder.join("own")).unwrap();
    for name in ["HEAD", "index"] {
        std::fs::copy(folder.join("shared").join(name), folder.join("own").join(name)).unwrap();
    }
    home.write("work/own/commondir", &format!("../shared{}", "\n".repeat(400_000)));
    home.write("work/.git", "gitdir: own\n");

    run_in(&home, "work");
    assert!(!tripped(&home));
    git(&folder, &["status", "--porcelain"]);
    assert!(tripped(&home), "the trap works for plain git");
}

#[test]
fn a_git_of_the_project_on_the_path_does_not_run() {
    for entry in ["./bin", ".", "", "HOME/work/bin"] {
        let model = Model::saying("Hello.");
        let home = home(&model, &json!({}));
        git(home.path("").as_path(), &["init", "-q", "work"]);
        tripwire(&home, "work/bin/git");
        tripwire(&home, "work/git");
        let entry = entry.replace("HOME", &home.path("").display().to_string());
        let home = home.with("PATH", &format!("{entry}:{}", path()));
        run_in(&home, "work");
        let done = home.run(&["-C", "work", "doctor"]);
        assert!(!tripped(&home), "{entry}: {}", done.out);
        assert!(told(&model).contains("Git branch at the start"), "{}", told(&model));
    }
}

#[test]
fn an_ordinary_repository_is_told_with_its_status() {
    let model = Model::saying("Hello.");
    let home = home(&model, &json!({}));
    if !guard::Cage::probe().works {
        return parts::skipped("no sandbox: git does not run in a folder that is not trusted");
    }
    home.write("work/new.txt", "x");
    git(&home.path("work"), &["init", "-q", "-b", "main"]);
    // The status has a deadline, which a busy machine may miss.
    for _ in 0..20 {
        run_in(&home, "work");
        let requests = model.requests();
        let told = String::from_utf8_lossy(&requests[requests.len() - 1].bytes);
        if told.contains("?? new.txt") {
            return;
        }
        assert!(told.contains("main; its status was not read"), "{told}");
    }
    panic!("the status was never read in time");
}

#[test]
fn a_hook_starts_elsewhere_until_the_folder_is_trusted() {
    let hooks = |command: &str| json!({ "hooks": { "Stop": [{ "command": command }] } });
    for (command, file) in [
        ("make -s lint", "work/Makefile"),
        ("npx --no-install planted", "work/node_modules/.bin/planted"),
        ("python3 -m planted", "work/planted.py"),
        ("planted", "work/bin/planted"),
        ("./planted.sh", "work/planted.sh"),
    ] {
        let model = Model::saying("Hello.");
        let home = home(&model, &hooks(command));
        let tripwire = tripwire(&home, "tripwire.sh");
        let text = match command.split(' ').next().unwrap() {
            "make" => format!("lint:\n\t{tripwire} </dev/null\n"),
            "python3" => format!("import os\nos.system('{tripwire} </dev/null')\n"),
            _ => format!("#!/bin/sh\n{tripwire} </dev/null\n"),
        };
        program(&home, file, &text);
        let bin = home.path("work/bin").display().to_string();
        let home = home.with("PATH", &format!("bin:{bin}:./node_modules/.bin:{}", path()));
        run_in(&home, "work");
        assert!(!tripped(&home), "{command}");

        let trusted = home.run(&["trust", "work"]);
        assert_eq!(trusted.code, 0, "{}", trusted.err);
        let done = home.run(&["-C", "work", "hooks", "test", "Stop"]);
        assert!(tripped(&home), "{command} in a trusted folder: {}", done.all());
    }
}

#[test]
fn a_hook_finds_the_project_by_its_variable() {
    let command = "cd \"$CLAUDE_PROJECT_DIR\" && pwd; cd \"$CAIMAN_PROJECT_DIR\" && pwd";
    let settings = json!({ "hooks": { "Stop": [{ "command": command }] } });
    let home = Home::new().with("PATH", &path()).settings(&settings.to_string());
    home.write("work/file", "");
    let done = home.run(&["-C", "work", "hooks", "test", "Stop"]);
    let work = std::fs::canonicalize(home.path("work")).unwrap().display().to_string();
    assert_eq!(done.out.matches(&work).count(), 2, "{}", done.out);
}

#[test]
fn a_sandboxed_hook_writes_the_workspace_and_nothing_else() {
    if !guard::Cage::probe().works {
        return parts::skipped("no sandbox");
    }
    let home = Home::new().with("PATH", &path());
    // The home itself is in the temporary folder, which a sandboxed program may write.
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = elsewhere.path().join("outside.txt");
    let command = format!(
        "cd \"$CAIMAN_PROJECT_DIR\"; echo in > inside.txt; echo out > {}; \
         exec 3<>/dev/tcp/127.0.0.1/9 || echo offline",
        outside.display()
    );
    let hook = json!({ "command": command, "shell": "bash", "sandbox": true });
    let home = home.settings(&json!({ "hooks": { "Stop": [hook] } }).to_string());
    home.write("work/file", "");
    let done = home.run(&["-C", "work", "hooks", "test", "Stop"]);
    assert!(home.path("work/inside.txt").exists(), "{}", done.all());
    assert!(!outside.exists() && done.out.contains("offline"), "{}", done.all());
}

/// A server that says nothing, named by the user, is started for a call of one of its tools.
fn use_server(home: &Home) {
    home.run(&["-C", "work", "mcp", "list", "--check"]);
}

#[test]
fn an_mcp_server_starts_elsewhere_until_the_folder_is_trusted() {
    for (command, args, file) in [
        ("npx", json!(["--no-install", "planted"]), "work/node_modules/.bin/planted"),
        ("python3", json!(["-m", "mcp_server_git"]), "work/mcp_server_git.py"),
        ("planted", json!([]), "work/bin/planted"),
        ("make", json!(["-s", "serve"]), "work/Makefile"),
    ] {
        let server = json!({ "command": command, "args": args, "timeout": 5 });
        let settings = json!({ "mcp": { "one": server } });
        let home = Home::new().settings(&settings.to_string());
        let tripwire = tripwire(&home, "tripwire.sh");
        let text = match command {
            "make" => format!("serve:\n\t{tripwire} </dev/null\n"),
            "python3" => format!("import os\nos.system('{tripwire} </dev/null')\n"),
            _ => format!("#!/bin/sh\n{tripwire} </dev/null\n"),
        };
        program(&home, file, &text);
        let bin = home.path("work/bin").display().to_string();
        let home = home.with("PATH", &format!("./bin:{bin}:./node_modules/.bin:{}", path()));
        use_server(&home);
        assert!(!tripped(&home), "{command}");

        assert_eq!(home.run(&["trust", "work"]).code, 0);
        use_server(&home);
        assert!(tripped(&home), "{command} in a trusted folder");
    }
}

#[test]
fn a_command_in_the_users_settings_does_not_run_in_the_project() {
    let model = Model::start(Script::new().text("Hello."));
    let settings = json!({ "env": { "TOKEN_OF_TEST": "$(make -s token; python3 -m planted; :)" } });
    let home = home(&model, &settings);
    let tripwire = tripwire(&home, "tripwire.sh");
    home.write("work/Makefile", &format!("token:\n\t{tripwire} </dev/null\n"));
    home.write("work/planted.py", &format!("import os\nos.system('{tripwire} </dev/null')\n"));
    // Started there, not by -C: the command would inherit our own folder.
    let output = home.command(&["run", "hi"]).current_dir(home.path("work")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!tripped(&home));
}

#[test]
fn a_sandboxed_server_is_added_and_listed() {
    let home = Home::new();
    let done = home.run(&["mcp", "add", "one", "--sandbox", "--", "one"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let listed = home.run(&["mcp", "list"]);
    assert!(listed.out.contains("sandboxed"), "{}", listed.out);
    assert_eq!(home.json(&["mcp", "list", "--json"])[0]["sandbox"], true);
    let done = home.run(&["mcp", "add", "two", "--sandbox", "https://two.example/mcp"]);
    assert!(done.code == 1 && done.err.contains("--sandbox is for programs"), "{}", done.err);
}
