//! Opening a stored session: its hands, what it may do and spend, and what it is in its family.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{Entry, Env, Event, Money, SessionId, Timestamp};
use futures::future::BoxFuture;
use guard::cage::Swept;
use guard::policy::CageState;
use guard::process::child_env;
use guard::{Fence, Policy, Rule, Taint};
use links::lsp::Fit;
use llm::Target;
use settings::provider::Wire;
use store::{By, StoreError, UsageQuery};
use tools::jobs::Jobs;
use tools::mcp::Lending;
use tools::web::Web;
use tools::{Code, Desk, DeskError, Question, Workspace};

use super::{Session, SessionError, stain, taint_of};
use crate::approvals::Waiting;
use crate::budget::Tally;
use crate::coordinator::Hub;
use crate::crew::{Crew, Kin, Spawning};
use crate::events::Events;
use crate::hooks::{Begin, Hooks, Seat};
use crate::live::{Live, lock};
use crate::mcp::{self, Sampling};
use crate::mind::{Mind, Options, Presence};
use crate::purse::Purse;
use crate::queue::Queue;
use crate::skills::Book;

impl Session {
    /// Opens a stored session.
    pub(crate) async fn open(
        hub: &Hub,
        row: store::Session,
        kin: Kin,
        options: Options,
    ) -> Result<Self, SessionError> {
        let (mind, events, waiting) = (hub.mind.clone(), hub.events.clone(), hub.waiting.clone());
        let id = row.summary.id;
        let fence = fence(&mind, row.summary.folder.clone(), &options, &kin)?;
        let branch = mind.store.branch(id).await?;
        // A task was put into words by one who may have read them elsewhere.
        let from_above = kin.above.as_ref().map_or(Taint::Clean, |above| above.live.taint());
        let taint = branch.iter().map(taint_of).fold(from_above, stain);
        let mut policy = policy(&options, &fence);
        if kin.above.is_none() {
            policy.rules.allow.extend(granted(&mind, &row).await?);
        }
        let above = kin.above.as_ref().filter(|_| !kin.is_confined());
        let live = Live {
            above: above.map(|above| above.live.clone()),
            target: Mutex::new(options.target.clone()),
            taint: Mutex::new(taint.clone()),
            policy: Mutex::new(Arc::new(policy)),
            cages: Mutex::default(),
            temp: temporary(&mind.env, id),
            paths: mind.paths.clone(),
            lent: Mutex::default(),
            wishes: Mutex::default(),
            reasoning: Mutex::new(options.reasoning),
            exported: above.map(|above| above.live.exported.clone()).unwrap_or_default(),
            shells: Mutex::default(),
            queue: Queue::new(id, events.clone()),
        };
        let desk = desk(hub, id, &kin);
        let (web, spill) = (web(hub, id, &kin), spill(&mind, id, &kin));
        let live = Arc::new(live);
        let (tally, day_cost) = (spent_before(&mind, id).await?, spent_today(&mind).await?);
        let purse_above = kin.above.as_ref().map(|above| above.purse.clone());
        let purse = Arc::new(Purse::new(options.budget, tally, day_cost, purse_above));
        let crew = Arc::new(Crew::new(hub, &row, &kin, &options, (&live, &purse)));
        let seat = Seat {
            mind: mind.clone(),
            events: events.clone(),
            live: live.clone(),
            session: id,
            fence: fence.clone(),
            spill: spill.clone(),
            exported: live.exported.clone(),
            agent: kin.seated(id),
        };
        let hooks = hooks(seat, &kin);
        // Sub-agents find what their parent has found.
        let say = |text| {
            if kin.above.is_none() {
                events.publish(Event::Notice { session: Some(id), text });
            }
        };
        recover(&mind, &fence).iter().map(recovered).for_each(say);
        let code = code(&mind, &fence, say).await;
        let place = (id, fence.folder(), branch.as_slice());
        let mcp = lending(hub, place, (&options, &kin), (&live, &purse));
        let book = Arc::new(Book::new(mind.clone(), live.clone(), hooks.clone()));
        let workspace = Workspace {
            session: id,
            fence,
            env: environment(&mind),
            exported: live.exported.clone(),
            store: mind.store.clone(),
            clock: mind.clock.clone(),
            jobs: Jobs::default(),
            limits: mind.config.tools.clone(),
            spill,
            cache: mind.paths.cache().to_owned(),
            sees_images: options.target.model.supports_attachments,
            hears_sound: hears(&options.target),
            web,
            desk,
            spawner: Arc::new(Spawning(crew.clone())),
            skills: book.clone(),
            code,
            editor: mind.editor.clone(),
            mcp,
            redactor: mind.redactor.clone(),
        };
        book.open(&branch, &taint, workspace.fence.folder());
        book.set_effort(options.reasoning);
        Ok(Self {
            id,
            events,
            waiting,
            options,
            live,
            book,
            hooks,
            workspace: Arc::new(workspace),
            project: row.project,
            branch,
            taint,
            purse,
            crew,
            kin,
            came: lock(&hub.forks).remove(&id).then_some(Begin::Fork),
            first_words: None,
            instructions: None,
            mind,
        })
    }
}

/// Protected places of these folders that commands made before Caiman was killed.
fn recover(mind: &Mind, fence: &Fence) -> Vec<Swept> {
    guard::cage::recover(&mind.paths.data().join("sandbox"), fence.roots())
}

/// What the user is told of a protected place that a command made before Caiman was killed.
fn recovered(swept: &Swept) -> String {
    let place = swept.place.display();
    match &swept.aside {
        Some(aside) => format!(
            "{place} was created by a sandboxed command when Caiman was last killed. It is protected, so it was \
             renamed to {}. Rename it back if it is yours.",
            aside.display()
        ),
        None => format!(
            "{place} was created by a sandboxed command when Caiman was last killed. It is protected but could not \
             be renamed: check it before you use it."
        ),
    }
}

/// What watches a session: the hooks of the settings, of its agent, and of the skill it works on.
fn hooks(seat: Seat, kin: &Kin) -> Arc<Hooks> {
    let hooks = Hooks::for_session(seat);
    if let Some(agent) = &kin.agent {
        hooks.adopt_agent(agent);
    }
    if let Some(skill) = &kin.skill {
        hooks.adopt_skill(skill);
    }
    hooks
}

/// The folders a session works in; those of its lock where it is locked in.
fn fence(mind: &Mind, folder: String, options: &Options, kin: &Kin) -> Result<Fence, SessionError> {
    if let Some(lock) = &kin.lock {
        return Ok(lock.fence.clone());
    }
    Fence::new(folder.as_ref(), &options.more_folders, mind.paths.home())
        .map_err(|source| SessionError::Folder { folder, source })
}

/// Where its long output goes. Whoever is locked in finds it where it is.
fn spill(mind: &Mind, session: SessionId, kin: &Kin) -> PathBuf {
    kin.lock.as_ref().map_or_else(
        || mind.paths.data().join("output").join(session.to_string()),
        |lock| lock.room.join("output"),
    )
}

/// What the user has allowed for a session and its project.
async fn granted(mind: &Mind, row: &store::Session) -> Result<Vec<Rule>, SessionError> {
    let grants = mind.store.grants(Some(row.summary.id), row.project.clone()).await?;
    // A rule this version no longer understands allows nothing.
    Ok(grants.iter().filter_map(|grant| Rule::parse(&grant.rule).ok()).collect())
}

/// What decides about calls, before the user's stored answers are added.
fn policy(options: &Options, fence: &Fence) -> Policy {
    Policy {
        rules: options.rules.clone(),
        mode: options.mode,
        fence: fence.clone(),
        cage: CageState::Missing,
        bounds: options.bounds.clone(),
    }
}

/// What language servers know of its folder: looked for once, so that its tools stay what they are. Whoever
/// is locked in works on no code.
async fn code(mind: &Mind, fence: &Fence, say: impl Fn(String)) -> Code {
    if fence.is_confined() {
        return Code::default();
    }
    let (lsp, folder) = (mind.lsp.clone(), fence.folder().to_owned());
    let fit = tokio::task::spawn_blocking(move || lsp.fit(&folder)).await.unwrap_or(Fit::None);
    if let Fit::Untrusted(server) = &fit {
        say(format!(
            "{server} would run code of this project, so it waits until you trust it: caiman trust"
        ));
    }
    Code { lsp: mind.lsp.clone(), fits: fit == Fit::Yes }
}

/// What MCP servers lend it. Those that must still tell are woken, and nobody waits for them; the others wake when
/// they are needed.
fn lending(
    hub: &Hub,
    (session, folder, branch): (SessionId, &Path, &[Entry]),
    (options, kin): (&Options, &Kin),
    (live, purse): (&Arc<Live>, &Arc<Purse>),
) -> Lending {
    let sampling = Sampling {
        mind: hub.mind.clone(),
        events: hub.events.clone(),
        waiting: hub.waiting.clone(),
        session,
        live: live.clone(),
        purse: purse.clone(),
        small: options.small.clone(),
        agent: kin.above.as_ref().and(kin.agent_name()),
    };
    let lending = mcp::lending(&hub.mind, (options, kin), folder, sampling);
    mcp::recall(&lending, branch);
    // Who works for another session need not tell what that one has told.
    let reports = kin.above.is_none().then_some(session);
    mcp::wake(hub, &hub.mind.mcp.stale(lending.servers()), reports);
    lending
}

/// Whom its tools can ask something.
fn desk(hub: &Hub, session: SessionId, kin: &Kin) -> Arc<dyn Desk> {
    match hub.mind.presence {
        Presence::Alone => Arc::new(Nobody),
        Presence::Attended | Presence::Reachable => {
            let agent = kin.above.as_ref().and(kin.agent_name());
            let (events, waiting) = (hub.events.clone(), hub.waiting.clone());
            Arc::new(Faces { session, agent, events, waiting })
        }
    }
}

/// How its tools reach the web.
fn web(hub: &Hub, session: SessionId, kin: &Kin) -> Web {
    if let Some(lock) = &kin.lock {
        return lock.web.clone();
    }
    let config = &hub.mind.config;
    let (web, warnings) = Web::from_settings(&config.tools, &config.network, &hub.mind.env);
    for text in warnings {
        hub.events.publish(Event::Notice { session: Some(session), text });
    }
    web
}

/// Whether a model can listen. Chat has words for sound, too, but most models behind it refuse a request with
/// any.
fn hears(target: &Target) -> bool {
    target.model.supports_attachments && target.wire == Wire::Gemini
}

/// The environment of its processes. What the settings name for commands is meant for them, secret or not.
fn environment(mind: &Mind) -> Env {
    let value = |name: &String| Some((name.clone(), mind.env.get(name)?.to_owned()));
    child_env(&mind.env).with(mind.config.env.keys().filter_map(value))
}

/// A folder of the session's own where temporary files go.
fn temporary(env: &Env, session: SessionId) -> PathBuf {
    env.temporary().join(format!("caiman-{session}"))
}

/// What the ledger says of a session.
async fn spent_before(mind: &Mind, session: SessionId) -> Result<Tally, StoreError> {
    let query = UsageQuery { by: By::All, since: None, session: Some(session) };
    let sums = mind.store.usage(query).await?;
    let sum = sums.first().map(|(_, sum)| *sum).unwrap_or_default();
    Ok(Tally {
        steps: sum.calls,
        tokens: sum.usage.total(),
        cost: sum.cost,
        time: Duration::ZERO,
        unpriced: sum.unpriced,
    })
}

/// What all sessions cost today; nothing is looked up where no limit asks for it.
async fn spent_today(mind: &Mind) -> Result<Money, StoreError> {
    if mind.config.budgets.day_usd.is_none() {
        return Ok(Money::default());
    }
    let now = jiff::Timestamp::from_millisecond(mind.clock.now().as_millis()).unwrap_or_default();
    let midnight = now.to_zoned(jiff::tz::TimeZone::system()).start_of_day();
    let since = midnight.map_or(0, |midnight| midnight.timestamp().as_millisecond());
    let since = Some(Timestamp::from_millis(since));
    let query = UsageQuery { by: By::All, since, session: None };
    let sums = mind.store.usage(query).await?;
    Ok(sums.first().map(|(_, sum)| sum.cost).unwrap_or_default())
}

/// The desk where nobody sits.
struct Nobody;

impl Desk for Nobody {
    fn ask(&self, _: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        Box::pin(async { Err(DeskError::Nobody) })
    }
}

/// The desk at which the faces' users sit.
struct Faces {
    session: SessionId,
    /// The sub-agent that asks; none for the main one.
    agent: Option<String>,
    events: Events,
    waiting: Waiting,
}

impl Desk for Faces {
    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'_, Result<Vec<String>, DeskError>> {
        Box::pin(async move {
            let session = self.session;
            let agent = self.agent.clone();
            let asked = |request| Event::QuestionAsked { session, request, agent, questions };
            let pending = self.waiting.question(&self.events, session, asked);
            pending.answer().await.ok_or(DeskError::Declined)
        })
    }
}
