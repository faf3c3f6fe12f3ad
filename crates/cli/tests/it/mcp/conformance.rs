//! The protocol's own conformance suite, as far as it is for clients.

use std::path::PathBuf;
use std::process::Command;

use testkit::parts;

/// What `scripts/conformance` ends with when the suite is not installed.
const SKIPPED: i32 = 77;

#[test]
#[expect(clippy::disallowed_methods, reason = "the suite drives the binary")]
fn the_conformance_suite_is_satisfied_with_our_client() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new("python3");
    command.arg(root.join("scripts/conformance")).args(["--bin", env!("CARGO_BIN_EXE_caiman")]);
    let Ok(done) = command.output() else {
        parts::skipped("conformance: there is no python3");
        return;
    };
    let said = String::from_utf8_lossy(&done.stdout);
    if done.status.code() == Some(SKIPPED) {
        parts::skipped("conformance: the suite is not installed; run scripts/servers-mcp");
        return;
    }
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
}
