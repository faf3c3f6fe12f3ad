//! How a list looks. Only the rows on the screen cost anything.

use base::fuzzy::Pattern;

use super::{Framed, Picker, Row, Stock, footer, frame};
use crate::canvas::{Canvas, Point, Rect};
use crate::line::Line;
use crate::look::Look;
use crate::style::{Attrs, Style};
use crate::text;
use crate::theme::Role;

/// From this width on there is a preview beside a list.
const PREVIEW_FROM: u16 = 100;

/// What a list's footer says: keys and what they do, the most needed first.
pub(crate) type Hints<'a> = &'a [(&'a str, &'a str)];

/// Where a picker left room, and where the caret is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    /// Where the caret is.
    pub(crate) caret: Option<Point>,
    /// Room for a preview of the chosen row.
    pub(crate) preview: Option<Rect>,
}

/// Whether a list has a preview, and who has the room when there is not enough for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// It has none.
    Nothing,
    /// It has one; the list goes first.
    List,
    /// It has one, which goes first.
    Preview,
}

impl<T> Picker<T> {
    /// Draws it into the whole screen.
    pub(crate) fn draw(
        &mut self,
        canvas: &mut Canvas,
        area: Rect,
        (hints, side): (Hints<'_>, Side),
        look: &Look,
    ) -> Drawn {
        let title = self.heading();
        let has_preview =
            side != Side::Nothing && (area.width >= PREVIEW_FROM || side == Side::Preview);
        // A preview fills what it gets; a list alone wants its rows, whatever is searched for, its search,
        // its footer and gaps.
        let rows = if has_preview { usize::MAX } else { self.lines + 4 };
        let inner = frame(canvas, area, Framed { title: &title, rows }, look);
        let (body, foot) = inner.split_bottom(u16::from(inner.height > 2));
        footer(canvas, foot, hints, look);
        let (body, _) = body.split_bottom(u16::from(body.height > 8));
        if side == Side::Preview && area.width < PREVIEW_FROM {
            self.hits.clear();
            self.list = Rect::default();
            return Drawn { caret: None, preview: Some(body) };
        }
        let is_split = side != Side::Nothing && area.width >= PREVIEW_FROM;
        let (left, preview) = if is_split {
            let (left, right) = body.split_left(body.width * 9 / 20);
            let (line, right) = right.split_left(3);
            divide(canvas, line, look);
            (left, Some(right))
        } else {
            (body, None)
        };
        let (top, list) = left.split_top(1);
        let caret = self.draw_search(canvas, top, look);
        let (_, list) = list.split_top(u16::from(list.height > 8));
        self.list = list;
        self.draw_rows(canvas, list, look);
        Drawn { caret, preview }
    }

    fn heading(&self) -> String {
        match self.stock {
            Stock::Ready(_) if self.field.is_empty() => {
                format!("{} {}", self.title, self.rows.len())
            }
            Stock::Ready(_) => format!("{} {}/{}", self.title, self.shown.len(), self.rows.len()),
            Stock::Loading | Stock::Failed(_) => self.title.to_owned(),
        }
    }

    fn draw_search(&self, canvas: &mut Canvas, row: Rect, look: &Look) -> Option<Point> {
        let mark = if look.unicode { "› " } else { "> " };
        let x = canvas.text(row, mark, look.theme.style(Role::Accent));
        let rest = Rect { x, width: row.right().saturating_sub(x), ..row };
        let faint = look.theme.style(Role::Faint);
        self.field.draw(canvas, rest, ("search", faint), look.theme.style(Role::Text))
    }

    fn draw_rows(&mut self, canvas: &mut Canvas, list: Rect, look: &Look) {
        self.hits.clear();
        let style = |role| look.theme.style(role);
        let said = match &self.stock {
            Stock::Loading => Some(("loading…".to_owned(), style(Role::Faint))),
            Stock::Failed(why) => Some((why.clone(), style(Role::Bad))),
            Stock::Ready(nothing) if self.rows.is_empty() => {
                Some(((*nothing).to_owned(), style(Role::Faint)))
            }
            Stock::Ready(_) if self.shown.is_empty() => {
                Some(("nothing fits".to_owned(), style(Role::Faint)))
            }
            Stock::Ready(_) => None,
        };
        if let Some((words, style)) = said {
            let rows = Line::new(words, style).wrap(usize::from(list.width), 0);
            canvas.lines(list, &rows);
            return;
        }
        let lines = self.window(usize::from(list.height));
        let widths = self.widths(&lines, usize::from(list.width));
        for (y, line) in (list.y..list.bottom()).zip(lines) {
            let row = Rect { y, height: 1, ..list };
            match line {
                Seen::Heading(shown) => {
                    let group = &self.rows[self.shown[shown]].0.group;
                    canvas.text(row, group, style(Role::Muted).with(Attrs::BOLD));
                }
                Seen::Row(shown) => {
                    self.hits.push((y, shown));
                    self.draw_row(canvas, row, shown, (widths, look));
                }
            }
        }
    }

    /// The headings and rows on the screen: the choice is among them, with its heading where it is the first.
    fn window(&mut self, height: usize) -> Vec<Seen> {
        if height == 0 {
            return Vec::new();
        }
        self.top = self.top.min(self.chosen);
        loop {
            let lines = self.lines_from(self.top, height);
            let is_seen = lines.contains(&Seen::Row(self.chosen));
            if is_seen || self.top >= self.chosen {
                return lines;
            }
            // Far jumps go at once, the last steps one by one because headings take rows, too.
            let near = self.chosen.saturating_sub(height);
            self.top = (self.top + 1).max(near);
        }
    }

    fn lines_from(&self, top: usize, height: usize) -> Vec<Seen> {
        let mut lines = Vec::with_capacity(height);
        let has_groups = self.field.is_empty() || self.keeps_order;
        let group = |shown: usize| self.rows[self.shown[shown]].0.group.as_str();
        for shown in top..self.shown.len() {
            let begins = shown == 0 || shown == top || group(shown - 1) != group(shown);
            let has_heading = has_groups && height > 2 && begins && !group(shown).is_empty();
            if lines.len() + 1 + usize::from(has_heading) > height {
                break;
            }
            if has_heading {
                lines.push(Seen::Heading(shown));
            }
            lines.push(Seen::Row(shown));
        }
        lines
    }

    /// Where the letters that are searched for stand in a row's title and note.
    fn hits_in(&self, row: &Row) -> (Vec<usize>, Vec<usize>) {
        let (mut title, mut note) = (Vec::new(), Vec::new());
        for word in self.field.text().split_whitespace().map(Pattern::new) {
            if let Some(found) = word.find(&row.title) {
                title.extend(found.positions);
            } else if let Some(found) = word.find(&row.note) {
                note.extend(found.positions);
            }
        }
        (title, note)
    }

    /// Cells for titles and for what stands at the right.
    fn widths(&self, lines: &[Seen], all: usize) -> (usize, usize) {
        let rows = lines.iter().filter_map(|line| match line {
            Seen::Row(shown) => Some(&self.rows[self.shown[*shown]].0),
            Seen::Heading(_) => None,
        });
        let (mut title, mut extra, mut has_note) = (0, 0, false);
        for row in rows {
            title = title.max(text::width(&row.title) + mark_width(row));
            extra = extra.max(text::width(&row.extra));
            has_note |= !row.note.is_empty();
        }
        let is_narrow = all < 60 && has_note && self.notes_first;
        let extra = if is_narrow { 0 } else { extra.min(all * 2 / 5) };
        let room = all.saturating_sub(2 + extra + usize::from(extra > 0));
        let most = if has_note && room > 40 { room * 3 / 5 } else { room };
        (title.min(most), extra)
    }

    fn draw_row(
        &self,
        canvas: &mut Canvas,
        area: Rect,
        shown: usize,
        ((title, extra), look): ((usize, usize), &Look),
    ) {
        let (row, _) = &self.rows[self.shown[shown]];
        let (title_at, note_at) = self.hits_in(row);
        let is_chosen = shown == self.chosen;
        let style = |role| {
            let own = look.theme.style(role);
            if is_chosen {
                let chosen = look.theme.style(Role::Chosen);
                // On the chosen row every colour but its own would be hard to read.
                Style { attrs: chosen.attrs | own.attrs, ..chosen }
            } else {
                own
            }
        };
        if is_chosen {
            canvas.fill(area, look.theme.style(Role::Chosen));
        }
        let pointer = if is_chosen { if look.unicode { "› " } else { "> " } } else { "  " };
        let x = canvas.text(area, pointer, style(Role::Accent));
        let cell = |x: u16, cells: usize| {
            let width =
                u16::try_from(cells).unwrap_or(u16::MAX).min(area.right().saturating_sub(x));
            Rect { x, width, ..area }
        };
        let hit = style(Role::Match).with(Attrs::UNDERLINE);
        let name = cell(x, title);
        let after = canvas.text(name, &mark(row), style(Role::Accent));
        let rest = name.right().saturating_sub(after);
        let looks = (style(row.role.unwrap_or(Role::Text)), hit);
        canvas.line(cell(after, rest.into()), &matched(&row.title, &title_at, rest.into(), looks));
        let right = cell(area.right().saturating_sub(u16::try_from(extra).unwrap_or(0)), extra);
        let gap = usize::from(right.x.saturating_sub(name.right()));
        if gap > 6 && !row.note.is_empty() {
            let looks = (style(Role::Muted), hit);
            let room = gap - 2 - usize::from(extra > 0);
            canvas.line(cell(name.right() + 2, room), &matched(&row.note, &note_at, room, looks));
        }
        let figures = whole_words(&row.extra, extra);
        let pad = extra - text::width(figures).min(extra);
        let at = cell(right.x + u16::try_from(pad).unwrap_or(0), extra);
        canvas.text(at, figures, style(Role::Faint));
    }
}

/// A line of a list on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// The heading of a shown row's group.
    Heading(usize),
    /// A shown row.
    Row(usize),
}

fn mark(row: &Row) -> String {
    if row.mark.is_empty() { String::new() } else { format!("{} ", row.mark) }
}

fn mark_width(row: &Row) -> usize {
    if row.mark.is_empty() { 0 } else { text::width(&row.mark) + 1 }
}

/// A text cut to its room, with the letters that fit marked.
fn matched(text: &str, at: &[usize], cells: usize, (plain, hit): (Style, Style)) -> Line {
    let cut = text::ellipsis(text, cells);
    // What was cut away ends in an ellipsis, which stands for no letter.
    let kept = if cut.len() == text.len() && *cut == *text {
        text.len()
    } else {
        cut.len().saturating_sub(3)
    };
    let mut line = Line::EMPTY;
    let mut start = 0;
    for grapheme in text::graphemes(&cut) {
        let is_hit = start < kept && at.contains(&start);
        line.push(grapheme, if is_hit { hit } else { plain });
        start += grapheme.len();
    }
    line
}

/// As many words of a text as fit: half a number would be a wrong one.
fn whole_words(text: &str, cells: usize) -> &str {
    let (head, _) = text::fit(text, cells);
    if head.len() == text.len() || text[head.len()..].starts_with(' ') {
        return head;
    }
    head.rsplit_once(' ').map_or(head, |(words, _)| words.trim_end())
}

fn divide(canvas: &mut Canvas, area: Rect, look: &Look) {
    let (mark, faint) = (if look.unicode { "│" } else { "|" }, look.theme.style(Role::Faint));
    for y in area.y..area.bottom() {
        canvas.text(Rect { x: area.x + 1, y, width: 1, height: 1 }, mark, faint);
    }
}
