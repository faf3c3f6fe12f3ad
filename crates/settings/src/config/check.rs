//! One file's tree against the shapes: what does not fit is dropped and told, the rest stays.
//!
//! The same walk holds the line between data and deeds: what a project's file may not set before the
//! folder is trusted is taken out here, so that no later code ever sees it.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use super::problem::{Problems, Severity};
use super::shape::{Form, Shape, Trust};
use super::suggest::nearest;
use super::tree::{Kind, Node, push_index, push_key};

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The machine's administrator or the user: everything counts.
    User,
    /// A project the user trusts as it is now.
    TrustedProject,
    /// A project the user does not trust, or no longer.
    Project(Distrust),
}

/// Why a project is not trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Distrust {
    /// Nobody has said so.
    Unknown,
    /// Its files have changed since.
    Changed,
}

/// A value that was taken out because the folder is not trusted.
pub(super) struct Withheld {
    pub(super) path: String,
    pub(super) shape: Shape,
    pub(super) node: Node,
}

/// Checks one file.
pub(super) struct Checker<'a> {
    pub(super) owner: Owner,
    pub(super) problems: &'a mut Problems,
    pub(super) withheld: &'a mut Vec<Withheld>,
    path: String,
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        owner: Owner,
        problems: &'a mut Problems,
        withheld: &'a mut Vec<Withheld>,
    ) -> Self {
        Self { owner, problems, withheld, path: String::new() }
    }

    /// The file's tree without what does not fit or may not be set.
    pub(super) fn clean(&mut self, root: Node) -> Node {
        let place = root.place;
        let cleaned = self.fit(root, Shape::root(), Trust::Partly);
        cleaned.unwrap_or_else(|| Node::new(Kind::Table(BTreeMap::new()), place))
    }

    /// The value, if it fits its shape. `above` is what the place inherits.
    fn fit(&mut self, node: Node, shape: Shape, above: Trust) -> Option<Node> {
        let trust = match above {
            Trust::Covered => Trust::Covered,
            Trust::Allowed | Trust::Ignored | Trust::Partly | Trust::Inside | Trust::Narrowing => {
                shape.trust().unwrap_or(above)
            }
        };
        let node = match (shape.form(), node.kind) {
            (_, Kind::Null) => return None,
            (Form::Table, Kind::Table(entries)) => {
                let was_empty = entries.is_empty();
                let entries = self.fit_entries(entries, shape, trust);
                // A provider of which nothing may be set is no provider.
                if entries.is_empty() && !was_empty && self.owner != Owner::User {
                    return None;
                }
                Node::new(Kind::Table(entries), node.place)
            }
            (Form::List, Kind::List(items)) => {
                Node::new(Kind::List(self.fit_items(items, shape, trust)), node.place)
            }
            (form, kind) => self.fit_leaf(Node::new(kind, node.place), shape, &form)?,
        };
        self.admit(node, shape, trust)
    }

    fn fit_entries(
        &mut self,
        entries: BTreeMap<String, Node>,
        shape: Shape,
        trust: Trust,
    ) -> BTreeMap<String, Node> {
        let mut kept = BTreeMap::new();
        for (key, node) in entries {
            let end = push_key(&mut self.path, &key);
            match shape.child(&key) {
                Some(inner) => {
                    let by_name = shape.property(&key).is_some();
                    if let Some(node) = self.fit(node, inner, inherited(trust, by_name)) {
                        kept.insert(key, node);
                    }
                }
                None => self.unknown(&key, &node, shape),
            }
            self.path.truncate(end);
        }
        kept
    }

    fn fit_items(&mut self, items: Vec<Node>, shape: Shape, trust: Trust) -> Vec<Node> {
        let Some(inner) = shape.items() else { return items };
        let below = inherited(trust, false);
        let mut kept = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let end = push_index(&mut self.path, index);
            let place = item.place;
            if let Some(item) = self.fit(item, inner, below) {
                let missing = shape.entry_key().filter(|key| {
                    item.table().and_then(|entry| entry.get(*key)?.text()).is_none_or(str::is_empty)
                });
                match missing {
                    Some(key) => {
                        let message = format!("this entry needs `{key}` and is left out");
                        self.problems.push(Severity::Error, place.at(&self.path), message);
                    }
                    None => kept.push(item),
                }
            }
            self.path.truncate(end);
        }
        kept
    }

    fn fit_leaf(&mut self, node: Node, shape: Shape, form: &Form) -> Option<Node> {
        let fits = match (form, &node.kind) {
            (Form::Any, _)
            | (Form::Text, Kind::Text(_))
            | (Form::Flag, Kind::Flag(_))
            | (Form::Number, Kind::Number(_)) => true,
            (Form::Integer { least, most }, Kind::Number(number)) => {
                let enough = least.is_none_or(|least| number.as_i64().is_none_or(|it| it >= least));
                let small = number.as_u64().is_none_or(|it| most.is_none_or(|most| it <= most));
                (number.is_i64() || number.is_u64()) && enough && small
            }
            (Form::Choice(choices), Kind::Text(text)) => {
                choices.contains(&text.as_str()) || shape.has_alias(text)
            }
            (
                Form::Text
                | Form::Flag
                | Form::Integer { .. }
                | Form::Number
                | Form::Choice(_)
                | Form::List
                | Form::Table,
                _,
            ) => false,
        };
        if fits {
            return Some(node);
        }
        if !self.problems.is_full() {
            self.misfit(&node, shape, form);
        }
        None
    }

    fn misfit(&mut self, node: &Node, shape: Shape, form: &Form) {
        let wanted = match form {
            Form::Any => "any value".to_owned(),
            Form::Text => "text".to_owned(),
            Form::Flag => "true or false".to_owned(),
            Form::Number => "a number".to_owned(),
            Form::List => "a list".to_owned(),
            Form::Table => "an object".to_owned(),
            Form::Integer { most, .. } => match most {
                Some(most) if *most < u64::MAX => format!("a whole number from 0 to {most}"),
                Some(_) => "a whole number, not negative".to_owned(),
                None => "a whole number".to_owned(),
            },
            Form::Choice(choices) => format!("one of {}", choices.join(", ")),
        };
        // A secret of the wrong type is still a secret: the value itself is shown only where a
        // fixed set of words is expected.
        let found = match (form, node.text()) {
            (Form::Choice(_), Some(text)) if !shape.is_secret() => {
                format!("`{}`", text.chars().take(40).collect::<String>())
            }
            _ => node.noun().to_owned(),
        };
        let hint = match (form, node.text()) {
            (Form::Choice(choices), Some(text)) => {
                nearest(text, choices).map(|word| format!("did you mean `{word}`?"))
            }
            _ => None,
        };
        let message = format!("expected {wanted}, found {found}; the value is left out");
        self.problems.push_hinted(Severity::Error, node.place.at(&self.path), message, hint);
    }

    fn unknown(&mut self, key: &str, node: &Node, shape: Shape) {
        if self.problems.is_full() {
            let at = node.place.at(&self.path);
            return self.problems.push(Severity::Warning, at, String::new());
        }
        let hint = nearest(key, &shape.keys()).map(|near| format!("did you mean `{near}`?"));
        let at = node.place.at(&self.path);
        self.problems.push_hinted(Severity::Warning, at, "this key is unknown and ignored", hint);
    }

    /// The value, if the file's owner may set it.
    fn admit(&mut self, node: Node, shape: Shape, trust: Trust) -> Option<Node> {
        let distrust = match self.owner {
            Owner::User => return Some(node),
            Owner::TrustedProject => {
                if trust == Trust::Narrowing && node.text() == Some("bypass") {
                    let message = "a project may not turn all questions off; this is ignored";
                    self.problems.push(Severity::Warning, node.place.at(&self.path), message);
                    return None;
                }
                return Some(node);
            }
            Owner::Project(distrust) => distrust,
        };
        let admitted = match trust {
            Trust::Allowed | Trust::Partly | Trust::Covered => true,
            Trust::Ignored => false,
            Trust::Inside => node.text().is_none_or(stays_inside),
            Trust::Narrowing => node.text() == Some("plan") || node.kind == Kind::Flag(true),
        };
        if admitted {
            return Some(node);
        }
        let message = match distrust {
            Distrust::Unknown => "ignored, because this folder is not trusted",
            Distrust::Changed => {
                "ignored, because files have changed since this folder was trusted"
            }
        };
        let hint = "`caiman trust --show` lists what trust would enable, `caiman trust` gives it";
        let at = node.place.at(&self.path);
        self.problems.push_hinted(Severity::Warning, at, message, Some(hint.to_owned()));
        self.withheld.push(Withheld { path: self.path.clone(), shape, node });
        None
    }
}

/// What the values inside a table or list inherit from it; `by_name` for keys we have a name for.
fn inherited(trust: Trust, by_name: bool) -> Trust {
    match trust {
        Trust::Partly if by_name => Trust::Ignored,
        // Told once about a whole section, nobody need hear of each key in it.
        Trust::Ignored | Trust::Covered => Trust::Covered,
        Trust::Allowed | Trust::Partly | Trust::Inside | Trust::Narrowing => trust,
    }
}

/// Whether a path names something below the project, whatever is expanded in it.
fn stays_inside(path: &str) -> bool {
    let plain = !path.contains(['$', '`', ':']) && !path.starts_with(['~', '\\']);
    plain
        && Path::new(path).components().all(|part| match part {
            Component::Normal(_) | Component::CurDir => true,
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => false,
        })
        && !path.split(['/', '\\']).any(|part| part == "..")
}
