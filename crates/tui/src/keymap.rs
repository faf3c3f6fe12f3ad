//! Which key does what: defaults, the user's changes, conflicts, and the words for help and palette.

mod action;

use std::collections::{BTreeMap, HashMap};

use crate::key::{Code, Key, Mods};

pub use action::{ACTIONS, Action, Entry, Group};

/// Control and these characters are other keys: terminals send the same byte for both.
const SAME_AS: [(char, &str); 4] = [('m', "enter"), ('i', "tab"), ('h', "backspace"), ('[', "esc")];

/// Keys with which the composer edits, beside those that type.
const EDITING: [&str; 26] = [
    "backspace",
    "delete",
    "left",
    "right",
    "up",
    "down",
    "home",
    "end",
    "ctrl+a",
    "ctrl+e",
    "ctrl+b",
    "ctrl+f",
    "ctrl+k",
    "ctrl+u",
    "ctrl+w",
    "ctrl+y",
    "ctrl+d",
    "ctrl+left",
    "ctrl+right",
    "alt+b",
    "alt+f",
    "alt+d",
    "alt+backspace",
    "alt+left",
    "alt+right",
    "alt+y",
];

/// Which key does what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyMap {
    by_key: HashMap<Key, Action>,
    by_action: BTreeMap<Action, Vec<Key>>,
}

impl Default for KeyMap {
    fn default() -> Self {
        Self::new(&BTreeMap::new()).0
    }
}

impl KeyMap {
    /// The defaults with the user's changes, and what is wrong with these: a text each, to be shown. A change
    /// that is wrong is left out; the rest counts.
    pub fn new(changes: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let chosen = read(changes, &mut problems);
        let mut map = Self { by_key: HashMap::new(), by_action: BTreeMap::new() };
        // The user's keys come first, so that a default never takes one of them.
        for (&action, keys) in &chosen {
            for &key in keys {
                map.bind_chosen(key, action, &mut problems);
            }
        }
        for entry in &ACTIONS {
            if chosen.contains_key(&entry.action) {
                continue;
            }
            let keys: Vec<Key> = entry.keys.iter().filter_map(|key| key.parse().ok()).collect();
            map.bind_default(entry, &keys, &mut problems);
        }
        (map, problems)
    }

    /// What a key does; those of questions only while one waits.
    pub fn action(&self, key: Key) -> Option<Action> {
        self.by_key.get(&key).copied()
    }

    /// The keys of an action, the one to show first; none where the user took them away.
    pub fn keys(&self, action: Action) -> &[Key] {
        self.by_action.get(&action).map_or(&[], Vec::as_slice)
    }

    /// The key to show for an action; empty where it has none.
    pub fn hint(&self, action: Action) -> String {
        self.keys(action).first().map(ToString::to_string).unwrap_or_default()
    }

    /// The keys of an action as the help shows them; empty where it has none.
    pub fn all_hints(&self, action: Action) -> String {
        let keys: Vec<String> = self.keys(action).iter().map(ToString::to_string).collect();
        keys.join(", ")
    }

    fn bind(&mut self, key: Key, action: Action) {
        self.by_key.insert(key, action);
        self.by_action.entry(action).or_default().push(key);
    }

    fn bind_chosen(&mut self, key: Key, action: Action, problems: &mut Vec<String>) {
        match self.action(key) {
            Some(other) if other != action => problems.push(format!(
                "keys: {key} is given to both {} and {}; it does the first",
                other.name(),
                action.name()
            )),
            Some(_) => {}
            None => self.bind(key, action),
        }
    }

    fn bind_default(&mut self, entry: &Entry, keys: &[Key], problems: &mut Vec<String>) {
        let taken = keys.iter().find_map(|key| Some((*key, self.action(*key)?)));
        for &key in keys {
            if self.action(key).is_none() {
                self.bind(key, entry.action);
            }
        }
        if let Some((key, by)) = taken
            && self.keys(entry.action).is_empty()
        {
            problems.push(format!(
                "keys: {key} now does {by}, so {name} has no key; give it one, or write \"{name}\": []",
                by = by.name(),
                name = entry.name
            ));
        }
    }
}

/// The changes that can be understood; what is wrong with the others is told.
fn read(
    changes: &BTreeMap<String, Vec<String>>,
    problems: &mut Vec<String>,
) -> BTreeMap<Action, Vec<Key>> {
    let mut chosen = BTreeMap::new();
    for (name, texts) in changes {
        let Some(action) = Action::named(name) else {
            problems.push(unknown(name));
            continue;
        };
        let mut keys = Vec::new();
        for text in texts {
            match usable(text, action) {
                Ok(key) => keys.push(key),
                Err(problem) => problems.push(format!("keys: {name}: {problem}")),
            }
        }
        // A list in which nothing can be used must not leave the user without the action.
        if texts.is_empty() || !keys.is_empty() {
            chosen.insert(action, keys);
        }
    }
    chosen
}

/// A key that an action may have, or why it may not.
fn usable(text: &str, action: Action) -> Result<Key, String> {
    let key: Key = text.parse().map_err(|problem: crate::key::BadKey| problem.to_string())?;
    if let Code::Char(c) = key.code
        && key.mods == Mods::CTRL
        && let Some((_, same)) = SAME_AS.iter().find(|(other, _)| *other == c.to_ascii_lowercase())
    {
        return Err(format!("terminals send {key} as {same}; choose another key"));
    }
    let is_own = action.entry().keys.contains(&key.to_string().as_str());
    let edits = key.typed().is_some() || EDITING.iter().any(|text| text.parse() == Ok(key));
    if edits && !is_own {
        return Err(format!("{key} is needed for writing; choose another key"));
    }
    Ok(key)
}

fn unknown(name: &str) -> String {
    let wanted = name.to_lowercase().replace(['-', ' '], "_");
    let near = ACTIONS.iter().map(|entry| entry.name).find(|known| {
        *known == wanted || known.contains(&wanted) || (wanted.len() > 3 && wanted.contains(known))
    });
    let advice = near
        .map_or_else(|| "F1 shows them all".to_owned(), |near| format!("perhaps {near} is meant"));
    format!("keys: there is no action {name}; {advice}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Changes<'a> = &'a [(&'a str, &'a [&'a str])];

    fn changed(changes: Changes<'_>) -> (KeyMap, Vec<String>) {
        let texts = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect();
        KeyMap::new(&changes.iter().map(|(name, keys)| ((*name).to_owned(), texts(keys))).collect())
    }

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[test]
    fn every_action_has_one_row_and_its_keys_are_its_own() {
        let mut names: Vec<&str> = ACTIONS.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ACTIONS.len());
        let mut keys: Vec<&str> = ACTIONS.iter().flat_map(|entry| entry.keys).copied().collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count, "a key stands twice among the defaults");
        for entry in &ACTIONS {
            assert_eq!(entry.action.entry().name, entry.name, "it has a row of its own");
            for text in entry.keys {
                assert_eq!(usable(text, entry.action), Ok(key(text)), "{text}");
                let is_composers = EDITING.contains(text) || key(text).typed().is_some();
                assert!(!is_composers || entry.action.is_for_questions() || *text == "ctrl+d");
            }
        }
        let (map, problems) = changed(&[]);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(map.action(key("ctrl+p")), Some(Action::OpenPalette));
        assert_eq!(map.all_hints(Action::OpenModels), "alt+p, f2");
    }

    #[test]
    fn the_user_can_move_add_and_take_away_keys() {
        let (map, problems) =
            changed(&[("open_models", &["ctrl+l"]), ("redraw", &["f12"]), ("new_session", &[])]);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(map.action(key("ctrl+l")), Some(Action::OpenModels));
        assert_eq!(map.action(key("f2")), None);
        assert_eq!(map.hint(Action::Redraw), "f12");
        assert_eq!(map.keys(Action::NewSession), []);
        assert_eq!(map.action(key("ctrl+n")), None);
    }

    #[test]
    fn what_is_wrong_is_told_and_the_rest_counts() {
        let table: [(Changes<'_>, &str); 7] = [
            (
                &[("models", &["f10"])],
                "keys: there is no action models; perhaps open_models is meant",
            ),
            (&[("fly", &["f10"])], "keys: there is no action fly; F1 shows them all"),
            (
                &[("redraw", &["hyper+x"])],
                "keys: redraw: `hyper+x` is no key: write for example ctrl+l, alt+enter, f2 or pageup",
            ),
            (
                &[("redraw", &["ctrl+m"])],
                "keys: redraw: terminals send ctrl+m as enter; choose another key",
            ),
            (&[("redraw", &["x"])], "keys: redraw: x is needed for writing; choose another key"),
            (
                &[("open_cost", &["f12"]), ("redraw", &["f12"])],
                "keys: f12 is given to both redraw and open_cost; it does the first",
            ),
            (
                &[("open_models", &["ctrl+l"])],
                "keys: ctrl+l now does open_models, so redraw has no key; give it one, or write \"redraw\": []",
            ),
        ];
        for (changes, expected) in table {
            let (map, problems) = changed(changes);
            assert_eq!(problems, [expected], "{changes:?}");
            assert_eq!(map.hint(Action::Send), "enter");
        }
        assert_eq!(changed(&[("redraw", &["hyper+x"])]).0.hint(Action::Redraw), "ctrl+l");
    }

    proptest! {
        #[test]
        fn a_key_does_one_thing_and_both_directions_agree(
            changes in prop::collection::btree_map(
                prop::sample::select(ACTIONS.iter().map(|entry| entry.name.to_owned()).collect::<Vec<_>>()),
                prop::collection::vec("(ctrl\\+|alt\\+)?([a-z]|f[1-9]|up|enter)", 0..3),
                0..6,
            ),
        ) {
            let (map, _) = KeyMap::new(&changes);
            for entry in &ACTIONS {
                for &key in map.keys(entry.action) {
                    prop_assert_eq!(map.action(key), Some(entry.action));
                }
            }
            let bound: usize = ACTIONS.iter().map(|entry| map.keys(entry.action).len()).sum();
            prop_assert_eq!(bound, map.by_key.len());
        }
    }
}
