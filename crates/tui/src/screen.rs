//! What the terminal shows and the least that must be written to change it.
//!
//! A frame is compared with the one before; only cells that differ are written, in runs, with the cursor moved
//! and the look changed only where needed. On the whole screen positions are absolute. Inline the region's top
//! row is unknown, so rows are reached by going up and down from where the cursor was left.

mod depth;
mod glyph;
mod pen;
mod pictures;
mod scroll;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use smol_str::SmolStr;

use crate::canvas::{Canvas, Cell, Point, Rect};
use crate::line::Line;
use crate::message::Screen as Place;
use crate::screen::glyph::Trust;
use crate::screen::pen::{Pen, write_number};
use crate::screen::pictures::Easel;
use crate::screen::scroll::{Shift, Way};
use crate::style::Style;

pub use crate::screen::depth::Depth;
pub use crate::screen::pictures::Protocol;

const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";

/// Erases all from the cursor's row on; the cursor must be at its left, and stays. Erased from the screen's first
/// cell in one go, all it showed would move into tmux's history.
const ERASE_BELOW: &[u8] = b"\x1b[K\x1b[C\x1b[J\r";

/// What a cell holds that the terminal may show anything in; no canvas has it.
const UNKNOWN: Cell = Cell { glyph: SmolStr::new_inline("\0"), style: Style::PLAIN, link: 0 };

/// What a terminal does with rows that are too long once it gets narrower.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reflow {
    /// It wraps them, so that they take more rows.
    #[default]
    Wraps,
    /// It cuts them.
    Cuts,
}

/// Whether the cursor can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Shown,
    Hidden,
    Unknown,
}

/// What the terminal shows.
#[derive(Debug)]
pub struct Screen {
    place: Place,
    depth: Depth,
    reflow: Reflow,
    width: u16,
    height: u16,
    cells: Vec<Cell>,
    links: Vec<Arc<str>>,
    easel: Easel,
    above: Vec<Line>,
    pen: Pen,
    cursor: Cursor,
    x: Option<u16>,
    y: Option<u16>,
    is_in_run: bool,
}

impl Screen {
    /// A screen of which nothing is known. Inline, the cursor must be where the region shall begin, at the left.
    pub fn new(place: Place, depth: Depth) -> Self {
        let start = match place {
            Place::Full => None,
            Place::Inline => Some(0),
        };
        Self {
            place,
            depth,
            reflow: Reflow::default(),
            width: 0,
            height: 0,
            cells: Vec::new(),
            links: Vec::new(),
            easel: Easel::default(),
            above: Vec::new(),
            pen: Pen::default(),
            cursor: Cursor::Unknown,
            x: start,
            y: start,
            is_in_run: false,
        }
    }

    /// Where it draws.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Says what the terminal does with long rows.
    pub fn set_reflow(&mut self, reflow: Reflow) {
        self.reflow = reflow;
    }

    /// Says how many colours there are.
    pub fn set_depth(&mut self, depth: Depth) {
        if depth != self.depth {
            self.depth = depth;
            self.forget();
        }
    }

    /// Says how pictures are drawn, and a cell's width and height in pixels.
    pub fn set_pictures(&mut self, protocol: Protocol, cell: (u16, u16)) {
        self.easel.set(protocol, cell);
    }

    /// Forgets what the terminal shows: the next frame paints all.
    pub fn forget(&mut self) {
        self.cells.fill(UNKNOWN);
        self.easel.forget();
        self.cursor = Cursor::Unknown;
        if self.place == Place::Full {
            (self.x, self.y) = (None, None);
        }
    }

    /// Prints settled lines above the region with the next frame; inline only. They are cut at the right.
    pub fn insert_above(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.above.extend(lines);
    }

    /// Writes what changes the terminal into showing `canvas`, with the cursor at `caret` or hidden. Nothing is
    /// written if it shows that already.
    pub fn draw(&mut self, canvas: &Canvas, caret: Option<Point>, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(BEGIN);
        match self.place {
            Place::Full => self.fit_full(canvas.area()),
            Place::Inline => self.fit_inline(canvas.area(), out),
        }
        let gone = self.easel.take_down(canvas, out);
        for area in gone {
            self.forget_area(area);
        }
        self.scroll(canvas, out);
        self.paint(canvas, out);
        self.hang(canvas, out);
        if out.len() == start + BEGIN.len() {
            out.truncate(start);
            self.set_caret(caret, out);
            return;
        }
        self.pen.reset(out);
        self.set_caret(caret, out);
        out.extend(END);
    }

    /// Leaves the terminal for others to write on: inline the region is taken away and the cursor is where it
    /// began.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.easel.clear(out);
        if self.place == Place::Inline {
            self.erase_region(self.width, out);
            self.height = 0;
        }
        self.pen.reset(out);
        out.extend(b"\x1b[?25h");
        self.cursor = Cursor::Shown;
        self.forget();
    }

    fn fit_full(&mut self, area: Rect) {
        if (self.width, self.height) != (area.width, area.height) {
            self.resize_cells(area.width, area.height, &UNKNOWN);
            self.forget();
        }
    }

    fn fit_inline(&mut self, area: Rect, out: &mut Vec<u8>) {
        let is_known = self.height > 0 && !self.cells.contains(&UNKNOWN);
        if self.width != area.width || !is_known || !self.above.is_empty() {
            self.erase_region(area.width, out);
            self.resize_cells(area.width, 1, &Cell::BLANK);
            self.print_above(out);
        }
        let wanted = area.height.max(1);
        if wanted < self.height {
            self.move_to(Point { x: 0, y: wanted }, out);
            self.pen.reset(out);
            out.extend(b"\x1b[J");
            // The cursor must not stay on a row that is no longer ours.
            self.move_to(Point { x: 0, y: wanted - 1 }, out);
        } else if wanted > self.height {
            self.move_to(Point { x: 0, y: self.height - 1 }, out);
            for _ in self.height..wanted {
                out.extend(b"\r\n");
            }
            (self.x, self.y) = (Some(0), Some(wanted - 1));
        }
        self.height = wanted;
        self.cells.resize(usize::from(self.width) * usize::from(wanted), Cell::BLANK);
    }

    /// Goes to the region's top and erases all from there. In a terminal that has become narrower its rows may
    /// have been wrapped, and the cursor pushed down.
    fn erase_region(&mut self, width: u16, out: &mut Vec<u8>) {
        let row = self.y.unwrap_or(0);
        let wraps = self.reflow == Reflow::Wraps && width > 0 && width < self.width;
        let up = if wraps {
            let taken = |y| self.row_length(y).div_ceil(width).max(1);
            let before = (0..row).map(taken).sum::<u16>();
            before + self.x.unwrap_or(0) / width
        } else {
            row
        };
        self.pen.reset(out);
        out.push(b'\r');
        if up > 0 {
            csi(&[up], b'A', out);
        }
        out.extend(ERASE_BELOW);
        self.easel.forget();
        (self.x, self.y) = (Some(0), Some(0));
    }

    fn print_above(&mut self, out: &mut Vec<u8>) {
        let lines = std::mem::take(&mut self.above);
        let mut canvas = Canvas::new(self.width, 1);
        for line in lines {
            canvas.reset(self.width, 1);
            canvas.line(canvas.area(), &line);
            self.paint_row(0, &canvas, out);
            self.pen.reset(out);
            out.extend(b"\r\n");
            self.x = Some(0);
            self.cells.fill(Cell::BLANK);
        }
        self.links.clear();
    }

    fn resize_cells(&mut self, width: u16, height: u16, cell: &Cell) {
        (self.width, self.height) = (width, height);
        self.cells.clear();
        self.cells.resize(usize::from(width) * usize::from(height), cell.clone());
        self.links.clear();
    }

    /// Has the terminal move rows that only moved. Inline that would move what is not ours, and pictures may stay
    /// behind.
    fn scroll(&mut self, canvas: &Canvas, out: &mut Vec<u8>) {
        if self.place == Place::Inline || !self.easel.is_empty() || self.links != canvas.links() {
            return;
        }
        let Some(Shift { top, bottom, by, way }) = scroll::find(|y| self.row(y), canvas) else {
            return;
        };
        self.pen.reset(out);
        csi(&[top + 1, bottom], b'r', out);
        let width = usize::from(self.width);
        let (from, to) = (usize::from(top) * width, usize::from(bottom) * width);
        let moved = usize::from(by) * width;
        let rows = &mut self.cells[from..to];
        match way {
            Way::Up => {
                csi(&[by], b'S', out);
                rows.rotate_left(moved);
                let end = rows.len() - moved;
                rows[end..].fill(Cell::BLANK);
            }
            Way::Down => {
                csi(&[by], b'T', out);
                rows.rotate_right(moved);
                rows[..moved].fill(Cell::BLANK);
            }
        }
        out.extend(b"\x1b[r");
        // Setting margins moves the cursor.
        (self.x, self.y) = (None, None);
    }

    fn paint(&mut self, canvas: &Canvas, out: &mut Vec<u8>) {
        let has_same_links = self.links == canvas.links();
        for y in 0..canvas.area().height {
            if !has_same_links || self.row(y) != canvas.row(y) {
                self.paint_row(y, canvas, out);
            }
        }
        if !has_same_links {
            self.links.clear();
            self.links.extend_from_slice(canvas.links());
        }
    }

    /// Writes the cells of a row that differ, then remembers the row.
    fn paint_row(&mut self, y: u16, canvas: &Canvas, out: &mut Vec<u8>) {
        let row = canvas.row(y);
        let tail = row.iter().rposition(|cell| *cell != Cell::BLANK).map_or(0, |last| last + 1);
        let (mut x, mut rewritten_to) = (0, 0);
        while x < tail {
            let wide = 1 + usize::from(row.get(x + 1).is_some_and(|next| next.glyph.is_empty()));
            if x < rewritten_to || !self.shows(y, x, wide, canvas) {
                self.put(Point { x: column(x), y }, canvas, out);
                rewritten_to = rewritten_to.max(x + glyph::reach(&row[x].glyph, wide));
            }
            x += wide;
        }
        let old = self.row(y);
        let dirty = (tail..row.len()).find(|&x| x < rewritten_to || old[x] != Cell::BLANK);
        if let Some(from) = dirty {
            self.move_to(Point { x: column(from), y }, out);
            self.pen.reset(out);
            out.extend(b"\x1b[K");
        }
        let start = usize::from(y) * usize::from(self.width);
        if let Some(old) = self.cells.get_mut(start..start + row.len()) {
            old.clone_from_slice(row);
        }
    }

    /// Whether the terminal shows a glyph of the canvas already.
    fn shows(&self, y: u16, x: usize, wide: usize, canvas: &Canvas) -> bool {
        let (old, new) = (self.row(y), canvas.row(y));
        let link = |links: &[Arc<str>], cell: &Cell| {
            usize::from(cell.link).checked_sub(1).and_then(|index| links.get(index)).cloned()
        };
        old[x].glyph == new[x].glyph
            && old[x].style == new[x].style
            && (wide == 1 || old[x + 1].glyph.is_empty())
            && link(&self.links, &old[x]) == link(canvas.links(), &new[x])
    }

    /// Writes one glyph.
    fn put(&mut self, at: Point, canvas: &Canvas, out: &mut Vec<u8>) {
        let row = canvas.row(at.y);
        let x = usize::from(at.x);
        let cell = &row[x];
        let wide = if row.get(x + 1).is_some_and(|next| next.glyph.is_empty()) { 2 } else { 1 };
        let trust = glyph::trust(&cell.glyph);
        if self.is_in_run && trust != Trust::InRuns {
            self.x = None;
        }
        if !self.bridge(at, canvas, out) {
            self.move_to(at, out);
        }
        let link = canvas.link(cell.link).map(AsRef::as_ref);
        self.pen.set_link(link, out);
        self.pen.set_style(self.depth.limit(cell.style), out);
        if trust == Trust::None && wide == 2 {
            // A terminal that takes it for narrow would leave what was in its second cell.
            out.extend(b"  \x1b[2D");
        }
        let room = usize::from(self.width - at.x);
        out.extend(glyph::within(&cell.glyph, room).as_bytes());
        let next = at.x + wide;
        let is_known = trust != Trust::None && next < self.width;
        self.x = is_known.then_some(next);
        self.is_in_run = trust == Trust::InRuns;
    }

    /// Writes the few unchanged glyphs up to a place again, if that is shorter than a jump over them.
    fn bridge(&mut self, at: Point, canvas: &Canvas, out: &mut Vec<u8>) -> bool {
        let Some(from) = self.x.filter(|_| self.y == Some(at.y)) else { return false };
        if from >= at.x || at.x - from > 3 || self.is_in_run {
            return false;
        }
        let gap = &canvas.row(at.y)[usize::from(from)..usize::from(at.x)];
        let is_same = |cell: &Cell| {
            cell.glyph.len() == 1
                && self.depth.limit(cell.style) == self.pen.style()
                && canvas.link(cell.link).map(AsRef::as_ref) == self.pen.link()
        };
        let all_same = gap.iter().all(is_same);
        if all_same {
            for cell in gap {
                out.extend(cell.glyph.as_bytes());
            }
        }
        all_same
    }

    /// Draws pictures that are not there yet.
    fn hang(&mut self, canvas: &Canvas, out: &mut Vec<u8>) {
        for (at, bytes) in self.easel.put_up(canvas) {
            self.move_to(at, out);
            self.pen.reset(out);
            out.extend(b"\x1b7");
            out.extend(bytes);
            out.extend(b"\x1b8");
        }
    }

    fn set_caret(&mut self, caret: Option<Point>, out: &mut Vec<u8>) {
        let inside = caret.filter(|at| at.x < self.width && at.y < self.height);
        if let Some(at) = inside {
            self.move_to(at, out);
        }
        let wanted = if inside.is_some() { Cursor::Shown } else { Cursor::Hidden };
        if wanted != self.cursor {
            out.extend(if inside.is_some() { b"\x1b[?25h" } else { b"\x1b[?25l" });
            self.cursor = wanted;
        }
    }

    /// Moves the cursor by the shortest way.
    fn move_to(&mut self, to: Point, out: &mut Vec<u8>) {
        if self.y != Some(to.y) {
            match (self.place, self.y) {
                (_, Some(y)) if y + 1 == to.y && to.x == 0 => {
                    out.extend(b"\r\n");
                    self.x = Some(0);
                }
                (Place::Full, _) => {
                    match (to.x, to.y) {
                        (0, 0) => csi(&[], b'H', out),
                        (0, y) => csi(&[y + 1], b'H', out),
                        (x, y) => csi(&[y + 1, x + 1], b'H', out),
                    }
                    self.x = Some(to.x);
                }
                (Place::Inline, from) => {
                    let from = from.unwrap_or(0);
                    let (by, letter) =
                        if to.y > from { (to.y - from, b'B') } else { (from - to.y, b'A') };
                    if by > 0 {
                        csi(&[by], letter, out);
                    }
                }
            }
            self.y = Some(to.y);
        }
        if self.x != Some(to.x) {
            match self.x {
                _ if to.x == 0 => out.push(b'\r'),
                Some(x) if x < to.x => csi(&[to.x - x], b'C', out),
                Some(_) | None => csi(&[to.x + 1], b'G', out),
            }
            self.x = Some(to.x);
        }
        self.is_in_run = false;
    }

    fn row(&self, y: u16) -> &[Cell] {
        let start = usize::from(y) * usize::from(self.width);
        self.cells.get(start..start + usize::from(self.width)).unwrap_or_default()
    }

    /// Columns of a row up to its last glyph.
    fn row_length(&self, y: u16) -> u16 {
        let last = self.row(y).iter().rposition(|cell| *cell != Cell::BLANK);
        last.map_or(0, |last| column(last + 1))
    }

    fn forget_area(&mut self, area: Rect) {
        for y in area.y..area.bottom().min(self.height) {
            let start = usize::from(y) * usize::from(self.width);
            let (from, to) = (usize::from(area.x), usize::from(area.right().min(self.width)));
            if let Some(cells) = self.cells.get_mut(start + from..start + to) {
                cells.fill(UNKNOWN);
            }
        }
    }
}

fn column(x: usize) -> u16 {
    u16::try_from(x).unwrap_or(u16::MAX)
}

/// Writes a control sequence with numbers; a single 1 is left out.
fn csi(numbers: &[u16], letter: u8, out: &mut Vec<u8>) {
    out.extend(b"\x1b[");
    if numbers != [1] {
        for (index, number) in numbers.iter().enumerate() {
            if index > 0 {
                out.push(b';');
            }
            write_number(u32::from(*number), out);
        }
    }
    out.push(letter);
}
