//! Edits one after the other, all or none, in whatever encoding the file has.

use std::borrow::Cow;

use super::{Applied, Edit, Misfit, Scope, Tolerance, apply};
use crate::text::Encoding;

/// One edit as a model writes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) scope: Scope,
}

/// Edits that all fitted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) bytes: Vec<u8>,
    /// How many places each edit changed, and how far the match was stretched.
    pub(crate) fits: Vec<(usize, Tolerance)>,
}

/// An edit that did not fit, counted from one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) number: usize,
    pub(crate) misfit: Misfit,
}

/// Applies each edit to what the one before left. Those after one that fails are still tried, so that the
/// model hears of every failure at once.
pub(crate) fn apply_all(content: &[u8], wishes: &[Wish<'_>]) -> Result<Outcome, Vec<Failure>> {
    let encoding = Encoding::of(content);
    let mut bytes = encoding.workable(content).into_owned();
    let (mut fits, mut failures) = (Vec::new(), Vec::new());
    for (at, wish) in wishes.iter().enumerate() {
        match apply_one(&bytes, wish, encoding) {
            Ok(applied) => {
                bytes = applied.bytes;
                fits.push((applied.matches, applied.tolerance));
            }
            Err(misfit) => failures.push(Failure { number: at + 1, misfit }),
        }
    }
    if !failures.is_empty() {
        return Err(failures);
    }
    Ok(Outcome { bytes: encoding.restored(bytes), fits })
}

fn apply_one(bytes: &[u8], wish: &Wish<'_>, encoding: Encoding) -> Result<Applied, Misfit> {
    let scope = wish.scope;
    // A file with one stray byte is not UTF-8 as a whole, and yet its letters are.
    if !wish.old.is_ascii() {
        let edit = Edit { old: wish.old.as_bytes(), new: wish.new.as_bytes(), scope };
        match apply(bytes, &edit) {
            Err(Misfit::Missing { .. }) => {}
            found => return found,
        }
    }
    let encode = |text| encoding.workable_text(text).ok_or(Misfit::Unwritable(encoding.name()));
    let (old, new): (Cow<'_, [u8]>, Cow<'_, [u8]>) = (encode(wish.old)?, encode(wish.new)?);
    apply(bytes, &Edit { old: &old, new: &new, scope })
}
