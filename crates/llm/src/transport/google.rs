//! Google's application default credentials: a file, or the machine's own account.

use std::path::PathBuf;
use std::time::Duration;

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use base::{Clock, Env, Paths, Secret, Timestamp};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded::Serializer;

use super::bearer;
use super::remote::{METADATA_TIMEOUT, TOKEN_TIMEOUT, ask, moment, refused};
use crate::error::{Class, Error};

const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
const METADATA_HOST: &str = "metadata.google.internal";
/// The longest life Google gives a token.
const TOKEN_LIFE: Duration = Duration::from_hours(1);

/// A bearer token, and the project that pays where the credentials name one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) secret: Secret,
    pub(super) expires: Timestamp,
    pub(super) quota_project: Option<String>,
}

/// Where to look.
pub(super) struct Chain<'a> {
    pub(super) http: &'a Client,
    pub(super) env: &'a Env,
    pub(super) paths: &'a Paths,
    pub(super) clock: &'a Clock,
}

impl Chain<'_> {
    /// A fresh token: by the file a variable names, by gcloud's file, or by the metadata server.
    pub(super) async fn find(&self) -> Result<Token, Error> {
        let named = self.env.get("GOOGLE_APPLICATION_CREDENTIALS").map(PathBuf::from);
        let path = named.clone().unwrap_or_else(|| self.gcloud_file());
        let text = match (tokio::fs::read_to_string(&path).await, named) {
            (Ok(text), _) => text,
            (Err(_), None) => return self.machine().await,
            (Err(error), Some(_)) => {
                return Err(refused(format_args!("cannot read {}: {error}", path.display())));
            }
        };
        let unreadable =
            |error| refused(format_args!("{} is no credentials file: {error}", path.display()));
        let file: CredentialsFile = serde_json::from_str(&text).map_err(unreadable)?;
        match file {
            CredentialsFile::AuthorizedUser(user) => self.user(&user).await,
            CredentialsFile::ServiceAccount(service) => self.service(&service).await,
            CredentialsFile::ImpersonatedServiceAccount(file) => self.impersonate(file).await,
        }
    }

    fn gcloud_file(&self) -> PathBuf {
        let usual = || match self.env.get("APPDATA").filter(|_| cfg!(windows)) {
            Some(folder) => PathBuf::from(folder).join("gcloud"),
            None => self.paths.home().join(".config").join("gcloud"),
        };
        let folder = self.env.get("CLOUDSDK_CONFIG").map_or_else(usual, PathBuf::from);
        folder.join("application_default_credentials.json")
    }

    async fn user(&self, user: &User) -> Result<Token, Error> {
        let form = Serializer::new(String::new())
            .append_pair("grant_type", "refresh_token")
            .append_pair("client_id", &user.client_id)
            .append_pair("client_secret", user.client_secret.expose())
            .append_pair("refresh_token", user.refresh_token.expose())
            .finish();
        let mut token = self.exchange(user.token_uri.as_deref(), form).await?;
        token.quota_project.clone_from(&user.quota_project_id);
        Ok(token)
    }

    async fn service(&self, service: &Service) -> Result<Token, Error> {
        let url = service.token_uri.as_deref().unwrap_or(TOKEN_URL);
        let form = Serializer::new(String::new())
            .append_pair("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
            .append_pair("assertion", &assertion(service, url, self.clock.now())?)
            .finish();
        self.exchange(Some(url), form).await
    }

    async fn exchange(&self, url: Option<&str>, form: String) -> Result<Token, Error> {
        let request = self
            .http
            .post(url.unwrap_or(TOKEN_URL))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        let body = ask(request, TOKEN_TIMEOUT, "Google's token server").await?;
        self.granted(&body)
    }

    fn granted(&self, body: &str) -> Result<Token, Error> {
        let granted: Granted = serde_json::from_str(body).map_err(Error::protocol)?;
        let life = granted.expires_in.unwrap_or(TOKEN_LIFE.as_secs());
        let life = i64::try_from(life.saturating_mul(1000)).unwrap_or(i64::MAX);
        let expires = self.clock.now().as_millis().saturating_add(life);
        let expires = Timestamp::from_millis(expires);
        Ok(Token { secret: granted.access_token, expires, quota_project: None })
    }

    async fn impersonate(&self, file: Impersonation) -> Result<Token, Error> {
        let own = match &file.source_credentials {
            Account::AuthorizedUser(user) => self.user(user).await?,
            Account::ServiceAccount(service) => self.service(service).await?,
        };
        let life = format!("{}s", TOKEN_LIFE.as_secs());
        let wish = json!({ "scope": [SCOPE], "lifetime": life, "delegates": file.delegates });
        let request = self
            .http
            .post(file.service_account_impersonation_url)
            .header(AUTHORIZATION, bearer(&own.secret)?)
            .header(CONTENT_TYPE, "application/json")
            .body(wish.to_string());
        let body = ask(request, TOKEN_TIMEOUT, "Google's impersonation server").await?;
        let lent: Lent = serde_json::from_str(&body).map_err(Error::protocol)?;
        let expires = moment(&lent.expire_time).unwrap_or_else(|| self.clock.now());
        Ok(Token { secret: lent.access_token, expires, quota_project: file.quota_project_id })
    }

    async fn machine(&self) -> Result<Token, Error> {
        let host = self.env.get("GCE_METADATA_HOST").unwrap_or(METADATA_HOST);
        let url =
            format!("http://{host}/computeMetadata/v1/instance/service-accounts/default/token");
        let request = self.http.get(url).header("metadata-flavor", "Google");
        match ask(request, METADATA_TIMEOUT, "Google's metadata server").await {
            Ok(body) => self.granted(&body),
            Err(error) if matches!(error.class, Class::Network | Class::Timeout) => Err(refused(
                "no Google credentials: run `gcloud auth application-default login`, or set \
                 GOOGLE_APPLICATION_CREDENTIALS to a credentials file",
            )),
            Err(error) => Err(error),
        }
    }
}

/// A service account's claim, signed with its key: RS256 over two base64 parts.
fn assertion(service: &Service, audience: &str, now: Timestamp) -> Result<String, Error> {
    let issued = now.as_millis() / 1000;
    let header = json!({ "alg": "RS256", "typ": "JWT", "kid": service.private_key_id });
    let claims = json!({
        "iss": service.client_email,
        "scope": SCOPE,
        "aud": audience,
        "iat": issued,
        "exp": issued + 3600,
    });
    let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&header), part(&claims));
    let broken = || refused("the private key of Google's credentials file is unreadable");
    let key: String = service
        .private_key
        .expose()
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .map(str::trim)
        .collect();
    let key = STANDARD.decode(key).map_err(|_| broken())?;
    let key = RsaKeyPair::from_pkcs8(&key).map_err(|_| broken())?;
    let mut signature = vec![0; key.public_modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message.as_bytes(), &mut signature)
        .map_err(|_| broken())?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CredentialsFile {
    AuthorizedUser(User),
    ServiceAccount(Service),
    ImpersonatedServiceAccount(Impersonation),
}

#[derive(Deserialize)]
struct Impersonation {
    service_account_impersonation_url: String,
    source_credentials: Account,
    #[serde(default)]
    delegates: Vec<String>,
    quota_project_id: Option<String>,
}

/// What may stand behind an impersonation.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Account {
    AuthorizedUser(User),
    ServiceAccount(Service),
}

#[derive(Deserialize)]
struct User {
    client_id: String,
    client_secret: Secret,
    refresh_token: Secret,
    quota_project_id: Option<String>,
    token_uri: Option<String>,
}

#[derive(Deserialize)]
struct Service {
    client_email: String,
    private_key: Secret,
    private_key_id: Option<String>,
    token_uri: Option<String>,
}

#[derive(Deserialize)]
struct Granted {
    access_token: Secret,
    expires_in: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lent {
    access_token: Secret,
    expire_time: String,
}
