//! One file a command; each has an `Args` and a `run`.

pub(crate) mod acp;
pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod hooks;
pub(crate) mod init;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod plugins;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod session;
pub(crate) mod skills;
pub(crate) mod stats;
pub(crate) mod trust;
pub(crate) mod tui;

use crate::app::App;
use crate::args::{Args, Command};
use crate::failure::Failure;

/// Runs what was asked for. Completions and manual need no home folder, so nobody looks for one.
pub(crate) fn dispatch(args: Args) -> Result<(), Failure> {
    let app = || App::new(args.cwd.as_deref());
    match args.command {
        Command::Tui(args) => tui::run(app()?, *args),
        Command::Run(args) => run::run(&app()?, &args),
        Command::Acp(args) => acp::run(app()?, *args),
        Command::Completions(args) => completions::run(&args),
        Command::Man => man::run(),
        Command::Agents(args) => agents::run(&app()?, args),
        Command::Skills(args) => skills::run(&app()?, args),
        Command::Config(args) => config::run(&app()?, args),
        Command::Doctor(args) => doctor::run(&app()?, &args),
        Command::Hooks(args) => hooks::run(&app()?, &args),
        Command::Init(args) => init::run(&app()?, args),
        Command::Login(args) => login::run(&app()?, &args),
        Command::Logout(args) => logout::run(&app()?, &args),
        Command::Mcp(args) => mcp::run(app()?, args),
        Command::Models(args) => models::run(&app()?, args),
        Command::Plugins(args) => plugins::run(&app()?, &args),
        Command::Policy(args) => policy::run(&app()?, &args),
        Command::Trust(args) => trust::run(&app()?, &args),
        Command::Session(args) => session::run(&app()?, args),
        Command::Stats(args) => stats::run(&app()?, &args),
    }
}
