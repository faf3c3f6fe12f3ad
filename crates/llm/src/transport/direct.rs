//! Base URL plus the wire's path.

use settings::provider::Wire;

use super::{Route, set_stream, sse_or_whole};
use crate::framing::EVENT_STREAM;
use crate::target::Target;
use crate::wire::Encoded;

pub(super) fn route(encoded: Encoded, target: &Target, streaming: bool) -> Route {
    let Encoded { path, headers, mut body } = encoded;
    set_stream(&mut body, target.wire, streaming);
    let path = if streaming { path } else { unstreamed(&path, target.wire) };
    let url = format!("{}{path}", target.base_url.trim_end_matches('/'));
    let accept = match target.wire {
        Wire::BedrockConverse if streaming => EVENT_STREAM,
        Wire::BedrockConverse
        | Wire::AnthropicMessages
        | Wire::OpenaiChat
        | Wire::OpenaiResponses
        | Wire::Gemini => sse_or_whole(streaming),
    };
    Route { url, body, headers, accept }
}

/// The path for an answer in one piece, on the wires that tell it by the path.
fn unstreamed(path: &str, wire: Wire) -> String {
    match wire {
        Wire::Gemini => path
            .replace(":streamGenerateContent", ":generateContent")
            .replace("?alt=sse&", "?")
            .replace("?alt=sse", ""),
        Wire::BedrockConverse => path.replace("/converse-stream", "/converse"),
        Wire::AnthropicMessages | Wire::OpenaiChat | Wire::OpenaiResponses => path.to_owned(),
    }
}
