//! Codes, phrases and statuses to classes. Data first, three small readers after it.

use super::Class;
use super::body::Report;

/// Codes that settle the class by themselves, in `snake_case`.
const CODES: &[(Class, &[&str])] = &[
    (
        Class::ContextOverflow,
        &[
            "context_length_exceeded",
            "context_window_exceeded",
            "exceed_context_size_error",
            "input_too_long",
            "max_prompt_tokens_exceeded",
            "model_context_window_exceeded",
            "model_max_prompt_tokens_exceeded",
            "prompt_too_long",
            "string_above_max_context_length",
            "1261",
            "status_code_1039",
        ],
    ),
    (
        Class::Billing,
        &[
            "arrearage",
            "billing_disabled",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "credits_exhausted",
            "exceeded_current_quota_error",
            "insufficient_balance",
            "insufficient_credits",
            "insufficient_funds",
            "insufficient_quota",
            "payment_required",
            "quota_exceeded",
            "spending_limit_reached",
            "usage_not_included",
            "1113",
            "1309",
            "status_code_1008",
        ],
    ),
    (
        Class::RateLimit,
        &[
            "rate_limit",
            "rate_limit_error",
            "rate_limit_exceeded",
            "rate_limit_reached_error",
            "rate_limited",
            "rate_limit_exceeded_error",
            "request_quota_exceeded",
            "requests_limit_exceeded",
            "resource_exhausted",
            "service_quota_exceeded_exception",
            "throttling",
            "throttling_exception",
            "token_quota_exceeded",
            "tokens_limit_exceeded",
            "too_many_requests",
            "too_many_requests_error",
            "too_many_requests_exception",
            "too_many_tokens_error",
            "usage_limit_exceeded",
            "usage_limit_reached",
            "user_global_rate_limited",
            "user_model_rate_limited",
            "1300",
            "1302",
            "1303",
            "1304",
            "1308",
            "1310",
            "status_code_1002",
        ],
    ),
    (
        Class::Overloaded,
        &[
            "capacity_exceeded",
            "engine_overloaded",
            "engine_overloaded_error",
            "model_not_ready_exception",
            "model_overloaded",
            "no_capacity",
            "overloaded",
            "overloaded_error",
            "provider_overloaded",
            "queue_exceeded",
            "server_is_overloaded",
            "server_overloaded",
            "service_tier_capacity_exceeded",
            "service_unavailable",
            "service_unavailable_error",
            "service_unavailable_exception",
            "slow_down",
            "system_overloaded",
            "unavailable",
            "unavailable_error",
            "1305",
            "1312",
        ],
    ),
    (
        Class::Auth,
        &[
            "access_denied",
            "access_denied_exception",
            "access_token_expired",
            "access_token_scope_insufficient",
            "account_deactivated",
            "api_key_http_referrer_blocked",
            "api_key_invalid",
            "api_key_ip_address_blocked",
            "api_key_service_blocked",
            "authentication_error",
            "authentication_failed",
            "auth_error",
            "consumer_invalid",
            "consumer_suspended",
            "credentials_missing",
            "expired_token",
            "expired_token_exception",
            "forbidden",
            "incomplete_signature",
            "incomplete_signature_exception",
            "insufficient_permissions",
            "insufficient_scope",
            "invalid_api_key",
            "invalid_authentication",
            "invalid_authentication_error",
            "invalid_client",
            "invalid_client_token_id",
            "invalid_grant",
            "invalid_issuer",
            "invalid_signature_exception",
            "invalid_token",
            "ip_not_authorized",
            "mismatched_organization",
            "mismatched_project",
            "missing_api_key",
            "missing_authentication_token",
            "missing_authentication_token_exception",
            "missing_scope",
            "not_authorized",
            "permission_denied",
            "permission_error",
            "service_disabled",
            "token_expired",
            "token_invalidated",
            "token_revoked",
            "unauthenticated",
            "unauthorized",
            "unauthorized_client",
            "unauthorized_error",
            "unrecognized_client_exception",
            "unsupported_country_region_territory",
            "user_project_denied",
            "wrong_api_key",
            "1000",
            "1001",
            "1002",
            "1003",
            "1004",
            "status_code_1004",
            "status_code_2049",
        ],
    ),
    (
        Class::ModelNotFound,
        &[
            "deployment_not_found",
            "invalid_model",
            "invalid_model_error",
            "model_not_available",
            "model_not_exist",
            "model_not_found",
            "model_not_found_error",
            "model_not_supported",
            "resource_not_found_error",
            "resource_not_found_exception",
            "unknown_model",
            "unsupported_model",
            "1211",
        ],
    ),
    (
        Class::Timeout,
        &[
            "deadline_exceeded",
            "gateway_timeout",
            "model_timeout_exception",
            "request_timeout",
            "timeout",
            "timeout_error",
        ],
    ),
    (
        Class::BadRequest,
        &[
            "content_filter",
            "content_policy_violation",
            "data_inspection_failed",
            "invalid_prompt",
            "request_too_large",
            "responsible_ai_policy_violation",
            "unsupported_parameter",
            "unsupported_value",
            "1301",
        ],
    ),
];

/// Codes so general that phrases and the HTTP status know better; used where there is neither.
const VAGUE_CODES: &[(Class, &[&str])] = &[
    (
        Class::BadRequest,
        &[
            "bad_request",
            "failed_precondition",
            "invalid_argument",
            "invalid_request",
            "invalid_request_error",
            "invalid_request_invalid_args",
            "invalid_request_prompt",
            "invalid_parameter",
            "not_found",
            "not_found_error",
            "not_supported_error",
            "out_of_range",
            "unprocessable_entity",
            "validation",
            "validation_error",
            "validation_exception",
        ],
    ),
    (
        Class::Server,
        &[
            "aborted",
            "api_error",
            "internal",
            "internal_error",
            "internal_failure",
            "internal_server_error",
            "internal_server_exception",
            "model_error_exception",
            "model_stream_error_exception",
            "processing_error",
            "server_error",
            "unknown",
            "unknown_error",
            "upstream_error",
        ],
    ),
];

/// Phrases that speak of the account, whatever code stands beside them: some providers use their
/// general "invalid request" or "quota" code for an empty purse. `*` stands for anything.
const BILLING_PHRASES: &[&str] = &[
    "credit balance is too low",
    "insufficient balance",
    "insufficient credits",
    "insufficient funds",
    "credits are depleted",
    "requires more credits",
    "used all available credits",
    "monthly spending limit",
    "billing is not active",
    "requires billing to be enabled",
    "please enable billing",
    "no active subscription",
    "no payment method",
];

/// How providers without a code of their own say that the prompt does not fit.
const OVERFLOW_PHRASES: &[&str] = &[
    // Anthropic, Fireworks
    "prompt is too long",
    "input length and `max_tokens` exceed context limit",
    // OpenAI, DeepSeek, vLLM, OpenRouter, Mistral, Groq
    "maximum context length is",
    "maximum context length of",
    "exceeds the context window",
    "exceeds maximum context length",
    "exceed* context length",
    "exceed* context window",
    "reduce the length of the messages",
    "too large for model with * maximum context length",
    "is longer than the maximum model length",
    "is longer than the model's context length",
    // Gemini, Vertex
    "exceeds the maximum number of tokens",
    "exceeds the maximum number of input tokens",
    // Bedrock
    "input is too long for requested model",
    "number of input tokens exceeds maximum length",
    "input tokens exceeded",
    // xAI
    "maximum prompt length is",
    // llama.cpp, Ollama, LM Studio
    "exceeds the available context size",
    "exceeded max context length",
    "greater than the context length",
    "when context the overflows",
    // Together, TGI
    "tokens + `max_new_tokens` must be <=",
    "`inputs` must have less than",
    // Copilot, Moonshot, MiniMax, Cohere, Qwen
    "prompt token count of * exceeds the limit of",
    "exceeded model token limit",
    "context window exceeds limit",
    "number of tokens in the prompt cannot exceed",
    "number of tokens * cannot exceed",
    "range of input length should be",
    "contextwindowexceedederror",
];

/// How providers say, under a general code, that they do not have the model.
const MODEL_PHRASES: &[&str] = &[
    "model not found",
    "model not exist",
    "model * not found",
    "model * does not exist",
    "invalid model",
    "is not a valid model",
    "model identifier is invalid",
    "no such model",
    "unknown model",
    "model is not supported when",
    "no endpoints found",
];

/// How providers say, under a general code, that the key is wrong.
const AUTH_PHRASES: &[&str] = &[
    "incorrect api key provided",
    "invalid api key",
    "api key not valid",
    "invalid x-api-key",
    "user location is not supported",
];

/// Judges a failure, and says which of the provider's names decided.
pub(super) fn class(status: Option<u16>, report: &Report) -> (Class, Option<String>) {
    let message = report.message.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|p| find_phrase(&message, p).is_some());
    let named = |table: &[(Class, &[&str])]| {
        report.names.iter().find_map(|name| Some((find_code(table, name)?, Some(name.clone()))))
    };
    if report.moderated {
        return (Class::BadRequest, None);
    }
    if says(BILLING_PHRASES) {
        return (Class::Billing, None);
    }
    if let Some(decided) = named(CODES) {
        return decided;
    }
    if says(OVERFLOW_PHRASES) {
        return (Class::ContextOverflow, None);
    }
    if says(AUTH_PHRASES) {
        return (Class::Auth, None);
    }
    let about_model = message.contains("model") || message.contains("deployment");
    match status {
        Some(404) if about_model || says(MODEL_PHRASES) => (Class::ModelNotFound, None),
        Some(400 | 422) | None if says(MODEL_PHRASES) => (Class::ModelNotFound, None),
        Some(status) => (of_status(status), None),
        None => named(VAGUE_CODES).unwrap_or((Class::Server, None)),
    }
}

/// Where in `message` the text after `phrase` begins; pieces between `*` must come in order.
pub(super) fn find_phrase(message: &str, phrase: &str) -> Option<usize> {
    phrase.split('*').try_fold(0, |at, piece| Some(at + message[at..].find(piece)? + piece.len()))
}

fn find_code(table: &[(Class, &[&str])], name: &str) -> Option<Class> {
    let name = snake_case(name);
    table.iter().find(|(_, codes)| codes.contains(&name.as_str())).map(|(class, _)| *class)
}

/// `ThrottlingException`, `invalid-argument` and `RESOURCE_EXHAUSTED` in one spelling.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_lower {
            snake.push('_');
        }
        after_lower = c.is_ascii_lowercase();
        snake.push(if matches!(c, '-' | ' ' | '.') { '_' } else { c.to_ascii_lowercase() });
    }
    snake
}

fn of_status(status: u16) -> Class {
    match status {
        401 | 403 | 407 => Class::Auth,
        402 => Class::Billing,
        408 | 504 | 522 | 524 => Class::Timeout,
        // 409: a lock timed out, says OpenAI; 424: the model behind Bedrock failed.
        409 | 424 | 425 | 499 => Class::Server,
        410 => Class::ModelNotFound,
        429 => Class::RateLimit,
        // 498: Groq's flex tier is full.
        498 | 503 | 529 => Class::Overloaded,
        300..=499 | 501 | 505 => Class::BadRequest,
        _ => Class::Server,
    }
}
