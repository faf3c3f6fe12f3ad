//! A command line as a syntax tree: what each simple command, redirect and substitution does.
//!
//! [`parse`] gives every command that would run, with what is known of its words, or says why that
//! cannot be told; [`Script::read_only`] proves that none of them writes, runs or connects. What is not
//! understood is not guessed at: the policy asks.
//!
//! | module | does |
//! |---|---|
//! | `syntax` | walks the tree, refuses what is outside a list of known shapes |
//! | `word` | quotes, escapes, braces, patterns: what a word means |
//! | `wrap` | looks through `timeout`, `env`, `sh -c`, `sudo`, `xargs`, `find -exec` … |
//! | `programs` | the table of programs that only read, and their options |
//! | `read_only` | the proof that a script changes nothing |

mod fragments;
mod programs;
mod read_only;
mod syntax;
mod word;
mod wrap;

pub use fragments::fragments;
pub use programs::{Assurance, listed_programs};
pub use read_only::NotReadOnly;
pub(crate) use read_only::{is_harmless_for_programs, is_harmless_in_shell, is_network};
pub use word::{Meaning, Word};
pub use wrap::Wrap;

/// Longer lines are not looked into.
pub const LONGEST_BYTES: usize = 10_000;

/// What a command line does, as far as that can be told without running it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// Every simple command, also those of substitutions and functions, in the order of the text.
    pub commands: Vec<Simple>,
    /// Every redirect from or to a file.
    pub redirects: Vec<Redirect>,
    /// Assignments that stand alone.
    pub assignments: Vec<Assignment>,
    /// What may run code that the text does not show: reasons, not places.
    pub hazards: Vec<&'static str>,
    /// Whether it holds a here-document or a here-string, which a program may read as commands.
    pub has_document: bool,
}

/// A command with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    /// Program and arguments.
    pub words: Vec<Word>,
    /// Variables set for it alone.
    pub assignments: Vec<Assignment>,
    /// What it runs in turn, if it is known to run something.
    pub wraps: Option<Box<Wrapped>>,
}

/// What a command runs in turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// What the outer command adds.
    pub wrap: Wrap,
    /// What it runs.
    pub inner: Script,
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// A redirect from or to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Which way.
    pub direction: Direction,
    /// The file.
    pub target: Word,
}

/// Which way a redirect goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The file is read.
    In,
    /// The file is written.
    Out,
}

/// Why a command line is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the command is not understood: {0}")]
pub struct Unclear(pub String);

impl Unclear {
    fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// Reads a command line.
pub fn parse(text: &str) -> Result<Script, Unclear> {
    #[cfg(test)]
    crate::counted::count(|counts| counts.parses += 1);
    parse_at(text, 0)
}

/// Reads a command line that stands inside `depth` others.
fn parse_at(text: &str, depth: usize) -> Result<Script, Unclear> {
    // Each level may double the text to look at; nobody nests shells this deep in earnest.
    if depth > 6 {
        return Err(Unclear::new("commands are nested too deep"));
    }
    if text.len() > LONGEST_BYTES {
        return Err(Unclear::new(format!("it is longer than {LONGEST_BYTES} bytes")));
    }
    if let Some(odd) = text.chars().find(|it| is_deceptive(*it)) {
        return Err(Unclear::new(format!(
            "it holds the invisible character {}",
            odd.escape_unicode()
        )));
    }
    let mut script = syntax::read(text)?;
    wrap::look_through(&mut script, depth)?;
    Ok(script)
}

/// Characters that a shell and a reader take for different things.
fn is_deceptive(letter: char) -> bool {
    match letter {
        '\n' | '\t' | ' ' => false,
        _ if letter.is_control() || letter.is_whitespace() => true,
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffc}'
        | '\u{e0000}'..='\u{e007f}' => true,
        _ => false,
    }
}

impl Script {
    /// Every command, those that others run included.
    pub fn all_commands(&self) -> Vec<&Simple> {
        let mut all = Vec::new();
        for command in &self.commands {
            all.push(command);
            if let Some(wrapped) = &command.wraps {
                all.extend(wrapped.inner.all_commands());
            }
        }
        all
    }

    /// Every redirect, those of commands that others run included.
    pub fn all_redirects(&self) -> Vec<&Redirect> {
        let inner = self.commands.iter().filter_map(|command| command.wraps.as_ref());
        self.redirects.iter().chain(inner.flat_map(|it| it.inner.all_redirects())).collect()
    }
}

impl Simple {
    fn new(words: Vec<Word>) -> Self {
        Self { words, assignments: Vec::new(), wraps: None }
    }

    /// The program as it was written, if that is plain.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::plain)
    }

    /// The program without its folder.
    pub fn program_name(&self) -> Option<&str> {
        self.program().map(|program| program.rsplit('/').next().unwrap_or(program))
    }

    /// The words after the program.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The command as it was written, one space between words, without assignments and redirects.
    pub fn text(&self) -> String {
        join(self.words.iter().map(|word| word.raw.clone()))
    }

    /// The command with every quote taken off that is not needed.
    pub fn plain_text(&self) -> String {
        join(self.words.iter().map(Word::quoted))
    }

    /// The command with all quotes off and its program's folder left out: what a rule that forbids is
    /// held against, besides the texts above.
    pub fn bare_text(&self) -> String {
        let program = self.program_name().map(str::to_owned);
        let program = program.or_else(|| self.words.first().map(|word| word.raw.clone()));
        let rest = self.arguments().iter().map(|word| word.plain().unwrap_or(&word.raw).to_owned());
        join(program.into_iter().chain(rest))
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
