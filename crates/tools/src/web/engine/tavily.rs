//! Tavily's search API.

use base::Secret;
use reqwest::header::AUTHORIZATION;
use serde_json::json;
use url::Url;

use super::{Ask, Engine, Hit, Reply, SearchError, endpoint, hits, json_headers, parsed};

pub(super) const NAME: &str = "Tavily";

/// The engine.
pub(super) struct Tavily {
    url: Url,
    key: Secret,
}

impl Tavily {
    pub(super) fn new(own: Option<Url>, key: &Secret) -> Result<Self, SearchError> {
        let url = endpoint(own, "/search", "https://api.tavily.com/search")?;
        Ok(Self { url, key: key.clone() })
    }
}

impl Engine for Tavily {
    fn name(&self) -> &'static str {
        NAME
    }

    fn ask(&self, query: &str, count: usize) -> Ask {
        let key = format!("Bearer {}", self.key.expose());
        let body = json!({ "query": query, "max_results": count });
        let headers = json_headers(Some((AUTHORIZATION, &key)));
        Ask { url: self.url.clone(), headers, body: Some(body) }
    }

    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
        hits(parsed(reply, NAME)?.get("results"), NAME, &["content"])
    }
}
