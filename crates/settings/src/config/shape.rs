//! The JSON Schema of the settings, seen as the shapes its checker, merger, mask and manual walk through.
//!
//! Beside JSON Schema's own words the settings carry a few of ours, all on the field they are about:
//!
//! | word | says |
//! |---|---|
//! | `x-trust` | what a project's file may set: see [`Trust`]; inherited downwards |
//! | `x-merge` | `replace`: a later file's list takes the place of an earlier one, instead of being appended |
//! | `x-key` | lists of objects: entries with the same value of this key are one entry |
//! | `x-expand` | variables are expanded when the value is used |
//! | `x-aliases` | further values an enumeration accepts |

use std::sync::OnceLock;

use serde_json::Value;

use super::Config;

/// One place in the settings and what may stand there.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// The schema at the place of use: description, default and our own words.
    site: &'static Value,
    /// The schema after following references and dropping `null`.
    body: &'static Value,
}

/// What may stand at a place.
#[derive(Debug, PartialEq)]
pub(super) enum Form {
    Any,
    Text,
    Flag,
    Integer { least: Option<i64>, most: Option<u64> },
    Number,
    Choice(Vec<&'static str>),
    List,
    Table,
}

/// What a project's file may set at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Anybody's file may set it.
    Allowed,
    /// Ignored until the folder is trusted. What has no word of its own and inherits none is this.
    Ignored,
    /// As `Ignored`, but some of the keys below are allowed.
    Partly,
    /// Paths: until the folder is trusted only those that stay inside it.
    Inside,
    /// The permission mode and switches that turn something off: a project may only narrow.
    Narrowing,
    /// An enclosing value is ignored as a whole. No field says this of itself.
    Covered,
}

impl Shape {
    /// The settings as a whole.
    pub(super) fn root() -> Self {
        let site = schema();
        Self { site, body: site }
    }

    fn of(site: &'static Value) -> Self {
        let mut body = site;
        // References do not form cycles in the settings; the bound is for whoever adds one.
        for _ in 0..8 {
            let inner = body.get("anyOf").and_then(Value::as_array).and_then(|options| {
                options.iter().find(|option| option.get("type") != Some(&Value::from("null")))
            });
            let target = body
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|name| schema().pointer(name.trim_start_matches('#')));
            match inner.or(target) {
                Some(next) => body = next,
                None => break,
            }
        }
        Self { site, body }
    }

    /// The shape of a key: a known one, or any key where keys are free.
    pub(super) fn child(self, key: &str) -> Option<Self> {
        self.property(key).or_else(|| self.entry(key))
    }

    /// The shape of a known key.
    pub(super) fn property(self, key: &str) -> Option<Self> {
        self.body.get("properties").and_then(|known| known.get(key)).map(Self::of)
    }

    fn entry(self, key: &str) -> Option<Self> {
        let free = self.entries()?;
        let names = self.entry_names();
        (names.is_empty() || names.contains(&key)).then_some(free)
    }

    /// The shape of values under free keys.
    pub(super) fn entries(self) -> Option<Self> {
        self.body.get("additionalProperties").map(Self::of)
    }

    /// The shape of a list's items.
    pub(super) fn items(self) -> Option<Self> {
        self.body.get("items").map(Self::of)
    }

    /// The known keys, in the order they are defined in.
    pub(super) fn properties(self) -> Vec<(&'static str, Self)> {
        let known = self.body.get("properties").and_then(Value::as_object);
        let pairs = known.into_iter().flatten();
        pairs.map(|(key, site)| (key.as_str(), Self::of(site))).collect()
    }

    /// Every key that may stand here, where that is known.
    pub(super) fn keys(self) -> Vec<&'static str> {
        let known = self.body.get("properties").and_then(Value::as_object);
        let mut keys: Vec<&str> =
            known.into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        keys.extend(self.entry_names());
        keys
    }

    fn entry_names(self) -> Vec<&'static str> {
        self.words("propertyNames", "enum")
    }

    fn words(self, outer: &str, inner: &str) -> Vec<&'static str> {
        let find = |value: &'static Value| value.get(outer).and_then(|names| names.get(inner));
        let list = find(self.site).or_else(|| find(self.body)).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// What may stand here.
    pub(super) fn form(self) -> Form {
        if let Some(choices) = self.choices() {
            return Form::Choice(choices);
        }
        match self.type_name() {
            Some("string") => Form::Text,
            Some("boolean") => Form::Flag,
            Some("number") => Form::Number,
            Some("array") => Form::List,
            Some("object") => Form::Table,
            Some("integer") => {
                let (least, most) = match self.body.get("format").and_then(Value::as_str) {
                    Some("uint8") => (Some(0), Some(u64::from(u8::MAX))),
                    Some("uint16") => (Some(0), Some(u64::from(u16::MAX))),
                    Some("uint32") => (Some(0), Some(u64::from(u32::MAX))),
                    Some("uint64" | "uint") => (Some(0), Some(u64::MAX)),
                    Some(_) | None => (None, None),
                };
                Form::Integer { least, most }
            }
            Some(_) | None => Form::Any,
        }
    }

    fn type_name(self) -> Option<&'static str> {
        let names = self.body.get("type")?;
        let several = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        names.as_str().into_iter().chain(several).find(|name| *name != "null")
    }

    fn choices(self) -> Option<Vec<&'static str>> {
        let plain = self.body.get("enum").and_then(Value::as_array);
        let documented = self.body.get("oneOf").and_then(Value::as_array);
        if plain.is_none() && documented.is_none() {
            return None;
        }
        let constants = documented.into_iter().flatten().flat_map(|option| {
            let several = option.get("enum").and_then(Value::as_array).into_iter().flatten();
            option.get("const").into_iter().chain(several)
        });
        let all = plain.into_iter().flatten().chain(constants);
        Some(all.filter_map(Value::as_str).collect())
    }

    /// Whether a value outside the choices is accepted all the same.
    pub(super) fn has_alias(self, value: &str) -> bool {
        let list = self.body.get("x-aliases").and_then(Value::as_array);
        list.into_iter().flatten().any(|alias| alias.as_str() == Some(value))
    }

    /// What a project's file may set here; none inherits.
    pub(super) fn trust(self) -> Option<Trust> {
        match self.word("x-trust")? {
            "allowed" => Some(Trust::Allowed),
            "partly" => Some(Trust::Partly),
            "inside" => Some(Trust::Inside),
            "narrowing" => Some(Trust::Narrowing),
            // A misspelt word must not open a door.
            _ => Some(Trust::Ignored),
        }
    }

    /// Whether a later list takes the place of an earlier one.
    pub(super) fn replaces(self) -> bool {
        self.word("x-merge") == Some("replace")
    }

    /// The key by which entries of a list are the same entry.
    pub(super) fn entry_key(self) -> Option<&'static str> {
        self.word("x-key")
    }

    /// Whether variables are expanded here.
    pub(super) fn is_expanded(self) -> bool {
        self.site.get("x-expand").is_some()
            || self.is_secret()
            || self.refers_to("Template")
            || self.items().or(self.entries()).is_some_and(|inner| inner.refers_to("Template"))
    }

    /// Whether the value is a secret by its type.
    pub(super) fn is_secret(self) -> bool {
        self.refers_to("Secret")
    }

    fn refers_to(self, name: &str) -> bool {
        schema()
            .get("$defs")
            .and_then(|all| all.get(name))
            .is_some_and(|it| std::ptr::eq(it, self.body))
    }

    /// What the value means.
    pub(super) fn description(self) -> &'static str {
        self.word("description").unwrap_or_default()
    }

    /// Whether both are places of the same type.
    pub(super) fn is_same_type(self, other: Self) -> bool {
        std::ptr::eq(self.body, other.body)
    }

    /// What each choice means.
    pub(super) fn choice_docs(self) -> Vec<(&'static str, &'static str)> {
        let options = self.body.get("oneOf").and_then(Value::as_array);
        let docs = options.into_iter().flatten().filter_map(|option| {
            let name = option.get("const")?.as_str()?;
            Some((name, option.get("description")?.as_str()?))
        });
        docs.collect()
    }

    /// The value when nobody sets it.
    pub(super) fn default(self) -> Option<&'static Value> {
        self.site.get("default")
    }

    /// Whether the key must be given.
    pub(super) fn requires(self, key: &str) -> bool {
        let list = self.body.get("required").and_then(Value::as_array);
        list.into_iter().flatten().any(|required| required.as_str() == Some(key))
    }

    fn word(self, name: &str) -> Option<&'static str> {
        self.site.get(name).or_else(|| self.body.get(name)).and_then(Value::as_str)
    }
}

/// The JSON Schema of the settings, made once.
pub fn schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schemars::schema_for!(Config).to_value())
}
