//! Single sign-on: the token `aws sso login` left behind buys a role's credentials.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base::{Secret, Timestamp};
use serde::Deserialize;

use super::super::escape;
use super::super::remote::{TOKEN_TIMEOUT, ask, moment, refused};
use super::super::sigv4::hex;
use super::{Chain, Credentials, domain};
use crate::error::Error;

/// What a profile says about single sign-on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sso<'a> {
    pub(super) profile: &'a str,
    /// The session's name, or for old profiles its start URL: the cached token's file is named by
    /// its hash.
    pub(super) cache_name: &'a str,
    pub(super) region: &'a str,
    pub(super) account: &'a str,
    pub(super) role: &'a str,
}

pub(super) async fn credentials(chain: &Chain<'_>, sso: &Sso<'_>) -> Result<Credentials, Error> {
    let token = cached_token(chain, sso).await?;
    let host = chain.env.get("AWS_ENDPOINT_URL_SSO").map_or_else(
        || format!("https://portal.sso.{}.{}", sso.region, domain(sso.region)),
        |host| host.trim_end_matches('/').to_owned(),
    );
    let (role, account) = (escape(sso.role), escape(sso.account));
    let url = format!("{host}/federation/credentials?role_name={role}&account_id={account}");
    let request = chain.http.get(url).header("x-amz-sso_bearer_token", token.expose());
    let body = ask(request, TOKEN_TIMEOUT, "AWS single sign-on").await?;
    let answer: Answer = serde_json::from_str(&body).map_err(Error::protocol)?;
    let bought = answer.role_credentials;
    Ok(Credentials {
        access_key: bought.access_key_id,
        secret_key: bought.secret_access_key,
        session_token: Some(bought.session_token),
        expires: Some(Timestamp::from_millis(bought.expiration)),
    })
}

async fn cached_token(chain: &Chain<'_>, sso: &Sso<'_>) -> Result<Secret, Error> {
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, sso.cache_name.as_bytes());
    let file = format!("{}.json", hex(hash.as_ref()));
    let path = chain.aws_folder().join("sso").join("cache").join(file);
    let login = || {
        let message = format!(
            "the AWS single sign-on session has expired: run `aws sso login --profile {}`",
            sso.profile
        );
        refused(message)
    };
    let text = tokio::fs::read_to_string(path).await.map_err(|_| login())?;
    let cached: Cached = serde_json::from_str(&text).map_err(|_| login())?;
    match moment(&cached.expires_at) {
        Some(expires) if expires > chain.clock.now() => Ok(cached.access_token),
        Some(_) | None => Err(login()),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cached {
    access_token: Secret,
    expires_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    role_credentials: Bought,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bought {
    access_key_id: String,
    secret_access_key: Secret,
    session_token: Secret,
    expiration: i64,
}
