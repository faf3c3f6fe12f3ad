//! Expansion of `$VAR`, `${VAR:-x}` and `$(command)`, when a value is used and not before.
//!
//! Settings keep such values as written. Whoever needs one asks an [`Expander`], so a command that
//! fetches a key runs only when its provider is used. Settings of a project nobody trusts never get
//! this far: the loader takes out whatever would be expanded in them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Config;
use base::command::{CommandLine, RunCommand, RunError};
use base::env::Env;
use base::secret::Secret;

/// Deepest nesting of `${A:-${B:-…}}`.
const DEPTH_LIMIT: usize = 16;
/// Longest text an expansion may yield.
const TEXT_LIMIT: usize = 1024 * 1024;

/// Expands values. Blocking, as commands are: async callers use a blocking task.
#[derive(Clone, Copy)]
pub struct Expander<'a> {
    /// Where variables are looked up, and what commands see.
    pub env: &'a Env,
    /// Runs `$(command)`; without one such a value is an error. Data from the network or from a
    /// catalogue must be expanded without.
    pub runner: Option<&'a dyn RunCommand>,
}

/// Why a value could not be expanded. Neither secrets nor commands are part of the text.
#[derive(Debug, thiserror::Error)]
pub enum ExpandError {
    /// A brace or parenthesis is not closed.
    #[error("`{0}` is not closed")]
    Unclosed(&'static str),
    /// What stands between `${` and `}` is no variable.
    #[error("`${{…}}` needs a variable's name, and after it nothing or one of :- :+ :?")]
    BadVariable,
    /// `${VAR:?message}`, and it is not set.
    #[error("the variable {name} is not set: {message}")]
    Required {
        /// The variable.
        name: String,
        /// What the settings say about it.
        message: String,
    },
    /// Nested too deeply, or too long.
    #[error("the value is nested too deeply or becomes too long")]
    TooMuch,
    /// Commands are not run for this value.
    #[error("`$(…)` is not run here: move the value to a file of yours or trust the folder")]
    CommandsForbidden,
    /// The command failed.
    #[error("`$({program} …)`: {reason}")]
    Command {
        /// The program's name.
        program: String,
        /// What happened.
        reason: String,
    },
}

impl Expander<'_> {
    /// The value's text. A variable that is not set counts as empty.
    pub fn text(&self, template: impl AsRef<str>) -> Result<String, ExpandError> {
        let template = template.as_ref();
        if !template.contains(['$', '\\']) {
            return Ok(template.to_owned());
        }
        self.expand(template, 0)
    }

    /// The secret's text; none when it is empty, as when its variable is not set.
    pub fn secret(&self, template: &Secret) -> Result<Option<Secret>, ExpandError> {
        let text = self.text(template.expose())?;
        Ok((!text.trim().is_empty()).then(|| Secret::new(text)))
    }

    /// Headers or variables with their values. One that is written empty stays, for it removes a
    /// default; one that becomes empty is left out.
    pub fn map<T: AsRef<str>>(
        &self,
        templates: &BTreeMap<String, T>,
    ) -> Result<BTreeMap<String, String>, ExpandError> {
        let mut map = BTreeMap::new();
        for (name, template) in templates {
            let text = self.text(template)?;
            if !text.is_empty() || template.as_ref().is_empty() {
                map.insert(name.clone(), text);
            }
        }
        Ok(map)
    }

    /// A path, with `~` at its start standing for the home folder.
    pub fn path(&self, template: impl AsRef<str>) -> Result<PathBuf, ExpandError> {
        let text = self.text(template)?;
        let home = self.env.get("HOME").or_else(|| self.env.get("USERPROFILE"));
        let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        Ok(match (rest, home) {
            (Some(rest), Some(home)) => PathBuf::from(home).join(rest.trim_start_matches('/')),
            (Some(_) | None, _) => PathBuf::from(text),
        })
    }

    fn expand(&self, template: &str, depth: usize) -> Result<String, ExpandError> {
        if depth > DEPTH_LIMIT {
            return Err(ExpandError::TooMuch);
        }
        let mut text = String::new();
        let mut rest = template;
        while let Some(found) = rest.find(['$', '\\']) {
            text.push_str(&rest[..found]);
            rest = self.one(&rest[found..], &mut text, depth)?;
            if text.len() > TEXT_LIMIT {
                return Err(ExpandError::TooMuch);
            }
        }
        text.push_str(rest);
        Ok(text)
    }

    /// Expands what stands at the start of `rest`, a `$` or `\`, and returns what follows it.
    fn one<'t>(
        &self,
        rest: &'t str,
        text: &mut String,
        depth: usize,
    ) -> Result<&'t str, ExpandError> {
        // `$$` and `\$` are a dollar sign; any other backslash is itself, as in a Windows path.
        if let Some(after) = rest.strip_prefix("$$").or_else(|| rest.strip_prefix("\\$")) {
            text.push('$');
            return Ok(after);
        }
        if let Some(inside) = rest.strip_prefix("${") {
            let end = closing_brace(inside).ok_or(ExpandError::Unclosed("${"))?;
            text.push_str(&self.braced(&inside[..end], depth)?);
            return Ok(&inside[end + 1..]);
        }
        if let Some(inside) = rest.strip_prefix("$(") {
            let end = closing_parenthesis(inside).ok_or(ExpandError::Unclosed("$("))?;
            text.push_str(&self.command(&inside[..end])?);
            return Ok(&inside[end + 1..]);
        }
        let (sign, after) = rest.split_at(1);
        let name_end = name_length(after);
        if sign == "$" && name_end > 0 {
            text.push_str(self.env.get(&after[..name_end]).unwrap_or_default());
            return Ok(&after[name_end..]);
        }
        text.push_str(sign);
        Ok(after)
    }

    fn braced(&self, inside: &str, depth: usize) -> Result<String, ExpandError> {
        let (name, rest) = inside.split_at(name_length(inside));
        if name.is_empty() {
            return Err(ExpandError::BadVariable);
        }
        let value = self.env.get(name);
        let operator = rest.strip_prefix(':').unwrap_or(rest);
        let mut chars = operator.chars();
        match (chars.next(), value) {
            (None, value) if rest.is_empty() => Ok(value.unwrap_or_default().to_owned()),
            (Some('-' | '?'), Some(value)) => Ok(value.to_owned()),
            (Some('-'), None) | (Some('+'), Some(_)) => self.expand(chars.as_str(), depth + 1),
            (Some('+'), None) => Ok(String::new()),
            (Some('?'), None) => {
                let message = self.expand(chars.as_str(), depth + 1)?;
                let message =
                    if message.is_empty() { "it is required".to_owned() } else { message };
                Err(ExpandError::Required { name: name.to_owned(), message })
            }
            (Some(_) | None, _) => Err(ExpandError::BadVariable),
        }
    }

    fn command(&self, line: &str) -> Result<String, ExpandError> {
        let runner = self.runner.ok_or(ExpandError::CommandsForbidden)?;
        runner.run(&CommandLine::shell(line, self.env)).map_err(|error| ExpandError::Command {
            program: program_of(line),
            reason: self.reason(&error),
        })
    }

    fn reason(&self, error: &RunError) -> String {
        match error {
            RunError::Failed { status, stderr, .. } if stderr.is_empty() => {
                format!("failed ({status})")
            }
            RunError::Failed { status, stderr, .. } => {
                format!("failed ({status}): {}", self.scrubbed(stderr))
            }
            RunError::TooSlow { limit_s, .. } => {
                format!("took longer than {limit_s} s and was stopped")
            }
            RunError::Start { source, .. } => format!("cannot be started: {source}"),
            RunError::Forbidden => "commands are not run here".to_owned(),
        }
    }

    /// A command's complaint without the values of variables that hold secrets.
    fn scrubbed(&self, complaint: &str) -> String {
        let secrets = self
            .env
            .iter()
            .filter(|(name, value)| value.len() >= 6 && super::mask::is_secret_name(name));
        secrets.fold(complaint.to_owned(), |text, (_, value)| text.replace(value, "••••"))
    }
}

impl Config {
    /// The environment with the `env` section laid over it, and what could not be expanded.
    pub fn environment(&self, expander: Expander<'_>) -> (Env, Vec<(String, ExpandError)>) {
        let mut values = Vec::new();
        let mut failures = Vec::new();
        for (name, template) in &self.env {
            match expander.text(template) {
                Ok(value) => values.push((name.clone(), value)),
                Err(error) => failures.push((name.clone(), error)),
            }
        }
        (expander.env.with(values), failures)
    }
}

fn name_length(text: &str) -> usize {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if starts { end } else { 0 }
}

/// Where the brace that was opened before `text` closes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    let mut bytes = text.bytes().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'{' if index > 0 && text.as_bytes()[index - 1] == b'$' => open += 1,
            b'(' if index > 0 && text.as_bytes()[index - 1] == b'$' => {
                let end = closing_parenthesis(&text[index + 1..])?;
                bytes.nth(end)?;
            }
            b'}' => {
                open -= 1;
                if open == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// Where the parenthesis that was opened before `text` closes, by the shell's rules of quoting.
fn closing_parenthesis(text: &str) -> Option<usize> {
    let mut open = 1_usize;
    let mut quote: Option<u8> = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((index, byte)) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => drop(bytes.next()),
            (b'\'' | b'"', None) => quote = Some(byte),
            (_, Some(mark)) if byte == mark => quote = None,
            (b'(', None) => open += 1,
            (b')', None) => {
                open -= 1;
                if open == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// The program a shell line starts, past assignments, which may hold secrets.
pub(super) fn program_of(line: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./+".contains(c);
    let word = line.split_whitespace().find(|word| !word.contains('='));
    word.filter(|word| word.len() <= 64 && word.chars().all(plain)).unwrap_or("command").to_owned()
}

#[cfg(test)]
mod tests;
