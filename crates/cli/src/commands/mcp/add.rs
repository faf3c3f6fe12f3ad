//! `caiman mcp add`: writes a server into a settings file.

use base::protocol::Trust;
use base::protocol::TrustState;
use serde_json::{Map, Value, json};
use settings::jsonc;
use settings::{Severity, mask};

use super::known::Standing;
use super::target::Target;
use super::{Scope, known};
use crate::app::App;
use crate::commands::trust;
use crate::failure::Failure;
use crate::render;

/// Longest name of a server; tools are named after it.
const NAME_CHARS: usize = 64;

/// Add a server: `caiman mcp add NAME -- COMMAND ARGS…`, or `caiman mcp add NAME URL`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to call it.
    name: String,

    /// Its address, or the program to start and its arguments; put `--` before a program.
    #[arg(required = true, value_name = "URL|COMMAND")]
    target: Vec<String>,

    #[command(flatten)]
    more: Target,

    #[command(flatten)]
    extra: Extra,

    #[command(flatten)]
    place: Place,
}

/// What the settings can say of a server that a trial of it does not need.
#[derive(Debug, clap::Args)]
struct Extra {
    /// OAuth client id, where the server registers none by itself.
    #[arg(long, value_name = "ID")]
    oauth_client_id: Option<String>,

    /// OAuth client secret; '$VAR' is filled in when it is used.
    #[arg(long, value_name = "SECRET")]
    oauth_client_secret: Option<String>,

    /// Local port for the OAuth answer.
    #[arg(long, value_name = "PORT")]
    oauth_callback_port: Option<u16>,

    /// The only tools to offer, with commas between them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    enabled_tools: Vec<String>,

    /// Tools to leave out, with commas between them.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    disabled_tools: Vec<String>,

    /// Write it, but switched off.
    #[arg(long)]
    disabled: bool,
}

/// Where an entry goes, and how that is told.
#[derive(Debug, clap::Args)]
struct Place {
    /// Whom it is for.
    #[arg(long, short, default_value = "user")]
    scope: Scope,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Add a server as JSON, such as `{"command": "npx", "args": ["-y", "some-server"]}`.
#[derive(Debug, clap::Args)]
pub(crate) struct JsonArgs {
    /// What to call it.
    name: String,
    /// Its entry, as it would be in `.mcp.json`.
    #[arg(value_name = "JSON")]
    entry: String,

    #[command(flatten)]
    place: Place,
}

/// Runs the command.
pub(super) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let mut entry = args.more.entry(&args.target)?;
    args.extra.put_into(&mut entry, args.place.scope)?;
    // Whoever else reads `.mcp.json` counts milliseconds.
    if args.place.scope == Scope::Project
        && let Some(seconds) = entry.get("timeout").and_then(Value::as_u64)
    {
        entry["timeout"] = json!(seconds * 1000);
    }
    write(app, &args.name, &entry, &args.place)
}

impl Extra {
    fn put_into(&self, entry: &mut Value, scope: Scope) -> Result<(), Failure> {
        let (id, secret) = (self.oauth_client_id.clone(), self.oauth_client_secret.clone());
        let oauth = [
            ("oauth_client_id", "clientId", id.map(Value::from)),
            ("oauth_client_secret", "clientSecret", secret.map(Value::from)),
            ("oauth_callback_port", "callbackPort", self.oauth_callback_port.map(Value::from)),
        ];
        for (ours, theirs, value) in oauth {
            let Some(value) = value else { continue };
            if entry.get("url").is_none() {
                return Err(Failure::user("--oauth-… is for addresses; this server is a program"));
            }
            match scope {
                // Others read this file, too, and know these words.
                Scope::Project => entry["oauth"][theirs] = value,
                Scope::User | Scope::Local => entry[ours] = value,
            }
        }
        for (key, names) in
            [("enabled_tools", &self.enabled_tools), ("disabled_tools", &self.disabled_tools)]
        {
            if !names.is_empty() {
                entry[key] = json!(names);
            }
        }
        if self.disabled {
            entry["disabled"] = json!(true);
        }
        Ok(())
    }
}

/// Runs the command with JSON.
pub(super) fn run_json(app: &App, args: &JsonArgs) -> Result<(), Failure> {
    let entry: Map<String, Value> = jsonc::read(&args.entry)
        .map_err(|error| Failure::user(format!("this is not an entry in JSON: {error}")))?;
    let theirs = Value::Object(entry);
    let ours = adopted(&args.name, &theirs)?;
    // Whoever else reads `.mcp.json` knows the words it came in.
    let entry = if args.place.scope == Scope::Project { theirs } else { ours };
    write(app, &args.name, &entry, &args.place)
}

/// The entry in the words of our settings. One that would not count as it is written is refused.
fn adopted(name: &str, entry: &Value) -> Result<Value, Failure> {
    let (ours, problems) = settings::adopted_server(name, entry);
    let told = |problem: &settings::Problem| format!("{}: {}", problem.path, problem.message);
    let is_wrong = |problem: &&settings::Problem| problem.severity > Severity::Note;
    if problems.iter().any(|problem| is_wrong(&problem)) {
        let failure = Failure::user("the entry cannot be used as it is");
        return Err(problems.iter().filter(is_wrong).map(told).fold(failure, Failure::hint));
    }
    for problem in &problems {
        render::note(&format!("note: {}", told(problem)));
    }
    let ours = ours.unwrap_or_default();
    if ours.get("command").is_none() && ours.get("url").is_none() {
        return Err(Failure::user("the entry has neither `command` nor `url`"));
    }
    Ok(ours)
}

fn write(app: &App, name: &str, entry: &Value, place: &Place) -> Result<(), Failure> {
    let scope = place.scope;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > NAME_CHARS || !name.chars().all(is_plain) {
        return Err(Failure::user(format!("`{}` cannot name a server", settings::printable(name)))
            .hint("letters, digits, - and _ can, up to 64 of them"));
    }
    let (file, key) = known::file(app, scope);
    let text = known::read(&file)?;
    let cannot = |error: jsonc::JsoncError| {
        Failure::config(format!("cannot change {}: {error}", file.display()))
    };
    let before: Value =
        if text.trim().is_empty() { Value::Null } else { jsonc::read(&text).map_err(cannot)? };
    if before.get(key).and_then(|servers| servers.get(name)).is_some() {
        return Err(Failure::user(format!("{} names `{name}` already", file.display()))
            .hint(format!("caiman mcp remove {name} takes it out")));
    }
    let was_trusted = match scope {
        Scope::User => None,
        Scope::Project | Scope::Local => Some(trust::standing(app, &app.cwd)?.0),
    };
    let text = jsonc::set(&text, &[key, name], entry).map_err(cannot)?;
    known::write(&file, &text)?;
    // What the user types is the user's; what was there before is not.
    if matches!(was_trusted, Some(TrustState::Trusted | TrustState::Empty)) {
        trust::answer(app, &app.cwd, Trust::Given)?;
    }
    warn_of_secrets(entry, scope);
    let standing = standing(app, name)?;
    if place.json {
        render::json(&json!({"name": name, "file": file, "state": standing.word()}))?;
    } else {
        render::out(&render::lines([format!("Added {name} ({}).", file.display())]))?;
    }
    tell_effect(standing, entry, scope);
    Ok(())
}

/// A secret in a file that others read is one no more.
fn warn_of_secrets(entry: &Value, scope: Scope) {
    if scope == Scope::User {
        return;
    }
    let tables = ["env", "headers"].into_iter().filter_map(|key| entry.get(key)?.as_object());
    let is_written_out = |value: &Value| value.as_str().is_some_and(|value| !value.contains('$'));
    let is_secret =
        |(name, value): (&String, &Value)| mask::is_secret_name(name) && is_written_out(value);
    let has_client_secret = entry["oauth"].get("clientSecret").is_some_and(is_written_out)
        || entry.get("oauth_client_secret").is_some_and(is_written_out);
    if has_client_secret || tables.flatten().any(is_secret) {
        render::note(
            "warning: the file now holds a secret and lies in the project; write ${NAME} to have it \
             filled in from the environment",
        );
    }
}

/// Whether the new server counts.
fn standing(app: &App, name: &str) -> Result<Standing, Failure> {
    let loaded = settings::load(&app.sources());
    let known = known::all(&loaded).into_iter().find(|known| known.name == name);
    known.map(|known| known.standing).ok_or_else(|| {
        Failure::config(format!("{name} was written but cannot be used"))
            .hint("caiman config check says why")
    })
}

/// Says what stands in the way of the new server, if something does.
fn tell_effect(standing: Standing, entry: &Value, scope: Scope) {
    let is_meant = entry.get("disabled") == Some(&Value::Bool(true));
    match standing {
        Standing::On if scope == Scope::Local => render::note(
            "note: .caiman.json lies in the project; keep it out of git if it is yours alone",
        ),
        Standing::On => {}
        Standing::Off if is_meant => {}
        Standing::Off => render::note("note: another file switches it off"),
        Standing::Untrusted => render::note(
            "note: this project is not trusted, so it does not count; see caiman trust",
        ),
    }
}
