//! The pages of one run: each is fetched once, and remembered as a source.
//!
//! A page that is short is read at once. A long one is saved in the session's folder, for `view` and `grep`;
//! only its beginning is read.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use guard::Fence;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::cache::Cache;
use super::frame::{self, framed};
use super::page::Format;
use super::readable::{Readable, rendered};
use super::{TIMEOUT, Web, WebError, host};
use crate::search::grouped;
use crate::tool::ToolError;

/// Bytes of a page that are read at once; what is longer is saved.
pub const INLINE_LIMIT: usize = 50_000;
/// Bytes shown of a page that is saved.
const GLIMPSE: usize = 2_000;
/// Pages fetched in one run: more is a loop, not research.
const PAGE_LIMIT: usize = 200;
/// Bytes saved in one run.
const SAVED_LIMIT: usize = 100 << 20;
/// Names tried for a file before something else is wrong.
const NAMES: usize = 1_000;

/// The pages of a run. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visits(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    by_url: HashMap<Url, Arc<OnceCell<Visited>>>,
    sources: Vec<Source>,
    saved: usize,
    saved_bytes: usize,
}

/// A page that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it came from, redirects followed.
    pub url: Url,
    /// What it calls itself; its host if it has no name.
    pub title: String,
}

/// What a model reads of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visited {
    /// Where it came from.
    pub source: Source,
    /// What the model reads: the page in its frame, or where it is saved and how it begins.
    pub text: String,
    /// The file it is saved in, by the name the session knows.
    pub saved: Option<String>,
}

/// Whether a page had to be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It was fetched now.
    New,
    /// It was fetched before in this run.
    Known,
}

/// Fetches pages for one session.
pub struct Visitor<'a> {
    /// How the web is reached; it remembers the run's pages.
    pub web: &'a Web,
    /// Where answers are kept from run to run.
    pub cache: &'a Path,
    /// The session's folder, where long pages are saved.
    pub fence: &'a Fence,
    /// The time.
    pub clock: &'a base::Clock,
    /// Ends the visit.
    pub cancel: &'a CancellationToken,
}

impl Visitor<'_> {
    /// Reads a page; one that was fetched in this run is not fetched again, and one that is being fetched
    /// is waited for.
    pub async fn visit(&self, address: &str) -> Result<(Visited, Freshness), ToolError> {
        let mut url = self.web.address(address)?;
        url.set_fragment(None);
        let page = self.web.visits.page(&url)?;
        if let Some(known) = page.get() {
            return Ok((known.clone(), Freshness::Known));
        }
        let mut freshness = Freshness::Known;
        let visited = page.get_or_try_init(|| async {
            freshness = Freshness::New;
            self.fetch(&url).await
        });
        let visited = visited.await?.clone();
        Ok((visited, freshness))
    }

    async fn fetch(&self, url: &Url) -> Result<Visited, ToolError> {
        let cache = Cache::new(self.cache.join("fetch"), self.clock.clone());
        let loading = tokio::time::timeout(TIMEOUT, self.web.load(url, &cache));
        let answer = match self.cancel.run_until_cancelled(loading).await {
            Some(Ok(answer)) => answer?,
            Some(Err(_)) => {
                return Err(WebError::Slow { host: host(url), seconds: TIMEOUT.as_secs() }.into());
            }
            None => return Err(ToolError::Cancelled),
        };
        let from = answer.head.url.clone();
        let Readable { title, text } = rendered(answer, Format::Markdown, self.cancel).await?;
        let title = frame::line(&title, 200);
        let title = if title.is_empty() { host(&from) } else { title };
        let source = Source { url: from, title };
        let visited = if text.len() > INLINE_LIMIT {
            self.keep(source, &text)?
        } else {
            let text = framed(source.url.as_str(), &text);
            Visited { source, text, saved: None }
        };
        self.web.visits.remember(&visited.source);
        Ok(visited)
    }

    /// Saves a long page. A session with a folder of the user's own gets only the beginning, for pages are
    /// not put among the user's files; so does one that has saved too much.
    fn keep(&self, source: Source, text: &str) -> Result<Visited, ToolError> {
        let text = frame::defused(text);
        let glimpse = |limit: usize| {
            let end = text.floor_char_boundary(limit);
            let end = text[..end].rfind('\n').filter(|line| end - line < 500).unwrap_or(end);
            framed(source.url.as_str(), &text[..end])
        };
        if !self.fence.is_confined() || !self.web.visits.has_room(text.len()) {
            let shown = glimpse(INLINE_LIMIT);
            let note = format!("(cut: the page has {} bytes)\n", grouped(text.len()));
            return Ok(Visited { text: shown + &note, source, saved: None });
        }
        let name = self.save(&source.url, &text)?;
        let (bytes, lines) = (grouped(text.len()), grouped(text.lines().count()));
        let told = format!(
            "The page is long ({bytes} bytes, {lines} lines) and saved as {name}. Search it with grep, \
             or read parts of it with view. It begins:\n{}",
            glimpse(GLIMPSE)
        );
        Ok(Visited { text: told, source, saved: Some(name) })
    }

    fn save(&self, url: &Url, text: &str) -> Result<String, ToolError> {
        let place = slug(url.host_str().unwrap_or_default());
        for _ in 0..NAMES {
            let number = self.web.visits.next_number();
            let spot = self.fence.locate(format!("page-{number}-{place}.md"))?;
            match self.fence.open(&spot) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Ok(_) | Err(_) => continue,
            }
            let name = self.fence.name(&spot);
            return match self.fence.replace(&spot, text.as_bytes()) {
                Ok(()) => Ok(name),
                Err(source) => Err(ToolError::Io { what: "save", path: spot.asked, source }),
            };
        }
        Err(ToolError::Refused("the page is long and no file could be made for it".to_owned()))
    }
}

impl Visits {
    pub(crate) fn sources(&self) -> Vec<Source> {
        self.lock().sources.clone()
    }

    /// Takes a page as a source, once: several addresses may lead to it.
    fn remember(&self, source: &Source) {
        let sources = &mut self.lock().sources;
        if !sources.iter().any(|known| known.url == source.url) {
            sources.push(source.clone());
        }
    }

    fn page(&self, url: &Url) -> Result<Arc<OnceCell<Visited>>, ToolError> {
        let mut pages = self.lock();
        if pages.by_url.len() >= PAGE_LIMIT && !pages.by_url.contains_key(url) {
            let text =
                format!("{PAGE_LIMIT} pages were asked for already; work with what you have");
            return Err(ToolError::Refused(text));
        }
        Ok(pages.by_url.entry(url.clone()).or_default().clone())
    }

    /// Takes room for a page that is to be saved, if there is any left.
    fn has_room(&self, bytes: usize) -> bool {
        let mut pages = self.lock();
        let after = pages.saved_bytes.saturating_add(bytes);
        let fits = after <= SAVED_LIMIT;
        if fits {
            pages.saved_bytes = after;
        }
        fits
    }

    fn next_number(&self) -> usize {
        let mut pages = self.lock();
        pages.saved += 1;
        pages.saved
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A host as part of a file's name.
fn slug(host: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = host.chars().take(40).map(plain).collect();
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_two_addresses_lead_to_is_one_source() {
        let visits = Visits::default();
        let source = |url: &str| Source { url: url.parse().unwrap(), title: String::new() };
        for url in ["https://a.example/", "https://b.example/", "https://a.example/"] {
            visits.remember(&source(url));
        }
        assert_eq!(visits.sources().len(), 2);
    }

    #[test]
    fn hosts_become_plain_names() {
        assert_eq!(slug("www.Example.com"), "www-example-com");
        assert_eq!(slug("[::1]"), "1");
        assert_eq!(slug(&"x.".repeat(100)).len(), 39);
    }
}
