//! `caiman mcp login`: signs in at a server that wants it.

use std::sync::Arc;

use guard::Runner;
use links::mcp::{Account, Outside, SignInError};
use serde_json::json;
use settings::{Expander, Loaded, McpServer};
use url::Url;

use super::browser::{Browser, Opens};
use super::connect::{self, Server};
use super::known;
use crate::app::App;
use crate::failure::{Failure, Kind};
use crate::render;

/// Sign in at a server that wants it, with your browser.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The server.
    name: String,

    /// Forget the sign-in instead.
    #[arg(long)]
    forget: bool,

    /// Print the page's address and open no browser.
    #[arg(long)]
    no_browser: bool,

    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub(super) fn run(app: &App, args: &Args) -> Result<(), Failure> {
    let loaded = app.load_config();
    if args.forget {
        return forget(app, &loaded, args);
    }
    let server = known::find(&loaded, &args.name)?;
    let outside = connect::lent(app, &loaded.config);
    let account = account(&args.name, server, &outside)?;
    let opens = if args.no_browser { Opens::Nothing } else { Opens::Pages };
    connect::run(async |scope| {
        let browser = Browser::new(server.oauth_callback_port, outside.env.clone(), opens).await;
        let browser = browser.map_err(|error| failure(&args.name, &error))?;
        let account = account.visited_by(Arc::new(browser));
        account.sign_in(None).await.map_err(|error| failure(&args.name, &error))?;
        let tried = Server::new(&args.name, server, &outside).connect(&scope).await;
        let connected = tried.map_err(|trouble| {
            connect::failure(&args.name, &trouble).hint("the sign-in itself worked")
        })?;
        let tools = connected.menu.tools.len();
        if args.json {
            return render::json(&json!({"server": args.name, "signed_in": true, "tools": tools}));
        }
        render::out(&format!("Signed in at {}; it lends {tools} tools.\n", args.name))
    })
}

fn forget(app: &App, loaded: &Loaded, args: &Args) -> Result<(), Failure> {
    let gone = crate::outside::forget(app, &args.name)
        .map_err(|why| Failure::config(format!("cannot forget the sign-in: {why}")))?;
    if !gone {
        // A name that is wrong is a mistake; a server nobody signed in at is not.
        known::find(loaded, &args.name)?;
    }
    if args.json {
        return render::json(&json!({"server": args.name, "forgotten": gone}));
    }
    let text = if gone { "The sign-in is forgotten" } else { "Nobody had signed in" };
    render::out(&format!("{text} ({}).\n", args.name))
}

/// What we are known by at a server with an address.
pub(super) fn account(
    name: &str,
    server: &McpServer,
    outside: &Outside,
) -> Result<Account, Failure> {
    let Some(url) = &server.url else {
        return Err(Failure::user(format!("{name} is a program; it wants no sign-in")));
    };
    let expander = Expander { env: &outside.env, runner: Some(&Runner) };
    let text = expander.text(url);
    let text = text.map_err(|error| Failure::config(format!("mcp.{name}.url: {error}")))?;
    let url: Url = text
        .trim()
        .parse()
        .map_err(|error| Failure::config(format!("mcp.{name}.url is not an address: {error}")))?;
    let account = Account::of(name, &url, server, outside).map_err(|it| failure(name, &it))?;
    account.ok_or_else(|| {
        Failure::user(format!("the settings of {name} rule a sign-in out"))
            .hint(format!("mcp.{name} has an Authorization header of its own, or oauth: false"))
    })
}

/// What it means to the user that nobody is signed in.
pub(super) fn failure(name: &str, error: &SignInError) -> Failure {
    let failure = |kind| Failure::new(kind, format!("cannot sign in at {name}: {error}"));
    match error {
        SignInError::Setting { .. } | SignInError::Vault(_) => failure(Kind::Config),
        SignInError::Nowhere => failure(Kind::User)
            .hint(format!("caiman mcp test {name} tells whether it works as it is")),
        SignInError::Port { .. } => {
            failure(Kind::Config).hint(format!("mcp.{name}.oauth_callback_port chooses another"))
        }
        SignInError::Moved { .. } => failure(Kind::Denied)
            .hint(format!("if that is right: caiman mcp login {name} --forget, then sign in")),
        SignInError::TimedOut(_) => failure(Kind::Timeout),
        SignInError::Refused(_) => failure(Kind::Denied),
        SignInError::Unsafe(_) | SignInError::Failed(_) => failure(Kind::Provider),
    }
}
