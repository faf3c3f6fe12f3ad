//! An answer to a request: kept, asked for again, or new.

use reqwest::Response;
use reqwest::header::ACCEPT;
use url::Url;

use super::cache::{Answer, Cache, Head};
use super::decode::{self, Kind};
use super::{Web, WebError};

/// Bytes read of a body, decompressed.
pub(crate) const BODY_LIMIT: usize = 5 << 20;
/// What is asked for; the same for all formats, so that the cache serves all.
const ACCEPTED: &str =
    "text/markdown, text/html;q=0.9, application/json;q=0.9, text/plain;q=0.8, */*;q=0.5";

impl Web {
    /// The answer an address gives, from `cache` where that is still good.
    pub(crate) async fn load(&self, url: &Url, cache: &Cache) -> Result<Answer, WebError> {
        let kept = {
            let (cache, url) = (cache.clone(), url.clone());
            tokio::task::spawn_blocking(move || cache.get(&url)).await.ok().flatten()
        };
        if let Some(kept) = &kept
            && kept.head.is_fresh(cache.now())
        {
            return Ok(kept.clone());
        }
        let answer = self.ask(url, cache, kept).await?;
        let (store, cache) = (answer.clone(), cache.clone());
        let stored = tokio::task::spawn_blocking(move || cache.put(&store)).await;
        if let Ok(Err(error)) = stored {
            tracing::debug!(%error, "an answer could not be kept");
        }
        Ok(answer)
    }

    async fn ask(
        &self,
        url: &Url,
        cache: &Cache,
        kept: Option<Answer>,
    ) -> Result<Answer, WebError> {
        let mut headers = super::header(ACCEPT, ACCEPTED);
        if let Some(kept) = &kept {
            headers.extend(kept.head.conditions());
        }
        let response = self.get(url, headers).await?;
        let mut head = Head::new(url, response.url(), response.headers(), cache.now());
        if let (304, Some(kept)) = (response.status().as_u16(), kept) {
            return Ok(Answer { head: kept.head.renewed(&head), body: kept.body });
        }
        super::check_status(&response)?;
        // A film is not read to find out that it is none of our business.
        let limit = match decode::told_kind(head.content_type.as_deref()) {
            Some(Kind::Binary) => 0,
            Some(Kind::Html | Kind::Json | Kind::Text | Kind::Pdf) | None => BODY_LIMIT,
        };
        let (body, cut) = read(response, limit).await?;
        head.cut = cut;
        Ok(Answer { head, body })
    }
}

/// Reads a body up to `limit` bytes, and says whether there is more.
pub(super) async fn read(
    mut response: Response,
    limit: usize,
) -> Result<(Vec<u8>, bool), WebError> {
    let mut body = Vec::new();
    loop {
        let Some(chunk) = super::chunk(&mut response).await? else { return Ok((body, false)) };
        let room = limit - body.len();
        if chunk.len() > room {
            body.extend_from_slice(&chunk[..room]);
            return Ok((body, true));
        }
        body.extend_from_slice(&chunk);
    }
}
