//! Linear mode, for screen readers and plain terminals: lines are only ever added, each says who speaks,
//! choices are numbers, and the terminal's own line editing is used.

use std::collections::VecDeque;

use base::protocol::{Approval, Delivery, Ending, Event, Op, Place, Query, Question, Reply, Scope};
use base::transcript::Outcome;
use base::{Block, Part, RequestId, SessionId};

use crate::message::{Asker, Effect, Message, Purpose};
use crate::text;

/// Rows of a tool's output that are read out.
const OUTPUT_ROWS: usize = 20;

/// The interface without a screen. It is told messages and lines, and tells lines and effects.
#[derive(Debug)]
pub struct Linear {
    folder: String,
    session: SessionId,
    is_begun: bool,
    is_running: bool,
    /// What of the answer is not yet a whole line.
    partial: String,
    /// Who spoke last, so that a label is said only when it changes.
    speaker: Speaker,
    questions: VecDeque<Asked>,
    out: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Nobody,
    Caiman,
    Thought,
}

/// A question that waits for a line.
#[derive(Debug)]
enum Asked {
    Permission { request: RequestId, rules: Vec<String> },
    Words { request: RequestId, questions: Vec<Question>, answers: Vec<String> },
}

impl Linear {
    /// One that has said nothing yet.
    pub fn new(folder: String, session: Option<SessionId>) -> Self {
        Self {
            folder,
            session: session.unwrap_or_else(SessionId::new),
            is_begun: session.is_some(),
            is_running: false,
            partial: String::new(),
            speaker: Speaker::Nobody,
            questions: VecDeque::new(),
            out: Vec::new(),
        }
    }

    /// What is looked up first.
    pub fn begin(&mut self) -> Vec<Effect> {
        let folder = self.folder.clone();
        let mut effects = vec![Effect::Ask { query: Query::Place { folder }, asker: Asker::Place }];
        if self.is_begun {
            let query = Query::Entries { session: self.session, before: None, limit: 6 };
            effects.push(Effect::Ask { query, asker: Asker::Entries(self.session) });
        }
        effects
    }

    /// The session, once something was said in it.
    pub fn session(&self) -> Option<SessionId> {
        self.is_begun.then_some(self.session)
    }

    /// Lines to add, safe to print.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.out)
    }

    /// The user entered a line.
    pub fn line(&mut self, line: &str) -> Vec<Effect> {
        if let Some(asked) = self.questions.pop_front() {
            return self.answer(asked, line.trim());
        }
        let line = line.trim_end();
        match line.trim() {
            "" => Vec::new(),
            "/quit" | "/exit" => vec![Effect::Quit],
            "/stop" => self.stop(),
            "/new" | "/clear" => {
                self.session = SessionId::new();
                self.is_begun = false;
                self.say("Caiman: a new session begins with your next line.");
                Vec::new()
            }
            "/continue" => vec![submit(Op::GoOn { session: self.session })],
            _ => self.tell(line),
        }
    }

    /// Ctrl-C: stops the turn, or ends.
    pub fn interrupt(&mut self) -> Vec<Effect> {
        if self.is_running { self.stop() } else { vec![Effect::Quit] }
    }

    /// Takes a message of the mind.
    pub fn update(&mut self, message: Message) -> Vec<Effect> {
        match message {
            Message::Event(numbered) => {
                self.hear(&numbered.event);
                Vec::new()
            }
            Message::Answer { reply: Ok(reply), .. } => {
                self.look(*reply);
                Vec::new()
            }
            Message::Answer { reply: Err(error), .. }
            | Message::Submitted { outcome: Err(error), .. } => {
                self.say(&format!("Error: {error}"));
                Vec::new()
            }
            Message::Submitted { outcome: Ok(()), .. }
            | Message::Input(_)
            | Message::EventsEnded
            | Message::Edited(_)
            | Message::Pictured(_)
            | Message::Read { .. }
            | Message::Tick => Vec::new(),
        }
    }

    fn stop(&mut self) -> Vec<Effect> {
        self.say("Caiman: stopping.");
        vec![submit(Op::Stop { session: self.session })]
    }

    fn tell(&mut self, line: &str) -> Vec<Effect> {
        let session = self.session;
        let mut effects = Vec::new();
        if !self.is_begun {
            self.is_begun = true;
            let folder = self.folder.clone();
            effects.push(submit(Op::NewSession { session, folder }));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
        let is_command = line.strip_prefix('/').is_some_and(|rest| {
            let name = rest.split_whitespace().next().unwrap_or_default();
            !name.is_empty() && name.chars().all(is_name)
        });
        let op = if is_command {
            Op::Command { session, line: line.to_owned() }
        } else if let Some(command) = line.strip_prefix('!') {
            Op::Shell { session, line: command.trim().to_owned() }
        } else {
            Op::Say { session, parts: vec![Part::user_text(line)], delivery: Delivery::Steer }
        };
        effects.push(submit(op));
        effects
    }

    /// A line that answers a question.
    fn answer(&mut self, asked: Asked, line: &str) -> Vec<Effect> {
        match asked {
            Asked::Permission { request, rules } => {
                let allow = |scope| Approval::Allow { scope, rule: None };
                let approval = match line {
                    "1" | "y" | "yes" => allow(Scope::Once),
                    "2" => allow(Scope::Session),
                    "3" if !rules.is_empty() => allow(Scope::Project),
                    "4" | "n" | "no" => Approval::Deny { instead: None },
                    words
                        if words.chars().count() > 1
                            && !words.chars().all(|c| c.is_ascii_digit()) =>
                    {
                        Approval::Deny { instead: Some(words.to_owned()) }
                    }
                    _ => {
                        self.say("Answer with 1, 2, 3 or 4, or say what to do instead.");
                        self.questions.push_front(Asked::Permission { request, rules });
                        return Vec::new();
                    }
                };
                vec![submit(Op::Approve { request, approval })]
            }
            Asked::Words { request, questions, mut answers } => {
                let Some(question) = questions.get(answers.len()) else { return Vec::new() };
                answers.push(chosen(question, line));
                if answers.len() == questions.len() {
                    return vec![submit(Op::Answer { request, answers })];
                }
                self.pose(&questions[answers.len()]);
                self.questions.push_front(Asked::Words { request, questions, answers });
                Vec::new()
            }
        }
    }

    fn look(&mut self, reply: Reply) {
        if let Reply::Place(place) = reply {
            self.greet(&place);
        } else if let Reply::Entries { entries } = reply {
            for entry in &entries {
                if let base::EntryKind::User { parts } = &entry.kind {
                    self.read_out("You: ", parts);
                } else if let base::EntryKind::Assistant { parts, .. } = &entry.kind {
                    self.read_out("Caiman: ", parts);
                }
            }
        }
    }

    fn read_out(&mut self, label: &str, parts: &[Part]) {
        let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
        let all = texts.join("\n");
        if !all.is_empty() {
            self.say(&format!("{label}{all}"));
        }
    }

    fn greet(&mut self, place: &Place) {
        let model = place.model.as_ref().map(|choice| choice.model.to_string());
        let model = model.unwrap_or_else(|| "no model; run caiman login first".to_owned());
        self.say(&format!("Caiman in {}, model {model}.", place.folder));
        self.say("Type a line and press Enter. /help lists commands, /quit ends.");
    }

    fn hear(&mut self, event: &Event) {
        if event.session().is_some_and(|session| session != self.session) {
            return self.hear_crew(event);
        }
        match event {
            Event::TurnStarted { .. } => self.is_running = true,
            Event::Text { delta, .. } => self.stream(Speaker::Caiman, delta),
            Event::Reasoning { delta, .. } => self.stream(Speaker::Thought, delta),
            Event::Appended { .. } => self.finish_line(),
            Event::ToolStarted { title, .. } => self.say(&format!("Tool: {title}")),
            Event::ToolDone { outcome, title, body, .. } => {
                self.tool_done(*outcome, title, body.as_ref());
            }
            Event::Denied { tool, reason, .. } => self.say(&format!("Denied: {tool}: {reason}")),
            Event::Retrying { attempt, wait_ms, reason, .. } => {
                self.say(&format!("Trying again ({attempt}) in {} s: {reason}", wait_ms / 1000));
            }
            Event::Notice { text, .. } => self.say(&format!("Notice: {text}")),
            Event::TurnDone { ending, usage, cost, .. } => {
                self.is_running = false;
                let cost = cost.map(|cost| format!(", {cost}")).unwrap_or_default();
                let why = match ending {
                    Ending::Answered => "Done".to_owned(),
                    Ending::Cancelled => "Stopped".to_owned(),
                    Ending::OverBudget(why) | Ending::GoingInCircles(why) | Ending::Halted(why) => {
                        format!("Ended: {why}")
                    }
                };
                self.say(&format!("{why}. {} tokens{cost}.", usage.total()));
            }
            Event::TurnFailed { reason, .. } => {
                self.is_running = false;
                self.say(&format!("Error: {reason}"));
            }
            Event::ApprovalNeeded { .. } | Event::QuestionAsked { .. } | Event::Settled { .. } => {
                self.hear_crew(event);
            }
            Event::SessionChanged { .. }
            | Event::Waiting { .. }
            | Event::ToolProgress { .. }
            | Event::ChildStarted { .. }
            | Event::Spent { .. }
            | Event::Hook { .. }
            | Event::CommandDone { .. } => {}
        }
    }

    /// What matters whoever asks: the session or one of its sub-agents.
    fn hear_crew(&mut self, event: &Event) {
        if let Event::ApprovalNeeded { request, agent, title, reason, rules, body, .. } = event {
            let who =
                agent.as_ref().map(|name| format!("agent {name} wants: ")).unwrap_or_default();
            self.say(&format!("Permission: {who}{title}"));
            self.say(&format!("Why it asks: {reason}"));
            if let Some(body) = body {
                self.show(body);
            }
            let always = match rules.first() {
                Some(rule) => format!(" 3 always in this project ({rule}),"),
                None => String::new(),
            };
            self.say(&format!(
                "Answer: 1 once, 2 this session,{always} 4 no, or say what to do instead."
            ));
            self.questions.push_back(Asked::Permission { request: *request, rules: rules.clone() });
        } else if let Event::QuestionAsked { request, questions, .. } = event {
            if let Some(first) = questions.first() {
                self.pose(first);
            }
            let (questions, answers) = (questions.clone(), Vec::new());
            self.questions.push_back(Asked::Words { request: *request, questions, answers });
        } else if let Event::Settled { request: settled, .. } = event {
            self.questions.retain(|asked| match asked {
                Asked::Permission { request, .. } | Asked::Words { request, .. } => {
                    request != settled
                }
            });
        }
    }

    fn pose(&mut self, question: &Question) {
        self.say(&format!("Question: {}", question.text));
        for (number, choice) in (1..).zip(&question.choices) {
            self.say(&format!("  {number} {choice}"));
        }
        if !question.choices.is_empty() {
            let several = if question.several { "numbers with commas between" } else { "a number" };
            self.say(&format!("Answer with {several}, or in your own words."));
        }
    }

    fn tool_done(&mut self, outcome: Outcome, title: &str, body: Option<&Block>) {
        match outcome {
            Outcome::Done => self.say(&format!("Tool done: {title}")),
            Outcome::Failed => self.say(&format!("Tool failed: {title}")),
        }
        if let Some(body) = body {
            self.show(body);
        }
    }

    fn show(&mut self, block: &Block) {
        let text = match block {
            Block::Text { text } => text.clone(),
            Block::Diff { path, unified } => format!("Change to {path}:\n{unified}"),
            Block::Table { head, rows } => {
                let rows = std::iter::once(head).chain(rows).map(|row| row.join(", "));
                rows.collect::<Vec<_>>().join("\n")
            }
            Block::Image { file } => {
                format!("Picture {}", file.name.as_deref().unwrap_or("without a name"))
            }
            Block::Todos { items } => {
                let items = items.iter().map(|item| format!("{:?}: {}", item.state, item.text));
                items.collect::<Vec<_>>().join("\n")
            }
            Block::Tree { roots } => {
                let labels = roots.iter().map(|node| node.label.clone());
                labels.collect::<Vec<_>>().join("\n")
            }
        };
        let total = text.lines().count();
        for line in text.lines().take(OUTPUT_ROWS) {
            self.say(&format!("  {line}"));
        }
        if total > OUTPUT_ROWS {
            self.say(&format!("  and {} more lines", total - OUTPUT_ROWS));
        }
    }

    /// Adds to what is being said; whole lines are told at once.
    fn stream(&mut self, speaker: Speaker, delta: &str) {
        if self.speaker != speaker {
            self.finish_line();
            self.speaker = speaker;
            self.partial.push_str(match speaker {
                Speaker::Caiman => "Caiman: ",
                Speaker::Thought => "Thinking: ",
                Speaker::Nobody => "",
            });
        }
        self.partial.push_str(delta);
        while let Some(end) = self.partial.find('\n') {
            let line: String = self.partial.drain(..=end).collect();
            self.out.push(text::clean(line.trim_end_matches('\n')).into_owned());
        }
    }

    fn finish_line(&mut self) {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.out.push(text::clean(&line).into_owned());
        }
        self.speaker = Speaker::Nobody;
    }

    fn say(&mut self, words: &str) {
        self.finish_line();
        self.out.extend(words.lines().map(|line| text::clean(line).into_owned()));
    }
}

fn submit(op: Op) -> Effect {
    Effect::Submit { op, purpose: Purpose::Other }
}

/// What a line chooses: numbers stand for choices.
fn chosen(question: &Question, line: &str) -> String {
    let picked = |word: &str| {
        let number: usize = word.trim().parse().ok()?;
        question.choices.get(number.checked_sub(1)?).cloned()
    };
    let words: Vec<&str> = if question.several { line.split(',').collect() } else { vec![line] };
    let all: Vec<String> =
        words.iter().map(|word| picked(word).unwrap_or_else(|| word.trim().to_owned())).collect();
    all.join(", ")
}
