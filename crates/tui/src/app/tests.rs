//! The interface driven by messages alone, and tortured.

mod asked;
mod past;
mod screens;
mod torture;

use base::interface::{Notifications, Tui};
use base::protocol::TrustState;
use base::protocol::{Event, KeyState, ModelChoice, Numbered, Offer, OfferKind, Place, Reply};
use base::{CallId, Entry, EntryId, EntryKind, ModelRef, Part, SessionId, Timestamp, TurnId};

use super::{App, Beginning};
use crate::canvas::Canvas;
use crate::face::{Application, Start};
use crate::key::{Code, Input, Key};
use crate::message::{Asker, Effect, Message, Screen};

/// An interface on a canvas, with a clock that moves by hand.
struct Desk {
    app: App,
    now_ms: u64,
    number: u64,
    size: (u16, u16),
}

impl Desk {
    fn new(width: u16, height: u16) -> Self {
        Self::of(&start(), width, height)
    }

    fn of(start: &Start, width: u16, height: u16) -> Self {
        let beginning = Beginning { prompt: None, now: Timestamp::from_millis(1_790_000_000_000) };
        let mut desk = Self {
            app: App::new(start, beginning),
            now_ms: 1_000,
            number: 0,
            size: (width, height),
        };
        desk.app.begin(0);
        desk.say(Message::Input(Input::Resize { width, height }));
        desk
    }

    /// One whose folder is known and has a model.
    fn settled(width: u16, height: u16) -> Self {
        let mut desk = Self::new(width, height);
        desk.answer(Asker::Place, Reply::Place(Box::new(place())));
        let offers =
            vec![offer(OfferKind::Command, "compact"), offer(OfferKind::Agent, "reviewer")];
        desk.answer(Asker::Offers, Reply::Offers { offers });
        desk
    }

    fn say(&mut self, message: Message) -> Vec<Effect> {
        self.now_ms += 10;
        self.app.update(message, self.now_ms)
    }

    fn answer(&mut self, asker: Asker, reply: Reply) -> Vec<Effect> {
        self.say(Message::Answer { asker, reply: Ok(Box::new(reply)) })
    }

    fn hear(&mut self, event: Event) -> Vec<Effect> {
        self.number += 1;
        self.say(Message::Event(Box::new(Numbered::new(self.number, event))))
    }

    fn press(&mut self, key: &str) -> Vec<Effect> {
        self.say(Message::Input(Input::Key(key.parse().unwrap())))
    }

    fn write(&mut self, text: &str) {
        for c in text.chars() {
            self.say(Message::Input(Input::Key(Key::plain(Code::Char(c)))));
        }
    }

    fn wait(&mut self, ms: u64) -> Vec<Effect> {
        self.now_ms += ms;
        self.app.update(Message::Tick, self.now_ms)
    }

    fn screen(&mut self) -> String {
        let mut canvas = Canvas::new(self.size.0, self.size.1);
        self.app.draw(&mut canvas, self.now_ms);
        canvas.plain()
    }

    fn session(&self) -> SessionId {
        self.app.session.id
    }

    /// Says something, and the mind takes it.
    fn prompt(&mut self, text: &str) -> Vec<Effect> {
        self.write(text);
        let effects = self.press("enter");
        let entry = entry(EntryKind::User { parts: vec![Part::user_text(text)] });
        let session = self.session();
        self.hear(Event::Appended { session, entry });
        self.hear(Event::TurnStarted {
            session,
            turn: TurnId::new(),
            entries: Vec::new(),
            model: model(),
        });
        effects
    }
}

fn start() -> Start {
    Start {
        folder: "/work/shop".into(),
        session: None,
        screen: Screen::Full,
        settings: Tui::default(),
        notifications: Notifications::Auto,
        progress: true,
        env: [("TERM", "xterm-256color"), ("LANG", "C.UTF-8")].into_iter().collect(),
        log: "/tmp/caiman.log".into(),
        version: "0.1.0".to_owned(),
    }
}

fn model() -> ModelRef {
    ModelRef::new("anthropic", "claude-sonnet-4-6")
}

fn place() -> Place {
    Place {
        folder: "/work/shop".to_owned(),
        branch: Some("main".to_owned()),
        trust: TrustState::Empty,
        untrusted: Vec::new(),
        model: Some(ModelChoice {
            model: model(),
            name: "Claude Sonnet".to_owned(),
            provider: "Anthropic".to_owned(),
            window: 200_000,
            input_price: None,
            output_price: None,
            reasons: true,
            sees: true,
            key: KeyState::Found("ANTHROPIC_API_KEY".to_owned()),
        }),
        is_model_named: false,
        mode: base::protocol::Mode::Default,
        init: None,
    }
}

fn offer(kind: OfferKind, name: &str) -> Offer {
    Offer {
        kind,
        name: name.to_owned(),
        arguments: String::new(),
        about: format!("what {name} does"),
        source: "built in".to_owned(),
        color: None,
    }
}

fn entry(kind: EntryKind) -> Entry {
    Entry { id: EntryId::new(), parent: None, at: Timestamp::from_millis(1_790_000_000_000), kind }
}

fn call(name: &str) -> CallId {
    CallId::new(name)
}
