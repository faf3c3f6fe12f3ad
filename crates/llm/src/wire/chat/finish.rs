//! Why an answer ended, in the many words servers have for it.

use base::model::StopReason;

use crate::error::{Class, Error};

/// What a chunk says about the end.
#[derive(Debug, PartialEq)]
pub(super) enum Finish {
    /// Nothing.
    Open,
    /// The model is done.
    Stopped(StopReason),
    /// The server gave up midway.
    Broke(Error),
}

/// Reads a finish reason, and the upstream's own behind it where a gateway tells.
pub(super) fn read(reason: &str, native: &str) -> Finish {
    let stop = match reason.to_ascii_lowercase().as_str() {
        "" => return Finish::Open,
        "stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token" | "complete" | "completed" => {
            StopReason::Done
        }
        // A gateway that sees a call says so even where the call is cut off.
        "tool_calls" | "tool_call" | "tool_use" | "function_call" if cut(native) => {
            StopReason::Length
        }
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => StopReason::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" => StopReason::Length,
        "model_length" | "model_context_window_exceeded" => StopReason::ContextFull,
        "content_filter" | "refusal" | "safety" | "sensitive" | "recitation" | "blocklist"
        | "prohibited_content" | "spii" => StopReason::Refusal,
        "insufficient_system_resource" => return broke(Class::Overloaded, reason),
        "error" | "network_error" | "abort" | "aborted" => return broke(Class::Server, reason),
        _ => StopReason::Other,
    };
    Finish::Stopped(stop)
}

fn cut(native: &str) -> bool {
    ["length", "max_tokens", "max_output_tokens"]
        .iter()
        .any(|reason| native.eq_ignore_ascii_case(reason))
}

fn broke(class: Class, reason: &str) -> Finish {
    let message = format!("the provider broke the answer off: {reason}");
    Finish::Broke(Error { code: Some(reason.to_owned()), ..Error::new(class, message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_the_upstream_cut_off_counts_as_cut() {
        let stopped = |reason, native| read(reason, native);
        assert_eq!(stopped("tool_calls", ""), Finish::Stopped(StopReason::ToolCalls));
        assert_eq!(stopped("tool_calls", "length"), Finish::Stopped(StopReason::Length));
        assert_eq!(stopped("stop", "STOP"), Finish::Stopped(StopReason::Done));
        assert_eq!(stopped("unheard_of", ""), Finish::Stopped(StopReason::Other));
        assert_eq!(stopped("", "stop"), Finish::Open);
        assert!(matches!(stopped("error", ""), Finish::Broke(_)));
    }
}
