//! MCP and language servers: how they are, and what they said.

use base::protocol::{Op, Query, Reply, ServerKind, ServerState};

use super::list::{Hints, List};
use super::shared::ask;
use super::{Pressed, Shared};
use crate::key::Key;
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picker, Row};
use crate::theme::Role;

/// How they are now.
const NOW: u8 = 0;
/// How they are once something has changed.
const CHANGED: u8 = 1;

/// The list of servers.
#[derive(Debug)]
pub(crate) struct Servers {
    pane: u64,
    folder: String,
}

impl Servers {
    /// A list that looks up the servers of our folder.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { pane: shared.pane, folder: shared.folder.clone() }
    }

    fn look_up(&self) -> Effect {
        ask(self.pane, NOW, Query::Servers { folder: self.folder.clone() })
    }

    /// Asks for the servers once one is no longer how it is: nobody looks again and again.
    fn await_change(&self) -> Effect {
        ask(self.pane, CHANGED, Query::ServersChanged { folder: self.folder.clone() })
    }

    fn restart(&self, picker: &Picker<ServerState>) -> Vec<Effect> {
        let Some(ServerState { name, kind, .. }) = picker.chosen() else { return Vec::new() };
        let op = Op::Restart { server: name.clone(), kind: *kind };
        vec![Effect::Submit { op, purpose: Purpose::Other }, self.look_up()]
    }
}

impl List for Servers {
    type Worth = ServerState;

    fn picker(&mut self) -> Picker<ServerState> {
        Picker::new("servers").in_order()
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[
            ("tab", "log"),
            ("esc", "close"),
            ("ctrl+s", "start anew"),
            ("ctrl+r", "look again"),
            ("shift+up/down", "scroll"),
        ]
    }

    fn open(&mut self) -> Vec<Effect> {
        vec![self.look_up(), self.await_change()]
    }

    fn hear(&mut self, picker: &mut Picker<ServerState>, what: u8, reply: Reply) -> Vec<Effect> {
        if let Reply::Servers { mut servers } = reply {
            servers.sort_by_key(|server| server.kind == ServerKind::Lsp);
            let row = |server: &ServerState| {
                let group = match server.kind {
                    ServerKind::Mcp => "MCP",
                    ServerKind::Lsp => "language servers",
                };
                let row = Row::new(&server.name).under(group).noted(&server.state);
                if is_broken(&server.state) {
                    row.marked("✗").looking(Role::Bad)
                } else {
                    row.marked("●")
                }
            };
            let rows = servers.into_iter().map(|server| (row(&server), server)).collect();
            picker.set(rows, "no servers; settings can name them");
        }
        if what == CHANGED { vec![self.await_change()] } else { Vec::new() }
    }

    fn key(&mut self, picker: &mut Picker<ServerState>, key: Key) -> Option<Pressed> {
        if key == Key::ctrl('s') {
            return Some(Pressed::Taken(self.restart(picker)));
        }
        (key == Key::ctrl('r')).then(|| Pressed::Taken(vec![self.look_up()]))
    }

    fn take(&mut self, _picker: &mut Picker<ServerState>) -> Pressed {
        Pressed::Taken(Vec::new())
    }

    fn preview(&mut self, worth: &ServerState, width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        let mut lines = vec![Line::new(&worth.name, style(Role::Strong))];
        lines.extend(Line::new(&worth.state, style(Role::Muted)).wrap(width, 0));
        lines.push(Line::EMPTY);
        if worth.log.is_empty() {
            lines.push(Line::new("it has said nothing", style(Role::Faint)));
        }
        let texts = worth.log.iter().flat_map(|text| text.lines());
        lines.extend(texts.flat_map(|text| Line::new(text, style(Role::Text)).wrap(width, 2)));
        lines
    }
}

/// States are words for people; these are the ones that ask for attention.
fn is_broken(state: &str) -> bool {
    ["broken", "fail", "error", "cannot", "exited", "refused", "missing"]
        .iter()
        .any(|word| state.contains(word))
}
