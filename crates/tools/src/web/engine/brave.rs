//! Brave's search API.

use base::Secret;
use reqwest::header::HeaderName;
use url::Url;

use super::{Ask, Engine, Hit, Reply, SearchError, endpoint, hits, json_headers, parsed};

pub(super) const NAME: &str = "Brave";

/// The engine.
pub(super) struct Brave {
    url: Url,
    key: Secret,
}

impl Brave {
    pub(super) fn new(own: Option<Url>, key: &Secret) -> Result<Self, SearchError> {
        let path = "/res/v1/web/search";
        let url = endpoint(own, path, "https://api.search.brave.com/res/v1/web/search")?;
        Ok(Self { url, key: key.clone() })
    }
}

impl Engine for Brave {
    fn name(&self) -> &'static str {
        NAME
    }

    fn ask(&self, query: &str, count: usize) -> Ask {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("q", query).append_pair("count", &count.to_string());
        let key = (HeaderName::from_static("x-subscription-token"), self.key.expose());
        Ask { url, headers: json_headers(Some(key)), body: None }
    }

    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
        let answer = parsed(reply, NAME)?;
        // A search that finds nothing has no part for pages at all.
        match answer.get("web") {
            None if answer.is_object() => Ok(Vec::new()),
            web => hits(web.and_then(|web| web.get("results")), NAME, &["description"]),
        }
    }
}
