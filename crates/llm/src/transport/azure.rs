//! Azure: the v1 surface without a version, or deployments with one; Claude beside them.

use settings::provider::Wire;

use super::{Route, escape, set_stream, sse_or_whole};
use crate::target::Target;
use crate::wire::Encoded;

pub(super) fn route(
    encoded: Encoded,
    target: &Target,
    api_version: Option<&str>,
    streaming: bool,
) -> Route {
    let Encoded { path, headers, mut body } = encoded;
    set_stream(&mut body, target.wire, streaming);
    let root = root(&target.base_url);
    let url = match (target.wire, api_version) {
        (Wire::AnthropicMessages, _) => format!("{root}/anthropic/v1{path}"),
        (_, None | Some("v1" | "latest")) => format!("{root}/openai/v1{path}"),
        (_, Some("preview")) => format!("{root}/openai/v1{path}?api-version=preview"),
        // Responses name their model in the body; the deployments have no such path.
        (Wire::OpenaiResponses, Some(version)) => {
            format!("{root}/openai{path}?api-version={}", escape(version))
        }
        (Wire::OpenaiChat | Wire::Gemini | Wire::BedrockConverse, Some(version)) => {
            let deployment = escape(&target.model.id);
            let version = escape(version);
            format!("{root}/openai/deployments/{deployment}{path}?api-version={version}")
        }
    };
    Route { url, body, headers, accept: sse_or_whole(streaming) }
}

/// The resource's address, however much of the path the user has copied along with it.
fn root(base_url: &str) -> &str {
    let mut root = base_url.trim_end_matches('/');
    for tail in ["/v1", "/openai", "/anthropic"] {
        root = root.strip_suffix(tail).unwrap_or(root).trim_end_matches('/');
    }
    root
}
