//! What this kernel lets us enforce: tried with a child that walks into a cage and goes no further.

use std::path::Path;
use std::sync::Arc;

use super::{Entry, Prepared, system};
use crate::cage::{Bounds, GUARANTEES, Item, Level, Namespace, State, Status};

/// Tries the kinds of namespace, best first.
pub(in crate::cage) fn probe() -> Status {
    let landlock_abi = system::landlock_abi();
    let mut why = Vec::new();
    if landlock_abi == 0 {
        why.push(
            "Landlock is not in this kernel, or was not switched on when it was started".to_owned(),
        );
    }
    for namespace in [Namespace::Privileged, Namespace::User, Namespace::None] {
        match rehearse(namespace) {
            Ok(()) if landlock_abi > 0 => {
                return Status {
                    works: true,
                    landlock_abi,
                    namespace,
                    items: items(landlock_abi, namespace),
                };
            }
            Ok(()) => {}
            Err(reason) => why.push(format!("{namespace}: {reason}")),
        }
    }
    let how = why.join("; ");
    let items = vec![Item { what: "commands are caged", state: State::Missing, how }];
    Status { works: false, landlock_abi, namespace: Namespace::None, items }
}

/// Sends a child into a cage of this kind.
fn rehearse(namespace: Namespace) -> Result<(), String> {
    let temp = Path::new("/tmp").join(format!("caiman-probe-{}", std::process::id()));
    let bounds = Bounds { temp: temp.clone(), ..Bounds::default() };
    let outcome = super::super::make_temp(&temp)
        .and_then(|()| Prepared::with(&bounds, namespace))
        .map_err(|error| error.to_string())
        .and_then(|prepared| {
            let entry = Entry(Arc::new(prepared));
            crate::process::rehearse(entry).map_err(|error| error.to_string())
        });
    // Best effort: an empty folder in the temporary folder does no harm.
    std::fs::remove_dir_all(&temp).ok();
    outcome
}

fn items(abi: u8, namespace: Namespace) -> Vec<Item> {
    let item = |what, state, how: &str| Item { what, state, how: how.to_owned() };
    let since = |needed: u8, what, kernel: &str| {
        if abi >= needed {
            item(what, State::Enforced, "Landlock")
        } else {
            item(what, State::Missing, &format!("needs Linux {kernel}"))
        }
    };
    let mut items = vec![
        since(3, "files outside cannot be cut short", "6.2"),
        since(5, "devices cannot be controlled", "6.10"),
        since(6, "other programs get no signals", "6.12"),
    ];
    let level = match namespace {
        Namespace::Privileged | Namespace::User => Level::Namespaces,
        Namespace::None => Level::Landlock,
    };
    items.extend(GUARANTEES.iter().map(|guarantee| guarantee.item(level)));
    items
}
