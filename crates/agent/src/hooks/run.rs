//! Running one handler: a program in a session of its own, or a document posted to an address.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use base::{Env, Paths, SessionId};
use guard::process::{Command, Output, Terminals};
use guard::start::{ProgramStart, Project};
use llm::Http;
use llm::http::Post;
use settings::trust::FolderTrust;
use settings::{HookShell, Network};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tools::jobs;

use super::handler::{Handler, Source};
use super::said;
use crate::skills::recipe::part;

/// Most that is kept of what a handler prints; the rest is read and dropped.
const OUTPUT_BYTES: usize = 1024 * 1024;
/// How long the output of a handler that has ended is waited for: somebody it left behind may hold it.
const LEFT_BEHIND: Duration = Duration::from_millis(100);

/// What handlers are run with.
#[derive(Debug, Clone)]
pub struct Place {
    /// Where programs run once the project is trusted.
    pub folder: PathBuf,
    /// The project, which handlers find in `CLAUDE_PROJECT_DIR` and `CAIMAN_PROJECT_DIR`.
    pub project: PathBuf,
    /// The user's folders: who is trusted, and where programs run until then.
    pub paths: Paths,
    /// Their environment.
    pub env: Env,
    /// How addresses are reached.
    pub http: Http,
    /// The settings for that.
    pub network: Network,
    /// Where plugins keep what is theirs.
    pub plugins: PathBuf,
}

impl Place {
    /// A session's folder, and our environment with what Claude Code's handlers look for in it.
    pub fn new(
        folder: &Path,
        env: &Env,
        session: SessionId,
        network: &Network,
        paths: &Paths,
    ) -> Self {
        let (place, id) = (folder.display().to_string(), session.to_string());
        let more = [
            ("CLAUDECODE", "1".to_owned()),
            ("CAIMAN", "1".to_owned()),
            ("CLAUDE_CODE_ENTRYPOINT", "cli".to_owned()),
            ("CLAUDE_PROJECT_DIR", place.clone()),
            ("CAIMAN_PROJECT_DIR", place),
            ("CLAUDE_CODE_SESSION_ID", id.clone()),
            ("CAIMAN_SESSION_ID", id),
        ];
        let env = env.with(more.map(|(name, value)| (name.to_owned(), value)));
        Self {
            folder: folder.to_owned(),
            project: folder.to_owned(),
            paths: paths.clone(),
            env,
            http: Http::new(),
            network: network.clone(),
            plugins: paths.data().join("plugins"),
        }
    }
}

/// Somebody who waits for a handler.
#[derive(Debug, Clone, Default)]
pub struct Wait {
    /// Ends the handler, and all it has started.
    pub cancel: CancellationToken,
    /// Cancelled once the handler has said that nobody need wait for it.
    pub released: CancellationToken,
}

/// How a handler ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// A program ended by itself.
    Exited {
        /// Its exit code; none if a signal ended it.
        code: Option<i32>,
        /// What it printed.
        stdout: String,
        /// What it complained of.
        stderr: String,
    },
    /// An address answered.
    Answered {
        /// The status.
        status: u16,
        /// What it said.
        body: String,
    },
    /// It took too long and was ended, its children too.
    TooSlow(Duration),
    /// Nobody wants to know any more; it was ended.
    Cancelled,
    /// It could not be run.
    Broken(String),
}

impl Handler {
    /// Runs it with `input`, for as long as it may take.
    pub async fn run(&self, input: &str, place: &Place, wait: &Wait) -> Ended {
        let patience = self.patience();
        let work = async {
            match &self.hook.url {
                Some(url) => self.post(url, input, place).await,
                None => self.start(input, place, &wait.released).await,
            }
        };
        // Dropping the work ends the program and all it has started.
        match wait.cancel.run_until_cancelled(timeout(patience, work)).await {
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Ended::TooSlow(patience),
            None => Ended::Cancelled,
        }
    }

    async fn start(&self, input: &str, place: &Place, released: &CancellationToken) -> Ended {
        let program = match self.program(place) {
            Ok(program) => program,
            Err(error) => return Ended::Broken(error.to_string()),
        };
        match program.spawn() {
            Ok(child) => talk(child, input, released).await,
            Err(error) => Ended::Broken(error.to_string()),
        }
    }

    fn program(&self, place: &Place) -> io::Result<Command> {
        let ProgramStart { folder, env, cage } = self.place_of(place)?;
        let line = &self.hook.command;
        let (program, args) = match &self.hook.args {
            Some(args) => {
                let args = args.iter().map(|arg| filled(arg, &env)).collect();
                (filled(line, &env), args)
            }
            None => match self.hook.shell {
                Some(HookShell::Powershell) => {
                    let flags = ["-NoProfile", "-NonInteractive", "-Command"];
                    let args = flags.into_iter().chain([line.as_str()]).map(str::to_owned);
                    ("pwsh".to_owned(), args.collect())
                }
                Some(HookShell::Bash) => ("bash".to_owned(), vec!["-c".to_owned(), line.clone()]),
                None => (jobs::shell(&env).to_owned(), vec!["-c".to_owned(), line.clone()]),
            },
        };
        Ok(Command { program, args, folder, env, cage, stdio: Terminals::Apart })
    }

    /// Where it starts: in the session's folder if the project is trusted now, in an empty folder if not.
    fn place_of(&self, place: &Place) -> io::Result<ProgramStart> {
        let trust = FolderTrust::of(&place.paths.trust(), &place.project);
        let project = Project { folder: &place.project, paths: &place.paths, trust };
        let env = place.env.with(self.variables(place));
        let mut start = project.start(&env, self.hook.sandbox.into())?;
        if trust == FolderTrust::Trusted {
            place.folder.clone_into(&mut start.folder);
        }
        Ok(start)
    }

    fn variables(&self, place: &Place) -> BTreeMap<String, String> {
        let mut folders = Vec::new();
        let what = match &self.source {
            Source::Skill(_) => "SKILL_DIR",
            Source::Plugin(name) => {
                folders.push(("PLUGIN_DATA", place.plugins.join(part(name))));
                "PLUGIN_ROOT"
            }
            Source::Settings | Source::Agent(_) => "PLUGIN_ROOT",
        };
        folders.extend(self.root.clone().map(|root| (what, root)));
        let mut variables = BTreeMap::new();
        for (name, folder) in folders {
            let folder = folder.display().to_string();
            variables.insert(format!("CLAUDE_{name}"), folder.clone());
            variables.insert(format!("CAIMAN_{name}"), folder);
        }
        variables.insert("CAIMAN_HOOK_EVENT".to_owned(), self.occasion.name().to_owned());
        variables
    }

    async fn post(&self, url: &str, input: &str, place: &Place) -> Ended {
        let env = place.env.with(self.variables(place));
        let headers = self.hook.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.clone(), self.header(value, &place.env))).collect();
        let post = Post {
            url: &filled(url, &env),
            headers: &headers,
            body: input,
            network: &place.network,
            limit_bytes: OUTPUT_BYTES,
        };
        match place.http.post(post).await {
            Ok(posted) => Ended::Answered {
                status: posted.status,
                body: String::from_utf8_lossy(&posted.body).into_owned(),
            },
            Err(error) => Ended::Broken(error.message),
        }
    }

    /// A header's value with the variables it may hold; any other name stands for nothing.
    fn header(&self, value: &str, env: &Env) -> String {
        replaced(value, |name| {
            let is_allowed = self.hook.allowed_env_vars.iter().any(|allowed| allowed == name);
            Some(env.get(name).filter(|_| is_allowed).unwrap_or_default().to_owned())
        })
    }
}

async fn talk(
    mut child: guard::process::Child,
    input: &str,
    released: &CancellationToken,
) -> Ended {
    let (stdin, stdout, stderr) = (child.input.take(), child.output.take(), child.error.take());
    let (mut printed, mut complained) = (Vec::new(), Vec::new());
    let status = {
        let feeding = async {
            if let Some(mut stdin) = stdin {
                // A handler need not read what it is told.
                stdin.write_all(format!("{input}\n").as_bytes()).await.ok();
            }
        };
        let listening = async {
            let mut first = Some(released);
            let hear = |printed: &[u8]| {
                let Some(released) = first else { return };
                match said::releases(printed) {
                    Some(true) => released.cancel(),
                    Some(false) => {}
                    None => return,
                }
                first = None;
            };
            let printing = keep(stdout, &mut printed, hear);
            tokio::join!(feeding, printing, keep(stderr, &mut complained, |_| {}));
        };
        let mut listening = pin!(listening);
        tokio::select! {
            () = &mut listening => child.wait().await,
            status = child.wait() => {
                drop(timeout(LEFT_BEHIND, &mut listening).await);
                status
            }
        }
    };
    match status {
        Ok(status) => {
            // What it started on purpose, a sound or a message box, may go on.
            child.release();
            Ended::Exited {
                code: status.code(),
                stdout: String::from_utf8_lossy(&printed).into_owned(),
                stderr: String::from_utf8_lossy(&complained).into_owned(),
            }
        }
        Err(error) => Ended::Broken(error.to_string()),
    }
}

/// Reads to the end, and keeps the beginning; `hear` is told what there is whenever more has come.
async fn keep(output: Option<Output>, kept: &mut Vec<u8>, mut hear: impl FnMut(&[u8])) {
    let Some(mut output) = output else { return };
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = output.read(&mut buffer).await {
        let room = OUTPUT_BYTES.saturating_sub(kept.len());
        kept.extend_from_slice(&buffer[..count.min(room)]);
        hear(kept);
    }
}

/// A text with the folders that Claude Code puts in: `${CLAUDE_PROJECT_DIR}` and its like.
fn filled(text: &str, env: &Env) -> String {
    replaced(text, |name| {
        let folders = ["_PROJECT_DIR", "_PLUGIN_ROOT", "_PLUGIN_DATA", "_SKILL_DIR"];
        let is_folder = folders.iter().any(|ending| name.ends_with(ending));
        env.get(name).filter(|_| is_folder).map(str::to_owned)
    })
}

/// A text with each `$NAME` and `${NAME}` replaced by what `find` says; where it says nothing, it stays.
fn replaced(text: &str, find: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let braced = after.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let (name, next) = match braced {
            Some((name, next)) if name.chars().all(is_name) => (name, next),
            Some(_) | None => {
                let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        let value = if name.is_empty() { None } else { find(name) };
        match value {
            Some(value) => out.push_str(&value),
            None => out.push_str(&rest[at..rest.len() - next.len()]),
        }
        rest = next;
    }
    out.push_str(rest);
    out
}

/// A handler's answer, and how long it took.
#[derive(Debug, Clone)]
pub struct Timed {
    /// How it ended.
    pub ended: Ended,
    /// How long that took.
    pub took: Duration,
}

impl Handler {
    /// Runs it and takes the time.
    pub async fn timed(&self, input: &str, place: &Place, wait: &Wait) -> Timed {
        let began = Instant::now();
        let ended = self.run(input, place, wait).await;
        Timed { ended, took: began.elapsed() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn variables_are_put_in_only_where_they_may_be() {
        let find = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expected) in [
            ("Bearer $A", "Bearer 1"),
            ("${A}x$A", "1x1"),
            ("$B ${B} $ ${", "$B ${B} $ ${"),
            ("$AB", "$AB"),
            ("${A-b}", "${A-b}"),
            ("ü$A", "ü1"),
        ] {
            assert_eq!(replaced(text, find), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_text_without_known_names_stays(text in ".{0,60}") {
            prop_assert_eq!(replaced(&text, |_| None), text);
        }
    }
}
