//! Whom a server may ask while it works for a session: the person at a face, and a model.

use std::sync::Arc;

use base::Block;
use futures::future::BoxFuture;
use links::mcp::{Borrower, Elicitation, Elicited, Progress as Far, Sampled, Sampling};

use super::{Asker, form};
use crate::workspace::{Progress, ToolCtx, Workspace};

/// The borrower of one call, or of something the user wants of a server.
pub struct Borrowing {
    server: String,
    workspace: Arc<Workspace>,
    progress: Progress,
    asker: Asker,
}

impl Borrowing {
    /// For what a session wants of a server, under a name for whoever is asked.
    pub fn new(server: &str, workspace: Arc<Workspace>, asker: Asker) -> Self {
        Self { server: server.to_owned(), workspace, progress: Progress::none(), asker }
    }

    /// For a call of the model's.
    pub(super) fn of_call(server: &str, ctx: &ToolCtx) -> Self {
        let asker = Asker { call: ctx.call.clone(), cancel: ctx.cancel.clone() };
        let progress = ctx.progress.clone();
        Self { progress, ..Self::new(server, ctx.workspace.clone(), asker) }
    }
}

impl Borrower for Borrowing {
    fn progress(&self, progress: Far) {
        self.progress.show(Block::Text { text: how_far(&progress) });
    }

    fn elicit(&self, asked: Elicitation) -> BoxFuture<'_, Elicited> {
        Box::pin(async move {
            let asking = form::ask(&*self.workspace.desk, &self.server, &asked);
            let filled = self.asker.cancel.run_until_cancelled(asking).await;
            filled.unwrap_or(Elicited::Cancelled)
        })
    }

    fn sample(&self, asked: Sampling) -> BoxFuture<'_, Result<Sampled, String>> {
        self.workspace.mcp.sampler.sample(&self.server, asked, &self.asker)
    }
}

/// How far a server is, in one line.
fn how_far(progress: &Far) -> String {
    let share = progress.done.map(|done| {
        progress.total.filter(|total| *total > 0.0).map_or_else(
            || format!("{done:.0}"),
            |total| format!("{:.0} %", (100.0 * done / total).clamp(0.0, 100.0)),
        )
    });
    let words = progress.message.as_deref().map(|words| words.trim().to_owned());
    let both = share.into_iter().chain(words.filter(|words| !words.is_empty()));
    both.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_one_line() {
        let far = |done: Option<f64>, total, message: Option<&str>| {
            how_far(&Far { done, total, message: message.map(str::to_owned) })
        };
        assert_eq!(far(Some(1.0), Some(4.0), Some("reading")), "25 % reading");
        assert_eq!(far(Some(7.0), None, None), "7");
        assert_eq!(far(Some(7.0), Some(0.0), Some(" ")), "7");
        assert_eq!(far(Some(9.0), Some(4.0), None), "100 %");
        assert_eq!(far(None, None, Some("reading")), "reading");
    }
}
