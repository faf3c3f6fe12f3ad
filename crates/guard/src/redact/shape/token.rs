//! Tokens whose issuers gave them a beginning of their own.

use std::ops::Range;

use super::{Found, is_boundary, random, run};

/// A kind of token.
struct Kind {
    /// How it begins.
    start: &'static str,
    /// What follows, at least.
    least: usize,
    /// Which characters follow.
    alphabet: Alphabet,
    /// What it is called.
    name: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    /// Letters and digits.
    Plain,
    /// And `_` and `-`.
    Word,
    /// And `.`.
    Dotted,
    /// Letters, digits, `/` and `+`.
    Base64,
}

use Alphabet::{Base64, Dotted, Plain, Word};

const fn kind(start: &'static str, least: usize, alphabet: Alphabet, name: &'static str) -> Kind {
    Kind { start, least, alphabet, name }
}

/// Where one beginning begins another, the longer one stands first.
const KINDS: &[Kind] = &[
    kind("sk-ant-", 20, Word, "Anthropic key"),
    kind("sk-or-", 20, Word, "OpenRouter key"),
    kind("sk-proj-", 20, Word, "OpenAI key"),
    kind("sk-svcacct-", 20, Word, "OpenAI key"),
    kind("sk-admin-", 20, Word, "OpenAI key"),
    kind("sk-", 20, Word, "API key"),
    kind("sk_live_", 16, Word, "Stripe key"),
    kind("sk_test_", 16, Word, "Stripe key"),
    kind("rk_live_", 16, Word, "Stripe key"),
    kind("rk_test_", 16, Word, "Stripe key"),
    kind("whsec_", 24, Base64, "webhook secret"),
    kind("ghp_", 36, Plain, "GitHub token"),
    kind("gho_", 36, Plain, "GitHub token"),
    kind("ghu_", 36, Plain, "GitHub token"),
    kind("ghs_", 36, Plain, "GitHub token"),
    kind("ghr_", 36, Plain, "GitHub token"),
    kind("github_pat_", 36, Word, "GitHub token"),
    kind("glpat-", 20, Dotted, "GitLab token"),
    kind("gldt-", 20, Word, "GitLab token"),
    kind("glrt-", 20, Word, "GitLab token"),
    kind("glcbt-", 20, Word, "GitLab token"),
    kind("glptt-", 20, Word, "GitLab token"),
    kind("glsa_", 32, Word, "Grafana token"),
    kind("xoxa-", 16, Word, "Slack token"),
    kind("xoxb-", 16, Word, "Slack token"),
    kind("xoxp-", 16, Word, "Slack token"),
    kind("xoxr-", 16, Word, "Slack token"),
    kind("xoxs-", 16, Word, "Slack token"),
    kind("xoxe.", 16, Dotted, "Slack token"),
    kind("xoxe-", 16, Word, "Slack token"),
    kind("xapp-", 16, Word, "Slack token"),
    kind("AKIA", 16, Plain, "AWS access key"),
    kind("ASIA", 16, Plain, "AWS access key"),
    kind("AIza", 35, Word, "Google key"),
    kind("ya29.", 20, Dotted, "Google token"),
    kind("GOCSPX-", 24, Word, "Google client secret"),
    kind("eyJ", 30, Dotted, "JWT"),
    kind("npm_", 36, Plain, "npm token"),
    kind("pypi-", 40, Word, "PyPI token"),
    kind("rubygems_", 40, Plain, "RubyGems token"),
    kind("cio", 32, Plain, "crates.io token"),
    kind("hf_", 30, Plain, "Hugging Face token"),
    kind("gsk_", 40, Plain, "Groq key"),
    kind("xai-", 40, Plain, "xAI key"),
    kind("csk-", 32, Plain, "Cerebras key"),
    kind("pplx-", 32, Plain, "Perplexity key"),
    kind("nvapi-", 40, Word, "NVIDIA key"),
    kind("fw_", 20, Plain, "Fireworks key"),
    kind("tgp_v1_", 30, Word, "Together key"),
    kind("r8_", 30, Plain, "Replicate token"),
    kind("dop_v1_", 40, Plain, "DigitalOcean token"),
    kind("doo_v1_", 40, Plain, "DigitalOcean token"),
    kind("dckr_pat_", 20, Word, "Docker token"),
    kind("shpat_", 32, Plain, "Shopify token"),
    kind("shpss_", 32, Plain, "Shopify token"),
    kind("shpca_", 32, Plain, "Shopify token"),
    kind("SG.", 60, Dotted, "SendGrid key"),
    kind("hvs.", 24, Word, "Vault token"),
    kind("lin_api_", 32, Plain, "Linear key"),
    kind("ntn_", 40, Plain, "Notion token"),
    kind("figd_", 36, Word, "Figma token"),
    kind("sbp_", 36, Plain, "Supabase token"),
    kind("sntrys_", 40, Base64, "Sentry token"),
    kind("ATATT3", 60, Dotted, "Atlassian token"),
    kind("PMAK-", 40, Word, "Postman key"),
    kind("NRAK-", 24, Plain, "New Relic key"),
    kind("AGE-SECRET-KEY-1", 50, Plain, "age key"),
];

/// An AWS secret key has exactly so many characters.
pub(super) const AWS_SECRET_CHARS: usize = 40;

/// A Discord bot's token: its id, a time and a signature.
pub(super) const DISCORD: &str =
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}";

/// How tokens begin.
pub(super) fn starts() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.start)
}

/// The token that begins at `start`.
pub(super) fn at(text: &str, start: usize) -> Option<Found> {
    let rest = &text.as_bytes()[start..];
    let kind = KINDS.iter().find(|kind| rest.starts_with(kind.start.as_bytes()))?;
    // So every run is walked once, however many beginnings it has inside.
    if !is_boundary(text, start, |byte| Word.has(byte) || kind.alphabet.has(byte)) {
        return None;
    }
    let body = start + kind.start.len();
    let length = run(text, body, |byte| kind.alphabet.has(byte));
    let rest = text[body..body + length].trim_end_matches('.');
    let end = body + rest.len();
    // What goes on in other characters is a longer word, not this token.
    let goes_on = kind.alphabet == Plain && goes_on(text, end);
    let fits = match kind.start {
        "eyJ" => is_jwt(&text[start..end]),
        "AKIA" | "ASIA" => rest.len() == kind.least && is_upper_with_digit(rest),
        _ => rest.len() >= kind.least && random::is_random(rest),
    };
    (fits && !goes_on).then_some(Found { place: start..end, name: kind.name })
}

/// An AWS key's id, and the secret that stands beside it on the line.
pub(super) fn aws(text: &str, start: usize) -> Vec<Found> {
    const NEAR: usize = 300;
    let Some(id) = at(text, start) else { return Vec::new() };
    let near = &text[id.place.end..text.floor_char_boundary(id.place.end + NEAR)];
    let line = &near[..near.find('\n').unwrap_or(near.len())];
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '+');
    let offset = |word: &str| id.place.end + (word.as_ptr() as usize - line.as_ptr() as usize);
    let words = line.split(|c: char| !is_part(c));
    let secret =
        words.filter(|word| word.len() == AWS_SECRET_CHARS).find(|word| random::is_mixed(word));
    let secret = secret.map(|word| Found {
        place: offset(word)..offset(word) + word.len(),
        name: "AWS secret key",
    });
    std::iter::once(id).chain(secret).collect()
}

/// A Telegram bot's token; `colon` is where its number ends.
pub(super) fn telegram(text: &str, colon: usize) -> Option<Found> {
    let before = text.as_bytes()[..colon].iter().rev();
    let digits = before.take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let start = colon - digits;
    let length = run(text, colon + 1, |byte| Word.has(byte));
    let place = start..colon + 1 + length;
    // A bot's number stands behind `bot` in an address.
    let begins = is_boundary(text, start, |byte| Word.has(byte)) || text[..start].ends_with("bot");
    let fits = (8..=10).contains(&digits) && length == 35;
    (fits && begins).then_some(Found { place, name: "Telegram token" })
}

/// A Discord bot's token; its id is a number in base64.
pub(super) fn discord(text: &str, start: usize, end: usize) -> Option<Found> {
    let id = text[start..end].split('.').next()?;
    let begins = is_boundary(text, start, |byte| Dotted.has(byte));
    let fits = begins && !goes_on(text, end) && is_number_in_base64(id);
    fits.then_some(Found { place: start..end, name: "Discord token" })
}

/// The secret part of an address that anybody may post to.
pub(super) fn webhook(text: &str, start: usize) -> Option<Found> {
    const LONGEST: usize = 256;
    let window = &text[start..text.floor_char_boundary(start + LONGEST)];
    let is_part = |byte: u8| Word.has(byte) || byte == b'/';
    let path = &window[..run(window, 0, is_part)];
    let last = path.rsplit('/').next()?;
    let place: Range<usize> = start + path.len() - last.len()..start + path.len();
    let fits = last.len() >= 20 && random::is_random(last);
    fits.then_some(Found { place, name: "webhook secret" })
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        byte.is_ascii_alphanumeric()
            || match self {
                Plain => false,
                Word => matches!(byte, b'_' | b'-'),
                Dotted => matches!(byte, b'_' | b'-' | b'.'),
                Base64 => matches!(byte, b'/' | b'+'),
            }
    }
}

/// Three parts or five, of which the first is an object in base64, and the second too where it is readable.
fn is_jwt(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    match parts.as_slice() {
        [head, body, signature] => {
            head.len() >= 10 && body.starts_with("eyJ") && body.len() >= 10 && signature.len() >= 10
        }
        [head, _, _, body, _] => head.len() >= 10 && body.len() >= 10,
        _ => false,
    }
}

fn is_upper_with_digit(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    text.bytes().all(fits) && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a word goes on at `at`.
fn goes_on(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(|byte| Word.has(*byte))
}

/// Whether a text is a decimal number in base64: a digit is `0011` and four bits of which the first two are
/// never both set, which leaves few letters at each place.
fn is_number_in_base64(text: &str) -> bool {
    const PLACES: [&str; 4] = ["MNO", "DTjzAQgw", "AEIMQUYcgk", "wxyz012345"];
    text.bytes().enumerate().all(|(at, byte)| PLACES[at % 4].as_bytes().contains(&byte))
}
