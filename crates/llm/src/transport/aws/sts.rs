//! Roles assumed with other credentials, or with a token a cluster hands out.

use base::Secret;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, Url};
use url::form_urlencoded::Serializer;

use super::super::Prepared;
use super::super::remote::{TOKEN_TIMEOUT, ask, moment, refused};
use super::super::sigv4::{self, Scope};
use super::{Chain, Credentials, domain};
use crate::error::Error;

/// A role to assume.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role<'a> {
    pub(super) arn: &'a str,
    pub(super) session_name: Option<&'a str>,
    pub(super) external_id: Option<&'a str>,
}

/// Assumes `role` with `credentials`.
pub(super) async fn assume(
    chain: &Chain<'_>,
    credentials: &Credentials,
    role: Role<'_>,
) -> Result<Credentials, Error> {
    let name = ("RoleSessionName", role.session_name.unwrap_or("caiman"));
    let id = role.external_id.map(|id| ("ExternalId", id));
    let form = form("AssumeRole", role.arn, [name].into_iter().chain(id));
    let mut request = request(chain, form)?;
    let scope = Scope { region: chain.region, service: "sts", at: chain.clock.now() };
    sigv4::sign(&mut request, credentials, scope)?;
    send(chain, request).await
}

/// Assumes the role `arn` with the token in `file`.
pub(super) async fn with_web_identity(
    chain: &Chain<'_>,
    arn: &str,
    file: &str,
) -> Result<Credentials, Error> {
    let token = tokio::fs::read_to_string(file)
        .await
        .map_err(|error| refused(format_args!("cannot read {file}: {error}")))?;
    let name = chain.env.get("AWS_ROLE_SESSION_NAME").unwrap_or("caiman");
    let more = [("RoleSessionName", name), ("WebIdentityToken", token.trim())];
    send(chain, request(chain, form("AssumeRoleWithWebIdentity", arn, more))?).await
}

fn form<'a>(action: &str, arn: &str, more: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    Serializer::new(String::new())
        .append_pair("Action", action)
        .append_pair("Version", "2011-06-15")
        .append_pair("RoleArn", arn)
        .extend_pairs(more)
        .finish()
}

fn request(chain: &Chain<'_>, body: String) -> Result<Prepared, Error> {
    let usual = || format!("https://sts.{}.{}/", chain.region, domain(chain.region));
    let address = chain.env.get("AWS_ENDPOINT_URL_STS").map_or_else(usual, str::to_owned);
    let url = Url::parse(&address).map_err(refused)?;
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, form)]);
    let body = body.into_bytes();
    Ok(Prepared { method: Method::POST, url, headers, body })
}

async fn send(chain: &Chain<'_>, request: Prepared) -> Result<Credentials, Error> {
    let sent =
        chain.http.request(request.method, request.url).headers(request.headers).body(request.body);
    let xml = ask(sent, TOKEN_TIMEOUT, "AWS STS").await?;
    let field = |name: &str| {
        element(&xml, name)
            .ok_or_else(|| Error::protocol(format_args!("an STS answer without {name}")))
    };
    Ok(Credentials {
        access_key: field("AccessKeyId")?.to_owned(),
        secret_key: Secret::new(field("SecretAccessKey")?),
        session_token: Some(Secret::new(field("SessionToken")?)),
        expires: moment(field("Expiration")?),
    })
}

/// The text of the first element of that name. None of the values STS sends needs unescaping.
fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(value, _)| value.trim())
}
