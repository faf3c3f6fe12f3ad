//! What a stream brings, in neutral words and in the order it came.

use base::CallId;
use base::model::{Money, StopReason, Usage};
use base::transcript::File;
use serde_json::Value;

/// One step of an answer. Parts are numbered from zero in the order they begin.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// The provider took the request; comes once, before all others.
    Started {
        /// The provider's id of the answer, for its support desk.
        id: Option<String>,
        /// The model that really answers, where the provider tells.
        model: Option<String>,
    },
    /// A part begins.
    Open {
        /// Its number: one more than the last part's.
        part: usize,
        /// What it is.
        opening: Opening,
    },
    /// Text for an open part: what it says, thinks, or the JSON of its arguments.
    More {
        /// Which part.
        part: usize,
        /// What is added.
        text: String,
    },
    /// What only the maker understands of a part; later values replace earlier ones.
    Sidecar {
        /// Which part.
        part: usize,
        /// The wire's own data.
        data: Value,
    },
    /// Tokens so far; the last one counts.
    Usage(Usage),
    /// What the provider says the call cost; the last one counts.
    Cost(Money),
    /// The model is done; only usage and cost may follow.
    Stop(StopReason),
}

/// What a part is when it begins.
#[derive(Debug, Clone, PartialEq)]
pub enum Opening {
    /// Text.
    Text,
    /// A thought.
    Reasoning,
    /// A tool call; its arguments follow as text.
    Call {
        /// Its id.
        id: CallId,
        /// The tool.
        name: String,
    },
    /// A whole file at once.
    File(File),
    /// A step only the maker understands; its sidecar follows.
    Opaque {
        /// What the provider calls it.
        label: String,
    },
}
