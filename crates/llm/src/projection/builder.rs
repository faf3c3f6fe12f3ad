//! Puts a conversation together, part by part.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use base::transcript::{Call, CallResult, File, Outcome, Part, PartBody, Piece, Role, Turn};
use serde_json::Value;

use super::ids::Ids;
use super::{Answer, Asked, Block, Body, Content, FilePlace, INTERRUPTED, Message, Rules, files};

pub(super) struct Builder<'a, 'r> {
    rules: &'r Rules,
    /// Results by exchange and id, with their places.
    results: HashMap<(usize, &'a str), VecDeque<(usize, &'a CallResult)>>,
    /// Places of results that stand where their calls demand them.
    claimed: HashSet<usize>,
    ids: Ids,
    /// The number of the next part.
    place: usize,
    exchange: Exchange,
    messages: Vec<Message<'a>>,
    /// Results owed to the calls of the last message.
    due: Vec<Block<'a>>,
    /// What can only stand in the next user message.
    carried: Vec<Content<'a>>,
}

impl<'a, 'r> Builder<'a, 'r> {
    pub(super) fn new(turns: &'a [Turn], rules: &'r Rules) -> Self {
        Self {
            rules,
            results: results(turns),
            claimed: HashSet::new(),
            ids: Ids::new(rules.id_form, rules.longest_id),
            place: 0,
            exchange: Exchange::default(),
            messages: Vec::new(),
            due: Vec::new(),
            carried: Vec::new(),
        }
    }

    pub(super) fn turn(&mut self, turn: &'a Turn) {
        self.exchange.turn(turn.role);
        // An answer that follows calls nobody answered is a message of its own.
        if turn.role == Role::Assistant && !self.due.is_empty() {
            self.settle();
        }
        for part in &turn.parts {
            match turn.role {
                Role::User => self.user_part(part),
                Role::Assistant => self.model_part(part),
            }
            self.place += 1;
        }
    }

    fn user_part(&mut self, part: &'a Part) {
        match &part.body {
            PartBody::Text { text } if text.trim().is_empty() => {}
            PartBody::Text { text } => {
                self.say(Role::User, Content::Text(Cow::Borrowed(text)), None);
            }
            PartBody::File(file) => self.say(Role::User, self.file(file), None),
            PartBody::Result(result) => self.result(result),
            // A user neither thinks nor calls; what an import left here has no place to go.
            PartBody::Reasoning { .. } | PartBody::Call(_) | PartBody::Opaque { .. } => {}
        }
    }

    fn model_part(&mut self, part: &'a Part) {
        let native = part.native.as_ref().filter(|native| native.maker == self.rules.maker);
        let own = native.map(|native| &native.data);
        let returns = own.is_some_and(|own| (self.rules.returns)(&part.body, own));
        match &part.body {
            PartBody::Text { text } if text.trim().is_empty() && !returns => {}
            PartBody::Text { text } => {
                self.say(Role::Assistant, Content::Text(Cow::Borrowed(text)), own);
            }
            PartBody::Reasoning { text } if returns => {
                self.add(Role::Assistant, Block { body: Body::Thought(text), own });
            }
            PartBody::Reasoning { .. } => self.message(Role::Assistant).lost_thoughts = true,
            PartBody::Call(call) => self.call(call, own),
            PartBody::Result(result) => self.result(result),
            PartBody::File(file) => match self.rules.model_files {
                FilePlace::Inside => self.say(Role::Assistant, self.file(file), own),
                FilePlace::Beside => self.carried.push(self.file(file)),
            },
            PartBody::Opaque { .. } if returns => {
                self.add(Role::Assistant, Block { body: Body::Opaque, own });
            }
            PartBody::Opaque { .. } => {}
        }
    }

    fn file(&self, file: &'a File) -> Content<'a> {
        if self.rules.sees_files && files::is_taken(file, self.rules.file_types) {
            return Content::File(file);
        }
        let words = files::quoted(file).unwrap_or_else(|| files::left_out(file));
        Content::Text(Cow::Owned(words))
    }

    fn call(&mut self, call: &'a Call, own: Option<&'a Value>) {
        let id = self.ids.give(call.id.as_str());
        let name = (self.rules.name)(&call.name);
        let (outcome, content) = match self.claim(call.id.as_str()) {
            Some(result) => (result.outcome, self.result_content(result)),
            None => (Outcome::Failed, vec![Content::Text(Cow::Borrowed(INTERRUPTED))]),
        };
        let asked = Asked { id: id.clone(), name: name.clone(), call };
        self.add(Role::Assistant, Block { body: Body::Call(asked), own });
        let answer = Answer { id, name, outcome, content };
        self.due.push(Block { body: Body::Result(answer), own });
    }

    /// The first result after the call, before the model speaks again, that no earlier call of the
    /// same id has taken. A later one would change what was already sent.
    fn claim(&mut self, id: &'a str) -> Option<&'a CallResult> {
        let waiting = self.results.get_mut(&(self.exchange.number, id))?;
        while let Some((at, result)) = waiting.pop_front() {
            if at > self.place {
                self.claimed.insert(at);
                return Some(result);
            }
        }
        None
    }

    fn result_content(&mut self, result: &'a CallResult) -> Vec<Content<'a>> {
        // Anthropic takes nothing but text in the result of a failed call.
        let inside =
            self.rules.result_files == FilePlace::Inside && result.outcome == Outcome::Done;
        let (mut content, mut beside) = (Vec::new(), Vec::new());
        for piece in &result.pieces {
            match piece {
                Piece::Text { text } if text.trim().is_empty() => {}
                Piece::Text { text } => content.push(Content::Text(Cow::Borrowed(text))),
                Piece::File(file) => match self.file(file) {
                    file @ Content::File(_) if !inside => beside.push(file),
                    said @ (Content::Text(_) | Content::File(_)) => content.push(said),
                },
            }
        }
        if content.is_empty() {
            let nothing = match (beside.is_empty(), result.outcome) {
                (false, _) => "(see the attached file)",
                (true, Outcome::Done) => "(no output)",
                (true, Outcome::Failed) => "(failed without a message)",
            };
            content.push(Content::Text(Cow::Borrowed(nothing)));
        }
        if !beside.is_empty() {
            let note = format!("Files in the result of `{}`:", result.name);
            self.carried.push(Content::Text(Cow::Owned(note)));
            self.carried.append(&mut beside);
        }
        content
    }

    /// A result whose call is not there is still something the model should know.
    fn result(&mut self, result: &'a CallResult) {
        if self.claimed.contains(&self.place) {
            return;
        }
        let mut said = format!("Result of an earlier call of `{}`:", result.name);
        for piece in &result.pieces {
            if let Piece::Text { text } = piece {
                said.push('\n');
                said.push_str(text);
            }
        }
        self.say(Role::User, Content::Text(Cow::Owned(said)), None);
        for piece in &result.pieces {
            if let Piece::File(file) = piece {
                self.say(Role::User, self.file(file), None);
            }
        }
    }

    fn say(&mut self, role: Role, content: Content<'a>, own: Option<&'a Value>) {
        self.add(role, Block { body: Body::Content(content), own });
    }

    fn add(&mut self, role: Role, block: Block<'a>) {
        if role == Role::User {
            self.settle();
        }
        let calls_last = self.rules.calls_last && role == Role::Assistant;
        let blocks = &mut self.message(role).blocks;
        let first_call = blocks.iter().position(|block| matches!(block.body, Body::Call(_)));
        match (first_call, &block.body) {
            // Anthropic takes text after a call for an answer given without its result.
            (Some(at), Body::Content(_)) if calls_last => blocks.insert(at, block),
            (Some(_) | None, _) => blocks.push(block),
        }
    }

    /// The last message, if it is of that role, else a new one.
    fn message(&mut self, role: Role) -> &mut Message<'a> {
        if self.messages.last().is_none_or(|message| message.role != role) {
            self.messages.push(Message { role, blocks: Vec::new(), lost_thoughts: false });
        }
        let last = self.messages.len() - 1;
        &mut self.messages[last]
    }

    /// Answers the calls of the last message.
    fn settle(&mut self) {
        if self.due.is_empty() && self.carried.is_empty() {
            return;
        }
        let due = std::mem::take(&mut self.due);
        let carried = std::mem::take(&mut self.carried);
        let carried =
            carried.into_iter().map(|content| Block { body: Body::Content(content), own: None });
        self.message(Role::User).blocks.extend(due.into_iter().chain(carried));
    }

    /// What was said, without messages that say nothing: an answer may have been cut off after its
    /// first thought.
    pub(super) fn finish(mut self) -> Vec<Message<'a>> {
        self.settle();
        let is_thought = |block: &Block<'_>| matches!(block.body, Body::Thought(_));
        let mut said: Vec<Message<'a>> = Vec::with_capacity(self.messages.len() + 2);
        for mut message in self.messages {
            while !self.rules.closing_thoughts && message.blocks.last().is_some_and(is_thought) {
                message.blocks.pop();
            }
            if message.blocks.iter().all(is_thought) {
                continue;
            }
            match said.last_mut() {
                Some(last) if last.role == message.role => {
                    last.blocks.extend(message.blocks);
                    last.lost_thoughts |= message.lost_thoughts;
                }
                Some(_) | None => said.push(message),
            }
        }
        said
    }
}

/// Counts exchanges: what the model said, and what it was told before it spoke again.
#[derive(Debug, Default)]
struct Exchange {
    number: usize,
    told: bool,
}

impl Exchange {
    fn turn(&mut self, role: Role) {
        match role {
            Role::User => self.told = true,
            Role::Assistant if self.told => {
                self.number += 1;
                self.told = false;
            }
            Role::Assistant => {}
        }
    }
}

fn results(turns: &[Turn]) -> HashMap<(usize, &str), VecDeque<(usize, &CallResult)>> {
    let mut results: HashMap<_, VecDeque<_>> = HashMap::new();
    let mut exchange = Exchange::default();
    let mut place = 0;
    for turn in turns {
        exchange.turn(turn.role);
        for part in &turn.parts {
            if let PartBody::Result(result) = &part.body {
                let key = (exchange.number, result.call.as_str());
                results.entry(key).or_default().push_back((place, result));
            }
            place += 1;
        }
    }
    results
}
