//! A user with a project, a scripted model and a terminal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::Script;
use testkit::terminal::{Key, Program, Terminal};

use super::steady::steady;
use crate::home::{Home, lab};
use crate::model::Model;

/// How long anything may take on a machine that is busy with other tests.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How long a screen that nobody has approved yet is given to settle.
const NEW: Duration = Duration::from_millis(1500);

/// Columns and rows of a terminal.
pub(super) type Size = (u16, u16);
pub(super) const SMALL: Size = (40, 10);
pub(super) const USUAL: Size = (80, 24);
pub(super) const LARGE: Size = (120, 40);
pub(super) const HUGE: Size = (200, 60);

/// What every screen must look right at.
pub(super) const SIZES: [(Size, &str); 4] =
    [(SMALL, "40x10"), (LARGE, "120x40"), (HUGE, "200x60"), (USUAL, "80x24")];

/// Keys that have no name in the emulator.
pub(super) const F1: &str = "\x1bOP";
pub(super) const F4: &str = "\x1bOS";
pub(super) const F5: &str = "\x1b[15~";
pub(super) const F6: &str = "\x1b[17~";
pub(super) const F7: &str = "\x1b[18~";
pub(super) const F8: &str = "\x1b[19~";
pub(super) const F9: &str = "\x1b[20~";
pub(super) const ALT_ENTER: &str = "\x1b\r";

/// A user, their project `shop`, and the model that answers.
pub(super) struct Stage {
    pub(super) home: Arc<Home>,
    pub(super) model: Arc<Model>,
    settings: Value,
    env: Vec<(String, String)>,
}

impl Stage {
    /// A model that follows a script, in a project that has its instructions.
    pub(super) fn new(script: Script) -> Self {
        let model = Arc::new(Model::start(script));
        let settings = lab(&model.base_url(), &json!({ "tries": 1 }));
        let stage = Self { home: Arc::new(Home::new()), model, settings, env: Vec::new() };
        stage.file("AGENTS.md", "Sell things.\n");
        stage.file("price.py", "def price(item):\n    return item.cost * 2\n");
        stage
    }

    /// The same user with other settings; what is null is taken away.
    pub(super) fn set(mut self, change: &Value) -> Self {
        merge(&mut self.settings, change);
        self
    }

    /// The same user with a variable.
    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file of the project.
    pub(super) fn file(&self, path: &str, text: &str) {
        self.home.write(&format!("shop/{path}"), text);
    }

    /// A path of the project.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.home.path("shop").join(path)
    }

    /// The user knows what the project's files say.
    pub(super) fn trust(&self) {
        let done = self.home.run(&["trust", "-C", "shop"]);
        assert_eq!(done.code, 0, "{}", done.err);
    }

    /// Opens the interface.
    pub(super) fn open(&self, size: Size, args: &[&str]) -> Face {
        self.home.write(".config/caiman/caiman.json", &self.settings.to_string());
        let program = self.program(env!("CARGO_BIN_EXE_caiman"), size);
        self.start(&args.iter().fold(program, |program, arg| program.arg(*arg)), size)
    }

    /// Opens the interface and waits until it can be written to.
    pub(super) fn ready(&self, size: Size) -> Face {
        let face = self.open(size, &[]);
        face.waits("ask anything");
        // The model is named once the folder has been looked at.
        face.waits("lab/m");
        face
    }

    /// Opens a shell that knows where `caiman` is.
    pub(super) fn shell(&self, size: Size) -> Face {
        self.home.write(".config/caiman/caiman.json", &self.settings.to_string());
        let program = self.program("/bin/sh", size).arg("-i");
        let program = program.env("PS1", "shell> ").env("CAIMAN", env!("CARGO_BIN_EXE_caiman"));
        self.start(&program, size)
    }

    fn program(&self, path: &str, size: Size) -> Program {
        let program = Program::new(path)
            .bare()
            .env("HOME", self.home.path("").display().to_string())
            .env("CAIMAN_ALLOW_HOME", "1")
            .env("PATH", "/usr/bin:/bin")
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .folder(&self.home.path("shop"))
            .size(size.0, size.1);
        self.env.iter().fold(program, |program, (name, value)| program.env(name, value.as_str()))
    }

    fn start(&self, program: &Program, size: Size) -> Face {
        let home = self.home.path("").canonicalize().unwrap().display().to_string();
        let others = (self.home.clone(), self.model.clone());
        Face { terminal: program.start().unwrap(), home, size, _others: others }
    }
}

fn merge(into: &mut Value, change: &Value) {
    match (into, change) {
        (Value::Object(into), Value::Object(change)) => {
            for (name, value) in change {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, change) => into.clone_from(change),
    }
}

/// The interface in its terminal.
pub(super) struct Face {
    pub(super) terminal: Terminal,
    home: String,
    size: Size,
    /// They must live as long as it does.
    _others: (Arc<Home>, Arc<Model>),
}

impl Face {
    pub(super) fn types(&self, text: &str) {
        self.terminal.send(text).unwrap();
    }

    pub(super) fn press(&self, key: Key) {
        self.terminal.press(key).unwrap();
    }

    /// Types something, waits until it is seen, and presses Enter.
    pub(super) fn says(&self, text: &str) {
        self.types(text);
        self.waits(text);
        self.press(Key::Enter);
    }

    pub(super) fn waits(&self, text: &str) {
        let is_there = |screen: &str| trimmed(screen).contains(text);
        self.terminal.wait_until(&format!("`{text}`"), PATIENCE, is_there).unwrap();
    }

    pub(super) fn waits_gone(&self, text: &str) {
        self.terminal.wait_gone(text, PATIENCE).unwrap();
    }

    pub(super) fn ends(&mut self) -> u32 {
        self.terminal.wait_exit(PATIENCE).unwrap()
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        self.terminal.resize(size.0, size.1).unwrap();
    }

    /// Opens something with a key on a usual screen, looks at it at every size, and closes it again.
    pub(super) fn peeks(&mut self, key: &str, name: &str, text: &str) {
        let before = self.screen();
        self.types(key);
        self.waits(text);
        self.shows_at_every_size(name);
        self.press(Key::Esc);
        self.waits_back(&before);
    }

    /// What is there comes to be as it was approved, at every size; in the end the screen is a usual one.
    pub(super) fn shows_at_every_size(&mut self, name: &str) {
        for (size, tag) in SIZES {
            self.resize(size);
            self.shows(&format!("{name}_{tag}"), "");
        }
    }

    /// Waits until the screen is as it was.
    pub(super) fn waits_back(&self, before: &str) {
        let (_, rows) = before.split_once('\n').unwrap_or_default();
        let is_back = |screen: &str| self.steady(screen) == rows;
        self.terminal.wait_until("the screen before", PATIENCE, is_back).unwrap();
    }

    fn steady(&self, screen: &str) -> String {
        steady(screen, self.size.0, &self.home)
    }

    /// Everything on the screen, without what differs from run to run.
    pub(super) fn screen(&self) -> String {
        let (columns, rows) = self.size;
        format!("{columns}x{rows}\n{}", self.steady(&self.terminal.screen()))
    }

    /// The screen comes to show `text`, and to be as it was approved under `name`.
    pub(super) fn shows(&self, name: &str, text: &str) {
        self.waits(text);
        let name = format!("face_{name}");
        let approved = approved(&name);
        let (patience, wanted) = match &approved {
            Some(wanted) => (PATIENCE / 3, wanted.as_str()),
            None => (NEW, "\0"),
        };
        let header = format!("{}x{}\n", self.size.0, self.size.1);
        let is_it = |screen: &str| {
            format!("{header}{}", self.steady(screen)).trim_end() == wanted.trim_end()
        };
        // If it does not come, the comparison tells what came instead.
        self.terminal.wait_until(&name, patience, is_it).ok();
        compare(&name, &self.screen());
    }

    /// The screen with its colours comes to be as it was approved under `name`.
    pub(super) fn shows_painted(&self, name: &str) {
        let name = format!("face_{name}");
        let painted = || steady(&self.terminal.painted(), u16::MAX, &self.home);
        let wanted = approved(&name).unwrap_or_default();
        let end = Instant::now() + if wanted.is_empty() { NEW } else { PATIENCE / 3 };
        while painted().trim_end() != wanted.trim_end() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        compare(&name, &painted());
    }
}

fn compare(name: &str, screen: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, screen));
}

/// The screen that was approved under a name.
fn approved(name: &str) -> Option<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/snapshots");
    let text = std::fs::read_to_string(format!("{folder}/{name}.snap")).ok()?;
    text.splitn(3, "---\n").nth(2).map(str::to_owned)
}

/// A screen without the blanks at the ends of its rows: which were written depends on what stood there before.
fn trimmed(screen: &str) -> String {
    screen.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
