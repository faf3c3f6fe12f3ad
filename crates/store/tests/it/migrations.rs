//! Every earlier version of the schema becomes the newest, with its data.

use std::fs;
use std::path::{Path, PathBuf};

use base::SessionId;

use crate::support;

fn steps() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut steps: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    steps.sort();
    steps
}

#[test]
fn every_earlier_version_becomes_the_newest_with_its_data() {
    let steps = steps();
    assert!(!steps.is_empty());
    for version in 0..=steps.len() {
        let (_dir, path) = support::place();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let session = SessionId::new();
        {
            let old = support::raw(&path);
            old.pragma_update(None, "application_id", 0x6361_696d).unwrap();
            for step in &steps[..version] {
                old.execute_batch(&fs::read_to_string(step).unwrap()).unwrap();
            }
            old.pragma_update(None, "user_version", i64::try_from(version).unwrap()).unwrap();
            if version >= 1 {
                old.execute(
                    "INSERT INTO sessions (id, title, folder, project, created, updated)
                     VALUES (?1, 'old', '/old', '/old', 1, 2)",
                    [session.as_bytes()],
                )
                .unwrap();
                let body = r#"{"kind":"user","parts":[{"type":"text","text":"an old aardvark","origin":{"from":"user"}}]}"#;
                old.execute(
                    "INSERT INTO entries (session, id, at, kind, body) VALUES (?1, ?1, 2, 'user', ?2)",
                    (session.as_bytes(), body),
                )
                .unwrap();
                old.execute("UPDATE sessions SET entries = 1, head_seq = 1", []).unwrap();
            }
        }
        let store = support::open(&path);
        store.check().wait().unwrap();
        if version >= 1 {
            let found = store.session(session).wait().unwrap();
            assert_eq!(found.summary.title.as_deref(), Some("old"));
            assert_eq!(store.index_more().wait().unwrap(), store::Index::Complete);
            let found = store.find("aardvark", 1).wait().unwrap();
            assert_eq!(found[0].session.id, session, "what was said before there was an index");
            assert_eq!(store.history("/old".to_owned(), 9).wait().unwrap(), ["an old aardvark"]);
        }
        let fresh = support::session(&store);
        store.append(fresh, support::chain(3, 10)).wait().unwrap();
        drop(store);
        assert_eq!(schema(&path), newest_schema(), "from version {version}");
    }
}

fn newest_schema() -> Vec<String> {
    let (_dir, path) = support::place();
    drop(support::open(&path));
    schema(&path)
}

fn schema(path: &Path) -> Vec<String> {
    let database = support::raw(path);
    let mut query = database
        .prepare("SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY type, name")
        .unwrap();
    let rows = query.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}
