//! The log file: what our own crates report through `tracing`, in `logs/caiman.log` of the data folder.
//!
//! Warnings and notes are always written, details with `options.debug`. Nothing at `trace` ever is: only there may a
//! message's text appear. Every line is masked by the redactor before it is written.
//!
//! The file is opened by the first line and each line is one `write`, so that an idle process touches no disk and
//! several processes can share the file.

mod file;

use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use base::{Clock, Env, Paths};
use guard::Redactor;
use settings::Options;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span;
use tracing::{Event, Level, Metadata, Subscriber};

use file::LogFile;

/// The first part of the targets that are written: ours. Other people's crates log requests with their headers.
const OWN_TARGETS: [&str; 14] = [
    "agent", "base", "caiman", "cli", "gateway", "guard", "links", "llm", "net", "settings",
    "store", "term", "tools", "tui",
];
/// What language servers say; written with `options.debug_lsp`.
const LSP_TARGET: &str = "caiman::lsp";
/// Longest line, in bytes.
const LINE_BYTES: usize = 4 * 1024;

/// Where the log is.
pub(crate) fn path(paths: &Paths) -> PathBuf {
    paths.data().join("logs").join("caiman.log")
}

/// Starts to log. The first call in a process counts; the others change nothing.
pub(crate) fn start(paths: &Paths, env: &Env, clock: &Clock, options: &Options) {
    let log = FileLog {
        level: if options.debug { Level::DEBUG } else { Level::INFO },
        lsp: options.debug_lsp,
        env: env.clone(),
        clock: clock.clone(),
        redactor: OnceLock::new(),
        file: Mutex::new(LogFile::new(path(paths))),
    };
    // Fails when there is a subscriber already, which then stays.
    drop(tracing::subscriber::set_global_default(log));
}

/// Writes events to the log file.
struct FileLog {
    level: Level,
    lsp: bool,
    env: Env,
    clock: Clock,
    /// Made for the first line: collecting the environment's secrets would slow every start down.
    redactor: OnceLock<Redactor>,
    file: Mutex<LogFile>,
}

impl Subscriber for FileLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.target() == LSP_TARGET {
            return self.lsp;
        }
        let own = metadata.target().split("::").next().unwrap_or_default();
        metadata.is_event() && *metadata.level() <= self.level && OWN_TARGETS.contains(&own)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let level = if self.lsp { Level::DEBUG } else { self.level };
        Some(LevelFilter::from_level(level))
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        let metadata = event.metadata();
        let at =
            jiff::Timestamp::from_millisecond(self.clock.now().as_millis()).unwrap_or_default();
        let text = format!(
            "{at:.3} {} {:<5} {}: {}{}",
            std::process::id(),
            metadata.level(),
            metadata.target(),
            line.message,
            line.fields
        );
        let redactor = self.redactor.get_or_init(|| Redactor::new(&self.env, []));
        // Masked before it is cut: half a secret would not be known for one.
        let mut text = one_line(&redactor.text(&text));
        text.truncate(text.floor_char_boundary(LINE_BYTES));
        text.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // There is nowhere left to report that the log cannot be written; `doctor` looks at it.
        file.write(text.as_bytes()).ok();
    }

    // No span is enabled; the ids are never used.
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// The fields of an event, as they are written.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            write!(self.fields, " {}={value:?}", field.name()).ok();
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            write!(self.message, "{value:?}").ok();
        } else {
            write!(self.fields, " {}={value:?}", field.name()).ok();
        }
    }
}

/// The text with everything that could end its line, or move a terminal's cursor, written out.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use tracing::subscriber::with_default;

    use super::*;

    /// What a subscriber with these options writes while `work` runs.
    fn logged(options: &Options, env: &Env, work: impl FnOnce()) -> String {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("logs/caiman.log");
        let log = FileLog {
            level: if options.debug { Level::DEBUG } else { Level::INFO },
            lsp: options.debug_lsp,
            env: env.clone(),
            clock: Clock::fixed(base::Timestamp::from_millis(1_794_870_000_000)),
            redactor: OnceLock::new(),
            file: Mutex::new(LogFile::new(file.clone())),
        };
        with_default(log, work);
        std::fs::read_to_string(file).unwrap_or_default()
    }

    fn say_everything() {
        tracing::warn!(path = "/etc/passwd\nfake line", "forbidden request");
        // Made up, and put together here so that no scanner takes it for a real one.
        let key = format!("sk-{}-api03-{}", "ant", "q7Vz9KtX2mPw8RbL4nYc6HdJ");
        tracing::debug!(target: "caiman::http", key, "http exchange");
        tracing::debug!(target: "caiman::lsp", text = "indexing", "a language server said");
        tracing::trace!("a message's text");
        tracing::error!(target: "hyper::proto", "a stranger's line");
    }

    #[test]
    fn warnings_are_always_written_and_details_only_when_asked_for() {
        let usual = logged(&Options::default(), &Env::default(), say_everything);
        assert_eq!(usual.lines().count(), 1, "{usual}");
        assert!(usual.starts_with("2026-11-16T"), "{usual}");
        assert!(
            usual.contains(
                r#"WARN  caiman::log::tests: forbidden request path="/etc/passwd\nfake line""#
            ),
            "{usual}"
        );

        let debug = Options { debug: true, ..Options::default() };
        let text = logged(&debug, &Env::default(), say_everything);
        assert_eq!(text.lines().count(), 2, "{text}");
        let lsp = Options { debug_lsp: true, ..Options::default() };
        let text = logged(&lsp, &Env::default(), say_everything);
        assert!(text.contains("indexing") && text.lines().count() == 2, "{text}");
    }

    #[test]
    fn secrets_are_masked() {
        let debug = Options { debug: true, ..Options::default() };
        let env = Env::from_iter([("SERVICE_TOKEN", "g5Tn8ZxQ3vLk7WpR1s")]);
        let text = logged(&debug, &env, || {
            say_everything();
            tracing::info!("the server refused g5Tn8ZxQ3vLk7WpR1s");
        });
        assert!(!text.contains("q7Vz9KtX") && !text.contains("g5Tn8ZxQ"), "{text}");
        assert_eq!(text.lines().count(), 3, "{text}");
    }

    #[test]
    fn nothing_is_written_and_no_file_made_while_nothing_happens() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("logs/caiman.log");
        drop(LogFile::new(file));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
