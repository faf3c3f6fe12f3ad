//! The main flow inside tmux, typed as a person would: the demo, a permission, an answer, the end.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::home::Home;

const PATIENCE: Duration = Duration::from_mins(1);

/// A tmux server of our own, with one window of 80 by 24; it ends with the test.
struct Tmux {
    socket: PathBuf,
    home: Home,
}

impl Tmux {
    /// None, said loudly, where tmux is not installed.
    fn start() -> Option<Self> {
        let home = Home::new();
        home.write("shop/AGENTS.md", "Sell things.\n");
        home.write("tmp/keep", "");
        let tmux = Self { socket: home.path("tmux.sock"), home };
        let shell = format!("PS1='shell> ' CAIMAN={} exec sh -i", env!("CARGO_BIN_EXE_caiman"));
        let begin = ["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &shell];
        let started = tmux.command(&begin).output();
        match started {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => {
                eprintln!("skipped: tmux cannot be started ({error}); install it to run this test");
                return None;
            }
        }
        Some(tmux)
    }

    #[expect(clippy::disallowed_methods, reason = "tmux is what the test is about")]
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(&self.socket)
            .args(args)
            .current_dir(self.home.path("shop"))
            .env_clear()
            .env("HOME", self.home.path(""))
            .env("TMPDIR", self.home.path("tmp"))
            .env("PATH", "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        output
    }

    fn keys(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    fn types(&self, text: &str) {
        self.run(&["send-keys", "-l", text]);
    }

    fn screen(&self) -> String {
        String::from_utf8(self.run(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// Looks until the window shows a text: tmux tells nobody when it does.
    fn waits(&self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(Instant::now() < end, "`{text}` did not come; the screen was:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        // A server that has ended with its last window is what we want.
        self.command(&["kill-server"]).output().ok();
    }
}

#[test]
fn a_first_run_in_tmux_from_the_demo_to_the_resume_hint() {
    let Some(tmux) = Tmux::start() else { return };
    tmux.waits("shell>");
    tmux.types("$CAIMAN");
    tmux.keys(&["Enter"]);
    tmux.waits("a tour without network");
    tmux.types("demo");
    tmux.keys(&["Enter"]);
    tmux.waits("ask anything");
    tmux.types("Fix the bug");
    tmux.keys(&["Enter"]);
    let screen = tmux.waits("may this run?");
    assert!(screen.contains("sh test.sh"), "{screen}");
    tmux.keys(&["M-s"]);
    tmux.waits("largest=$1");
    tmux.keys(&["M-y"]);
    tmux.waits("All tests pass now");
    let screen = tmux.waits("ask anything");
    assert!(!screen.contains('\u{fffd}') && !screen.contains("[?"), "{screen}");
    tmux.keys(&["C-d"]);
    let screen = tmux.waits("go on with it: caiman --session ");
    assert!(!screen.contains("ask anything"), "the shell's own screen is back: {screen}");
    tmux.types("echo still $((6 * 7))");
    tmux.keys(&["Enter"]);
    tmux.waits("still 42");
}
