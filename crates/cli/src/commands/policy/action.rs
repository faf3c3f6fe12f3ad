//! An action as it is written on the command line.

use guard::rule::names;
use guard::{Action, Fence, Spot};

use crate::failure::Failure;

/// A tool, and what it would do.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) actions: Vec<Action>,
}

impl Call {
    /// Reads `Tool(spec)`, the name of a server's tool, or a shell line.
    pub(super) fn parse(text: &str, fence: &Fence) -> Result<Self, Failure> {
        let text = text.trim();
        let spec =
            text.split_once('(').and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?)));
        let place = |path: &str| -> Result<Spot, Failure> {
            fence.locate(path).map_err(|error| Failure::user(error.to_string()))
        };
        let (tool, action) = match spec {
            Some(("Bash" | "bash", line)) => ("bash".to_owned(), command(line, place(".")?)),
            Some(("Read" | "view", path)) => ("view".to_owned(), Action::Read(place(path)?)),
            Some(("Edit" | "edit", path)) => ("edit".to_owned(), Action::Edit(place(path)?)),
            Some(("Write" | "write", path)) => ("write".to_owned(), Action::Edit(place(path)?)),
            Some(("WebFetch" | "fetch", address)) => {
                let url = address.parse().map_err(|error| {
                    Failure::user(format!("`{address}` is not an address: {error}"))
                        .hint("write WebFetch(https://example.com/page)")
                })?;
                ("fetch".to_owned(), Action::Fetch(url))
            }
            Some(_) | None if text.starts_with("mcp_") && !text.contains(char::is_whitespace) => {
                (names::claude(text), Action::Inner)
            }
            Some(_) | None => ("bash".to_owned(), command(text, place(".")?)),
        };
        Ok(Self { tool, actions: vec![action] })
    }

    /// The shell line, if it is one.
    pub(super) fn command(&self) -> Option<&str> {
        self.actions.iter().find_map(|action| match action {
            Action::Run { command, .. } => Some(command.as_str()),
            Action::Read(_)
            | Action::Edit(_)
            | Action::Fetch(_)
            | Action::Browse(_)
            | Action::Type(_)
            | Action::Named(_)
            | Action::Inner => None,
        })
    }
}

fn command(line: &str, folder: Spot) -> Action {
    Action::Run { command: line.to_owned(), folder, uncaged: false }
}
