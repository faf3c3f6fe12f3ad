//! What a terminal can do: a guess from the environment at once, corrected by its answers as they come.

use base::Env;

use crate::key::Answer;
use crate::look::Pictures;
use crate::screen::{Depth, Protocol, Reflow};

/// A program between us and the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Multiplexer {
    /// None.
    #[default]
    None,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

/// Which terminal it is, where that matters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// Apple's, which prints what it does not know.
    Apple,
    /// `ConEmu` or one that takes its sequences, Windows Terminal among them.
    ConEmu,
    /// foot.
    Foot,
    /// Ghostty.
    Ghostty,
    /// iTerm2.
    Iterm,
    /// kitty.
    Kitty,
    /// The Linux console, or a terminal that can do nothing.
    Plain,
    /// rxvt-unicode.
    Rxvt,
    /// `WezTerm`.
    WezTerm,
    /// xterm itself.
    Xterm,
    /// Any other.
    #[default]
    Other,
}

/// Which sequences are used to have keys told apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keyboard {
    /// None.
    Plain,
    /// Those of kitty and xterm.
    #[default]
    Extended,
}

/// What a terminal can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Abilities {
    /// Colours.
    pub depth: Depth,
    /// What is in between.
    pub multiplexer: Multiplexer,
    /// Which it is.
    pub kind: Kind,
    /// How keys are told apart.
    pub keyboard: Keyboard,
    /// How pictures are drawn.
    pub pictures: Pictures,
    /// A cell's width and height in pixels.
    pub cell: (u16, u16),
    /// Whether characters beyond ASCII can be shown.
    pub unicode: bool,
    /// Whether we are on the machine that the user sits at, as far as can be told.
    pub is_local: bool,
}

impl Abilities {
    /// What the environment says.
    pub fn guess(env: &Env) -> Self {
        let term = env.get("TERM").unwrap_or_default();
        let multiplexer = multiplexer(env, term);
        let kind = kind(env, term);
        let pictures = match (multiplexer, kind) {
            (Multiplexer::None, Kind::Kitty | Kind::Ghostty | Kind::WezTerm) => Pictures::Kitty,
            (Multiplexer::None, Kind::Iterm) => Pictures::Iterm,
            _ => Pictures::HalfBlocks,
        };
        let keyboard = match kind {
            Kind::Apple | Kind::Plain => Keyboard::Plain,
            Kind::ConEmu
            | Kind::Foot
            | Kind::Ghostty
            | Kind::Iterm
            | Kind::Kitty
            | Kind::Rxvt
            | Kind::WezTerm
            | Kind::Xterm
            | Kind::Other => Keyboard::Extended,
        };
        let is_remote =
            ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"].iter().any(|name| env.get(name).is_some());
        Self {
            depth: depth(env, term, kind),
            multiplexer,
            kind,
            keyboard,
            pictures,
            cell: (8, 16),
            unicode: is_unicode(env, term),
            is_local: !is_remote,
        }
    }

    /// Corrects the guess by an answer; returns whether anything changed.
    pub fn learn(&mut self, answer: &Answer) -> bool {
        let before = self.clone();
        match answer {
            Answer::KittyGraphics => self.pictures = Pictures::Kitty,
            Answer::Attributes { sixel: true } if self.pictures == Pictures::HalfBlocks => {
                self.pictures = Pictures::Sixel;
            }
            Answer::CellSize { width, height } => self.cell = (*width, *height),
            Answer::Name(name) => self.kind = named(name).unwrap_or(self.kind),
            Answer::Background(..)
            | Answer::Clipboard(_)
            | Answer::KittyKeyboard
            | Answer::Attributes { .. } => {}
        }
        *self != before
    }

    /// Questions to ask it. The last is one that every terminal answers, so that its answer tells that no other
    /// will come.
    pub fn questions(&self) -> Vec<u8> {
        let mut questions = Vec::new();
        if self.kind == Kind::Plain {
            return questions;
        }
        questions.extend(b"\x1b]11;?\x1b\\");
        if self.kind != Kind::Apple {
            questions.extend(b"\x1b[>0q\x1b[16t");
            if self.keyboard == Keyboard::Extended {
                questions.extend(b"\x1b[?u");
            }
            if self.multiplexer == Multiplexer::None {
                // tmux would take it for a title.
                questions.extend(b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\");
            }
        }
        questions.extend(b"\x1b[c");
        questions
    }

    /// What the terminal does with long rows when it becomes narrower.
    pub fn reflow(&self) -> Reflow {
        let cuts = matches!(self.kind, Kind::Xterm | Kind::Plain | Kind::Rxvt)
            || self.multiplexer == Multiplexer::Screen;
        if cuts { Reflow::Cuts } else { Reflow::Wraps }
    }

    /// How the screen draws pictures.
    pub fn protocol(&self) -> Protocol {
        match self.pictures {
            Pictures::HalfBlocks => Protocol::None,
            Pictures::Kitty => Protocol::Kitty,
            Pictures::Iterm => Protocol::Iterm,
            Pictures::Sixel => Protocol::Sixel,
        }
    }

    /// A sequence that the terminal itself must get, wrapped for what is in between.
    pub fn through(&self, sequence: &[u8]) -> Vec<u8> {
        match self.multiplexer {
            Multiplexer::None => sequence.to_vec(),
            Multiplexer::Tmux => {
                let mut wrapped = b"\x1bPtmux;".to_vec();
                for &byte in sequence {
                    wrapped.extend(std::iter::repeat_n(byte, if byte == 0x1b { 2 } else { 1 }));
                }
                wrapped.extend(b"\x1b\\");
                wrapped
            }
            // It cuts strings at 768 bytes, and one must not hold the end of another.
            Multiplexer::Screen => {
                let mut wrapped = Vec::new();
                for chunk in sequence.chunks(250) {
                    for piece in chunk.split_inclusive(|byte| *byte == 0x1b) {
                        wrapped.extend(b"\x1bP");
                        wrapped.extend(piece);
                        wrapped.extend(b"\x1b\\");
                    }
                }
                wrapped
            }
        }
    }
}

fn multiplexer(env: &Env, term: &str) -> Multiplexer {
    if env.get("TMUX").is_some() || term.starts_with("tmux") {
        Multiplexer::Tmux
    } else if env.get("STY").is_some() || term.starts_with("screen") {
        Multiplexer::Screen
    } else {
        Multiplexer::None
    }
}

fn kind(env: &Env, term: &str) -> Kind {
    if term == "linux" || term == "dumb" || term.is_empty() {
        return Kind::Plain;
    }
    if env.get("WT_SESSION").is_some() || env.get("ConEmuANSI") == Some("ON") {
        return Kind::ConEmu;
    }
    if env.get("KITTY_WINDOW_ID").is_some() {
        return Kind::Kitty;
    }
    let program = env.get("TERM_PROGRAM").unwrap_or_default();
    if program == "Apple_Terminal" {
        return Kind::Apple;
    }
    named(program).or_else(|| named(term)).unwrap_or_default()
}

/// The terminal a name or `TERM` speaks of.
fn named(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let known = [
        ("ghostty", Kind::Ghostty),
        ("iterm", Kind::Iterm),
        ("kitty", Kind::Kitty),
        ("wezterm", Kind::WezTerm),
        ("foot", Kind::Foot),
        ("rxvt", Kind::Rxvt),
        // As it names itself; as `TERM` it is everybody's name.
        ("xterm(", Kind::Xterm),
    ];
    known.iter().find(|(part, _)| name.contains(part)).map(|(_, kind)| *kind)
}

fn depth(env: &Env, term: &str, kind: Kind) -> Depth {
    let color = env.get("COLORTERM").unwrap_or_default();
    let is_rich = matches!(
        kind,
        Kind::Ghostty | Kind::Iterm | Kind::Kitty | Kind::WezTerm | Kind::Foot | Kind::ConEmu
    );
    if env.get("NO_COLOR").is_some() || term == "dumb" || term.is_empty() {
        Depth::None
    } else if is_rich || color == "truecolor" || color == "24bit" || term.ends_with("-direct") {
        Depth::True
    } else if term.contains("256color") || kind == Kind::Apple {
        Depth::Ansi256
    } else {
        Depth::Ansi16
    }
}

fn is_unicode(env: &Env, term: &str) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env.get(name));
    let is_utf8 = locale.is_none_or(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    });
    is_utf8 && term != "linux" && term != "dumb"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(vars: &[(&str, &str)]) -> Abilities {
        Abilities::guess(&vars.iter().copied().collect())
    }

    #[test]
    fn the_environment_gives_a_first_guess() {
        let xterm = of(&[("TERM", "xterm-256color")]);
        assert_eq!((xterm.depth, xterm.kind), (Depth::Ansi256, Kind::Other));
        let kitty = of(&[("TERM", "xterm-kitty"), ("COLORTERM", "truecolor")]);
        assert_eq!((kitty.depth, kitty.pictures), (Depth::True, Pictures::Kitty));
        let bare = of(&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")]);
        assert_eq!(bare.depth, Depth::None);
        let tmux = of(&[("TERM", "tmux-256color"), ("TMUX", "/tmp/x"), ("KITTY_WINDOW_ID", "1")]);
        assert_eq!((tmux.multiplexer, tmux.pictures), (Multiplexer::Tmux, Pictures::HalfBlocks));
        let console = of(&[("TERM", "linux")]);
        assert!(console.questions().is_empty() && !console.unicode);
        assert!(!of(&[("TERM", "xterm"), ("LANG", "C")]).unicode);
        assert!(!of(&[("TERM", "xterm"), ("SSH_TTY", "/dev/pts/1")]).is_local);
    }

    #[test]
    fn answers_correct_the_guess() {
        let mut abilities = of(&[("TERM", "xterm-256color")]);
        assert!(abilities.learn(&Answer::Attributes { sixel: true }));
        assert_eq!(abilities.pictures, Pictures::Sixel);
        assert!(abilities.learn(&Answer::Name("XTerm(390)".into())));
        assert_eq!(abilities.reflow(), Reflow::Cuts);
        assert!(abilities.learn(&Answer::CellSize { width: 10, height: 21 }));
        assert!(!abilities.learn(&Answer::Background(0, 0, 0)));
    }

    #[test]
    fn a_multiplexer_gets_what_it_passes_on() {
        let tmux = of(&[("TERM", "tmux"), ("TMUX", "x")]);
        assert_eq!(tmux.through(b"\x1b]9;hi\x1b\\"), b"\x1bPtmux;\x1b\x1b]9;hi\x1b\x1b\\\x1b\\");
        let plain = of(&[("TERM", "xterm")]);
        assert_eq!(plain.through(b"x"), b"x");
    }
}
