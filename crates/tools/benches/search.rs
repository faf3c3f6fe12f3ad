//! `grep` and `glob` beside `rg`, in one run, as a ratio: `cargo bench -p tools --bench search`.
//!
//! `CAIMAN_BIG_TREE` names the tree (Debian's linux-source, say). Both sides search the same files: hidden
//! ones, without `.git`. `rg` is cut off after its hundredth line, as we are; its start as a process is
//! measured too and taken off, for we do not pay it. Each pair runs alternately; the medians are compared.
//!
//! It is a check: a row that takes more than [`RATIO`] times as long as `rg` makes the run fail. What is taken
//! off is known only to within its own spread, so half of that spread (between its quartiles) is allowed on
//! top: it matters for rows of a few milliseconds, and is nothing for the others.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement, run by hand, that starts the program it is compared with"
)]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::protocol::Mode;
use base::{CallId, Clock, Env, SessionId};
use futures::future::BoxFuture;
use guard::net::Gate;
use guard::policy::CageState;
use guard::{Fence, Policy, Redactor, Rules};
use serde_json::{Value, json};
use store::Store;
use tokio_util::sync::CancellationToken;
use tools::{Desk, DeskError, Progress, Question, Registry, ToolCtx, Web, Workspace};

const ROUNDS: usize = 15;
const LINES: usize = 100;
/// How many times as long as `rg` a search may take.
const RATIO: f64 = 1.2;

struct Nobody;

impl Desk for Nobody {
    fn ask(&self, _: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        Box::pin(async { Err(DeskError::Nobody) })
    }
}

fn main() {
    let Some(tree) = Env::of_process().get("CAIMAN_BIG_TREE").map(PathBuf::from) else {
        println!("skipped: CAIMAN_BIG_TREE names no tree of files");
        return;
    };
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: there is no rg to compare with");
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let workspace = Arc::new(workspace(&tree));
    let policy = Policy {
        rules: Rules::default(),
        mode: Mode::default(),
        fence: workspace.fence.clone(),
        cage: CageState::Missing,
        bounds: Vec::new(),
    };
    let bench =
        Bench { workspace, policy: Arc::new(policy), registry: Registry::builtin(), runtime, tree };
    let start = bench.start_of_rg();
    println!("start of rg: {:?}, spread {:?}, taken off below", start.median, start.spread);
    println!("{:32} {:>10} {:>10} {:>6}", "first 100 results of", "ours", "rg", "ratio");
    let mut slow = false;
    for pattern in [
        "the",
        "kmalloc_array",
        "EXPORT_SYMBOL_GPL\\(",
        "no_such_word_anywhere",
        "fn\\s+\\w+",
        "(?i)todo|fixme",
    ] {
        slow |= bench.compare("grep", pattern, &["-n", "-e", pattern], &start);
    }
    for pattern in ["*", "*.c", "*.rs", "drivers/**/*.h"] {
        slow |= bench.compare("glob", pattern, &["--files", "-g", pattern], &start);
    }
    assert!(!slow, "a search took more than {RATIO} times as long as rg");
}

/// What starting rg takes.
struct Start {
    median: Duration,
    spread: Duration,
}

struct Bench {
    workspace: Arc<Workspace>,
    policy: Arc<Policy>,
    registry: Registry,
    runtime: tokio::runtime::Runtime,
    tree: PathBuf,
}

impl Bench {
    /// Compares a call with a run of rg, less what starting rg takes; whether it is too slow.
    fn compare(&self, tool: &str, pattern: &str, args: &[&str], start: &Start) -> bool {
        let (name, input) = (format!("{tool} {pattern}"), &json!({ "pattern": pattern }));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(self.call(tool, input));
            theirs.push(self.rg_once(args));
        }
        let (ours, theirs) = (median(ours), median(theirs).saturating_sub(start.median));
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        let slow = ours > theirs.mul_f64(RATIO) + start.spread / 2;
        let mark = if slow { " too slow" } else { "" };
        println!("{name:32} {:>8.1}ms {:>8.1}ms {ratio:>6.2}{mark}", millis(ours), millis(theirs));
        slow
    }

    fn call(&self, tool: &str, input: &Value) -> Duration {
        let Value::Object(input) = input.clone() else { unreachable!("arguments are an object") };
        let ctx = ToolCtx {
            workspace: self.workspace.clone(),
            call: CallId::new("bench"),
            policy: self.policy.clone(),
            cage: None,
            cancel: CancellationToken::new(),
            progress: Progress::none(),
        };
        let started = Instant::now();
        let call = self.registry.get(tool).unwrap().clone().prepare(input).unwrap();
        self.runtime.block_on(call.run(&ctx)).unwrap();
        started.elapsed()
    }

    fn start_of_rg(&self) -> Start {
        let mut times: Vec<_> = (0..3 * ROUNDS).map(|_| self.rg_once(&["--version"])).collect();
        times.sort();
        let spread = times[times.len() * 3 / 4].saturating_sub(times[times.len() / 4]);
        Start { median: median(times), spread }
    }

    fn rg_once(&self, args: &[&str]) -> Duration {
        let started = Instant::now();
        let mut child = Command::new("rg")
            .args(["--hidden", "-g", "!.git", "--no-messages"])
            .args(args)
            .current_dir(&self.tree)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let seen = lines.take(LINES).flatten().count();
        if seen == LINES {
            child.kill().unwrap();
        }
        child.wait().unwrap();
        started.elapsed()
    }
}

fn workspace(tree: &Path) -> Workspace {
    let mut limits = settings::Tools::default();
    limits.grep.timeout_ms = 60_000;
    Workspace {
        session: SessionId::new(),
        fence: Fence::new(tree, &[], Path::new("/root")).unwrap(),
        env: Env::default(),
        exported: tools::Exported::default(),
        store: Store::in_memory().unwrap(),
        clock: Clock::system(),
        jobs: tools::jobs::Jobs::default(),
        limits,
        spill: std::env::temp_dir().join("caiman-bench-spill"),
        cache: std::env::temp_dir().join("caiman-bench-cache"),
        web: Web::new(Gate::closed(), &settings::Network::default(), &Env::default()),
        sees_images: false,
        hears_sound: false,
        desk: Arc::new(Nobody),
        spawner: Arc::new(tools::Nothing),
        skills: Arc::new(tools::Nothing),
        code: tools::Code::default(),
        editor: None,
        mcp: tools::mcp::Lending::none(),
        redactor: Redactor::default(),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
