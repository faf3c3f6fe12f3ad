//! Output styles: how the model should answer.

use std::path::Path;

use super::sheet::{Rest, Sheet, first_line, name_trouble};
use super::{Home, Problem, Source};

const KEYS: [&str; 4] = ["name", "description", "keep-coding-instructions", "force-for-plugin"];

/// An output style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What the model is told.
    pub body: String,
    /// Whether our own words on coding stay.
    pub keeps_coding: bool,
    /// Where it comes from.
    pub home: Home,
}

/// Reads a style's file, whose name stands in where the author gives none.
pub fn read(text: &str, path: &Path, home: Home) -> (Option<Style>, Vec<Problem>) {
    let mut sheet = Sheet::open(text, home, &KEYS);
    let line = sheet.line("name");
    let of_file = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = sheet.text("name").or_else(of_file).unwrap_or_default();
    if let Some(trouble) = name_trouble(&name) {
        return (None, sheet.broken(line, trouble));
    }
    if name.is_empty() || sheet.body().trim().is_empty() {
        return (None, sheet.broken(None, "it has no text that says how to answer"));
    }
    let first_line = first_line(sheet.body()).unwrap_or_default();
    let description = sheet.prose("description").unwrap_or(first_line);
    let keeps_coding = sheet.flag("keep-coding-instructions").unwrap_or_default();
    let Rest { body, home, problems, .. } = sheet.rest();
    let name = match &home.source {
        Source::Plugin(plugin) => format!("{plugin}:{name}"),
        Source::Flag | Source::Project | Source::User | Source::BuiltIn => name,
    };
    let body = body.trim().to_owned();
    (Some(Style { name, description, body, keeps_coding, home }), problems)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Standing;

    fn parse(text: &str) -> Option<Style> {
        let file = Some("terse.md".into());
        let home = Home { source: Source::User, file, standing: Standing::Trusted };
        read(text, Path::new("terse.md"), home).0
    }

    #[test]
    fn a_style_is_named_by_its_author_or_its_file() {
        let style = parse("---\nname: Very Terse\nkeep-coding-instructions: true\n---\nBe short.");
        let style = style.unwrap();
        assert_eq!((style.name.as_str(), style.keeps_coding), ("Very Terse", true));
        let style = parse("Be short.").unwrap();
        assert_eq!((style.name.as_str(), style.description.as_str()), ("terse", "Be short."));
        assert!(!style.keeps_coding);
        assert_eq!(parse("---\nname: x\n---\n"), None);
    }
}
