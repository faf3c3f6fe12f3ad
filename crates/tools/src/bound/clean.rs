//! Bytes as a terminal would show them: escape sequences gone, lines that a program drew over shown as it
//! left them, bytes that are no text replaced.
//!
//! One pass, any chunking, bounded memory: a line is kept back until it ends, since a carriage return or a
//! backspace may still change it; a line longer than [`WIDTH`] is let go in pieces, as a terminal wraps it.

/// How wide the imagined terminal is.
const WIDTH: usize = 4_096;
/// Longest control string that is skipped; inline pictures are that long, other text is not.
const STRING_CHARS: usize = 1024 * 1024;
/// Most digits of a sequence that are looked at.
const PARAMETER_CHARS: usize = 16;

/// Turns what processes write into plain text.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    /// The beginning of a character whose end has not come yet.
    cut: Vec<u8>,
    state: State,
    line: Line,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Ground,
    /// After a carriage return: with a line break after it, it changes nothing.
    Return,
    /// After `ESC`.
    Escape,
    /// After `ESC` and an intermediate character: one more comes.
    Charset,
    /// After `ESC [`, with what came since.
    Control(String),
    /// In a string for the terminal: a title, a link, a picture.
    Text { kind: Kind, chars: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `ESC ]`: one line.
    Command,
    /// `ESC P`, `X`, `^`, `_`: may have line breaks.
    Data,
}

impl Cleaner {
    /// Reads `bytes` and appends what is settled by now to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut String) {
        if self.cut.is_empty() {
            return self.decode(bytes, out);
        }
        let mut joined = std::mem::take(&mut self.cut);
        joined.extend_from_slice(bytes);
        self.decode(&joined, out);
    }

    /// Appends all that is left.
    pub(super) fn finish(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.cut).is_empty() {
            self.feed("\u{fffd}", out);
        }
        self.state = State::Ground;
        self.line.end(out);
    }

    /// The line that has not ended yet.
    pub(super) fn line(&self) -> String {
        self.line.shown()
    }

    fn decode(&mut self, mut bytes: &[u8], out: &mut String) {
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(text) => return self.feed(text, out),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            if let Ok(text) = std::str::from_utf8(valid) {
                self.feed(text, out);
            }
            let Some(wrong) = error.error_len() else {
                rest.clone_into(&mut self.cut);
                return;
            };
            self.feed("\u{fffd}", out);
            bytes = &rest[wrong..];
        }
    }

    fn feed(&mut self, text: &str, out: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            if matches!(self.state, State::Ground) {
                let plain = &rest[..plain_end(rest)];
                rest = &rest[plain.len()..];
                if self.line.is_untouched() && rest.starts_with('\n') {
                    out.push_str(plain);
                } else {
                    self.line.write(plain, out);
                }
            }
            let mut chars = rest.chars();
            if let Some(next) = chars.next() {
                self.step(next, out);
            }
            rest = chars.as_str();
        }
    }

    fn step(&mut self, next: char, out: &mut String) {
        self.state = match std::mem::take(&mut self.state) {
            State::Ground => self.control(next, out),
            State::Return => {
                if !matches!(next, '\n' | '\r') {
                    self.line.edit(|_, column| *column = 0);
                }
                self.control(next, out)
            }
            State::Escape => self.escape(next, out),
            State::Charset => match next {
                ' '..='/' => State::Charset,
                '0'..='~' => State::Ground,
                _ => self.control(next, out),
            },
            State::Control(parameters) => self.sequence(parameters, next, out),
            State::Text { kind, chars } => match next {
                '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => State::Ground,
                '\u{1b}' => State::Escape,
                '\n' if kind == Kind::Command => self.control(next, out),
                _ if chars >= STRING_CHARS => State::Ground,
                _ => State::Text { kind, chars: chars + 1 },
            },
        };
    }

    /// A control character on the ground.
    fn control(&mut self, next: char, out: &mut String) -> State {
        match next {
            '\n' | '\u{b}' | '\u{c}' => {
                self.line.end(out);
                out.push('\n');
            }
            '\r' => return State::Return,
            '\u{8}' => self.line.edit(|_, column| *column = column.saturating_sub(1)),
            '\u{1b}' => return State::Escape,
            '\u{9b}' => return State::Control(String::new()),
            '\u{9d}' => return State::Text { kind: Kind::Command, chars: 0 },
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                return State::Text { kind: Kind::Data, chars: 0 };
            }
            _ if is_control(next) => {}
            _ => self.line.write(next.encode_utf8(&mut [0; 4]), out),
        }
        State::Ground
    }

    fn escape(&mut self, next: char, out: &mut String) -> State {
        match next {
            '[' => State::Control(String::new()),
            ']' => State::Text { kind: Kind::Command, chars: 0 },
            'P' | 'X' | '^' | '_' => State::Text { kind: Kind::Data, chars: 0 },
            ' '..='/' => State::Charset,
            '0'..='~' => State::Ground,
            _ => self.control(next, out),
        }
    }

    fn sequence(&mut self, mut parameters: String, next: char, out: &mut String) -> State {
        match next {
            ' '..='?' => {
                if parameters.len() < PARAMETER_CHARS {
                    parameters.push(next);
                }
                State::Control(parameters)
            }
            '@'..='~' => {
                self.apply(next, &parameters, out);
                State::Ground
            }
            _ => self.control(next, out),
        }
    }

    /// The few sequences that change what a line says; colours and the rest only go away.
    fn apply(&mut self, last: char, parameters: &str, out: &mut String) {
        let number = parameters.parse::<usize>();
        let count = number.clone().unwrap_or(1).max(1);
        match last {
            'K' => self.line.erase(number.unwrap_or(0)),
            'G' => self.line.edit(|_, column| *column = count - 1),
            'C' => self.line.edit(|_, column| *column = column.saturating_add(count)),
            'D' => self.line.edit(|_, column| *column = column.saturating_sub(count)),
            // Text put elsewhere on the screen is not part of this line.
            'B' | 'E' | 'H' | 'f' if !self.line.shown().is_empty() => {
                self.line.end(out);
                out.push('\n');
            }
            _ => {}
        }
    }
}

/// A line while it can still change.
#[derive(Debug)]
enum Line {
    /// Written from left to right so far.
    Plain { text: String, chars: usize },
    /// Written over: its characters, and where the next one goes.
    Edited { cells: Vec<char>, column: usize },
}

impl Default for Line {
    fn default() -> Self {
        Self::Plain { text: String::new(), chars: 0 }
    }
}

impl Line {
    fn is_untouched(&self) -> bool {
        matches!(self, Self::Plain { chars: 0, .. })
    }

    fn shown(&self) -> String {
        match self {
            Self::Plain { text, .. } => text.clone(),
            Self::Edited { cells, .. } => {
                // A program that draws over a longer line blanks out what is left of it.
                cells.iter().collect::<String>().trim_end_matches(' ').to_owned()
            }
        }
    }

    /// Lets the line go.
    fn end(&mut self, out: &mut String) {
        match self {
            Self::Plain { text, chars } => {
                out.push_str(text);
                text.clear();
                *chars = 0;
            }
            Self::Edited { .. } => {
                out.push_str(&self.shown());
                *self = Self::default();
            }
        }
    }

    fn write(&mut self, mut plain: &str, out: &mut String) {
        while !plain.is_empty() {
            match self {
                Self::Plain { text, chars } => {
                    let room = WIDTH - *chars;
                    let end = plain.char_indices().nth(room).map_or(plain.len(), |(at, _)| at);
                    text.push_str(&plain[..end]);
                    *chars += plain[..end].chars().count();
                    plain = &plain[end..];
                    if *chars == WIDTH {
                        self.end(out);
                    }
                }
                Self::Edited { cells, column } => {
                    let mut rest = plain.chars();
                    for next in rest.by_ref().take(WIDTH - *column) {
                        if cells.len() <= *column {
                            cells.resize(*column + 1, ' ');
                        }
                        cells[*column] = next;
                        *column += 1;
                    }
                    plain = rest.as_str();
                    if *column == WIDTH {
                        self.end(out);
                    }
                }
            }
        }
    }

    /// `0` erases what follows, `1` what is before, `2` everything.
    fn erase(&mut self, what: usize) {
        self.edit(|cells, column| match what {
            0 => cells.truncate(*column),
            1 => {
                let end = cells.len().min(*column + 1);
                cells[..end].fill(' ');
            }
            2 => cells.clear(),
            _ => {}
        });
    }

    fn edit(&mut self, change: impl FnOnce(&mut Vec<char>, &mut usize)) {
        let (mut cells, mut column) = match std::mem::take(self) {
            Self::Plain { text, chars } => (text.chars().collect(), chars),
            Self::Edited { cells, column } => (cells, column),
        };
        change(&mut cells, &mut column);
        *self = Self::Edited { cells, column: column.min(WIDTH - 1) };
    }
}

/// Where plain text ends: at the first control character other than a tab.
fn plain_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let control = match byte {
            b'\t' => false,
            0..0x20 | 0x7f => true,
            0xc2 => matches!(bytes.get(at + 1), Some(0x80..=0x9f)),
            _ => false,
        };
        if control {
            return at;
        }
    }
    bytes.len()
}

fn is_control(next: char) -> bool {
    next != '\t' && next.is_control()
}
