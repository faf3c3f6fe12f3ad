//! How long a provider asks us to wait.

use std::time::Duration;

use base::clock::Clock;

use super::Class;
use super::body::Report;
use super::table::find_phrase;

/// A quota of a day refills at midnight somewhere; no retry within a session will see it.
const DAILY_QUOTA_WAIT: Duration = Duration::from_hours(1);

/// Phrases after which a provider writes a time in its explanation.
const HINTS: &[&str] =
    &["try again in ", "retry in ", "retry after ", "try again after ", "retrying in "];

/// The wait a failed call asks for: headers first, then the body, then its prose.
pub(super) fn retry_after(class: Class, report: &Report) -> Option<Duration> {
    if !class.is_transient() {
        return None;
    }
    let asked = retry_header(report)
        .or_else(|| report.wait_s.and_then(seconds))
        .or_else(|| if class == Class::RateLimit { exhausted_reset(report) } else { None })
        .or_else(|| hint(&report.message));
    if report.daily_quota { Some(asked.unwrap_or_default().max(DAILY_QUOTA_WAIT)) } else { asked }
}

fn header<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
    let found = report.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim())
}

fn retry_header(report: &Report) -> Option<Duration> {
    if let Some(millis) = header(report, "retry-after-ms").and_then(|value| value.parse().ok()) {
        return seconds(f64::max(millis, 0.0) / 1000.0);
    }
    let value = header(report, "retry-after")?;
    if let Ok(number) = value.parse::<f64>() {
        return seconds(number.max(0.0));
    }
    let at = httpdate::parse_http_date(value).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(at.saturating_sub(now(report)))
}

/// The server's own clock if it says, so that ours may be wrong.
fn now(report: &Report) -> Duration {
    let server = header(report, "date")
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
    server.unwrap_or_else(|| {
        let millis = Clock::system().now().as_millis();
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    })
}

/// The longest reset among the limits of which nothing remains.
fn exhausted_reset(report: &Report) -> Option<Duration> {
    let resets = report.headers.iter().filter_map(|(name, value)| {
        let name = name.to_ascii_lowercase();
        let limit = name.strip_prefix("x-ratelimit-reset")?;
        let remaining = header(report, &format!("x-ratelimit-remaining{limit}"));
        let exhausted = remaining.is_none_or(|left| left.parse() == Ok(0.0));
        if exhausted { reset(value.trim(), report) } else { None }
    });
    resets.max()
}

/// A duration (`6m0s`), seconds, or a moment in seconds or milliseconds since 1970.
fn reset(value: &str, report: &Report) -> Option<Duration> {
    match value.parse::<f64>() {
        Ok(moment) if moment > 1e12 => Some(seconds(moment / 1e3)?.saturating_sub(now(report))),
        Ok(moment) if moment > 1e9 => Some(seconds(moment)?.saturating_sub(now(report))),
        Ok(number) => seconds(number),
        Err(_) => duration(value),
    }
}

fn hint(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    HINTS.iter().find_map(|hint| duration(&message[find_phrase(&message, hint)?..]))
}

/// Reads a time such as `1.2s`, `120ms`, `6m0s`, `1h2m3.5s` or `20 seconds` at the start of `text`.
fn duration(text: &str) -> Option<Duration> {
    let mut total = None;
    let mut rest = text;
    loop {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { return total };
        let after = rest[digits..].trim_start_matches(' ');
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit_s = match &after[..letters] {
            "ms" | "millisecond" | "milliseconds" => 0.001,
            "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hour" | "hours" => 3_600.0,
            "d" | "day" | "days" => 86_400.0,
            _ => return total,
        };
        total = Some(total.unwrap_or_default() + seconds(number * unit_s)?);
        rest = after[letters..].trim_start_matches(' ');
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}
