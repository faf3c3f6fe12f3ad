//! Splits what a model says into text, thoughts and calls, however the deltas cut it.

use settings::provider::Quirks;

use super::formats;

/// Something a model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken {
    /// Text for the user.
    Text(String),
    /// A thought it wrote between tags.
    Thought(String),
    /// A tool call it wrote as text.
    Call {
        /// The tool; empty where the call cannot be read.
        name: String,
        /// The arguments as it wrote them.
        arguments: String,
    },
}

/// Takes text deltas apart. Tags never reach the user; a tag inside code is code.
#[derive(Debug)]
pub struct Splitter {
    calls: bool,
    /// What is not yet decided.
    held: String,
    state: State,
    /// Nothing but white space has been said.
    fresh: bool,
    /// Nothing but white space has been said on this line.
    line_start: bool,
    /// How much of `held` is known not to close the call it is part of.
    scanned: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside of everything.
    Prose,
    /// Inside `…` on one line.
    Inline,
    /// Inside a fenced block that is no call.
    Code,
    /// Inside a thought, up to this tag.
    Thought(&'static str),
    /// Inside a call, up to this tag.
    Call(&'static str),
    /// Inside a fenced block that may be a call.
    Fenced,
    /// From here to the end it may be one call in bare JSON.
    Bare,
}

const THOUGHTS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("[THINK]", "[/THINK]"),
];

/// What opens a call and what closes it; nothing closes the ones that run to the end.
const CALLS: [(&str, &str); 15] = [
    ("<tool_call>", "</tool_call>"),
    ("<tool_calls>", "</tool_calls>"),
    ("<function_call>", "</function_call>"),
    ("<function_calls>", "</function_calls>"),
    ("<minimax:tool_call>", "</minimax:tool_call>"),
    ("<function=", "</function>"),
    ("<invoke name=", "</invoke>"),
    ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
    ("<|tool_call_begin|>", "<|tool_call_end|>"),
    ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
    ("<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("[TOOL_CALLS]", "</s>"),
    ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
];

/// Openers that are themselves part of what is read.
const TELLING: [&str; 4] =
    ["<function=", "<invoke name=", "<|tool_call_begin|>", "<｜tool▁call▁begin｜>"];

/// Tags that mean nothing where they stand alone.
const STRAY: [&str; 8] = [
    "</tool_call>",
    "</think>",
    "</thinking>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|channel|>final<|message|>",
    "<|tool_calls_section_end|>",
];

/// Fences that may hold a call.
const CALL_FENCES: [&str; 5] = ["json", "tool_call", "tool_calls", "tool", "tool_code"];

/// The first key of an object that may be a call.
const CALL_KEYS: [&str; 8] =
    ["name", "type", "id", "function", "tool", "tool_name", "arguments", "parameters"];

impl Splitter {
    /// The splitter a model needs, if it needs one.
    pub fn for_quirks(quirks: &Quirks) -> Option<Self> {
        let calls = quirks.text_calls == Some(true);
        (calls || quirks.think_tags == Some(true)).then(|| Self::new(calls))
    }

    /// A splitter for thoughts, and for calls too where `calls` says so.
    pub fn new(calls: bool) -> Self {
        let (held, state) = (String::new(), State::Prose);
        Self { calls, held, state, fresh: true, line_start: true, scanned: 0 }
    }

    /// Takes the next text and adds what is certain.
    pub fn push(&mut self, text: &str, out: &mut Vec<Spoken>) {
        self.held.push_str(text);
        while self.step(out) {}
    }

    /// Says that no more text comes.
    pub fn finish(&mut self, out: &mut Vec<Spoken>) {
        let held = self.held.clone();
        let calls = match self.state {
            // The beginning of a tag, cut off.
            State::Prose if held.len() > 3 && self.is_tag_start(&held) => return self.held.clear(),
            State::Thought(_) => return self.think(held.len(), out),
            State::Prose | State::Inline | State::Code => None,
            State::Call(_) => formats::read(&held),
            State::Bare => formats::json(&held),
            State::Fenced => formats::json(fence_body(&held)),
        };
        if let Some((calls, rest)) = calls {
            emit(calls, rest, out);
        } else {
            // A call without readable arguments is not run on a guess.
            self.held.drain(..opener_length(&held));
            self.tell(self.held.len(), out);
        }
        self.held.clear();
        self.state = State::Prose;
    }

    /// Decides one more thing; false when more text is needed.
    fn step(&mut self, out: &mut Vec<Spoken>) -> bool {
        match self.state {
            State::Prose => self.prose(out),
            State::Inline => self.pass_until(&["`", "\n"], out),
            State::Code => self.pass_until(&["\n```"], out),
            State::Thought(close) => self.thought(close, out),
            State::Call(close) => self.call(close, out),
            State::Fenced => self.fenced(out),
            State::Bare => false,
        }
    }

    fn prose(&mut self, out: &mut Vec<Spoken>) -> bool {
        if self.calls && self.fresh && self.bare_start() {
            return self.state != State::Prose;
        }
        let Some(at) = self.held.find(['<', '[', '`']) else {
            self.tell(self.held.len(), out);
            return false;
        };
        self.tell(at, out);
        if self.held.starts_with('`') {
            return self.backtick(out);
        }
        let openers = THOUGHTS.iter().map(|pair| (pair, State::Thought(pair.1)));
        let calls = CALLS.iter().map(|pair| (pair, State::Call(pair.1))).filter(|_| self.calls);
        if let Some(((open, _), state)) =
            openers.chain(calls).find(|((open, _), _)| self.held.starts_with(open))
        {
            let kept = if TELLING.contains(open) { 0 } else { open.len() };
            self.held.drain(..kept);
            self.state = state;
            self.fresh = true;
            self.scanned = 0;
            return true;
        }
        if let Some(stray) = STRAY.iter().find(|stray| self.held.starts_with(**stray)) {
            self.held.drain(..stray.len());
            return true;
        }
        if self.is_tag_start(&self.held) {
            return false;
        }
        self.tell(1, out);
        true
    }

    /// A backtick: a fence where a line begins, otherwise code within the line.
    fn backtick(&mut self, out: &mut Vec<Spoken>) -> bool {
        if self.line_start && self.held.len() < 3 && "```".starts_with(self.held.as_str()) {
            return false;
        }
        if !(self.line_start && self.held.starts_with("```")) {
            self.tell(1, out);
            self.state = State::Inline;
            return true;
        }
        let Some(end) = self.held.find('\n') else { return false };
        let language = self.held[3..end].trim().to_ascii_lowercase();
        if self.calls && CALL_FENCES.contains(&language.as_str()) {
            self.state = State::Fenced;
            self.scanned = 0;
        } else {
            // The line break stays: it may be the one before the closing fence.
            self.tell(end, out);
            self.state = State::Code;
        }
        true
    }

    /// Passes code on, up to and with the first of `ends`.
    fn pass_until(&mut self, ends: &[&str], out: &mut Vec<Spoken>) -> bool {
        let found = ends.iter().filter_map(|end| Some((self.held.find(end)?, end.len()))).min();
        if let Some((at, length)) = found {
            self.tell(at + length, out);
            self.state = State::Prose;
            return true;
        }
        let kept = ends.iter().map(|end| overlap(&self.held, end)).max().unwrap_or(0);
        self.tell(self.held.len() - kept, out);
        false
    }

    fn thought(&mut self, close: &'static str, out: &mut Vec<Spoken>) -> bool {
        let found = self.held.find(close);
        let end = found.unwrap_or_else(|| self.held.len() - overlap(&self.held, close));
        self.think(end, out);
        if found.is_some() {
            self.held.drain(..close.len());
            self.state = State::Prose;
            self.fresh = true;
            self.line_start = true;
        }
        found.is_some()
    }

    /// Thinks the first `length` bytes of what is held.
    fn think(&mut self, length: usize, out: &mut Vec<Spoken>) {
        let text: String = self.held.drain(..length).collect();
        let text = if self.fresh { text.trim_start() } else { &text };
        self.fresh &= text.is_empty();
        say(Spoken::Thought(text.to_owned()), out);
    }

    fn call(&mut self, close: &'static str, out: &mut Vec<Spoken>) -> bool {
        let Some(end) = self.find_from_scanned(close) else { return false };
        let body = self.held[..end].to_owned();
        self.held.drain(..end + close.len());
        self.state = State::Prose;
        match formats::read(&body) {
            Some((calls, rest)) => emit(calls, rest, out),
            // Something like a call that nobody can read: the model shall hear of it.
            None if body.contains('{') => {
                out.push(Spoken::Call { name: String::new(), arguments: body });
            }
            None => say(Spoken::Text(body[opener_length(&body)..].to_owned()), out),
        }
        // What parts one call from the next is not worth a line on the screen.
        self.fresh = true;
        true
    }

    fn fenced(&mut self, out: &mut Vec<Spoken>) -> bool {
        let body_at = self.held.find('\n').unwrap_or(self.held.len());
        let Some(end) = self.find_from_scanned("\n```") else { return false };
        let (block, body) = (end + "\n```".len(), self.held[body_at..end].to_owned());
        self.state = State::Prose;
        match formats::json(&body) {
            Some((calls, "")) => {
                self.held.drain(..block);
                emit(calls, "", out);
            }
            Some(_) | None => self.tell(block, out),
        }
        true
    }

    /// Whether the answer begins as a call in bare JSON may; then it is held back.
    fn bare_start(&mut self) -> bool {
        let start = self.held.trim_start();
        if !start.starts_with(['{', '[']) || "[TOOL_CALLS]".starts_with(start) && start.len() > 1 {
            return false;
        }
        let inside = start.trim_start_matches(['[', '{', ' ', '\n', '\t', '\r']);
        let Some(key) = inside.strip_prefix('"') else { return inside.is_empty() };
        match key.split_once('"') {
            None => CALL_KEYS.iter().any(|known| known.starts_with(key)),
            Some((key, _)) => {
                let known = CALL_KEYS.contains(&key);
                if known {
                    self.state = State::Bare;
                }
                known
            }
        }
    }

    /// Says the first `length` bytes of what is held.
    fn tell(&mut self, length: usize, out: &mut Vec<Spoken>) {
        if length == 0 {
            return;
        }
        let text: String = self.held.drain(..length).collect();
        let (began, line) =
            text.rsplit_once('\n').map_or((self.line_start, &*text), |(_, line)| (true, line));
        self.line_start = began && line.trim().is_empty();
        let text = if self.fresh { text.trim_start() } else { &text };
        self.fresh &= text.is_empty();
        say(Spoken::Text(text.to_owned()), out);
    }

    /// Whether `text` may become a tag.
    fn is_tag_start(&self, text: &str) -> bool {
        let calls = if self.calls { CALLS.as_slice() } else { &[] };
        let openers = THOUGHTS.iter().chain(calls).map(|(open, _)| *open);
        openers.chain(STRAY).any(|tag| tag.starts_with(text))
    }

    /// Finds `end` without looking twice at what earlier deltas brought.
    fn find_from_scanned(&mut self, end: &str) -> Option<usize> {
        let from = self.held.floor_char_boundary(self.scanned.saturating_sub(end.len()));
        let found = self.held[from..].find(end).map(|at| from + at);
        self.scanned = self.held.len();
        found
    }
}

/// How long the opener is that a call nobody can read begins with.
fn opener_length(text: &str) -> usize {
    TELLING.iter().find(|open| text.starts_with(**open)).map_or(0, |open| open.len())
}

/// How many bytes at the end of `text` may be the beginning of `tag`.
fn overlap(text: &str, tag: &str) -> usize {
    let longest = tag.len().saturating_sub(1).min(text.len());
    (1..=longest)
        .rev()
        .find(|length| {
            let at = text.len() - length;
            text.is_char_boundary(at) && tag.starts_with(&text[at..])
        })
        .unwrap_or(0)
}

fn fence_body(block: &str) -> &str {
    block.find('\n').map_or("", |at| &block[at..])
}

fn emit(calls: Vec<formats::Written>, rest: &str, out: &mut Vec<Spoken>) {
    out.extend(
        calls.into_iter().map(|call| Spoken::Call { name: call.name, arguments: call.arguments }),
    );
    say(Spoken::Text(rest.to_owned()), out);
}

/// Adds something said, to what was said just before where it goes on.
fn say(spoken: Spoken, out: &mut Vec<Spoken>) {
    match (out.last_mut(), spoken) {
        (_, Spoken::Text(text) | Spoken::Thought(text)) if text.is_empty() => {}
        (Some(Spoken::Text(so_far)), Spoken::Text(more))
        | (Some(Spoken::Thought(so_far)), Spoken::Thought(more)) => so_far.push_str(&more),
        (_, spoken) => out.push(spoken),
    }
}
