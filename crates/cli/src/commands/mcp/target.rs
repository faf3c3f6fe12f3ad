//! A server on the command line: an address, or a program and its arguments.

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// What is said of a server besides its address or program.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Target {
    /// How it is reached; http for an address, else stdio.
    #[arg(long, short, value_name = "KIND")]
    transport: Option<Transport>,

    /// A variable the program gets, as NAME=VALUE; `$VAR` in the value is filled in at the start.
    #[arg(long, short, value_name = "NAME=VALUE")]
    env: Vec<String>,

    /// A header to send, as `NAME: VALUE`; `$VAR` in the value is filled in when it is sent.
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    header: Vec<String>,

    /// Start the program in the sandbox: it writes the workspace only, sees no secrets and has no network.
    #[arg(long)]
    sandbox: bool,

    /// Seconds it may take to start and to answer.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
}

/// How a server is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Transport {
    Stdio,
    #[value(alias = "streamable-http")]
    Http,
    Sse,
}

/// Whether a word is the address of a server.
pub(super) fn is_address(text: &str) -> bool {
    let scheme = text.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

impl Target {
    /// Whether nothing is said.
    pub(super) fn is_empty(&self) -> bool {
        let Self { transport, env, header, sandbox, timeout } = self;
        let has_none = env.is_empty() && header.is_empty() && timeout.is_none();
        transport.is_none() && has_none && !sandbox
    }

    /// The server as the settings would describe it.
    pub(super) fn entry(&self, words: &[String]) -> Result<Value, Failure> {
        let (first, rest) =
            words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        // No program is called so; what is no address of ours is refused as one.
        let is_address = rest.is_empty() && first.contains("://");
        let usual = if is_address { Transport::Http } else { Transport::Stdio };
        let mut entry = match self.transport.unwrap_or(usual) {
            Transport::Stdio => self.program(first, rest)?,
            Transport::Http if rest.is_empty() => self.address(first, "http")?,
            Transport::Sse if rest.is_empty() => self.address(first, "sse")?,
            Transport::Http | Transport::Sse => {
                return Err(Failure::user("a server with an address takes no arguments")
                    .hint("--transport stdio is for programs"));
            }
        };
        if let Some(seconds) = self.timeout {
            entry["timeout"] = json!(seconds);
        }
        Ok(entry)
    }

    fn program(&self, command: &str, args: &[String]) -> Result<Value, Failure> {
        if is_address(command) {
            return Err(Failure::user("an address is no program to start")
                .hint("--transport http is for addresses; an address takes no arguments"));
        }
        if !self.header.is_empty() {
            return Err(Failure::user("--header is for addresses; this server is a program")
                .hint("--env NAME=VALUE gives a program a variable"));
        }
        let mut entry = json!({"command": command, "args": args});
        if !self.env.is_empty() {
            entry["env"] = pairs(&self.env, '=', "--env NAME=VALUE")?;
        }
        if self.sandbox {
            entry["sandbox"] = json!(true);
        }
        Ok(entry)
    }

    fn address(&self, url: &str, kind: &str) -> Result<Value, Failure> {
        if !is_address(url) {
            return Err(Failure::user("an address begins with http:// or https://")
                .hint("--transport stdio is for programs"));
        }
        if self.sandbox {
            return Err(Failure::user("--sandbox is for programs; this server has an address"));
        }
        if !self.env.is_empty() {
            return Err(Failure::user("--env is for programs; this server has an address")
                .hint("--header \"NAME: VALUE\" sends a header"));
        }
        let mut entry = json!({"type": kind, "url": url});
        if !self.header.is_empty() {
            entry["headers"] = pairs(&self.header, ':', "--header \"NAME: VALUE\"")?;
        }
        Ok(entry)
    }
}

fn pairs(given: &[String], between: char, form: &str) -> Result<Value, Failure> {
    let mut table = Map::new();
    for pair in given {
        let split = pair.split_once(between).map(|(name, value)| (name.trim(), value));
        let Some((name, value)) = split.filter(|(name, _)| !name.is_empty()) else {
            // The value may be a secret, so it is not repeated.
            return Err(Failure::user(format!("a pair lacks its name or its `{between}`"))
                .hint(format!("write {form}")));
        };
        let value = if between == ':' { value.trim() } else { value };
        table.insert(name.to_owned(), value.into());
    }
    Ok(Value::Object(table))
}
