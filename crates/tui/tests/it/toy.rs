//! A small interface, a mind that writes down what it is asked, and programs that are none.

use std::sync::Mutex;

use base::protocol::{Client, ClientError, EventFilter, EventStream, Numbered, Op, Query, Reply};
use base::{Event, SessionId};
use futures::StreamExt;
use futures::future::BoxFuture;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tui::canvas::{Canvas, Point, Rect};
use tui::face::Application;
use tui::key::{Input, Key};
use tui::line::Line;
use tui::message::{Asker, Effect, Message, Purpose, Screen};
use tui::style::Style;
use tui::terminal::Outside;
use tui::terminal::abilities::Abilities;

/// Shows what was typed and what happened.
pub(crate) struct Toy {
    typed: String,
    log: Vec<String>,
    settled: Vec<Line>,
    tick: Option<u64>,
    session: SessionId,
}

impl Toy {
    pub(crate) fn new() -> Self {
        let (typed, log, settled) = (String::new(), Vec::new(), Vec::new());
        Self { typed, log, settled, tick: None, session: SessionId::new() }
    }

    fn key(&mut self, key: Key, now_ms: u64) -> Vec<Effect> {
        if let Some(c) = key.typed() {
            self.typed.push(c);
            return Vec::new();
        }
        let text = || self.typed.clone();
        match key.to_string().as_str() {
            "ctrl+q" => vec![Effect::Quit],
            "ctrl+e" => vec![Effect::Edit(text())],
            "ctrl+y" => vec![Effect::Copy(text())],
            "ctrl+n" => vec![Effect::Notify { title: "a".into(), body: "b".into() }],
            "ctrl+t" => {
                self.tick = Some(now_ms + 20);
                Vec::new()
            }
            "ctrl+s" => {
                let submit = |op| Effect::Submit { op, purpose: Purpose::Other };
                let session = self.session;
                vec![
                    submit(Op::NewSession { session, folder: "/".into() }),
                    Effect::Ask { query: Query::Providers, asker: Asker::Place },
                    submit(Op::Stop { session }),
                ]
            }
            "ctrl+z" => vec![Effect::Suspend],
            "ctrl+p" => panic!("the toy was told to"),
            "ctrl+f" => vec![Effect::SetScreen(Screen::Full)],
            "ctrl+l" => vec![Effect::SetScreen(Screen::Inline)],
            "enter" => {
                self.settled.push(Line::new(std::mem::take(&mut self.typed), Style::PLAIN));
                Vec::new()
            }
            other => {
                self.log.push(other.to_owned());
                Vec::new()
            }
        }
    }
}

impl Application for Toy {
    fn begin(&mut self, _now_ms: u64) -> Vec<Effect> {
        vec![Effect::Title("toy".into())]
    }

    fn update(&mut self, message: Message, now_ms: u64) -> Vec<Effect> {
        let said = match message {
            Message::Input(Input::Key(key)) => return self.key(key, now_ms),
            Message::Input(Input::Paste(text)) => format!("pasted {} bytes", text.len()),
            Message::Input(Input::Resize { width, height }) => format!("{width}x{height}"),
            Message::Input(Input::Answer(answer)) => format!("{answer:?}"),
            Message::Event(numbered) => format!("event {}", numbered.number),
            Message::EventsEnded => "events ended".into(),
            Message::Answer { reply, .. } => format!("answer {}", reply.is_ok()),
            Message::Submitted { outcome, .. } => format!("submitted {}", outcome.is_ok()),
            Message::Edited(text) => {
                self.typed = text.unwrap_or_else(|error| error);
                return Vec::new();
            }
            Message::Input(Input::Mouse(_) | Input::Focus(_))
            | Message::Clipped(_)
            | Message::Read { .. } => return Vec::new(),
            Message::Tick => {
                self.tick = None;
                "tick".into()
            }
        };
        self.log.push(said);
        Vec::new()
    }

    fn learn(&mut self, _abilities: &Abilities) {}

    fn draw(&mut self, canvas: &mut Canvas, _now_ms: u64) -> Option<Point> {
        let area = canvas.area();
        let newest = self.log.last().map_or("nothing", String::as_str);
        let first = canvas.text(area, &format!("> {}", self.typed), Style::PLAIN);
        canvas.text(Rect { y: 1, ..area }, newest, Style::PLAIN);
        let rule = "─".repeat(usize::from(area.width));
        canvas.text(Rect { y: 2, ..area }, &rule, Style::PLAIN);
        Some(Point { x: first, y: 0 })
    }

    fn take_settled(&mut self, _width: u16) -> Vec<Line> {
        std::mem::take(&mut self.settled)
    }

    fn height(&mut self, _width: u16, most: u16) -> u16 {
        most.min(3)
    }

    fn next_tick(&self) -> Option<u64> {
        self.tick
    }

    fn session(&self) -> Option<SessionId> {
        Some(self.session)
    }
}

/// A mind that writes down what it is asked.
pub(crate) struct Mind {
    pub(crate) asked: Mutex<Vec<String>>,
    pub(crate) since: Mutex<Vec<u64>>,
    events: UnboundedSender<Option<Numbered>>,
    streamed: Mutex<Option<UnboundedReceiver<Option<Numbered>>>>,
}

impl Default for Mind {
    fn default() -> Self {
        let (events, streamed) = unbounded_channel();
        Self {
            asked: Mutex::default(),
            since: Mutex::default(),
            events,
            streamed: Mutex::new(Some(streamed)),
        }
    }
}

impl Mind {
    /// Lets an event happen.
    pub(crate) fn happen(&self, number: u64) {
        let event = Event::Notice { session: None, text: String::new() };
        self.events.send(Some(Numbered::new(number, event))).unwrap();
    }
}

impl Client for Mind {
    fn submit(&self, op: Op) -> BoxFuture<'_, Result<(), ClientError>> {
        Box::pin(async move {
            let name = format!("{op:?}");
            if name.starts_with("NewSession") {
                // Slow, so that one that does not wait for it would overtake.
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            self.asked
                .lock()
                .unwrap()
                .push(name.chars().take_while(|c| c.is_alphabetic()).collect());
            Ok(())
        })
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(format!("{query:?}"));
            Err(ClientError::Closed)
        })
    }

    fn subscribe(&self, _: EventFilter, since: u64) -> EventStream {
        self.since.lock().unwrap().push(since);
        match self.streamed.lock().unwrap().take() {
            Some(receiver) => futures::stream::unfold(receiver, |mut receiver| async move {
                receiver.recv().await.map(|event| (event, receiver))
            })
            .filter_map(std::future::ready)
            .boxed(),
            None => futures::stream::pending().boxed(),
        }
    }
}

/// An editor that adds a word, and nothing else.
#[derive(Default)]
pub(crate) struct Programs {
    pub(crate) called: Mutex<Vec<String>>,
}

impl Outside for Programs {
    fn run(&self, program: &str, _args: &[&str], _input: &[u8]) -> Result<Vec<u8>, String> {
        Err(format!("there is no {program}"))
    }

    fn run_in_terminal(&self, program: &str, args: &[&str]) -> Result<(), String> {
        self.called.lock().unwrap().push(format!("{program} {}", args[0]));
        let path = args.last().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, format!("{text} edited\n")).unwrap();
        Ok(())
    }
}
