//! Questions that wait for a line. Only the first is asked; a number always answers that one.

use base::protocol::{Approval, Op, Question, Scope, Trust};
use base::{Block, RequestId};

use super::voice::Voice;
use crate::panel::collapsed;

/// A question.
#[derive(Debug)]
pub(super) enum Asked {
    /// May what the folder's files say be run?
    Trust { folder: String, files: Vec<String> },
    /// May a call run?
    Permission(Box<Permission>),
    /// What the model, or a server, wants to know: as far as it was answered.
    Words { request: RequestId, questions: Vec<Question>, answers: Vec<String> },
}

/// A call that may run or not.
#[derive(Debug)]
pub(super) struct Permission {
    pub(super) request: RequestId,
    pub(super) agent: Option<String>,
    pub(super) title: String,
    pub(super) reason: String,
    pub(super) rules: Vec<String>,
    pub(super) risky: Vec<String>,
    pub(super) body: Option<Block>,
}

/// Lines between a risky part and the answers from which on it is read again.
const FAR: usize = 10;

/// What a line is to a question.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    /// Its answer.
    Answer(Op),
    /// The answer to a part of it: there is more to ask.
    Part,
    /// None of its choices.
    Unclear(String),
    /// Nothing: it is for the model, and the question goes on waiting.
    Other,
    /// It is for the model, and the question is dropped.
    Passed,
}

impl Asked {
    /// What it is called where it is settled; none for one that the mind does not know.
    pub(super) fn request(&self) -> Option<RequestId> {
        match self {
            Self::Trust { .. } => None,
            Self::Permission(permission) => Some(permission.request),
            Self::Words { request, .. } => Some(*request),
        }
    }

    /// Asks it.
    pub(super) fn pose(&self, voice: &mut Voice) {
        match self {
            Self::Trust { folder, files } => {
                voice.say(&format!("Trust: files in {folder} can run commands or loosen rules:"));
                voice.say(&format!("  {}", files.join(", ")));
                voice.say("Answer: 1 yes, I know these files, 2 no, work without them.");
                voice.say("Any other line works without them for now.");
            }
            Self::Permission(permission) => permission.pose(voice),
            Self::Words { questions, answers, .. } => {
                if let Some(question) = questions.get(answers.len()) {
                    pose(question, voice);
                }
            }
        }
    }

    /// Takes a line.
    pub(super) fn hear(&mut self, line: &str) -> Heard {
        match self {
            Self::Trust { folder, .. } => {
                let trust = match line {
                    "1" | "y" | "yes" => Trust::Given,
                    "2" | "n" | "no" => Trust::Refused,
                    _ => return Heard::Passed,
                };
                Heard::Answer(Op::Trust { folder: folder.clone(), trust })
            }
            Self::Permission(permission) => permission.hear(line),
            Self::Words { request, questions, answers } => {
                let Some(question) = questions.get(answers.len()) else { return Heard::Passed };
                match chosen(question, line) {
                    Ok(answer) => answers.push(answer),
                    Err(unclear) => return Heard::Unclear(unclear),
                }
                if answers.len() < questions.len() {
                    return Heard::Part;
                }
                let answers = std::mem::take(answers);
                Heard::Answer(Op::Answer { request: *request, answers })
            }
        }
    }

    /// What answers it where nobody is left to: no.
    pub(super) fn refuse(self) -> Option<Op> {
        match self {
            Self::Trust { .. } => None,
            Self::Permission(permission) => {
                let approval = Approval::Deny { instead: None };
                Some(Op::Approve { request: permission.request, approval })
            }
            Self::Words { request, questions, mut answers } => {
                answers.resize(questions.len(), "(no answer: nobody is there)".to_owned());
                Some(Op::Answer { request, answers })
            }
        }
    }
}

impl Permission {
    fn pose(&self, voice: &mut Voice) {
        let who = self.agent.as_ref().map(|name| format!("agent {name} wants: "));
        voice.say(&format!("Permission: {}{}", who.unwrap_or_default(), self.title));
        voice.say(&format!("Why it asks: {}", self.reason));
        if let Some(body) = &self.body {
            let far = voice.show_all(body) > FAR;
            // Who answers sees the last lines: what makes it risky is among them.
            let risky = self.risky.iter().map(|part| collapsed(part));
            for part in risky.filter(|part| far && part.len() <= FAR) {
                voice.say("Risky part:");
                for line in &part {
                    voice.say(&format!("  {line}"));
                }
            }
        }
        let always = match self.rules.first() {
            Some(rule) => format!(" 3 always in this project ({rule}),"),
            None => String::new(),
        };
        voice.say(&format!("Answer: 1 once, 2 this session,{always} 4 no."));
        voice.say("4 and words: no, do that instead. Any other line joins the turn.");
    }

    fn hear(&self, line: &str) -> Heard {
        let request = self.request;
        let answer = |approval| Heard::Answer(Op::Approve { request, approval });
        let allow = |scope| answer(Approval::Allow { scope, rule: None });
        let (first, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let words = words.trim();
        match (first, words.is_empty()) {
            ("1" | "y" | "yes", true) => allow(Scope::Once),
            ("2", true) => allow(Scope::Session),
            ("3", true) if !self.rules.is_empty() => allow(Scope::Project),
            ("n" | "no", true) => answer(Approval::Deny { instead: None }),
            ("4", is_plain) => {
                answer(Approval::Deny { instead: (!is_plain).then(|| words.to_owned()) })
            }
            (number, true) if is_number(number) => {
                let three = if self.rules.is_empty() { "" } else { "3, " };
                Heard::Unclear(format!("Answer with 1, 2, {three}or 4."))
            }
            _ => Heard::Other,
        }
    }
}

fn pose(question: &Question, voice: &mut Voice) {
    voice.say(&format!("Question: {}", question.text));
    for (number, choice) in (1..).zip(&question.choices) {
        voice.say(&format!("  {number} {choice}"));
    }
    let how = match (question.choices.is_empty(), question.several) {
        (true, _) => "Answer in a line.",
        (false, true) => "Answer with numbers and commas between, or in your own words.",
        (false, false) => "Answer with a number, or in your own words.",
    };
    voice.say(how);
}

/// What a line chooses: numbers stand for choices.
fn chosen(question: &Question, line: &str) -> Result<String, String> {
    let count = question.choices.len();
    let picked = |word: &str| match word.parse::<usize>() {
        Ok(number) if count > 0 => {
            let choice = number.checked_sub(1).and_then(|index| question.choices.get(index));
            choice.cloned().ok_or_else(|| format!("Answer with a number from 1 to {count}."))
        }
        Ok(_) | Err(_) => Ok(word.to_owned()),
    };
    let words: Vec<&str> = if question.several { line.split(',').collect() } else { vec![line] };
    let all: Result<Vec<String>, String> = words.iter().map(|word| picked(word.trim())).collect();
    all.map(|all| all.join(", "))
}

/// Whether a line is nothing but digits.
pub(super) fn is_number(line: &str) -> bool {
    !line.is_empty() && line.chars().all(|c| c.is_ascii_digit())
}
