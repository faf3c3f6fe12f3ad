//! AWS credentials, found where AWS's own tools find them.

mod machine;
mod profile;
mod sso;
mod sts;

use std::path::PathBuf;
use std::sync::Arc;

use base::{Clock, CommandLine, Env, Paths, RunCommand, Secret, Timestamp};
use reqwest::Client;
use serde::Deserialize;

use self::profile::Profiles;
use super::remote::{moment, refused};
use crate::error::Error;

/// How many profiles may lean on one another before we call it a circle.
const PROFILE_DEPTH: usize = 5;

/// What signs requests.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Credentials {
    pub(super) access_key: String,
    pub(super) secret_key: Secret,
    pub(super) session_token: Option<Secret>,
    pub(super) expires: Option<Timestamp>,
}

/// Where to look.
pub(super) struct Chain<'a> {
    pub(super) http: &'a Client,
    pub(super) env: &'a Env,
    pub(super) paths: &'a Paths,
    pub(super) clock: &'a Clock,
    pub(super) run: &'a Arc<dyn RunCommand>,
    pub(super) region: &'a str,
}

impl Chain<'_> {
    /// The first credentials found: a profile the settings name, else environment, web identity,
    /// the usual profile, container, machine.
    pub(super) async fn find(&self, profile: Option<&str>) -> Result<Credentials, Error> {
        if let Some(name) = profile {
            return self.profile(name).await;
        }
        if let Some(credentials) = self.environment() {
            return Ok(credentials);
        }
        if let (Some(file), Some(role)) =
            (self.env.get("AWS_WEB_IDENTITY_TOKEN_FILE"), self.env.get("AWS_ROLE_ARN"))
        {
            return sts::with_web_identity(self, role, file).await;
        }
        let named = self.env.get("AWS_PROFILE").or_else(|| self.env.get("AWS_DEFAULT_PROFILE"));
        if let Some(name) = named {
            return self.profile(name).await;
        }
        if self.profiles().await?.get("default").is_some_and(profile::Profile::has_credentials) {
            return self.profile("default").await;
        }
        if let Some(credentials) = machine::from_container(self).await? {
            return Ok(credentials);
        }
        if let Some(credentials) = machine::from_instance(self).await? {
            return Ok(credentials);
        }
        Err(refused(
            "no AWS credentials: set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and \
             AWS_SECRET_ACCESS_KEY, or AWS_PROFILE (looked also in the AWS files of the home \
             folder, for container credentials and for an EC2 role)",
        ))
    }

    fn environment(&self) -> Option<Credentials> {
        Some(Credentials {
            access_key: self.env.get("AWS_ACCESS_KEY_ID")?.to_owned(),
            secret_key: Secret::new(self.env.get("AWS_SECRET_ACCESS_KEY")?),
            session_token: self.env.get("AWS_SESSION_TOKEN").map(Secret::new),
            expires: None,
        })
    }

    async fn profile(&self, name: &str) -> Result<Credentials, Error> {
        let profiles = self.profiles().await?;
        self.resolve(&profiles, name).await
    }

    async fn profiles(&self) -> Result<Profiles, Error> {
        let home = self.aws_folder();
        let file = |variable: &str, usual: &str| {
            self.env.get(variable).map_or_else(|| home.join(usual), PathBuf::from)
        };
        let config = file("AWS_CONFIG_FILE", "config");
        let credentials = file("AWS_SHARED_CREDENTIALS_FILE", "credentials");
        Profiles::read(&config, &credentials).await
    }

    fn aws_folder(&self) -> PathBuf {
        self.paths.home().join(".aws")
    }

    /// Follows a profile to credentials; a role is assumed with those of the profile it leans on.
    async fn resolve(&self, profiles: &Profiles, name: &str) -> Result<Credentials, Error> {
        let mut roles = Vec::new();
        let mut name = name;
        let mut credentials = loop {
            let missing = || refused(format_args!("there is no AWS profile `{name}`"));
            let profile = profiles.get(name).ok_or_else(missing)?;
            let Some(role) = profile.role() else { break self.plain(profiles, profile).await? };
            if roles.len() == PROFILE_DEPTH {
                return Err(refused(format_args!("the AWS profile `{name}` leans on itself")));
            }
            roles.push(role);
            match (profile.field("source_profile"), profile.field("credential_source")) {
                // A profile may lean on its own keys.
                (Some(source), _) if source == name => break self.plain(profiles, profile).await?,
                (Some(source), _) => name = source,
                (None, Some(source)) => break self.source(source).await?,
                (None, None) => {
                    let file = profile.field("web_identity_token_file");
                    let file = file.ok_or_else(|| profile.needs("source_profile"))?;
                    let Some(role) = roles.pop() else { return Err(missing()) };
                    break sts::with_web_identity(self, role.arn, file).await?;
                }
            }
        };
        while let Some(role) = roles.pop() {
            credentials = sts::assume(self, &credentials, role).await?;
        }
        Ok(credentials)
    }

    async fn source(&self, source: &str) -> Result<Credentials, Error> {
        let found = match source {
            "Environment" => self.environment(),
            "EcsContainer" => machine::from_container(self).await?,
            "Ec2InstanceMetadata" => machine::from_instance(self).await?,
            _ => None,
        };
        found.ok_or_else(|| refused(format_args!("AWS credential source `{source}` has none")))
    }

    /// A profile's own credentials.
    async fn plain(
        &self,
        profiles: &Profiles,
        profile: &profile::Profile,
    ) -> Result<Credentials, Error> {
        if let Some(sso) = profile.sso(profiles)? {
            return sso::credentials(self, &sso).await;
        }
        if let Some(credentials) = profile.keys() {
            return Ok(credentials);
        }
        let command = profile.field("credential_process");
        self.process(command.ok_or_else(|| profile.needs("aws_access_key_id"))?).await
    }

    async fn process(&self, command: &str) -> Result<Credentials, Error> {
        let line = CommandLine::shell(command, self.env);
        let output = run(self.run, line).await?;
        let printed: Printed = serde_json::from_str(&output).map_err(|error| {
            refused(format_args!("AWS credential_process printed something unreadable: {error}"))
        })?;
        Ok(printed.into())
    }
}

/// The domain of AWS's hosts in a region.
pub(super) fn domain(region: &str) -> &'static str {
    if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" }
}

/// Runs a command away from the threads that wait for the network.
pub(super) async fn run(run: &Arc<dyn RunCommand>, line: CommandLine) -> Result<String, Error> {
    let run = run.clone();
    let outcome = tokio::task::spawn_blocking(move || run.run(&line)).await;
    outcome.map_err(refused)?.map_err(refused)
}

/// Credentials as a credential process, a container and a machine tell them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    access_key_id: String,
    secret_access_key: Secret,
    #[serde(alias = "Token")]
    session_token: Option<Secret>,
    expiration: Option<String>,
}

impl From<Printed> for Credentials {
    fn from(printed: Printed) -> Self {
        Self {
            access_key: printed.access_key_id,
            secret_key: printed.secret_access_key,
            session_token: printed.session_token,
            expires: printed.expiration.as_deref().and_then(moment),
        }
    }
}
