//! Two and more processes on one database at once is normal.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};

use base::SessionId;

use crate::{child, support};

#[test]
fn processes_that_write_at_once_all_succeed() {
    let (_dir, path) = support::place();
    // Nobody has made the database yet: they also race to create and migrate it.
    let children: Vec<_> = (0..4).map(|_| child::start(&path, "append 40")).collect();
    let mut told: HashMap<SessionId, usize> = HashMap::new();
    for mut process in children {
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        for line in lines.map_while(Result::ok) {
            if let Some((session, _)) = child::acknowledged(&line) {
                *told.entry(session).or_default() += 1;
            }
        }
        assert!(process.wait().unwrap().success());
    }
    assert_eq!(told.len(), 4 * 3);
    let store = support::open(&path);
    for (session, count) in told {
        assert_eq!(count, 40);
        assert_eq!(store.branch(session).wait().unwrap().len(), 40);
    }
    store.check().wait().unwrap();
}

#[test]
fn one_store_sees_what_another_has_written() {
    let (_dir, path) = support::place();
    let (left, right) = (support::open(&path), support::open(&path));
    let session = support::session(&left);
    let prompt = support::user(None, "hello");
    left.append(session, vec![prompt.clone()]).wait().unwrap();
    assert_eq!(right.branch(session).wait().unwrap(), vec![prompt.clone()]);
    let answer = support::assistant(Some(prompt.id), "hi");
    right.append(session, vec![answer.clone()]).wait().unwrap();
    assert_eq!(left.branch(session).wait().unwrap(), vec![prompt, answer]);
}
