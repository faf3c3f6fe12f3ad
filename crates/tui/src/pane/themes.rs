//! Themes: the one that is pointed at is shown at once.

use base::Op;

use super::list::{Hints, List};
use super::{Pressed, Shared};
use crate::line::Line;
use crate::look::Look;
use crate::message::{Effect, Purpose};
use crate::picker::{Picked, Picker, Row};
use crate::style::Style;
use crate::theme::{Role, Theme};

/// What the chosen theme is kept under.
pub const THEME: &str = "theme";

/// The list of themes.
#[derive(Debug)]
pub(crate) struct Themes {
    names: Vec<String>,
    before: String,
}

impl Themes {
    /// A list of those there are.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self { names: Theme::names(&shared.themes), before: shared.theme.clone() }
    }
}

impl List for Themes {
    type Worth = String;

    fn picker(&mut self) -> Picker<String> {
        let row = |name: &String| {
            let note = match name.as_str() {
                "auto" => "fits the terminal's background",
                "plain" => "no colours",
                "dark" | "light" => "",
                _ => "yours",
            };
            let mark = if *name == self.before { "●" } else { "" };
            (Row::new(name).noted(note).marked(mark), name.clone())
        };
        let mut picker = Picker::new("themes");
        picker.set(self.names.iter().map(row).collect(), "no themes");
        picker.choose(|name| *name == self.before);
        picker
    }

    fn has_preview(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        &[("enter", "keep"), ("esc", "back to what it was"), ("tab", "sample")]
    }

    fn take(&mut self, picker: &mut Picker<String>) -> Pressed {
        let Some(name) = picker.chosen().cloned() else { return Pressed::Done(self.leave()) };
        let op = Op::Remember { key: THEME.to_owned(), value: Some(name.clone()) };
        Pressed::Done(vec![Effect::SetTheme(name), Effect::Submit { op, purpose: Purpose::Other }])
    }

    fn moved(&mut self, picker: &mut Picker<String>, _how: Picked) -> Vec<Effect> {
        picker.chosen().cloned().map(Effect::SetTheme).into_iter().collect()
    }

    fn leave(&mut self) -> Vec<Effect> {
        vec![Effect::SetTheme(self.before.clone())]
    }

    fn preview(&mut self, _worth: &String, _width: usize, look: &Look) -> Vec<Line> {
        let style = |role| look.theme.style(role);
        let line = |text: &str, role| Line::new(text, style(role));
        let fill =
            |text: &str, role| Line { fill: Some(style(role)), ..Line::new(text, Style::PLAIN) };
        vec![
            line("› what you said", Role::User),
            Line::EMPTY,
            line("An answer, with ", Role::Text)
                .then("code", style(Role::Code))
                .then(" and a ", style(Role::Text))
                .then("link", style(Role::Link)),
            line("what matters less", Role::Muted),
            line("hints and lines", Role::Faint),
            Line::EMPTY,
            line("fn ", Role::Keyword)
                .then("area", style(Role::Function))
                .then("(side: ", style(Role::Text))
                .then("f64", style(Role::Type))
                .then(") ", style(Role::Text))
                .then("// a square", style(Role::Comment)),
            Line::EMPTY,
            fill("- a line that goes", Role::Removed),
            fill("+ a line that comes", Role::Added),
            Line::EMPTY,
            line("● worked", Role::Good)
                .then("  ◌ look here", style(Role::Warning))
                .then("  ✗ failed", style(Role::Bad)),
        ]
    }
}
