//! A transcript as a strict conversation, which the wires then put in their own words.
//!
//! Any transcript goes in, however it came about (another provider's, cut off, forked). What comes
//! out alternates, pairs every call with one result in the very next message, has ids that are plain
//! and unique, and holds nothing empty and no other model's sidecars. It depends on nothing but the
//! transcript, so a longer transcript yields a longer conversation with the same beginning.

mod builder;
pub(crate) mod files;
mod ids;

use std::borrow::Cow;

use base::transcript::{Call, File, Maker, Outcome, PartBody, Role, Turn};
use serde_json::{Map, Value};
use settings::provider::CallIdForm;

use self::builder::Builder;
use self::ids::plain;
use crate::target::Target;

/// Stands where the rules demand a user message and nobody said anything.
const FILLER: &str = "Continue.";
/// What a call without a result is told to have come to.
const INTERRUPTED: &str = "The call was interrupted; it has no result.";
/// The longest name, and the longest id, that most wires take.
const LONGEST: usize = 64;

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Message<'a> {
    /// Who speaks.
    pub(crate) role: Role,
    /// What is said; never empty, never nothing but thoughts. Results come first.
    pub(crate) blocks: Vec<Block<'a>>,
    /// Whether thoughts behind it are missing: another model's, or some that cannot go back.
    pub(crate) lost_thoughts: bool,
}

/// A block of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block<'a> {
    /// What it is.
    pub(crate) body: Body<'a>,
    /// The sidecar, if the very model that is asked made it; for a result, the one of its call.
    pub(crate) own: Option<&'a Value>,
}

/// What a block is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body<'a> {
    /// Text or a file.
    Content(Content<'a>),
    /// A thought of the very model that is asked; it has a sidecar.
    Thought(&'a str),
    /// A call.
    Call(Asked<'a>),
    /// The answer to a call of the message before.
    Result(Answer<'a>),
    /// A step only the very model that is asked understands: its sidecar.
    Opaque,
}

/// What people, models and tools say alike.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content<'a> {
    /// Text with something to read in it, but for signed silence (see [`Rules::returns`]).
    Text(Cow<'a, str>),
    /// An image or document.
    File(&'a File),
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked<'a> {
    /// Its id, unique in the conversation.
    pub(crate) id: String,
    /// The tool, in letters the wire takes.
    pub(crate) name: Cow<'a, str>,
    /// As the model made it.
    pub(crate) call: &'a Call,
}

impl<'a> Asked<'a> {
    /// The arguments.
    pub(crate) fn input(&self) -> &'a Map<String, Value> {
        &self.call.input.value
    }
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer<'a> {
    /// The call's id.
    pub(crate) id: String,
    /// The call's name.
    pub(crate) name: Cow<'a, str>,
    /// Whether it worked.
    pub(crate) outcome: Outcome,
    /// What came out; never empty.
    pub(crate) content: Vec<Content<'a>>,
}

impl<'a> Answer<'a> {
    /// The texts of the answer, a line apart.
    pub(crate) fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(&**text),
            Content::File(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The files of the answer.
    pub(crate) fn files(&self) -> impl Iterator<Item = &'a File> {
        self.content.iter().filter_map(|content| match content {
            Content::Text(_) => None,
            Content::File(file) => Some(*file),
        })
    }

    /// Whether the call failed or never finished.
    pub(crate) fn failed(&self) -> bool {
        self.outcome == Outcome::Failed
    }
}

/// What wires differ in.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// Whose sidecars go back.
    pub(crate) maker: Maker,
    /// Whether the model takes files at all.
    pub(crate) sees_files: bool,
    /// The media types the wire takes, a slash at the end naming a family; other files, and those
    /// without content, which every provider refuses, are put in words.
    pub(crate) file_types: &'static [&'static str],
    /// Where the files of a result go.
    pub(crate) result_files: FilePlace,
    /// Where the files a model made go.
    pub(crate) model_files: FilePlace,
    /// The form of call ids.
    pub(crate) id_form: CallIdForm,
    /// The longest plain call id.
    pub(crate) longest_id: usize,
    /// A tool's name in letters the wire takes: a model may have called one that never existed.
    pub(crate) name: fn(&str) -> Cow<'_, str>,
    /// Whether a thought, a step or an empty text goes back for the sake of its own sidecar.
    pub(crate) returns: fn(&PartBody, &Value) -> bool,
    /// Whether calls end the message: else what a model said after a call stays there.
    pub(crate) calls_last: bool,
    /// Whether a message may end in a thought.
    pub(crate) closing_thoughts: bool,
    /// Who speaks first and last.
    pub(crate) edges: Edges,
}

/// Where files go that are not the user's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilePlace {
    /// Where they came up.
    Inside,
    /// After the results, as if the user had sent them.
    Beside,
}

/// Who speaks first and last in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edges {
    /// Whoever does, if anybody does.
    Free,
    /// The user.
    User,
    /// The user, except that a paused answer, one that holds a step, may be the last message.
    UserOrPaused,
}

impl Rules {
    /// The strictest rules for `target`; its wire loosens what it can.
    pub(crate) fn strict(target: &Target) -> Self {
        Self {
            maker: target.maker(),
            sees_files: target.model.supports_attachments,
            file_types: &[],
            result_files: FilePlace::inside_if(target.quirks.tool_result_images != Some(false)),
            model_files: FilePlace::Beside,
            id_form: CallIdForm::Plain,
            longest_id: LONGEST,
            name: plain_name,
            returns: |_, _| false,
            calls_last: true,
            closing_thoughts: false,
            edges: Edges::User,
        }
    }
}

impl FilePlace {
    /// Inside where that is allowed.
    pub(crate) fn inside_if(allowed: bool) -> Self {
        if allowed { Self::Inside } else { Self::Beside }
    }
}

/// Turns a transcript into a conversation that keeps `rules`.
pub(crate) fn project<'a>(turns: &'a [Turn], rules: &Rules) -> Vec<Message<'a>> {
    let mut builder = Builder::new(turns, rules);
    for turn in turns {
        builder.turn(turn);
    }
    let mut messages = builder.finish();
    frame(&mut messages, rules.edges);
    messages
}

/// Sees to it that the right one speaks first and last.
fn frame(messages: &mut Vec<Message<'_>>, edges: Edges) {
    let filler = || Message {
        role: Role::User,
        blocks: vec![Block {
            body: Body::Content(Content::Text(Cow::Borrowed(FILLER))),
            own: None,
        }],
        lost_thoughts: false,
    };
    if messages.is_empty() {
        messages.push(filler());
    }
    if edges == Edges::Free {
        return;
    }
    if messages.first().is_some_and(|message| message.role == Role::Assistant) {
        messages.insert(0, filler());
    }
    let Some(last) = messages.last_mut().filter(|last| last.role == Role::Assistant) else {
        return;
    };
    let holds_step = last.blocks.iter().any(|block| block.body == Body::Opaque);
    if edges == Edges::User || !holds_step {
        messages.push(filler());
    } else if let Some(Block { body: Body::Content(Content::Text(text)), .. }) =
        last.blocks.last_mut()
    {
        // An answer to be continued may not end in white space.
        *text = Cow::Owned(text.trim_end().to_owned());
    }
}

/// A name every wire takes.
fn plain_name(name: &str) -> Cow<'_, str> {
    if name.is_empty() { Cow::Borrowed("unnamed") } else { plain(name, LONGEST) }
}

#[cfg(test)]
mod tests;
