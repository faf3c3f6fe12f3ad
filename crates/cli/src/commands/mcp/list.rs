//! `caiman mcp list`: which servers there are, and how they are.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use links::mcp::connection::Failure as Trouble;
use serde_json::{Value, json};
use settings::{Loaded, McpTransport, printable};

use super::connect::{self, Connected, Server};
use super::known::{self, Known, Standing};
use crate::app::App;
use crate::commands::session::text;
use crate::failure::{Failure, Kind};
use crate::{outside, render};

/// How long all servers together may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most characters shown of an address or a command line.
const TARGET_CHARS: usize = 60;

/// List the MCP servers that the settings name.
#[derive(Debug, clap::Args)]
#[command(visible_alias = "ls")]
pub(crate) struct Args {
    /// Connect to each and tell how it is and what it lends; fails when one does not work.
    #[arg(long)]
    check: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What came of connecting to a server.
type Checked = Result<Connected, Trouble>;

/// Runs the command.
pub(super) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let loaded = app.load_config();
    let all = known::all(&loaded);
    let checked = if args.check { check(app, &loaded, &all)? } else { BTreeMap::new() };
    let signed_in = outside::signed_in(app);
    if args.json {
        let rows = all
            .iter()
            .map(|known| entry(known, checked.get(&known.name), signed_in.contains(&known.name)));
        render::json(&rows.collect::<Vec<_>>())?;
    } else if all.is_empty() {
        render::note("No MCP servers. caiman mcp add NAME URL, or NAME -- COMMAND, adds one.");
    } else {
        let row = |known: &Known| {
            let state = state(known, checked.get(&known.name), signed_in.contains(&known.name));
            let cells = [
                known.name.clone(),
                text::short(&known.target(), TARGET_CHARS),
                shortened(&known.file, app),
                format!("{state}{}", if known.is_sandboxed() { ", sandboxed" } else { "" }),
            ];
            cells.map(|cell| printable(&text::line(&cell)).into_owned()).to_vec()
        };
        render::out(&render::columns(&all.iter().map(row).collect::<Vec<_>>()))?;
    }
    if all.iter().any(|known| known.standing == Standing::Untrusted) {
        render::note("note: a project's servers count once it is trusted; see caiman trust");
    }
    let broken = checked.values().filter(|checked| checked.is_err()).count();
    if broken > 0 {
        let servers = if broken == 1 { "server does" } else { "servers do" };
        return Err(Failure::new(Kind::Provider, format!("{broken} {servers} not work")));
    }
    Ok(())
}

/// Connects to all that count, at once.
fn check(app: &App, loaded: &Loaded, all: &[Known]) -> Result<BTreeMap<String, Checked>, Failure> {
    let lent = connect::lent(app, &loaded.config);
    let on = all.iter().filter(|known| known.standing == Standing::On);
    let servers: Vec<Server> = on
        .filter_map(|known| Some((&known.name, loaded.config.mcp.get(&known.name)?)))
        .map(|(name, settings)| Server::new(name, settings, &lent))
        .collect();
    connect::run(async |scope| {
        let each = servers.iter().map(async |server| {
            let connecting = tokio::time::timeout(PATIENCE, server.connect(&scope));
            let late = Err(Trouble::TimedOut { after: PATIENCE });
            let checked = connecting.await.unwrap_or(late);
            if let Ok(connected) = &checked {
                connected.connection.close().await;
            }
            (server.name.clone(), checked)
        });
        Ok(join_all(each).await.into_iter().collect())
    })
}

fn state(known: &Known, checked: Option<&Checked>, is_signed_in: bool) -> String {
    match (known.standing, checked) {
        (Standing::Off, _) => "off".to_owned(),
        (Standing::Untrusted, _) => "not trusted".to_owned(),
        (Standing::On, Some(Ok(connected))) => {
            let menu = &connected.menu;
            let counts = [
                (menu.tools.len(), "tool"),
                (menu.prompts.len(), "prompt"),
                (menu.resources.len(), "resource"),
            ];
            let counted = counts.into_iter().filter(|(count, _)| *count > 0);
            let counted = counted.map(|(count, what)| {
                format!("{count} {what}{}", if count == 1 { "" } else { "s" })
            });
            let lends = counted.collect::<Vec<_>>().join(", ");
            let lends = if lends.is_empty() { "nothing".to_owned() } else { lends };
            format!("works: {lends} ({:.1} s)", connected.took.as_secs_f64())
        }
        (Standing::On, Some(Err(Trouble::SignIn { .. }))) => {
            format!("wants a sign-in: caiman mcp login {}", known.name)
        }
        (Standing::On, Some(Err(trouble))) => format!("does not work: {trouble}"),
        (Standing::On, None) if is_signed_in => "on, signed in".to_owned(),
        (Standing::On, None) => "on".to_owned(),
    }
}

fn entry(known: &Known, checked: Option<&Checked>, is_signed_in: bool) -> Value {
    let mut entry = json!({
        "name": known.name,
        "transport": match known.transport() {
            McpTransport::Stdio => "stdio",
            McpTransport::Sse => "sse",
            McpTransport::Http => "http",
        },
        "target": known.target(),
        "file": known.file,
        "state": known.standing.word(),
        "sandbox": known.is_sandboxed(),
        "signed_in": is_signed_in,
    });
    match checked {
        Some(Ok(connected)) => {
            let names = |names: Vec<&str>| names.into_iter().map(Value::from).collect::<Value>();
            let menu = &connected.menu;
            entry["works"] = json!(true);
            entry["server"] = json!(connected.about.name);
            entry["protocol"] = json!(connected.about.protocol);
            entry["milliseconds"] = json!(connected.took.as_millis());
            entry["tools"] = names(menu.tools.iter().map(|it| it.name.as_str()).collect());
            entry["prompts"] = names(menu.prompts.iter().map(|it| it.name.as_str()).collect());
            entry["resources"] = names(menu.resources.iter().map(|it| it.uri.as_str()).collect());
        }
        Some(Err(trouble)) => {
            entry["works"] = json!(false);
            entry["error"] = json!(trouble.to_string());
            entry["wants_sign_in"] = json!(matches!(trouble, Trouble::SignIn { .. }));
        }
        None => {}
    }
    entry
}

/// A file as the user would name it from here.
fn shortened(file: &Path, app: &App) -> String {
    if let Ok(rest) = file.strip_prefix(&app.cwd) {
        return rest.display().to_string();
    }
    match file.strip_prefix(app.paths.home()) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => file.display().to_string(),
    }
}
