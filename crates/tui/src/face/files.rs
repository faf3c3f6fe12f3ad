//! Files the user names to have them attached.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use base::Env;

use crate::picture::media_type;

/// Bytes a file may have: no model takes more.
const MOST_BYTES: u64 = 20 << 20;

/// Reads a file named by the user; returns its bytes and media type.
pub(super) fn read(named: &str, folder: &Path, env: &Env) -> Result<(Vec<u8>, String), String> {
    let path = locate(named, folder, env);
    let failed = |error: std::io::Error| format!("cannot read {named}: {error}");
    let about = fs::metadata(&path).map_err(failed)?;
    if !about.is_file() {
        return Err(format!("{named} is no file"));
    }
    if about.len() > MOST_BYTES {
        return Err(format!("{named} is too large to attach: at most {} MB", MOST_BYTES >> 20));
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(&path).map_err(failed)?;
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    let kind = media_type(&bytes);
    Ok((bytes, kind.to_owned()))
}

/// Where a named file is. Terminals paste dropped files quoted, escaped, or as an address.
fn locate(named: &str, folder: &Path, env: &Env) -> PathBuf {
    let named = named.trim();
    let quoted = ['\'', '"']
        .iter()
        .find_map(|quote| named.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote)));
    let plain = named.strip_prefix("file://").unwrap_or(named).replace("\\ ", " ");
    let name = quoted.map_or(plain, str::to_owned);
    let home = env.get("HOME").zip(name.strip_prefix("~/"));
    home.map_or_else(|| folder.join(&name), |(home, rest)| Path::new(home).join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_as_terminals_paste_them() {
        let env = Env::from_iter([("HOME", "/home/ada")]);
        let folder = Path::new("/work");
        for (named, path) in [
            ("a.png", "/work/a.png"),
            ("/x/a b.png", "/x/a b.png"),
            ("'/x/a b.png' ", "/x/a b.png"),
            ("/x/a\\ b.png", "/x/a b.png"),
            ("file:///x/a.png", "/x/a.png"),
            ("~/a.png", "/home/ada/a.png"),
        ] {
            assert_eq!(locate(named, folder, &env), Path::new(path), "{named}");
        }
    }

    #[test]
    fn what_never_ends_is_no_file() {
        assert!(read("/dev/zero", Path::new("/"), &Env::default()).is_err());
    }
}
