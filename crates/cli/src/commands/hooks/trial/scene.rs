//! The event that is tried: what a session would tell handlers of it, with what nobody has said made up.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::hooks::telling::{self, Setting};
use agent::hooks::{Handler, Handlers, Judged, Occasion, Subject, transcript};
use base::transcript::{Call, CallInput, CallResult, Outcome, Piece};
use base::{CallId, EntryId, SessionId};
use guard::policy::CageState;
use guard::rule::names;
use guard::{Action, Fence, Policy, Rules, Taint};
use serde_json::{Map, Value, json};
use settings::Loaded;
use tools::claude;

use super::{Trial, object};
use crate::app::App;
use crate::failure::Failure;

/// Where the event happens.
pub(super) struct Scene<'a> {
    app: &'a App,
    loaded: &'a Loaded,
    occasion: Occasion,
    /// The session that tells of it.
    pub(super) session: SessionId,
    fence: Fence,
    transcript: PathBuf,
}

impl<'a> Scene<'a> {
    /// A session in the working folder, with a transcript in which nothing is said yet.
    pub(super) fn new(
        app: &'a App,
        loaded: &'a Loaded,
        occasion: Occasion,
    ) -> Result<Self, Failure> {
        let fence = Fence::new(&app.cwd, &[], app.paths.home()).map_err(|error| {
            Failure::config(format!("cannot look at the working folder: {error}"))
        })?;
        let session = SessionId::new();
        let transcript = transcript(&app.paths, session);
        let made = transcript.parent().map_or(Ok(()), std::fs::create_dir_all);
        // A handler that needs it says so.
        made.and_then(|()| std::fs::write(&transcript, "")).ok();
        Ok(Self { app, loaded, occasion, session, fence, transcript })
    }

    /// The event as handlers would be told of it.
    pub(super) fn event(&self, trial: &Trial) -> Result<Map<String, Value>, Failure> {
        let setting = Setting {
            session: self.session,
            prompt: Some(EntryId::new()),
            transcript: self.transcript.clone(),
            folder: &self.app.cwd,
            mode: self.loaded.config.permissions.default_mode,
            effort: None,
        };
        let mut event = setting.fields(self.occasion);
        if trial.stdin {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::user(format!("cannot read standard input: {error}")))?;
            event.extend(object(&text, "standard input")?);
            return Ok(event);
        }
        let about = |usual: &'static str| trial.about.as_deref().unwrap_or(usual).to_owned();
        event.extend(match self.occasion {
            Occasion::SessionStart => {
                telling::begin(&about("startup"), "provider/model", None, None)
            }
            Occasion::SessionEnd => telling::end(&about("other")),
            Occasion::UserPromptSubmit => {
                telling::prompt(trial.prompt.as_deref().unwrap_or_default())
            }
            Occasion::PreToolUse
            | Occasion::PermissionRequest
            | Occasion::PostToolUse
            | Occasion::PostToolUseFailure => self.call(trial)?,
            Occasion::Stop => telling::stop("", 0),
            Occasion::SubagentStart => self.agent(&about("explorer")),
            Occasion::SubagentStop => {
                let mut told = telling::stop("", 0);
                told.extend(self.agent(&about("explorer")));
                told
            }
            Occasion::Notification => {
                telling::notification(&about("permission_prompt"), "Caiman asks for permission")
            }
            Occasion::PreCompact => telling::compact(&about("manual"), None),
        });
        Ok(event)
    }

    /// The handlers the event is for.
    pub(super) fn meant(
        &self,
        handlers: &Handlers,
        event: &Map<String, Value>,
    ) -> Vec<Arc<Handler>> {
        let word = |name: &str| event.get(name).and_then(Value::as_str);
        let tool = word("tool_name").map(our_name);
        let input = event.get("tool_input").and_then(Value::as_object);
        let actions = tool.as_deref().map(|tool| self.actions(tool, input)).unwrap_or_default();
        let subject = match self.occasion {
            Occasion::PreToolUse
            | Occasion::PermissionRequest
            | Occasion::PostToolUse
            | Occasion::PostToolUseFailure => tool.as_deref().map(Subject::Tool),
            Occasion::SessionStart => word("source").map(Subject::Word),
            Occasion::SessionEnd => word("reason").map(Subject::Word),
            Occasion::SubagentStart | Occasion::SubagentStop => {
                word("agent_type").map(Subject::Word)
            }
            Occasion::Notification => word("notification_type").map(Subject::Word),
            Occasion::PreCompact => word("trigger").map(Subject::Word),
            Occasion::UserPromptSubmit | Occasion::Stop => None,
        };
        let fence = &self.fence;
        let call = tool.as_deref().map(|tool| Judged { tool, actions: &actions, fence });
        handlers.meant(self.occasion, subject.unwrap_or(Subject::Nothing), call.as_ref())
    }

    /// What is told of a call.
    fn call(&self, trial: &Trial) -> Result<Map<String, Value>, Failure> {
        let name = our_name(trial.tool.as_deref().unwrap_or("Bash"));
        let input = trial.input.as_deref().map(|text| object(text, "--input")).transpose()?;
        let given = input.unwrap_or_default();
        let input = CallInput::sound(claude::ours(&name, given.clone()));
        let call = Call { id: CallId::generate(), name: name.clone(), input };
        let outcome = match self.occasion {
            Occasion::PostToolUse => Outcome::Done,
            Occasion::PostToolUseFailure => Outcome::Failed,
            Occasion::PermissionRequest => {
                let actions = self.actions(&name, Some(&given));
                let grants = self.policy().decide(&name, &actions, &Taint::Clean).grants;
                return Ok(telling::permission(&call, &self.fence, &grants));
            }
            Occasion::PreToolUse
            | Occasion::SessionStart
            | Occasion::SessionEnd
            | Occasion::UserPromptSubmit
            | Occasion::Stop
            | Occasion::SubagentStart
            | Occasion::SubagentStop
            | Occasion::Notification
            | Occasion::PreCompact => return Ok(telling::call(&call, &self.fence)),
        };
        let pieces = vec![Piece::Text { text: String::new() }];
        let result = CallResult { call: call.id.clone(), name, outcome, pieces, shown: None };
        Ok(telling::result(&call, &self.fence, (&result, None), Duration::ZERO, false))
    }

    /// What is told of a sub-agent.
    fn agent(&self, kind: &str) -> Map<String, Value> {
        let id = SessionId::new();
        Map::from_iter([
            ("agent_id".to_owned(), json!(id)),
            ("agent_type".to_owned(), json!(kind)),
            ("agent_transcript_path".to_owned(), json!(transcript(&self.app.paths, id))),
        ])
    }

    /// What decides where no rule does.
    fn policy(&self) -> Policy {
        Policy {
            rules: Rules::default(),
            mode: self.loaded.config.permissions.default_mode,
            fence: self.fence.clone(),
            cage: CageState::Missing,
            bounds: Vec::new(),
        }
    }

    /// What a call would do, for handlers with a condition; what nobody can tell is judged by the tool's name.
    fn actions(&self, tool: &str, input: Option<&Map<String, Value>>) -> Vec<Action> {
        let field = |name: &str| input?.get(name)?.as_str();
        let spot = |path: Option<&str>| self.fence.locate(path?).ok();
        let action = match tool {
            "bash" => field("command").and_then(|command| {
                let (command, folder) = (command.to_owned(), self.fence.locate(".").ok()?);
                Some(Action::Run { command, folder, uncaged: false })
            }),
            "view" => spot(field("file_path")).map(Action::Read),
            "glob" | "grep" | "ls" => spot(field("path").or(Some("."))).map(Action::Read),
            "edit" | "multiedit" | "write" => spot(field("file_path")).map(Action::Edit),
            "fetch" | "web_fetch" | "agentic_fetch" | "download" => {
                field("url").and_then(|url| url.parse().ok()).map(Action::Fetch)
            }
            "agent" => field("subagent_type").map(|name| Action::Named(name.to_owned())),
            "skill" => field("skill").map(|name| Action::Named(name.to_owned())),
            _ => None,
        };
        vec![action.unwrap_or(Action::Inner)]
    }
}

impl Drop for Scene<'_> {
    fn drop(&mut self) {
        // Whoever has removed it already has done our work.
        std::fs::remove_file(&self.transcript).ok();
    }
}

fn our_name(tool: &str) -> String {
    names::ours(tool).into_iter().next().unwrap_or_else(|| tool.to_owned())
}
