//! Opening a stored session: its hands, what it may do and spend, and what it is in its family.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base::{Env, Event, Money, SessionId, Timestamp};
use futures::future::BoxFuture;
use guard::policy::CageState;
use guard::process::child_env;
use guard::{Fence, Policy, Rule, Taint};
use store::{By, StoreError, UsageQuery};
use tools::jobs::Jobs;
use tools::web::Web;
use tools::{Desk, DeskError, Question, Workspace};

use super::{Session, SessionError, stain, taint_of};
use crate::approvals::Waiting;
use crate::budget::Tally;
use crate::coordinator::Hub;
use crate::crew::{Crew, Kin, Spawning};
use crate::events::Events;
use crate::hooks::{Hooks, Seat};
use crate::live::Live;
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
        let (id, folder) = (row.summary.id, row.summary.folder.clone());
        let fence = match &kin.lock {
            Some(lock) => lock.fence.clone(),
            None => Fence::new(folder.as_ref(), &options.more_folders, mind.paths.home())
                .map_err(|source| SessionError::Folder { folder, source })?,
        };
        let branch = mind.store.branch(id).await?;
        // A task was put into words by one who may have read them elsewhere.
        let from_above = kin.above.as_ref().map_or(Taint::Clean, |above| above.live.taint());
        let taint = branch.iter().map(taint_of).fold(from_above, stain);
        let mut policy = policy(&options, &fence);
        if kin.above.is_none() {
            for grant in mind.store.grants(Some(id), row.project.clone()).await? {
                // A rule this version no longer understands allows nothing.
                policy.rules.allow.extend(Rule::parse(&grant.rule));
            }
        }
        let above = kin.above.as_ref().filter(|_| !kin.is_confined());
        let live = Live {
            above: above.map(|above| above.live.clone()),
            target: Mutex::new(options.target.clone()),
            taint: Mutex::new(taint.clone()),
            policy: Mutex::new(Arc::new(policy)),
            cages: Mutex::default(),
            temp: temporary(&mind.env, id),
            credentials: mind.paths.credentials(),
            lent: Mutex::default(),
            wishes: Mutex::default(),
            reasoning: Mutex::new(options.reasoning),
            shells: Mutex::default(),
            queue: Queue::new(id, events.clone()),
        };
        let desk = desk(hub, id, &kin);
        let web = web(hub, id, &kin);
        // Whoever is locked in finds its long output where it is.
        let spill = kin.lock.as_ref().map_or_else(
            || mind.paths.data().join("output").join(id.to_string()),
            |lock| lock.room.join("output"),
        );
        let live = Arc::new(live);
        let (tally, day_cost) = (spent_before(&mind, id).await?, spent_today(&mind).await?);
        let purse_above = kin.above.as_ref().map(|above| above.purse.clone());
        let purse = Arc::new(Purse::new(options.budget, tally, day_cost, purse_above));
        let crew = Arc::new(Crew::new(hub, &row, &kin, &options, (&live, &purse)));
        let hooks = Hooks::for_session(Seat {
            mind: mind.clone(),
            events: events.clone(),
            live: live.clone(),
            session: id,
            fence: fence.clone(),
            spill: spill.clone(),
            agent: kin.seated(id),
        });
        if let Some(agent) = &kin.agent {
            hooks.adopt_agent(agent);
        }
        let book = Arc::new(Book::new(mind.clone(), live.clone(), hooks.clone()));
        let workspace = Workspace {
            session: id,
            fence,
            env: environment(&mind),
            store: mind.store.clone(),
            clock: mind.clock.clone(),
            jobs: Jobs::default(),
            limits: mind.config.tools.clone(),
            spill,
            cache: mind.paths.cache().to_owned(),
            sees_images: options.target.model.supports_attachments,
            web,
            desk,
            spawner: Arc::new(Spawning(crew.clone())),
            skills: book.clone(),
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
            instructions: None,
            mind,
        })
    }
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

/// Whom its tools can ask something.
fn desk(hub: &Hub, session: SessionId, kin: &Kin) -> Arc<dyn Desk> {
    match hub.mind.presence {
        Presence::Alone => Arc::new(Nobody),
        Presence::Attended => {
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
            let (request, answers) = self.waiting.question(session);
            let agent = self.agent.clone();
            self.events.publish(Event::QuestionAsked { session, request, agent, questions });
            let answers = answers.await;
            self.events.publish(Event::Settled { session, request });
            answers.map_err(|_| DeskError::Declined)
        })
    }
}
