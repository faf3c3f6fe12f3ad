//! Formatters that run over what tools have written: off unless the settings say otherwise.
//!
//! A formatter reads the file on its input and prints it formatted, in a cage in which it can write nothing.
//! What it prints is written as any other change is, so a formatter that fails leaves the file as it was.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use guard::cage::Reach;
use guard::process::{Command, SpawnError, Terminals};
use guard::{Cage, Spot};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::code::{Changed, short};
use crate::draft::{Draft, to_the_end};
use crate::target::Target;
use crate::tool::ToolError;
use crate::workspace::ToolCtx;

/// How long a formatter may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most a formatter may print.
const LONGEST: u64 = 16 << 20;

/// Well-known formatters by the ends of names.
const KNOWN: &[(&[&str], &[&str])] = &[
    (&["rs"], &["rustfmt", "--edition", "{edition}"]),
    (&["go"], &["gofmt"]),
    (&["py", "pyi"], &["ruff", "format", "--stdin-filename", "{file}", "-"]),
    (
        &["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "css", "scss", "html", "vue"],
        &["prettier", "--stdin-filepath", "{file}"],
    ),
    (&["c", "h", "cc", "cpp", "hpp"], &["clang-format", "--assume-filename={file}"]),
    (&["sh", "bash"], &["shfmt", "-filename", "{file}"]),
    (&["lua"], &["stylua", "--stdin-filepath", "{file}", "-"]),
    (&["zig"], &["zig", "fmt", "--stdin"]),
    (&["tf", "tfvars"], &["terraform", "fmt", "-"]),
    (&["ex", "exs"], &["mix", "format", "--stdin-filename", "{file}", "-"]),
    (&["nix"], &["nixfmt"]),
];

/// Why a file stays as it was written.
#[derive(Debug, thiserror::Error)]
enum Unformatted {
    #[error("{0}")]
    Start(#[from] SpawnError),
    #[error("it took longer than {PATIENCE:?}")]
    Slow,
    #[error("{0}")]
    Failed(String),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Write(#[from] ToolError),
}

/// Formats files that were written, and says so where one has changed by it.
pub(crate) async fn all(ctx: &ToolCtx, files: &mut [Changed], told: &mut String) {
    if !ctx.workspace.limits.format.on_save {
        return;
    }
    for (spot, _, after) in files {
        let (Some(content), Some(command)) = (after.as_mut(), formatter(ctx, spot)) else {
            continue;
        };
        let name = ctx.workspace.fence.name(spot);
        let program = command.first().cloned().unwrap_or_default();
        let formatting = one(ctx, spot, content, command);
        let Some(done) = ctx.cancel.run_until_cancelled(formatting).await else { return };
        // A full text cannot fail to take more.
        let _fits = match done {
            Ok(Some(counts)) => write!(told, "\n{name} was then formatted by {program} ({counts})"),
            Ok(None) => Ok(()),
            Err(why) => write!(told, "\n{name} was not formatted by {program}: {why}"),
        };
    }
}

/// The formatter of a file: of the settings, else a known one that is installed.
fn formatter(ctx: &ToolCtx, spot: &Spot) -> Option<Vec<String>> {
    let end = spot.real.extension()?.to_str()?.to_ascii_lowercase();
    let own = ctx.workspace.limits.format.commands.get(&end);
    let is_installed = |command: &&[&str]| {
        let path = ctx.workspace.env.get("PATH").unwrap_or_default();
        std::env::split_paths(path)
            .any(|folder| folder.is_absolute() && folder.join(command[0]).is_file())
    };
    let known = || {
        let known = KNOWN.iter().find(|(ends, _)| ends.contains(&end.as_str()));
        let command = known.map(|(_, command)| *command).filter(is_installed)?;
        Some(command.iter().map(|part| (*part).to_owned()).collect())
    };
    own.cloned().or_else(known).filter(|command| !command.is_empty())
}

/// Formats one file; tells how much has changed.
async fn one(
    ctx: &ToolCtx,
    spot: &Spot,
    content: &mut Vec<u8>,
    command: Vec<String>,
) -> Result<Option<String>, Unformatted> {
    let running = run(ctx, &spot.real, content, command);
    let formatted =
        tokio::time::timeout(PATIENCE, running).await.map_err(|_| Unformatted::Slow)??;
    if formatted == *content {
        return Ok(None);
    }
    let target = Target::from(spot.real.display().to_string());
    let (written, new) = (content.clone(), formatted.clone());
    let counts = to_the_end(ctx, move |workspace| {
        let draft = Draft::open(workspace, &target)?;
        if draft.before.as_ref() != Some(&written) {
            return Err(ToolError::Refused("somebody else has changed it".to_owned()));
        }
        draft.save(workspace, &new)?;
        Ok(draft.change(&new).counts())
    })
    .await?;
    *content = formatted;
    Ok(Some(counts))
}

/// The edition of Rust a file is written in, as the nearest manifest that names one says: rustfmt breaks lines by it.
fn edition_of(file: &Path) -> String {
    let manifests = file.ancestors().skip(1).map(|folder| folder.join("Cargo.toml"));
    let edition = |text: String| {
        let mut lines = text.lines().filter_map(|line| line.trim().strip_prefix("edition"));
        let value = lines.find_map(|rest| rest.trim_start().strip_prefix('='))?;
        let digits: String = value.chars().filter(char::is_ascii_digit).take(4).collect();
        (digits.len() == 4).then_some(digits)
    };
    let mut named = manifests.filter_map(|path| edition(std::fs::read_to_string(path).ok()?));
    named.next().unwrap_or_else(|| "2024".to_owned())
}

/// What a formatter makes of a content.
async fn run(
    ctx: &ToolCtx,
    file: &Path,
    content: &[u8],
    command: Vec<String>,
) -> Result<Vec<u8>, Unformatted> {
    let workspace = &ctx.workspace;
    let path = file.display().to_string();
    let mut parts = command.into_iter().map(|part| match part.as_str() {
        "{edition}" => edition_of(file),
        _ => part.replace("{file}", &path),
    });
    let temp = workspace.env.temporary().join(format!("caiman-{}", workspace.session));
    let mut child = Command {
        program: parts.next().unwrap_or_default(),
        args: parts.collect(),
        folder: file.parent().unwrap_or(workspace.fence.folder()).to_owned(),
        env: workspace.env.with_absolute_path(),
        cage: Cage::for_reach(Reach::ReadOnly, &workspace.fence, &temp),
        stdio: Terminals::Apart,
    }
    .spawn()?;
    let (input, output, error) = (child.input.take(), child.output.take(), child.error.take());
    let feed = async {
        if let Some(mut input) = input {
            // One that reads only half of it says so by its status.
            input.write_all(content).await.ok();
        }
    };
    let (mut printed, mut complaint) = (Vec::new(), Vec::new());
    let read = async {
        if let Some(output) = output {
            output.take(LONGEST).read_to_end(&mut printed).await?;
        }
        Ok::<(), std::io::Error>(())
    };
    let hear = async {
        if let Some(error) = error {
            error.take(64 << 10).read_to_end(&mut complaint).await?;
        }
        Ok::<(), std::io::Error>(())
    };
    let ((), read, heard) = tokio::join!(feed, read, hear);
    read.and(heard)?;
    let status = child.wait().await?;
    if printed.len() as u64 >= LONGEST {
        return Err(Unformatted::Failed("it prints too much".to_owned()));
    }
    // One that prints nothing of something has failed without a word.
    if status.success() && (!printed.is_empty() || content.trim_ascii().is_empty()) {
        return Ok(printed);
    }
    let complaint = String::from_utf8_lossy(&complaint);
    let first = complaint.lines().find(|line| !line.trim().is_empty());
    let why = first.map_or_else(|| format!("it ended with {status}"), short);
    Err(Unformatted::Failed(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_is_formatted_in_the_edition_of_its_project() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("Cargo.toml", "[workspace.package]\nedition = \"2018\"\n");
        write("a/Cargo.toml", "[package]\nname = \"a\"\nedition.workspace = true\n");
        write("b/Cargo.toml", "[package]\nname = \"b\"\nedition='2021' # ours\n");
        let of = |name: &str| edition_of(&folder.path().join(name));
        assert_eq!((of("a/src/lib.rs"), of("b/src/lib.rs")), ("2018".into(), "2021".into()));
        assert_eq!(edition_of(Path::new("/nowhere/a.rs")), "2024");
    }
}
