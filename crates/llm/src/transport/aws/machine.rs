//! Credentials the machine itself has: a container's endpoint, an EC2 instance's role.

use reqwest::header::AUTHORIZATION;

use super::super::remote::{METADATA_TIMEOUT, ask, refused};
use super::super::secret_value;
use super::{Chain, Credentials, Printed};
use crate::error::Error;

/// Where containers find their credentials.
const CONTAINER_HOST: &str = "http://169.254.170.2";
/// Where instances find their metadata.
const INSTANCE_HOST: &str = "http://169.254.169.254";

/// The credentials of a container's task; none outside of one.
pub(super) async fn from_container(chain: &Chain<'_>) -> Result<Option<Credentials>, Error> {
    let env = chain.env;
    let relative = env.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let url = match (relative, env.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
        (Some(path), _) => format!("{CONTAINER_HOST}{path}"),
        (None, Some(url)) => url.to_owned(),
        (None, None) => return Ok(None),
    };
    let mut request = chain.http.get(url);
    let token = match env.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(file) => Some(
            tokio::fs::read_to_string(file)
                .await
                .map_err(|error| refused(format_args!("cannot read {file}: {error}")))?,
        ),
        None => env.get("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(str::to_owned),
    };
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, secret_value("authorization", token.trim())?);
    }
    let body = ask(request, METADATA_TIMEOUT, "the AWS container endpoint").await?;
    read(&body).map(Some)
}

/// The credentials of an instance's role; none outside of EC2.
pub(super) async fn from_instance(chain: &Chain<'_>) -> Result<Option<Credentials>, Error> {
    const WHAT: &str = "the EC2 metadata service";
    if chain
        .env
        .get("AWS_EC2_METADATA_DISABLED")
        .is_some_and(|off| off.eq_ignore_ascii_case("true"))
    {
        return Ok(None);
    }
    let host = chain.env.get("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or(INSTANCE_HOST);
    let host = host.trim_end_matches('/');
    let request = chain
        .http
        .put(format!("{host}/latest/api/token"))
        .header("x-aws-ec2-metadata-token-ttl-seconds", "300");
    // Other clouds have a server at the same address, which does not know the question.
    let Ok(token) = ask(request, METADATA_TIMEOUT, WHAT).await else { return Ok(None) };
    let get = |path: String| {
        let url = format!("{host}/latest/meta-data/iam/security-credentials/{path}");
        let request = chain.http.get(url).header("x-aws-ec2-metadata-token", &token);
        ask(request, METADATA_TIMEOUT, WHAT)
    };
    let role = match get(String::new()).await {
        Ok(role) => role,
        Err(error) if error.status == Some(404) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(role) = role.lines().next().map(str::trim).filter(|role| !role.is_empty()) else {
        return Ok(None);
    };
    read(&get(role.to_owned()).await?).map(Some)
}

fn read(body: &str) -> Result<Credentials, Error> {
    serde_json::from_str::<Printed>(body).map(Credentials::from).map_err(Error::protocol)
}
