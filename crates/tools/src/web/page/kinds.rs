//! What elements are, as far as the shape of a page goes.

use std::collections::HashMap;
use std::sync::LazyLock;

/// What an element is: any of the constants together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds(u32);

impl Kinds {
    /// It has no end tag.
    pub(super) const VOID: Self = Self(1);
    /// It is left out with all it holds.
    pub(super) const DROPPED: Self = Self(1 << 1);
    /// It holds the page and is never left out.
    pub(super) const HOLDER: Self = Self(1 << 2);
    /// It ends a paragraph that is open.
    const BLOCK: Self = Self(1 << 3);
    const PARAGRAPH: Self = Self(1 << 4);
    const ITEM: Self = Self(1 << 5);
    const TERM: Self = Self(1 << 6);
    const CELL: Self = Self(1 << 7);
    const ROW: Self = Self(1 << 8);
    const ROWS: Self = Self(1 << 9);
    const OPTION: Self = Self(1 << 10);
    const LINK: Self = Self(1 << 11);
    const LIST: Self = Self(1 << 12);
    const TERMS: Self = Self(1 << 13);
    const TABLE: Self = Self(1 << 14);
    const CHOICE: Self = Self(1 << 15);
    const SECTION: Self = Self(1 << 16);

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether it is one of these.
    pub(super) fn any(self, of: Self) -> bool {
        self.0 & of.0 != 0
    }

    /// What its start tag ends, and what that must lie within.
    pub(super) fn implied_end(self) -> Option<(Self, Self)> {
        const BOX: Kinds = Kinds::SECTION.and(Kinds::TABLE);
        const RULES: [(Kinds, Kinds, Kinds); 8] = [
            (Kinds::ITEM, Kinds::ITEM, BOX.and(Kinds::LIST)),
            (Kinds::TERM, Kinds::TERM, BOX.and(Kinds::TERMS)),
            (Kinds::CELL, Kinds::CELL, Kinds::ROW.and(Kinds::TABLE)),
            (Kinds::ROW, Kinds::ROW, Kinds::ROWS.and(Kinds::TABLE)),
            (Kinds::ROWS, Kinds::ROWS, Kinds::TABLE),
            (Kinds::OPTION, Kinds::OPTION, Kinds::CHOICE),
            (Kinds::LINK, Kinds::LINK, BOX.and(Kinds::PARAGRAPH).and(Kinds::ITEM).and(Kinds::CELL)),
            (Kinds::BLOCK, Kinds::PARAGRAPH, BOX.and(Kinds::ITEM).and(Kinds::CELL)),
        ];
        RULES.iter().find(|(kind, _, _)| self.any(*kind)).map(|(_, ends, within)| (*ends, *within))
    }
}

/// What an element is, by its name in lower case.
pub(super) fn kinds_of(name: &str) -> Kinds {
    KINDS.get(name).copied().unwrap_or_default()
}

static KINDS: LazyLock<HashMap<&'static str, Kinds>> = LazyLock::new(|| {
    let lists: [(Kinds, &[&str]); 17] = [
        (
            Kinds::VOID,
            &[
                "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta",
                "param", "source", "track", "wbr", "frame",
            ],
        ),
        (
            Kinds::DROPPED,
            &[
                "script", "style", "template", "noscript", "svg", "canvas", "object", "audio",
                "video", "map", "nav", "footer", "aside", "button", "dialog", "select", "menu",
                "applet",
            ],
        ),
        (Kinds::HOLDER, &["html", "body", "main", "head"]),
        (
            Kinds::BLOCK,
            &[
                "address",
                "article",
                "blockquote",
                "center",
                "details",
                "div",
                "dl",
                "fieldset",
                "figure",
                "form",
                "h1",
                "h2",
                "h3",
                "h4",
                "h5",
                "h6",
                "header",
                "main",
                "ol",
                "p",
                "pre",
                "section",
                "table",
                "ul",
            ],
        ),
        (Kinds::PARAGRAPH, &["p"]),
        (Kinds::ITEM, &["li"]),
        (Kinds::TERM, &["dt", "dd"]),
        (Kinds::CELL, &["td", "th"]),
        (Kinds::ROW, &["tr"]),
        (Kinds::ROWS, &["tbody", "thead", "tfoot"]),
        (Kinds::OPTION, &["option", "optgroup"]),
        (Kinds::LINK, &["a"]),
        (Kinds::LIST, &["ul", "ol", "menu"]),
        (Kinds::TERMS, &["dl"]),
        (Kinds::TABLE, &["table"]),
        (Kinds::CHOICE, &["select", "datalist"]),
        (Kinds::SECTION, &["div", "section", "article", "blockquote"]),
    ];
    let mut all: HashMap<&'static str, Kinds> = HashMap::new();
    for (kind, names) in lists {
        for name in names {
            let kinds = all.entry(name).or_default();
            *kinds = kinds.and(kind);
        }
    }
    all
});
