//! Our ends of a child's input and output: pipes or a terminal, read and written without a thread.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::unix::pipe;

/// What a child prints.
#[derive(Debug)]
pub struct Output(Source);

#[derive(Debug)]
enum Source {
    Pipe(pipe::Receiver),
    Terminal(AsyncFd<File>),
}

/// What a child reads.
#[derive(Debug)]
pub struct Input(Sink);

#[derive(Debug)]
enum Sink {
    Pipe(pipe::Sender),
    Terminal(AsyncFd<File>),
}

impl Output {
    pub(super) fn pipe(ours: OwnedFd) -> io::Result<Self> {
        pipe::Receiver::from_owned_fd(ours).map(|pipe| Self(Source::Pipe(pipe)))
    }

    pub(super) fn terminal(ours: OwnedFd) -> io::Result<Self> {
        watch(ours, Interest::READABLE).map(|terminal| Self(Source::Terminal(terminal)))
    }

    pub(super) fn resize(&self, columns: u16, rows: u16) -> io::Result<()> {
        match &self.0 {
            Source::Pipe(_) => Ok(()),
            Source::Terminal(terminal) => {
                super::terminal::resize(terminal.get_ref().as_fd(), columns, rows)
            }
        }
    }
}

impl AsyncRead for Output {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().0 {
            Source::Pipe(pipe) => Pin::new(pipe).poll_read(cx, buffer),
            Source::Terminal(terminal) => poll_terminal(terminal, cx, buffer),
        }
    }
}

fn poll_terminal(
    terminal: &AsyncFd<File>,
    cx: &mut Context<'_>,
    buffer: &mut ReadBuf<'_>,
) -> Poll<io::Result<()>> {
    loop {
        let mut ready = ready!(terminal.poll_read_ready(cx))?;
        let free = buffer.initialize_unfilled();
        match ready.try_io(|terminal| terminal.get_ref().read(free)) {
            Ok(Ok(count)) => {
                buffer.advance(count);
                return Poll::Ready(Ok(()));
            }
            // Linux says so when the last process has closed the other end.
            Ok(Err(error)) if error.raw_os_error() == Some(libc::EIO) => {
                return Poll::Ready(Ok(()));
            }
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(Err(error)) => return Poll::Ready(Err(error)),
            Err(_not_ready) => {}
        }
    }
}

impl Input {
    pub(super) fn pipe(ours: OwnedFd) -> io::Result<Self> {
        pipe::Sender::from_owned_fd(ours).map(|pipe| Self(Sink::Pipe(pipe)))
    }

    pub(super) fn terminal(ours: OwnedFd) -> io::Result<Self> {
        watch(ours, Interest::WRITABLE).map(|terminal| Self(Sink::Terminal(terminal)))
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().0 {
            Sink::Pipe(pipe) => Pin::new(pipe).poll_write(cx, bytes),
            Sink::Terminal(terminal) => loop {
                let mut ready = ready!(terminal.poll_write_ready(cx))?;
                if let Ok(written) = ready.try_io(|terminal| terminal.get_ref().write(bytes)) {
                    return Poll::Ready(written);
                }
            },
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[expect(unsafe_code, reason = "tokio cannot know that the descriptor stays what it is")]
fn watch(terminal: OwnedFd, interest: Interest) -> io::Result<AsyncFd<File>> {
    // SAFETY: the file is ours, is never replaced, and closes its descriptor only when dropped.
    Ok(unsafe { AsyncFd::register_with_interest(File::from(terminal), interest) }?)
}
