//! A text in the user's own editor.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use base::Env;

use crate::terminal::Outside;

/// Counts files, so that each has a name of its own.
static FILES: AtomicU32 = AtomicU32::new(0);

/// Has a text edited; the terminal must have been given back before.
pub(super) fn edit(text: &str, env: &Env, outside: &dyn Outside) -> Result<String, String> {
    let file =
        Scratch::new(text, env).map_err(|error| format!("no file for the editor: {error}"))?;
    open(&file.0.to_string_lossy(), env, outside)?;
    let edited =
        fs::read_to_string(&file.0).map_err(|error| format!("the text is lost: {error}"))?;
    Ok(edited.strip_suffix('\n').unwrap_or(&edited).to_owned())
}

/// Opens a file in the user's editor; the terminal must have been given back before.
pub(super) fn open(path: &str, env: &Env, outside: &dyn Outside) -> Result<(), String> {
    let named = env.get("VISUAL").or_else(|| env.get("EDITOR")).unwrap_or("vi");
    let mut words = named.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let args: Vec<&str> = words.chain([path]).collect();
    outside.run_in_terminal(program, &args)
}

/// A file that only we may read, and that goes when we are done with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(text: &str, env: &Env) -> std::io::Result<Self> {
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("caiman-prompt-{}-{number}.md", std::process::id());
        let path = env.temporary().join(name);
        // One that is there already is not ours: a link, perhaps, laid by somebody else.
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let scratch = Self(path);
        file.write_all(text.as_bytes())?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system clears the folder of temporary files sooner or later.
        fs::remove_file(&self.0).ok();
    }
}
