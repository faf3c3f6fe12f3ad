//! `caiman mcp`: the Model Context Protocol, from both ends.
//!
//! | module | does |
//! |---|---|
//! | [`add`] | writes a server into a settings file |
//! | [`known`] | which servers the settings name, and in which files |
//! | [`browser`] | shows the page of a sign-in |
//! | [`connect`] | one connection, as `list --check`, `login` and `test` open it |
//! | [`list`] | tells which servers there are, and how they are |
//! | [`login`] | signs in at a server that wants it |
//! | [`remove`] | takes a server out of a settings file |
//! | [`serve`] | lets other programs have prompts run here |
//! | [`target`] | a server on the command line |
//! | [`test`] | tries out all that a server lends |

mod add;
mod browser;
mod connect;
mod known;
mod list;
mod login;
mod remove;
mod serve;
mod target;
mod test;

use clap::{Subcommand, ValueEnum};

use crate::app::App;
use crate::failure::Failure;

/// Add, list, try out and sign in at MCP servers; be one.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(list::Args),
    Add(add::Args),
    AddJson(add::JsonArgs),
    Remove(remove::Args),
    Login(login::Args),
    Test(Box<test::Args>),
    Serve(Box<serve::Args>),
}

/// Where a server is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// Your own settings: all your projects.
    User,
    /// `.mcp.json` of this project: everybody who works on it.
    Project,
    /// `.caiman.json` of this project: you, here.
    Local,
}

/// Runs the command.
pub(crate) fn run(app: App, args: Args) -> Result<(), Failure> {
    match args.what {
        What::List(args) => list::run(&app, &args),
        What::Add(args) => add::run(&app, &args),
        What::AddJson(args) => add::run_json(&app, &args),
        What::Remove(args) => remove::run(&app, &args),
        What::Login(args) => login::run(&app, &args),
        What::Test(args) => test::run(&app, &args),
        What::Serve(args) => serve::run(app, *args),
    }
}
