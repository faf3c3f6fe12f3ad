//! AWS Bedrock: invocations for Claude, Converse for the rest, and its Chat Completions surface.

use serde_json::{Map, Value};
use settings::provider::Wire;

use super::aws::domain;
use super::{BETA, Route, escape, set_stream, sse_or_whole};
use crate::framing;
use crate::target::Target;
use crate::wire::Encoded;

/// What stands for the model's API version in an invocation's body.
const ANTHROPIC_VERSION: &str = "bedrock-2023-05-31";

pub(super) fn route(encoded: Encoded, target: &Target, region: &str, streaming: bool) -> Route {
    let Encoded { path, headers, mut body } = encoded;
    let root = root(target, region);
    let binary = if streaming { framing::EVENT_STREAM } else { framing::JSON };
    match target.wire {
        Wire::AnthropicMessages => {
            body.shift_remove("model");
            body.shift_remove("stream");
            body.shift_insert(0, "anthropic_version".into(), ANTHROPIC_VERSION.into());
            let headers = betas_into_body(headers, target, &mut body);
            let action = if streaming { "invoke-with-response-stream" } else { "invoke" };
            let url = format!("{root}/model/{}/{action}", escape(&target.model.id));
            Route { url, body, headers, accept: binary }
        }
        Wire::BedrockConverse => {
            let action = if streaming { "converse-stream" } else { "converse" };
            let url = format!("{root}/model/{}/{action}", escape(&target.model.id));
            Route { url, body, headers, accept: binary }
        }
        Wire::OpenaiChat | Wire::OpenaiResponses | Wire::Gemini => {
            set_stream(&mut body, target.wire, streaming);
            let url = format!("{root}/openai/v1{path}");
            Route { url, body, headers, accept: sse_or_whole(streaming) }
        }
    }
}

fn root(target: &Target, region: &str) -> String {
    if !target.base_url.is_empty() {
        return target.base_url.trim_end_matches('/').to_owned();
    }
    format!("https://bedrock-runtime.{region}.{}", domain(region))
}

/// Moves Anthropic's own headers, the user's among them, to where an invocation has them: the body.
fn betas_into_body(
    mut headers: Vec<(&'static str, String)>,
    target: &Target,
    body: &mut Map<String, Value>,
) -> Vec<(&'static str, String)> {
    let ours = headers.iter().filter(|(name, _)| *name == BETA).map(|(_, value)| value);
    let theirs = target.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(BETA));
    let lists = ours.chain(theirs.map(|(_, value)| value));
    let betas =
        lists.flat_map(|list| list.split(',')).map(str::trim).filter(|beta| !beta.is_empty());
    let mut betas: Vec<Value> = betas.map(Value::from).collect();
    if let Some(Value::Array(more)) = body.shift_remove("anthropic_beta") {
        betas.extend(more);
    }
    if !betas.is_empty() {
        body.shift_insert(1, "anthropic_beta".into(), betas.into());
    }
    headers.retain(|(name, _)| !["anthropic-version", BETA].contains(name));
    headers
}
