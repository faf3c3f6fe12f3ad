//! A user with a project, a scripted model and a terminal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::Script;
use testkit::terminal::{Key, Program, Terminal};

use crate::home::{Home, lab};
use crate::model::Model;

/// How long anything may take on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a screen that nobody has approved yet is given to settle.
const NEW: Duration = Duration::from_millis(1500);

/// Columns and rows of a terminal.
pub(super) type Size = (u16, u16);
pub(super) const SMALL: Size = (40, 10);
pub(super) const USUAL: Size = (80, 24);
pub(super) const LARGE: Size = (120, 40);
pub(super) const HUGE: Size = (200, 60);

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

    /// Opens something with a key, looks at it, and closes it again.
    pub(super) fn peeks(&self, key: &str, name: &str, text: &str) {
        let before = self.screen();
        self.types(key);
        self.shows(name, text);
        self.press(Key::Esc);
        self.waits_back(&before);
    }

    /// Waits until the screen is as it was.
    pub(super) fn waits_back(&self, before: &str) {
        let (_, rows) = before.split_once('\n').unwrap_or_default();
        let is_back = |screen: &str| steady(screen, &self.home) == rows;
        self.terminal.wait_until("the screen before", PATIENCE, is_back).unwrap();
    }

    /// Everything on the screen, without what differs from run to run.
    pub(super) fn screen(&self) -> String {
        let (columns, rows) = self.size;
        format!("{columns}x{rows}\n{}", steady(&self.terminal.screen(), &self.home))
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
        let home = self.home.clone();
        let is_it = |screen: &str| {
            format!("{header}{}", steady(screen, &home)).trim_end() == wanted.trim_end()
        };
        // If it does not come, the comparison tells what came instead.
        self.terminal.wait_until(&name, patience, is_it).ok();
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../snapshots");
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(name, self.screen()));
    }
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

/// A screen without what differs from run to run: the home folder, sessions, times, ports, the spinner.
fn steady(screen: &str, home: &str) -> String {
    let rows: Vec<String> = screen.lines().map(|row| steady_row(row, home)).collect();
    rows.join("\n")
}

fn steady_row(row: &str, home: &str) -> String {
    let is_spinner = |c: char| "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(c);
    // How long a call took is told only if it took long.
    let is_call = row.trim_start().starts_with(['●', '✗', '○', '◌']);
    let mut differs = is_call || row.contains(home) || row.contains(is_spinner);
    let row = &scratchless(row);
    let plain = row.replace(home, "~").replace(is_spinner, "⠋");
    let mut words: Vec<String> = plain.split(' ').map(str::to_owned).collect();
    for at in 0..words.len() {
        if let Some(from) = words[at].find("127.0.0.1:").map(|from| from + "127.0.0.1:".len()) {
            let digits = words[at][from..].chars().take_while(char::is_ascii_digit).count();
            words[at].replace_range(from..from + digits, "0");
            differs = true;
        }
        // The catalogue grows.
        if matches!(words[at].as_str(), "models" | "provider") && at + 1 < words.len() {
            words[at + 1] = words[at + 1].replace(|c: char| c.is_ascii_digit(), "0");
        }
        if is_session(&words[at]) {
            "ID".clone_into(&mut words[at]);
        }
        let unit = words.get(at + 1).map(|unit| unit.trim_end_matches([',', ';', ')', '.']));
        let is_time = matches!(unit, Some("s" | "ms")) && words[at].parse::<f64>().is_ok();
        if is_time {
            "0".clone_into(&mut words[at]);
            words[at + 1] = words[at + 1].replacen("ms", "s", 1);
            differs = true;
        }
    }
    let mut steady = words.join(" ").trim_end().to_owned();
    if is_call {
        steady = steady.replace(" · 0 s", "");
    }
    // What was replaced was of another width: how far apart things stand means nothing now.
    if differs { narrow(&steady) } else { steady }
}

/// A row without the number of a demo's folder.
fn scratchless(row: &str) -> String {
    let Some(at) = row.find("caiman-demo-").map(|at| at + "caiman-demo-".len()) else {
        return row.to_owned();
    };
    let digits = row[at..].chars().take_while(char::is_ascii_hexdigit).count();
    format!("{}{}{}", &row[..at], "0".repeat(digits), &row[at + digits..])
}

fn is_session(word: &str) -> bool {
    word.len() == 36 && word.matches('-').count() == 4
}

fn narrow(row: &str) -> String {
    let mut narrow = row.to_owned();
    while narrow.contains("    ") {
        narrow = narrow.replace("    ", "   ");
    }
    narrow
}
