//! Appending, branching and rewinding, against `base::transcript::Tree` as the model.

use base::transcript::Tree;
use base::{Entry, EntryId};
use proptest::prelude::*;
use store::{ENTRY_LIMIT_BYTES, Store, StoreError};

use crate::support;

/// One step; numbers choose among the entries there are.
#[derive(Debug, Clone)]
enum Step {
    /// Append so many entries below the chosen one; none for a new root.
    Append { below: Option<prop::sample::Index>, count: usize },
    /// Make the chosen entry the newest.
    Rewind(prop::sample::Index),
    /// Append below an entry nobody knows: refused, and nothing changes.
    Astray,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let below = prop::option::weighted(0.9, any::<prop::sample::Index>());
    let step = prop_oneof![
        6 => (below, 1..5_usize).prop_map(|(below, count)| Step::Append { below, count }),
        3 => any::<prop::sample::Index>().prop_map(Step::Rewind),
        1 => Just(Step::Astray),
    ];
    prop::collection::vec(step, 1..40)
}

fn agrees(store: &Store, steps: Vec<Step>) {
    let session = support::session(store);
    let (mut model, mut head) = (Tree::default(), None);
    for step in steps {
        let chosen = |index: &prop::sample::Index| {
            (!model.entries().is_empty()).then(|| index.get(model.entries()).id)
        };
        match step {
            Step::Append { below, count } => {
                let mut parent = below.as_ref().and_then(chosen);
                let mut added: Vec<Entry> = Vec::new();
                for _ in 0..count {
                    let entry = support::user(parent, "a \"quoted\" line\nand another ✓");
                    parent = Some(entry.id);
                    added.push(entry);
                }
                for entry in &added {
                    model.append(entry.clone()).unwrap();
                }
                head = parent;
                store.append(session, added).wait().unwrap();
            }
            Step::Rewind(index) => {
                let Some(entry) = chosen(&index) else { continue };
                head = Some(entry);
                store.set_head(session, head).wait().unwrap();
            }
            Step::Astray => {
                let first = support::user(head, "kept out with its neighbour");
                let lost = support::user(Some(EntryId::new()), "astray");
                let error = store.append(session, vec![first, lost]).wait().unwrap_err();
                assert!(matches!(error, StoreError::NoEntry { .. }), "{error}");
            }
        }
    }
    assert_eq!(store.tree(session).wait().unwrap().entries(), model.entries());
    let branch: Vec<Entry> =
        head.map_or(Vec::new(), |head| model.branch(head).unwrap().into_iter().cloned().collect());
    assert_eq!(store.branch(session).wait().unwrap(), branch);
    assert_eq!(in_windows(store, session, 3), branch);
    let found = store.session(session).wait().unwrap();
    assert_eq!(found.head, head);
    assert_eq!(found.summary.entries, model.entries().len() as u64);
}

/// The branch, put together from windows of `limit` entries, newest window first.
fn in_windows(store: &Store, session: base::SessionId, limit: usize) -> Vec<Entry> {
    let mut whole: Vec<Entry> = Vec::new();
    loop {
        let before = whole.first().map(|entry| entry.id);
        let mut window = store.window(session, before, limit).wait().unwrap();
        assert!(window.len() <= limit);
        if window.is_empty() {
            return whole;
        }
        window.append(&mut whole);
        whole = window;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_agrees_with_the_tree(steps in steps()) {
        agrees(&Store::in_memory().unwrap(), steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_store_on_disk_agrees_with_the_tree(steps in steps()) {
        let (_dir, path) = support::place();
        let store = support::open(&path);
        agrees(&store, steps);
        store.check().wait().unwrap();
    }
}

#[test]
fn the_same_entry_twice_is_refused() {
    let store = Store::in_memory().unwrap();
    let session = support::session(&store);
    let entry = support::user(None, "once");
    store.append(session, vec![entry.clone()]).wait().unwrap();
    let error = store.append(session, vec![entry]).wait().unwrap_err();
    assert!(matches!(error, StoreError::EntryExists { .. }), "{error}");
}

#[test]
fn a_large_entry_fits_and_a_huge_one_is_refused() {
    let (_dir, path) = support::place();
    let store = support::open(&path);
    let session = support::session(&store);
    let large = support::user(None, &"x".repeat(20 * 1024 * 1024));
    store.append(session, vec![large.clone()]).wait().unwrap();
    assert_eq!(store.branch(session).wait().unwrap(), vec![large]);
    let huge = support::user(None, &"x".repeat(ENTRY_LIMIT_BYTES));
    let error = store.append(session, vec![huge]).wait().unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { .. }), "{error}");
}

#[test]
fn a_fork_shares_the_branch_and_outlives_its_origin() {
    let store = Store::in_memory().unwrap();
    let origin = support::session(&store);
    let chain = support::chain(6, 10);
    store.append(origin, chain.clone()).wait().unwrap();
    let new = support::new_session("/work/one", 9_000);
    store.fork(origin, chain[3].id, new.clone()).wait().unwrap();
    store.fork(origin, chain[3].id, new.clone()).wait().unwrap();
    store.delete(origin).wait().unwrap();
    assert_eq!(store.branch(new.id).wait().unwrap(), chain[..4]);
    assert!(matches!(store.branch(origin).wait(), Err(StoreError::NoSession(_))));
}

#[tokio::test]
async fn many_tasks_append_at_once_and_each_is_answered() {
    let (_dir, path) = support::place();
    let store = support::open(&path);
    let mut waiting = Vec::new();
    for _ in 0..50 {
        let new = support::new_session("/work/one", 1);
        let chain = support::chain(4, 50);
        let (store, id) = (store.clone(), new.id);
        waiting.push(async move {
            store.create_session(new).await.unwrap();
            store.append(id, chain.clone()).await.unwrap();
            assert_eq!(store.branch(id).await.unwrap(), chain);
        });
    }
    futures_join(waiting).await;
    assert_eq!(store.sessions(store::SessionFilter::default()).await.unwrap().len(), 50);
}

async fn futures_join(futures: Vec<impl Future<Output = ()> + Send + 'static>) {
    let mut set = tokio::task::JoinSet::new();
    for future in futures {
        set.spawn(future);
    }
    while let Some(done) = set.join_next().await {
        done.unwrap();
    }
}
