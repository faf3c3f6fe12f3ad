//! From a step's actions to the bytes, waits and cuts of one answer.

use std::time::Duration;

use base::{StopReason, Usage};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use settings::provider::Wire;

use super::route::Route;
use crate::http::{Framing, Outgoing, Step, cut_at};
use crate::script::{Action, ChatThoughts};
use crate::speak::{self, Ending, Event, Frames, Said, Speak, Speaker};
use crate::validate::Issued;

/// Bulk text leaves in pieces of this size: enough to be cheap, little enough to stream.
const BULK_CHUNK_BYTES: usize = 16 * 1024;

/// A whole JSON body.
pub(super) fn whole(status: u16, body: &Value) -> Outgoing {
    Outgoing {
        before: Vec::new(),
        status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        framing: Framing::Length,
        body: vec![Step::Bytes(body.to_string().into_bytes())],
    }
}

/// An error in a wire's own words.
pub(super) fn error(wire: Wire, status: u16, code: Option<&str>, message: &str) -> Outgoing {
    let mut answer = whole(status, &speak::error_body(wire, status, code, message));
    if let (Wire::BedrockConverse, Some(code)) = (wire, code) {
        answer.headers.push(("x-amzn-errortype".to_owned(), code.to_owned()));
    }
    answer
}

/// Plays a step.
pub(super) fn perform(
    actions: &[Action],
    route: &Route,
    serial: usize,
    thoughts: ChatThoughts,
    issued: &mut Issued,
) -> Outgoing {
    let texts: Vec<String> = actions.iter().map(made_text).collect();
    let mut score = Score::of(actions, &texts, route.wire, serial);
    for beat in &score.beats {
        if let Beat::Say(Said::Thought { seal: Some(seal), .. }, _) = beat {
            issued.insert(seal);
        }
    }
    let before = score.overture();
    let speaker = Speaker { model: route.model.clone(), serial, thoughts };
    let voice = speak::voice(route.wire, speaker);
    let mut answer = match (&score.failure, route.stream) {
        (Some((status, code, message)), _) => error(route.wire, *status, code.as_deref(), message),
        (None, Some(frames)) => {
            let body = Player { voice, frames, started: false }.stream(&score);
            let headers = vec![("content-type".to_owned(), frames.content_type().to_owned())];
            let framing = Framing::Chunked;
            Outgoing { before: Vec::new(), status: 200, headers, framing, body }
        }
        (None, None) => in_one_piece(voice, &score),
    };
    answer.before = before;
    answer.headers.extend(score.headers);
    if let Some(byte) = score.cut_at {
        answer.body = cut_at(answer.body, byte);
    }
    answer
}

/// A step's actions, sorted: what happens in order, and what holds for the whole answer.
struct Score<'a> {
    beats: Vec<Beat<'a>>,
    ending: Ending,
    headers: Vec<(String, String)>,
    failure: Option<(u16, Option<String>, String)>,
    cut_at: Option<usize>,
}

/// One thing that happens in its place.
enum Beat<'a> {
    Say(Said<'a>, Pace),
    FailInside { code: &'a str, message: &'a str },
    Raw(Vec<u8>),
    Wait(Duration),
    Stall,
    Drop,
    EndEarly,
}

/// How many events share a chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// One, as a provider sends them.
    Single,
    /// Many, for benchmarks.
    Bulk,
}

/// The text an action makes up; it must outlive the pieces cut from it.
fn made_text(action: &Action) -> String {
    if let Action::Bulk { bytes, .. } = action {
        "lorem ipsum ".chars().cycle().take(*bytes).collect()
    } else if let Action::Call { args, .. } = action {
        args.as_str().map_or_else(|| args.to_string(), str::to_owned)
    } else {
        String::new()
    }
}

impl<'a> Score<'a> {
    fn of(actions: &'a [Action], texts: &'a [String], wire: Wire, serial: usize) -> Self {
        let (mut usage, mut cost, mut stop) = (Usage::default(), None, None);
        let mut by_itself = StopReason::Done;
        let mut beats = Vec::new();
        let (mut headers, mut failure, mut cut_at) = (Vec::new(), None, None);
        for (at, (action, made)) in actions.iter().zip(texts).enumerate() {
            let single = |said| Beat::Say(said, Pace::Single);
            match action {
                Action::Text { text, deltas } => {
                    beats.push(single(Said::Text(speak::pieces(text, *deltas))));
                }
                Action::Bulk { deltas, .. } => {
                    beats.push(Beat::Say(Said::Text(vec![made.as_str(); *deltas]), Pace::Bulk));
                }
                Action::Refusal { text } => {
                    by_itself = StopReason::Refusal;
                    beats.push(single(Said::Refusal(text)));
                }
                Action::Reasoning { text, deltas, seal } => {
                    let seal = seal.clone().unwrap_or_else(|| made_seal(wire, serial, at));
                    let seal = Some(seal).filter(|seal| !seal.is_empty());
                    beats
                        .push(single(Said::Thought { pieces: speak::pieces(text, *deltas), seal }));
                }
                Action::Call { id, name, deltas, .. } => {
                    by_itself = StopReason::ToolCalls;
                    let id = id.clone().unwrap_or_else(|| format!("call_{serial}_{at}"));
                    beats.push(single(Said::Call {
                        id,
                        name,
                        pieces: speak::pieces(made, *deltas),
                    }));
                }
                Action::Usage(tokens) => usage = *tokens,
                Action::Cost { dollars } => cost = Some(*dollars),
                Action::Stop { reason } => stop = Some(*reason),
                Action::Fail { status, code, message } => {
                    failure = Some((*status, code.clone(), message.clone()));
                }
                Action::FailInside { code, message } => {
                    beats.push(Beat::FailInside { code, message });
                }
                Action::Header { name, value } => headers.push((name.clone(), value.clone())),
                Action::Delay { ms } => beats.push(Beat::Wait(Duration::from_millis(*ms))),
                Action::Stall => beats.push(Beat::Stall),
                Action::Raw { text } => beats.push(Beat::Raw(text.clone().into_bytes())),
                Action::RawBytes { base64 } => {
                    beats.push(Beat::Raw(STANDARD.decode(base64).unwrap_or_default()));
                }
                Action::Drop => beats.push(Beat::Drop),
                Action::DropAt { byte } => cut_at = Some(*byte),
                Action::EndEarly => beats.push(Beat::EndEarly),
            }
        }
        let ending = Ending { usage, cost, stop: stop.unwrap_or(by_itself) };
        Self { beats, ending, headers, failure, cut_at }
    }

    /// Takes off the waits, stalls and drops that stand before anything said.
    fn overture(&mut self) -> Vec<Step> {
        let quiet = |beat: &Beat<'_>| match beat {
            Beat::Wait(time) => Some(Step::Wait(*time)),
            Beat::Stall => Some(Step::Stall),
            Beat::Drop => Some(Step::Cut),
            Beat::Say(..) | Beat::FailInside { .. } | Beat::Raw(_) | Beat::EndEarly => None,
        };
        let steps: Vec<Step> = self.beats.iter().map_while(quiet).collect();
        self.beats.drain(..steps.len());
        steps
    }
}

fn made_seal(wire: Wire, serial: usize, at: usize) -> String {
    STANDARD.encode(format!("scripted {} {serial} {at}", wire.as_str()))
}

struct Player {
    voice: Box<dyn Speak>,
    frames: Frames,
    started: bool,
}

impl Player {
    fn stream(mut self, score: &Score<'_>) -> Vec<Step> {
        let mut body = Vec::new();
        // Bytes outside the protocol are all that is sent, unless something was said before them.
        let mut finishes = true;
        for beat in &score.beats {
            match beat {
                Beat::Say(said, pace) => {
                    self.start(&mut body);
                    finishes = true;
                    let mut events = Vec::new();
                    self.voice.say(said, &mut events);
                    self.send(&events, *pace, &mut body);
                }
                Beat::FailInside { code, message } => {
                    self.start(&mut body);
                    let mut events = Vec::new();
                    self.voice.fail(code, message, &mut events);
                    self.send(&events, Pace::Single, &mut body);
                    return body;
                }
                Beat::Raw(bytes) => {
                    finishes &= self.started;
                    body.push(Step::Bytes(bytes.clone()));
                }
                Beat::Wait(time) => body.push(Step::Wait(*time)),
                Beat::Stall => body.push(Step::Stall),
                Beat::Drop => body.push(Step::Cut),
                Beat::EndEarly => return body,
            }
        }
        if finishes {
            self.start(&mut body);
            let mut events = Vec::new();
            self.voice.finish(&score.ending, &mut events);
            self.send(&events, Pace::Single, &mut body);
        }
        body
    }

    fn start(&mut self, body: &mut Vec<Step>) {
        if !self.started {
            self.started = true;
            let mut events = Vec::new();
            self.voice.start(&mut events);
            self.send(&events, Pace::Single, body);
        }
    }

    fn send(&self, events: &[Event], pace: Pace, body: &mut Vec<Step>) {
        let full = match pace {
            Pace::Single => 0,
            Pace::Bulk => BULK_CHUNK_BYTES,
        };
        let mut bytes = Vec::new();
        for event in events {
            self.frames.write(event, &mut bytes);
            if bytes.len() >= full {
                body.push(Step::Bytes(std::mem::take(&mut bytes)));
            }
        }
        body.push(Step::Bytes(bytes));
    }
}

/// The answer to a request that does not stream. What breaks a stream breaks this body's middle.
fn in_one_piece(mut voice: Box<dyn Speak>, score: &Score<'_>) -> Outgoing {
    let said: Vec<Said<'_>> = score
        .beats
        .iter()
        .filter_map(|beat| if let Beat::Say(said, _) = beat { Some(said.clone()) } else { None })
        .collect();
    let mut answer = whole(200, &voice.whole(&said, &score.ending));
    for beat in &score.beats {
        match beat {
            Beat::Say(..) => {}
            Beat::FailInside { code, message } => {
                let body = voice.fail_whole(code, message);
                answer.body = vec![Step::Bytes(body.into_bytes())];
            }
            Beat::Raw(bytes) => answer.body = vec![Step::Bytes(bytes.clone())],
            Beat::Wait(time) => answer.body.insert(0, Step::Wait(*time)),
            Beat::Stall => answer.body = halved(answer.body, Some(Step::Stall)),
            Beat::Drop => answer.body = halved(answer.body, Some(Step::Cut)),
            Beat::EndEarly => answer.body = halved(answer.body, None),
        }
    }
    answer
}

fn halved(mut body: Vec<Step>, then: Option<Step>) -> Vec<Step> {
    if let Some(Step::Bytes(bytes)) = body.last_mut() {
        bytes.truncate(bytes.len() / 2);
    }
    body.extend(then);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_text_is_sent_in_few_large_chunks() {
        let route = Route {
            wire: Wire::OpenaiChat,
            model: "m".into(),
            stream: Some(Frames::Sse),
            complaints: Vec::new(),
        };
        let actions = [Action::Bulk { deltas: 20_000, bytes: 4 }];
        let thoughts = ChatThoughts::default();
        let answer = perform(&actions, &route, 0, thoughts, &mut Issued::default());
        assert!(answer.body.len() < 400, "{}", answer.body.len());
        let events = answer.body.iter().filter_map(|step| match step {
            Step::Bytes(bytes) => Some(bytes.windows(6).filter(|at| at == b"data: ").count()),
            Step::Wait(_) | Step::Stall | Step::Cut => None,
        });
        assert_eq!(events.sum::<usize>(), 20_000 + 4);
    }
}
