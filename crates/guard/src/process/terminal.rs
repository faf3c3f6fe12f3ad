//! Pseudo-terminals.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::{FdFlags, fcntl_setfd, ioctl_fionbio};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The two ends of a terminal.
pub(super) struct Pair {
    /// Ours: does not block.
    pub(super) ours: OwnedFd,
    /// The child's.
    pub(super) theirs: OwnedFd,
}

/// Opens a terminal of this size. Neither end becomes our own controlling terminal.
pub(super) fn open(columns: u16, rows: u16) -> io::Result<Pair> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    fcntl_setfd(&ours, FdFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
    tcsetwinsize(&ours, size(columns, rows))?;
    ioctl_fionbio(&ours, true)?;
    Ok(Pair { ours, theirs })
}

/// Gives a terminal a new size.
pub(super) fn resize(terminal: BorrowedFd<'_>, columns: u16, rows: u16) -> io::Result<()> {
    Ok(tcsetwinsize(terminal, size(columns, rows))?)
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
