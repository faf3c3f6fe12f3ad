//! The loop on a real terminal device.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::termios::LocalModes;
use tui::message::Screen;

use crate::stage::Stage;
use crate::toy::Programs;

fn stage(screen: Screen) -> Stage {
    Stage::with(screen, Arc::new(Programs::default()))
}

fn is_cooked(stage: &Stage) -> bool {
    stage.settings().local_modes.contains(LocalModes::ICANON | LocalModes::ECHO)
}

#[test]
fn keys_are_drawn_and_an_end_gives_the_terminal_back() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    assert!(!is_cooked(&stage) && stage.view().parser.screen().alternate_screen());
    stage.send("hello \u{65e5}");
    stage.wait_for("> hello \u{65e5}");
    stage.send("\u{1b}[200~a\r\nb\u{1b}[201~");
    stage.wait_for("pasted 3 bytes");
    stage.send("\u{1b}");
    stage.wait_for("esc");
    stage.send("\u{11}");
    assert!(stage.finish().unwrap().session.is_some());
    stage.wait_until(|view| !view.parser.screen().alternate_screen());
    let view = stage.view();
    let screen = view.parser.screen();
    assert!(!screen.bracketed_paste() && !screen.hide_cursor());
    assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    drop(view);
    assert!(is_cooked(&stage));
}

#[test]
fn a_new_size_is_noticed() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    stage.resize(60, 5);
    stage.wait_for("60x5");
    stage.send("\u{11}");
    stage.finish().unwrap();
}

#[test]
fn operations_keep_their_order_and_look_ups_do_not_wait() {
    let mut stage = stage(Screen::Full);
    stage.wait_for(">");
    stage.send("\u{13}");
    stage.wait_for("submitted true");
    stage.wait_until(|_| stage.mind.asked.lock().unwrap().len() == 3);
    assert_eq!(*stage.mind.asked.lock().unwrap(), ["Providers", "NewSession", "Stop"]);
    stage.send("\u{11}");
    stage.finish().unwrap();
}

#[test]
fn events_reach_the_interface_and_ticks_come_when_wanted() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    for number in 1..=3000 {
        stage.mind.happen(number);
    }
    stage.wait_for("event 3000");
    assert_eq!(stage.mind.since.lock().unwrap()[0], 0);
    stage.send("\u{14}");
    stage.wait_for("tick");
    stage.send("\u{11}");
    stage.finish().unwrap();
}

#[test]
fn an_editor_gets_the_terminal_as_it_was() {
    let programs = Arc::new(Programs::default());
    let mut stage = Stage::with(Screen::Full, programs.clone());
    stage.wait_for(">");
    stage.send("draft");
    stage.wait_for("> draft");
    stage.send("\u{5}!");
    stage.wait_for("> draft edited!");
    assert_eq!(*programs.called.lock().unwrap(), ["ed -w"]);
    stage.send("!");
    stage.wait_for("> draft edited!!");
    assert!(stage.view().parser.screen().alternate_screen());
    stage.send("\u{11}");
    stage.finish().unwrap();
}

#[test]
fn a_long_paste_arrives_whole() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    stage.send(&format!("\u{1b}[200~{}\u{1b}[201~", "ten bytes\n".repeat(50_000)));
    stage.wait_for("pasted 500000 bytes");
    stage.send("\u{11}");
    stage.finish().unwrap();
}

#[test]
fn a_copy_and_a_bell_are_written_to_the_terminal() {
    let mut stage = stage(Screen::Full);
    stage.wait_for(">");
    stage.send("hi\u{19}\u{e}\u{11}");
    stage.finish().unwrap();
    stage.wait_until(|view| {
        let raw = String::from_utf8_lossy(&view.raw).into_owned();
        raw.contains("\u{1b}]52;c;aGk=\u{7}") && raw.contains("\u{1b}]0;toy\u{1b}\\")
    });
}

#[test]
fn inline_leaves_what_was_said_and_nothing_else() {
    let mut stage = stage(Screen::Inline);
    stage.wait_for(">");
    stage.send("one\rtwo\rthree");
    stage.wait_for("> three");
    assert!(!stage.view().parser.screen().alternate_screen());
    stage.send("\u{6}");
    stage.wait_until(|view| view.parser.screen().alternate_screen());
    stage.send("\u{c}");
    stage.wait_until(|view| !view.parser.screen().alternate_screen());
    stage.wait_for("> three");
    stage.send("\u{11}");
    stage.finish().unwrap();
    stage.wait_until(|view| !view.parser.screen().contents().contains("three"));
    assert_eq!(stage.screen().trim_end(), "one\ntwo");
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    stage.send("\u{10}");
    stage.crash();
    stage.wait_until(|view| !view.parser.screen().alternate_screen());
    assert!(is_cooked(&stage));
}

#[test]
fn nothing_is_written_while_nothing_happens() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    stage.send("\u{1b}[I");
    stage.send("x");
    stage.wait_for("> x");
    let before = stage.view().raw.len();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(stage.view().raw.len(), before);
    stage.send("\u{11}");
    stage.finish().unwrap();
}

#[test]
fn a_key_is_on_the_screen_in_a_moment_while_a_stream_runs() {
    let mut stage = stage(Screen::Full);
    stage.wait_for("Attributes");
    let mut times = Vec::new();
    for number in 1..=200u64 {
        for event in 0..5 {
            stage.mind.happen(number * 10 + event);
        }
        let begun = Instant::now();
        let seen = stage.view().parser.screen().cursor_position();
        stage.send(if seen.1 > 30 { "\r" } else { "x" });
        stage.wait_until(|view| view.parser.screen().cursor_position() != seen);
        times.push(begun.elapsed());
    }
    times.sort();
    let median = times[times.len() / 2];
    println!("key to screen: median {median:?}, slowest {:?}", times[times.len() - 1]);
    assert!(median < Duration::from_millis(20), "{median:?}");
    stage.send("\u{11}");
    stage.finish().unwrap();
}
