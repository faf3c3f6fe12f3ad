//! A SearXNG of the user's own. It must have the format `json` switched on.

use url::Url;

use super::{Ask, Engine, Hit, Reply, SearchError, hits, json_headers, parsed};

pub(super) const NAME: &str = "SearXNG";

/// The engine.
pub(super) struct Searxng {
    url: Url,
}

impl Searxng {
    pub(super) fn new(mut url: Url) -> Self {
        let base = url.path().trim_end_matches('/').to_owned();
        if !base.ends_with("/search") {
            url.set_path(&format!("{base}/search"));
        }
        Self { url }
    }
}

impl Engine for Searxng {
    fn name(&self) -> &'static str {
        NAME
    }

    fn ask(&self, query: &str, _count: usize) -> Ask {
        let mut url = self.url.clone();
        url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
        Ask { url, headers: json_headers(None), body: None }
    }

    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
        hits(parsed(reply, NAME)?.get("results"), NAME, &["content"])
    }
}
