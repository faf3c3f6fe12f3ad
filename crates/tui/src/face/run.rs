//! The loop itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::{Client, TaskScope};

use crate::face::bridge::Happening;
use crate::face::last_words::LastWords;
use crate::face::signals::Signal;
use crate::face::world::World;
use crate::face::{Application, FaceError, Farewell, Start, Wire, bridge};
use crate::key::{Answer, Input};
use crate::message::{Effect, Message};
use crate::terminal::Outside;
use crate::terminal::tty::Tty;

/// Between two frames that no key asked for: about 120 a second.
const FRAME: Duration = Duration::from_millis(8);

/// How long messages are taken before a frame may be drawn.
const BATCH: Duration = Duration::from_millis(4);

/// Runs an interface on the terminal of this process until it ends; blocks the calling thread, which must be in
/// the context of a runtime. The task that reaches the mind lives in `scope`.
pub fn run(
    app: &mut dyn Application,
    client: Arc<dyn Client>,
    scope: &TaskScope,
    start: Start,
    outside: Arc<dyn Outside>,
) -> Result<Farewell, FaceError> {
    let tty = Tty::of_process().map_err(FaceError::NoTerminal)?;
    let (wire, bridge) = bridge();
    scope.spawn(bridge.listen().serve(client, 0));
    drive(app, tty, wire, start, outside)
}

/// Runs an interface on a terminal until it ends. The other end of `wire` must be served elsewhere.
pub fn drive(
    app: &mut dyn Application,
    tty: Tty,
    wire: Wire,
    start: Start,
    outside: Arc<dyn Outside>,
) -> Result<Farewell, FaceError> {
    let last_words = LastWords::prepare(tty.lease(), start.log.clone());
    let world = World::enter(tty, wire, start, outside)?;
    let mut face = Loop {
        app,
        world,
        last_words,
        begun: Instant::now(),
        drawn: None,
        ticked: None,
        life: Life::On,
    };
    let outcome = face.run();
    face.world.leave(&outcome);
    let session = face.app.session();
    outcome.map(|()| Farewell { session })
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    On,
    Over,
}

/// How soon something must be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// There is nothing to see.
    Nothing,
    /// With the next frame.
    Soon,
    /// At once: somebody pressed a key.
    Now,
}

struct Loop<'a> {
    app: &'a mut dyn Application,
    world: World,
    last_words: LastWords,
    begun: Instant,
    drawn: Option<Instant>,
    ticked: Option<Instant>,
    life: Life,
}

impl Loop<'_> {
    fn run(&mut self) -> Result<(), FaceError> {
        self.app.learn(self.world.abilities());
        let effects = self.app.begin(self.now_ms());
        self.carry_out(effects)?;
        self.draw()?;
        self.world.ask_questions()?;
        let mut urgency = Urgency::Nothing;
        while self.life == Life::On {
            urgency = urgency.max(self.wait(urgency)?);
            if urgency == Urgency::Now || (urgency == Urgency::Soon && self.is_frame_due()) {
                self.draw()?;
                urgency = Urgency::Nothing;
            }
        }
        Ok(())
    }

    /// Waits for something to happen, and takes all that has.
    fn wait(&mut self, pending: Urgency) -> Result<Urgency, FaceError> {
        let frame = self.drawn.filter(|_| pending != Urgency::Nothing).map(|drawn| drawn + FRAME);
        let until = [frame, self.tick_due()].into_iter().flatten().min();
        let mut urgency = Urgency::Nothing;
        let mut next = self.world.wait(until);
        let enough = Instant::now() + BATCH;
        while let Some(happening) = next {
            urgency = urgency.max(self.take(happening)?);
            next = if Instant::now() < enough { self.world.next() } else { None };
        }
        if self.tick_due().is_some_and(|due| due <= Instant::now()) {
            self.ticked = Some(Instant::now());
            self.update(Message::Tick)?;
            urgency = urgency.max(Urgency::Soon);
        }
        Ok(urgency)
    }

    fn take(&mut self, happening: Happening) -> Result<Urgency, FaceError> {
        match happening {
            Happening::Message(message) => {
                let is_input = matches!(message, Message::Input(_));
                if let Message::Input(Input::Answer(answer)) = &message {
                    self.hear(answer);
                }
                self.update(message)?;
                Ok(if is_input { Urgency::Now } else { Urgency::Soon })
            }
            Happening::Event(event, place) => {
                drop(place);
                self.update(Message::Event(event))?;
                Ok(Urgency::Soon)
            }
            Happening::Signal(Signal::Resized) => self.resize(),
            Happening::Signal(Signal::Continued) => {
                self.world.come_back()?;
                self.resize()?;
                Ok(Urgency::Now)
            }
            Happening::Signal(Signal::Ended) | Happening::TerminalGone => {
                self.life = Life::Over;
                Ok(Urgency::Nothing)
            }
        }
    }

    fn hear(&mut self, answer: &Answer) {
        if self.world.learn(answer) {
            self.app.learn(self.world.abilities());
        }
    }

    fn resize(&mut self) -> Result<Urgency, FaceError> {
        let Some((width, height)) = self.world.resize() else { return Ok(Urgency::Nothing) };
        self.update(Message::Input(Input::Resize { width, height }))?;
        Ok(Urgency::Now)
    }

    fn update(&mut self, message: Message) -> Result<(), FaceError> {
        let effects = self.app.update(message, self.now_ms());
        self.carry_out(effects)
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<(), FaceError> {
        self.last_words.set_session(self.app.session());
        for effect in effects {
            if effect == Effect::Quit {
                self.life = Life::Over;
            } else if let Some(message) = self.world.carry_out(effect)? {
                self.update(message)?;
                self.resize()?;
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> Result<(), FaceError> {
        let now_ms = self.now_ms();
        self.world.draw(self.app, now_ms)?;
        self.drawn = Some(Instant::now());
        Ok(())
    }

    fn is_frame_due(&self) -> bool {
        self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME)
    }

    /// When the next tick is due: not sooner than a frame after the last, whatever the interface says.
    fn tick_due(&self) -> Option<Instant> {
        let due = self.begun + Duration::from_millis(self.app.next_tick()?);
        Some(self.ticked.map_or(due, |ticked| due.max(ticked + FRAME)))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
