//! The loop of the interface without a screen: the user's lines in, lines out.

use std::io::{BufRead, Write};
use std::sync::Arc;
use std::thread;

use base::{Client, TaskScope};

use crate::face::bridge::{Happening, Request};
use crate::face::signals::Signal;
use crate::face::{FaceError, Farewell, Wire, bridge};
use crate::key::{Input, Key};
use crate::linear::Linear;
use crate::message::{Effect, Message};

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
        // The end of input ends us.
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
                | Effect::GetPicture
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
                | Effect::WriteAgain(_)
                | Effect::Say(_) => {}
            }
        }
        for line in app.take_lines() {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        effects = match wire.happenings.recv() {
            Ok(Happening::Message(Message::Input(Input::Paste(line)))) => app.line(&line),
            Ok(Happening::Message(Message::Input(_))) => app.interrupt(),
            Ok(Happening::Message(message)) => app.update(message),
            Ok(Happening::Event(event, _)) => app.update(Message::Event(event)),
            Ok(Happening::Signal(Signal::Resized | Signal::Continued)) => Vec::new(),
            Ok(Happening::Signal(Signal::Ended) | Happening::TerminalGone) | Err(_) => {
                vec![Effect::Quit]
            }
        };
    }
}
