//! AWS Signature Version 4, as far as signed headers and a body in memory go.

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac;
use base::Timestamp;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::aws::Credentials;
use super::{Prepared, escape, header_value, secret_value};
use crate::error::Error;

/// What a signature is good for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    pub(super) at: Timestamp,
}

/// Signs a request: date, session token and signature go into its headers.
pub(super) fn sign(
    request: &mut Prepared,
    credentials: &Credentials,
    scope: Scope<'_>,
) -> Result<(), Error> {
    let stamp = stamp(scope.at);
    let headers = &mut request.headers;
    headers.insert(HeaderName::from_static("x-amz-date"), header_value("x-amz-date", &stamp)?);
    if let Some(token) = &credentials.session_token {
        let name = HeaderName::from_static("x-amz-security-token");
        headers.insert(name, secret_value("x-amz-security-token", token.expose())?);
    }
    let signed = signed_headers(&request.url, headers);
    let names = signed.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
    let canonical = canonical_request(request, &signed, &names);
    let day = stamp.get(..8).unwrap_or_default();
    let place = format!("{day}/{}/{}/aws4_request", scope.region, scope.service);
    let hash = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{place}\n{hash}");
    let key = signing_key(credentials.secret_key.expose(), day, scope);
    let signature = hex(hmac::sign(&key, to_sign.as_bytes()).as_ref());
    let authorization = format!(
        "AWS4-HMAC-SHA256 Credential={}/{place}, SignedHeaders={names}, Signature={signature}",
        credentials.access_key
    );
    request.headers.insert(AUTHORIZATION, secret_value("authorization", &authorization)?);
    Ok(())
}

fn canonical_request(request: &Prepared, signed: &[(String, String)], names: &str) -> String {
    let mut headers = String::new();
    for (name, value) in signed {
        headers.extend([name, ":", value, "\n"]);
    }
    let method = &request.method;
    let (path, query) = (canonical_path(&request.url), canonical_query(&request.url));
    let body = hex(digest(&SHA256, &request.body).as_ref());
    format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{body}")
}

/// Every service but S3 has each segment encoded once more than it is sent.
fn canonical_path(url: &Url) -> String {
    url.path().split('/').map(escape).collect::<Vec<_>>().join("/")
}

fn canonical_query(url: &Url) -> String {
    let mut pairs: Vec<String> = url
        .query_pairs()
        .map(|(name, value)| format!("{}={}", escape(&name), escape(&value)))
        .collect();
    pairs.sort();
    pairs.join("&")
}

/// The host, the content type and AWS's own headers, sorted by name. Others may be changed on their
/// way and are not signed.
fn signed_headers(url: &Url, headers: &HeaderMap) -> Vec<(String, String)> {
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let text = |value: &HeaderValue| {
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut signed = vec![("host".to_owned(), host)];
    for (name, value) in headers {
        if name == "content-type" || name.as_str().starts_with("x-amz-") {
            signed.push((name.as_str().to_owned(), text(value)));
        }
    }
    signed.sort();
    signed
}

fn signing_key(secret: &str, day: &str, scope: Scope<'_>) -> hmac::Key {
    let key = |bytes: &[u8]| hmac::Key::new(hmac::HMAC_SHA256, bytes);
    let first = key(format!("AWS4{secret}").as_bytes());
    [day, scope.region, scope.service, "aws4_request"]
        .into_iter()
        .fold(first, |outer, word| key(hmac::sign(&outer, word.as_bytes()).as_ref()))
}

/// The moment as AWS writes it, such as `20150830T123600Z`.
fn stamp(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    at.strftime("%Y%m%dT%H%M%SZ").to_string()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [byte >> 4, byte & 15].map(|half| DIGITS[usize::from(half)]);
    bytes.iter().flat_map(digits).map(char::from).collect()
}

/// AWS's published test suite for the algorithm.
#[cfg(test)]
mod tests {
    use base::Secret;
    use reqwest::Method;
    use reqwest::header::CONTENT_TYPE;

    use super::*;

    const ROOT: &str = "https://example.amazonaws.com/";
    const TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

    struct Case {
        method: Method,
        url: String,
        content_type: Option<&'static str>,
        body: &'static str,
        token: Option<&'static str>,
        service: &'static str,
    }

    impl Default for Case {
        fn default() -> Self {
            let (method, url, service) = (Method::POST, ROOT.to_owned(), "service");
            Self { method, url, content_type: None, body: "", token: None, service }
        }
    }

    fn signature(case: Case) -> String {
        let form = case.content_type.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind)));
        let mut request = Prepared {
            method: case.method,
            url: Url::parse(&case.url).unwrap(),
            headers: form.into_iter().collect(),
            body: case.body.as_bytes().to_vec(),
        };
        let credentials = Credentials {
            access_key: "AKIDEXAMPLE".into(),
            secret_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: case.token.map(Secret::new),
            expires: None,
        };
        // 2015-08-30T12:36:00Z.
        let at = Timestamp::from_millis(1_440_938_160_000);
        let scope = Scope { region: "us-east-1", service: case.service, at };
        sign(&mut request, &credentials, scope).unwrap();
        let value = request.headers[AUTHORIZATION].to_str().unwrap();
        value.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    #[test]
    fn signs_as_the_published_vectors_say() {
        assert_eq!(
            signature(Case { method: Method::GET, ..Case::default() }),
            "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
        assert_eq!(
            signature(Case::default()),
            "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
        );
        let url = format!("{ROOT}?Param2=value2&Param1=value1");
        assert_eq!(
            signature(Case { method: Method::GET, url, ..Case::default() }),
            "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
        );
        let content_type = Some("application/x-www-form-urlencoded");
        assert_eq!(
            signature(Case { content_type, body: "Param1=value1", ..Case::default() }),
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
        assert_eq!(
            signature(Case { token: Some(TOKEN), ..Case::default() }),
            "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"
        );
    }

    #[test]
    fn signs_the_example_of_the_manual() {
        let url = "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08".to_owned();
        let content_type = Some("application/x-www-form-urlencoded; charset=utf-8");
        let (method, service) = (Method::GET, "iam");
        assert_eq!(
            signature(Case { method, url, content_type, service, ..Case::default() }),
            "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"
        );
    }

    #[test]
    fn encodes_the_path_once_more_than_it_is_sent() {
        let url = Url::parse("https://h/model/us.claude-v1%3A0/invoke").unwrap();
        assert_eq!(canonical_path(&url), "/model/us.claude-v1%253A0/invoke");
    }
}
