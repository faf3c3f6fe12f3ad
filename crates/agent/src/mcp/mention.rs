//! Resources that the user names in a prompt: `@server:uri`. They are read before the model hears the prompt,
//! and come after the user's words as the server's.

use base::{Origin, Part, PartBody};
use guard::rule::names;
use store::Queued;
use tokio_util::sync::CancellationToken;
use tools::mcp::{Lending, Reader};

use crate::session::Session;

/// Resources that one prompt may name.
const MOST: usize = 10;
/// Characters of one that are said.
const LONGEST: usize = 50_000;

impl Session {
    /// Whether prompts name something that a server must be asked for.
    pub(crate) fn mentions_resources(&self, prompts: &[Queued]) -> bool {
        prompts.iter().any(|prompt| !self.mentioned(&prompt.parts).is_empty())
    }

    /// Adds what a prompt names to it. What cannot be read is said in its place.
    pub(crate) async fn add_resources(&self, parts: &mut Vec<Part>, cancel: &CancellationToken) {
        for (server, uri) in self.mentioned(parts) {
            let borrower = self.fetching(&server, cancel);
            let reading = self.mind.mcp.read(&server, &uri, borrower);
            let reading = cancel.run_until_cancelled(reading);
            let Some(read) = reading.await else { return };
            let origin = Origin::Mcp(server.clone());
            let text = match read {
                Ok(content) => {
                    let reader = Reader::of(&self.workspace, &names::mcp(&server, "resource"));
                    let (text, files) = reader.words_of(content);
                    let file = |file| Part::new(PartBody::File(file), origin.clone());
                    parts.extend(files.into_iter().map(file));
                    let text = self.mind.redactor.text(&text).into_owned();
                    let cut = text.char_indices().nth(LONGEST).map(|(end, _)| end);
                    let text = cut.map_or(text.as_str(), |end| &text[..end]);
                    format!("What @{server}:{uri} says:\n{text}")
                }
                Err(error) => {
                    self.say_notice(&format!("@{server}:{uri} cannot be read: {error}"));
                    format!("(@{server}:{uri} cannot be read: {error})")
                }
            };
            parts.push(Part::new(PartBody::Text { text }, origin));
        }
    }

    /// What the user names in a prompt. A sub-agent's prompt is not the user's.
    fn mentioned(&self, parts: &[Part]) -> Vec<(String, String)> {
        if self.kin.above.is_some() || self.workspace.mcp.servers().is_empty() {
            return Vec::new();
        }
        let said = parts.iter().filter(|part| part.origin == Origin::User);
        let mut all = Vec::new();
        for text in said.filter_map(Part::as_text) {
            all.extend(mentions(text, &self.workspace.mcp));
        }
        all.dedup();
        all.truncate(MOST);
        all
    }
}

fn mentions(text: &str, lending: &Lending) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        let begins =
            text[..at].chars().next_back().is_none_or(|it| it.is_whitespace() || it == '(');
        let rest = &text[at + 1..];
        let quoted = rest.strip_prefix('"');
        let word = match quoted {
            Some(quoted) => quoted.split_once('"').map(|(inside, _)| inside),
            None => rest.split(char::is_whitespace).next(),
        };
        let named = word.and_then(|word| word.split_once(':'));
        let Some((name, uri)) = named.filter(|(_, uri)| begins && !uri.is_empty()) else {
            continue;
        };
        let is_it = |server: &&String| *server == name || names::server(server) == name;
        if let Some(server) = lending.servers().iter().find(is_it) {
            let menu = lending.menu(server);
            let is_known = menu.is_some_and(|menu| menu.resources.iter().any(|it| it.uri == uri));
            let is_exact = quoted.is_some() || is_known;
            found.push((server.clone(), if is_exact { uri } else { alone(uri) }.to_owned()));
        }
    }
    found
}

/// An address without what ends the sentence or closes the bracket it stands in.
fn alone(uri: &str) -> &str {
    let less = uri.trim_end_matches([',', ';', ':', '.', '!', '?', '\'', '"']);
    let opens = less.matches('(').count();
    match less.strip_suffix(')').filter(|_| less.matches(')').count() > opens) {
        Some(less) => alone(less),
        None => less,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_before_its_sentence_does() {
        for (said, address) in [
            ("note://1", "note://1"),
            ("note://1.", "note://1"),
            ("note://1),", "note://1"),
            ("note://a.b(c)", "note://a.b(c)"),
            ("note://a(b)).", "note://a(b)"),
            ("note://1?x=1?!", "note://1?x=1"),
        ] {
            assert_eq!(alone(said), address);
        }
    }
}
