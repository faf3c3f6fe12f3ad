//! The environment commands get: no keys of ours, and nothing that waits for a person.

use base::Env;

use crate::redact;

/// What keeps programs from waiting for somebody, and tells them who runs them.
const QUIET: &[(&str, &str)] = &[
    ("AGENT", "caiman"),
    ("CAIMAN", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("EDITOR", "false"),
    ("VISUAL", "false"),
    ("GIT_EDITOR", "false"),
    ("GIT_SEQUENCE_EDITOR", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("npm_config_yes", "true"),
];

/// Variables that run code in every shell or program: a person's set-up, not a command's business.
const UNWANTED: &[&str] = &["BASH_ENV", "ENV", "PROMPT_COMMAND", "PS4", "NOTIFY_SOCKET"];

/// Names that hold secrets though no ending says so.
const SECRET_NAMES: &[&str] = &["AWS_ACCESS_KEY_ID", "AZURE_CLIENT_ID", "PGPASSFILE", "NETRC"];

/// Endings and parts of names that hold secrets.
const SECRET_ENDINGS: &[&str] =
    &["KEY", "SK", "TOKEN", "JWT", "PASS", "PW", "PWD", "AUTH", "COOKIE", "DSN", "PAT", "CREDS"];
const SECRET_PARTS: &[&str] =
    &["SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE_KEY"];

/// Variables that no program can do without, whatever their value looks like.
const NEEDED: &[&str] = &["PATH", "HOME", "PWD", "SHELL", "USER", "LANG", "TERM", "TMPDIR"];

/// The environment of commands: `env` without secrets, and with what keeps programs from asking.
pub fn child_env(env: &Env) -> Env {
    child_env_with(env, &[])
}

/// The same with the secrets that the user allows commands to have, by name.
pub fn child_env_with(env: &Env, allowed: &[String]) -> Env {
    let kept = env.iter().filter(|(name, value)| {
        let withheld = UNWANTED.contains(name)
            || is_secret_name(name)
            || (!NEEDED.contains(name) && redact::holds_secret(value));
        !withheld || allowed.iter().any(|wanted| wanted == name)
    });
    let kept: Env = kept.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let quiet = QUIET.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    kept.with(quiet)
}

/// Whether a variable of this name holds a secret, going by the name alone.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let last = name.rsplit('_').next().unwrap_or_default();
    // PWD and OLDPWD are folders.
    let compound = last.len() < name.len();
    SECRET_NAMES.contains(&name.as_str())
        || SECRET_PARTS.iter().any(|part| name.contains(part))
        || (compound && SECRET_ENDINGS.contains(&last))
        || ["APIKEY", "TOKEN"].iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_withheld_unless_allowed() {
        let env = Env::from_iter([
            ("ANTHROPIC_API_KEY", "a"),
            ("GITHUB_TOKEN", "b"),
            ("AWS_SECRET_ACCESS_KEY", "c"),
            ("NPM_TOKEN", "d"),
            ("PATH", "/bin"),
            ("BASH_ENV", "/evil"),
            ("EDITOR", "vim"),
        ]);
        let child = child_env_with(&env, &["NPM_TOKEN".to_owned()]);
        assert_eq!(child_env(&env).get("NPM_TOKEN"), None);
        let names: Vec<&str> = child.iter().map(|(name, _)| name).collect();
        for gone in ["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "BASH_ENV"] {
            assert!(!names.contains(&gone), "{gone}");
        }
        assert_eq!(child.get("NPM_TOKEN"), Some("d"));
        assert_eq!(child.get("PATH"), Some("/bin"));
        assert_eq!(child.get("EDITOR"), Some("false"));
        assert_eq!(child.get("AGENT"), Some("caiman"));
    }

    #[test]
    fn a_value_with_credentials_is_withheld_whatever_its_name() {
        let with = [
            ("DATABASE_URL", "postgres://app:hunter2x@db.example.com/app"),
            ("DATABASE_URL", "postgres://postgres:postgres@localhost/app"),
            ("REDIS", "redis://:s3cret@cache:6379/0"),
            ("HTTPS_PROXY", "http://user:pw@proxy.example.com:8080"),
            ("STRIPE_SK", "x"),
            ("PG", "host=db user=app password=hunter2x9q dbname=app"),
            ("SERVICE", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"),
            ("GH", "ghp_R7tq2LmXw9Kd4VbN8sZyHc3PfJ6uEa1GoTiB"),
            ("REMOTE", "https://ghp_R7tq2LmXw9Kd4VbN8sZyHc3PfJ6uEa1GoTiB@github.com/x"),
        ];
        for (name, value) in with {
            let child = child_env(&Env::from_iter([(name, value)]));
            assert_eq!(child.get(name), None, "{name}={value}");
            let allowed = child_env_with(&Env::from_iter([(name, value)]), &[name.to_owned()]);
            assert_eq!(allowed.get(name), Some(value), "{name}");
        }
        let without = [
            ("HTTPS_PROXY", "http://proxy.example.com:8080"),
            ("NO_PROXY", "localhost,127.0.0.1"),
            ("PATH", "/a:/b@c"),
            ("DATABASE_URL", "sqlite:///var/db.sqlite"),
            ("DATABASE_URL", "postgres://app@db.example.com/app"),
            ("GIT_REMOTE", "ssh://git@github.com/x/y.git"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
            ("COMMIT", "50db5eb6b0a1c2d3e4f5a6b7c8d9e0f1a2b3c4d5"),
            ("PS1", "\\u@\\h:\\w\\$ "),
        ];
        for (name, value) in without {
            let child = child_env(&Env::from_iter([(name, value)]));
            assert_eq!(child.get(name), Some(value), "{name}={value}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn no_secret_goes_to_a_child_and_nothing_else_is_lost(
            names in proptest::collection::vec("[A-Z]{1,5}(_(KEY|TOKEN|SECRET|PASSWORD|HOME|DIR)){0,2}", 0..8),
        ) {
            let env: Env = names.iter().map(|name| (name.clone(), "value")).collect();
            let child = child_env(&env);
            for name in &names {
                let is_kept = child.get(name).is_some();
                proptest::prop_assert_eq!(is_kept, !is_secret_name(name) && name != "ENV", "{}", name);
            }
        }
    }

    #[test]
    fn names_are_told_apart() {
        for name in [
            "OPENAI_API_KEY",
            "openai_api_key",
            "HF_TOKEN",
            "DB_PASSWORD",
            "CLIENT_SECRET_V2",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SENTRY_DSN",
            "MYAPIKEY",
            "AWS_SESSION_TOKEN",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "HOME",
            "KEYBOARD",
            "SSH_AUTH_SOCK",
            "XAUTHORITY",
            "TERM",
            "LANG",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
