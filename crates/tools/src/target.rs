//! A path a model gave, and where it led when the lock judged it.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

use guard::{Fence, FenceError, Spot};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// A path in a tool's arguments. It is located once, when the call says what it would do; the same spot is
/// used when the call runs. A link put in its way in between leads nowhere: the fence refuses it.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "String")]
pub struct Target {
    path: String,
    spot: OnceLock<Spot>,
}

impl Target {
    /// Where it leads.
    pub fn spot(&self, fence: &Fence) -> Result<&Spot, FenceError> {
        if let Some(spot) = self.spot.get() {
            return Ok(spot);
        }
        let spot = fence.locate(&self.path)?;
        Ok(self.spot.get_or_init(|| spot))
    }
}

impl From<String> for Target {
    fn from(path: String) -> Self {
        Self { path, spot: OnceLock::new() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Target {}

impl JsonSchema for Target {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}
