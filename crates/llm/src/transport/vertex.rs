//! Google Cloud Vertex AI: Gemini, Claude, and open models behind a Chat Completions surface.

use settings::provider::Wire;

use super::{Route, escape, set_stream, sse_or_whole};
use crate::target::Target;
use crate::wire::Encoded;

/// What stands for the API version of Claude in the body.
const ANTHROPIC_VERSION: &str = "vertex-2023-10-16";

/// Where in Google's cloud a model is asked.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) project: &'a str,
    pub(super) location: &'a str,
}

pub(super) fn route(encoded: Encoded, target: &Target, place: Place<'_>, streaming: bool) -> Route {
    let Encoded { path, mut headers, mut body } = encoded;
    set_stream(&mut body, target.wire, streaming);
    let base = base(target, place.location);
    let (project, location) = (escape(place.project), escape(place.location));
    let home = format!("{base}/projects/{project}/locations/{location}");
    let model = model_path(&target.model.id, target.wire);
    let url = match target.wire {
        Wire::AnthropicMessages => {
            body.shift_remove("model");
            body.shift_insert(0, "anthropic_version".into(), ANTHROPIC_VERSION.into());
            headers.retain(|(name, _)| *name != "anthropic-version");
            let action = if streaming { "streamRawPredict" } else { "rawPredict" };
            format!("{home}/publishers/anthropic/models/{model}:{action}")
        }
        Wire::Gemini => {
            body.shift_remove("model");
            let action =
                if streaming { "streamGenerateContent?alt=sse" } else { "generateContent" };
            format!("{home}/publishers/google/models/{model}:{action}")
        }
        Wire::OpenaiChat | Wire::OpenaiResponses | Wire::BedrockConverse => {
            format!("{home}/endpoints/openapi{path}")
        }
    };
    Route { url, body, headers, accept: sse_or_whole(streaming) }
}

/// Claude's ids hold an `@` before their date that Google wants as it is; elsewhere it is a `-`.
fn model_path(id: &str, wire: Wire) -> String {
    let is_date = |text: &str| text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    match id.rsplit_once('-') {
        Some((name, date)) if wire == Wire::AnthropicMessages && is_date(date) => {
            format!("{}@{date}", escape(name))
        }
        Some(_) | None => escape(id).replace("%40", "@"),
    }
}

fn base(target: &Target, location: &str) -> String {
    if !target.base_url.is_empty() {
        return target.base_url.trim_end_matches('/').to_owned();
    }
    match location {
        "global" => "https://aiplatform.googleapis.com/v1".to_owned(),
        "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com/v1"),
        region => format!("https://{region}-aiplatform.googleapis.com/v1"),
    }
}
