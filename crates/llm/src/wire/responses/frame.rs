//! The shapes of what a provider sends, borrowed from its bytes.

use std::borrow::Cow;
use std::fmt;

use base::model::{Money, Usage};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde_json::value::RawValue;

/// One event of a stream. Every kind of event uses some of these fields.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Frame<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub delta: Option<Text<'a>>,
    pub output_index: Option<u64>,
    pub content_index: Option<u64>,
    pub summary_index: Option<u64>,
    #[serde(borrow)]
    pub item_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
    #[serde(borrow)]
    pub refusal: Option<Text<'a>>,
    #[serde(borrow)]
    pub arguments: Option<Text<'a>>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

/// Just enough of an event to see whether it may be skipped.
#[derive(Debug, serde::Deserialize)]
pub(super) struct Kind<'a> {
    #[serde(borrow, default, rename = "type")]
    pub kind: Option<Text<'a>>,
}

/// An answer, whole or at its begin or end.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    pub id: Option<String>,
    pub model: Option<String>,
    #[serde(borrow)]
    pub status: Option<Text<'a>>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    pub incomplete_details: Option<Incomplete>,
    #[serde(borrow)]
    pub output: Option<Vec<&'a RawValue>>,
    pub usage: Option<Counts>,
    /// Settings of the request; mistral.rs puts the thoughts of the answer here, as a text.
    #[serde(borrow)]
    pub reasoning: Option<&'a RawValue>,
    /// Where a gateway wraps the answer like the last event of a stream.
    #[serde(borrow, rename = "response")]
    pub wrapped: Option<&'a RawValue>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Incomplete {
    pub reason: Option<String>,
}

/// One item of an answer.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Option<Text<'a>>,
    #[serde(borrow)]
    pub id: Option<Text<'a>>,
    #[serde(borrow)]
    pub call_id: Option<Text<'a>>,
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    pub input: Option<&'a RawValue>,
    #[serde(borrow)]
    pub content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub summary: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
    #[serde(borrow)]
    pub output_format: Option<Text<'a>>,
}

/// One piece of a message, a thought or its summary.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub text: Option<Text<'a>>,
    #[serde(borrow)]
    pub refusal: Option<Text<'a>>,
}

/// Tokens and, from some gateways, their price.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    input_tokens: Option<u64>,
    input_tokens_details: Option<InputDetails>,
    output_tokens: Option<u64>,
    output_tokens_details: Option<OutputDetails>,
    /// Dollars (`OpenRouter`).
    cost: Option<f64>,
    /// Ten-billionths of a dollar (xAI).
    cost_in_usd_ticks: Option<i64>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Option<u64>,
}

impl Counts {
    /// The four disjoint buckets; the provider counts cached tokens as input too.
    pub(super) fn usage(&self) -> Usage {
        let details = self.input_tokens_details.as_ref();
        let cache_read = details.and_then(|details| details.cached_tokens).unwrap_or(0);
        let cache_write = details.and_then(|details| details.cache_write_tokens).unwrap_or(0);
        let input = self.input_tokens.unwrap_or(0);
        let reasoning = self.output_tokens_details.as_ref().and_then(|d| d.reasoning_tokens);
        Usage {
            input: input.saturating_sub(cache_read).saturating_sub(cache_write),
            cache_read,
            cache_write,
            output: self.output_tokens.unwrap_or(0),
            reasoning: reasoning.unwrap_or(0),
        }
    }

    /// What the provider says it charges.
    pub(super) fn cost(&self) -> Option<Money> {
        let ticks = self.cost_in_usd_ticks.map(|ticks| Money::from_pico(ticks.saturating_mul(100)));
        ticks.or_else(|| self.cost.map(Money::from_dollars))
    }
}

/// A text that is only copied where it holds escapes; serde's own `Option<Cow<str>>` always copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }

            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// The text of a field, or the JSON of one that should have been a text.
pub(super) fn text_or_json(raw: Option<&RawValue>) -> String {
    match raw.map(RawValue::get) {
        None | Some("null") => String::new(),
        Some(raw) => serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned()),
    }
}

/// A list of content pieces; none where the field is missing or of another shape.
pub(super) fn contents(raw: Option<&RawValue>) -> Vec<Content<'_>> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}
