//! Agents and skills as rows and previews.

use base::protocol::{Offer, OfferKind};

use super::Shared;
use super::list::Hints;
use crate::line::Line;
use crate::look::Look;
use crate::picker::Row;
use crate::theme::Role;

/// What the keys of these lists do.
pub(super) const HINTS: Hints =
    &[("enter", "write its name"), ("esc", "close"), ("tab", "details")];

/// The offers of a kind.
pub(super) fn of(shared: &Shared, kind: OfferKind) -> Vec<Offer> {
    shared.offers.iter().filter(|offer| offer.kind == kind).cloned().collect()
}

/// Offers as rows.
pub(super) fn rows(offers: Vec<Offer>) -> Vec<(Row, Offer)> {
    offers.into_iter().map(|offer| (Row::new(&offer.name).noted(&offer.about), offer)).collect()
}

/// All that is known of an offer.
pub(super) fn preview(offer: &Offer, width: usize, look: &Look) -> Vec<Line> {
    let style = |role| look.theme.style(role);
    let title = Line::new(&offer.name, style(Role::Strong));
    let mut lines =
        vec![title.then(format!(" {}", offer.arguments), style(Role::Muted)), Line::EMPTY];
    for text in offer.about.lines() {
        lines.extend(Line::new(text, style(Role::Text)).wrap(width, 0));
    }
    lines.push(Line::EMPTY);
    lines.extend(Line::new(&offer.source, style(Role::Faint)).wrap(width, 0));
    lines
}
