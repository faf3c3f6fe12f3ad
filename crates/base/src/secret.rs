//! Values that must not reach logs, events, exports or a model.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer};

/// A key, token or password. It prints as stars, cannot be serialised, and is wiped when dropped.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Takes a secret's text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(SecretString::from(text.into()))
    }

    /// The text itself. Every caller is a place to review.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.expose().is_empty()
    }

    /// What may be shown of it: the last four characters of a long one, else only stars.
    pub fn masked(&self) -> String {
        mask(self.expose())
    }
}

/// Masks `text` for display: `••••` and, when it is long enough to stay secret, its last four characters.
pub fn mask(text: &str) -> String {
    let total = text.chars().count();
    let tail: String =
        if total >= 16 { text.chars().skip(total - 4).collect() } else { String::new() };
    format!("••••{tail}")
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(••••)")
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.expose() == other.expose()
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

impl JsonSchema for Secret {
    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "A secret; `$VAR`, `${VAR:-x}` and, in trusted files, `$(command)` are expanded."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_prints_itself() {
        let key = Secret::new("sk-abcdefghijklmnop1234");
        assert_eq!(format!("{key:?}"), "Secret(••••)");
        assert_eq!(key.masked(), "••••1234");
        assert_eq!(Secret::new("short").masked(), "••••");
    }
}
