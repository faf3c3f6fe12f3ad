//! One chunk of Markdown as rows.

use std::iter::Peekable;
use std::ops::Range;

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, OffsetIter, Options, Parser, Tag, TagEnd,
    TextMergeWithOffset,
};

use super::table::{self, Side};
use super::{address, code_rows, inline};
use crate::code::{Language, Lexer};
use crate::line::{Line, Span};
use crate::look::Look;
use crate::style::{Attrs, Style};
use crate::text;
use crate::theme::Role;
use crate::transcript::row::{self, Join, Row};

/// Rows of one chunk.
pub(super) fn rows(source: &str, cells: usize, look: &Look) -> Vec<Row> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES;
    let parser = Parser::new_ext(source, options);
    let events = TextMergeWithOffset::new(parser.into_offset_iter()).peekable();
    let mut renderer = Renderer::new(source, cells, look);
    renderer.run(events);
    renderer.rows
}

/// A quote or an item: what stands before its rows.
struct Frame {
    /// Before its first row.
    first: Option<Span>,
    /// Before all others.
    rest: Span,
    /// Whether a copy leaves it out.
    is_ours: bool,
    /// Whether something of it was already shown.
    has_rows: bool,
}

/// A table that is being read.
struct Table {
    lines: Vec<Vec<Line>>,
    sides: Vec<Side>,
}

fn side(written: Alignment) -> Side {
    match written {
        Alignment::None | Alignment::Left => Side::Left,
        Alignment::Center => Side::Middle,
        Alignment::Right => Side::Right,
    }
}

struct Renderer<'a> {
    source: &'a str,
    cells: usize,
    look: &'a Look,
    rows: Vec<Row>,
    frames: Vec<Frame>,
    /// For each list that is open, whether it had an item already.
    lists: Vec<bool>,
    styles: Vec<Style>,
    link: Option<(String, String)>,
    /// Lines of the paragraph that is being read.
    lines: Vec<Line>,
    table: Option<Table>,
    /// Whether something stands before, in the same quote or item, that wants a blank row below.
    wants_gap: bool,
}

impl<'a> Renderer<'a> {
    fn new(source: &'a str, cells: usize, look: &'a Look) -> Self {
        Self {
            source,
            cells,
            look,
            rows: Vec::new(),
            frames: Vec::new(),
            lists: Vec::new(),
            styles: Vec::new(),
            link: None,
            lines: Vec::new(),
            table: None,
            wants_gap: false,
        }
    }

    fn run(&mut self, mut events: Peekable<TextMergeWithOffset<'a, OffsetIter<'a>>>) {
        while let Some((event, range)) = events.next() {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    let mut code = String::new();
                    while let Some((Event::Text(text), _)) = events.peek() {
                        code.push_str(text);
                        events.next();
                    }
                    self.code(&kind, &code);
                }
                Event::Start(Tag::HtmlBlock) => self.begin_block(),
                Event::Start(tag) => self.start(tag, range),
                Event::End(tag) => self.end(tag),
                Event::Text(text) => self.text(&text),
                Event::Code(code) => {
                    let style = self.look.theme.style(Role::Code).over(self.style());
                    let shown = text::clean(&code).into_owned();
                    let found = match inline::linked(&code, style, self.look).as_slice() {
                        [only] => only.link.clone(),
                        _ => None,
                    };
                    let link = match &mut self.link {
                        Some((target, claimed)) => {
                            claimed.push_str(&code);
                            address(target)
                        }
                        None => found,
                    };
                    self.push(Span { text: shown, style, link });
                }
                Event::Html(html) | Event::InlineHtml(html) => self.html(&html),
                Event::SoftBreak => self.push(Span::new(" ", self.style())),
                Event::HardBreak => self.lines.push(Line::EMPTY),
                Event::Rule => self.rule(),
                Event::TaskListMarker(is_done) => {
                    let mark = if is_done { "[x] " } else { "[ ] " };
                    self.push(Span::new(mark, self.look.theme.style(Role::Muted)));
                }
                Event::FootnoteReference(name) => {
                    let style = self.look.theme.style(Role::Muted).over(self.style());
                    self.push(Span::new(format!("[^{name}]"), style));
                }
                Event::InlineMath(math) | Event::DisplayMath(math) => self.text(&math),
            }
        }
        self.flush();
    }

    fn start(&mut self, tag: Tag<'a>, range: Range<usize>) {
        let theme = &self.look.theme;
        match tag {
            Tag::Paragraph => self.begin_paragraph(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                let mut style = theme.style(Role::Strong).with(Attrs::BOLD);
                if level == HeadingLevel::H1 {
                    style = style.with(Attrs::UNDERLINE);
                }
                self.styles.push(style);
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                let bar = if self.look.unicode { "│ " } else { "| " };
                let rest = Span::new(bar, theme.style(Role::Faint));
                self.frames.push(Frame { first: None, rest, is_ours: true, has_rows: false });
                self.styles.push(theme.style(Role::Muted));
            }
            Tag::List(_) => {
                self.flush();
                if self.frames.last().is_none_or(|frame| frame.is_ours) {
                    self.begin_block();
                }
                self.lists.push(false);
            }
            Tag::Item => self.item(range),
            Tag::FootnoteDefinition(name) => {
                self.begin_block();
                self.push(Span::new(format!("[^{name}]: "), theme.style(Role::Muted)));
            }
            Tag::Table(sides) => {
                self.begin_block();
                let sides = sides.into_iter().map(side).collect();
                self.table = Some(Table { lines: Vec::new(), sides });
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.lines.push(Vec::new());
                }
            }
            Tag::Emphasis => self.styles.push(Style::PLAIN.with(Attrs::ITALIC)),
            Tag::Strong => self.styles.push(theme.style(Role::Strong).with(Attrs::BOLD)),
            Tag::Strikethrough => self.styles.push(Style::PLAIN.with(Attrs::STRIKE)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some((dest_url.into_string(), String::new()));
                self.styles.push(theme.style(Role::Link));
            }
            Tag::TableCell
            | Tag::CodeBlock(_)
            | Tag::HtmlBlock
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => self.end_block(),
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.styles.pop();
                self.end_frame();
                self.wants_gap = true;
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.wants_gap = true;
            }
            TagEnd::Item => self.end_frame(),
            TagEnd::Table => {
                if let Some(Table { lines, sides }) = self.table.take() {
                    for row in table::table(&lines, &sides, self.room(), self.look) {
                        self.put(row);
                    }
                }
                self.wants_gap = true;
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.lines);
                let spans = cell.into_iter().flat_map(|line| line.spans).collect::<Vec<_>>();
                if let Some(row) = self.table.as_mut().and_then(|table| table.lines.last_mut()) {
                    row.push(spans.into());
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::CodeBlock
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    /// Numbers stand as they were written: a list may have been cut, and its rest must not begin anew.
    fn item(&mut self, range: Range<usize>) {
        self.flush();
        let written = self.source[range].split_whitespace().next().unwrap_or("-");
        let is_number = written.starts_with(|c: char| c.is_ascii_digit());
        let digits = written.bytes().take_while(u8::is_ascii_digit).count();
        let marker = if is_number { &written[..written.len().min(digits + 1)] } else { "-" };
        let marker = format!("{marker} ");
        let style = self.look.theme.style(Role::Muted);
        let rest = Span::new(" ".repeat(marker.len()), Style::PLAIN);
        if let Some(list) = self.lists.last_mut() {
            *list = true;
        }
        let first = Some(Span::new(marker, style));
        self.frames.push(Frame { first, rest, is_ours: false, has_rows: false });
        self.wants_gap = false;
    }

    fn end_frame(&mut self) {
        self.flush();
        if self.frames.last().is_some_and(|frame| frame.first.is_some()) {
            self.put(Row::default());
        }
        self.frames.pop();
        if let Some(frame) = self.frames.last_mut() {
            frame.has_rows = true;
        }
        self.wants_gap = false;
    }

    /// Items with blank lines between them have paragraphs; so they are shown as far apart as they were written.
    fn begin_paragraph(&mut self) {
        let is_fresh_item = self.frames.last().is_some_and(|f| !f.is_ours && !f.has_rows);
        let is_later = self.lists.last() == Some(&true) && !self.rows.is_empty();
        if is_fresh_item && is_later && self.frames.len() > 1 {
            self.flush();
            let marker = self.frames.pop();
            self.gap();
            self.frames.extend(marker);
            self.wants_gap = false;
            return;
        }
        self.begin_block();
    }

    fn begin_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.wants_gap) {
            self.gap();
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.wants_gap = true;
    }

    fn gap(&mut self) {
        let mut row = Row::default();
        let bars: Vec<Span> =
            self.frames.iter().filter(|f| f.first.is_none()).map(|f| f.rest.clone()).collect();
        if self.frames.iter().any(|frame| frame.is_ours) {
            row.put_before(&bars);
        }
        self.rows.push(row);
    }

    fn style(&self) -> Style {
        let text = self.look.theme.style(Role::Text);
        self.styles.iter().fold(text, |below, style| style.over(below))
    }

    fn text(&mut self, text: &str) {
        if let Some((_, shown)) = &mut self.link {
            shown.push_str(text);
        }
        if let Some((target, _)) = &self.link {
            let link = address(target);
            self.push(Span { text: text::clean(text).into_owned(), style: self.style(), link });
            return;
        }
        for span in inline::linked(text, self.style(), self.look) {
            self.push(span);
        }
    }

    /// A text that claims to be another address than the one behind it is followed by the true one.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some((target, shown)) = self.link.take() else { return };
        let claims = shown.contains("://") || shown.starts_with("www.");
        if shown.is_empty()
            || (claims && shown.trim_end_matches('/') != target.trim_end_matches('/'))
        {
            let style = self.look.theme.style(Role::Muted);
            let text = if shown.is_empty() { target.clone() } else { format!(" ({target})") };
            self.push(Span {
                text: text::clean(&text).into_owned(),
                style,
                link: address(&target),
            });
        }
    }

    fn html(&mut self, html: &str) {
        let mut pieces = html.split('\n');
        if let Some(first) = pieces.next() {
            self.push(Span::new(text::clean(first), self.style()));
        }
        for piece in pieces {
            self.lines.push(Line::EMPTY);
            self.push(Span::new(text::clean(piece), self.style()));
        }
    }

    fn push(&mut self, span: Span) {
        if span.text.is_empty() {
            return;
        }
        if self.lines.is_empty() {
            self.lines.push(Line::EMPTY);
        }
        if let Some(line) = self.lines.last_mut() {
            line.spans.push(span);
        }
    }

    fn rule(&mut self) {
        self.begin_block();
        let dash = if self.look.unicode { "─" } else { "-" };
        let line = Line::new(dash.repeat(self.room()), self.look.theme.style(Role::Faint));
        self.put(Row::ours(line));
        self.wants_gap = true;
    }

    fn code(&mut self, kind: &CodeBlockKind<'_>, code: &str) {
        self.begin_block();
        let name = match kind {
            CodeBlockKind::Fenced(name) => name.split([' ', ',', '{']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        if !name.is_empty() {
            self.put(super::label(name, self.room(), self.look));
        }
        let mut lexer = Lexer::new(Language::named(name));
        for line in code.lines() {
            for row in code_rows(line, &mut lexer, self.room(), self.look) {
                self.put(row);
            }
        }
        self.wants_gap = true;
    }

    /// Cells that quotes and items leave.
    fn room(&self) -> usize {
        let taken: usize = self.frames.iter().map(|frame| text::width(&frame.rest.text)).sum();
        self.cells.saturating_sub(taken).max(1)
    }

    /// Ends the paragraph that was read.
    fn flush(&mut self) {
        if self.table.is_some() {
            return;
        }
        let mut lines = std::mem::take(&mut self.lines);
        while lines.last().is_some_and(|line| line.spans.is_empty()) {
            lines.pop();
        }
        for line in lines {
            for row in row::wrap(&line, self.room(), 0) {
                self.put(row);
            }
        }
    }

    fn put(&mut self, mut row: Row) {
        let mut before = Vec::new();
        let mut written = 0;
        for frame in &mut self.frames {
            let span = frame.first.take().unwrap_or_else(|| frame.rest.clone());
            if !frame.is_ours {
                written += text::width(&span.text);
            }
            before.push(span);
            frame.has_rows = true;
        }
        row.put_before(&before);
        if row.join == Join::Line {
            row.skip = row.skip.saturating_sub(u16::try_from(written).unwrap_or(0));
        }
        self.rows.push(row);
    }
}
