//! DuckDuckGo, by the pages it has for browsers without scripts: one with summaries in boxes, and a lighter
//! one made of table rows, which is asked when the first fails.

use dom_query::{Document, Selection};
use reqwest::header::ACCEPT;
use url::Url;

use super::{Ask, Engine, Hit, Reply, SearchError, endpoint};
use crate::web::header;

pub(super) const NAME: &str = "DuckDuckGo";

/// What is on the page that is shown in place of results to whoever asks too often.
const ANOMALY: [&str; 5] =
    ["anomaly-modal", "anomaly.js", "anomaly_modal", "challenge-form", "bots use DuckDuckGo too"];
/// What is on a page that has searched and found nothing.
const NOTHING: [&str; 3] = ["no-results", "No results.", "No  results."];

/// The page with summaries in boxes.
pub(super) struct Pages(Url);

/// The page made of table rows.
pub(super) struct Lite(Url);

/// Both, on their usual hosts or on the user's.
pub(super) fn both(own: Option<Url>) -> Result<(Pages, Lite), SearchError> {
    let pages = endpoint(own.clone(), "/html/", "https://html.duckduckgo.com/html/")?;
    let lite = endpoint(own, "/lite/", "https://lite.duckduckgo.com/lite/")?;
    Ok((Pages(pages), Lite(lite)))
}

impl Engine for Pages {
    fn name(&self) -> &'static str {
        NAME
    }

    fn ask(&self, query: &str, _count: usize) -> Ask {
        ask(&self.0, query)
    }

    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
        let page = opened(reply)?;
        let boxes = page.select(".result");
        let hits =
            boxes.iter().filter(|result| !result.has_class("result--ad")).filter_map(|result| {
                let link = result.select("a.result__a");
                let href = link.attr("href")?;
                Hit::new(&text(&link), &target(&href)?, &text(&result.select(".result__snippet")))
            });
        checked(hits.collect(), reply)
    }
}

impl Engine for Lite {
    fn name(&self) -> &'static str {
        NAME
    }

    fn ask(&self, query: &str, _count: usize) -> Ask {
        ask(&self.0, query)
    }

    fn read(&self, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
        let page = opened(reply)?;
        let mut hits: Vec<Hit> = Vec::new();
        let mut open = false;
        // A result is three rows: the link, the summary, the address.
        for row in page.select("tr").iter().filter(|row| !row.select("tr").exists()) {
            let is_ad = row.has_class("result-sponsored");
            let link = row.select("a.result-link");
            if let Some(href) = link.attr("href") {
                let hit = target(&href).filter(|_| !is_ad);
                let hit = hit.and_then(|url| Hit::new(&text(&link), &url, ""));
                open = hit.is_some();
                hits.extend(hit);
            } else if let (true, Some(hit)) = (open, hits.last_mut()) {
                let summary = row.select("td.result-snippet");
                if summary.exists() {
                    hit.snippet = text(&summary);
                    open = false;
                }
            }
        }
        checked(hits, reply)
    }
}

fn ask(url: &Url, query: &str) -> Ask {
    let mut url = url.clone();
    url.query_pairs_mut().append_pair("q", query);
    Ask { url, headers: header(ACCEPT, "text/html"), body: None }
}

/// The page, unless it says that we ask too often.
fn opened(reply: &Reply<'_>) -> Result<Document, SearchError> {
    let is_anomaly = reply.status == 202 || ANOMALY.iter().any(|mark| reply.body.contains(mark));
    if is_anomaly {
        return Err(SearchError::RateLimited(NAME));
    }
    Ok(Document::from(reply.body))
}

/// Hits, or none if the page says so; a page with neither is not a page of results.
fn checked(hits: Vec<Hit>, reply: &Reply<'_>) -> Result<Vec<Hit>, SearchError> {
    let says_nothing = || NOTHING.iter().any(|mark| reply.body.contains(mark));
    if hits.is_empty() && !says_nothing() {
        return Err(SearchError::Unreadable(NAME));
    }
    Ok(hits)
}

fn text(found: &Selection<'_>) -> String {
    let text = found.first().text();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where a link really leads: `//duckduckgo.com/l/?uddg=…` passes by the engine. None for an advert.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com/").ok()?;
    let url = base.join(href).ok()?;
    let host = url.host_str()?;
    if host != "duckduckgo.com" && !host.ends_with(".duckduckgo.com") {
        return Some(url.into());
    }
    if url.path() == "/y.js" {
        return None;
    }
    let passed = url.query_pairs().find(|(name, _)| name == "uddg");
    match passed {
        // An advert passes by twice.
        Some((_, to)) if to.contains("duckduckgo.com/y.js") => None,
        Some((_, to)) => Some(to.into_owned()),
        None => None,
    }
}
