//! A place for scratch folders that is not temporary: what lies in the system's temporary folders may be
//! written from inside the cage, and a checkout may lie there.

use std::path::{Path, PathBuf};

use base::Env;

/// The folder; made if need be.
pub(crate) fn lasting() -> PathBuf {
    if let Some(place) = Env::of_process().get("CAIMAN_TEST_PLACE") {
        return PathBuf::from(place);
    }
    let home = Env::of_process().get("HOME").unwrap_or("/root").to_owned();
    let places = [
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
        Path::new(&home).join(".cache/caiman-tests"),
        PathBuf::from("/opt/caiman-tests"),
    ];
    let lasts = |place: &&PathBuf| {
        let temporary = ["/tmp", "/var/tmp", "/dev/shm"];
        !temporary.iter().any(|temporary| place.starts_with(temporary))
            && std::fs::create_dir_all(place).is_ok()
    };
    places.iter().find(lasts).unwrap().clone()
}
