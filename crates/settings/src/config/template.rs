//! Text in which variables are expanded when it is used, not when it is read.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// A value such as `Bearer $TOKEN`: kept as written until [`super::Expander`] is asked for its text.
///
/// It may hold a secret beside its variables, so it does not print itself.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Template(String);

impl Template {
    /// Takes a template's text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as written, nothing expanded.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Template {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Template(••••)")
    }
}

impl JsonSchema for Template {
    fn schema_name() -> Cow<'static, str> {
        "Template".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Text in which `$VAR`, `${VAR:-x}` and `$(command)` are expanded."
        })
    }
}
