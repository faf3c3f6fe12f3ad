//! Real programs that tests run against, as `scripts/servers` and `scripts/servers-mcp` install them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use base::Env;

/// Where they are installed.
pub fn folder() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/servers");
    Env::of_process().get("CAIMAN_SERVERS").map_or(here, PathBuf::from)
}

/// One of them; where it is missing, that is said.
pub fn installed(part: &str) -> Option<PathBuf> {
    let path = folder().join(part);
    if path.exists() {
        return Some(path);
    }
    skipped(&format!("{part} is not installed; run scripts/servers-mcp"));
    None
}

/// A folder of the data that lies beside the repository, or where `CAIMAN_SHARED` says; where it is missing, that is
/// said.
pub fn shared(part: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = Env::of_process().get("CAIMAN_SHARED").map_or(beside, PathBuf::from).join(part);
    if folder.is_dir() {
        return Some(folder);
    }
    skipped(&format!("there is no {}; CAIMAN_SHARED names another place", folder.display()));
    None
}

/// Says that a test was not run, and why: aloud, whatever the harness captures.
pub fn skipped(why: &str) {
    // A test that nobody hears of is still not run.
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).ok();
}
