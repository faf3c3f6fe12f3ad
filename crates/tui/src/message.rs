//! What comes in and what goes out: the update function is between.

use base::protocol::{ClientError, Numbered, Op, Query, Reply};
use base::{EntryId, ModelRef, Part, RequestId, SessionId};

use crate::key::Input;
use crate::keymap::Action;
use crate::pane::PaneKind;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// The terminal sent something.
    Input(Input),
    /// The mind did something.
    Event(Box<Numbered>),
    /// The mind's events broke off: we lagged too far behind, or it has ended.
    EventsEnded,
    /// The answer to a look-up.
    Answer {
        /// Whose look-up it was.
        asker: Asker,
        /// The answer.
        reply: Result<Box<Reply>, ClientError>,
    },
    /// An operation was taken, or not.
    Submitted {
        /// What it was for.
        purpose: Purpose,
        /// Why it was not.
        outcome: Result<(), ClientError>,
    },
    /// The editor is done with a text; none if it could not be run.
    Edited(Result<String, String>),
    /// What programs of the desktop found on the clipboard; why they found nothing.
    Clipped(Result<Clip, String>),
    /// A file from the disk that the user named to be attached.
    Read {
        /// Its path, as it was named.
        path: String,
        /// Its bytes and media type; why it cannot be read.
        file: Result<(Vec<u8>, String), String>,
    },
    /// Time has passed that somebody waits for.
    Tick,
}

/// Something to do outside the update function.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Ask the mind to do something.
    Submit {
        /// The operation.
        op: Op,
        /// What it is for.
        purpose: Purpose,
    },
    /// Look something up.
    Ask {
        /// What.
        query: Query,
        /// Who gets the answer.
        asker: Asker,
    },
    /// Put a text on the clipboard.
    Copy(String),
    /// Have a text edited in the user's editor.
    Edit(String),
    /// Open a file in the user's editor.
    EditFile(String),
    /// Get what is on the clipboard by a program of the desktop.
    GetClip,
    /// Have the terminal tell what is on its clipboard; not every one does.
    AskClip,
    /// Read a file to attach it.
    ReadFile(String),
    /// Open an address in the browser.
    OpenLink(String),
    /// Tell the user, who looks elsewhere.
    Notify {
        /// In a few words.
        title: String,
        /// More of it.
        body: String,
    },
    /// The window's title.
    Title(String),
    /// Progress in the task bar.
    Progress(Progress),
    /// Draw elsewhere from now on.
    SetScreen(Screen),
    /// Take or leave the mouse.
    SetMouse(MouseUse),
    /// Give the terminal back to the shell for a while.
    Suspend,
    /// Forget what the screen shows, and draw it all.
    Redraw,
    /// End.
    Quit,
    /// For the interface itself: do what an action does.
    Perform(Action),
    /// For the interface itself: open a pane.
    Open(PaneKind),
    /// For the interface itself: go on in another session.
    Enter(SessionId),
    /// For the interface itself: use a model.
    Use(ModelRef),
    /// For the interface itself: look like the theme of this name; it is not kept.
    SetTheme(String),
    /// For the interface itself: put a name into the prompt, or a slash command before it.
    Write(String),
    /// For the interface itself: put a prompt that was said back into the composer, files and all.
    WriteParts(Vec<Part>),
    /// For the interface itself: run a slash command.
    Run(String),
    /// For the interface itself: put what a prompt said back into the composer, if nothing is written there.
    WriteAgain(EntryId),
    /// For the interface itself: say something of passing interest in the status line.
    Say(String),
}

/// What was on the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clip {
    /// A picture, as PNG.
    Picture(Vec<u8>),
    /// Text.
    Text(String),
}

/// Where we draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// On the whole screen.
    Full,
    /// At the end of the terminal's own scrollback.
    Inline,
}

/// Who gets the mouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MouseUse {
    /// We do.
    Ours,
    /// The terminal does, to select and copy.
    Terminals,
}

/// Progress as a task bar shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is going on.
    None,
    /// Something is.
    Busy,
    /// Somebody must look.
    Waiting,
}

/// Whose look-up it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asker {
    /// How things stand in our folder.
    Place,
    /// The theme that was chosen last.
    Theme,
    /// A session that is being opened: its state.
    State(SessionId),
    /// A session that is being opened: its newest entries, or older ones.
    Entries(SessionId),
    /// A session on the screen: sub-agents of calls that are seen.
    Children(SessionId),
    /// What may follow a slash or an at sign.
    Offers,
    /// Files for the popup that was asked for last.
    Files {
        /// Counts the look-ups: an answer that comes late is dropped.
        turn: u64,
    },
    /// What was said before.
    History,
    /// The draft that a crash or an exit left.
    Draft,
    /// Models used recently.
    Recent,
    /// The pane on top.
    Pane {
        /// Which pane: an answer for one that was closed is dropped.
        pane: u64,
        /// Which of its look-ups.
        what: u8,
    },
}

/// What an operation is for: where its failure is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A prompt; it is put back into the composer if it is refused.
    Say,
    /// An answer to this question, which is asked again if it is refused.
    Answer(RequestId),
    /// A key that is being tried.
    Login,
    /// A copy of a session; it is gone on with once it is there.
    Fork(SessionId),
    /// Anything else; a failure is shown in the status line.
    Other,
}
