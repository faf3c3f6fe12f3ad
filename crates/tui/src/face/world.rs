//! The world outside the interface: the terminal, the mind, programs and files. Effects end here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::interface::Notifications;

use crate::canvas::Canvas;
use crate::face::bridge::{Happening, Request};
use crate::face::signals::Signal;
use crate::face::{Application, FaceError, Start, Wire, editor, files};
use crate::key::{Answer, Input};
use crate::message::{Effect, Message, MouseUse, Progress, Screen as Place};
use crate::screen::Screen;
use crate::terminal::abilities::Abilities;
use crate::terminal::reader::{Heard, Reader};
use crate::terminal::tty::{Mode, Tty};
use crate::terminal::{Outside, clipboard, notify};

/// How long a stop may take to come.
const STOPPED: Duration = Duration::from_secs(1);

/// How long an end waits for answers that would otherwise be typed into the shell.
const LATE_ANSWERS: Duration = Duration::from_millis(100);

/// Whether the terminal owes us answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answers {
    NotAsked,
    Awaited,
    Came,
}

/// The terminal, the mind, programs and files.
pub(super) struct World {
    // Dropped first: nobody reads a terminal that was given back.
    reader: Reader,
    tty: Tty,
    wire: Wire,
    /// What happened while we waited for something else.
    put_off: VecDeque<Happening>,
    start: Start,
    outside: Arc<dyn Outside>,
    abilities: Abilities,
    mode: Mode,
    size: (u16, u16),
    screen: Screen,
    canvas: Canvas,
    out: Vec<u8>,
    answers: Answers,
    /// Whether the terminal was asked for its clipboard, and has not told.
    is_clip_owed: bool,
    progress: Progress,
}

impl World {
    /// Takes the terminal and begins to read it.
    pub(super) fn enter(
        tty: Tty,
        wire: Wire,
        start: Start,
        outside: Arc<dyn Outside>,
    ) -> Result<Self, FaceError> {
        let mut abilities = Abilities::guess(&start.env);
        abilities.cell = tty.cell_size().unwrap_or(abilities.cell);
        let mouse = if start.settings.no_mouse { MouseUse::Terminals } else { MouseUse::Ours };
        let mode = Mode { screen: start.screen, mouse, keyboard: abilities.keyboard };
        tty.enter(mode)?;
        let sender = wire.sender.clone();
        let reader = Reader::start(&tty, move |heard| {
            let happening = match heard {
                Heard::Input(input) => Happening::Message(Message::Input(input)),
                Heard::Gone => Happening::TerminalGone,
            };
            // If the loop is gone, nobody is left to be told.
            sender.send(happening).ok();
        })?;
        let size = tty.size();
        let screen = new_screen(start.screen, &abilities);
        Ok(Self {
            reader,
            tty,
            wire,
            put_off: VecDeque::new(),
            start,
            outside,
            abilities,
            mode,
            size,
            screen,
            canvas: Canvas::new(0, 0),
            out: Vec::new(),
            answers: Answers::NotAsked,
            is_clip_owed: false,
            progress: Progress::None,
        })
    }

    /// Gives the terminal back. Answers that are still on their way would be typed into the shell, so they are
    /// waited for, not for long.
    pub(super) fn leave(&mut self, outcome: &Result<(), FaceError>) {
        if outcome.is_ok() {
            let until = Instant::now() + LATE_ANSWERS;
            while self.owes_answers() {
                match self.wait(Some(until)) {
                    Some(Happening::Message(Message::Input(Input::Answer(answer)))) => {
                        self.learn(&answer);
                    }
                    Some(Happening::TerminalGone) | None => break,
                    Some(Happening::Message(_) | Happening::Event(..) | Happening::Signal(_)) => {}
                }
            }
        }
        if self.owes_answers() {
            self.tty.drop_input();
        }
        self.show_progress(Progress::None).ok();
        self.screen.finish(&mut self.out);
        // A terminal that is gone need not be given back.
        self.flush().ok();
        self.tty.leave().ok();
    }

    fn owes_answers(&self) -> bool {
        self.answers == Answers::Awaited || self.is_clip_owed
    }

    pub(super) fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    /// The next thing that happens, if it does before a moment.
    pub(super) fn wait(&mut self, until: Option<Instant>) -> Option<Happening> {
        if let Some(happening) = self.put_off.pop_front() {
            return Some(happening);
        }
        let Some(until) = until else { return self.wire.happenings.recv().ok() };
        let left = until.saturating_duration_since(Instant::now());
        self.wire.happenings.recv_timeout(left).ok()
    }

    /// What has happened already.
    pub(super) fn next(&mut self) -> Option<Happening> {
        self.put_off.pop_front().or_else(|| self.wire.happenings.try_recv().ok())
    }

    /// Asks the terminal about itself; answers come when they come.
    pub(super) fn ask_questions(&mut self) -> Result<(), FaceError> {
        let questions = self.abilities.questions();
        if !questions.is_empty() {
            self.answers = Answers::Awaited;
            self.tty.write(&questions)?;
        }
        Ok(())
    }

    /// Takes an answer; returns whether it tells something new.
    pub(super) fn learn(&mut self, answer: &Answer) -> bool {
        if let Answer::Attributes { .. } = answer {
            self.answers = Answers::Came;
        }
        if let Answer::Clipboard(_) = answer {
            self.is_clip_owed = false;
        }
        let is_new = self.abilities.learn(answer);
        if is_new {
            tune(&mut self.screen, &self.abilities);
        }
        is_new
    }

    /// Looks how large the terminal is; returns the size if it has changed.
    pub(super) fn resize(&mut self) -> Option<(u16, u16)> {
        let size = self.tty.size();
        if size == self.size {
            return None;
        }
        self.size = size;
        if let Some(cell) = self.tty.cell_size() {
            self.abilities.cell = cell;
            tune(&mut self.screen, &self.abilities);
        }
        Some(size)
    }

    /// Takes the terminal again after we were stopped.
    pub(super) fn come_back(&mut self) -> Result<(), FaceError> {
        self.tty.enter_again()?;
        self.renew_screen();
        Ok(())
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self, app: &mut dyn Application, now_ms: u64) -> Result<(), FaceError> {
        let (width, most) = self.size;
        let height = match self.mode.screen {
            Place::Full => most,
            Place::Inline => {
                self.screen.insert_above(app.take_settled(width));
                app.height(width, most).clamp(1, most.max(1))
            }
        };
        self.canvas.reset(width, height);
        let caret = app.draw(&mut self.canvas, now_ms);
        self.screen.draw(&self.canvas, caret, &mut self.out);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), FaceError> {
        let outcome = if self.out.is_empty() { Ok(()) } else { self.tty.write(&self.out) };
        self.out.clear();
        Ok(outcome?)
    }

    /// Does what an effect asks for; returns what came of it if that is known at once.
    pub(super) fn carry_out(&mut self, effect: Effect) -> Result<Option<Message>, FaceError> {
        match effect {
            Effect::Submit { op, purpose } => self.request(Request::Submit { op, purpose }),
            Effect::Ask { query, asker } => self.request(Request::Ask { query, asker }),
            Effect::Copy(text) => self.copy(text)?,
            Effect::Edit(text) => return self.edit(&text).map(Some),
            Effect::EditFile(path) => return self.edit_file(&path),
            Effect::GetClip => self.beside(|start, outside| {
                Some(Message::Clipped(clipboard::read(&start.env, outside)))
            }),
            Effect::AskClip => {
                if let Some(question) = clipboard::question(&self.abilities) {
                    self.is_clip_owed = true;
                    self.tty.write(question)?;
                }
            }
            Effect::ReadFile(path) => self.beside(move |start, _| {
                let file = files::read(&path, &start.folder, &start.env);
                Some(Message::Read { path, file })
            }),
            Effect::OpenLink(address) => self.beside(move |start, outside| {
                open_link(&address, start, outside);
                None
            }),
            Effect::Notify { title, body } => self.notify(title, body)?,
            Effect::Title(text) => self.tty.write(&notify::title(&text))?,
            Effect::Progress(progress) => self.show_progress(progress)?,
            Effect::SetScreen(place) => self.set_screen(place)?,
            Effect::SetMouse(mouse) => {
                self.mode.mouse = mouse;
                self.tty.set_mouse(mouse)?;
            }
            Effect::Suspend => self.suspend()?,
            Effect::Redraw => self.screen.forget(),
            // The interface's own, and the loop's.
            Effect::Quit
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
        Ok(None)
    }

    fn request(&self, request: Request) {
        // If the bridge is down the program is ending.
        self.wire.requests.send(request).ok();
    }

    /// Does something that may take long on a thread of its own.
    fn beside(&self, work: impl FnOnce(&Start, &dyn Outside) -> Option<Message> + Send + 'static) {
        let (start, outside) = (self.start.clone(), Arc::clone(&self.outside));
        let sender = self.wire.sender.clone();
        let named = std::thread::Builder::new().name("beside the face".to_owned());
        let begun = named.spawn(move || {
            if let Some(message) = work(&start, &*outside) {
                // If the loop is gone, nobody is left to be told.
                sender.send(Happening::Message(message)).ok();
            }
        });
        // A system without a thread to spare has worse troubles than a missing picture.
        drop(begun);
    }

    /// Copies by the terminal, and on the user's own machine by a program as well: neither tells whether it
    /// worked where it matters.
    fn copy(&mut self, text: String) -> Result<(), FaceError> {
        if let Some(bytes) = clipboard::by_terminal(&text, &self.abilities) {
            self.tty.write(&bytes)?;
        }
        if self.abilities.is_local {
            self.beside(move |start, outside| {
                clipboard::by_program(&text, &start.env, outside).ok();
                None
            });
        }
        Ok(())
    }

    fn notify(&mut self, title: String, body: String) -> Result<(), FaceError> {
        let wanted = self.start.notifications;
        if let Some(bytes) = notify::by_terminal(wanted, &self.abilities, &title, &body) {
            self.tty.write(&bytes)?;
        } else if wanted == Notifications::Native {
            self.beside(move |_, outside| {
                notify::by_program(outside, &title, &body).ok();
                None
            });
        }
        Ok(())
    }

    fn show_progress(&mut self, progress: Progress) -> Result<(), FaceError> {
        if self.start.progress && progress != self.progress {
            self.progress = progress;
            self.tty.write(&notify::progress(progress, &self.abilities))?;
        }
        Ok(())
    }

    fn set_screen(&mut self, place: Place) -> Result<(), FaceError> {
        if place != self.mode.screen {
            self.screen.finish(&mut self.out);
            self.flush()?;
            self.mode.screen = place;
            self.tty.enter(self.mode)?;
            self.renew_screen();
        }
        Ok(())
    }

    fn edit(&mut self, text: &str) -> Result<Message, FaceError> {
        self.lend()?;
        let edited = editor::edit(text, &self.start.env, &*self.outside);
        self.take_back()?;
        Ok(Message::Edited(edited))
    }

    /// Opens a file in the editor; tells only why it could not.
    fn edit_file(&mut self, path: &str) -> Result<Option<Message>, FaceError> {
        self.lend()?;
        let opened = editor::open(path, &self.start.env, &*self.outside);
        self.take_back()?;
        Ok(opened.err().map(|problem| Message::Edited(Err(problem))))
    }

    fn suspend(&mut self) -> Result<(), FaceError> {
        self.lend()?;
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)
            .map_err(std::io::Error::from)?;
        self.await_return();
        self.take_back()
    }

    /// Waits until we go on. Another thread may take the signal that stops us, so that this one runs on for a
    /// moment; if nothing tells that we were stopped, nobody was there to do it.
    fn await_return(&mut self) {
        let until = Instant::now() + STOPPED;
        let mut put_off = VecDeque::new();
        loop {
            match self.wait(Some(until)) {
                Some(Happening::Signal(Signal::Continued)) | None => break,
                Some(happening) => put_off.push_back(happening),
            }
        }
        self.put_off = put_off;
    }

    /// Leaves the terminal to another program.
    fn lend(&mut self) -> Result<(), FaceError> {
        self.reader.pause();
        self.screen.finish(&mut self.out);
        self.flush()?;
        Ok(self.tty.leave()?)
    }

    fn take_back(&mut self) -> Result<(), FaceError> {
        self.tty.enter(self.mode)?;
        self.renew_screen();
        self.reader.resume();
        Ok(())
    }

    fn renew_screen(&mut self) {
        self.screen = new_screen(self.mode.screen, &self.abilities);
    }
}

fn new_screen(place: Place, abilities: &Abilities) -> Screen {
    let mut screen = Screen::new(place, abilities.depth);
    tune(&mut screen, abilities);
    screen
}

fn tune(screen: &mut Screen, abilities: &Abilities) {
    screen.set_reflow(abilities.reflow());
    screen.set_pictures(abilities.protocol(), abilities.cell);
}

/// Opens an address of the web. Others may start programs, and come from what a model wrote.
fn open_link(address: &str, start: &Start, outside: &dyn Outside) {
    let is_web =
        ["http://", "https://", "mailto:"].iter().any(|scheme| address.starts_with(scheme));
    if !is_web || address.chars().any(crate::text::is_unsafe) {
        return;
    }
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if start.env.get("WSL_DISTRO_NAME").is_some() {
        "wslview"
    } else {
        "xdg-open"
    };
    // Without a browser there is the address on the screen.
    outside.run(program, &[address], b"").ok();
}
