//! Protected places that do not exist: nobody can cover them, so what is made there is set aside.

use std::fs;

use guard::cage::Namespace;

use crate::cage_den::{Den, kinds};

#[tokio::test]
async fn a_protected_place_does_not_come_into_being() {
    for kind in kinds() {
        let den = Den::of(kind);
        let ran = den.run("mkdir -p .claude && echo x > .claude/settings.json; ls -a").await;
        assert!(!den.path("work/.claude").exists(), "{kind:?}");
        if ran.status.success() && kind != Namespace::None {
            assert_eq!(ran.swept, [den.path("work/.claude")]);
            assert_eq!(den.read("work/claude.held-1/settings.json"), "x\n");
        }
    }
}

#[tokio::test]
async fn no_litter_is_left_beside_what_a_command_made() {
    let den = Den::new();
    let ran = den.run("echo x > new; rm new").await;
    assert!(ran.swept.is_empty());
    let mut names: Vec<_> = fs::read_dir(den.work())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".caiman", ".git", "inside", "src"]);
}

#[tokio::test]
async fn dropping_the_child_sweeps_too() {
    let den = Den::new();
    let child = den.command("mkdir .claude; echo made; sleep 60").spawn().unwrap();
    let made = den.path("work/.claude");
    while !made.exists() {
        tokio::task::yield_now().await;
    }
    drop(child);
    assert!(!made.exists());
}
