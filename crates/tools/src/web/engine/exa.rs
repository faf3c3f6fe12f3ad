//! Exa's search API.

use base::Secret;
use reqwest::header::HeaderName;
use serde_json::json;
use url::Url;

use super::{Ask, Engine, Hit, Reply, SearchError, endpoint, hits, json_headers, parsed};

pub(super) const NAME: &str = "Exa";
/// Characters of a page that it sends along.
const SNIPPET_CHARS: usize = 400;

/// The engine.
pub(super) struct Exa {
    url: Url,
    key: Secret,
}

impl Exa {
    pub(super) fn new(own: Option<Url>, key: &Secret) -> Result<Self, SearchError> {
        let url = endpoint(own, "/search", "https://api.exa.ai/search")?;
        Ok(Self { url, key: key.clone() })
    }
}

impl Engine for Exa {
    fn name(&self) -> &'static str {
        NAME
    }

    fn ask(&self, query: &str, count: usize) -> Ask {
        let contents = json!({ "text": { "maxCharacters": SNIPPET_CHARS } });
        let body = json!({ "query": query, "numResults": count, "contents": contents });
        let key = (HeaderName::from_static("x-api-key"), self.key.expose());
        Ask { url: self.url.clone(), headers: json_headers(Some(key)), body: Some(body) }
    }

    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
        hits(parsed(reply, NAME)?.get("results"), NAME, &["summary", "highlights", "text"])
    }
}
