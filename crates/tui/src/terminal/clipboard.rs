//! The clipboard: by the terminal (OSC 52), which works over any connection, and by programs of the desktop.

use base::Env;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::message::Clip;
use crate::terminal::Outside;
use crate::terminal::abilities::{Abilities, Multiplexer};

/// Bytes of base64 that are sent at most: terminals drop more, some of them half-way.
const MOST_BYTES: usize = 1 << 20;

/// What is said where no program finds anything.
const NOTHING: &str = "nothing was found on the clipboard";

/// A program and its arguments.
type Program = (&'static str, &'static [&'static str]);

/// Has the terminal put a text on the clipboard; none if it is too long for that.
pub fn by_terminal(text: &str, abilities: &Abilities) -> Option<Vec<u8>> {
    let encoded = STANDARD.encode(text);
    if encoded.len() > MOST_BYTES {
        return None;
    }
    let sequence = format!("\x1b]52;c;{encoded}\x07").into_bytes();
    Some(match abilities.multiplexer {
        Multiplexer::None => sequence,
        // It takes it itself or passes it on, by its settings; both ways at once do no harm.
        Multiplexer::Tmux => [sequence.clone(), abilities.through(&sequence)].concat(),
        Multiplexer::Screen => abilities.through(&sequence),
    })
}

/// Has a program put a text on the clipboard.
pub fn by_program(text: &str, env: &Env, outside: &dyn Outside) -> Result<(), String> {
    first(&writers(env), "no program for the clipboard was found", |program, args| {
        outside.run(program, args, text.as_bytes()).map(|_| ())
    })
}

/// Asks the terminal what is on its clipboard; none where its answer would not come to us.
pub fn question(abilities: &Abilities) -> Option<&'static [u8]> {
    match abilities.multiplexer {
        // tmux answers itself.
        Multiplexer::None | Multiplexer::Tmux => Some(b"\x1b]52;c;?\x07"),
        Multiplexer::Screen => None,
    }
}

/// Gets what is on the clipboard by a program: a picture, else text.
pub fn read(env: &Env, outside: &dyn Outside) -> Result<Clip, String> {
    let none = || NOTHING.to_owned();
    let picture = first(&picture_readers(env), NOTHING, |program, args| {
        let bytes = outside.run(program, args, b"")?;
        let bytes = if program == "osascript" { from_apple(&bytes) } else { Some(bytes) };
        let is_png = |bytes: &Vec<u8>| bytes.starts_with(b"\x89PNG");
        bytes.filter(is_png).ok_or_else(none)
    });
    let text = |_| {
        first(&text_readers(env), NOTHING, |program, args| {
            let text = String::from_utf8(outside.run(program, args, b"")?).map_err(|_| none())?;
            Some(text).filter(|text| !text.trim().is_empty()).ok_or_else(none)
        })
    };
    picture.map(Clip::Picture).or_else(|no| text(no).map(Clip::Text)).map_err(|_| none())
}

/// The first of some programs that does it; the last one's failure if none does.
fn first<T>(
    programs: &[Program],
    none: &str,
    run: impl Fn(&str, &[&str]) -> Result<T, String>,
) -> Result<T, String> {
    let mut outcome = Err(none.to_owned());
    for (program, args) in programs {
        outcome = run(program, args);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn writers(env: &Env) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    if cfg!(target_os = "macos") {
        programs.push(("pbcopy", &[]));
    }
    if env.get("WAYLAND_DISPLAY").is_some() {
        programs.push(("wl-copy", &[]));
    }
    if env.get("DISPLAY").is_some() {
        programs.push(("xclip", &["-selection", "clipboard"]));
        programs.push(("xsel", &["--clipboard", "--input"]));
    }
    if env.get("WSL_DISTRO_NAME").is_some() {
        programs.push(("clip.exe", &[]));
    }
    programs
}

fn picture_readers(env: &Env) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    if cfg!(target_os = "macos") {
        programs.push(("pngpaste", &["-"]));
        programs.push(("osascript", &["-e", "get the clipboard as «class PNGf»"]));
    }
    if env.get("WAYLAND_DISPLAY").is_some() {
        programs.push(("wl-paste", &["--no-newline", "--type", "image/png"]));
    }
    if env.get("DISPLAY").is_some() {
        programs.push(("xclip", &["-selection", "clipboard", "-t", "image/png", "-o"]));
    }
    programs
}

fn text_readers(env: &Env) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    if cfg!(target_os = "macos") {
        programs.push(("pbpaste", &[]));
    }
    if env.get("WAYLAND_DISPLAY").is_some() {
        programs.push(("wl-paste", &["--no-newline", "--type", "text"]));
    }
    if env.get("DISPLAY").is_some() {
        programs.push(("xclip", &["-selection", "clipboard", "-o"]));
        programs.push(("xsel", &["--clipboard", "--output"]));
    }
    if env.get("WSL_DISTRO_NAME").is_some() {
        programs.push(("powershell.exe", &["-NoProfile", "-Command", "Get-Clipboard"]));
    }
    programs
}

/// Bytes as `AppleScript` prints them: `«data PNGf89504E47…»`.
fn from_apple(printed: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(printed).ok()?;
    let digits = text.trim().strip_prefix("«data PNGf")?.strip_suffix('»')?.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digits.chunks(2).map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Programs of which only one is there.
    struct Only(&'static str, &'static [u8], Mutex<Vec<String>>);

    impl Outside for Only {
        fn run(&self, program: &str, args: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
            let call = format!("{program} {} <{}", args.join(" "), String::from_utf8_lossy(input));
            self.2.lock().unwrap().push(call);
            if program == self.0 { Ok(self.1.to_vec()) } else { Err(format!("no {program}")) }
        }

        fn run_in_terminal(&self, _program: &str, _args: &[&str]) -> Result<(), String> {
            Err("not here".into())
        }
    }

    #[test]
    fn the_terminal_gets_the_text_encoded() {
        let plain = Abilities::guess(&Env::from_iter([("TERM", "xterm")]));
        assert_eq!(by_terminal("hi\u{1b}", &plain).unwrap(), b"\x1b]52;c;aGkb\x07");
        assert_eq!(by_terminal(&"x".repeat(2 << 20), &plain), None);
        let tmux = Abilities::guess(&Env::from_iter([("TERM", "tmux"), ("TMUX", "x")]));
        let bytes = by_terminal("hi", &tmux).unwrap();
        assert_eq!(bytes, b"\x1b]52;c;aGk=\x07\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\");
    }

    #[test]
    #[cfg(not(target_os = "macos"))]
    fn programs_are_tried_until_one_works() {
        let env = Env::from_iter([("WAYLAND_DISPLAY", "w"), ("DISPLAY", ":0")]);
        let outside = Only("xclip", b"\x89PNG...", Mutex::default());
        by_program("text", &env, &outside).unwrap();
        assert_eq!(
            *outside.2.lock().unwrap(),
            ["wl-copy  <text", "xclip -selection clipboard <text"]
        );
        assert_eq!(read(&env, &outside).unwrap(), Clip::Picture(b"\x89PNG...".to_vec()));
        let text = Only("xsel", b"no picture", Mutex::default());
        assert_eq!(read(&env, &text).unwrap(), Clip::Text("no picture".to_owned()));
        let blank = Only("xsel", b" \n", Mutex::default());
        assert_eq!(read(&env, &blank).unwrap_err(), NOTHING);
        assert!(by_program("text", &Env::default(), &outside).is_err());
    }

    #[test]
    fn a_terminal_is_asked_where_its_answer_comes_to_us() {
        let asked = |env: [(&str, &str); 2]| question(&Abilities::guess(&Env::from_iter(env)));
        assert_eq!(asked([("TERM", "xterm"), ("SSH_TTY", "x")]), Some(&b"\x1b]52;c;?\x07"[..]));
        assert!(asked([("TERM", "tmux"), ("TMUX", "x")]).is_some());
        assert_eq!(asked([("TERM", "screen"), ("STY", "x")]), None);
    }

    #[test]
    fn bytes_printed_by_a_script_are_read() {
        assert_eq!(from_apple("«data PNGf8950»\n".as_bytes()), Some(vec![0x89, 0x50]));
        assert_eq!(from_apple("«data PNGf895»".as_bytes()), None);
    }
}
