//! Where requests go and how they prove who sends them: direct, Azure, Bedrock, Vertex.
//!
//! [`prepare`] is pure: it makes address, headers and bytes of what a wire encoded. What needs the
//! network or files, the clouds' own credentials, comes after it in [`Signer::authorize`].

mod aws;
mod azure;
mod bedrock;
mod direct;
mod google;
mod remote;
mod signer;
mod sigv4;
mod vertex;

use base::Secret;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Map, Value};
use settings::provider::Wire;

use crate::error::{Class, Error};
use crate::framing;
use crate::target::{Auth, Target, Transport};
use crate::wire::Encoded;

pub use signer::Signer;

/// Anthropic's header that lists wanted features.
const BETA: &str = "anthropic-beta";

/// A request, ready to be sent once it is authorized.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// Always `POST`.
    pub method: Method,
    /// The address.
    pub url: Url,
    /// The headers; keys are marked sensitive.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
}

/// Address, headers and body, as one transport wants them.
struct Route {
    url: String,
    body: Map<String, Value>,
    headers: Vec<(&'static str, String)>,
    /// The content type the answer should have.
    accept: &'static str,
}

/// Makes a request of what a wire encoded.
pub fn prepare(encoded: Encoded, target: &Target, streaming: bool) -> Result<Prepared, Error> {
    let route = match &target.transport {
        Transport::Direct | Transport::Demo => direct::route(encoded, target, streaming),
        Transport::Azure { api_version } => {
            azure::route(encoded, target, api_version.as_deref(), streaming)
        }
        Transport::Bedrock { region, .. } => bedrock::route(encoded, target, region, streaming),
        Transport::Vertex { project, location } => {
            vertex::route(encoded, target, vertex::Place { project, location }, streaming)
        }
    };
    let url = Url::parse(&route.url).map_err(|error| {
        let message = format!("`{}` of provider {}: {error}", route.url, target.provider);
        Error::new(Class::BadRequest, message)
    })?;
    let body = serde_json::to_vec(&route.body)
        .map_err(|error| Error::new(Class::BadRequest, error.to_string()))?;
    let headers = headers(&route, target)?;
    Ok(Prepared { method: Method::POST, url, headers, body })
}

fn headers(route: &Route, target: &Target) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(framing::JSON));
    headers.insert(ACCEPT, HeaderValue::from_static(route.accept));
    for (name, value) in &route.headers {
        headers.insert(*name, header_value(name, value)?);
    }
    match &target.auth {
        Auth::Anonymous | Auth::Cloud => {}
        Auth::Bearer(token) => {
            headers.insert(AUTHORIZATION, bearer(token)?);
        }
        Auth::Header { name, value } => {
            headers.insert(header_name(name)?, secret_value(name, value.expose())?);
        }
    }
    for (name, value) in &target.headers {
        let key = header_name(name)?;
        match headers.get(&key).and_then(|known| known.to_str().ok()) {
            Some(_) | None if value.is_empty() => {
                headers.remove(key);
            }
            // A list: what the wire needs and what the user wants go together.
            Some(known) if key == BETA => {
                headers.insert(key, header_value(name, &format!("{known},{value}"))?);
            }
            Some(_) | None => {
                headers.insert(key, secret_value(name, value)?);
            }
        }
    }
    Ok(headers)
}

fn bearer(token: &Secret) -> Result<HeaderValue, Error> {
    secret_value("authorization", &format!("Bearer {}", token.expose()))
}

fn header_name(name: &str) -> Result<HeaderName, Error> {
    HeaderName::try_from(name)
        .map_err(|_| Error::new(Class::BadRequest, format!("`{name}` is no name for a header")))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue, Error> {
    HeaderValue::try_from(value).map_err(|_| {
        let message = format!("the header `{name}` has characters that cannot be sent");
        Error::new(Class::BadRequest, message)
    })
}

fn secret_value(name: &str, value: &str) -> Result<HeaderValue, Error> {
    let mut value = header_value(name, value)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Percent-encodes everything but unreserved characters, as AWS and Google want path segments.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                escaped.push(char::from(byte));
            }
            _ => {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                escaped.push('%');
                escaped.push(char::from(DIGITS[usize::from(byte >> 4)]));
                escaped.push(char::from(DIGITS[usize::from(byte & 15)]));
            }
        }
    }
    escaped
}

/// Says in the body whether the answer is streamed, on the wires that say it there.
fn set_stream(body: &mut Map<String, Value>, wire: Wire, streaming: bool) {
    match wire {
        Wire::AnthropicMessages | Wire::OpenaiChat | Wire::OpenaiResponses => {
            if streaming {
                body.insert("stream".into(), true.into());
            } else {
                body.shift_remove("stream");
                body.shift_remove("stream_options");
            }
        }
        Wire::Gemini | Wire::BedrockConverse => {}
    }
}

fn sse_or_whole(streaming: bool) -> &'static str {
    if streaming { framing::SSE } else { framing::JSON }
}

#[cfg(test)]
mod tests;
