//! `CLAUDE_ENV_FILE`: a file in which a handler of `SessionStart` leaves variables for later commands.
//!
//! The file is read, not run: `export NAME=value` in all the ways a shell can quote it, also as `export -p` prints
//! it. What only a shell could work out is told and left. Each handler has a file of its own, which is gone
//! when the handler is: nobody else finds anything in it, or puts anything there.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use base::{Env, HookRunId};

/// Most of a file that is read.
const FILE_BYTES: u64 = 256 * 1024;
/// A file this old is left from a process that was killed.
const STALE: Duration = Duration::from_hours(24);

/// A handler's file; it goes when this does.
#[derive(Debug)]
pub(super) struct Page {
    path: PathBuf,
}

impl Page {
    /// An empty file that only the user can read, in `folder`.
    pub(super) fn new(folder: &Path, run: HookRunId) -> io::Result<Self> {
        let mut make = DirBuilder::new();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            make.mode(0o700);
            options.mode(0o600);
        }
        make.recursive(true).create(folder)?;
        sweep(folder);
        let path = folder.join(format!("{run}.sh"));
        options.open(&path)?;
        Ok(Self { path })
    }

    /// What handlers are told of it.
    pub(super) fn variables(&self) -> [(String, String); 2] {
        let path = self.path.display().to_string();
        ["CLAUDE_ENV_FILE", "CAIMAN_ENV_FILE"].map(|name| (name.to_owned(), path.clone()))
    }

    /// What it says by now. A handler may have put a link, or nothing, in its place.
    pub(super) fn read(&self) -> String {
        let is_file = std::fs::symlink_metadata(&self.path).is_ok_and(|found| found.is_file());
        let mut bytes = Vec::new();
        let reading = File::open(&self.path).ok().filter(|_| is_file);
        let read = reading.map(|file| file.take(FILE_BYTES).read_to_end(&mut bytes));
        match read {
            Some(Ok(_)) => String::from_utf8_lossy(&bytes).into_owned(),
            Some(Err(_)) | None => String::new(),
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // Whoever has removed it already has done our work.
        std::fs::remove_file(&self.path).ok();
    }
}

fn sweep(folder: &Path) {
    let is_stale = |found: io::Result<SystemTime>| {
        found.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE))
    };
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_stale(entry.metadata().and_then(|found| found.modified())) {
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

/// What a file sets.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Exports {
    /// The variables.
    pub(super) variables: BTreeMap<String, String>,
    /// The lines that only a shell could work out, counted from one.
    pub(super) left: Vec<usize>,
}

impl Exports {
    /// Reads a file; `$NAME` in it stands for a variable of `env`, or one that it has set before.
    pub(super) fn of(text: &str, env: &Env) -> Self {
        let mut reader = Reader { text, at: 0, line: 1, env, variables: BTreeMap::new() };
        let mut left = Vec::new();
        while reader.skip_to_statement() {
            let line = reader.line;
            if reader.statement().is_none() {
                left.push(line);
                reader.skip_line();
            }
        }
        Self { variables: reader.variables, left }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    line: usize,
    env: &'t Env,
    variables: BTreeMap<String, String>,
}

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        self.line += usize::from(c == '\n');
        Some(c)
    }

    fn eat(&mut self, wanted: char) -> bool {
        let is_next = self.peek() == Some(wanted);
        if is_next {
            self.next();
        }
        is_next
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|c| c != '\n') {}
    }

    /// Goes to where a statement begins; tells whether there is one.
    fn skip_to_statement(&mut self) -> bool {
        while let Some(c) = self.peek() {
            match c {
                '#' => self.skip_line(),
                ';' => drop(self.next()),
                c if c.is_whitespace() => drop(self.next()),
                _ => return true,
            }
        }
        false
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|c| c.is_whitespace() && c != '\n') {
            self.next();
        }
    }

    /// One statement up to its end: names with values, perhaps behind `export` or `declare -x`.
    fn statement(&mut self) -> Option<()> {
        let mut is_first = true;
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some('\n' | ';') => return Some(()),
                Some('#') => {
                    self.skip_line();
                    return Some(());
                }
                Some(_) => {}
            }
            let word = self.bare_word();
            let is_lead = matches!(word, "export" | "declare" | "typeset") && is_first;
            let is_flag = matches!(word, "-x" | "-gx" | "-rx" | "--");
            if self.eat('=') {
                let name = Some(word.to_owned()).filter(|name| is_name(name))?;
                let value = self.value()?;
                self.variables.insert(name, value);
            } else if !is_lead && !is_flag && (is_first || !is_name(word)) {
                return None;
            }
            // A name without a value is one that the shell has already.
            is_first = false;
        }
    }

    fn bare_word(&mut self) -> &'t str {
        let begin = self.at;
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        while self.peek().is_some_and(is_part) {
            self.next();
        }
        &self.text[begin..self.at]
    }

    /// A value, up to a blank; none where only a shell could tell it.
    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        loop {
            match self.peek() {
                None => break,
                Some(c) if c.is_whitespace() || c == ';' => break,
                Some('`' | '(' | ')' | '<' | '>' | '|' | '&') => return None,
                Some('\'') => {
                    self.next();
                    self.single_quoted(&mut value)?;
                }
                Some('"') => {
                    self.next();
                    self.double_quoted(&mut value)?;
                }
                Some('$') => {
                    self.next();
                    self.expansion(&mut value, Quotes::None)?;
                }
                Some('\\') => {
                    self.next();
                    value.extend(self.next().filter(|c| *c != '\n'));
                }
                Some(c) => {
                    self.next();
                    value.push(c);
                }
            }
        }
        (!value.contains('\0')).then_some(value)
    }

    fn single_quoted(&mut self, value: &mut String) -> Option<()> {
        loop {
            match self.next()? {
                '\'' => return Some(()),
                c => value.push(c),
            }
        }
    }

    fn double_quoted(&mut self, value: &mut String) -> Option<()> {
        loop {
            match self.next()? {
                '"' => return Some(()),
                '`' => return None,
                '$' => self.expansion(value, Quotes::Double)?,
                '\\' => match self.next()? {
                    '\n' => {}
                    c @ ('"' | '\\' | '$' | '`') => value.push(c),
                    c => value.extend(['\\', c]),
                },
                c => value.push(c),
            }
        }
    }

    /// What follows a dollar sign.
    fn expansion(&mut self, value: &mut String, quotes: Quotes) -> Option<()> {
        match self.peek() {
            Some('(') => return None,
            Some('\'') if quotes == Quotes::None => {
                self.next();
                return self.escaped(value);
            }
            Some('{') => {
                self.next();
                let name = self.bare_word();
                if !is_name(name) || !self.eat('}') {
                    return None;
                }
                value.push_str(self.known(name));
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let begin = self.at;
                while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
                    self.next();
                }
                value.push_str(self.known(&self.text[begin..self.at]));
            }
            Some(_) | None => value.push('$'),
        }
        Some(())
    }

    /// `$'…'`, as `export -p` writes what has line breaks.
    fn escaped(&mut self, value: &mut String) -> Option<()> {
        loop {
            match self.next()? {
                '\'' => return Some(()),
                '\\' => value.push(match self.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'E' | 'e' => '\u{1b}',
                    c @ ('\\' | '\'' | '"') => c,
                    _ => return None,
                }),
                c => value.push(c),
            }
        }
    }

    fn known(&self, name: &str) -> &str {
        let own = self.variables.get(name).map(String::as_str);
        own.or_else(|| self.env.get(name)).unwrap_or_default()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && !word.contains('-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exports(text: &str) -> Exports {
        Exports::of(text, &Env::from_iter([("PATH", "/bin"), ("HOME", "/home/me")]))
    }

    #[test]
    fn variables_are_read_however_a_shell_writes_them() {
        for (text, name, value) in [
            ("export A=b", "A", "b"),
            ("export A=\"b c\"\n", "A", "b c"),
            ("export A='b $HOME'", "A", "b $HOME"),
            ("A=b # plain", "A", "b"),
            ("export PATH=\"$HOME/bin:$PATH\"", "PATH", "/home/me/bin:/bin"),
            ("export P=${HOME}/x\\ y;export Q=1", "P", "/home/me/x y"),
            ("declare -x A=\"say \\\"hi\\\" \\$5\"", "A", "say \"hi\" $5"),
            ("declare -x A=$'one\\ntwo'", "A", "one\ntwo"),
            ("export A=1 B=\"$A$A\"", "B", "11"),
            ("export A='it'\\''s'", "A", "it's"),
            ("export A='two\nlines'", "A", "two\nlines"),
            ("export A=", "A", ""),
            ("export A=5$", "A", "5$"),
        ] {
            let read = exports(text);
            assert_eq!(read.variables.get(name).map(String::as_str), Some(value), "{text}");
            assert_eq!(read.left, Vec::<usize>::new(), "{text}");
        }
        assert_eq!(exports("# nothing\n\nexport KNOWN\ndeclare -x OTHER\n"), Exports::default());
    }

    #[test]
    fn what_only_a_shell_could_tell_is_left_and_nothing_runs() {
        let text = "export A=$(touch /tmp/x)\nexport B=1\nsource ~/.profile\nexport C=`id`\n\
            alias ls=rm\nls() { rm -r .; }\nexport D=x > /etc/passwd\nexport E=\"${HOME:-x}\"\nexport 5=x\nexport F=2\n\
            unset PATH\nexport G='never closed";
        let read = exports(text);
        assert_eq!(read.variables.keys().collect::<Vec<_>>(), ["B", "D", "F"]);
        assert_eq!(read.left, [1, 3, 4, 5, 6, 7, 8, 9, 11, 12]);
    }

    #[test]
    fn a_file_is_private_and_goes_with_its_handler() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("env");
        let page = Page::new(&folder, HookRunId::new()).unwrap();
        let path = PathBuf::from(&page.variables()[0].1);
        std::fs::write(&path, "export A=b").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&folder), mode(&path)), (0o700, 0o600));
        }
        assert_eq!(page.read(), "export A=b");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert_eq!(page.read(), "", "a link is not followed");
        drop(page);
        assert!(std::fs::symlink_metadata(&path).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn no_text_breaks_the_reader(text in "([a-zA-Z_='\"$(){};\\\\\n #`-]|\\PC){0,80}") {
            let read = exports(&text);
            prop_assert!(read.variables.keys().all(|name| is_name(name)));
        }

        #[test]
        fn what_is_quoted_comes_back_as_it_was(value in "[^\0]{0,40}") {
            let quoted = value.replace('\'', "'\\''");
            let read = exports(&format!("export A='{quoted}'\nexport B=1"));
            prop_assert_eq!(read.variables.get("A"), Some(&value));
            prop_assert!(read.variables.contains_key("B"));
        }
    }
}
