use proptest::prelude::*;

use super::super::{Caret, Composer, Habits};
use super::*;
use crate::canvas::Canvas;

fn press(composer: &mut Composer, keys: &str) {
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let known = named.and_then(|(name, tail)| Some((name.parse::<Key>().ok()?, tail)));
        let (key, tail) =
            known.unwrap_or_else(|| (Key::plain(Code::Char(c)), &rest[c.len_utf8()..]));
        composer.key(key);
        rest = tail;
    }
}

/// The text with a bar before the caret, after keys in normal mode at the beginning of a text.
fn after(text: &str, keys: &str) -> String {
    let mut composer = Composer::new(Habits { vim: true });
    composer.set_text(text);
    press(&mut composer, "<esc>gg0");
    press(&mut composer, keys);
    let mut text = composer.buffer.text().to_owned();
    text.insert(composer.buffer.caret(), '|');
    text
}

#[test]
fn motions_go_where_vi_goes() {
    let text = "one two.three  (four) \"fi ve\"\n  second line\nthird";
    let table = [
        ("w", "one |two"),
        ("2w", "one two|."),
        ("W", "one |two"),
        ("WW", "one two.three  |(four)"),
        ("e", "on|e two"),
        ("2e", "one tw|o."),
        ("wb", "|one"),
        ("$b", "\"fi |ve"),
        ("fe", "on|e"),
        ("fe;", "one two.thr|ee"),
        ("fe;;", "one two.thre|e"),
        ("fe;,", "on|e two"),
        ("tt", "one| two"),
        ("tt;", "one two|.three"),
        ("$Fe", "\"fi v|e"),
        ("$Tf", "\"f|i ve"),
        ("j^", "\n  |second"),
        ("jw", "\n  |second"),
        ("G", "\n|third"),
        ("2G", "\n  |second"),
        ("Ggg", "|one"),
        ("$", "ve|\"\n"),
        ("lllhh", "o|ne"),
        ("5l0", "|one"),
        ("99l", "ve|\"\n"),
        ("fz", "|one"),
    ];
    for (keys, part) in table {
        let got = after(text, keys);
        assert!(got.contains(part), "{keys}: {got}");
    }
}

#[test]
fn operators_take_motions_objects_and_counts() {
    let table = [
        ("one two three", "dw", "|two three"),
        ("one two three", "2dw", "|three"),
        ("one two three", "d2w", "|three"),
        ("one two", "wdw", "one| "),
        ("one\ntwo", "dw", "|\ntwo"),
        ("one two", "de", "| two"),
        ("one two", "wdb", "|two"),
        ("one two", "d$", "|"),
        ("one two", "lD", "|o"),
        ("one two", "x", "|ne two"),
        ("one two", "3x", "| two"),
        ("one two", "$X", "one t|o"),
        ("one two", "dtw", "|wo"),
        ("one two", "dfw", "|o"),
        ("one two", "cwx<esc>", "|x two"),
        ("one two", "wcwx<esc>", "one |x"),
        ("a b", "cwx<esc>", "|x b"),
        ("one two", "Cx<esc>", "|x"),
        ("one two", "sx<esc>", "|xne two"),
        ("one two", "Sx<esc>", "|x"),
        ("one two", "ccx<esc>", "|x"),
        ("one two", "rx", "|xne two"),
        ("one two", "3rx", "xx|x two"),
        ("onE", "3~", "ON|e"),
        ("one two three", "wdiw", "one | three"),
        ("one two three", "wdaw", "one |three"),
        ("one two", "wdaw", "on|e"),
        ("say(\"a b\")", "di\"", "say(\"|\")"),
        ("say(\"a b\")", "5lda\"", "say(|)"),
        ("f(a, (b), c)", "3ldi(", "f(|)"),
        ("f(a, (b), c)", "6ldab", "f(a, |, c)"),
        ("{x}", "ci{y<esc>", "{|y}"),
        ("1\n2\n3", "dd", "|2\n3"),
        ("1\n2\n3", "jdd", "1\n|3"),
        ("1\n2\n3", "Gdd", "1\n|2"),
        ("1\n2\n3", "2dd", "|3"),
        ("1\n2\n3", "dj", "|3"),
        ("1\n2\n3", "dG", "|"),
        ("1\n2\n3", "Gdk", "|1"),
        ("1\n2\n3", "ddp", "2\n|1\n3"),
        ("1\n2\n3", "yyP", "|1\n1\n2\n3"),
        ("1\n2\n3", "yy2p", "1\n|1\n1\n2\n3"),
        ("ab", "xp", "b|a"),
        ("one two", "ywP", "one| one two"),
        ("1\n  2", "J", "1| 2"),
        ("1\n2\n3", "3J", "1 2| 3"),
        ("ab", "aX<esc>", "a|Xb"),
        ("ab", "AX<esc>", "ab|X"),
        (" ab", "$IX<esc>", " |Xab"),
        ("ab", "oX<esc>", "ab\n|X"),
        ("ab", "OX<esc>", "|X\nab"),
    ];
    for (text, keys, left) in table {
        assert_eq!(after(text, keys), left, "{keys} in {text:?}");
    }
}

#[test]
fn undo_takes_orders_back_and_the_dot_repeats_them() {
    let table = [
        ("one two three", "dwdwu", "|two three"),
        ("one two three", "dwdwuu<ctrl+r>", "|two three"),
        ("one two", "cwa b c<esc>u", "|one two"),
        ("one two three", "dw.", "|three"),
        ("one two three", "cwx<esc>w.", "x |x three"),
        ("a\nb", "Ax<esc>j.", "ax\nb|x"),
        ("one two three", "x3.", "|e two three"),
    ];
    for (text, keys, left) in table {
        assert_eq!(after(text, keys), left, "{keys} in {text:?}");
    }
}

#[test]
fn escape_is_left_to_others_once_there_is_nothing_to_leave() {
    let mut composer = Composer::new(Habits { vim: true });
    assert_eq!(composer.caret(), Caret::Bar);
    press(&mut composer, "word");
    assert_eq!(composer.key(Key::plain(Code::Esc)), Typed::Taken);
    assert_eq!(composer.caret(), Caret::Block);
    assert_eq!(composer.key(Key::plain(Code::Char('2'))), Typed::Taken);
    assert_eq!(composer.vi.as_ref().map(Vi::status).as_deref(), Some("normal 2"));
    assert_eq!(composer.key(Key::plain(Code::Esc)), Typed::Taken);
    assert_eq!(composer.key(Key::plain(Code::Esc)), Typed::Ignored);
    assert_eq!(composer.key(Key::plain(Code::Enter)), Typed::Ignored);
    assert!(composer.take().is_some());
    assert_eq!(composer.caret(), Caret::Bar);
}

#[test]
fn what_was_said_is_walked_by_letters_too() {
    let mut composer = Composer::new(Habits { vim: true });
    composer.set_history(vec!["newest".to_owned(), "older".to_owned()]);
    press(&mut composer, "draft<esc>kk");
    assert_eq!(composer.text(), "older");
    press(&mut composer, "jj");
    assert_eq!(composer.text(), "draft");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_keys_break_it(
        text in "[ab (\"é\u{301}日👩\n.\u{10F000}]{0,30}",
        keys in "[hjklwbeWBE0^$gGftFT;,xXDCSsr~JdcypPuiaIAoO.2-4\"(Aé日 ]{0,40}",
    ) {
        let mut composer = Composer::new(Habits { vim: true });
        composer.buffer.insert(&text, crate::composer::buffer::Run::Alone);
        composer.key(Key::plain(Code::Esc));
        for c in keys.chars() {
            let code = if c == 'é' { Code::Esc } else { Code::Char(c) };
            composer.key(Key::plain(code));
            let mut canvas = Canvas::new(12, 6);
            let area = canvas.area();
            let look = crate::composer::tests::look();
            prop_assert!(composer.draw(&mut canvas, area, "", &look).is_some());
        }
        while composer.buffer.undo() {}
        prop_assert_eq!(composer.buffer.text(), "");
    }
}
