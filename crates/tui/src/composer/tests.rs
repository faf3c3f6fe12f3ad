use base::PartBody;
use base::interface::DiffMode;
use base::protocol::OfferKind;
use base::transcript::Origin;
use proptest::prelude::*;

use super::*;
use crate::canvas::Point;
use crate::key::Code;
use crate::look::Pictures;
use crate::theme::Theme;

pub(super) fn look() -> Look {
    Look {
        theme: Theme::dark(),
        version: 0,
        diff: DiffMode::default(),
        frame: 0,
        now_ms: 0,
        unicode: true,
        pictures: Pictures::default(),
        unfold: String::new(),
    }
}

fn offer(kind: OfferKind, name: &str, arguments: &str, about: &str) -> Offer {
    let [name, arguments, about] = [name, arguments, about].map(str::to_owned);
    Offer { kind, name, arguments, about, source: "built in".to_owned(), color: None }
}

fn offers() -> Vec<Offer> {
    vec![
        offer(OfferKind::Command, "clear", "", "Begin again with an empty conversation"),
        offer(OfferKind::Command, "compact", "[focus]", "Replace what was said by a summary"),
        offer(OfferKind::Command, "rename", "<title>", "Give the session a title"),
        offer(OfferKind::Skill, "release-notes", "", "Write what has changed since a tag"),
        offer(OfferKind::Agent, "reviewer", "", "Reads changes and finds what is wrong"),
    ]
}

fn composer() -> Composer {
    let mut composer = Composer::default();
    composer.set_offers(offers());
    composer
}

/// Types letters, and keys in angle brackets: `ab<left><ctrl+k>`.
fn press(composer: &mut Composer, keys: &str) -> Typed {
    let mut typed = Typed::Ignored;
    let mut rest = keys;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let known = named.and_then(|(name, tail)| Some((name.parse::<Key>().ok()?, tail)));
        let (key, tail) =
            known.unwrap_or_else(|| (Key::plain(Code::Char(c)), &rest[c.len_utf8()..]));
        typed = composer.key(key);
        rest = tail;
    }
    typed
}

fn after(keys: &str) -> Composer {
    let mut composer = composer();
    press(&mut composer, keys);
    composer
}

/// The text with a bar where the caret is.
fn shown(composer: &Composer) -> String {
    let mut text = composer.buffer.text().to_owned();
    text.insert(composer.buffer.caret(), '|');
    text
}

fn drawn(composer: &mut Composer, width: u16, height: u16) -> (String, Option<Point>) {
    let mut canvas = Canvas::new(width, height);
    let wanted = composer.height(width, height);
    let (_, area) = canvas.area().split_bottom(wanted);
    let caret = composer.draw(&mut canvas, area, "what shall we do?", &look());
    composer.draw_popup(&mut canvas, area, &look());
    (canvas.plain(), caret)
}

#[test]
fn keys_edit_as_emacs_taught_them() {
    let table = [
        ("one two<ctrl+a>x", "x|one two"),
        ("one two<ctrl+a><alt+f>x", "onex| two"),
        ("one two<alt+b>x", "one x|two"),
        ("one two<ctrl+w>", "one |"),
        ("one a.b<ctrl+w>", "one |"),
        ("one a.b<alt+backspace>", "one a.|"),
        ("one two<ctrl+a><alt+d>", "| two"),
        ("one two<ctrl+a><ctrl+k><ctrl+y><ctrl+y>", "one twoone two|"),
        ("one two<ctrl+w><ctrl+w><ctrl+y>", "one two|"),
        ("one<ctrl+u>two<ctrl+u><ctrl+y><alt+y>", "one|"),
        ("ab<ctrl+t>", "ba|"),
        ("abc<left><ctrl+t>", "acb|"),
        ("ab<left><backspace>", "|b"),
        ("ab<left><delete>", "a|"),
        ("one two<ctrl+_>", "one |"),
        ("one two<ctrl+_><ctrl+_><alt+_>", "one |"),
        ("日本<left><backspace>", "|本"),
        ("one two<shift+left><shift+left><backspace>", "one t|"),
        ("one two<ctrl+shift+left>x", "one x|"),
    ];
    for (keys, text) in table {
        assert_eq!(shown(&after(keys)), text, "{keys}");
    }
}

#[test]
fn keys_without_use_are_left_to_others() {
    for keys in
        ["<enter>", "<esc>", "<ctrl+r>", "<f1>", "<home>", "<ctrl+u>", "<ctrl+d>", "<up>", "<down>"]
    {
        assert_eq!(press(&mut composer(), keys), Typed::Ignored, "{keys}");
    }
    for keys in ["x<ctrl+u>", "x<ctrl+d>", "x<right>"] {
        assert_eq!(press(&mut composer(), keys), Typed::Taken, "{keys}");
    }
    assert_eq!(press(&mut composer(), "x<down>"), Typed::Ignored);
}

#[test]
fn up_and_down_go_by_rows_and_keep_the_column() {
    let mut composer = after("a long row");
    composer.new_line();
    press(&mut composer, "ab");
    composer.new_line();
    press(&mut composer, "another long row<left><left><up><up>");
    assert_eq!(shown(&composer), "a long row|\nab\nanother long row");
    press(&mut composer, "<down><down>");
    assert_eq!(shown(&composer), "a long row\nab\nanother long r|ow");
}

#[test]
fn what_was_said_is_walked_and_the_draft_comes_back() {
    let mut composer = composer();
    composer.set_history(vec!["newest\nof all".to_owned(), "older".to_owned()]);
    press(&mut composer, "draft<up>");
    assert_eq!(composer.text(), "newest\nof all");
    press(&mut composer, "<up>");
    assert_eq!(composer.text(), "older");
    assert_eq!(press(&mut composer, "<up>"), Typed::Ignored);
    press(&mut composer, "<down><down>");
    assert_eq!(shown(&composer), "draft|");
    press(&mut composer, "<up>!<up>");
    assert_eq!(shown(&composer), "newest|\nof all!");
    press(&mut composer, "<up><down>");
    assert_eq!(composer.text(), "newest\nof all!", "what was changed is a draft itself");
    composer.remember("just now");
    composer.set_text("");
    press(&mut composer, "<up>");
    assert_eq!(composer.text(), "just now");
}

#[test]
fn a_long_paste_is_one_step_and_unfolds_when_it_is_sent() {
    let mut composer = composer();
    let long = "line\r\n".repeat(120);
    composer.insert("see ");
    assert!(composer.paste(&long).is_empty());
    insta::assert_snapshot!(drawn(&mut composer, 40, 3).0, @"
    ────────────────────────────────────────
    › see [pasted 120 lines #1]
    ────────────────────────────────────────
    ");
    let unfolded = long.replace("\r\n", "\n");
    assert_eq!(composer.text(), format!("see {unfolded}"));
    press(&mut composer, "<backspace>");
    assert_eq!(composer.text(), "see ");
    press(&mut composer, "<ctrl+_>");
    composer.paste(&long);
    assert_eq!(composer.buffer.text(), format!("see {unfolded}"));
    let said = Part::user_text(format!("see {}", unfolded.trim_end()));
    assert_eq!(composer.take(), Some(Prompt::Say(vec![said])));
    assert!(composer.is_empty());
}

#[test]
fn a_paste_of_several_lines_is_never_a_shell_command() {
    let mut composer = composer();
    composer.paste("![badge](a.svg)\n# Title");
    assert!(matches!(composer.take(), Some(Prompt::Say(_))));
    composer.paste("!ls");
    assert!(matches!(composer.take(), Some(Prompt::Shell(_))));
}

#[test]
fn files_go_with_the_text_in_their_order() {
    let mut composer = composer();
    assert_eq!(composer.paste("/tmp/my\\ shot.png"), ["/tmp/my shot.png"]);
    press(&mut composer, "what is");
    composer.attach("/tmp/my shot.png", vec![1, 2, 3], "image/png").unwrap();
    press(&mut composer, "about?");
    composer.attach("notes.txt", b"buy milk\n".to_vec(), "text/plain").unwrap();
    assert_eq!(composer.text(), "what is [image #1] about? [notes.txt #1] ");
    composer.set_text("so: [image #1], what is it? [notes.txt #1]");
    let Some(Prompt::Say(parts)) = composer.take() else { panic!("nothing said") };
    let [first, picture, middle, notes] = parts.as_slice() else { panic!("{parts:?}") };
    assert_eq!((first.as_text(), middle.as_text()), (Some("so:"), Some(", what is it?")));
    assert!(matches!(&picture.body, PartBody::File(file) if file.is_image()));
    assert_eq!(notes.as_text(), Some("<file path=\"notes.txt\">\nbuy milk\n</file>"));
    assert_eq!(notes.origin, Origin::Workspace);
}

#[test]
fn files_that_cannot_go_are_refused_with_a_reason() {
    let mut composer = composer();
    let refused = |composer: &mut Composer, bytes: Vec<u8>, kind: &str| {
        composer.attach("a/b.bin", bytes, kind).unwrap_err().to_string()
    };
    let big = refused(&mut composer, vec![0; (5 << 20) + 1], "image/png");
    assert_eq!(big, "b.bin has 6 MB: 5 MB is the most that can be attached");
    assert!(refused(&mut composer, vec![0, 255], "application/zip").contains("neither a picture"));
    assert_eq!(refused(&mut composer, Vec::new(), "text/plain"), "b.bin is empty");
    assert!(composer.is_empty());
}

#[test]
fn what_is_written_is_said_run_or_obeyed() {
    let say = |text: &str| Some(Prompt::Say(vec![Part::user_text(text)]));
    let table = [
        ("\n\n  hello \n", say("  hello")),
        ("/compact the parser", Some(Prompt::Command("/compact the parser".to_owned()))),
        ("/unknown-one", Some(Prompt::Command("/unknown-one".to_owned()))),
        ("/clear\nnow", Some(Prompt::Command("/clear\nnow".to_owned()))),
        ("/usr/bin/env is missing", say("/usr/bin/env is missing")),
        ("/ what", say("/ what")),
        ("// no", say("// no")),
        (" /clear", say(" /clear")),
        ("!ls -la", Some(Prompt::Shell("ls -la".to_owned()))),
        ("! ", None),
        ("  \n ", None),
        ("", None),
    ];
    for (text, prompt) in table {
        let mut composer = composer();
        composer.set_text(text);
        assert_eq!(composer.take(), prompt, "{text:?}");
    }
}

#[test]
fn a_backslash_before_enter_makes_a_new_line() {
    let mut composer = composer();
    for (text, asks, left) in [
        ("one\\", true, "one"),
        ("one\\\\", false, "one\\\\"),
        ("one", false, "one"),
        ("!ls \\", true, "!ls \\"),
    ] {
        composer.set_text(text);
        assert_eq!((composer.ends_in_backslash(), composer.text().as_str()), (asks, left));
    }
}

#[test]
fn it_shows_hints_rows_and_where_the_caret_is() {
    let mut composer = composer();
    let (screen, caret) = drawn(&mut composer, 30, 3);
    insta::assert_snapshot!(screen, @"
    ──────────────────────────────
    › what shall we do?
    ──────────────────────────────
    ");
    assert_eq!(caret, Some(Point { x: 2, y: 1 }));
    composer.set_text("日本語 and x\u{301} 👩‍👩‍👧 שלום\n\tin a row that is too long for it");
    let (screen, caret) = drawn(&mut composer, 20, 7);
    insta::assert_snapshot!(screen, @"
    ────────────────────
    › 日本語 and x́ 👩‍👩‍👧
      שלום
          in a row that
      is too long for
      it
    ────────────────────
    ");
    assert_eq!(caret, Some(Point { x: 4, y: 5 }));
    composer.set_text("!ls -la");
    insta::assert_snapshot!(drawn(&mut composer, 20, 1).0, @"! ls -la");
    composer.set_text("/compact it");
    let (screen, caret) = drawn(&mut composer, 20, 1);
    insta::assert_snapshot!(screen, @"›/compact it");
    assert_eq!(caret, Some(Point { x: 12, y: 0 }));
}

#[test]
fn a_text_that_is_too_high_scrolls_with_the_caret() {
    let mut composer = composer();
    composer.set_text("1\n2\n3\n4\n5\n6");
    insta::assert_snapshot!(drawn(&mut composer, 24, 5).0, @"
    ───────────── ↑ 3 more ─
      4
      5
      6
    ────────────────────────
    ");
    press(&mut composer, "<up><up><up><up>");
    insta::assert_snapshot!(drawn(&mut composer, 24, 5).0, @"
    ───────────── ↑ 1 more ─
      2
      3
      4
    ───────────── ↓ 2 more ─
    ");
    composer.click(Point { x: 9, y: 3 });
    press(&mut composer, "x");
    assert_eq!(composer.text(), "1\n2\n3\n4x\n5\n6");
}

#[test]
fn commands_are_offered_by_their_letters() {
    let mut composer = after("/");
    assert_eq!(composer.wanted(), Wanted::Commands);
    insta::assert_snapshot!(drawn(&mut composer, 72, 7).0, @"
    › /clear            Begin again with an empty conversation
      /compact [focus]  Replace what was said by a summary
      /rename <title>   Give the session a title
      /release-notes    Write what has changed since a tag
    ────────────────────────────────────────────────────────────────────────
    ›/
    ────────────────────────────────────────────────────────────────────────
    ");
    press(&mut composer, "c");
    insta::assert_snapshot!(drawn(&mut composer, 40, 5).0, @"
    › /clear            Begin again with a…
      /compact [focus]  Replace what was s…
    ────────────────────────────────────────
    ›/c
    ────────────────────────────────────────
    ");
    assert_eq!(press(&mut composer, "l<enter>"), Typed::Ignored);
    assert_eq!(composer.take(), Some(Prompt::Command("/clear".to_owned())));
}

#[test]
fn a_long_list_scrolls_in_a_small_terminal() {
    let mut composer = composer();
    let many = (1..=14).map(|n| offer(OfferKind::Command, &format!("do-{n}"), "", "Does it"));
    composer.set_offers(many.collect());
    press(&mut composer, "/<up><up>");
    insta::assert_snapshot!(drawn(&mut composer, 40, 10).0, @"
      /do-7   Does it
      /do-8   Does it
      /do-9   Does it
      /do-10  Does it
      /do-11  Does it
      /do-12  Does it
    › /do-13  Does it
    ────────────────────────────────────────
    ›/
    ────────────────────────────────────────
    ");
    let mut canvas = Canvas::new(40, 30);
    composer.draw_popup(&mut canvas, Rect { x: 0, y: 27, width: 40, height: 3 }, &look());
    assert_eq!(canvas.plain().lines().filter(|row| !row.is_empty()).count(), 10);
}

#[test]
fn plain_terminals_and_vi_have_their_marks() {
    let mut composer = Composer::new(Habits { vim: true });
    press(&mut composer, "some text<esc>2");
    let plain = Look { unicode: false, ..look() };
    let mut canvas = Canvas::new(30, 3);
    let area = canvas.area();
    let caret = composer.draw(&mut canvas, area, "", &plain);
    insta::assert_snapshot!(canvas.plain(), @"
    ------------------------------
    > some text
    ------------------- normal 2 -
    ");
    assert_eq!(caret, Some(Point { x: 10, y: 1 }));
}

#[test]
fn what_is_selected_can_be_copied() {
    let composer = after("one two<shift+left><shift+left>");
    assert_eq!(composer.selected().as_deref(), Some("wo"));
}

#[test]
fn a_command_that_may_be_given_something_waits_for_it() {
    let table = [
        ("/com<tab>", "/compact |", Typed::Taken),
        ("/com<enter>", "/compact |", Typed::Taken),
        ("/compact<enter>", "/compact|", Typed::Ignored),
        ("/rename<enter>", "/rename |", Typed::Taken),
        ("/cl<tab>", "/clear |", Typed::Taken),
        ("/c<up><ctrl+n><ctrl+n><ctrl+p><down><tab>", "/compact |", Typed::Taken),
        ("/nts<enter>", "/release-notes|", Typed::Ignored),
        ("/usr/bin<enter>", "/usr/bin|", Typed::Ignored),
    ];
    for (keys, text, typed) in table {
        let mut composer = composer();
        let longer = offer(OfferKind::Command, "compact-more", "", "Has the other's name in it");
        composer.set_offers([vec![longer], offers()].concat());
        assert_eq!(press(&mut composer, keys), typed, "{keys}");
        assert_eq!(shown(&composer), text, "{keys}");
    }
}

#[test]
fn files_and_agents_are_offered_at_the_caret() {
    let mut composer = after("see @sr");
    assert_eq!(composer.wanted(), Wanted::Files { search: "sr".to_owned() });
    composer.offer_files("s", vec!["late/sr.rs".to_owned()]);
    assert!(!drawn(&mut composer, 40, 10).0.contains("late"));
    let paths = ["src/", "src/main.rs", "a folder/with a very long path/to a source.rs"];
    composer.offer_files("sr", paths.map(str::to_owned).to_vec());
    insta::assert_snapshot!(drawn(&mut composer, 40, 6).0, @"
    › src/
      src/main.rs
      …with a very long path/to a source.rs
    ────────────────────────────────────────
    › see @sr
    ────────────────────────────────────────
    ");
    press(&mut composer, "<tab>");
    assert_eq!(shown(&composer), "see @src/|");
    assert_eq!(composer.wanted(), Wanted::Files { search: "src/".to_owned() });
    press(&mut composer, "<down><enter>");
    assert_eq!(shown(&composer), "see @src/main.rs |");
    assert!(!composer.is_popup_open());
    press(&mut composer, "@");
    composer.offer_files("", vec!["evil\nname".to_owned(), "my notes.md".to_owned()]);
    press(&mut composer, "<enter>@rev<enter>");
    assert_eq!(shown(&composer), "see @src/main.rs @\"my notes.md\" @agent-reviewer |");
}

#[test]
fn what_servers_let_be_read_is_offered_after_an_at_sign() {
    let mut composer = after("@");
    let mut all = offers();
    all.push(offer(OfferKind::Resource, "docs:file:///a b.md", "", "A page"));
    all.push(offer(OfferKind::Resource, "docs:note://1", "", "A note"));
    composer.set_offers(all);
    press(&mut composer, "docs:no");
    composer.offer_files("docs:no", Vec::new());
    press(&mut composer, "<enter>@docs:file<enter>");
    assert_eq!(shown(&composer), "@docs:note://1 @\"docs:file:///a b.md\" |");
}

#[test]
fn a_folder_with_a_blank_in_its_name_is_entered_in_quotes() {
    let mut composer = after("@");
    composer.offer_files("", vec!["my docs/".to_owned()]);
    press(&mut composer, "<tab>");
    assert_eq!(composer.wanted(), Wanted::Files { search: "my docs/".to_owned() });
    composer.offer_files("my docs/", vec!["my docs/a.md".to_owned()]);
    press(&mut composer, "<tab>");
    assert_eq!(shown(&composer), "@\"my docs/a.md\" |");
}

#[test]
fn a_closed_popup_stays_closed_until_the_word_changes() {
    let mut composer = after("/c");
    assert!(composer.is_popup_open());
    assert_eq!(press(&mut composer, "<esc>"), Typed::Taken);
    assert!(!composer.is_popup_open());
    assert_eq!(press(&mut composer, "<esc>"), Typed::Ignored);
    composer.set_offers(offers());
    assert!(!composer.is_popup_open());
    press(&mut composer, "o");
    assert!(composer.is_popup_open());
}

#[test]
fn mail_addresses_shell_commands_and_recalled_prompts_open_no_popup() {
    for keys in ["me@rev", "!git log @rev", "say /cl"] {
        assert!(!after(keys).is_popup_open(), "{keys}");
    }
    let mut composer = composer();
    composer.set_history(vec!["/clear".to_owned(), "older".to_owned()]);
    press(&mut composer, "<up><up>");
    assert_eq!(composer.text(), "older");
}

#[test]
fn keys_stay_quick_in_long_texts() {
    let mut composer = composer();
    composer.paste(&"a line of a log that was pasted\n".repeat(1 << 15));
    let folded = time_of_keys(&mut composer);
    composer.set_text(&"a line of a draft that came back from an editor\n".repeat(2_000));
    let draft = time_of_keys(&mut composer);
    println!("a key with its rows: {folded:?} after a paste of 1 MB, {draft:?} in 2,000 lines");
    // Measured without optimisation, drawing included: 0.3 ms and 0.65 ms.
    assert!(folded.as_millis() < 20 && draft.as_millis() < 50);
}

fn time_of_keys(composer: &mut Composer) -> std::time::Duration {
    let mut canvas = Canvas::new(80, 12);
    let area = canvas.area();
    composer.draw(&mut canvas, area, "", &look());
    let began = std::time::Instant::now();
    for keys in ["x", "<backspace>", "<left>", "<right>", "<up>", "<down>"] {
        for _ in 0..10 {
            press(composer, keys);
            composer.draw(&mut canvas, area, "", &look());
        }
    }
    began.elapsed() / 60
}

#[derive(Debug, Clone)]
enum Act {
    Press(String),
    Paste(String),
    Files(String),
    Draw(u16, u16),
    Click(u16, u16),
    Recall(String),
    Attach(Vec<u8>),
    Take,
}

fn act() -> impl Strategy<Value = Act> {
    let keys = prop::sample::select(vec![
        "<left>",
        "<right>",
        "<up>",
        "<down>",
        "<shift+left>",
        "<shift+up>",
        "<home>",
        "<end>",
        "<ctrl+w>",
        "<ctrl+k>",
        "<ctrl+u>",
        "<ctrl+y>",
        "<alt+y>",
        "<alt+d>",
        "<ctrl+t>",
        "<tab>",
        "<ctrl+_>",
        "<alt+_>",
        "<backspace>",
        "<delete>",
        "<enter>",
        "<esc>",
        "<alt+b>",
        "<alt+f>",
    ]);
    let text = "[a-c /@!\"\\\\\n\t\r日é\u{301}\u{200d}👩👧🇩\u{202e}\u{10F000}\u{600}ש]{0,12}";
    prop_oneof![
        6 => keys.prop_map(|keys| Act::Press(keys.to_owned())),
        4 => text.prop_map(Act::Press),
        2 => (text, 1usize..40).prop_map(|(text, times)| Act::Paste(text.repeat(times))),
        1 => text.prop_map(Act::Files),
        2 => (0u16..30, 0u16..12).prop_map(|(width, height)| Act::Draw(width, height)),
        1 => (0u16..30, 0u16..12).prop_map(|(x, y)| Act::Click(x, y)),
        1 => text.prop_map(Act::Recall),
        1 => prop::collection::vec(any::<u8>(), 0..4).prop_map(Act::Attach),
        1 => Just(Act::Take),
    ]
}

fn apply(composer: &mut Composer, act: Act) {
    match act {
        Act::Press(keys) => {
            press(composer, &keys);
        }
        Act::Paste(text) => {
            composer.paste(&text);
        }
        Act::Files(path) => {
            if let Wanted::Files { search } = composer.wanted() {
                composer.offer_files(&search, vec![format!("{search}{path}"), path]);
            }
        }
        Act::Draw(width, height) => {
            let (_, caret) = drawn(composer, width, height);
            assert!(caret.is_none_or(|at| at.x < width && at.y < height));
        }
        Act::Click(x, y) => composer.click(Point { x, y }),
        Act::Recall(text) => composer.set_text(&text),
        Act::Attach(bytes) => {
            composer.attach("file", bytes, "text/plain").ok();
        }
        Act::Take => {
            composer.remember(&composer.text());
            composer.take();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn nothing_that_is_typed_pasted_or_clicked_breaks_it(
        acts in prop::collection::vec(act(), 0..60),
        vim in any::<bool>(),
    ) {
        let mut composer = Composer::new(Habits { vim });
        composer.set_offers(offers());
        for act in acts {
            apply(&mut composer, act);
            let (text, caret) = (composer.buffer.text(), composer.buffer.caret());
            prop_assert_eq!(buffer::snap(text, caret), caret);
            prop_assert!(text.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
            prop_assert!(!composer.text().contains(marks::is_mark));
        }
    }
}
