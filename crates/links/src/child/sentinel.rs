//! A process that outlives us for a moment, to end what our programs have started.
//!
//! When we are killed, the system kills the processes we have started ourselves, on Linux only, and not those
//! that these have started. A shell that waits for a line from us notices our end as the end of its
//! input, and kills the program's group and whoever carries its mark. It sleeps until then, and costs a megabyte.

use std::time::Duration;

use base::Env;
use guard::process::{Child, Command, Input, Terminals};
use tokio::io::AsyncWriteExt;

/// Reads from us in the background, where the system does not end it with us: the group, then that all is well.
/// Those who are killed may have started others before that, so it looks again.
const SCRIPT: &str = r#"exec 3<&0 >/dev/null 2>&1
{
    read -r group
    read -r all_is_well && exit
    kill -s KILL -- "-$group"
    for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        marked=$(grep -lsF -e "$1" /proc/[0-9]*/environ | cut -d / -f 3)
        [ -n "$marked" ] || exit
        kill -s KILL $marked
    done
} <&3 &"#;
/// How long the shell may take to send the other one into the background.
const PATIENCE: Duration = Duration::from_secs(5);

/// A sentinel on its way.
#[derive(Debug)]
pub(super) struct Sentinel {
    shell: Child,
    input: Input,
}

/// A sentinel at its post.
#[derive(Debug)]
pub(super) struct Posted(Input);

impl Sentinel {
    /// Sends one out for whoever carries a mark; none where there is no shell. It does not carry the mark itself,
    /// nor that of a program that we are part of.
    pub(super) fn send(mark: &str, env: &Env) -> Option<Self> {
        let path = format!("/usr/bin:/bin:{}", env.get("PATH").unwrap_or_default());
        let command = Command {
            program: "/bin/sh".to_owned(),
            args: ["-c", SCRIPT, "sh", mark].map(str::to_owned).to_vec(),
            folder: "/".into(),
            env: Env::from_iter([("PATH", path)]),
            cage: None,
            stdio: Terminals::InputOutput,
        };
        let mut shell = command.spawn().ok()?;
        let input = shell.input.take()?;
        Some(Self { shell, input })
    }

    /// Tells it the program's group, and waits until our end is not its own.
    pub(super) async fn at_post(self, group: u32) -> Option<Posted> {
        let Self { mut shell, mut input } = self;
        input.write_all(format!("{group}\n").as_bytes()).await.ok()?;
        let ended = tokio::time::timeout(PATIENCE, shell.wait()).await;
        if !matches!(ended, Ok(Ok(status)) if status.success()) {
            return None;
        }
        shell.release();
        Some(Posted(input))
    }
}

impl Posted {
    /// All is well: the group has ended, and its number may soon be somebody else's.
    pub(super) async fn dismiss(mut self) {
        // One that is gone needs no telling.
        self.0.write_all(b"all is well\n").await.ok();
    }
}
