//! The loop of the interface without a screen: the user's lines in, lines out.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::Duration;

use base::{Client, TaskScope};

use crate::face::bridge::{Happening, Request};
use crate::face::signals::Signal;
use crate::face::{FaceError, Farewell, Wire, bridge};
use crate::key::{Input, Key};
use crate::linear::Linear;
use crate::message::{Effect, Message};

/// How often it is looked, after the last line, whether all is done.
const TICK: Duration = Duration::from_millis(50);

/// Runs an interface without a screen on this process's standard input and output; blocks the calling thread,
/// which must be in the context of a runtime.
pub fn run_lines(
    app: &mut Linear,
    client: Arc<dyn Client>,
    scope: &TaskScope,
) -> Result<Farewell, FaceError> {
    let (wire, bridge) = bridge();
    scope.spawn(bridge.serve(client, 0));
    let sender = wire.sender.clone();
    scope.spawn(async move {
        while tokio::signal::ctrl_c().await.is_ok() {
            let interrupt = Message::Input(Input::Key(Key::ctrl('c')));
            if sender.send(Happening::Message(interrupt)).is_err() {
                return;
            }
        }
    });
    let sender = wire.sender.clone();
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let message = Message::Input(Input::Paste(line));
            if sender.send(Happening::Message(message)).is_err() {
                return;
            }
        }
        // Who has ended meanwhile needs no word of it.
        drop(sender.send(Happening::TerminalGone));
    });
    talk(app, &wire, &mut std::io::stdout())
}

/// Takes what happens until the end.
fn talk(app: &mut Linear, wire: &Wire, out: &mut dyn Write) -> Result<Farewell, FaceError> {
    let mut effects = app.begin();
    loop {
        for effect in effects {
            match effect {
                Effect::Submit { op, purpose } => {
                    drop(wire.requests.send(Request::Submit { op, purpose }));
                }
                Effect::Ask { query, asker } => {
                    drop(wire.requests.send(Request::Ask { query, asker }));
                }
                Effect::Quit => return Ok(Farewell { session: app.session() }),
                Effect::Copy(_)
                | Effect::Edit(_)
                | Effect::EditFile(_)
                | Effect::GetClip
                | Effect::AskClip
                | Effect::ReadFile(_)
                | Effect::OpenLink(_)
                | Effect::Notify { .. }
                | Effect::Title(_)
                | Effect::Progress(_)
                | Effect::SetScreen(_)
                | Effect::SetMouse(_)
                | Effect::Suspend
                | Effect::Redraw
                | Effect::Perform(_)
                | Effect::Open(_)
                | Effect::Enter(_)
                | Effect::Use(_)
                | Effect::SetTheme(_)
                | Effect::Write(_)
                | Effect::WriteParts(_)
                | Effect::Run(_)
                | Effect::WriteAgain(_)
                | Effect::Say(_) => {}
            }
        }
        for line in app.take_lines() {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        effects = match next(app, wire) {
            Some(Happening::Message(Message::Input(Input::Paste(line)))) => app.line(&line),
            Some(Happening::Message(Message::Input(_))) => app.interrupt(),
            Some(Happening::Message(message)) => app.update(message),
            Some(Happening::Event(event, _)) => app.update(Message::Event(event)),
            Some(Happening::Signal(Signal::Resized | Signal::Continued)) => Vec::new(),
            Some(Happening::TerminalGone) => {
                app.end_input();
                Vec::new()
            }
            Some(Happening::Signal(Signal::Ended)) | None => vec![Effect::Quit],
        };
    }
}

/// What happens next; none when nothing can any more.
fn next(app: &Linear, wire: &Wire) -> Option<Happening> {
    if !app.wants_ticks() {
        return wire.happenings.recv().ok();
    }
    match wire.happenings.recv_timeout(TICK) {
        Err(RecvTimeoutError::Timeout) => Some(Happening::Message(Message::Tick)),
        happened => happened.ok(),
    }
}
