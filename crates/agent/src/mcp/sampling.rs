//! Answers of a model for servers: somebody says yes to each, the small model gives them, and they are paid
//! for like any other.

use std::sync::Arc;

use base::model::StopReason;
use base::protocol::{Approval, Mode};
use base::transcript::{Role, Turn};
use base::{Block, Event, Origin, Part, PartBody, SessionId};
use futures::future::BoxFuture;
use links::mcp::{Message, Sampled, Sampling as Asked};
use llm::request::Cache;
use llm::{Request, Target};
use store::CallKind;
use tools::mcp::{Asker, Reader, Sampler};

use crate::approvals::Waiting;
use crate::events::Events;
use crate::live::Live;
use crate::mind::{Mind, Presence};
use crate::purse::Purse;
use crate::side::Aside;

/// Most tokens of one answer, whatever the server wants.
const MOST_TOKENS: u64 = 4_096;
/// Letters of what is asked that are shown to the one who decides.
const SHOWN: usize = 2_000;
/// Bytes of what is asked, all in all.
const LONGEST: usize = 200_000;

/// What a session's answers for servers are made with.
pub(crate) struct Sampling {
    pub(crate) mind: Arc<Mind>,
    pub(crate) events: Events,
    pub(crate) waiting: Waiting,
    pub(crate) session: SessionId,
    pub(crate) live: Arc<Live>,
    pub(crate) purse: Arc<Purse>,
    /// The small model; none for the session's own.
    pub(crate) small: Option<Target>,
    /// The sub-agent whose session it is; none for the main one.
    pub(crate) agent: Option<String>,
}

impl Sampler for Sampling {
    fn sample<'a>(
        &'a self,
        server: &'a str,
        asked: Asked,
        by: &'a Asker,
    ) -> BoxFuture<'a, Result<Sampled, String>> {
        Box::pin(async move {
            let target = self.small.clone().unwrap_or_else(|| self.live.target());
            if let Some(reason) = self.purse.exceeded() {
                return Err(reason);
            }
            let request = request(asked, &target)?;
            self.permitted(server, &target, &request, by).await?;
            let text = format!("The MCP server {server} asks {} something.", target.model_ref());
            self.events.publish(Event::Notice { session: Some(self.session), text });
            let aside = Aside {
                mind: &self.mind,
                events: &self.events,
                session: self.session,
                purse: &self.purse,
                target: &target,
                kind: CallKind::Side,
            };
            self.purse.count_step();
            let said =
                aside.answer(&request, &by.cancel).await.map_err(|error| error.to_string())?;
            said.ended.map_err(|error| error.message)?;
            Ok(Sampled {
                text: said.text,
                model: target.model_ref().to_string(),
                cut_off: said.stop == Some(StopReason::Length),
            })
        })
    }
}

impl Sampling {
    /// Has somebody say yes; the text of a no goes to the server.
    async fn permitted(
        &self,
        server: &str,
        target: &Target,
        request: &Request,
        by: &Asker,
    ) -> Result<(), String> {
        if self.mind.presence == Presence::Alone {
            return Err("nobody is here to say yes".to_owned());
        }
        match self.live.policy().mode {
            Mode::Bypass => return Ok(()),
            Mode::DontAsk => return Err("nobody is asked in this mode".to_owned()),
            Mode::Default | Mode::AcceptEdits | Mode::Plan => {}
        }
        let (session, text) = (self.session, shown(request));
        let pending =
            self.waiting.approval(&self.events, session, |request| Event::ApprovalNeeded {
                session,
                request,
                agent: self.agent.clone(),
                call: by.call.clone(),
                title: format!("{server} wants an answer of {}", target.model_ref()),
                reason: "the server reads the answer, and you pay for it".to_owned(),
                rules: Vec::new(),
                risky: Vec::new(),
                body: Some(Block::Text { text }),
            });
        match by.cancel.run_until_cancelled(pending.answer()).await.flatten() {
            Some(Approval::Allow { .. }) => Ok(()),
            Some(Approval::Deny { .. }) => Err("the user said no".to_owned()),
            None => Err("cancelled".to_owned()),
        }
    }
}

fn request(asked: Asked, target: &Target) -> Result<Request, String> {
    let sees = target.model.supports_attachments;
    let turns: Vec<Turn> = asked.messages.into_iter().map(|it| turn(it, sees)).collect();
    if turns.is_empty() {
        return Err("there is no message to answer".to_owned());
    }
    let texts = turns.iter().flat_map(|turn| &turn.parts).filter_map(Part::as_text);
    if texts.map(str::len).sum::<usize>() > LONGEST {
        return Err(format!("the messages are longer than {LONGEST} bytes"));
    }
    Ok(Request {
        system: asked.system.into_iter().collect(),
        turns,
        max_tokens: Some(asked.max_tokens.clamp(1, MOST_TOKENS)),
        cache: Cache::Never,
        ..Request::default()
    })
}

fn turn(message: Message, sees_images: bool) -> Turn {
    let Message { by_model, content } = message;
    let (role, origin) =
        if by_model { (Role::Assistant, Origin::Assistant) } else { (Role::User, Origin::User) };
    let reader = Reader { sees: sees_images && !by_model, ..Reader::default() };
    let (text, mut files) = reader.words_of(vec![content]);
    let body = files.pop().map_or(PartBody::Text { text }, PartBody::File);
    Turn { role, parts: vec![Part::new(body, origin)] }
}

/// What is asked, for the one who decides.
fn shown(request: &Request) -> String {
    let system = request.system.iter().map(|text| format!("(its part: {text})"));
    let texts = request.turns.iter().flat_map(|turn| &turn.parts).filter_map(Part::as_text);
    let all: Vec<String> = system.chain(texts.map(str::to_owned)).collect();
    let all = all.join("\n\n");
    match all.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &all[..end]),
        None => all,
    }
}
