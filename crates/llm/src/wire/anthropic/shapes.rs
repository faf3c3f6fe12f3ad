//! The JSON of Messages answers, as much of it as we read.

use std::borrow::Cow;

use base::model::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A word that is read without being copied.
#[derive(Deserialize, Default)]
#[serde(transparent)]
pub(super) struct Word<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Word<'a>,
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) delta: Option<Piece<'a>>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) message: Option<Start<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize, Default)]
pub(super) struct Start<'a> {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Tag<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Word<'a>,
}

#[derive(Deserialize)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Word<'a>,
    pub(super) text: Option<String>,
    pub(super) thinking: Option<String>,
    pub(super) signature: Option<String>,
    pub(super) data: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

/// A piece of a block, or the end of the message: one type, so that a delta is read in one pass.
#[derive(Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(rename = "type", borrow, default)]
    pub(super) kind: Word<'a>,
    #[serde(borrow)]
    pub(super) text: Option<Word<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Word<'a>>,
    pub(super) signature: Option<String>,
    #[serde(borrow)]
    pub(super) partial_json: Option<Word<'a>>,
    pub(super) stop_reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Whole<'a> {
    pub(super) id: Option<String>,
    pub(super) model: Option<String>,
    #[serde(borrow)]
    pub(super) content: Option<Vec<&'a RawValue>>,
    pub(super) stop_reason: Option<String>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// Tokens as this wire counts them: running totals, some of them left out at times.
#[derive(Deserialize)]
pub(super) struct Count {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
    pub(super) output_tokens_details: Option<OutputDetails>,
    pub(super) cost: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct OutputDetails {
    pub(super) thinking_tokens: Option<u64>,
}

impl Count {
    /// Lays these totals over earlier ones. A zero says nothing: gateways send it for "not known".
    pub(super) fn add_to(&self, usage: &mut Usage) {
        let set = |total: &mut u64, count: Option<u64>| {
            if let Some(count) = count.filter(|&count| count > 0) {
                *total = count;
            }
        };
        set(&mut usage.input, self.input_tokens);
        set(&mut usage.output, self.output_tokens);
        set(&mut usage.cache_write, self.cache_creation_input_tokens);
        set(&mut usage.cache_read, self.cache_read_input_tokens);
        let details = self.output_tokens_details.as_ref();
        set(&mut usage.reasoning, details.and_then(|details| details.thinking_tokens));
    }
}
