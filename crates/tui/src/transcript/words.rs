//! Figures as people read them: times, token counts, money, plurals.

use base::{Money, Usage};

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

/// A number of tokens.
pub(crate) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..100_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        100_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

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
        for (count, text) in
            [(999, "999"), (34_160, "34.1k"), (182_000, "182k"), (1_250_000, "1.2M")]
        {
            assert_eq!(tokens(count), text);
        }
    }
}
