//! Newtype ids, so that a session's id cannot stand where an entry's is meant.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! time_ordered_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes a new id that sorts after every id made before it in this process.
            #[expect(clippy::new_without_default, reason = "an id is made on purpose, never by default")]
            pub fn new() -> Self {
                Self(Uuid::now_v7())
            }

            /// The 16 bytes, as the store keeps them.
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// Reads an id back from the store.
            pub fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text).map(Self)
            }
        }
    };
}

time_ordered_id!(
    /// A session: one conversation, one tree of entries.
    SessionId
);
time_ordered_id!(
    /// An entry in a session's tree.
    EntryId
);
time_ordered_id!(
    /// A turn: one run of a session's lane, from its first model call to its end.
    TurnId
);
time_ordered_id!(
    /// Something a face asked and somebody must answer: an approval, a question.
    RequestId
);

time_ordered_id!(
    /// One run of a hook.
    HookRunId
);

/// A tool call's id, as the model's provider chose it (or as we made it where the provider has none).
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct CallId(String);

impl CallId {
    /// Takes a provider's id as it is.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// Makes an id for a provider that sends none.
    pub fn generate() -> Self {
        Self(format!("call_{}", Uuid::new_v4().simple()))
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_the_time_they_were_made() {
        let made: Vec<_> = (0..1000).map(|_| EntryId::new()).collect();
        let mut sorted = made.clone();
        sorted.sort();
        assert_eq!(made, sorted);
    }

    #[test]
    fn an_id_survives_text_and_bytes() {
        let id = SessionId::new();
        assert_eq!(id.to_string().parse::<SessionId>().unwrap(), id);
        assert_eq!(SessionId::from_bytes(*id.as_bytes()), id);
    }
}
