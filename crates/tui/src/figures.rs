//! Figures as people read them: times, ages, token counts, money, plurals.

use base::{Money, Timestamp, Usage};

/// A stretch of time.
pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..10 if ms >= 100 => format!("{}.{} s", seconds, ms % 1_000 / 100),
        0 => format!("{ms} ms"),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// A clock that runs: whole seconds.
pub(crate) fn clock(ms: u64) -> String {
    if ms < 10_000 { format!("{} s", ms / 1_000) } else { duration(ms) }
}

/// What a turn used.
pub(crate) fn usage(usage: &Usage) -> String {
    format!("{} in, {} out", tokens(usage.prompt()), tokens(usage.output))
}

/// An amount of money, for a footer.
pub(crate) fn money(cost: Money) -> String {
    let dollars = cost.as_dollars();
    if dollars > 0.0 && dollars < 0.000_05 {
        "<$0.0001".to_owned()
    } else if dollars != 0.0 && dollars.abs() < 0.01 {
        format!("${dollars:.4}")
    } else {
        format!("${dollars:.2}")
    }
}

/// A number of things.
pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// How long ago something was, in a few letters: `now`, `5m`, `3h`, `2d`, `7w`.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(then).as_secs();
    let (minute, hour, day, week) = (60, 3_600, 86_400, 604_800);
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{}m", seconds / minute),
        3_600..86_400 => format!("{}h", seconds / hour),
        86_400..1_209_600 => format!("{}d", seconds / day),
        1_209_600.. => format!("{}w", seconds / week),
    }
}

/// A count of tokens in a few letters: `950`, `12.4k`, `200k`, `1M`.
pub(crate) fn tokens(tokens: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = (tokens * 10 + unit / 2) / unit;
        if tenths >= 1_000 || tenths.is_multiple_of(10) {
            (tenths / 10).to_string()
        } else {
            format!("{}.{}", tenths / 10, tenths % 10)
        }
    };
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_500 => format!("{}k", tenths(1_000)),
        999_500.. => format!("{}M", tenths(1_000_000)),
    }
}

/// A price for a million tokens: `$3`, `$0.25`, `$0.075`.
pub(crate) fn price(money: Money) -> String {
    let dollars = format!("{:.3}", money.as_dollars());
    let short = match dollars.strip_suffix(".000") {
        Some(whole) => whole,
        None => dollars.strip_suffix('0').unwrap_or(&dollars),
    };
    format!("${short}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let counts = [
            (0, "0"),
            (999, "999"),
            (1_000, "1k"),
            (12_440, "12.4k"),
            (34_160, "34.2k"),
            (200_000, "200k"),
            (1_048_576, "1M"),
        ];
        for (tokens, text) in counts {
            assert_eq!(super::tokens(tokens), text);
        }
        for (dollars, text) in
            [(3.0, "$3"), (0.25, "$0.25"), (0.075, "$0.075"), (12.5, "$12.50"), (0.0, "$0")]
        {
            assert_eq!(price(Money::from_dollars(dollars)), text);
        }
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1_000);
        let ages = [(5, "now"), (120, "2m"), (7_200, "2h"), (172_800, "2d"), (2_000_000, "3w")];
        for (seconds, text) in ages {
            assert_eq!(ago(at(0), at(seconds)), text);
        }
        assert_eq!(ago(at(100), at(0)), "now");
    }

    #[test]
    fn figures_are_short() {
        let times = [
            (40, "40 ms"),
            (450, "0.4 s"),
            (4_200, "4.2 s"),
            (12_345, "12 s"),
            (65_000, "1 min 05 s"),
        ];
        for (ms, text) in times {
            assert_eq!(duration(ms), text);
        }
    }
}
