//! Language servers, from the binary: who is started where, and who waits.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::Script;

use crate::home::{Home, lab};
use crate::model::Model;

/// A server that says nothing but leaves a trace.
fn install(home: &Home, program: &str) {
    let trace = home.path(&format!("{program}.ran"));
    let script = format!("#!/bin/sh\necho >> {}\ncat > /dev/null\n", trace.display());
    home.write(&format!("bin/{program}"), &script);
    let path = home.path(&format!("bin/{program}"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_server_that_runs_code_of_a_project_waits_until_the_folder_is_trusted() {
    let look = json!({ "file_path": "src/lib.rs" });
    let script =
        Script::new().call("view", look.clone()).usage(1, 1).then().text("Seen.").usage(1, 1);
    let script = script.then().call("view", look).usage(1, 1).then().text("Seen.").delay_ms(300);
    let model = Model::start(script);
    let home = Home::of(&model);
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let home = home.with("PATH", &path);
    install(&home, "rust-analyzer");
    home.write("project/Cargo.toml", "[package]\nname = \"x\"\n");
    home.write("project/src/lib.rs", "pub fn one() {}\n");
    let run = ["-C", "project", "run", "look"];
    let done = home.run(&run);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("rust-analyzer would run code of this project"), "{}", done.err);
    let offers = |at: usize| {
        String::from_utf8_lossy(&model.requests()[at].bytes).contains("\"lsp_restart\"")
    };
    assert!(!offers(0), "no server, no tools");
    assert!(!home.path("rust-analyzer.ran").exists());

    let done = home.run(&["trust", "project"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("rust-analyzer"), "{}", done.out);
    let done = home.run(&run);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(offers(2));
    let began = Instant::now();
    while !home.path("rust-analyzer.ran").exists() {
        assert!(began.elapsed() < Duration::from_secs(10), "it was never started");
        std::thread::yield_now();
    }
}

#[test]
fn a_server_starts_elsewhere_until_the_folder_is_trusted() {
    let look = json!({ "file_path": "a.toy" });
    let seen = |script: Script| {
        let script = script.call("view", look.clone()).usage(1, 1).then();
        script.text("Seen.").delay_ms(300).usage(1, 1).then()
    };
    let model = Model::start(seen(seen(Script::new())));
    let mut settings = lab(&model.base_url(), &json!({}));
    settings["lsp"] = json!({
        "toy": { "command": "toy", "filetypes": ["toy"], "root_markers": ["toy.json"] },
    });
    let home = Home::new().settings(&settings.to_string());
    let trace = home.path("toy.ran");
    home.write(
        "bin/toy",
        &format!("#!/bin/sh\npwd > {0}.new\nmv {0}.new {0}\ncat > /dev/null\n", trace.display()),
    );
    let all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.path("bin/toy"), all).unwrap();
    let path = format!("./bin:{}:/usr/bin:/bin", home.path("bin").display());
    let home = home.with("PATH", &path);
    home.write("project/toy.json", "{}");
    home.write("project/a.toy", "one\n");
    home.write("project/bin/toy", "#!/bin/sh\n");
    std::fs::set_permissions(home.path("project/bin/toy"), std::fs::Permissions::from_mode(0o755))
        .unwrap();

    let project = std::fs::canonicalize(home.path("project")).unwrap();
    for is_trusted in [false, true] {
        if is_trusted {
            assert_eq!(home.run(&["trust", "project"]).code, 0);
        }
        let done = home.run(&["-C", "project", "run", "look"]);
        assert_eq!(done.code, 0, "{}", done.err);
        let began = Instant::now();
        while !trace.exists() {
            assert!(began.elapsed() < Duration::from_secs(10), "it was never started");
            std::thread::yield_now();
        }
        let folder = std::fs::read_to_string(&trace).unwrap();
        assert_eq!(folder.trim() == project.to_str().unwrap(), is_trusted, "{folder}");
        std::fs::remove_file(&trace).unwrap();
    }
}
