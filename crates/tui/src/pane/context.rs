//! What fills the context window, item by item.

use base::SessionId;
use base::protocol::{Bill, Query, Reply};

use super::Shared;
use super::shared::ask;
use super::sheet::Sheet;
use crate::figures;
use crate::line::Line;
use crate::look::Look;
use crate::message::Effect;
use crate::text;
use crate::theme::Role;

/// The line of a bill that fills nothing.
const FREE: &str = "free";

/// The page of what fills the window.
#[derive(Debug)]
pub(crate) struct Context {
    pane: u64,
    session: Option<SessionId>,
    bill: Option<Bill>,
}

impl Context {
    /// A page that looks it up.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { pane: shared.pane, session: shared.session, bill: None }
    }
}

impl Sheet for Context {
    fn title(&self) -> String {
        "context".to_owned()
    }

    fn open(&mut self) -> Vec<Effect> {
        let look_up = |session| ask(self.pane, 0, Query::Context { session });
        self.session.map(look_up).into_iter().collect()
    }

    fn hear(&mut self, reply: Reply) {
        if let Reply::Context(bill) = reply {
            self.bill = Some(bill);
        }
    }

    fn lines(&self, width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        match (&self.bill, self.session) {
            (Some(bill), _) => lines(bill, width, look),
            (None, Some(_)) => vec![Line::new("loading…", style(Role::Faint))],
            (None, None) => vec![Line::new("nothing was said yet", style(Role::Faint))],
        }
    }
}

fn lines(bill: &Bill, width: usize, look: &Look) -> Vec<Line> {
    let style = |role| look.theme.style(role);
    let filled = bill.lines.iter().filter(|line| line.what != FREE);
    let used: u64 = filled.map(|line| line.tokens).sum();
    let total = match bill.window {
        0 => format!("{} tokens, about", figures::tokens(used)),
        window => {
            let percent = used.saturating_mul(100) / window;
            format!(
                "{} of {} tokens, about · {percent} %",
                figures::tokens(used),
                figures::tokens(window)
            )
        }
    };
    let mut lines = vec![Line::new(total, style(Role::Strong))];
    if bill.window > 0 {
        let is_tight = used.saturating_mul(10) >= bill.window.saturating_mul(9);
        let role = if is_tight { Role::Warning } else { Role::Good };
        lines.push(bar((used, bill.window), width.min(60), role, look));
    }
    lines.push(Line::EMPTY);
    let longest = bill.lines.iter().map(|line| text::width(&line.what)).max().unwrap_or(0);
    let name = longest.min((width / 2).max(8));
    let filling = bill.lines.iter().filter(|line| line.what != FREE);
    let most = filling.map(|line| line.tokens).max().unwrap_or(1).max(1);
    for line in &bill.lines {
        let what = text::ellipsis(&line.what, name).into_owned();
        let pad = " ".repeat(name - text::width(&what).min(name));
        let tokens = figures::tokens(line.tokens);
        let room = width.saturating_sub(name + 9).min(40);
        let row = Line::new(format!("{what}{pad} "), style(Role::Text))
            .then(format!("{tokens:>6} "), style(Role::Muted));
        if line.what == FREE {
            lines.push(row);
            continue;
        }
        let drawn = bar((line.tokens, most), room, Role::Accent, look);
        lines.push(drawn.spans.into_iter().fold(row, |row, span| row.then(span.text, span.style)));
    }
    lines
}

/// A share of a whole as a bar of cells.
fn bar((part, whole): (u64, u64), cells: usize, role: Role, look: &Look) -> Line {
    let wide = u64::try_from(cells).unwrap_or(0);
    let full = part.min(whole).saturating_mul(wide).div_ceil(whole.max(1)).min(wide);
    let full = usize::try_from(full).unwrap_or(0);
    let (on, off) = if look.unicode { ("█", "░") } else { ("#", ".") };
    Line::new(on.repeat(full), look.theme.style(role))
        .then(off.repeat(cells - full), look.theme.style(Role::Faint))
}
