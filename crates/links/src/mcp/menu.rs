//! What a server lends: kept on disk, so that a session knows it before the server is up.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use settings::McpServer;

/// Tools, prompts or resources of a server that are kept, of each.
pub(super) const ITEMS: usize = 2_000;
/// Bytes of a description that are kept.
const DESCRIPTION: usize = 2 << 10;
/// Bytes of a server's instructions that are kept.
const INSTRUCTIONS: usize = 8 << 10;
/// Bytes of a schema that are kept; of a longer one nobody could use all.
const SCHEMA: usize = 64 << 10;
/// Bytes of a name or address that are kept.
const NAME: usize = 1 << 10;

/// What a server lends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Menu {
    /// How the server wants to be used.
    pub instructions: Option<String>,
    /// Its tools, in its own order.
    pub tools: Vec<Tool>,
    /// Its prompts.
    pub prompts: Vec<Prompt>,
    /// Its resources.
    pub resources: Vec<Resource>,
    /// Whether it has resources at all, or patterns of them.
    pub has_resources: bool,
}

impl Menu {
    /// The same without what is too much, without names, or twice there.
    pub(super) fn bounded(mut self) -> Self {
        if let Some(text) = &mut self.instructions {
            shorten(text, INSTRUCTIONS);
        }
        let mut known = HashSet::new();
        self.tools.retain(|tool| is_name(&tool.name) && known.insert(tool.name.clone()));
        self.tools.truncate(ITEMS);
        for tool in &mut self.tools {
            shorten(&mut tool.description, DESCRIPTION);
            if !tool.schema.is_object() || tool.schema.to_string().len() > SCHEMA {
                tool.schema = json!({ "type": "object" });
            }
        }
        known.clear();
        self.prompts.retain(|prompt| is_name(&prompt.name) && known.insert(prompt.name.clone()));
        self.prompts.truncate(ITEMS);
        for prompt in &mut self.prompts {
            shorten(&mut prompt.description, DESCRIPTION);
            prompt.arguments.retain(|argument| is_name(&argument.name));
            for argument in &mut prompt.arguments {
                shorten(&mut argument.description, DESCRIPTION);
            }
        }
        known.clear();
        self.resources.retain(|it| is_name(&it.uri) && known.insert(it.uri.clone()));
        self.resources.truncate(2 * ITEMS);
        for resource in &mut self.resources {
            shorten(&mut resource.name, NAME);
            shorten(&mut resource.description, DESCRIPTION);
        }
        self
    }

    /// The same with only those tools that the settings let through.
    pub(super) fn let_through(&self, settings: &McpServer) -> Self {
        let on = self.tools.iter().filter(|tool| is_let_through(&tool.name, settings));
        Self { tools: on.cloned().collect(), ..self.clone() }
    }
}

/// Whether the settings let a tool through.
pub(super) fn is_let_through(tool: &str, settings: &McpServer) -> bool {
    let names_it = |names: &[String]| names.iter().any(|name| name == tool);
    settings.enabled_tools.as_deref().is_none_or(names_it) && !names_it(&settings.disabled_tools)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME && !name.contains(|it| is_hidden(it) || it == '\n')
}

fn shorten(text: &mut String, most: usize) {
    if text.len() > most || text.contains(is_hidden) {
        *text = shown(text, most);
    }
}

/// The beginning of a text as everybody sees it: without what a terminal would obey, and without what a model
/// would read and nobody see.
pub(super) fn shown(text: &str, most: usize) -> String {
    cut(text, most).chars().filter(|letter| !is_hidden(*letter)).collect()
}

fn is_hidden(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        // Marks that turn the direction of writing.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Letters that take no room, or that no font has. Those that join or colour others stay.
        | '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}'
        | '\u{fe00}'..='\u{fe0d}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => letter.is_control(),
    }
}

/// The beginning of a text, at most so many bytes.
pub(super) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its own name.
    pub name: String,
    /// What it does, in the server's words.
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: Value,
    /// Whether the server says that it changes nothing. Nobody vouches for that.
    pub says_it_reads: bool,
    /// Whether the server runs it only as a task.
    pub is_task: bool,
}

/// A prompt of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it wants to know.
    pub arguments: Vec<Argument>,
}

/// Something a prompt wants to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Whether it must be given.
    pub required: bool,
}

/// Something a server lets be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Its address, or the pattern of many (`file:///{path}`).
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its media type, if the server says.
    pub media_type: Option<String>,
    /// Whether the address is a pattern.
    pub is_pattern: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: json!({ "type": "object" }),
            says_it_reads: false,
            is_task: false,
        }
    }

    #[test]
    fn hidden_words_are_left_out() {
        let hidden =
            "adds\u{e0041}\u{e0142} t\u{200b}wo\u{202e} num\u{fe05}bers\x1b[2J\nand says so";
        let menu = Menu { tools: vec![tool("a", hidden)], ..Menu::default() }.bounded();
        assert_eq!(menu.tools[0].description, "adds two numbers[2J\nand says so");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn what_is_bounded_stays_as_it_is(
            texts in prop::collection::vec((".{0,40}", "(?s).{0,3000}"), 0..20),
        ) {
            let tools = texts.iter().map(|(name, text)| tool(name, text)).collect();
            let menu = Menu { tools, ..Menu::default() }.bounded();
            prop_assert!(menu.tools.iter().all(|tool| tool.description.len() <= DESCRIPTION));
            prop_assert_eq!(menu.clone().bounded(), menu);
        }
    }
}
