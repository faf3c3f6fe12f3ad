//! `caiman acp`: an editor's agent, over standard input and output.

use std::sync::{Arc, Mutex, PoisonError};

use base::{Client, TaskScope};
use links::acp::{Agent, Editor, Ground, Outside};

use super::run::{Limits, Lock, Place, Voice};
use super::tui;
use crate::app::App;
use crate::door::{Door, Flags, Guest};
use crate::failure::{Failure, Kind};
use crate::wiring;

/// Be the agent of an editor that speaks the Agent Client Protocol.
///
/// Editors start this themselves; docs/acp.md tells how to set them up.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Open the terminal interface instead, which asks for a key: editors that offer to sign in run this.
    #[arg(long)]
    login: bool,

    #[command(flatten)]
    voice: Voice,

    #[command(flatten)]
    lock: Lock,

    #[command(flatten)]
    limits: Limits,
}

/// Serves the editor until it closes its end; then every turn is stopped and every process ended.
pub(crate) fn run(app: App, args: Args) -> Result<(), Failure> {
    if args.login {
        return tui::run(app, tui::Args::default());
    }
    let runtime = wiring::runtime()?;
    let ended = runtime.block_on(wiring::in_task(serve(app, args)));
    // The store has answered for everything it was given; a reader of standard input may still wait.
    runtime.shutdown_background();
    ended
}

/// The minds of this process: one for each place they work in.
#[derive(Clone)]
struct Doors {
    app: App,
    args: Arc<Args>,
    editor: Arc<Mutex<Option<Arc<dyn Editor>>>>,
    open: Arc<Mutex<Vec<(Ground, Door)>>>,
}

impl Doors {
    fn open(&self, ground: &Ground) -> Door {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, door)) = open.iter().find(|(known, _)| known == ground) {
            return door.clone();
        }
        let Args { voice, lock, limits, .. } = &*self.args;
        let (voice, mut lock, limits) = (voice.clone(), lock.clone(), limits.clone());
        lock.add_dir.extend(ground.others.iter().cloned());
        let editor = self.editor.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (place, guest) = (Place::default(), Guest::Program(editor));
        let flags = Flags { voice, place, lock, limits, guest };
        let door = Door::new(self.app.working_in(&ground.folder), flags);
        open.push((ground.clone(), door.clone()));
        door
    }
}

async fn serve(app: App, args: Args) -> Result<(), Failure> {
    let folder = app.cwd.clone();
    let (args, editor, open) = (Arc::new(args), Arc::default(), Arc::default());
    let doors = Doors { app, args, editor, open };
    let (opening, lending) = (doors.clone(), doors.clone());
    let outside = Outside {
        open: Arc::new(move |ground| Ok(Arc::new(opening.open(ground)) as Arc<dyn Client>)),
        lend: Arc::new(move |ground, name, server| lending.open(ground).lend(name, server)),
        folder,
        version: env!("CARGO_PKG_VERSION"),
    };
    let scope = TaskScope::new();
    let agent = Agent::new(outside, &scope);
    *doors.editor.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(agent.clone()));
    let ended = tokio::select! {
        _why = agent.serve(tokio::io::stdout(), tokio::io::stdin()) => Ok(()),
        () = wiring::interrupt() => Err(Failure::new(Kind::Cancelled, "interrupted")),
        () = wiring::terminate() => Err(Failure::new(Kind::Terminated, "terminated")),
    };
    let open = std::mem::take(&mut *doors.open.lock().unwrap_or_else(PoisonError::into_inner));
    futures::future::join_all(open.iter().map(|(_, door)| door.close())).await;
    scope.close().await;
    ended
}
