//! A screen with its colours, as text that can be approved.

use vt100::{Cell, Color, Screen};

/// Every row of a screen. A run of cells that look alike begins with how, between angles; of a blank only the
/// ground counts, so it makes no difference whether it was written or never touched.
pub(super) fn painted(screen: &Screen) -> String {
    let (rows, cols) = screen.size();
    let lines: Vec<String> = (0..rows.get()).map(|row| line(screen, row, cols.get())).collect();
    lines.join("\n")
}

fn line(screen: &Screen, row: u16, cols: u16) -> String {
    let mut text = String::new();
    let (mut letter, mut ground) = (String::new(), String::new());
    let cells = (0..cols).filter_map(|col| screen.cell(row, col));
    for cell in cells.filter(|cell| !cell.is_wide_continuation()) {
        let glyph = if cell.has_contents() { cell.contents() } else { " " };
        let (of_letter, of_ground) = (letter_of(cell), ground_of(cell));
        if of_ground != ground || (glyph != " " && of_letter != letter) {
            text.extend(["‹", of_letter.as_str(), of_ground.as_str(), "›"]);
            (letter, ground) = (of_letter, of_ground);
        }
        text.push_str(glyph);
    }
    text.trim_end().to_owned()
}

fn letter_of(cell: &Cell) -> String {
    let bold = if cell.bold() { " bold" } else { "" };
    let dim = if cell.dim() { " dim" } else { "" };
    let italic = if cell.italic() { " italic" } else { "" };
    format!("{}{bold}{dim}{italic}", name(cell.fgcolor()))
}

fn ground_of(cell: &Cell) -> String {
    let ground = match cell.bgcolor() {
        Color::Default => String::new(),
        color @ (Color::Idx(_) | Color::Rgb(..)) => format!(" on {}", name(color)),
    };
    let underline = if cell.underline() { " underline" } else { "" };
    let inverse = if cell.inverse() { " inverse" } else { "" };
    format!("{ground}{underline}{inverse}")
}

fn name(color: Color) -> String {
    match color {
        Color::Default => String::new(),
        Color::Idx(number) => number.to_string(),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}
