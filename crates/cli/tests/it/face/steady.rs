//! A screen without what differs from run to run: the home folder, sessions, times, ports, the spinner.
//!
//! What is replaced has another width. What stands further right keeps its column all the same, so that a
//! misplaced border or figure still fails; what a border or the screen's edge cuts off after it does not count.

/// The rows of a screen of so many columns, without what differs.
pub(super) fn steady(screen: &str, columns: u16, home: &str) -> String {
    let rows: Vec<String> =
        screen.lines().map(|row| steady_row(row, usize::from(columns), home)).collect();
    rows.join("\n")
}

fn steady_row(row: &str, columns: usize, home: &str) -> String {
    let spun = row.replace(|c: char| "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏".contains(c), "⠋");
    let mut row = Row { text: numberless(&spun), columns };
    while let Some(at) = row.text.find(home) {
        row.replace(at, home.len(), "~");
    }
    let mut from = 0;
    loop {
        if let Some((at, length, new)) = row.differing(from) {
            row.replace(at, length, new);
            from = at + new.len();
        }
        match row.text[from..].find(' ') {
            Some(gap) => from += gap + 1,
            None => return row.text.trim_end().to_owned(),
        }
    }
}

/// The length of a unit of time that a word begins with.
fn unit_length(word: &str) -> Option<usize> {
    let unit = word.trim_end_matches([',', ';', ')', '.']);
    matches!(unit, "s" | "ms").then_some(unit.len())
}

/// A row without the number of a demo's folder and of models in the catalogue, which grows.
fn numberless(row: &str) -> String {
    let row = match row.split_once("caiman-demo-") {
        Some((before, after)) => {
            let digits = after.chars().take_while(char::is_ascii_hexdigit).count();
            format!("{before}caiman-demo-{}{}", "0".repeat(digits), &after[digits..])
        }
        None => row.to_owned(),
    };
    let mut words: Vec<String> = row.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        if matches!(words[at - 1].as_str(), "models" | "provider") {
            words[at] = words[at].replace(|c: char| c.is_ascii_digit(), "0");
        }
    }
    words.join(" ")
}

struct Row {
    text: String,
    columns: usize,
}

impl Row {
    /// What differs from run to run in the word that begins at a place: where it is, its length, what stands for it.
    fn differing(&self, from: usize) -> Option<(usize, usize, &'static str)> {
        let mut words = self.text[from..].split(' ');
        let (word, next) = (words.next()?, words.next().unwrap_or_default());
        if let Some(port) = word.find("127.0.0.1:").map(|port| port + "127.0.0.1:".len()) {
            let digits = word[port..].chars().take_while(char::is_ascii_digit).count();
            return Some((from + port, digits, "0"));
        }
        if word.len() == 36 && word.matches('-').count() == 4 {
            return Some((from, word.len(), "ID"));
        }
        // An age stands at the right: where a run takes long it is minutes.
        let minutes = word.strip_suffix('m').filter(|word| word.parse::<u8>().is_ok());
        if minutes.is_some_and(|it| it.len() == 1) && self.text[..from].ends_with("  ") {
            return Some((from - 1, word.len() + 1, "now"));
        }
        word.parse::<f64>().ok()?;
        let length = word.len() + 1 + unit_length(next)?;
        // How long a call took is told only if it took long.
        let is_call = self.text.trim_start().starts_with(['●', '✗', '○', '◌']);
        match self.text[..from].strip_suffix(" · ").map(str::len) {
            Some(end) if is_call => Some((end, from + length - end, "")),
            Some(_) | None => Some((from, length, "0 s")),
        }
    }

    /// Replaces some bytes. What follows at once moves along; what stands apart keeps its column.
    fn replace(&mut self, at: usize, length: usize, new: &str) {
        let (before, after) = (&self.text[..at], &self.text[at + length..]);
        let end = after.find(['│', '╭', '╮', '╰', '╯']).unwrap_or(after.len());
        // A longer row was folded by the terminal, not cut.
        let is_full = (self.columns - 1..=self.columns).contains(&width(self.text.trim_end()));
        let is_cut = end < after.len() || is_full;
        let gap = after[..end].find("  ").or_else(|| after[..end].find("──"));
        let filler = if after[gap.unwrap_or(0)..].starts_with('─') { "─" } else { " " };
        let (near, rest) = match gap {
            Some(gap) => (&after[..gap], after[gap..].trim_start_matches(filler)),
            None if is_cut => ("", &after[end..]),
            None => (after, ""),
        };
        let gone = width(&self.text[at..]) - width(near) - width(rest);
        let fill = if rest.is_empty() { 0 } else { gone.saturating_sub(width(new)) };
        self.text = format!("{before}{new}{near}{}{rest}", filler.repeat(fill));
    }
}

/// Columns, as far as differences count: what is replaced is narrow.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[test]
fn what_stands_apart_from_a_time_keeps_its_column_and_what_is_cut_off_does_not_count() {
    let table = [
        (" ● bash Count · 1.5 s      │ lab", " ● bash Count              │ lab"),
        ("   m · 420 ms · 1.9k in   │ ces", "   m · 0 s · 1.9k in      │ ces"),
        ("   m · 420 ms · 1.9│ more", "   m · 0 s         │ more"),
        ("   m · 1.2 s · 1.9k│ more", "   m · 0 s         │ more"),
        (" ? waiting · 12 s · and so o", " ? waiting · 0 s"),
        (" ? waiting · 3 s · esc", " ? waiting · 0 s · esc"),
        (" to 127.0.0.1:40123, 3 s; /home/x/y", " to 127.0.0.1:0, 0 s; ~/y"),
        (" ⠙ working    x", " ⠋ working    x"),
        (" Tea, please       1m │", " Tea, please      now │"),
        (" ╭─ trust /home/x/y? ───╮", " ╭─ trust ~/y? ─────────╮"),
    ];
    for (shown, wanted) in table {
        assert_eq!(steady_row(shown, 28, "/home/x"), wanted, "{shown}");
    }
}
