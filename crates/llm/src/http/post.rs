//! A JSON document posted to an address of the user's own: no model, no key of ours.

use std::collections::BTreeMap;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use settings::provider::Network;
use url::Url;

use super::{Http, address, failure};
use crate::error::{Class, Error};

/// What is posted, and where.
#[derive(Debug, Clone, Copy)]
pub struct Post<'a> {
    /// The address.
    pub url: &'a str,
    /// Headers besides the content's type; one that is none is left out.
    pub headers: &'a BTreeMap<String, String>,
    /// The document.
    pub body: &'a str,
    /// How to connect.
    pub network: &'a Network,
    /// Most bytes of the answer that are kept.
    pub limit_bytes: usize,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The status.
    pub status: u16,
    /// The body, cut off at the limit.
    pub body: Vec<u8>,
}

impl Http {
    /// Posts a document and reads the answer. Redirects are not followed.
    pub async fn post(&self, post: Post<'_>) -> Result<Posted, Error> {
        let url = Url::parse(post.url).map_err(|error| {
            Error::new(Class::BadRequest, format!("`{}` is not an address: {error}", post.url))
        })?;
        let host = address(&url);
        let failed = |error: reqwest::Error| failure(&error, &host);
        let client = self.client(&url, post.network)?;
        let request = client.post(url.clone()).headers(headers(post.headers));
        let mut response = request
            .header(CONTENT_TYPE, "application/json")
            .body(post.body.to_owned())
            .send()
            .await
            .map_err(failed)?;
        let mut body = Vec::new();
        while body.len() < post.limit_bytes
            && let Some(bytes) = response.chunk().await.map_err(failed)?
        {
            body.extend_from_slice(&bytes);
        }
        body.truncate(post.limit_bytes);
        Ok(Posted { status: response.status().as_u16(), body })
    }
}

fn headers(given: &BTreeMap<String, String>) -> HeaderMap {
    let pair = |(name, value): (&String, &String)| {
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, HeaderValue::from_str(value).ok()?))
    };
    given.iter().filter_map(pair).collect()
}
