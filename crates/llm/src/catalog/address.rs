//! Base URLs as people write them, and as the wires expect them.

use settings::provider::{ProviderKind, Wire};
use url::Url;

use super::endpoint::is_local;

/// Brings a base URL as users and other tools write it to the form the wires expect: with a scheme,
/// without a slash at its end, and with the version that belongs to it.
pub(super) fn tidy(url: &str, kind: ProviderKind, wire: Wire) -> Option<String> {
    let is_bare = !url.contains("://");
    let url = url.trim().trim_end_matches('/');
    let url = if is_bare { format!("{}{url}", scheme_for(url)) } else { url.to_owned() };
    let mut parsed = Url::parse(&url).ok()?;
    if kind == ProviderKind::Demo {
        return Some(url);
    }
    if is_bare && kind == ProviderKind::Ollama && parsed.port().is_none() {
        // `OLLAMA_HOST` may be a host alone.
        parsed.set_port(Some(11434)).ok()?;
    }
    if parsed.host_str() == Some("0.0.0.0") {
        // Where a server listens, not where it can be reached.
        parsed.set_host(Some("127.0.0.1")).ok()?;
    }
    parsed.host_str()?;
    let path = parsed.path().trim_end_matches('/').to_owned();
    let is_versioned = path.rsplit('/').next().is_some_and(is_version);
    let path = match (kind, wire) {
        (ProviderKind::Azure, _) => {
            path.trim_end_matches("/v1").trim_end_matches("/openai").to_owned()
        }
        (ProviderKind::Bedrock, _) => path,
        (ProviderKind::GoogleVertex, _) | (_, Wire::AnthropicMessages) if !is_versioned => {
            path + "/v1"
        }
        (_, Wire::Gemini) if !is_versioned => path + "/v1beta",
        (ProviderKind::Openai, _) if path.is_empty() => "/v1".to_owned(),
        (kind, _) if is_local(kind) && path.is_empty() => "/v1".to_owned(),
        _ => path,
    };
    parsed.set_path(&path);
    Some(parsed.as_str().trim_end_matches('/').to_owned())
}

/// A host without a scheme is a server nearby, unless it looks like one on the internet.
fn scheme_for(url: &str) -> &'static str {
    let host = url.split(['/', ':']).next().unwrap_or_default();
    let is_address = host.chars().all(|c| c.is_ascii_digit() || c == '.');
    if is_address || !host.contains('.') { "http://" } else { "https://" }
}

/// `v1`, `v1beta`, `v4`.
fn is_version(segment: &str) -> bool {
    let mut letters = segment.chars();
    letters.next() == Some('v') && letters.next().is_some_and(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::wire_of;
    use super::*;

    #[test]
    fn base_urls_are_understood_as_people_write_them() {
        use ProviderKind as Kind;
        let cases = [
            ("https://api.anthropic.com", Kind::Anthropic, "https://api.anthropic.com/v1"),
            ("https://api.kimi.com/coding/", Kind::Anthropic, "https://api.kimi.com/coding/v1"),
            ("https://proxy.test/v1/", Kind::Anthropic, "https://proxy.test/v1"),
            ("http://127.0.0.1:9/", Kind::Google, "http://127.0.0.1:9/v1beta"),
            ("http://127.0.0.1:9", Kind::Openai, "http://127.0.0.1:9/v1"),
            ("https://api.githubcopilot.com", Kind::OpenaiCompat, "https://api.githubcopilot.com"),
            ("0.0.0.0", Kind::Ollama, "http://127.0.0.1:11434/v1"),
            ("192.168.1.4:9999", Kind::Ollama, "http://192.168.1.4:9999/v1"),
            ("localhost:1234", Kind::Lmstudio, "http://localhost:1234/v1"),
            ("https://x.openai.azure.com/openai/v1/", Kind::Azure, "https://x.openai.azure.com"),
            ("https://x.openai.azure.com/", Kind::Azure, "https://x.openai.azure.com"),
            ("https://proxy.test/vertex", Kind::GoogleVertex, "https://proxy.test/vertex/v1"),
            ("http://127.0.0.1:9/", Kind::Bedrock, "http://127.0.0.1:9"),
            ("https://h.test/api?key=1", Kind::OpenaiCompat, "https://h.test/api?key=1"),
        ];
        for (written, kind, meant) in cases {
            let tidied = tidy(written, kind, wire_of(kind));
            assert_eq!(tidied.as_deref(), Some(meant), "{written} as {kind:?}");
        }
        assert_eq!(tidy("http://", Kind::OpenaiCompat, Wire::OpenaiChat), None);
        assert_eq!(tidy("not a url", Kind::OpenaiCompat, Wire::OpenaiChat), None);
    }
}
