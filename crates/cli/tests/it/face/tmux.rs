//! The main flows inside tmux, typed as a person would: the demo, a permission, an answer, the end; a picker, a
//! stop; inline through a change of size.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::live::Live;
use crate::home::{Home, lab};

const PATIENCE: Duration = Duration::from_mins(1);

/// A tmux server of our own, with one window of 80 by 24; it ends with the test.
struct Tmux {
    socket: PathBuf,
    home: Home,
}

impl Tmux {
    /// None, said loudly, where tmux is not installed.
    fn start() -> Option<Self> {
        Self::of(Home::new())
    }

    /// The same for somebody whose model says what a test says.
    fn with(live: &Live) -> Option<Self> {
        let settings = lab(&live.url, &json!({ "tries": 1 }));
        Self::of(Home::new().settings(&settings.to_string()))
    }

    fn of(home: Home) -> Option<Self> {
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
            .env("CAIMAN_ALLOW_HOME", "1")
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

    /// Everything from the beginning of the history to the end of the screen.
    fn all(&self) -> String {
        String::from_utf8(self.run(&["capture-pane", "-p", "-S", "-"]).stdout).unwrap()
    }

    fn resize(&self, columns: &str) {
        self.run(&["resize-window", "-x", columns, "-y", "24"]);
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

#[test]
fn a_picker_and_a_stop_in_tmux() {
    let live = Live::start();
    let Some(tmux) = Tmux::with(&live) else { return };
    tmux.waits("shell>");
    tmux.types("$CAIMAN");
    tmux.keys(&["Enter"]);
    tmux.waits("lab/m");
    tmux.keys(&["C-p"]);
    tmux.waits("next permission mode");
    tmux.types("themes");
    tmux.waits("› themes");
    tmux.keys(&["Enter"]);
    tmux.waits("light");
    tmux.keys(&["Escape"]);
    tmux.waits("everything there is to do");
    tmux.types("Go on for ever");
    tmux.keys(&["Enter"]);
    live.says("And on, and on");
    tmux.waits("and on");
    tmux.keys(&["Escape"]);
    tmux.waits("stopped");
    tmux.waits("ask anything");
    tmux.keys(&["C-d"]);
    tmux.waits("go on with it: caiman --session ");
}

#[test]
fn inline_leaves_no_copies_in_the_history_of_a_tmux_that_gets_narrow() {
    let live = Live::start();
    let Some(tmux) = Tmux::with(&live) else { return };
    tmux.resize("60");
    tmux.waits("shell>");
    tmux.types("clear; $CAIMAN --inline");
    tmux.keys(&["Enter"]);
    tmux.waits("lab/m");
    // The prompt as it is drawn for a window, not as tmux folds what was drawn for a wider one.
    let narrow = format!("{0}\n› ask anything\n{0}\n", "─".repeat(15));
    let wide =
        format!("{0}\n› ask anything · / commands · @ files · ! shell\n{0}\n", "─".repeat(60));
    for (columns, prompt) in [("15", &narrow), ("60", &wide), ("15", &narrow), ("60", &wide)] {
        tmux.resize(columns);
        tmux.waits(prompt);
    }
    // Rows that tmux itself moves into its history as it folds them are out of reach; the last one never is.
    let all = tmux.all();
    assert_eq!(all.matches("~/shop").count(), 1, "{all}");
    tmux.types("Tea?");
    tmux.keys(&["Enter"]);
    live.says("Four crowns.");
    live.ends();
    tmux.waits("300 out");
    tmux.resize("15");
    tmux.waits(&narrow);
    let all = tmux.all();
    assert_eq!((all.matches("Tea?").count(), all.matches("Four crowns.").count()), (1, 1), "{all}");
}
