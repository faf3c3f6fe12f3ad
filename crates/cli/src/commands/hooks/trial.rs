//! `caiman hooks test`: an event as if it happened.

mod scene;

use agent::hooks::{Ended, Handlers, Occasion, Place, Ruling, Said, Timed, Wait};
use futures::future::join_all;
use guard::{Decision, Runner};
use serde_json::{Map, Value, json};
use settings::{Expander, Loaded};

use crate::app::App;
use crate::failure::Failure;
use crate::{render, wiring};
use scene::Scene;

/// Most lines shown of what a handler printed.
const SHOWN_LINES: usize = 20;

/// The event to try.
#[derive(Debug, clap::Args)]
pub(super) struct Trial {
    /// The event, such as `PreToolUse`.
    event: String,
    /// The tool it is about, for example Bash.
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// The call's input, as JSON with Claude Code's fields: {"command": "ls"}.
    #[arg(long, value_name = "JSON", requires = "tool")]
    input: Option<String>,
    /// What else it is about: a source, a trigger, an agent's name.
    #[arg(long, value_name = "WORD", conflicts_with = "tool")]
    about: Option<String>,
    /// The user's prompt, for `UserPromptSubmit`.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// Read the whole event from standard input, as JSON.
    #[arg(long, conflicts_with_all = ["tool", "input", "about", "prompt"])]
    stdin: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the handlers that are meant and prints what they say.
pub(super) fn run(
    app: &App,
    loaded: &Loaded,
    handlers: &Handlers,
    trial: &Trial,
) -> Result<(), Failure> {
    let occasion = Occasion::of_name(&trial.event).ok_or_else(|| {
        let names: Vec<&str> = Occasion::ALL.into_iter().map(Occasion::name).collect();
        Failure::user(format!("there is no event {}", trial.event))
            .hint(format!("events are: {}", names.join(", ")))
    })?;
    let scene = Scene::new(app, loaded, occasion)?;
    let input = scene.event(trial)?;
    let meant = scene.meant(handlers, &input);
    let expander = Expander { env: &app.env, runner: Some(&Runner) };
    let (env, _) = loaded.config.environment(expander);
    let place = Place::new(&app.cwd, &env, scene.session, &loaded.config.network, &app.paths);
    let text = Value::Object(input.clone()).to_string();
    let waits: Vec<Wait> = meant.iter().map(|_| Wait::default()).collect();
    let runs = meant.iter().zip(&waits);
    let runs = runs.map(|(handler, wait)| handler.timed(&text, &place, wait));
    let done = wiring::runtime()?.block_on(async { join_all(runs).await });
    let mut ruling = Ruling::default();
    let mut told = Vec::new();
    for ((handler, wait), timed) in meant.iter().zip(&waits).zip(done) {
        let said = Said::read(occasion, &timed.ended);
        let is_awaited = !handler.hook.is_background() && !wait.released.is_cancelled();
        told.push(Told { name: handler.label(), timed, said: said.clone(), is_awaited });
        if is_awaited {
            ruling.take(handler, said);
        }
    }
    let given = input.get("tool_input").and_then(Value::as_object);
    let changed = given.and_then(|given| ruling.changed(given));
    if trial.json {
        return render::json(&report(occasion, &told, &ruling, changed.as_ref()));
    }
    let mut lines: Vec<String> = told.iter().flat_map(Told::lines).collect();
    if told.is_empty() {
        lines.push("no hook is meant; nothing would be different".to_owned());
    } else {
        lines.extend(outcome(&ruling, changed.as_ref()));
    }
    render::out(&(lines.join("\n") + "\n"))
}

fn report(
    occasion: Occasion,
    told: &[Told],
    ruling: &Ruling,
    changed: Option<&Map<String, Value>>,
) -> Value {
    json!({
        "event": occasion.name(),
        "handlers": told.iter().map(Told::json).collect::<Vec<_>>(),
        "decision": ruling.decision.map(word),
        "reason": ruling.reason,
        "updated_input": changed,
        "context": ruling.context,
        "messages": ruling.messages,
        "halt": ruling.halt,
    })
}

/// What a handler did.
struct Told {
    name: String,
    timed: Timed,
    said: Said,
    /// Whether a session would wait for it; what the others say comes with the next prompt.
    is_awaited: bool,
}

impl Told {
    fn lines(&self) -> Vec<String> {
        let took = self.timed.took.as_millis();
        let (how, stdout, stderr) = self.parts();
        let mut lines = vec![format!("{}: {how}, {took} ms", self.name)];
        for (name, text) in [("out", stdout), ("err", stderr)] {
            let all: Vec<&str> = text.trim_end().lines().collect();
            lines.extend(all.iter().take(SHOWN_LINES).map(|line| format!("  {name}: {line}")));
            if all.len() > SHOWN_LINES {
                lines.push(format!("  {name}: … {} more lines", all.len() - SHOWN_LINES));
            }
        }
        if self.is_awaited {
            let says = self.said.decision.map_or("nothing", word);
            let reason = self.said.reason.as_deref().map(|reason| format!(": {reason}"));
            lines.push(format!("  decides: {says}{}", reason.unwrap_or_default()));
        } else {
            lines.push("  decides: nothing, nobody waits for it".to_owned());
        }
        lines.extend(self.said.failure.iter().map(|why| format!("  failed: {why}")));
        lines
    }

    fn json(&self) -> Value {
        let (how, stdout, stderr) = self.parts();
        let code = match &self.timed.ended {
            Ended::Exited { code, .. } => *code,
            Ended::Answered { status, .. } => Some(i32::from(*status)),
            Ended::TooSlow(_) | Ended::Cancelled | Ended::Broken(_) => None,
        };
        json!({
            "name": self.name,
            "ended": how,
            "code": code,
            "took_ms": u64::try_from(self.timed.took.as_millis()).unwrap_or(u64::MAX),
            "stdout": stdout,
            "stderr": stderr,
            "decision": self.said.decision.map(word),
            "reason": self.said.reason,
            "failure": self.said.failure,
            "async": !self.is_awaited,
        })
    }

    fn parts(&self) -> (String, &str, &str) {
        match &self.timed.ended {
            Ended::Exited { code: Some(code), stdout, stderr } => {
                (format!("exit code {code}"), stdout, stderr)
            }
            Ended::Exited { code: None, stdout, stderr } => {
                ("ended by a signal".to_owned(), stdout, stderr)
            }
            Ended::Answered { status, body } => (format!("status {status}"), body, ""),
            Ended::TooSlow(limit) => {
                (format!("ended after {} s: too slow", limit.as_secs_f64()), "", "")
            }
            Ended::Cancelled => ("cancelled".to_owned(), "", ""),
            Ended::Broken(why) => (format!("could not run: {why}"), "", ""),
        }
    }
}

/// What comes of the event, a line each.
fn outcome(ruling: &Ruling, changed: Option<&Map<String, Value>>) -> Vec<String> {
    let decision = ruling.decision.map_or("none", word);
    let reason = ruling.reason.as_deref().map(|reason| format!(": {reason}"));
    let mut lines = vec![format!("decision: {decision}{}", reason.unwrap_or_default())];
    let input = changed.map(|input| format!("input becomes: {}", json!(input)));
    lines.extend(input);
    lines.extend(ruling.context.iter().map(|text| format!("the model is told: {text}")));
    lines.extend(ruling.output.iter().map(|text| format!("the result becomes: {text}")));
    lines.extend(ruling.messages.iter().map(|text| format!("you are told: {text}")));
    lines.extend(ruling.halt.iter().map(|why| format!("the turn ends: {why}")));
    lines
}

fn object(text: &str, what: &str) -> Result<Map<String, Value>, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::user(format!("{what} is not a JSON object: {error}")))
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}
