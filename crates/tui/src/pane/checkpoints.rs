//! Moments to go back to: the ones before each prompt, with the files that were changed after it.

use base::protocol::{Checkpoint, Query, Reply, Rewound};
use base::{Op, SessionId, Timestamp};

use super::list::{Cover, Hints, List};
use super::shared::ask;
use super::{Overlay, Pressed, Shared, overlay};
use crate::canvas::{Canvas, Rect};
use crate::figures;
use crate::key::{Code, Key, Mods};
use crate::keymap::Action;
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picker, Row};
use crate::theme::Role;

const CHOICES: [(&str, &str, Rewound); 3] = [
    ("b", "conversation and files", Rewound::Both),
    ("t", "the conversation only", Rewound::Talk),
    ("f", "the files only", Rewound::Files),
];

/// The list of moments.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    pane: u64,
    session: Option<SessionId>,
    now: Timestamp,
    /// The moment that was chosen, and which choice is pointed at.
    asking: Option<(Checkpoint, usize)>,
}

impl Checkpoints {
    /// A list that looks up the moments.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { pane: shared.pane, session: shared.session, now: shared.now, asking: None }
    }

    fn asking_key(&mut self, key: Key) -> Option<Pressed> {
        let (checkpoint, at) = self.asking.as_mut()?;
        match key {
            Key { code: Code::Esc, .. } | Key { code: Code::Char('c'), mods: Mods::CTRL } => {
                self.asking = None;
            }
            Key { code: Code::Up, .. } => *at = (*at + CHOICES.len() - 1) % CHOICES.len(),
            Key { code: Code::Down | Code::Tab, .. } => *at = (*at + 1) % CHOICES.len(),
            Key { code: Code::Enter, mods: Mods::NONE } => {
                let (_, _, what) = CHOICES[*at];
                let checkpoint = checkpoint.clone();
                return Some(self.go_back(&checkpoint, what));
            }
            Key { code: Code::Char(c), mods: Mods::NONE } => {
                let chosen = CHOICES.iter().find(|(letter, ..)| letter.starts_with(c));
                if let Some((_, _, what)) = chosen {
                    let (what, checkpoint) = (*what, checkpoint.clone());
                    return Some(self.go_back(&checkpoint, what));
                }
            }
            _ => {}
        }
        Some(Pressed::Taken(Vec::new()))
    }

    fn go_back(&mut self, checkpoint: &Checkpoint, what: Rewound) -> Pressed {
        self.asking = None;
        let Some(session) = self.session else { return Pressed::Done(Vec::new()) };
        let back = |entry, what| Effect::Submit {
            op: Op::Rewind { session, entry, what },
            purpose: Purpose::Other,
        };
        let mut effects = match (checkpoint.before, what) {
            (Some(before), Rewound::Talk | Rewound::Files | Rewound::Both) => {
                vec![back(before, what)]
            }
            // Nothing is before the first prompt, but its files are those before any tool ran.
            (None, Rewound::Files | Rewound::Both) => vec![back(checkpoint.entry, Rewound::Files)],
            (None, Rewound::Talk) => Vec::new(),
        };
        // What was said then is there to be said better.
        if what != Rewound::Files {
            effects.push(Effect::WriteAgain(checkpoint.entry));
            if checkpoint.before.is_none() {
                effects.push(Effect::Perform(Action::NewSession));
            }
        }
        Pressed::Done(effects)
    }
}

impl List for Checkpoints {
    type Worth = Checkpoint;

    fn picker(&mut self) -> Picker<Checkpoint> {
        let mut picker = Picker::new("go back").in_order();
        if self.session.is_none() {
            picker.set(Vec::new(), "nothing was said yet");
        }
        picker
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[("enter", "go back…"), ("esc", "close"), ("tab", "files")]
    }

    fn open(&mut self) -> Vec<Effect> {
        let look_up = |session| ask(self.pane, 0, Query::Checkpoints { session });
        self.session.map(look_up).into_iter().collect()
    }

    fn hear(&mut self, picker: &mut Picker<Checkpoint>, _what: u8, reply: Reply) -> Vec<Effect> {
        if let Reply::Checkpoints { checkpoints } = reply {
            let row = |checkpoint: &Checkpoint| {
                let files = match checkpoint.files.len() {
                    0 => String::new(),
                    1 => "1 file  ".to_owned(),
                    many => format!("{many} files  "),
                };
                let age = figures::ago(checkpoint.at, self.now);
                Row::new(&checkpoint.label).with(format!("{files}{age:>3}"))
            };
            let rows = checkpoints.into_iter().map(|moment| (row(&moment), moment)).collect();
            picker.set(rows, "nothing was said yet");
        }
        Vec::new()
    }

    fn key(&mut self, _picker: &mut Picker<Checkpoint>, key: Key) -> Option<Pressed> {
        self.asking_key(key)
    }

    fn paste(&mut self, _text: &str) -> Option<Pressed> {
        self.asking.is_some().then(|| Pressed::Taken(Vec::new()))
    }

    fn take(&mut self, picker: &mut Picker<Checkpoint>) -> Pressed {
        self.asking = picker.chosen().cloned().map(|checkpoint| (checkpoint, 0));
        Pressed::Taken(Vec::new())
    }

    fn preview(&mut self, worth: &Checkpoint, width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        let mut lines = Line::new(&worth.label, style(Role::Strong)).wrap(width, 0);
        lines.push(Line::EMPTY);
        let heading = if worth.files.is_empty() {
            "no files changed after it"
        } else {
            "files changed after it"
        };
        lines.push(Line::new(heading, style(Role::Muted)));
        lines.extend(
            worth.files.iter().map(|file| Line::new(format!("  {file}"), style(Role::Text))),
        );
        lines
    }

    fn over(&self, canvas: &mut Canvas, area: Rect, look: &Look) -> Cover {
        let Some((checkpoint, at)) = self.asking.as_ref() else { return Cover::Nothing };
        let style = |role| look.theme.style(role);
        let choice = |(index, (letter, words, _)): (usize, &(&str, &str, Rewound))| {
            let is_chosen = index == *at;
            let pointer = if is_chosen { "> " } else { "  " };
            let role = if is_chosen { Role::Strong } else { Role::Text };
            Line::new(format!("{pointer}{letter}  "), style(Role::Accent)).then(*words, style(role))
        };
        let mut lines =
            vec![Line::new(format!("before: {}", checkpoint.label), style(Role::Muted))];
        lines.extend(CHOICES.iter().enumerate().map(choice));
        let shown = Overlay {
            title: "what goes back?",
            lines,
            field: None,
            hints: &[("enter", "go back"), ("esc", "stay")],
        };
        overlay(canvas, area, &shown, look);
        Cover::Drawn(None)
    }
}
