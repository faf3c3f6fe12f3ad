use reqwest::header::{HeaderName, HeaderValue};

use super::*;

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn read(status: u16, body: &str) -> Error {
    Error::from_response(status, &HeaderMap::new(), body.as_bytes())
}

/// Headers, a body, and the seconds they ask to wait.
type WaitCase<'a> = (&'a [(&'static str, &'a str)], &'a str, Option<f64>);

fn wait(pairs: &[(&'static str, &str)], body: &str) -> Option<Duration> {
    Error::from_response(429, &headers(pairs), body.as_bytes()).retry_after
}

#[test]
fn every_provider_is_classed_by_its_own_words() {
    use Class::{
        Auth, BadRequest, Billing, ContextOverflow, ModelNotFound, Overloaded, RateLimit, Server,
        Timeout,
    };
    #[rustfmt::skip]
    let cases: &[(u16, &str, Class, &str)] = &[
        // OpenAI
        (401, r#"{"error":{"message":"Incorrect API key provided: nope.","type":"invalid_request_error","code":"invalid_api_key"}}"#, Auth, "invalid_api_key"),
        (429, r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#, Billing, "insufficient_quota"),
        (429, r#"{"error":{"message":"Rate limit reached for gpt-5 on tokens per min (TPM)","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#, RateLimit, "rate_limit_exceeded"),
        (400, r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#, ContextOverflow, "context_length_exceeded"),
        (404, r#"{"error":{"message":"The model `gpt-9` does not exist or you do not have access to it.","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#, ModelNotFound, "model_not_found"),
        (403, r#"{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}"#, Auth, "unsupported_country_region_territory"),
        (500, r#"{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#, Server, "server_error"),
        (429, r#"{"error":{"type":"usage_limit_reached","message":"The usage limit has been reached","plan_type":"plus","resets_in_seconds":3600}}"#, RateLimit, "usage_limit_reached"),
        // Anthropic
        (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214011 tokens > 200000 maximum"},"request_id":"req_1"}"#, ContextOverflow, "invalid_request_error"),
        (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}"#, Billing, "invalid_request_error"),
        (400, r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}"#, BadRequest, "invalid_request_error"),
        (413, r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#, BadRequest, "request_too_large"),
        (429, r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 30,000 input tokens per minute"}}"#, RateLimit, "rate_limit_error"),
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Overloaded, "overloaded_error"),
        (404, r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#, ModelNotFound, "not_found_error"),
        (403, r#"{"type":"error","error":{"type":"permission_error","message":"Your key may not use this"}}"#, Auth, "permission_error"),
        (504, r#"{"type":"error","error":{"type":"timeout_error","message":"The request took too long"}}"#, Timeout, "timeout_error"),
        // Gemini and Vertex
        (400, r#"{"error":{"code":400,"message":"The input token count (1500000) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}"#, ContextOverflow, "INVALID_ARGUMENT"),
        (400, r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}]"#, Auth, "API_KEY_INVALID"),
        (429, r#"{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}"#, RateLimit, "RESOURCE_EXHAUSTED"),
        (503, r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#, Overloaded, "UNAVAILABLE"),
        (404, r#"{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}"#, ModelNotFound, "NOT_FOUND"),
        (403, r#"{"error":{"code":403,"message":"This API method requires billing to be enabled.","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}"#, Billing, "BILLING_DISABLED"),
        (504, r#"{"error":{"code":504,"message":"Deadline expired","status":"DEADLINE_EXCEEDED"}}"#, Timeout, "DEADLINE_EXCEEDED"),
        // AWS
        (400, r#"{"__type":"com.amazon.coral.service#ValidationException","message":"Input is too long for requested model."}"#, ContextOverflow, "ValidationException"),
        (429, r#"{"__type":"ThrottlingException","message":"Too many tokens, please wait before trying again."}"#, RateLimit, "ThrottlingException"),
        (403, r#"{"__type":"AccessDeniedException","Message":"You don't have access to the model with the specified model ID."}"#, Auth, "AccessDeniedException"),
        (400, r#"{"__type":"ValidationException","message":"The provided model identifier is invalid."}"#, ModelNotFound, "ValidationException"),
        (424, r#"{"__type":"ModelErrorException","message":"The model failed"}"#, Server, "ModelErrorException"),
        // Azure
        (404, r#"{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}"#, ModelNotFound, "DeploymentNotFound"),
        (400, r#"{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{}}}}"#, BadRequest, "content_filter"),
        (429, r#"{"error":{"code":"429","message":"Requests have exceeded call rate limit. Please retry after 26 seconds."}}"#, RateLimit, ""),
        // Mistral, Cohere, xAI, DeepSeek, Groq, Moonshot, z.ai, MiniMax, Copilot
        (400, r#"{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}"#, ModelNotFound, "invalid_model"),
        (400, r#"{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":"3051"}"#, ContextOverflow, "3051"),
        (422, r#"{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}"#, BadRequest, ""),
        (429, r#"{"object":"error","message":"Rate limit exceeded","type":"rate_limited","param":null,"code":"1300"}"#, RateLimit, "1300"),
        (400, r#"{"id":"1","message":"too many tokens: total number of tokens in the prompt cannot exceed 4081"}"#, ContextOverflow, ""),
        (400, r#"{"code":"invalid-argument","error":"Model not found: grok-9"}"#, ModelNotFound, "invalid-argument"),
        (400, r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}"#, Auth, "Client specified an invalid argument"),
        (400, r#"{"code":"invalid-argument","error":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}"#, ContextOverflow, "invalid-argument"),
        (403, r#"{"code":"permission-denied","error":"Your team has either used all available credits or reached its monthly spending limit."}"#, Billing, "permission-denied"),
        (402, r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#, Billing, "invalid_request_error"),
        (401, r#"{"error":{"message":"Authentication Fails","type":"authentication_error","code":"invalid_request_error"}}"#, Auth, "authentication_error"),
        (413, r#"{"error":{"message":"Request too large for model on tokens per minute (TPM): Limit 6000, Requested 7000","type":"tokens","code":"rate_limit_exceeded"}}"#, RateLimit, "rate_limit_exceeded"),
        (400, r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error"}}"#, ContextOverflow, "invalid_request_error"),
        (429, r#"{"error":{"message":"Your account is suspended, please check your plan","type":"exceeded_current_quota_error"}}"#, Billing, "exceeded_current_quota_error"),
        (429, r#"{"error":{"code":"1113","message":"Your account is in arrears"}}"#, Billing, "1113"),
        (200, r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#, Billing, "status_code_1008"),
        (400, r#"{"error":{"message":"prompt token count of 130000 exceeds the limit of 128000","code":"model_max_prompt_tokens_exceeded"}}"#, ContextOverflow, "model_max_prompt_tokens_exceeded"),
        (400, r#"{"detail":"The 'gpt-9' model is not supported when using Codex with a ChatGPT account."}"#, ModelNotFound, ""),
        // OpenRouter: its own words, a provider's words inside, and a moderator's
        (402, r#"{"error":{"code":402,"message":"This request requires more credits"}}"#, Billing, ""),
        (400, r#"{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}","provider_name":"Azure"}}}"#, ContextOverflow, "context_length_exceeded"),
        (403, r#"{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"],"flagged_input":"x"}}}"#, BadRequest, ""),
        (404, r#"{"error":{"message":"No endpoints found for x/y.","code":404}}"#, ModelNotFound, ""),
        (200, r#"{"error":{"code":502,"message":"Upstream died"},"choices":[]}"#, Server, ""),
        // Local servers
        (400, r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":512}}"#, ContextOverflow, "exceed_context_size_error"),
        (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#, Overloaded, "unavailable_error"),
        (404, r#"{"error":"model 'llama9' not found"}"#, ModelNotFound, ""),
        (400, r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","code":400}"#, ContextOverflow, "BadRequestError"),
        (422, r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000","error_type":"validation"}"#, ContextOverflow, "validation"),
        // No words at all
        (502, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>", Server, ""),
        (408, "", Timeout, ""),
        (418, "I am a teapot", BadRequest, ""),
        (501, r#"{"error":{"message":"no such thing here"}}"#, BadRequest, ""),
        (400, "event: error\ndata: {\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}\n\n", ContextOverflow, "context_length_exceeded"),
    ];
    for (status, body, class, code) in cases {
        let error = read(*status, body);
        assert_eq!(error.class, *class, "{body}");
        assert_eq!(error.code.as_deref().unwrap_or(""), *code, "{body}");
    }
}

#[test]
fn an_error_inside_a_good_response_needs_no_status() {
    #[rustfmt::skip]
    let cases: &[(&str, Class)] = &[
        (r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#, Class::RateLimit),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, Class::Overloaded),
        (r#"{"code":"server_error","message":"The server had an error"}"#, Class::Server),
        (r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"pay"}}}"#, Class::Billing),
        (r#"{"type":"invalid_request_error","message":"no"}"#, Class::BadRequest),
        ("something odd", Class::Server),
    ];
    for (body, class) in cases {
        assert_eq!(Error::from_body(None, body.as_bytes()).class, *class, "{body}");
        assert_eq!(Error::from_body(Some(200), body.as_bytes()).class, *class, "{body} in a 200");
    }
    let named = Error::from_code("throttlingException", br#"{"message":"Too many requests"}"#);
    assert_eq!((named.class, &named.message[..]), (Class::RateLimit, "Too many requests"));
}

#[test]
fn the_wait_is_read_from_headers_body_and_prose() {
    #[rustfmt::skip]
    let cases: &[WaitCase<'_>] = &[
        (&[("retry-after", "7")], "", Some(7.0)),
        (&[("retry-after", "7"), ("retry-after-ms", "1500")], "", Some(1.5)),
        (&[("retry-after", "Fri, 01 Jan 2027 00:00:30 GMT"), ("date", "Fri, 01 Jan 2027 00:00:00 GMT")], "", Some(30.0)),
        (&[("retry-after", "Fri, 01 Jan 2010 00:00:30 GMT")], "", Some(0.0)),
        (&[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "6m0s"), ("x-ratelimit-remaining-tokens", "90"), ("x-ratelimit-reset-tokens", "1h")], "", Some(360.0)),
        (&[("x-ratelimit-reset-tokens", "120ms")], "", Some(0.12)),
        (&[], r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota","details":[{"retryDelay":"34s"}]}}"#, Some(34.0)),
        (&[], r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"retryDelay":"34s"}]}}"#, Some(3600.0)),
        (&[], r#"{"error":{"message":"Please try again in 1.2s. Visit …","code":"rate_limit_exceeded"}}"#, Some(1.2)),
        (&[], r#"{"error":{"message":"try again in 7m12.5s","code":"rate_limit_exceeded"}}"#, Some(432.5)),
        (&[], r#"{"error":{"message":"Please retry after 26 seconds."}}"#, Some(26.0)),
        (&[("date", "Fri, 01 Jan 2027 00:00:00 GMT")], r#"{"error":{"code":429,"message":"free limit","metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1798761660000"}}}}"#, Some(60.0)),
        (&[("retry-after", "soon")], r#"{"error":{"message":"slow down"}}"#, None),
    ];
    for (headers, body, expected) in cases {
        assert_eq!(
            wait(headers, body),
            expected.map(Duration::from_secs_f64),
            "{headers:?} {body}"
        );
    }
    let hopeless = Error::from_response(401, &headers(&[("retry-after", "7")]), b"");
    assert_eq!(hopeless.retry_after, None);
}

#[test]
fn messages_are_the_providers_words_bounded_and_without_keys() {
    #[rustfmt::skip]
    let cases: &[(u16, &str, &str)] = &[
        (401, r#"{"error":{"message":"Incorrect API key provided: sk-inval**************-key. See (sk-proj-AbCdEfGh12345678)","code":"invalid_api_key"}}"#, "Incorrect API key provided: sk-••••. See (sk-••••)"),
        (400, r#"{"error":{"message":"a task-force of risk-takers"}}"#, "a task-force of risk-takers"),
        (400, "{\"error\":{\"message\":\"red \\u001b[31malert\\n  on two\\u0007 lines\"}}", "red [31malert on two lines"),
        (422, r#"{"detail":[{"loc":["body","messages",0],"msg":"Field required"},{"msg":"bad"}]}"#, "body.messages.0: Field required; bad"),
        (400, r#"{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"message\":\"no tools\"}","provider_name":"Nova"}}}"#, "Nova: no tools"),
        (400, r#"{"error":{"message":"{\"error\":{\"message\":\"inner\"}}"}}"#, "inner"),
        (502, "<!DOCTYPE html>\n<HTML><head><TITLE>\nBad  Gateway</TITLE>", "a web page came back instead of an answer: Bad Gateway"),
        (502, "<html>nothing", "a web page came back instead of an answer"),
        (503, "", "HTTP 503 Service Unavailable, without explanation"),
        (500, "\"just text\"", "just text"),
        (500, r#"{"what":"ever"}"#, r#"{"what":"ever"}"#),
        (400, r#"{"error":"invalid_grant","error_description":"Token expired"}"#, "Token expired"),
        (403, r#"{"success":false,"errors":[{"code":10000,"message":"Authentication error"}]}"#, "Authentication error"),
    ];
    for (status, body, expected) in cases {
        assert_eq!(read(*status, body).message, *expected, "{body}");
    }
    let long = read(400, &format!(r#"{{"error":{{"message":"{}"}}}}"#, "é ".repeat(4_000)));
    assert_eq!(long.message.chars().count(), 1_001);
}

#[test]
fn amazon_names_its_errors_in_a_header() {
    let named = headers(&[("x-amzn-errortype", "ThrottlingException:http://internal.amazon.com/")]);
    let error = Error::from_response(400, &named, br#"{"message":"Too many requests"}"#);
    assert_eq!(error.class, Class::RateLimit);
    assert_eq!(error.code.as_deref(), Some("ThrottlingException"));
}
