//! Telling a user who looks elsewhere: notifications, the window's title, progress in the task bar.

use base::interface::Notifications;

use crate::message::Progress;
use crate::terminal::abilities::{Abilities, Kind};
use crate::terminal::{Outside, harmless};

/// Characters of a notification's text that are sent.
const MOST_CHARACTERS: usize = 200;

/// Has the terminal tell the user; none if that is not wanted, or a program does it.
pub fn by_terminal(
    wanted: Notifications,
    abilities: &Abilities,
    title: &str,
    body: &str,
) -> Option<Vec<u8>> {
    match wanted {
        Notifications::Disabled | Notifications::Native => None,
        Notifications::Bell => Some(b"\x07".to_vec()),
        Notifications::Auto => Some(best(abilities, title, body)),
        Notifications::Osc => Some(abilities.through(&sequence(abilities.kind, title, body))),
    }
}

/// Has the desktop tell the user.
pub fn by_program(outside: &dyn Outside, title: &str, body: &str) -> Result<(), String> {
    let (title, body) = (harmless(title, MOST_CHARACTERS), harmless(body, MOST_CHARACTERS));
    if cfg!(target_os = "macos") {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let script =
            format!("display notification \"{}\" with title \"{}\"", quoted(&body), quoted(&title));
        return outside.run("osascript", &["-e", &script], b"").map(|_| ());
    }
    outside.run("notify-send", &["--app-name", "Caiman", "--", &title, &body], b"").map(|_| ())
}

/// Sets the window's title.
pub fn title(text: &str) -> Vec<u8> {
    format!("\x1b]0;{}\x1b\\", harmless(text, 120)).into_bytes()
}

/// Shows progress in the task bar; nothing where the sequence would be taken for a notification.
pub fn progress(progress: Progress, abilities: &Abilities) -> Vec<u8> {
    if !matches!(abilities.kind, Kind::ConEmu | Kind::Ghostty | Kind::WezTerm) {
        return Vec::new();
    }
    let state = match progress {
        Progress::None => "0;0",
        Progress::Busy => "3;0",
        Progress::Waiting => "4;100",
    };
    abilities.through(format!("\x1b]9;4;{state}\x1b\\").as_bytes())
}

/// What this terminal is known to show, else the bell.
fn best(abilities: &Abilities, title: &str, body: &str) -> Vec<u8> {
    match abilities.kind {
        Kind::Ghostty | Kind::Iterm | Kind::WezTerm | Kind::Kitty | Kind::Foot | Kind::Rxvt => {
            abilities.through(&sequence(abilities.kind, title, body))
        }
        Kind::Apple | Kind::ConEmu | Kind::Plain | Kind::Xterm | Kind::Other => b"\x07".to_vec(),
    }
}

fn sequence(kind: Kind, title: &str, body: &str) -> Vec<u8> {
    let (title, body) = (harmless(title, MOST_CHARACTERS), harmless(body, MOST_CHARACTERS));
    let text = match kind {
        Kind::Kitty => {
            format!("\x1b]99;i=caiman:d=0;{title}\x1b\\\x1b]99;i=caiman:p=body;{body}\x1b\\")
        }
        Kind::Foot | Kind::Rxvt => {
            // The parts are separated by semicolons.
            format!("\x1b]777;notify;{};{body}\x1b\\", title.replace(';', ","))
        }
        Kind::Apple
        | Kind::ConEmu
        | Kind::Ghostty
        | Kind::Iterm
        | Kind::Plain
        | Kind::WezTerm
        | Kind::Xterm
        | Kind::Other => format!("\x1b]9;{title}: {body}\x1b\\"),
    };
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Env;

    fn told(wanted: Notifications, term: &str, title: &str) -> Option<String> {
        let abilities = Abilities::guess(&Env::from_iter([("TERM", term)]));
        let bytes = by_terminal(wanted, &abilities, title, "done; really")?;
        Some(String::from_utf8(bytes).unwrap().replace('\u{1b}', "^"))
    }

    #[test]
    fn each_terminal_is_told_in_its_way() {
        let auto = |term| told(Notifications::Auto, term, "Caiman").unwrap();
        assert_eq!(auto("xterm-ghostty"), "^]9;Caiman: done; really^\\");
        assert_eq!(
            auto("xterm-kitty"),
            "^]99;i=caiman:d=0;Caiman^\\^]99;i=caiman:p=body;done; really^\\"
        );
        assert_eq!(auto("foot"), "^]777;notify;Caiman;done; really^\\");
        assert_eq!(auto("xterm-256color"), "\u{7}");
        assert_eq!(told(Notifications::Disabled, "foot", "x"), None);
        assert_eq!(told(Notifications::Bell, "foot", "x").unwrap(), "\u{7}");
    }

    #[test]
    fn what_is_told_cannot_leave_its_sequence() {
        let text = told(Notifications::Osc, "xterm-ghostty", "a\u{7}\u{1b}\\b\nc\u{9c}").unwrap();
        assert_eq!(text, "^]9;a<U+0007><U+001B>\\b c<U+009C>: done; really^\\");
        assert_eq!(title("x\u{1b}]0;y\u{7}z"), b"\x1b]0;x<U+001B>]0;y<U+0007>z\x1b\\");
    }

    #[test]
    fn progress_is_shown_only_where_it_is_known() {
        let of = |term| Abilities::guess(&Env::from_iter([("TERM", term)]));
        assert_eq!(progress(Progress::Busy, &of("xterm-ghostty")), b"\x1b]9;4;3;0\x1b\\");
        assert!(progress(Progress::Busy, &of("xterm-256color")).is_empty());
    }
}
