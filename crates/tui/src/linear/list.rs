//! Lists to choose from by number, and how things stand, in words.

use base::protocol::{
    Delivery, KeyState, Mode, ModelChoice, Place, SessionState, SessionSummary, WaitingPrompt,
};
use base::{EntryId, ModelRef, Part, SessionId};

use super::voice::Voice;
use crate::figures;

/// Most lines of a list.
const LISTED: usize = 20;

/// A list that was read out: a number chooses from it.
#[derive(Debug)]
pub(super) enum List {
    /// Sessions to go on with.
    Sessions(Vec<SessionId>),
    /// Models to use.
    Models(Vec<ModelRef>),
    /// Prompts to take back.
    Waiting(Vec<EntryId>),
}

/// What was chosen.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Session(SessionId),
    Model(ModelRef),
    Waiting(EntryId),
}

impl List {
    /// Reads sessions out, newest first.
    pub(super) fn sessions(sessions: &[SessionSummary], voice: &mut Voice) -> Option<Self> {
        let lines = sessions.iter().take(LISTED).map(|session| {
            let title = session.title.as_deref().unwrap_or("without a title");
            format!("{title}, in {}", session.folder)
        });
        read("Sessions", "goes on with it", lines, voice)?;
        Some(Self::Sessions(sessions.iter().take(LISTED).map(|session| session.id).collect()))
    }

    /// Reads models out: those that can be used at once, or all that a search has found.
    pub(super) fn models(models: &[ModelChoice], voice: &mut Voice) -> Option<Self> {
        let (usable, others): (Vec<_>, Vec<_>) =
            models.iter().partition(|choice| choice.key != KeyState::Missing);
        let listed: Vec<&ModelChoice> = usable.into_iter().chain(others).take(LISTED).collect();
        let lines = listed.iter().map(|choice| {
            let key = if choice.key == KeyState::Missing { ", its key is missing" } else { "" };
            format!("{}{key}", choice.model)
        });
        read("Models", "uses it", lines, voice)?;
        if models.len() > LISTED {
            let more = models.len() - LISTED;
            voice.say(&format!("{more} more: /models and a word lists those that fit."));
        }
        Some(Self::Models(listed.into_iter().map(|choice| choice.model.clone()).collect()))
    }

    /// Reads prompts out that wait.
    pub(super) fn waiting(prompts: &[WaitingPrompt], voice: &mut Voice) -> Option<Self> {
        let lines = prompts.iter().take(LISTED).map(|prompt| {
            let words = prompt.parts.iter().find_map(Part::as_text).unwrap_or_default();
            let how = match prompt.delivery {
                Delivery::Steer => "joins the turn",
                Delivery::Queue => "waits for its end",
            };
            format!("{}, {how}", words.lines().next().unwrap_or_default())
        });
        read("Prompts", "takes it back", lines, voice)?;
        Some(Self::Waiting(prompts.iter().take(LISTED).map(|prompt| prompt.entry).collect()))
    }

    /// What a number chooses, counted from one.
    pub(super) fn pick(&self, number: &str) -> Option<Picked> {
        let index = number.parse::<usize>().ok()?.checked_sub(1)?;
        match self {
            Self::Sessions(ids) => ids.get(index).copied().map(Picked::Session),
            Self::Models(models) => models.get(index).cloned().map(Picked::Model),
            Self::Waiting(entries) => entries.get(index).copied().map(Picked::Waiting),
        }
    }
}

/// Reads lines out with their numbers; none where there are none.
fn read(
    what: &str,
    deed: &str,
    lines: impl Iterator<Item = String>,
    voice: &mut Voice,
) -> Option<()> {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        voice.say(&format!("{what}: none."));
        return None;
    }
    voice.say(&format!("{what}: a number {deed}, any other line closes the list."));
    for (number, line) in (1..).zip(lines) {
        voice.say(&format!("  {number} {line}"));
    }
    Some(())
}

/// How a session stands.
pub(super) fn tell_session(state: &SessionState, voice: &mut Voice) {
    let title = state.summary.title.as_deref().unwrap_or("without a title");
    voice.say(&format!("Status: session {title}, in {}.", state.summary.folder));
    let effort = state.effort.map(|effort| format!(", effort {effort}")).unwrap_or_default();
    voice.say(&format!("Status: model {}{effort}, {}.", state.model, mode_words(state.mode)));
    let window = match (state.used * 100).checked_div(state.window) {
        Some(percent) => format!("{percent} percent of {}", figures::tokens(state.window)),
        None => figures::tokens(state.used),
    };
    let cost = figures::money(state.summary.cost);
    voice.say(&format!("Status: context {window} tokens, cost {cost}."));
    let turn = match (state.running_since.is_some(), state.is_unfinished) {
        (true, _) => "a turn runs",
        (false, true) => "the last turn broke off; /continue goes on with it",
        (false, false) => "no turn runs",
    };
    let waiting = figures::counted(state.waiting.len(), "prompt");
    voice.say(&format!("Status: {turn}, {waiting} waiting."));
}

/// How a folder stands in which nothing was said.
pub(super) fn tell_place(place: &Place, voice: &mut Voice) {
    let model = match &place.model {
        Some(choice) => format!("model {}", choice.model),
        None => {
            "no model of yours: the demo answers; caiman login, in a shell, stores a key".to_owned()
        }
    };
    voice.say(&format!("Caiman in {}, {model}.", place.folder));
}

pub(super) fn mode_words(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "asks where no rule decides",
        Mode::AcceptEdits => "accepts edits",
        Mode::Plan => "plans: changes nothing",
        Mode::DontAsk => "denies what it would ask",
        Mode::Bypass => "asks nothing",
    }
}
