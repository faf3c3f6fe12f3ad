//! What real terminals send, and what they never should.

use proptest::prelude::*;

use super::*;
use crate::canvas::Point;
use crate::key::{Answer, Button, Focus, Mouse, MouseKind};

fn parse(bytes: &[u8]) -> Vec<Input> {
    let (mut parser, mut out) = (Parser::new(), Vec::new());
    parser.feed(bytes, &mut out);
    parser.settle(&mut out);
    out
}

#[test]
fn keys_of_real_terminals_are_known() {
    let table: &[(&str, &str)] = &[
        ("a", "a"),
        ("A", "A"),
        ("é", "é"),
        ("日", "日"),
        ("\u{1b}", "esc"),
        ("\u{1b}\u{1b}", "esc esc"),
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\t", "tab"),
        ("\u{7f}", "backspace"),
        ("\u{8}", "ctrl+h"),
        ("\u{0}", "ctrl+space"),
        ("\u{3}", "ctrl+c"),
        ("\u{1a}", "ctrl+z"),
        ("\u{1c}", "ctrl+\\"),
        ("\u{1f}", "ctrl+_"),
        // Alt.
        ("\u{1b}a", "alt+a"),
        ("\u{1b}é", "alt+é"),
        ("\u{1b}\r", "alt+enter"),
        ("\u{1b}\u{7f}", "alt+backspace"),
        ("\u{1b}\u{3}", "ctrl+alt+c"),
        ("\u{1b}[", "alt+["),
        ("\u{1b}O", "alt+O"),
        ("\u{1b}]", "alt+]"),
        // xterm.
        ("\u{1b}[A", "up"),
        ("\u{1b}OB", "down"),
        ("\u{1b}[1;5C", "ctrl+right"),
        ("\u{1b}[1;2D", "shift+left"),
        ("\u{1b}[1;3A", "alt+up"),
        ("\u{1b}[1;6F", "ctrl+shift+end"),
        ("\u{1b}[H", "home"),
        ("\u{1b}[3~", "delete"),
        ("\u{1b}[3;5~", "ctrl+delete"),
        ("\u{1b}[2~", "insert"),
        ("\u{1b}[5~", "pageup"),
        ("\u{1b}[6;2~", "shift+pagedown"),
        ("\u{1b}OP", "f1"),
        ("\u{1b}[1;2R", "shift+f3"),
        ("\u{1b}[15~", "f5"),
        ("\u{1b}[24;5~", "ctrl+f12"),
        ("\u{1b}[Z", "shift+tab"),
        ("\u{1b}[27;2;13~", "shift+enter"),
        ("\u{1b}[27;5;9~", "ctrl+tab"),
        // rxvt, the Linux console, Escape as alt.
        ("\u{1b}[7~", "home"),
        ("\u{1b}[3^", "ctrl+delete"),
        ("\u{1b}[3$", "shift+delete"),
        ("\u{1b}[a", "shift+up"),
        ("\u{1b}Oa", "ctrl+up"),
        ("\u{1b}[[A", "f1"),
        ("\u{1b}[1~", "home"),
        ("\u{1b}\u{1b}[A", "alt+up"),
        ("\u{1b}OM", "enter"),
        ("\u{1b}Oj", "*"),
        // kitty's protocol.
        ("\u{1b}[97u", "a"),
        ("\u{1b}[27u", "esc"),
        ("\u{1b}[13;2u", "shift+enter"),
        ("\u{1b}[13;3u", "alt+enter"),
        ("\u{1b}[9;5u", "ctrl+tab"),
        ("\u{1b}[105;5u", "ctrl+i"),
        ("\u{1b}[97;6u", "ctrl+A"),
        ("\u{1b}[97:65;6u", "ctrl+A"),
        ("\u{1b}[49:33;6u", "ctrl+!"),
        ("\u{1b}[1094::119;5u", "ctrl+w"),
        ("\u{1b}[97;9u", "super+a"),
        ("\u{1b}[127;5u", "ctrl+backspace"),
        ("\u{1b}[57399u", "0"),
        ("\u{1b}[57414;5u", "ctrl+enter"),
        ("\u{1b}[57376u", "f13"),
        ("\u{1b}[97;1:2u", "a"),
        ("\u{1b}[97;1:3u", ""),
        ("\u{1b}[1;1:3A", ""),
        ("\u{1b}[57441;2u", ""),
        ("\u{1b}[0;;26085:26412u", "日 本"),
        ("\u{1b}[97;;229u", "å"),
        ("\u{1b}[97;65u", "a"),
    ];
    for (bytes, names) in table {
        let keys: Vec<String> = parse(bytes.as_bytes())
            .into_iter()
            .map(|input| match input {
                Input::Key(key) => key.to_string(),
                Input::Paste(_)
                | Input::Mouse(_)
                | Input::Resize { .. }
                | Input::Focus(_)
                | Input::Answer(_) => panic!("{bytes:?} is {input:?}"),
            })
            .collect();
        assert_eq!(keys.join(" "), *names, "{bytes:?}");
    }
}

#[test]
fn answers_are_understood() {
    let table: Vec<(&str, Answer)> = vec![
        ("\u{1b}]11;rgb:1e1e/2e2e/ffff\u{1b}\\", Answer::Background(0x1e, 0x2e, 0xff)),
        ("\u{1b}]11;rgb:1e/2e/ff\u{7}", Answer::Background(0x1e, 0x2e, 0xff)),
        ("\u{1b}]11;#102030\u{7}", Answer::Background(16, 32, 48)),
        ("\u{1b}]52;c;aGk=\u{7}", Answer::Clipboard(b"hi".to_vec())),
        ("\u{1b}_Gi=31;OK\u{1b}\\", Answer::KittyGraphics),
        ("\u{1b}[?1u", Answer::KittyKeyboard),
        ("\u{1b}[?62;4;22c", Answer::Attributes { sixel: true }),
        ("\u{1b}[?4;22c", Answer::Attributes { sixel: false }),
        ("\u{1b}[6;20;10t", Answer::CellSize { width: 10, height: 20 }),
        ("\u{1b}P>|ghostty 1.2\u{1b}\\", Answer::Name("ghostty 1.2".into())),
    ];
    for (bytes, answer) in table {
        assert_eq!(parse(bytes.as_bytes()), [Input::Answer(answer)], "{bytes:?}");
    }
    for bytes in
        ["\u{1b}_Gi=31;ENOENT\u{1b}\\", "\u{1b}]11;what\u{7}", "\u{1b}[?2026;2$y", "\u{1b}[4;5R"]
    {
        assert_eq!(parse(bytes.as_bytes()), [], "{bytes:?}");
    }
}

#[test]
fn the_mouse_and_the_focus_are_followed() {
    let mouse = |kind, mods| Input::Mouse(Mouse { at: Point { x: 9, y: 4 }, kind, mods });
    let table = [
        ("\u{1b}[<0;10;5M", mouse(MouseKind::Down(Button::Left), Mods::NONE)),
        ("\u{1b}[<0;10;5m", mouse(MouseKind::Up(Button::Left), Mods::NONE)),
        ("\u{1b}[<32;10;5M", mouse(MouseKind::Drag(Button::Left), Mods::NONE)),
        ("\u{1b}[<18;10;5M", mouse(MouseKind::Down(Button::Right), Mods::CTRL)),
        ("\u{1b}[<64;10;5M", mouse(MouseKind::WheelUp, Mods::NONE)),
        ("\u{1b}[<69;10;5M", mouse(MouseKind::WheelDown, Mods::SHIFT)),
        ("\u{1b}[M *%", mouse(MouseKind::Down(Button::Left), Mods::NONE)),
        ("\u{1b}[I", Input::Focus(Focus::Here)),
        ("\u{1b}[O", Input::Focus(Focus::Away)),
    ];
    for (bytes, input) in table {
        assert_eq!(parse(bytes.as_bytes()), [input], "{bytes:?}");
    }
    assert_eq!(
        parse(b"\x1b[<35;1;1M\x1b[<66;1;1M"),
        [],
        "moves and sideways wheels are left alone"
    );
}

#[test]
fn what_is_pasted_stays_text() {
    let pasted = "one\r\ntwo\rthree \u{1b}[31mred\u{1b}]52;c;eA==\u{7} \u{3} 日本";
    let bytes = format!("\u{1b}[200~{pasted}\u{1b}[201~x");
    let text = "one\ntwo\nthree \u{1b}[31mred\u{1b}]52;c;eA==\u{7} \u{3} 日本";
    let expected = [Input::Paste(text.to_owned()), Input::Key(Key::plain(Code::Char('x')))];
    assert_eq!(parse(bytes.as_bytes()), expected);
}

#[test]
fn a_large_paste_in_small_pieces_takes_no_longer_for_each() {
    let (mut parser, mut out) = (Parser::new(), Vec::new());
    parser.feed(b"\x1b[200~", &mut out);
    for _ in 0..20_000 {
        parser.feed(&[b'x'; 100], &mut out);
        assert!(!parser.is_waiting());
    }
    parser.feed(b"\x1b[201~", &mut out);
    assert!(matches!(&out[..], [Input::Paste(text)] if text.len() == 2_000_000));
}

#[test]
fn a_broken_string_does_not_swallow_the_keys_after_it() {
    let up = Input::Key(Key::plain(Code::Up));
    assert_eq!(parse(b"\x1b]11;rgb:\x1b[A"), std::slice::from_ref(&up));
    assert_eq!(parse(b"\x1b[12;\x1b[A"), [up]);
}

/// Bytes that are often part of something.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::sample::select(vec![
            &b"\x1b"[..],
            b"\x1b[",
            b"\x1bO",
            b"\x1b]",
            b"\x1bP",
            b"\x1b_G",
            b"\x1b\\",
            b"\x07",
            b"[",
            b";",
            b":",
            b"<",
            b"?",
            b"1",
            b"200~",
            b"201~",
            b"\x1b[200~",
            b"\x1b[201~",
            b"u",
            b"~",
            b"M",
            b"A",
            b"$",
            b"11;rgb:1/2/3",
            b"\xe6\x97\xa5",
            b"\xe6",
            b"\xff",
            b"\x80",
            b"\r",
            b"52;c;eA==",
            b">|x",
            b";OK",
            b"97;5u",
            b"\x18",
        ])
        .prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn any_split_gives_the_same(bytes in bytes(), splits in prop::collection::vec(0usize..30, 0..6)) {
        let whole = parse(&bytes);
        let (mut parser, mut out) = (Parser::new(), Vec::new());
        let mut rest = bytes.as_slice();
        for split in splits {
            let (head, tail) = rest.split_at(split.min(rest.len()));
            parser.feed(head, &mut out);
            rest = tail;
        }
        parser.feed(rest, &mut out);
        parser.settle(&mut out);
        prop_assert_eq!(out, whole);
    }

    #[test]
    fn no_control_character_is_typed(bytes in bytes()) {
        for input in parse(&bytes) {
            if let Input::Key(Key { code: Code::Char(c), .. }) = input {
                prop_assert!(!c.is_control());
            }
        }
    }
}
