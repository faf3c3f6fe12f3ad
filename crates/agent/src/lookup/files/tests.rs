use super::*;

fn place(folder: &Path) -> Place {
    Place { folder: folder.to_owned(), home: folder.join("home") }
}

/// A hundred thousand paths as a large repository has them.
fn many() -> List {
    let folders =
        ["src/engine", "src/interface/widgets", "tests/integration", "docs/guides", "lib"];
    let words = ["session", "model", "parser", "window", "stream", "buffer", "render", "input"];
    let path = |number: usize| {
        let (folder, word) = (folders[number % 5], words[number / 5 % 8]);
        format!("{folder}/part{}/{word}_{number}.rs", number % 313)
    };
    List::of((0..100_000).map(path).collect())
}

#[tokio::test]
async fn a_list_is_kept_and_renewed_beside_a_search() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("one.rs"), "").unwrap();
    let (files, scope) = (Files::default(), TaskScope::new());
    let search = async || files.search(&scope, place(dir.path()), "rs".into(), 9).await.unwrap();
    assert_eq!(search().await, ["one.rs"]);
    std::fs::write(dir.path().join("two.rs"), "").unwrap();
    assert_eq!(search().await, ["one.rs"], "the list is fresh");
    let aged = Instant::now().checked_sub(FRESH + Duration::from_secs(1)).unwrap();
    lock(&files.lists).get_mut(dir.path()).unwrap().walked = aged;
    assert_eq!(search().await, ["one.rs"], "an aged one is searched all the same");
    drop(files.walking.lock().await);
    scope.join().await;
    assert_eq!(search().await, ["one.rs", "two.rs"], "and renewed");
}

#[tokio::test]
async fn a_list_nobody_uses_is_dropped_at_the_next_use() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (files, scope) = (Files::default(), TaskScope::new());
    files.search(&scope, place(dir.path()), String::new(), 9).await.unwrap();
    let long_ago = Instant::now().checked_sub(KEPT).unwrap();
    lock(&files.lists).get_mut(dir.path()).unwrap().used = long_ago;
    files.search(&scope, place(other.path()), String::new(), 9).await.unwrap();
    assert!(!lock(&files.lists).contains_key(dir.path()));
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_said_to_be() {
    let (files, scope) = (Files::default(), TaskScope::new());
    let gone = place(Path::new("/nowhere/at/all"));
    let error = files.search(&scope, gone, String::new(), 9).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}

#[test]
fn nothing_typed_shows_what_lies_on_top() {
    let paths = ["src/deep/er.rs", "src/", "zebra.md", "src/lib.rs", "README.md"];
    let list = List::of(paths.map(str::to_owned).to_vec());
    assert_eq!(list.search("", 3), ["README.md", "src/", "zebra.md"]);
    assert_eq!(list.search("lib", 9), ["src/lib.rs"]);
    assert!(list.search("lib", 0).is_empty());
}

#[test]
fn the_best_of_many_are_found() {
    let list = many();
    let found = list.search("session_40.rs", 5);
    assert_eq!(found.first().map(String::as_str), Some("src/engine/part40/session_40.rs"));
    assert_eq!(found.len(), 5);
}
