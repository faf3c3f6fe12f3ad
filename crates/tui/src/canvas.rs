//! A grid of cells to draw on: the only way text gets to the screen, so the only place it must be made safe.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::line::Line;
use crate::style::{Color, Style};
use crate::terminal::picture::Picture;
use crate::text;

/// A place on the canvas, from the top left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Point {
    /// Column.
    pub x: u16,
    /// Row.
    pub y: u16,
}

/// A rectangle of cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Rect {
    /// Its left column.
    pub x: u16,
    /// Its top row.
    pub y: u16,
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

impl Rect {
    /// A rectangle at the top left.
    pub fn sized(width: u16, height: u16) -> Self {
        Self { x: 0, y: 0, width, height }
    }

    /// The first row below.
    pub fn bottom(self) -> u16 {
        self.y.saturating_add(self.height)
    }

    /// The first column to the right.
    pub fn right(self) -> u16 {
        self.x.saturating_add(self.width)
    }

    /// Whether a point is in it.
    pub fn contains(self, point: Point) -> bool {
        (self.x..self.right()).contains(&point.x) && (self.y..self.bottom()).contains(&point.y)
    }

    /// Its first `rows` rows, and the rest.
    pub fn split_top(self, rows: u16) -> (Self, Self) {
        let rows = rows.min(self.height);
        let top = Self { height: rows, ..self };
        (top, Self { y: self.y + rows, height: self.height - rows, ..self })
    }

    /// All but its last `rows` rows, and these.
    pub fn split_bottom(self, rows: u16) -> (Self, Self) {
        self.split_top(self.height - rows.min(self.height))
    }

    /// Its first `columns` columns, and the rest.
    pub fn split_left(self, columns: u16) -> (Self, Self) {
        let columns = columns.min(self.width);
        let left = Self { width: columns, ..self };
        (left, Self { x: self.x + columns, width: self.width - columns, ..self })
    }

    /// The same without `columns` at each side and `rows` above and below.
    #[must_use]
    pub fn inset(self, columns: u16, rows: u16) -> Self {
        let (columns, rows) = (columns.min(self.width / 2), rows.min(self.height / 2));
        Self {
            x: self.x + columns,
            y: self.y + rows,
            width: self.width - 2 * columns,
            height: self.height - 2 * rows,
        }
    }

    /// A rectangle of at most this size in its middle.
    #[must_use]
    pub fn middle(self, width: u16, height: u16) -> Self {
        let (width, height) = (width.min(self.width), height.min(self.height));
        Self {
            x: self.x + (self.width - width) / 2,
            y: self.y + (self.height - height) / 2,
            width,
            height,
        }
    }
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The grapheme it shows; empty for the right half of a wide one.
    pub glyph: SmolStr,
    /// How it looks.
    pub style: Style,
    /// Where it links to: an index into [`Canvas::links`], from 1; 0 for no link.
    pub link: u16,
}

impl Cell {
    /// A blank in the terminal's own look.
    pub const BLANK: Self = Self { glyph: SmolStr::new_inline(" "), style: Style::PLAIN, link: 0 };
}

/// A picture over cells, which stay blank below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The cells it covers.
    pub area: Rect,
    /// The picture.
    pub picture: Arc<Picture>,
}

/// A grid of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canvas {
    width: u16,
    height: u16,
    cells: Vec<Cell>,
    links: Vec<Arc<str>>,
    placements: Vec<Placement>,
}

impl Canvas {
    /// A blank canvas.
    pub fn new(width: u16, height: u16) -> Self {
        let count = usize::from(width) * usize::from(height);
        let (links, placements) = (Vec::new(), Vec::new());
        Self { width, height, cells: vec![Cell::BLANK; count], links, placements }
    }

    /// Makes it blank, of this size; the memory is used again.
    pub fn reset(&mut self, width: u16, height: u16) {
        (self.width, self.height) = (width, height);
        self.cells.clear();
        self.cells.resize(usize::from(width) * usize::from(height), Cell::BLANK);
        self.links.clear();
        self.placements.clear();
    }

    /// All of it.
    pub fn area(&self) -> Rect {
        Rect::sized(self.width, self.height)
    }

    /// The cell at a point; none outside.
    pub fn cell(&self, at: Point) -> Option<&Cell> {
        self.index(at).map(|index| &self.cells[index])
    }

    /// A row's cells.
    pub fn row(&self, y: u16) -> &[Cell] {
        let start = usize::from(y) * usize::from(self.width);
        self.cells.get(start..start + usize::from(self.width)).unwrap_or_default()
    }

    /// Lays a picture over an area; one that is not wholly on the canvas is left out. What is drawn over its
    /// cells later hides it.
    pub fn place_picture(&mut self, area: Rect, picture: Arc<Picture>) {
        let fits = area.right() <= self.width && area.bottom() <= self.height;
        if fits && area.width > 0 && area.height > 0 {
            self.fill(area, Style::PLAIN);
            self.placements.push(Placement { area, picture });
        }
    }

    /// The pictures that nothing was drawn over.
    pub fn pictures(&self) -> impl Iterator<Item = &Placement> {
        self.placements.iter().filter(|placement| self.is_blank(placement.area))
    }

    fn is_blank(&self, area: Rect) -> bool {
        (area.y..area.bottom()).all(|y| {
            let row = self.row(y).get(usize::from(area.x)..usize::from(area.right()));
            row.is_some_and(|cells| cells.iter().all(|cell| *cell == Cell::BLANK))
        })
    }

    /// The addresses behind its cells' links.
    pub(crate) fn links(&self) -> &[Arc<str>] {
        &self.links
    }

    /// The address behind a cell's link.
    pub fn link(&self, link: u16) -> Option<&Arc<str>> {
        self.links.get(usize::from(link).checked_sub(1)?)
    }

    /// Gives cells a look, and takes what they show away.
    pub fn fill(&mut self, area: Rect, style: Style) {
        for y in area.y..area.bottom().min(self.height) {
            for x in area.x..area.right().min(self.width) {
                self.set(Point { x, y }, SmolStr::new_inline(" "), style, 0);
            }
        }
    }

    /// Lays a look over cells without changing what they show.
    pub fn tint(&mut self, area: Rect, style: Style) {
        for y in area.y..area.bottom().min(self.height) {
            for x in area.x..area.right().min(self.width) {
                if let Some(index) = self.index(Point { x, y }) {
                    let cell = &mut self.cells[index];
                    cell.style = style.over(cell.style);
                }
            }
        }
    }

    /// Writes text into a row of `area`, from its left, cut at its right; returns the first free column.
    /// The background stays what it was where `style` leaves it to the terminal.
    pub fn text(&mut self, area: Rect, text: &str, style: Style) -> u16 {
        self.put(area, text, style, 0)
    }

    /// Writes a line into the first row of `area`, cut at its right; returns the first free column.
    pub fn line(&mut self, area: Rect, line: &Line) -> u16 {
        let row = Rect { height: area.height.min(1), ..area };
        if let Some(fill) = line.fill {
            self.fill(row, fill);
        }
        let mut rest = row;
        for span in &line.spans {
            let target = span.link.as_ref().map_or(0, |address| self.intern(address));
            let style = line.fill.map_or(span.style, |fill| span.style.over(fill));
            let x = self.put(rest, &span.text, style, target);
            rest = Rect { x, width: row.right().saturating_sub(x), ..rest };
        }
        rest.x
    }

    /// Writes lines into rows of `area`, from its top; those that do not fit are left out.
    pub fn lines<'a>(&mut self, area: Rect, lines: impl IntoIterator<Item = &'a Line>) {
        for (y, line) in (area.y..area.bottom()).zip(lines) {
            self.line(Rect { y, height: 1, ..area }, line);
        }
    }

    fn put(&mut self, area: Rect, text: &str, style: Style, link: u16) -> u16 {
        let end = area.right().min(self.width);
        let mut x = area.x;
        if area.height == 0 || area.y >= self.height {
            return x;
        }
        for grapheme in text::graphemes(&text::clean(text)) {
            let wide = u16::try_from(text::grapheme_width(grapheme)).unwrap_or(0);
            if wide == 0 {
                continue;
            }
            if x + wide > end {
                break;
            }
            let at = Point { x, y: area.y };
            let below = self.cell(at).map_or(Color::Default, |cell| cell.style.bg);
            let bg = if style.bg == Color::Default { below } else { style.bg };
            let style = style.on(bg);
            self.set(at, SmolStr::new(grapheme), style, link);
            if wide == 2 {
                self.set(Point { x: x + 1, y: area.y }, SmolStr::new_inline(""), style, link);
            }
            x += wide;
        }
        x
    }

    /// Sets a cell; what is left of a wide glyph that it cuts in half becomes a blank.
    fn set(&mut self, at: Point, glyph: SmolStr, style: Style, link: u16) {
        let Some(index) = self.index(at) else { return };
        let is_half = self.cells[index].glyph.is_empty();
        if is_half && !glyph.is_empty() && at.x > 0 {
            self.cells[index - 1].glyph = SmolStr::new_inline(" ");
        }
        let next = index + 1;
        if at.x + 1 < self.width && self.cells[next].glyph.is_empty() && !is_half {
            self.cells[next].glyph = SmolStr::new_inline(" ");
        }
        self.cells[index] = Cell { glyph, style, link };
    }

    fn intern(&mut self, link: &Arc<str>) -> u16 {
        let known = self.links.iter().position(|known| known == link);
        let index = known.unwrap_or_else(|| {
            self.links.push(link.clone());
            self.links.len() - 1
        });
        u16::try_from(index + 1).unwrap_or(0)
    }

    fn index(&self, at: Point) -> Option<usize> {
        let inside = at.x < self.width && at.y < self.height;
        inside.then(|| usize::from(at.y) * usize::from(self.width) + usize::from(at.x))
    }

    /// What it shows as text, rows without their blanks at the end: for tests and for copying.
    pub fn plain(&self) -> String {
        let row = |y| {
            let text: String = self.row(y).iter().map(|cell| cell.glyph.as_str()).collect();
            text.trim_end().to_owned()
        };
        let rows: Vec<String> = (0..self.height).map(row).collect();
        rows.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at_row(y: u16) -> Rect {
        Rect { x: 0, y, width: 10, height: 1 }
    }

    #[test]
    fn text_is_cut_and_wide_glyphs_take_two_cells() {
        let mut canvas = Canvas::new(10, 2);
        assert_eq!(canvas.text(at_row(0), "日本語日本語", Style::PLAIN), 10);
        assert_eq!(canvas.text(at_row(1), "a\u{202e}b", Style::PLAIN), 10);
        assert_eq!(canvas.plain(), "日本語日本\na<U+202E>b");
    }

    #[test]
    fn half_a_wide_glyph_never_stays() {
        let mut canvas = Canvas::new(4, 1);
        canvas.text(at_row(0), "日本", Style::PLAIN);
        canvas.text(Rect { x: 1, y: 0, width: 1, height: 1 }, "x", Style::PLAIN);
        assert_eq!(canvas.plain(), " x本");
    }

    proptest! {
        #[test]
        fn every_row_is_whole(
            texts in prop::collection::vec((0u16..14, 0u16..5, "[a日👍\u{1b}\u{7}é\u{301}]{0,8}"), 0..20),
        ) {
            let mut canvas = Canvas::new(12, 4);
            for (x, y, text) in texts {
                canvas.text(Rect { x, y, width: 12u16.saturating_sub(x), height: 1 }, &text, Style::PLAIN);
            }
            for y in 0..4 {
                let row = canvas.row(y);
                let cells: usize = row.iter().map(|cell| text::grapheme_width(&cell.glyph)).sum();
                prop_assert_eq!(cells, 12, "{:?}", row);
                prop_assert!(row.iter().all(|cell| !cell.glyph.chars().any(text::is_unsafe)));
            }
        }
    }
}
