//! The cage on macOS: a Seatbelt profile, put in force by `sandbox-exec`.

use std::fmt::Write;
use std::path::Path;

use super::{Bounds, Network};

/// The program that puts a profile in force.
pub const PROGRAM: &str = "/usr/bin/sandbox-exec";

/// What every program needs to start and to talk to its own children.
const PREAMBLE: &str = "\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow mach-lookup
  (global-name \"com.apple.system.notification_center\")
  (global-name \"com.apple.system.opendirectoryd.libinfo\")
  (global-name \"com.apple.SystemConfiguration.configd\")
  (global-name \"com.apple.trustd.agent\"))
(allow ipc-posix-sem ipc-posix-shm)
(allow pseudo-tty)
(allow file-read*)
(allow file-write-data file-ioctl
  (literal \"/dev/null\")
  (literal \"/dev/zero\")
  (literal \"/dev/tty\")
  (literal \"/dev/ptmx\")
  (regex #\"^/dev/ttys[0-9]+$\"))
";

/// The profile of a cage. Later rules win, so what is refused comes last.
pub fn profile(bounds: &Bounds) -> String {
    let mut text = PREAMBLE.to_owned();
    for path in bounds.all_writable() {
        rule(&mut text, "allow file-write*", path);
    }
    if bounds.network == Network::On {
        text.push_str("(allow network* (remote ip) (local ip))\n");
    }
    for path in &bounds.protected {
        rule(&mut text, "deny file-write*", path);
        for folder in path.ancestors().skip(1) {
            // Renaming a folder above would take the place away with it.
            if bounds.all_writable().any(|outer| folder.starts_with(outer) && folder != outer) {
                line(&mut text, "deny file-write-unlink", "literal", folder);
            }
        }
    }
    for path in &bounds.hidden {
        rule(&mut text, "deny file-read* file-write*", path);
    }
    text
}

fn rule(text: &mut String, what: &str, path: &Path) {
    line(text, what, "subpath", path);
}

fn line(text: &mut String, what: &str, filter: &str, path: &Path) {
    let path = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    // Writing to a string cannot fail.
    writeln!(text, "({what} ({filter} \"{path}\"))").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds() -> Bounds {
        Bounds {
            writable: vec!["/work/a \"b\"".into(), "/private/tmp".into()],
            protected: vec!["/work/a \"b\"/.git".into(), "/private/tmp/c/.git".into()],
            hidden: vec!["/Users/u/.ssh".into()],
            network: Network::On,
            temp: "/private/tmp/session".into(),
            records: None,
        }
    }

    #[test]
    fn what_is_refused_comes_after_what_is_allowed() {
        let profile = profile(&bounds());
        insta::assert_snapshot!(profile.strip_prefix(PREAMBLE).unwrap(), @r#"
        (allow file-write* (subpath "/work/a \"b\""))
        (allow file-write* (subpath "/private/tmp"))
        (allow file-write* (subpath "/private/tmp/session"))
        (allow network* (remote ip) (local ip))
        (deny file-write* (subpath "/work/a \"b\"/.git"))
        (deny file-write* (subpath "/private/tmp/c/.git"))
        (deny file-write-unlink (literal "/private/tmp/c"))
        (deny file-read* file-write* (subpath "/Users/u/.ssh"))
        "#);
    }

    #[test]
    fn the_network_is_off_unless_asked_for() {
        let bounds = Bounds { network: Network::Off, ..bounds() };
        assert!(!profile(&bounds).contains("network"));
    }
}
