//! Call ids in the form a server accepts, none twice: some servers number the calls of each answer
//! from zero. The same conversation always gets the same ids.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use settings::provider::CallIdForm;
use sha2::{Digest, Sha256};

const NINE: usize = 9;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Hands out the ids of one conversation.
#[derive(Debug)]
pub(super) struct Ids {
    form: CallIdForm,
    /// The longest plain id.
    longest: usize,
    given: HashSet<String>,
    copies: HashMap<String, usize>,
}

impl Ids {
    pub(super) fn new(form: CallIdForm, longest: usize) -> Self {
        Self { form, longest, given: HashSet::new(), copies: HashMap::new() }
    }

    /// The id for the next call: its own where that fits and is free.
    pub(super) fn give(&mut self, own: &str) -> String {
        let first = self.fit(own);
        if self.given.insert(first.clone()) {
            return first;
        }
        let mut copy = self.copies.get(&first).copied().unwrap_or(1);
        loop {
            copy += 1;
            let id = self.copy(&first, copy);
            if self.given.insert(id.clone()) {
                self.copies.insert(first, copy);
                return id;
            }
        }
    }

    fn fit(&self, own: &str) -> String {
        match self.form {
            CallIdForm::Plain if own.is_empty() => "call".to_owned(),
            CallIdForm::Plain => plain(own, self.longest).into_owned(),
            CallIdForm::Nine if is_nine(own) => own.to_owned(),
            CallIdForm::Nine => hashed(own),
        }
    }

    fn copy(&self, id: &str, number: usize) -> String {
        let suffix = format!("_{number}");
        match self.form {
            CallIdForm::Plain => {
                let stem = &id[..id.len().min(self.longest - suffix.len())];
                format!("{stem}{suffix}")
            }
            CallIdForm::Nine => hashed(&format!("{id}{suffix}")),
        }
    }
}

/// `text` in plain letters, cut to `longest` of them.
pub(super) fn plain(text: &str, longest: usize) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if text.len() <= longest && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    text.chars().take(longest).map(|c| if fits(c) { c } else { '_' }).collect()
}

fn is_nine(id: &str) -> bool {
    id.len() == NINE && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn hashed(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let letter = |byte: &u8| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]);
    digest.iter().take(NINE).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_fit_the_form_are_unique_and_the_same_every_time() {
        let long = "x".repeat(65);
        let ids = ["call_1", "call_1", "fc.1|2", "", &long, &long, "abcdefghi", "abcdefghi", "ü"];
        for (form, longest) in
            [(CallIdForm::Plain, 40), (CallIdForm::Plain, 64), (CallIdForm::Nine, 64)]
        {
            let give = || {
                let mut given = Ids::new(form, longest);
                ids.iter().map(|id| given.give(id)).collect::<Vec<String>>()
            };
            let made = give();
            assert_eq!(made, give());
            assert_eq!(made.iter().collect::<HashSet<_>>().len(), ids.len());
            for id in &made {
                let fits = match form {
                    CallIdForm::Plain => !id.is_empty() && plain(id, longest) == *id,
                    CallIdForm::Nine => is_nine(id),
                };
                assert!(fits, "{id}");
            }
        }
    }

    #[test]
    fn an_id_that_fits_stays() {
        assert_eq!(Ids::new(CallIdForm::Plain, 40).give("call_1"), "call_1");
        assert_eq!(Ids::new(CallIdForm::Nine, 40).give("abcdefghi"), "abcdefghi");
    }
}
