//! AWS's shared files: `config` and `credentials`.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use base::Secret;

use super::super::remote::refused;
use super::Credentials;
use super::sso::Sso;
use super::sts::Role;
use crate::error::Error;

/// Every profile and SSO session of the two files.
#[derive(Debug, Default)]
pub(super) struct Profiles {
    profiles: HashMap<String, Profile>,
    sessions: HashMap<String, Profile>,
}

/// One section.
#[derive(Debug, Default)]
pub(super) struct Profile {
    name: String,
    fields: HashMap<String, String>,
}

impl Profiles {
    /// Reads both files; one that is not there holds nothing.
    pub(super) async fn read(config: &Path, credentials: &Path) -> Result<Self, Error> {
        let mut found = Self::default();
        let config = text(config).await?;
        for (header, fields) in sections(&config) {
            match header.split_once(char::is_whitespace) {
                Some(("profile", name)) => add(&mut found.profiles, name.trim(), fields),
                Some(("sso-session", name)) => add(&mut found.sessions, name.trim(), fields),
                None if header == "default" => add(&mut found.profiles, header, fields),
                Some(_) | None => {}
            }
        }
        // What both files say of a profile, the credentials file says last.
        let credentials = text(credentials).await?;
        for (name, fields) in sections(&credentials) {
            add(&mut found.profiles, name, fields);
        }
        Ok(found)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Profile> {
        self.profiles.get(name)
    }
}

impl Profile {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }

    /// Whether it says anything about credentials at all.
    pub(super) fn has_credentials(&self) -> bool {
        const WORDS: [&str; 5] =
            ["aws_access_key_id", "credential_process", "role_arn", "sso_session", "sso_start_url"];
        WORDS.iter().any(|word| self.field(word).is_some())
    }

    pub(super) fn keys(&self) -> Option<Credentials> {
        Some(Credentials {
            access_key: self.field("aws_access_key_id")?.to_owned(),
            secret_key: Secret::new(self.field("aws_secret_access_key")?),
            session_token: self.field("aws_session_token").map(Secret::new),
            expires: None,
        })
    }

    pub(super) fn role(&self) -> Option<Role<'_>> {
        Some(Role {
            arn: self.field("role_arn")?,
            session_name: self.field("role_session_name"),
            external_id: self.field("external_id"),
        })
    }

    /// What it says about single sign-on, the fields of its session included.
    pub(super) fn sso<'a>(&'a self, profiles: &'a Profiles) -> Result<Option<Sso<'a>>, Error> {
        let session = match self.field("sso_session") {
            Some(name) => {
                let missing = || refused(format_args!("there is no AWS sso-session `{name}`"));
                Some(profiles.sessions.get(name).ok_or_else(missing)?)
            }
            None if self.field("sso_start_url").is_none() => return Ok(None),
            None => None,
        };
        let shared = |name: &str| {
            let value = session.and_then(|session| session.field(name));
            value.or_else(|| self.field(name)).ok_or_else(|| self.needs(name))
        };
        let own = |name: &str| self.field(name).ok_or_else(|| self.needs(name));
        let start_url = shared("sso_start_url")?;
        Ok(Some(Sso {
            profile: &self.name,
            cache_name: session.map_or(start_url, |session| &session.name),
            region: shared("sso_region")?,
            account: own("sso_account_id")?,
            role: own("sso_role_name")?,
        }))
    }

    /// The profile lacks something.
    pub(super) fn needs(&self, field: &str) -> Error {
        refused(format_args!("the AWS profile `{}` has no `{field}`", self.name))
    }
}

fn add(known: &mut HashMap<String, Profile>, name: &str, fields: Vec<(&str, &str)>) {
    let profile = known.entry(name.to_owned()).or_default();
    name.clone_into(&mut profile.name);
    profile.fields.extend(fields.into_iter().map(|(key, value)| (key.into(), value.into())));
}

async fn text(path: &Path) -> Result<String, Error> {
    match tokio::fs::read_to_string(path).await {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(refused(format_args!("cannot read {}: {error}", path.display()))),
    }
}

/// Splits a file into its sections. Indented lines belong to nested settings we have no use for.
fn sections(text: &str) -> Vec<(&str, Vec<(&str, &str)>)> {
    let mut sections: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) || line.starts_with([' ', '\t']) {
            continue;
        }
        if let Some(rest) = bare.strip_prefix('[') {
            sections.push((rest.split(']').next().unwrap_or_default().trim(), Vec::new()));
        } else if let (Some((key, value)), Some((_, fields))) =
            (bare.split_once('='), sections.last_mut())
        {
            // A comment after a value has white space before it; a secret may hold the sign itself.
            let value = value.split(" #").next().unwrap_or_default();
            fields.push((key.trim(), value.split(" ;").next().unwrap_or_default().trim()));
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn both_files_are_read_and_credentials_win() {
        let folder = tempfile::tempdir().unwrap();
        let (config, credentials) = (folder.path().join("config"), folder.path().join("cred"));
        let text = "[default]\nregion = eu-west-1\naws_access_key_id = OLD\ns3 =\n  aws_secret_access_key = no\n\
                    [profile work] # comment\nsso_session = corp\nsso_account_id = 1 ; note\nsso_role_name=dev\n\
                    [sso-session corp]\nsso_start_url = https://corp/start\nsso_region = us-west-2\n";
        std::fs::write(&config, text).unwrap();
        std::fs::write(
            &credentials,
            "[default]\naws_access_key_id=NEW\naws_secret_access_key=a#b=\n",
        )
        .unwrap();
        let profiles = Profiles::read(&config, &credentials).await.unwrap();
        let keys = profiles.get("default").unwrap().keys().unwrap();
        assert_eq!((keys.access_key.as_str(), keys.secret_key.expose()), ("NEW", "a#b="));
        let sso = profiles.get("work").unwrap().sso(&profiles).unwrap().unwrap();
        assert_eq!((sso.cache_name, sso.region, sso.account), ("corp", "us-west-2", "1"));
        assert!(profiles.get("corp").is_none());
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_holds_nothing() {
        let nowhere = Path::new("/nonexistent/aws");
        assert!(Profiles::read(nowhere, nowhere).await.unwrap().get("default").is_none());
    }
}
