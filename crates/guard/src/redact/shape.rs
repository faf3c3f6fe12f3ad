//! Secrets that are known by their shape.
//!
//! One pass finds anchors (the beginnings that issuers chose, names that say secret, `://`); each anchor is
//! then judged by hand, looking at a bounded piece of text around it or at a run it begins. So the time is
//! linear in the text, whatever the text.

mod assignment;
mod block;
mod token;

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, random};

pub(super) use block::last_before as last_block_before;

/// Every secret that has a shape, in the order they were found.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut from = 0;
    while let Some(hit) = ANCHORS.find_at(text, from) {
        let secrets = judge(text, hit.start(), hit.end());
        // A name may be part of a longer one, so the next anchor may begin inside this one.
        from = text.ceil_char_boundary(hit.start() + 1);
        for secret in secrets {
            from = from.max(secret.place.end);
            found.push(secret);
        }
    }
    found.sort_by_key(|found| (found.place.start, std::cmp::Reverse(found.place.end)));
    found
}

/// Where the first anchor is: from there on, more text may make a secret.
pub(super) fn first_anchor(text: &str) -> Option<usize> {
    ANCHORS.find(text).map(|hit| hit.start())
}

/// Every way a secret may announce itself.
static ANCHORS: LazyLock<Regex> = LazyLock::new(|| {
    let tokens: Vec<String> = token::starts().map(regex::escape).collect();
    let pattern = format!(
        "{}|{}|(?i:{})|{}",
        tokens.join("|"),
        ["-----BEGIN ", "-----END ", "://", ":AA", "hooks\\.slack\\.com/", "/api/webhooks/"]
            .join("|"),
        assignment::NAMES,
        token::DISCORD,
    );
    match Regex::new(&pattern) {
        Ok(regex) => regex,
        Err(error) => unreachable!("the pattern is fixed and tested: {error}"),
    }
});

fn judge(text: &str, start: usize, end: usize) -> Vec<Found> {
    let anchor = &text[start..end];
    let one = match anchor {
        "-----BEGIN " => block::begun(text, start),
        "-----END " => block::ended(text, start),
        "://" => address(text, end),
        ":AA" => token::telegram(text, start),
        "hooks.slack.com/" | "/api/webhooks/" => token::webhook(text, end),
        "AKIA" | "ASIA" => return token::aws(text, start),
        _ if token::starts().any(|prefix| prefix == anchor) => token::at(text, start),
        _ if anchor.contains('.') => token::discord(text, start, end),
        _ => assignment::at(text, start, end),
    };
    one.into_iter().collect()
}

/// The password of `://user:password@host`.
fn address(text: &str, start: usize) -> Option<Found> {
    const LONGEST: usize = 512;
    let rest = &text[start..text.floor_char_boundary(start + LONGEST)];
    let stop = |c: char| c.is_whitespace() || "/?#\"'`<>|\\,;()[]{}".contains(c);
    let authority = &rest[..rest.find(stop).unwrap_or(rest.len())];
    let (user_info, _) = authority.rsplit_once('@')?;
    let (user, password) = user_info.split_once(':')?;
    let masked_before = password.is_empty() || password.starts_with(['$', '*', '%']);
    if masked_before || password == user || is_placeholder(password) {
        return None;
    }
    let begin = start + user.len() + 1;
    Some(Found { place: begin..begin + password.len(), name: "password" })
}

/// Whether a text has an address or a connection string with a password in it, whatever the password.
pub(super) fn has_password(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut named = ["password=", "passwd=", "pwd="].iter().flat_map(|name| {
        lower.match_indices(name).filter_map(|(at, name)| lower.as_bytes().get(at + name.len()))
    });
    if named.any(|next| !next.is_ascii_whitespace() && !matches!(next, b';' | b'&')) {
        return true;
    }
    let addresses = text.match_indices("://").map(|(at, sign)| &text[at + sign.len()..]);
    addresses.map(|rest| rest.split(['/', '?', '#', ' ', '\n']).next().unwrap_or_default()).any(
        |authority| {
            let user_info = authority.rsplit_once('@').map(|(user_info, _)| user_info);
            let password =
                user_info.and_then(|it| it.split_once(':')).map(|(_, password)| password);
            password.is_some_and(|password| !password.is_empty())
        },
    )
}

/// Words that stand for a secret in documentation.
fn is_placeholder(text: &str) -> bool {
    const WORDS: &[&str] = &[
        "password", "passwd", "pass", "pwd", "pw", "secret", "token", "key", "apikey", "user",
        "username", "example", "changeme", "test", "foo", "bar", "redacted", "hidden", "masked",
    ];
    let lower = text.to_ascii_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    WORDS.contains(&bare)
        || ["your", "my_", "my-", "xxx", "placeholder", "dummy"]
            .iter()
            .any(|part| bare.contains(part))
}

/// Whether a token can begin at `at`: not in the middle of a longer one. A line break or a tab written as
/// `\n` or `\t` ends one too, and so does `%3D`.
fn is_boundary(text: &str, at: usize, belongs: impl Fn(u8) -> bool) -> bool {
    match &text.as_bytes()[..at] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !belongs(*last),
    }
}

/// The length of the run of characters from `start` that `fits` takes.
fn run(text: &str, start: usize, fits: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()[start..].iter().take_while(|byte| fits(**byte)).count()
}
