//! What an editor can set in a session: mode, model, how hard it thinks.

use agent_client_protocol_schema::v1::{
    SessionConfigGroupId, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelectGroup, SessionConfigSelectOption, SessionConfigSelectOptions, SessionMode,
    SessionModeId, SessionModeState,
};
use base::protocol::{KeyState, Mode, ModelChoice, Op, SessionState};
use base::{Effort, ModelRef, SessionId};

use crate::rpc::Fault;

/// Every mode with its id, name and meaning.
const MODES: [(Mode, &str, &str, &str); 5] = [
    (Mode::Default, "default", "Ask", "Rules decide; what no rule covers is asked"),
    (Mode::AcceptEdits, "acceptEdits", "Accept edits", "Edits in the workspace are not asked"),
    (Mode::Plan, "plan", "Plan", "Nothing may change"),
    (Mode::DontAsk, "dontAsk", "Don't ask", "What would be asked is denied"),
    (Mode::Bypass, "bypass", "Bypass", "Nothing is asked, and nothing is locked in"),
];
/// Most models an editor is offered.
const MODELS: usize = 300;

const MODE: &str = "mode";
const MODEL: &str = "model";
const EFFORT: &str = "effort";
/// The effort nobody has chosen.
const OWN: &str = "default";

/// A mode's id.
pub(super) fn mode_id(mode: Mode) -> SessionModeId {
    let found = MODES.iter().find(|(known, ..)| *known == mode);
    SessionModeId::new(found.map_or(MODES[0].1, |(_, id, ..)| *id))
}

/// The mode an id means.
pub(super) fn mode(id: &str) -> Result<Mode, Fault> {
    let found = MODES.iter().find(|(_, known, ..)| *known == id);
    let names = || MODES.map(|(_, id, ..)| id).join(", ");
    found
        .map(|(mode, ..)| *mode)
        .ok_or_else(|| invalid(format!("there is no mode {id}: {}", names())))
}

/// The modes there are, and the one that holds.
pub(super) fn modes(now: Mode) -> SessionModeState {
    let all = MODES.iter().map(|(mode, _, name, about)| {
        SessionMode::new(mode_id(*mode), *name).description((*about).to_owned())
    });
    SessionModeState::new(mode_id(now), all.collect())
}

/// What can be set, and how it is set.
pub(super) fn options(state: &SessionState, choices: &[ModelChoice]) -> Vec<SessionConfigOption> {
    let ways = MODES.iter().map(|(_, id, name, about)| {
        SessionConfigSelectOption::new(*id, *name).description((*about).to_owned())
    });
    let now = mode_id(state.mode).to_string();
    let lock = SessionConfigOption::select(MODE, "Mode", now, ways.collect::<Vec<_>>())
        .description("What is done without asking".to_owned())
        .category(SessionConfigOptionCategory::Mode);
    let voice = SessionConfigOption::select(
        MODEL,
        "Model",
        state.model.to_string(),
        offered(state, choices),
    )
    .category(SessionConfigOptionCategory::Model);
    let chosen = choices.iter().find(|choice| choice.model == state.model);
    let thinks = chosen.is_some_and(|choice| choice.reasons) || state.effort.is_some();
    [lock, voice].into_iter().chain(thinks.then(|| effort(state.effort))).collect()
}

fn effort(now: Option<Effort>) -> SessionConfigOption {
    let own = now.is_none().then(|| SessionConfigSelectOption::new(OWN, "The model's own choice"));
    let level = |effort: Effort| SessionConfigSelectOption::new(effort.as_str(), effort.as_str());
    let all: Vec<_> = own.into_iter().chain(Effort::ALL.map(level)).collect();
    SessionConfigOption::select(EFFORT, "Thinking", now.map_or(OWN, Effort::as_str), all)
        .category(SessionConfigOptionCategory::ThoughtLevel)
}

/// Models whose key is there, by provider. The one in use is among them in any case.
fn offered(state: &SessionState, models: &[ModelChoice]) -> SessionConfigSelectOptions {
    let usable = models.iter().filter(|choice| choice.key != KeyState::Missing);
    let mut groups: Vec<(String, Vec<SessionConfigSelectOption>)> = Vec::new();
    let mut has_current = false;
    for choice in usable.take(MODELS) {
        has_current |= choice.model == state.model;
        let option = SessionConfigSelectOption::new(choice.model.to_string(), choice.name.clone());
        match groups.iter_mut().find(|(provider, _)| *provider == choice.provider) {
            Some((_, options)) => options.push(option),
            None => groups.push((choice.provider.clone(), vec![option])),
        }
    }
    if !has_current {
        let ModelRef { provider, model } = state.model.clone();
        let option = SessionConfigSelectOption::new(state.model.to_string(), model);
        groups.insert(0, (provider, vec![option]));
    }
    if let [(_, only)] = groups.as_mut_slice() {
        return SessionConfigSelectOptions::Ungrouped(std::mem::take(only));
    }
    let groups = groups.into_iter().map(|(provider, options)| {
        SessionConfigSelectGroup::new(
            SessionConfigGroupId::new(provider.clone()),
            provider,
            options,
        )
    });
    SessionConfigSelectOptions::Grouped(groups.collect())
}

/// The operation that sets something; none where nothing is to do.
pub(super) fn set(session: SessionId, what: &str, value: &str) -> Result<Option<Op>, Fault> {
    match what {
        MODE => Ok(Some(Op::SetMode { session, mode: mode(value)? })),
        MODEL => {
            let model = value.parse().map_err(|error| invalid(format!("{error}")))?;
            Ok(Some(Op::SetModel { session, model }))
        }
        EFFORT if value == OWN => Ok(None),
        EFFORT => {
            let effort = value.parse().map_err(|error| invalid(format!("{error}")))?;
            Ok(Some(Op::SetEffort { session, effort }))
        }
        other => Err(invalid(format!("there is no option {other}: {MODE}, {MODEL}, {EFFORT}"))),
    }
}

fn invalid(message: String) -> Fault {
    Fault { code: -32602, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_has_an_id_that_leads_back_to_it() {
        for (known, ..) in MODES {
            assert_eq!(mode(&mode_id(known).to_string()), Ok(known));
        }
        assert!(mode("yolo").unwrap_err().message.contains("acceptEdits"));
        assert_eq!(modes(Mode::Plan).available_modes.len(), MODES.len());
    }

    #[test]
    fn what_is_set_is_read_strictly() {
        let session = SessionId::new();
        let model = ModelRef::new("lab", "a/b");
        assert_eq!(set(session, "model", "lab/a/b"), Ok(Some(Op::SetModel { session, model })));
        assert_eq!(set(session, "effort", "default"), Ok(None));
        assert!(set(session, "effort", "hard").is_err());
        assert!(set(session, "model", "lab").is_err());
        assert!(set(session, "colour", "red").is_err());
    }
}
