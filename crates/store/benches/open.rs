//! Opening a large store and its largest session; appending alone and in company; looking for what was said.

#![expect(clippy::unwrap_used, reason = "a bench that fails should stop")]
#![expect(clippy::print_stderr, reason = "what is done once is told, not measured again")]

use std::hint::black_box;
use std::path::Path;

use base::{Entry, EntryId, EntryKind, Part, SessionId, Timestamp};
use criterion::{Criterion, criterion_group, criterion_main};
use store::{Index, NewSession, Place, SessionFilter, Store};

const SESSIONS: usize = 10_000;
const ENTRIES: usize = 20_000;
/// What a face asks for first.
const WINDOW: usize = 100;

fn new_session(at: i64) -> NewSession {
    let folder = format!("/work/{}", at % 40);
    let at = Timestamp::from_millis(at);
    NewSession {
        id: SessionId::new(),
        folder: folder.clone(),
        project: folder,
        agent: None,
        child_of: None,
        at,
    }
}

fn entry(parent: Option<EntryId>) -> Entry {
    let parts = vec![Part::user_text("about a kilobyte of text ".repeat(38))];
    let at = Timestamp::from_millis(1_000_000);
    Entry { id: EntryId::new(), parent, at, kind: EntryKind::User { parts } }
}

fn chain(count: usize) -> Vec<Entry> {
    let mut chain: Vec<Entry> = Vec::with_capacity(count);
    for _ in 0..count {
        chain.push(entry(chain.last().map(|entry| entry.id)));
    }
    chain
}

/// 10,000 sessions, one of them with 20,000 entries of about 1 KB.
fn fill(path: &Path) -> SessionId {
    let store = Store::open(path).unwrap().store;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut set = tokio::task::JoinSet::new();
        for at in 0..SESSIONS {
            let store = store.clone();
            set.spawn(async move {
                let new = new_session(i64::try_from(at).unwrap());
                let id = new.id;
                store.create_session(new).await.unwrap();
                store.append(id, vec![entry(None)]).await.unwrap();
                id
            });
        }
        let large = set.join_next().await.unwrap().unwrap();
        while set.join_next().await.is_some() {}
        let head = store.session(large).await.unwrap().head;
        let mut entries = chain(ENTRIES);
        entries[0].parent = head;
        store.append(large, entries).await.unwrap();
        large
    })
}

fn opening(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("caiman.db");
    let large = fill(&path);
    let mut group = criterion.benchmark_group("large_store");
    group.sample_size(30);
    group.bench_function("open_and_read_the_newest_window", |bench| {
        bench.iter(|| {
            let store = Store::open(&path).unwrap().store;
            black_box(store.window(large, None, WINDOW).wait().unwrap())
        });
    });
    let store = Store::open(&path).unwrap().store;
    group.bench_function("read_the_whole_branch", |bench| {
        bench.iter(|| black_box(store.branch(large).wait().unwrap()));
    });
    group.bench_function("list_fifty_of_a_project", |bench| {
        let place = Place::Project("/work/7".to_owned());
        let filter = SessionFilter { place, limit: Some(50), ..SessionFilter::default() };
        bench.iter(|| black_box(store.sessions(filter.clone()).wait().unwrap()));
    });
    group.finish();
}

fn appending(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("caiman.db")).unwrap().store;
    let new = new_session(1);
    let session = new.id;
    store.create_session(new).wait().unwrap();
    let mut group = criterion.benchmark_group("append");
    group.sample_size(20);
    group.bench_function("one_durable_entry", |bench| {
        bench.iter(|| store.append(session, vec![entry(None)]).wait().unwrap());
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    group.bench_function("a_hundred_callers_at_once", |bench| {
        bench.iter(|| {
            runtime.block_on(async {
                let mut set = tokio::task::JoinSet::new();
                for _ in 0..100 {
                    set.spawn(store.append(session, vec![entry(None)]).into_future());
                }
                while let Some(done) = set.join_next().await {
                    done.unwrap().unwrap();
                }
            });
        });
    });
    group.finish();
}

/// 10,000 sessions of one project, each with a prompt of its own.
fn fill_project(path: &Path) -> Store {
    let store = Store::open(path).unwrap().store;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut set = tokio::task::JoinSet::new();
        for at in 0..SESSIONS {
            let (store, at_ms) = (store.clone(), i64::try_from(at).unwrap());
            set.spawn(async move {
                let new = NewSession { project: "/work".to_owned(), ..new_session(at_ms) };
                let id = new.id;
                store.create_session(new).await.unwrap();
                let text = format!("prompt {at} about {}", "a file and its tests ".repeat(10));
                let kind = EntryKind::User { parts: vec![Part::user_text(text)] };
                let at = Timestamp::from_millis(at_ms);
                let entry = Entry { id: EntryId::new(), parent: None, at, kind };
                store.append(id, vec![entry]).await.unwrap();
            });
        }
        while set.join_next().await.is_some() {}
    });
    store
}

fn looking(criterion: &mut Criterion) {
    let dir = tempfile::tempdir().unwrap();
    let store = fill_project(&dir.path().join("caiman.db"));
    let mut group = criterion.benchmark_group("past");
    group.sample_size(20);
    group.bench_function("history_of_ten_thousand_sessions", |bench| {
        bench.iter(|| black_box(store.history("/work".to_owned(), 200).wait().unwrap()));
    });
    let began = std::time::Instant::now();
    let mut steps = 1;
    while store.index_more().wait().unwrap() == Index::Behind {
        steps += 1;
    }
    let (took, each) = (began.elapsed(), began.elapsed() / steps);
    eprintln!("index of {SESSIONS} prompts: {took:?} in {steps} steps, {each:?} each");
    for (name, words) in
        [("find_one_of_ten_thousand", "prompt 7777"), ("find_what_all_hold", "fi te")]
    {
        group.bench_function(name, |bench| {
            bench.iter(|| {
                store.index_more().wait().unwrap();
                black_box(store.find(words, 50).wait().unwrap())
            });
        });
    }
    group.finish();
}

criterion_group!(benches, opening, appending, looking);
criterion_main!(benches);
