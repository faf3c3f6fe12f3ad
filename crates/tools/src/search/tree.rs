//! A folder as a tree: level by level, so that what is cut is deep or wide, and each folder says how much
//! of it is missing.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base::block::Node;
use ignore::IncrementalIgnore;

use super::pattern::Patterns;
use super::walk::{GitIgnore, Root};
use super::{Stop, counted, grouped};

/// What to list.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The folder.
    pub(crate) root: Root,
    /// How many folders deep; none for all.
    pub(crate) depth: Option<usize>,
    /// How many names.
    pub(crate) limit: usize,
    /// What to leave out.
    pub(crate) without: Option<Patterns>,
}

/// A folder's tree.
#[derive(Debug)]
pub(crate) struct Tree {
    entries: Vec<Entry>,
    /// How many names it shows.
    pub(crate) shown: usize,
    /// How many names in its folders were left out for being too many.
    pub(crate) left_out: usize,
}

#[derive(Debug)]
struct Entry {
    name: String,
    path: PathBuf,
    depth: usize,
    kind: Kind,
    children: Vec<usize>,
    /// Names directly below it that are not shown.
    missing: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    /// A link, and where it says it leads. Not followed.
    Link(PathBuf),
}

/// Lists a folder.
pub(crate) fn tree(wanted: &Wanted, stop: &Stop) -> io::Result<Tree> {
    let mut lister = Lister::new(wanted, GitIgnore::Heeded);
    let top = Entry {
        name: wanted.root.name(Path::new("")),
        path: wanted.root.real().to_owned(),
        depth: 0,
        kind: Kind::Folder,
        children: Vec::new(),
        missing: 0,
    };
    let mut first = lister.list(&top)?;
    if first.is_empty() && !wanted.root.is_in_repository() {
        lister = Lister::new(wanted, GitIgnore::Disregarded);
        first = lister.list(&top)?;
    }
    let mut tree = Tree { entries: vec![top], shown: 0, left_out: 0 };
    let mut open = VecDeque::new();
    tree.add(0, first, wanted.limit, &mut open);
    // A folder below the first shows at most a quarter of what there is room for: none crowds out all.
    let share = wanted.limit.div_ceil(4);
    while let Some(index) = open.pop_front() {
        if stop.reached() {
            break;
        }
        let folder = &tree.entries[index];
        if wanted.depth.is_some_and(|depth| folder.depth >= depth) {
            continue;
        }
        // A folder that vanished or may not be read is an empty one; the rest is still worth seeing.
        let below = lister.list(folder).unwrap_or_default();
        let room = share.min(wanted.limit.saturating_sub(tree.shown));
        tree.add(index, below, room, &mut open);
    }
    Ok(tree)
}

impl Tree {
    fn add(
        &mut self,
        parent: usize,
        mut below: Vec<Entry>,
        room: usize,
        open: &mut VecDeque<usize>,
    ) {
        below.sort_by(|a, b| a.name.cmp(&b.name));
        if below.len() > room {
            // Folders say most about a place.
            below.sort_by_key(|entry| entry.kind != Kind::Folder);
            let missing = below.len() - room;
            below.truncate(room);
            self.entries[parent].missing = missing;
            self.left_out += missing;
            below.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self.shown += below.len();
        for entry in below {
            let index = self.entries.len();
            if entry.kind == Kind::Folder {
                open.push_back(index);
            }
            self.entries[parent].children.push(index);
            self.entries.push(entry);
        }
    }

    /// As text: one name a line, two spaces a level.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(0, 0, &mut text);
        text
    }

    // As deep as the tree of folders it shows, which has at most `limit` names.
    fn write(&self, index: usize, level: usize, text: &mut String) {
        let entry = &self.entries[index];
        text.extend(std::iter::repeat_n("  ", level));
        text.push_str(&entry.label());
        text.push('\n');
        for child in &entry.children {
            self.write(*child, level + 1, text);
        }
        if entry.missing > 0 {
            text.extend(std::iter::repeat_n("  ", level + 1));
            text.push_str(&entry.rest());
            text.push('\n');
        }
    }

    /// For a face.
    pub(crate) fn node(&self) -> Node {
        self.node_of(0)
    }

    fn node_of(&self, index: usize) -> Node {
        let entry = &self.entries[index];
        let mut children: Vec<_> =
            entry.children.iter().map(|child| self.node_of(*child)).collect();
        if entry.missing > 0 {
            children.push(Node { label: entry.rest(), children: Vec::new() });
        }
        Node { label: entry.label(), children }
    }

    /// One line about it.
    pub(crate) fn summary(&self) -> String {
        match self.left_out {
            0 => counted(self.shown, "name"),
            _ => format!("{}, {} left out", counted(self.shown, "name"), grouped(self.left_out)),
        }
    }
}

impl Entry {
    fn label(&self) -> String {
        match &self.kind {
            Kind::Folder if self.name.ends_with('/') => self.name.clone(),
            Kind::Folder => format!("{}/", self.name),
            Kind::File => self.name.clone(),
            Kind::Link(target) => format!("{} -> {}", self.name, target.display()),
        }
    }

    fn rest(&self) -> String {
        format!("… {} more", grouped(self.missing))
    }
}

/// Reads folders, without what is ignored.
struct Lister<'w> {
    wanted: &'w Wanted,
    ignored: Vec<IncrementalIgnore>,
}

impl<'w> Lister<'w> {
    fn new(wanted: &'w Wanted, git: GitIgnore) -> Self {
        Self { wanted, ignored: wanted.root.walk(git).build_matchers() }
    }

    fn list(&mut self, folder: &Entry) -> io::Result<Vec<Entry>> {
        let mut below = Vec::new();
        for entry in fs::read_dir(&folder.path)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let path = entry.path();
            if self.leaves_out(&path, kind.is_dir()) {
                continue;
            }
            let kind = if kind.is_dir() {
                Kind::Folder
            } else if kind.is_symlink() {
                Kind::Link(self.wanted.root.shown_target(fs::read_link(&path).unwrap_or_default()))
            } else {
                Kind::File
            };
            let name = entry.file_name().to_string_lossy().into_owned();
            let depth = folder.depth + 1;
            below.push(Entry { name, path, depth, kind, children: Vec::new(), missing: 0 });
        }
        Ok(below)
    }

    fn leaves_out(&mut self, path: &Path, is_folder: bool) -> bool {
        let root = &self.wanted.root;
        let relative = root.relative(path);
        let ignored =
            |matcher: &mut IncrementalIgnore| matcher.matched(relative, is_folder).is_ignore();
        !root.enters(path)
            || self.wanted.without.as_ref().is_some_and(|without| without.is_match(relative))
            || self.ignored.iter_mut().any(ignored)
    }
}
