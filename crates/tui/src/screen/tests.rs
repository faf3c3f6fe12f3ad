//! What is written, read by a terminal emulator, is what was drawn.

use std::num::NonZeroU16;
use std::sync::Arc;

use proptest::prelude::*;
use vt100::Parser;

use super::*;
use crate::line::Span;
use crate::style::{Attrs, Color};

fn terminal(width: u16, height: u16) -> Parser {
    let at_least_one = |size| NonZeroU16::new(size).unwrap();
    Parser::new(at_least_one(height), at_least_one(width), 1000)
}

fn draw(screen: &mut Screen, canvas: &Canvas, caret: Option<Point>) -> Vec<u8> {
    let mut out = Vec::new();
    screen.draw(canvas, caret, &mut out);
    out
}

fn style_of(cell: &vt100::Cell) -> Style {
    let color = |color| match color {
        vt100::Color::Default => Color::Default,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(r, g, b) => Color::Rgb(r, g, b),
    };
    let flags = [
        (cell.bold(), Attrs::BOLD),
        (cell.dim(), Attrs::DIM),
        (cell.italic(), Attrs::ITALIC),
        (cell.underline(), Attrs::UNDERLINE),
        (cell.inverse(), Attrs::REVERSE),
    ];
    let attrs = flags.iter().filter(|(is_set, _)| *is_set);
    let attrs = attrs.fold(Attrs::NONE, |all, (_, attr)| all | *attr);
    Style { fg: color(cell.fgcolor()), bg: color(cell.bgcolor()), attrs }
}

/// Why the terminal does not show the canvas from a row on; clusters, which it knows nothing of, may differ in
/// what they show but must not change anything beside them.
fn difference(terminal: &Parser, canvas: &Canvas, top: u16) -> Option<String> {
    for y in 0..canvas.area().height {
        for x in 0..canvas.area().width {
            let drawn = canvas.cell(Point { x, y }).unwrap();
            let shown = terminal.screen().cell(top + y, x).unwrap();
            let before = x.checked_sub(1).and_then(|x| canvas.cell(Point { x, y }));
            let is_cluster = |cell: &Cell| cell.glyph.chars().count() > 1;
            if is_cluster(drawn) || (drawn.glyph.is_empty() && before.is_some_and(is_cluster)) {
                continue;
            }
            let glyph = if shown.has_contents() { shown.contents() } else { " " };
            let is_half = drawn.glyph.is_empty() && shown.is_wide_continuation();
            if !is_half && (glyph != drawn.glyph || style_of(shown) != drawn.style) {
                return Some(format!(
                    "{x},{y}: {drawn:?} is shown as {glyph:?} {:?}",
                    style_of(shown)
                ));
            }
        }
    }
    None
}

fn arbitrary_style() -> impl Strategy<Value = Style> {
    let color = || {
        prop_oneof![
            3 => Just(Color::Default),
            2 => any::<u8>().prop_map(Color::Indexed),
            1 => any::<[u8; 3]>().prop_map(|[r, g, b]| Color::Rgb(r, g, b)),
        ]
    };
    // The emulator knows no glyph that is both bold and dim.
    let attrs = [Attrs::NONE, Attrs::BOLD, Attrs::ITALIC, Attrs::UNDERLINE, Attrs::REVERSE];
    let attrs = prop::sample::subsequence(attrs.to_vec(), 0..3);
    (color(), color(), attrs).prop_map(|(fg, bg, attrs)| Style {
        fg,
        bg,
        attrs: attrs.into_iter().fold(Attrs::NONE, |all, attr| all | attr),
    })
}

fn arbitrary_canvas(width: u16, height: u16) -> impl Strategy<Value = Canvas> {
    let glyph = prop::sample::select(vec![
        "a",
        "b",
        "word ",
        "   ",
        "日本",
        "é",
        "e\u{301}",
        "👍",
        "👩‍👩‍👧",
        "─",
        "──────",
        "●",
        "…",
        "❤\u{fe0f}",
    ]);
    let text = prop::collection::vec(glyph, 0..6).prop_map(|parts| parts.concat());
    let piece = (0..width, 0..height, text, arbitrary_style(), any::<bool>());
    prop::collection::vec(piece, 0..12).prop_map(move |pieces| {
        let mut canvas = Canvas::new(width, height);
        for (x, y, text, style, is_link) in pieces {
            let link = is_link.then(|| Arc::from(format!("https://example.org/{text}")));
            let row = Line::from(vec![Span { text, style, link }]);
            canvas.line(Rect { x, y, width: width - x, height: 1 }, &row);
        }
        canvas
    })
}

/// A canvas and what it becomes when its rows move and some change.
fn arbitrary_scroll() -> impl Strategy<Value = (Canvas, Canvas)> {
    let rows = prop::collection::vec("[a-c日 ]{0,12}", 24);
    (
        rows,
        0usize..6,
        0usize..6,
        2usize..11,
        prop::collection::vec((0usize..12, "[xyz]{1,14}"), 0..3),
    )
        .prop_map(|(rows, first, second, kept, changes)| {
            let show = |start: usize| {
                let mut canvas = Canvas::new(14, 12);
                for (y, row) in (0..12).zip(&rows[start..]) {
                    // Below it stays, as a composer does.
                    let index = usize::from(y);
                    let text = if index < kept { row } else { &rows[12 + index] };
                    canvas.text(Rect { x: 0, y, width: 14, height: 1 }, text, Style::PLAIN);
                }
                canvas
            };
            let mut after = show(second);
            for (y, text) in changes {
                let y = u16::try_from(y).unwrap();
                after.text(Rect { x: 3, y, width: 11, height: 1 }, &text, Style::PLAIN);
            }
            (show(first), after)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_terminal_shows_each_frame_whatever_was_before(
        frames in prop::collection::vec((arbitrary_canvas(14, 4), 0u16..14, 0u16..4), 1..5),
    ) {
        let mut terminal = terminal(14, 4);
        let mut screen = Screen::new(Place::Full, Depth::True);
        terminal.process(b"\x1b[?7lrubbish from before");
        for (canvas, x, y) in frames {
            terminal.process(&draw(&mut screen, &canvas, Some(Point { x, y })));
            prop_assert_eq!(difference(&terminal, &canvas, 0), None);
            prop_assert_eq!(terminal.screen().cursor_position(), (y, x));
            let again = draw(&mut screen, &canvas, Some(Point { x, y }));
            prop_assert!(again.is_empty());
        }
    }

    #[test]
    fn rows_that_moved_are_shown_where_they_are_now((before, after) in arbitrary_scroll()) {
        let mut terminal = terminal(14, 12);
        let mut screen = Screen::new(Place::Full, Depth::True);
        terminal.process(&draw(&mut screen, &before, None));
        terminal.process(&draw(&mut screen, &after, None));
        prop_assert_eq!(difference(&terminal, &after, 0), None);
        prop_assert!(draw(&mut screen, &after, None).is_empty());
    }

    #[test]
    fn a_region_of_any_height_is_shown_below_what_was_printed(
        frames in prop::collection::vec(
            (1u16..5).prop_flat_map(|height| (arbitrary_canvas(14, height), 0usize..3)), 1..6,
        ),
    ) {
        let mut terminal = terminal(14, 12);
        let mut screen = Screen::new(Place::Inline, Depth::True);
        terminal.process(b"\x1b[?7l$ caiman\r\n");
        let mut printed = vec!["$ caiman".to_owned()];
        for (canvas, lines) in frames {
            let settled: Vec<String> = (0..lines).map(|n| format!("said {} {n}", printed.len())).collect();
            screen.insert_above(settled.iter().map(|text| Line::new(text, Style::PLAIN)));
            printed.extend(settled);
            terminal.process(&draw(&mut screen, &canvas, Some(Point { x: 0, y: 0 })));
            let (top, _) = terminal.screen().cursor_position();
            prop_assert_eq!(difference(&terminal, &canvas, top), None);
            let above: Vec<String> = terminal.screen().rows(0, 14).take(usize::from(top)).collect();
            prop_assert!(printed.ends_with(&above), "{:?} above the region", above);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_region_in_a_terminal_that_changes_its_width_leaves_no_rubbish(
        frames in prop::collection::vec(
            (4u16..20, 1u16..5).prop_flat_map(|(width, height)| arbitrary_canvas(width, height)), 1..6,
        ),
    ) {
        let mut terminal = terminal(20, 12);
        let mut screen = Screen::new(Place::Inline, Depth::True);
        screen.set_reflow(Reflow::Cuts);
        terminal.process(b"$\r\n");
        for canvas in frames {
            let columns = NonZeroU16::new(canvas.area().width).unwrap();
            terminal.screen_mut().set_size(NonZeroU16::new(12).unwrap(), columns);
            terminal.process(&draw(&mut screen, &canvas, Some(Point { x: 0, y: 0 })));
            prop_assert_eq!(terminal.screen().cursor_position(), (1, 0));
            prop_assert_eq!(difference(&terminal, &canvas, 1), None);
            let rows: Vec<String> = terminal.screen().rows(0, columns.get()).collect();
            let below = usize::from(1 + canvas.area().height);
            prop_assert_eq!(&rows[0], "$");
            prop_assert!(rows[below..].iter().all(String::is_empty), "{:?}", rows);
        }
    }
}

#[test]
fn a_change_of_one_cell_is_short_and_no_change_is_nothing() {
    let mut screen = Screen::new(Place::Full, Depth::True);
    let mut canvas = Canvas::new(200, 60);
    let caret = Some(Point { x: 190, y: 58 });
    draw(&mut screen, &canvas, caret);
    assert_eq!(draw(&mut screen, &canvas, caret), b"");
    canvas.text(Rect { x: 150, y: 40, width: 1, height: 1 }, "x", Style::PLAIN);
    let bytes = draw(&mut screen, &canvas, caret);
    assert!(bytes.len() < 40, "{} bytes", bytes.len());
    assert_eq!(draw(&mut screen, &canvas, Some(Point { x: 189, y: 58 })), b"\x1b[190G");
    assert_eq!(draw(&mut screen, &canvas, None), b"\x1b[?25l");
}

#[test]
fn a_line_more_costs_a_line_and_not_a_screen() {
    let mut screen = Screen::new(Place::Full, Depth::True);
    let show = |start: u16, side: &str| {
        let mut canvas = Canvas::new(100, 40);
        for y in 0..36 {
            let text = format!("row {} of a long answer with quite a lot to say", start + y);
            canvas.text(Rect { x: 0, y, width: 80, height: 1 }, &text, Style::PLAIN);
            canvas.text(Rect { x: 90, y, width: 10, height: 1 }, side, Style::PLAIN);
        }
        canvas.text(Rect { x: 0, y: 38, width: 80, height: 1 }, "› composer", Style::PLAIN);
        canvas
    };
    draw(&mut screen, &show(0, ""), None);
    let bytes = draw(&mut screen, &show(1, ""), None);
    assert!(bytes.len() < 120, "{} bytes", bytes.len());
    draw(&mut screen, &show(1, "1 2 3"), None);
    let bytes = draw(&mut screen, &show(0, "1 2 3"), None);
    assert!(bytes.len() < 150, "{} bytes", bytes.len());
}

#[test]
fn typing_at_the_caret_moves_nothing() {
    let mut screen = Screen::new(Place::Full, Depth::True);
    let mut canvas = Canvas::new(80, 24);
    draw(&mut screen, &canvas, Some(Point { x: 5, y: 20 }));
    canvas.text(Rect { x: 5, y: 20, width: 9, height: 1 }, "a", Style::PLAIN);
    let bytes = draw(&mut screen, &canvas, Some(Point { x: 6, y: 20 }));
    assert_eq!(bytes, b"\x1b[?2026ha\x1b[?2026l");
}

#[test]
fn a_link_is_opened_once_and_closed() {
    let mut screen = Screen::new(Place::Full, Depth::True);
    let mut canvas = Canvas::new(20, 1);
    let link = Some(Arc::from("https://example.org"));
    let span = Span { text: "here".into(), style: Style::PLAIN, link };
    canvas.line(canvas.area(), &Line::from(vec![span]));
    let text = String::from_utf8(draw(&mut screen, &canvas, None)).unwrap();
    assert_eq!(
        text.matches("\u{1b}]8;;https://example.org\u{1b}\\here\u{1b}]8;;\u{1b}\\").count(),
        1
    );
}

#[test]
fn a_narrower_terminal_that_wraps_is_erased_from_the_regions_top() {
    let mut screen = Screen::new(Place::Inline, Depth::True);
    let mut canvas = Canvas::new(20, 2);
    canvas.text(canvas.area(), "12345678901234567890", Style::PLAIN);
    draw(&mut screen, &canvas, Some(Point { x: 3, y: 1 }));
    let narrow = Canvas::new(10, 2);
    let text = String::from_utf8(draw(&mut screen, &narrow, Some(Point { x: 3, y: 1 }))).unwrap();
    assert!(text.starts_with("\u{1b}[?2026h\r\u{1b}[2A\u{1b}[K"), "{text:?}");
    screen.set_reflow(Reflow::Cuts);
    let text = String::from_utf8(draw(&mut screen, &canvas, None)).unwrap();
    assert!(text.starts_with("\u{1b}[?2026h\r\u{1b}[A\u{1b}[K"), "{text:?}");
}

#[test]
fn an_end_inline_leaves_only_what_was_printed() {
    let mut terminal = terminal(20, 6);
    let mut screen = Screen::new(Place::Inline, Depth::True);
    let mut canvas = Canvas::new(20, 3);
    canvas.text(canvas.area(), "composer", Style::PLAIN);
    screen.insert_above([Line::new("answer", Style::PLAIN)]);
    let mut out = draw(&mut screen, &canvas, None);
    screen.finish(&mut out);
    terminal.process(&out);
    assert_eq!(terminal.screen().contents().trim_end(), "answer");
    assert_eq!(terminal.screen().cursor_position(), (1, 0));
    assert!(!terminal.screen().hide_cursor());
}

#[test]
fn no_colours_leave_attributes() {
    let mut screen = Screen::new(Place::Full, Depth::None);
    let mut canvas = Canvas::new(4, 1);
    canvas.text(canvas.area(), "x", Style::fg(Color::Rgb(1, 2, 3)).with(Attrs::BOLD));
    let text = String::from_utf8(draw(&mut screen, &canvas, None)).unwrap();
    assert!(text.contains("\u{1b}[1mx") && !text.contains("38;"), "{text:?}");
}

#[test]
fn pictures_are_sent_once_and_taken_down_when_they_go() {
    let picture = crate::terminal::picture::Picture::from_pixels(image::RgbaImage::new(8, 8));
    let picture = Arc::new(picture);
    let mut screen = Screen::new(Place::Full, Depth::True);
    screen.set_pictures(Protocol::Kitty, (8, 16));
    let mut canvas = Canvas::new(20, 5);
    canvas.place_picture(Rect { x: 2, y: 1, width: 4, height: 2 }, picture.clone());
    let shown = |bytes: Vec<u8>| {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        ["a=t", "a=p", "a=d"].map(|what| text.contains(what))
    };
    assert_eq!(shown(draw(&mut screen, &canvas, None)), [true, true, false]);
    assert_eq!(draw(&mut screen, &canvas, None), b"");
    canvas.text(Rect { x: 3, y: 1, width: 9, height: 1 }, "popup", Style::PLAIN);
    assert_eq!(shown(draw(&mut screen, &canvas, None)), [false, false, true]);
    canvas.reset(20, 5);
    canvas.place_picture(Rect { x: 2, y: 1, width: 4, height: 2 }, picture);
    assert_eq!(shown(draw(&mut screen, &canvas, None)), [false, true, false]);
}

#[test]
fn nothing_at_all_can_be_drawn() {
    for place in [Place::Full, Place::Inline] {
        let mut screen = Screen::new(place, Depth::True);
        for (width, height) in [(0, 0), (1, 1), (0, 5), (5, 0), (1, 1)] {
            draw(&mut screen, &Canvas::new(width, height), Some(Point { x: 0, y: 0 }));
        }
    }
}
