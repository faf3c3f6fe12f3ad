//! A user who has nothing but a home folder.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::model::{KEY, Model};

/// A home folder and the environment a command is run in.
pub(crate) struct Home {
    folder: TempDir,
    env: Vec<(String, String)>,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A command that still runs. One that outlives its test is killed.
pub(crate) struct Running {
    pub(crate) child: Child,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), env: Vec::new() }
    }

    /// A user whose settings name the scripted model, as `lab/m`: $2 a million in, $10 out.
    pub(crate) fn of(model: &Model) -> Self {
        Self::new().settings(&lab(&model.base_url(), &json!({})).to_string())
    }

    /// The same user with network settings, such as `{"tries": 1}`.
    pub(crate) fn with_network(model: &Model, network: &Value) -> Self {
        Self::new().settings(&lab(&model.base_url(), network).to_string())
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes the user's settings.
    pub(crate) fn settings(self, text: &str) -> Self {
        self.write(".config/caiman/caiman.json", text);
        self
    }

    /// Writes a file below the home folder.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, rest: &str) -> PathBuf {
        self.folder.path().join(rest)
    }

    pub(crate) fn credentials(&self) -> PathBuf {
        self.path(".local/share/caiman/credentials.json")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path(".local/share/caiman/caiman.db")
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        self.run_with_input(args, "")
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Done {
        let mut running = self.start(args);
        let mut stdin = running.child.stdin.take().unwrap();
        // A command that reads no input may have ended already.
        stdin.write_all(input.as_bytes()).ok();
        drop(stdin);
        running.end()
    }

    /// Runs a command that prints JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{}", done.err);
        serde_json::from_str(&done.out).unwrap()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running { child: self.command(args).spawn().unwrap() }
    }

    /// Runs a Python program that starts the binary itself; none where there is no Python.
    #[expect(clippy::disallowed_methods, reason = "the program plays a user of the binary")]
    pub(crate) fn run_client(&self, program: &str) -> Option<Done> {
        let mut command = Command::new("python3");
        command.args(["-c", program, env!("CARGO_BIN_EXE_caiman")]).arg(self.folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Some(Running { child: command.spawn().ok()? }.end())
    }

    #[expect(clippy::disallowed_methods, reason = "the binary itself is under test")]
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_caiman"));
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.folder.path())
            .env("CAIMAN_ALLOW_HOME", "1")
            .env("TZ", "UTC")
            .envs(self.env.iter().cloned())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl Running {
    /// Reads standard output up to and with `text`.
    pub(crate) fn read_until(&mut self, text: &str) {
        let stdout = self.child.stdout.as_mut().unwrap();
        let (mut read, mut byte) = (Vec::new(), [0]);
        while !read.ends_with(text.as_bytes()) {
            assert_eq!(stdout.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&read));
            read.push(byte[0]);
        }
    }

    /// Writes to its standard input.
    pub(crate) fn write(&mut self, text: &str) {
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Closes its standard input.
    pub(crate) fn close_input(&mut self) {
        drop(self.child.stdin.take());
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal)
            .unwrap();
    }

    /// Waits for its end for so long; one that has not ended by then is killed, and nothing is told of it.
    pub(crate) fn end_within(mut self, patience: std::time::Duration) -> Option<Done> {
        let until = std::time::Instant::now() + patience;
        while self.child.try_wait().unwrap().is_none() {
            if std::time::Instant::now() >= until {
                return None;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Some(self.end())
    }

    /// Waits for its end; output already read is not told again.
    pub(crate) fn end(mut self) -> Done {
        self.close_input();
        let stderr = self.child.stderr.take().unwrap();
        // Both at once: a full pipe that nobody reads would stop the command.
        let err = std::thread::spawn(move || whole(stderr));
        let out = self.child.stdout.take().map(whole).unwrap_or_default();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Done { code, out, err: err.join().unwrap() }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Done {
    /// Everything it printed.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }
}

fn whole(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Settings with one provider, `lab`, and its model `m`.
pub(crate) fn lab(base_url: &str, network: &Value) -> Value {
    json!({
        "providers": { "lab": {
            "type": "openai-compat",
            "base_url": base_url,
            "api_key": KEY,
            "network": network,
            "models": [{
                "id": "m", "context_window": 100_000, "default_max_tokens": 4000,
                "cost_per_1m_in": 2.0, "cost_per_1m_out": 10.0,
            }],
        }},
        "models": { "large": { "provider": "lab", "model": "m" } },
    })
}
