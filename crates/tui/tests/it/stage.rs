//! A stage: a pseudo-terminal with an emulator at its other end, and the loop on a thread.

use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base::interface::{Notifications, Tui};
use base::{Client, Env};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use tui::face::{FaceError, Farewell, Start, bridge, drive};
use tui::message::Screen;
use tui::terminal::Outside;
use tui::terminal::tty::Tty;

use crate::toy::{Mind, Toy};

/// Longer than anything takes on a slow machine.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// What the emulator has seen.
pub(crate) struct View {
    pub(crate) parser: vt100::Parser,
    pub(crate) raw: Vec<u8>,
}

struct Shared {
    view: Mutex<View>,
    changed: Condvar,
}

/// The terminal's side, with the loop running on the other.
pub(crate) struct Stage {
    master: File,
    slave: OwnedFd,
    shared: Arc<Shared>,
    running: Option<JoinHandle<Result<Farewell, FaceError>>>,
    pub(crate) mind: Arc<Mind>,
}

/// Both ends of a pseudo-terminal.
pub(crate) fn pty(cols: u16, rows: u16) -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    resize(master.as_fd(), cols, rows);
    (master, slave)
}

fn resize(master: impl AsFd, cols: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

impl Stage {
    /// A toy on a terminal of 40 by 8.
    pub(crate) fn with(screen: Screen, outside: Arc<dyn Outside>) -> Self {
        let (master, slave) = pty(40, 8);
        let tty = Tty::new(slave.try_clone().unwrap(), slave.try_clone().unwrap()).unwrap();
        let mind = Arc::new(Mind::default());
        let (wire, bridge) = bridge();
        let client: Arc<dyn Client> = Arc::clone(&mind) as _;
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(bridge.serve(client, 0));
        });
        let start = Start {
            folder: std::env::temp_dir(),
            session: None,
            screen,
            settings: Tui::default(),
            notifications: Notifications::Bell,
            progress: false,
            env: Env::from_iter([
                ("TERM", "xterm-256color"),
                ("SSH_TTY", "x"),
                ("EDITOR", "ed -w"),
            ]),
            // Where the harness shows what other tests say.
            log: PathBuf::from("/dev/stderr"),
            version: "0".into(),
        };
        let running = std::thread::spawn(move || drive(&mut Toy::new(), tty, wire, start, outside));
        let shared = Arc::new(Shared {
            view: Mutex::new(View { parser: emulator(40, 8), raw: Vec::new() }),
            changed: Condvar::new(),
        });
        let reading = (File::from(master.try_clone().unwrap()), Arc::clone(&shared));
        std::thread::spawn(move || follow(reading.0, &reading.1));
        Self { master: master.into(), slave, shared, running: Some(running), mind }
    }

    /// Sends bytes as the terminal would.
    pub(crate) fn send(&self, bytes: &str) {
        (&self.master).write_all(bytes.as_bytes()).unwrap();
    }

    /// Changes the size and tells the process.
    pub(crate) fn resize(&self, cols: u16, rows: u16) {
        let size = |count| NonZeroU16::new(count).unwrap();
        self.view().parser.screen_mut().set_size(size(rows), size(cols));
        resize(&self.master, cols, rows);
        // It is not our controlling terminal, so the system tells nobody.
        let us = rustix::process::getpid();
        rustix::process::kill_process(us, rustix::process::Signal::WINCH).unwrap();
    }

    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.shared.view.lock().unwrap()
    }

    pub(crate) fn screen(&self) -> String {
        self.view().parser.screen().contents()
    }

    /// How the device is set.
    pub(crate) fn settings(&self) -> Termios {
        tcgetattr(&self.slave).unwrap()
    }

    /// Waits until the screen shows a text.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(|view| view.parser.screen().contents().contains(text));
    }

    /// Waits until something holds of what was seen.
    pub(crate) fn wait_until(&self, holds: impl Fn(&View) -> bool) {
        let end = Instant::now() + SOON;
        let mut view = self.view();
        while !holds(&view) {
            let left = end.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero(),
                "it did not come; the screen is\n{}",
                view.parser.screen().contents()
            );
            (view, _) = self.shared.changed.wait_timeout(view, left).unwrap();
        }
    }

    /// Waits for the end.
    pub(crate) fn finish(&mut self) -> Result<Farewell, FaceError> {
        self.running.take().unwrap().join().unwrap()
    }

    /// Waits for an end by panic.
    pub(crate) fn crash(&mut self) {
        assert!(self.running.take().unwrap().join().is_err());
    }
}

pub(crate) fn emulator(cols: u16, rows: u16) -> vt100::Parser {
    let size = |count| NonZeroU16::new(count).unwrap();
    vt100::Parser::new(size(rows), size(cols), 1000)
}

fn follow(mut master: File, shared: &Shared) {
    let mut buffer = [0; 8192];
    while let Ok(count) = master.read(&mut buffer) {
        if count == 0 {
            break;
        }
        let bytes = &buffer[..count];
        {
            let Ok(mut view) = shared.view.lock() else { return };
            view.parser.process(bytes);
            view.raw.extend(bytes);
        }
        shared.changed.notify_all();
        // The last of our questions is answered, as all terminals do.
        if bytes.windows(3).any(|part| part == b"\x1b[c") {
            master.write_all(b"\x1b[?62;22c").unwrap();
        }
    }
}
