//! The page of a sign-in, in the user's browser.

use std::time::Duration;

use base::Env;
use futures::future::BoxFuture;
use links::mcp::{Callback, SignInError, Visitor};
use url::Url;

use crate::render;

/// How long the user may take to sign in.
const PATIENCE: Duration = Duration::from_mins(5);

/// Opens pages in the user's browser, and prints their addresses for users without one.
pub(super) struct Browser {
    callback: Callback,
    env: Env,
    opens: Opens,
}

/// Whether a browser is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    /// Yes, besides the address.
    Pages,
    /// No, the address is only printed.
    Nothing,
}

impl Browser {
    /// Waits for the user on a port of this machine.
    pub(super) async fn new(
        port: Option<u16>,
        env: Env,
        opens: Opens,
    ) -> Result<Self, SignInError> {
        Ok(Self { callback: Callback::open(port).await?, env, opens })
    }
}

impl Visitor for Browser {
    fn redirect(&self) -> &str {
        self.callback.redirect()
    }

    fn visit<'a>(&'a self, page: &'a Url) -> BoxFuture<'a, Result<Url, SignInError>> {
        Box::pin(async move {
            let state = page.query_pairs().find(|(name, _)| name == "state");
            let state = state.map(|(_, value)| value.into_owned()).unwrap_or_default();
            render::note("sign in on this page, then come back:");
            // On a line of its own and in one piece, so that it can be copied.
            render::note(page.as_str());
            if self.opens == Opens::Pages {
                open(page, &self.env);
            }
            self.callback.wait(&state, PATIENCE).await
        })
    }
}

/// Shows a page. Without a browser there is its address on the terminal.
fn open(page: &Url, env: &Env) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if env.get("WSL_DISTRO_NAME").is_some() {
        "wslview"
    } else {
        "xdg-open"
    };
    let (page, env) = (page.to_string(), env.clone());
    // It may stay until the browser is closed, so nobody waits for it.
    std::thread::spawn(move || drop(guard::process::beside(program, &[&page], b"", &env)));
}
