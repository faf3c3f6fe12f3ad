//! Colours for code: a small lexer that goes line by line with a few bytes of state, so that code can be
//! coloured while it is still being written. It knows words, strings, numbers and comments, not grammar.

mod languages;
mod markup;
mod words;

use crate::line::Span;
use crate::style::Style;
use crate::theme::{Role, Theme};

pub use self::languages::Language;

/// A line longer than this is shown without colours.
const MOST_BYTES: usize = 4_000;

/// What a line begins in, carried over from the line before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// Nothing in particular.
    #[default]
    Plain,
    /// A comment, so many deep.
    Comment(u8),
    /// A string that was opened by the language's quote of this number.
    Quote(u8),
    /// A raw string that ends with so many hash signs.
    Raw(u8),
    /// A tag of a markup language.
    Tag,
}

/// A stretch of a line and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its bytes.
    pub length: usize,
    /// What it is.
    pub role: Role,
}

/// Tokens of a line on their way.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Vec<Token>);

impl Tokens {
    /// Adds a stretch; it joins the one before if that is of the same kind.
    pub(crate) fn push(&mut self, length: usize, role: Role) {
        match self.0.last_mut() {
            Some(last) if last.role == role => last.length += length,
            Some(_) | None if length > 0 => self.0.push(Token { length, role }),
            Some(_) | None => {}
        }
    }
}

/// How the lines of a language are read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Grammar {
    /// By its words, strings and comments.
    Words(&'static words::Words),
    /// By tags.
    Markup,
    /// By the first characters of a line.
    Lines(fn(&str) -> Role),
}

/// Colours lines of code, one after the other.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lexer {
    language: Option<&'static Language>,
    state: State,
}

impl Lexer {
    /// Begins with the first line of a text in a language, if it is known.
    pub fn new(language: Option<&'static Language>) -> Self {
        Self { language, state: State::Plain }
    }

    /// What the next line is made of; lengths add up to that of the line.
    pub fn tokens(&mut self, line: &str) -> Vec<Token> {
        let mut tokens = Tokens::default();
        match self.language.map(|language| language.grammar) {
            Some(_) if line.len() > MOST_BYTES => tokens.push(line.len(), Role::Text),
            Some(Grammar::Words(words)) => {
                self.state = words::line(words, line, self.state, &mut tokens);
            }
            Some(Grammar::Markup) => self.state = markup::line(line, self.state, &mut tokens),
            Some(Grammar::Lines(role)) => tokens.push(line.len(), role(line)),
            None => tokens.push(line.len(), Role::Text),
        }
        tokens.0
    }

    /// The next line as spans over a style.
    pub fn spans(&mut self, line: &str, theme: &Theme, below: Style) -> Vec<Span> {
        let mut at = 0;
        let span = |token: Token| {
            let text = &line[at..at + token.length];
            at += token.length;
            Span::new(text, theme.style(token.role).over(below))
        };
        self.tokens(line).into_iter().map(span).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each token with a letter for what it is; text is left out.
    fn marked(language: &str, text: &str) -> Vec<String> {
        let mut lexer = Lexer::new(Language::named(language));
        let mut out = Vec::new();
        for line in text.lines() {
            let mut at = 0;
            for token in lexer.tokens(line) {
                let piece = line[at..at + token.length].trim();
                at += token.length;
                if token.role != Role::Text && !piece.is_empty() {
                    out.push(format!("{:?} {piece}", token.role));
                }
            }
        }
        out
    }

    #[test]
    fn rust_is_read() {
        let text = "#[test]\nfn go<'a>(x: &'a str) -> Option<u8> {\n  let s = r#\"a \"b\n c\"#; // end\n  f('x', 0x1f) /* a /* b */\n c */ }";
        assert_eq!(
            marked("rust", text),
            [
                "Comment #[test]",
                "Keyword fn",
                "Function go",
                "Type str",
                "Type Option",
                "Type u8",
                "Keyword let",
                "String r#\"a \"b",
                "String c\"#",
                "Comment // end",
                "Function f",
                "String 'x'",
                "Number 0x1f",
                "Comment /* a /* b */",
                "Comment c */",
            ]
        );
    }

    #[test]
    fn strings_over_lines_and_keys_are_read() {
        assert_eq!(
            marked("py", "@cached\ndef f(a): # x\n  \"\"\"doc\n  more\"\"\"\n  return None"),
            [
                "Comment @cached",
                "Keyword def",
                "Function f",
                "Comment # x",
                "String \"\"\"doc",
                "String more\"\"\"",
                "Keyword return",
                "Number None",
            ]
        );
        assert_eq!(
            marked("json", "{\"a\": [1, \"b\", true]}"),
            ["Type \"a\"", "Number 1", "String \"b\"", "Number true",]
        );
        assert_eq!(
            marked("yaml", "name: \"x\" # why\non: 3"),
            ["Type name", "String \"x\"", "Comment # why", "Type on", "Number 3",]
        );
        assert_eq!(
            marked("sh", "if [ -n \"$A\" ]; then echo ${B#x} # c"),
            [
                "Keyword if",
                "String \"$A\"",
                "Keyword then",
                "Keyword echo",
                "Number ${B#x}",
                "Comment # c",
            ]
        );
        assert_eq!(
            marked("html", "<a href=\"x\">text &amp; <!-- c\n --></a>"),
            [
                "Keyword <a",
                "Type href",
                "String \"x\"",
                "Keyword >",
                "Number &amp;",
                "Comment <!-- c",
                "Comment -->",
                "Keyword </a>",
            ]
        );
    }

    #[test]
    fn languages_are_found_by_name_and_by_file() {
        for name in ["rust", "Rust", "rs", "c++", "golang", "shell", "tsx", "jsonc", "dockerfile"] {
            assert!(Language::named(name).is_some(), "{name}");
        }
        for path in
            ["src/main.rs", "Makefile", "a/Dockerfile", "x.test.tsx", "Cargo.toml", ".bashrc"]
        {
            assert!(Language::of_path(path).is_some(), "{path}");
        }
        assert!(Language::named("klingon").is_none());
        assert!(Language::count() >= 45, "{}", Language::count());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn tokens_cover_every_line_of_any_text(
            which in any::<prop::sample::Index>(),
            text in "([a-zA-Z0-9_#@$/*\"'`<>&;:=(){}\\[\\] .\\\\\n-]|日|é){0,120}",
        ) {
            let mut lexer = Lexer::new(Language::numbered(which.index(Language::count())));
            for line in text.lines() {
                let tokens = lexer.tokens(line);
                prop_assert_eq!(tokens.iter().map(|token| token.length).sum::<usize>(), line.len());
                let mut at = 0;
                for token in tokens {
                    prop_assert!(line.is_char_boundary(at));
                    at += token.length;
                }
            }
        }
    }
}
