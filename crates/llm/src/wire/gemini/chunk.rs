//! The shape of a chunk; a whole answer has the same.

use serde::Deserialize;
use serde_json::Value;

use crate::reading::lenient::Text;

/// One event of a stream, or a whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) candidates: Option<Vec<Candidate<'a>>>,
    pub(super) usage_metadata: Option<Tokens>,
    pub(super) prompt_feedback: Option<Feedback>,
    #[serde(borrow)]
    pub(super) model_version: Text<'a>,
    #[serde(borrow)]
    pub(super) response_id: Text<'a>,
    pub(super) error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    pub(super) index: Option<i64>,
    #[serde(borrow)]
    pub(super) content: Option<Content<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub(super) parts: Option<Vec<Part<'a>>>,
}

/// A part; which field is set says what it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow)]
    pub(super) text: Text<'a>,
    pub(super) thought: Option<bool>,
    #[serde(borrow)]
    pub(super) thought_signature: Text<'a>,
    #[serde(borrow)]
    pub(super) function_call: Option<FunctionCall<'a>>,
    #[serde(borrow)]
    pub(super) inline_data: Option<Blob<'a>>,
    #[serde(borrow)]
    pub(super) file_data: Option<Blob<'a>>,
    pub(super) executable_code: Option<Value>,
    pub(super) code_execution_result: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(super) id: Text<'a>,
    #[serde(borrow)]
    pub(super) name: Text<'a>,
    pub(super) args: Option<Value>,
    pub(super) partial_args: Option<Vec<Value>>,
    pub(super) will_continue: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Blob<'a> {
    #[serde(borrow)]
    pub(super) mime_type: Text<'a>,
    #[serde(borrow)]
    pub(super) data: Text<'a>,
    #[serde(borrow)]
    pub(super) file_uri: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Feedback {
    pub(super) block_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    #[serde(rename = "promptTokenCount")]
    pub(super) prompt: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    pub(super) cached: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    pub(super) candidates: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    pub(super) thoughts: Option<u64>,
    #[serde(rename = "toolUsePromptTokenCount")]
    pub(super) tool_use: Option<u64>,
}
