//! Keys: which providers have one, and where it comes from. Never the key.

use llm::catalog::Access;

use super::{Check, Section};
use crate::app::App;
use crate::catalog;

/// Looks for keys.
pub(super) fn section(app: &App) -> Section {
    let catalog = catalog::open(app, &settings::load(&app.sources()).config);
    let mut checks: Vec<Check> = catalog
        .providers()
        .iter()
        .filter_map(|entry| match &entry.access {
            Access::Key(source) => Some(Check::good(format!("{}: key from {source}", entry.id))),
            Access::Cloud => Some(Check::good(format!("{}: cloud credentials", entry.id))),
            Access::Open | Access::Missing { .. } => None,
        })
        .collect();
    if checks.is_empty() {
        let fix = "caiman login PROVIDER, or a local server; `caiman run -m demo/tour` needs none";
        checks.push(Check::warning("no provider has a key", fix));
    }
    Section { name: "keys", checks }
}
