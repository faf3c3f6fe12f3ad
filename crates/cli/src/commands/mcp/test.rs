//! `caiman mcp test`: connects to a server, lists what it lends, calls its tools, and tells what it saw.

mod borrow;
mod made_up;
mod report;
mod suite;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex};

use base::{Secret, TaskScope};
use links::mcp::connection::{Failure as Trouble, Job, Lifecycle};
use links::mcp::{Account, Outside, Tool, Vault, Visitor};
use serde_json::{Map, Value};
use settings::{Loaded, McpServer, nearest};
use tokio_util::sync::CancellationToken;

use super::browser::{Browser, Opens};
use super::connect::{self, Connected, Server};
use super::target::{Target, is_address};
use super::{known, login};
use crate::app::App;
use crate::commands::session::text;
use crate::failure::{Failure, Kind};
use crate::render;
use borrow::Agreeable;
use report::{Call, Ending, Report};
use suite::{Follower, Suite};

/// What a server is called that has no name.
const NAMELESS: &str = "the server";

/// What a tool is called with.
type Arguments = Map<String, Value>;

/// Try out a server: connect, list what it lends, call its tools, tell what came of it.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// A server of the settings, an address, or a program and its arguments; put `--` before a program.
    #[arg(required = true, value_name = "NAME|URL|COMMAND")]
    target: Vec<String>,

    #[command(flatten)]
    more: Target,

    /// Call only this tool; may be given several times.
    #[arg(long, value_name = "TOOL")]
    call: Vec<String>,

    /// The arguments of each tool that is called, in the same order, as JSON.
    #[arg(long = "args", value_name = "JSON", requires = "call")]
    arguments: Vec<String>,

    /// Call no tool.
    #[arg(long, conflicts_with_all = ["call", "yes"])]
    list_only: bool,

    /// Do not ask before tools are called that may change something.
    #[arg(long, short)]
    yes: bool,

    /// If the server wants a sign-in, print the page's address and open no browser.
    #[arg(long)]
    no_browser: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let suite = Suite::of(&app.env)?;
    let loaded = app.load_config();
    let outside = connect::lent(app, &loaded.config);
    let mut server = server(args, &loaded, outside)?;
    if let Some(suite) = &suite {
        suite.prepare(&mut server);
    }
    let given = given(args)?;
    connect::run(async |scope| {
        let trial = Trial { args, suite: suite.as_ref(), given };
        let report = trial.run(server, &scope).await?;
        if args.json {
            render::json(&report.json())?;
        } else {
            render::out(&report.text())?;
        }
        report.verdict()
    })
}

/// The server that is meant.
fn server(args: &Args, loaded: &Loaded, mut outside: Outside) -> Result<Server, Failure> {
    if let ([name], true) = (args.target.as_slice(), args.more.is_empty())
        && !is_address(name)
    {
        if let Some(settings) = loaded.config.mcp.get(name) {
            return Ok(Server::new(name, settings, &outside));
        }
        let all = known::all(loaded);
        let names: Vec<&str> = all.iter().map(|known| known.name.as_str()).collect();
        if nearest(name, &names).is_some() {
            return Err(known::unknown(loaded, name));
        }
    }
    let entry = args.more.entry(&args.target)?;
    let settings: McpServer = serde_json::from_value(entry)
        .map_err(|error| Failure::user(format!("this cannot be a server: {error}")))?;
    // Its token is nobody else's, and good for this once.
    outside.vault = Arc::new(Pocket::default());
    Ok(Server::new(NAMELESS, &settings, &outside))
}

/// A tool that the user names.
struct Given {
    tool: String,
    /// None where they are to be made up.
    arguments: Option<Arguments>,
}

/// The tools that are named, and their arguments.
fn given(args: &Args) -> Result<Vec<Given>, Failure> {
    if args.arguments.len() > args.call.len() {
        return Err(Failure::user("there are more --args than --call"));
    }
    let mut texts = args.arguments.iter();
    let mut given = Vec::new();
    for tool in &args.call {
        let arguments = texts.next().map(|text| {
            serde_json::from_str(text).map_err(|error| {
                Failure::user(format!("the arguments of {tool} are not a JSON object: {error}"))
            })
        });
        given.push(Given { tool: tool.clone(), arguments: arguments.transpose()? });
    }
    Ok(given)
}

/// One run of the command.
struct Trial<'a> {
    args: &'a Args,
    suite: Option<&'a Suite>,
    given: Vec<Given>,
}

impl Trial<'_> {
    async fn run(&self, mut server: Server, scope: &TaskScope) -> Result<Report, Failure> {
        let connected = self.connect(&mut server, scope).await?;
        let mut report = Report::new(&server.name, &connected);
        for (tool, arguments) in self.calls(&connected)? {
            if !self.args.json {
                render::progress(&format!("calling {}", text::line(&tool.name)));
            }
            let call = called(&connected, &tool, arguments, self.is_given(&tool.name)).await;
            report.calls.push(call);
        }
        connected.connection.close().await;
        if self.suite.is_none() && connected.about.lifecycle == Lifecycle::Newest {
            server.lifecycle = Lifecycle::Older;
            let older = server.connect(scope).await;
            report.older = Some(older.map(|_| ()).map_err(|trouble| trouble.to_string()));
        }
        report.log = server.log.lines();
        Ok(report)
    }

    fn is_given(&self, tool: &str) -> bool {
        self.given.iter().any(|given| given.tool == tool)
    }

    /// Connects; a server that wants a sign-in gets it first, for as long as that takes.
    async fn connect(&self, server: &mut Server, scope: &TaskScope) -> Result<Connected, Failure> {
        let challenge = match server.connect(scope).await {
            Ok(connected) => return Ok(connected),
            Err(Trouble::SignIn { challenge }) => challenge.unwrap_or_default(),
            Err(trouble) => {
                let failure = connect::failure(&server.name, &trouble);
                // It may have been tried twice, and have said the same.
                let mut log = server.log.lines();
                log.dedup();
                log.retain(|line| !failure.message.contains(line.as_str()));
                let log = log.split_off(log.len().saturating_sub(3)).into_iter();
                return Err(log.fold(failure, |it, line| it.hint(format!("it said: {line}"))));
            }
        };
        let visitor = self.visitor(server).await?;
        let account = login::account(&server.name, &server.settings, &server.outside)?;
        let account: Account = account.visited_by(visitor.clone());
        let signed = account.sign_in(Some(&challenge)).await;
        signed.map_err(|error| login::failure(&server.name, &error))?;
        server.visitor = Some(visitor);
        let connected = server.connect(scope).await;
        connected.map_err(|trouble| connect::failure(&server.name, &trouble))
    }

    /// Who signs in.
    async fn visitor(&self, server: &Server) -> Result<Arc<dyn Visitor>, Failure> {
        let outside = server.outside.clone();
        if self.suite.is_some() {
            return Ok(Arc::new(Follower { outside }));
        }
        let opens = if self.args.no_browser { Opens::Nothing } else { Opens::Pages };
        let browser = Browser::new(server.settings.oauth_callback_port, outside.env, opens).await;
        Ok(Arc::new(browser.map_err(|error| login::failure(&server.name, &error))?))
    }

    /// Which tools are called, with what.
    fn calls(&self, connected: &Connected) -> Result<Vec<(Tool, Arguments)>, Failure> {
        let tools = &connected.menu.tools;
        let made_up = |tool: &Tool| made_up::arguments(&tool.schema);
        if let Some(suite) = self.suite {
            return Ok(suite.calls(tools, made_up));
        }
        if !self.given.is_empty() {
            let find = |given: &Given| {
                let tool = tools.iter().find(|tool| tool.name == given.tool);
                let tool = tool.ok_or_else(|| lacking(&given.tool, tools))?;
                let arguments = given.arguments.clone().unwrap_or_else(|| made_up(tool));
                Ok((tool.clone(), arguments))
            };
            return self.given.iter().map(find).collect();
        }
        if self.args.list_only {
            return Ok(Vec::new());
        }
        let may_change = tools.iter().filter(|tool| !tool.says_it_reads).count();
        let all = may_change == 0 || self.args.yes || agreed(may_change);
        let chosen = tools.iter().filter(|tool| all || tool.says_it_reads);
        Ok(chosen.map(|tool| (tool.clone(), made_up(tool))).collect())
    }
}

fn lacking(name: &str, tools: &[Tool]) -> Failure {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let failure = Failure::user(format!("the server lends no tool `{name}`"));
    match nearest(name, &names) {
        Some(near) => failure.hint(format!("do you mean `{near}`?")),
        None => failure.hint(format!("it lends: {}", names.join(", "))),
    }
}

/// Asks whether tools may be called that do not say that they only read. A script that tries out a server has said
/// so by that.
fn agreed(may_change: usize) -> bool {
    let tools = if may_change == 1 { "tool" } else { "tools" };
    if !io::stdin().is_terminal() {
        return true;
    }
    render::prompt(&format!(
        "{may_change} {tools} may change something. Call all with made-up arguments? [y/N] "
    ));
    let mut answer = String::new();
    let read = io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

async fn called(connected: &Connected, tool: &Tool, arguments: Arguments, is_given: bool) -> Call {
    let borrower = Arc::new(Agreeable::default());
    let never = CancellationToken::new();
    let began = std::time::Instant::now();
    let job = Job {
        tool: &tool.name,
        is_task: tool.is_task,
        arguments: arguments.clone(),
        borrower: borrower.clone(),
    };
    let answered = connected.connection.call(job, &never).await;
    let ending = match answered {
        Ok(answer) if answer.failed => Ending::Failed(answer),
        Ok(answer) => Ending::Answered(answer),
        Err(Trouble::Refused { message, .. }) => Ending::Refused(message),
        Err(trouble) => Ending::Broken(trouble.to_string()),
    };
    let asked = borrower.asked();
    Call { tool: tool.name.clone(), arguments, ending, asked, took: began.elapsed(), is_given }
}

/// Keeps tokens for as long as the command runs.
#[derive(Default)]
struct Pocket(Mutex<BTreeMap<String, Secret>>);

impl Vault for Pocket {
    fn get(&self, name: &str) -> Option<Secret> {
        self.0.lock().ok()?.get(name).cloned()
    }

    fn put(&self, name: &str, secret: &Secret) -> Result<(), String> {
        let mut kept = self.0.lock().map_err(|error| error.to_string())?;
        kept.insert(name.to_owned(), secret.clone());
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        self.0.lock().map_err(|error| error.to_string())?.remove(name);
        Ok(())
    }
}

/// A call that broke the connection, or one that was asked for and did not work.
fn is_bad(call: &Call) -> bool {
    match call.ending {
        Ending::Answered(_) => false,
        Ending::Failed(_) | Ending::Refused(_) => call.is_given,
        Ending::Broken(_) => true,
    }
}

impl Report {
    /// What the exit code says.
    fn verdict(&self) -> Result<(), Failure> {
        let bad = self.calls.iter().filter(|call| is_bad(call)).count();
        if bad == 0 {
            return Ok(());
        }
        let calls = if bad == 1 { "call" } else { "calls" };
        Err(Failure::new(Kind::Provider, format!("{bad} {calls} did not work")))
    }
}
