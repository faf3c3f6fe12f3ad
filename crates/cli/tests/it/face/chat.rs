//! The conversation: streaming, every kind of block, thoughts folded and unfolded.

use serde_json::json;
use testkit::Script;
use testkit::script::When;
use testkit::terminal::Key;

use super::live::Live;
use super::stage::{HUGE, LARGE, SMALL, Stage, USUAL};

/// An answer with everything Markdown has.
const MARKDOWN: &str = "# Prices\n\nThe *price* is **twice** the cost, see [the docs](https://example.com/p).\n\n\
1. read `price.py`\n2. change it\n   - carefully\n\n| item | cost | price |\n|---|---:|---:|\n| tea | 2 | 4 |\n\
| coffee 咖啡 | 3 | 6 |\n\n```python\ndef price(item):\n    return item.cost * 2  # twice\n```\n\n> Enough said.\n";

fn edit() -> serde_json::Value {
    json!({ "file_path": "price.py", "old_string": "    return item.cost * 2",
            "new_string": "    if item.is_old:\n        return item.cost\n    return item.cost * 3" })
}

/// The stage on which a change is made without asking.
fn changing() -> Stage {
    let script = Script::new()
        .text("I look first.")
        .call("view", json!({ "file_path": "price.py" }))
        .usage(900, 40)
        .then()
        .call("edit", edit())
        .usage(1000, 60)
        .then()
        .text("Old things are cheaper now.")
        .usage(1200, 20);
    Stage::new(script)
}

#[test]
fn an_empty_conversation_says_where_we_are_and_what_can_be_done() {
    let stage = Stage::new(Script::new());
    for (name, size) in [
        ("landing_40x10", SMALL),
        ("landing_80x24", USUAL),
        ("landing_120x40", LARGE),
        ("landing_200x60", HUGE),
    ] {
        stage.ready(size).shows(name, "ask anything");
    }
}

#[test]
fn an_answer_is_seen_while_it_arrives_and_has_a_footer_when_it_is_done() {
    let live = Live::start();
    let url = json!({ "providers": { "lab": { "base_url": live.url } } });
    let stage = Stage::new(Script::new()).set(&url);
    let mut face = stage.ready(USUAL);
    face.says("How much is tea?");
    live.thinks("Tea is cheap.\nI multiply.");
    face.waits("I multiply.");
    face.shows_at_every_size("thinking");
    live.says("Tea costs **four** cro");
    face.waits("four cro");
    face.shows_at_every_size("streaming");
    live.says("wns.\n\n- two for the leaves\n- two for us\n");
    live.ends();
    face.shows("streamed_80x24", "1.2k in, 300 out");
    face.press(Key::Alt('t'));
    face.shows("thought_unfolded_80x24", "Tea is cheap.");
    face.press(Key::Ctrl('d'));
    face.ends();
    stage.open(USUAL, &["--continue"]).shows("streamed_80x24", "thought for");
}

#[test]
fn markdown_is_shown_as_it_is_meant_at_every_size() {
    let stage = Stage::new(Script::new().text(MARKDOWN).usage(1100, 200));
    for (name, size) in [
        ("markdown_40x10", SMALL),
        ("markdown_80x24", USUAL),
        ("markdown_120x40", LARGE),
        ("markdown_200x60", HUGE),
    ] {
        let face = stage.ready(size);
        face.says("Tell me all");
        face.shows(name, "1.1k in, 200 out");
    }
}

#[test]
fn a_change_is_a_diff_below_itself_or_side_by_side_where_there_is_room() {
    for (name, size) in [
        ("diff_40x10", SMALL),
        ("diff_80x24", USUAL),
        ("diff_120x40", LARGE),
        ("diff_200x60", HUGE),
    ] {
        let stage = changing();
        let face = stage.open(size, &["--mode", "acceptEdits"]);
        face.waits("lab/m");
        face.says("Sell old things");
        face.waits("Old things are cheaper now.");
        face.shows(name, "3.1k in");
    }
}

#[test]
fn todos_trees_commands_and_failures_each_have_their_block() {
    let todos = json!({ "todos": [
        { "content": "Read the prices", "status": "completed" },
        { "content": "Change them", "status": "in_progress" },
        { "content": "Tell everybody", "status": "pending" },
    ] });
    let script = Script::new()
        .call("todos", todos)
        .call("ls", json!({ "path": "." }))
        .usage(10, 5)
        .then()
        .call("bash", json!({ "command": "seq 1 40", "description": "Count" }))
        .usage(10, 5)
        .then()
        .call("view", json!({ "file_path": "nothing.py" }))
        .usage(10, 5)
        .then()
        .text("That is all.")
        .usage(10, 5);
    let stage = Stage::new(script);
    stage.file("docs/guide.md", "Guide\n");
    let mut face = stage.open(USUAL, &["--allow", "Bash(seq:*)"]);
    face.waits("lab/m");
    face.says("Do things");
    face.waits("That is all.");
    face.waits("40 in, 20 out");
    face.shows_at_every_size("blocks");
    face.resize(LARGE);
    face.press(Key::Alt('o'));
    face.shows("blocks_unfolded_120x40", "That is all.");
}

#[test]
fn a_picture_is_drawn_in_half_blocks() {
    let script = Script::new()
        .call("view", json!({ "file_path": "flag.png" }))
        .usage(10, 5)
        .then()
        .text("Red and blue.")
        .usage(10, 5);
    let seeing = json!([{ "id": "m", "context_window": 100_000, "default_max_tokens": 4000, "supports_attachments": true }]);
    let stage = Stage::new(script).set(&json!({ "providers": { "lab": { "models": seeing } } }));
    std::fs::write(stage.path("flag.png"), flag()).unwrap();
    let mut face = stage.ready(USUAL);
    face.says("What is on flag.png?");
    face.waits("Red and blue.");
    face.waits("20 in, 10 out");
    face.press(Key::Alt('o'));
    face.waits("▀");
    face.shows_at_every_size("picture");
    let raw = String::from_utf8_lossy(&face.terminal.raw()).into_owned();
    // The terminal was asked whether it can draw them itself, and was sent none.
    let mut others = raw.split("\x1b_G").skip(1);
    assert!(
        others.all(|rest| rest.starts_with("i=") && rest[..40.min(rest.len())].contains("a=q"))
    );
    assert!(!raw.contains("\x1bPq"));
}

#[test]
fn a_sub_agents_work_is_a_tree_in_its_own_colour() {
    // The one who sends them has both in its words.
    let sent = |what: &str| {
        let other = if what == "Find owls" { "Find mice" } else { "Find owls" };
        When { contains: Some(what.to_owned()), lacks: Some(other.to_owned()), ..When::default() }
    };
    let call =
        |agent: &str, what: &str| json!({ "prompt": what, "description": what, "agent": agent });
    let script = Script::new()
        .call("agent", call("owler", "Find owls"))
        .call("agent", call("mouser", "Find mice"))
        .usage(100, 10)
        .then()
        .when(sent("Find owls"))
        .call("ls", json!({ "path": "." }))
        .usage(20, 2)
        .then()
        .when(sent("Find mice"))
        .call("glob", json!({ "pattern": "*.mouse" }))
        .usage(20, 2)
        .then()
        .when(sent("Find owls"))
        .always()
        .text("None here.")
        .usage(30, 3)
        .then()
        .when(sent("Find mice"))
        .always()
        .text("None there.")
        .usage(30, 3)
        .then()
        .text("There are none.")
        .usage(200, 20);
    let stage = Stage::new(script);
    for (name, color) in [("owler", "cyan"), ("mouser", "red")] {
        let head = format!("name: {name}\ndescription: Finds them.\ncolor: {color}");
        stage.file(&format!(".caiman/agents/{name}.md"), &format!("---\n{head}\n---\nFind.\n"));
    }
    stage.trust();
    let mut face = stage.ready(LARGE);
    face.says("Owls and mice?");
    face.waits("There are none.");
    face.waits("400 in, 40 out");
    face.shows_at_every_size("agents");
    let coloured = |name: &str| {
        let screen = face.terminal.formatted();
        let at = screen.rfind(name).unwrap_or_else(|| panic!("{name} in {screen:?}"));
        let from = screen[..at].rfind("\x1b[").unwrap();
        screen[from..at].to_owned()
    };
    assert_ne!(coloured("owler"), coloured("mouser"));
    face.press(Key::Ctrl('d'));
    face.ends();
    stage.open(LARGE, &["--continue"]).shows("agents_120x40", "mouser · 1 call");
}

/// A picture of 16 by 16 pixels: red above, blue below.
pub(super) fn flag() -> Vec<u8> {
    let mut rows = Vec::new();
    for y in 0..16 {
        rows.push(0);
        for _ in 0..16 {
            rows.extend(if y < 8 { [255, 0, 0] } else { [0, 0, 255] });
        }
    }
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, *b"IHDR", &[0, 0, 0, 16, 0, 0, 0, 16, 8, 2, 0, 0, 0]);
    chunk(&mut png, *b"IDAT", &stored(&rows));
    chunk(&mut png, *b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: [u8; 4], body: &[u8]) {
    png.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    let sealed = [kind.as_slice(), body].concat();
    png.extend(&sealed);
    png.extend(crc(&sealed).to_be_bytes());
}

/// Bytes in a zlib stream that does not compress.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let mut out = vec![0x78, 1, 1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(bytes);
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    out.extend((b << 16 | a).to_be_bytes());
    out
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 }
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}
