//! The shape of a chunk and of a whole answer. Text stays a slice of the event's bytes, fields nobody
//! needs are skipped unread, and `null` is the same as absent everywhere, as servers mix the two.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::error::Error;
use crate::reading::lenient::{Found, Lenient, Text};
use crate::repair;

/// One event of a stream, or a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) model: Text<'a>,
    #[serde(borrow)]
    pub(super) object: Text<'a>,
    #[serde(borrow)]
    pub(super) choices: FirstChoice<'a>,
    pub(super) usage: Option<Value>,
    pub(super) x_groq: Option<Value>,
    pub(super) cost: Option<Value>,
    pub(super) error: Option<Value>,
}

/// The choice with index 0; the others are answers nobody asked for.
#[derive(Debug, Default)]
pub(super) struct FirstChoice<'a> {
    pub(super) choice: Option<Choice<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice<'a> {
    index: Option<i64>,
    #[serde(borrow)]
    pub(super) delta: Option<Message<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<Message<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Text<'a>,
    #[serde(borrow)]
    pub(super) native_finish_reason: Text<'a>,
}

/// A message or a piece of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(borrow)]
    pub(super) content: Content<'a>,
    #[serde(borrow)]
    pub(super) reasoning_content: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning: Text<'a>,
    #[serde(borrow)]
    pub(super) reasoning_text: Text<'a>,
    pub(super) reasoning_opaque: Option<Value>,
    pub(super) reasoning_details: Option<Vec<Value>>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<ToolCall<'a>>>,
    #[serde(borrow)]
    pub(super) function_call: Option<Function<'a>>,
    pub(super) images: Option<Vec<Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolCall<'a> {
    pub(super) index: Option<i64>,
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    pub(super) extra_content: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    #[serde(borrow)]
    pub(super) arguments: Arguments<'a>,
}

/// A part of content that came as a list.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ContentPart<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Text<'a>,
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    #[serde(borrow)]
    pub(super) thinking: Content<'a>,
    #[serde(borrow)]
    pub(super) refusal: Text<'a>,
}

/// Content: text, or a list of parts.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<ContentPart<'a>>),
}

/// A call's arguments: JSON as text, or (from careless servers) the object itself.
#[derive(Debug, Default)]
pub(super) struct Arguments<'a>(pub(super) Cow<'a, str>);

impl<'a> Chunk<'a> {
    /// Reads an event's data. What is not quite JSON is read again with more patience: broken UTF-8
    /// and halves of surrogate pairs become replacement characters.
    pub(super) fn read<T>(
        data: &'a [u8],
        take: impl FnOnce(Chunk<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match serde_json::from_slice::<Chunk<'_>>(data) {
            Ok(chunk) => take(chunk),
            Err(error) => {
                let value = repair::lossy_json(data).ok_or_else(|| Error::protocol(&error))?;
                take(Chunk::deserialize(&value).map_err(|_| Error::protocol(error))?)
            }
        }
    }
}

impl Default for Content<'_> {
    fn default() -> Self {
        Self::Text(Cow::Borrowed(""))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient).map(|found| match found {
            Found::Text(text) => Self(text),
            Found::Nothing => Self::default(),
            Found::Tree(value) => Self(Cow::Owned(value.to_string())),
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a list of parts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Content::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Content::Parts)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let part = ContentPart::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Content::Parts(vec![part]))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for FirstChoice<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FirstChoiceVisitor)
    }
}

struct FirstChoiceVisitor;

impl<'de> Visitor<'de> for FirstChoiceVisitor {
    type Value = FirstChoice<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of choices")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(FirstChoice::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while let Some(choice) = seq.next_element::<Choice<'de>>()? {
            if choice.index.unwrap_or(0) == 0 {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(FirstChoice { choice: Some(choice) });
            }
        }
        Ok(FirstChoice::default())
    }
}
