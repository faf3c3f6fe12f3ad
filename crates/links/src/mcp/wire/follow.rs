//! Where a server leads a request to: followed within the server itself, and no further.
//!
//! Our clients follow nobody by themselves. Many servers lead from `/mcp` to `/mcp/`.

use http::{Method, StatusCode, header};
use reqwest::{Client, Request, Response};
use url::Url;

/// How often a request is led on.
const HOPS: usize = 3;

/// Why a request has no answer.
#[derive(Debug, thiserror::Error)]
pub(in crate::mcp) enum Astray {
    /// It failed on the way.
    #[error("the request failed")]
    Failed(#[from] reqwest::Error),
    /// Headers hold secrets that are meant for the address in the settings.
    #[error("it leads to {0}, which is another server; if you trust that one, set its url to it")]
    Elsewhere(String),
    /// It is led on and on.
    #[error("it leads on from each address to another")]
    Endless,
}

/// Sends a request as it is, and wherever the server leads it within its own origin.
pub(in crate::mcp) async fn follow(client: &Client, request: Request) -> Result<Response, Astray> {
    let mut next = Some(request);
    for _ in 0..=HOPS {
        let Some(request) = next else { break };
        let (method, url, again) =
            (request.method().clone(), request.url().clone(), request.try_clone());
        let response = client.execute(request).await?;
        let Some(to) = led_to(&method, &url, &response) else { return Ok(response) };
        if to.origin() != url.origin() {
            let origin = Some(to.origin()).filter(url::Origin::is_tuple);
            let scheme = || format!("{}:", to.scheme());
            let named = origin.map_or_else(scheme, |origin| origin.ascii_serialization());
            return Err(Astray::Elsewhere(named));
        }
        next = again.map(|mut again| {
            *again.url_mut() = to;
            again
        });
    }
    Err(Astray::Endless)
}

/// Where a response leads the same request to. Other ways to lead on would make a message a mere look.
fn led_to(method: &Method, url: &Url, response: &Response) -> Option<Url> {
    let is_led = match response.status() {
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => true,
        StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::GET,
        _ => false,
    };
    let to = response.headers().get(header::LOCATION).filter(|_| is_led)?;
    url.join(to.to_str().ok()?).ok()
}
