//! `fetch`, `download` and `sourcegraph` against a real server on loopback.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base::{Block, Origin};
use guard::Action;
use serde_json::{Value, json};
use store::ReadMark;
use tools::{Progress, ToolError};

use crate::room::Room;
use crate::site::{Page, Site, gzip_bomb};

async fn fetch(room: &Room, url: &str) -> Result<String, ToolError> {
    room.call("fetch", json!({ "url": url })).await.map(|output| output.text)
}

async fn refusal(room: &Room, url: &str) -> String {
    fetch(room, url).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_page_is_fetched_as_markdown_text_or_html() {
    let room = Room::new().await;
    let site =
        Site::start(|_| Page::html("<title>T</title><h1>Hi</h1><p>See <a href=/b>b</a>")).await;
    let output = room.call("fetch", json!({ "url": site.url("/a") })).await.unwrap();
    assert!(output.text.contains("# Hi"), "{}", output.text);
    assert!(output.text.contains(&format!("[b]({})", site.url("/b"))), "{}", output.text);
    assert_eq!(output.origin, Origin::Web);
    let asked = &site.asked()[0];
    assert_eq!(asked.header("user-agent"), Some(concat!("caiman/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(asked.header("cookie"), None);
    for (format, expected) in [("text", "See b"), ("html", "<p>See <a href=/b>")] {
        let output =
            room.call("fetch", json!({ "url": site.url("/a"), "format": format })).await.unwrap();
        assert!(output.text.contains(expected), "{}", output.text);
    }
}

#[tokio::test]
async fn other_bodies_are_read_as_what_they_are() {
    let room = Room::new().await;
    let site = Site::start(|asked| match asked.target.as_str() {
        "/json" => Page::of("application/json", r#"{"b":1,"a":[2]}"#),
        "/broken.json" => Page::of("application/json", "{oops"),
        "/text" => Page::of("text/plain", "<b>as it is</b>\n"),
        "/latin" => Page::of("text/plain; charset=iso-8859-1", b"caf\xe9"),
        "/meta" => Page::of("text/html", b"<meta charset=windows-1252><p>\x80 5"),
        "/png" => Page::of("image/png", b"\x89PNG\r\n\x1a\n\0\0"),
        "/sneaky" => Page::of("text/plain", b"MZ\0\0\0"),
        _ => Page::of("text/html", ""),
    })
    .await;
    for (path, expected) in [
        ("/json", "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}"),
        ("/broken.json", "{oops"),
        ("/text", "<b>as it is</b>\n"),
        ("/latin", "café"),
        ("/meta", "€ 5\n"),
        ("/empty", "(the page has no text)\n"),
    ] {
        assert_eq!(fetch(&room, &site.url(path)).await.unwrap(), expected, "{path}");
    }
    for path in ["/png", "/sneaky"] {
        let error = refusal(&room, &site.url(path)).await;
        assert!(error.contains("not text; save it with download"), "{error}");
    }
}

#[tokio::test]
async fn redirects_are_followed_to_where_they_may_lead() {
    let room = Room::new().await;
    let hops = AtomicUsize::new(0);
    let site = Site::start(move |asked| match asked.target.as_str() {
        "/first" => Page::redirect("second?x=1"),
        "/second?x=1" => Page::redirect("/end"),
        "/end" => Page::of("text/plain", "arrived"),
        "/loop" => Page::redirect("/loop"),
        "/nowhere" => Page::status(302),
        "/count" => {
            let hop = hops.fetch_add(1, Ordering::Relaxed);
            if hop < 10 { Page::redirect("/count") } else { Page::of("text/plain", "ten") }
        }
        to => Page::redirect(&to.replacen("/to/", "", 1)),
    })
    .await;
    let text = fetch(&room, &site.url("/first")).await.unwrap();
    assert_eq!(text, format!("(from {})\narrived", site.url("/end")));
    assert!(fetch(&room, &site.url("/count")).await.unwrap().ends_with("ten"));
    for (path, expected) in [
        ("/loop", "more than 10 redirects"),
        ("/nowhere", "redirects to nowhere"),
        ("/to/http://169.254.169.254/latest/meta-data/", "a cloud's metadata service"),
        ("/to/http://10.0.0.1/", "a private network"),
        ("/to/http://[::1]:80/", "this machine"),
        ("/to/http://localhost:1/", "a local name"),
        ("/to/http://2130706434/", "this machine"),
        ("/to/file:///etc/passwd", "cannot be fetched"),
        ("/to/http://me:pw@example.com/", "user name or password"),
    ] {
        let error = refusal(&room, &site.url(path)).await;
        assert!(error.contains(expected), "{path}: {error}");
    }
}

#[tokio::test]
async fn inner_addresses_are_refused_before_anybody_is_asked() {
    let room = Room::new().await;
    for url in [
        "http://127.0.0.2/",
        "http://localhost/",
        "http://10.1.2.3/",
        "http://169.254.169.254/",
        "http://[::ffff:10.0.0.1]/",
        "http://metadata.google.internal/",
        "file:///etc/passwd",
        "http://me@127.0.0.1/",
        "http://0x7f000002/",
        "notaurl://",
        "http://",
        "",
    ] {
        let Value::Object(input) = json!({ "url": url }) else { unreachable!() };
        let call = room.registry.get("fetch").unwrap().clone().prepare(input).unwrap();
        assert!(call.actions(&room.workspace).is_err(), "{url} would be asked about");
        assert!(call.run(&room.ctx()).await.is_err(), "{url} was fetched");
    }
}

#[tokio::test]
async fn a_refusing_server_is_told_with_a_hint() {
    let room = Room::new().await;
    let site = Site::start(|asked| Page::status(asked.target[1..].parse().unwrap())).await;
    for (status, hint) in [
        (404, "check the address"),
        (403, "needs a login"),
        (429, "wait before"),
        (503, "try again later"),
        (418, "418"),
    ] {
        let error = refusal(&room, &site.url(&format!("/{status}"))).await;
        assert!(error.contains(hint) && error.contains(&status.to_string()), "{error}");
    }
    let port = site.port();
    drop(site);
    let error = refusal(&room, &format!("http://127.0.0.1:{port}/")).await;
    assert!(error.starts_with(&format!("127.0.0.1:{port}: ")), "{error}");
}

#[tokio::test]
async fn endless_bodies_and_bombs_are_cut() {
    let room = Room::new().await;
    let site = Site::start(|asked| match asked.target.as_str() {
        "/bomb" => Page::of("text/plain", gzip_bomb(200)).with("content-encoding", "gzip"),
        _ => Page::endless("endless text\n".repeat(1_000)),
    })
    .await;
    let text = fetch(&room, &site.url("/endless")).await.unwrap();
    assert!(text.starts_with("endless text\n"), "{}", &text[..100]);
    assert!(
        text.contains("(cut at 50,000 characters; all 5,242,"),
        "{}",
        &text[text.len() - 200..]
    );
    // Zeros are no text; what matters is that 200 MB were not unpacked to find out.
    let error = refusal(&room, &site.url("/bomb")).await;
    assert!(error.contains("not text"), "{error}");
}

#[tokio::test]
async fn a_long_page_is_kept_whole_in_a_file() {
    let room = Room::new().await;
    let site = Site::start(|_| Page::of("text/plain", "many words ".repeat(20_000))).await;
    let text = fetch(&room, &site.url("/")).await.unwrap();
    assert!(text.chars().count() < 50_300, "{}", text.len());
    let path = room.workspace.spill.join("call.txt");
    assert!(text.contains(&path.display().to_string()), "{}", &text[text.len() - 300..]);
    assert_eq!(std::fs::read_to_string(&path).unwrap().len(), 220_000);
}

#[tokio::test]
async fn slow_servers_and_cancelled_calls_end() {
    let room = Room::new().await;
    let site = Site::start(|_| Page::silence()).await;
    let started = Instant::now();
    let input = json!({ "url": site.url("/"), "timeout": 1 });
    let error = room.call("fetch", input).await.unwrap_err();
    assert!(error.to_string().contains("did not answer within 1 s"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20));
    let cancel = room.cancel.clone();
    let (result, ()) = tokio::join!(room.call("fetch", json!({ "url": site.url("/") })), async {
        while site.asked().len() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    });
    assert!(matches!(result, Err(ToolError::Cancelled)));
}

#[tokio::test]
async fn answers_are_kept_as_long_as_their_servers_say() {
    let room = Room::new().await;
    let site = Site::start(|asked| match (asked.target.as_str(), asked.header("if-none-match")) {
        ("/etag", Some("\"v1\"")) => Page::status(304),
        ("/etag", _) => Page::of("text/plain", "version 1").with("etag", "\"v1\""),
        ("/fresh", _) => Page::of("text/plain", "fresh").with("cache-control", "max-age=600"),
        ("/secret", _) => {
            Page::of("text/plain", "x").with("cache-control", "no-store").with("etag", "\"1\"")
        }
        _ => Page::of("text/plain", "plain"),
    })
    .await;
    for (path, requests) in [("/etag", 2), ("/fresh", 1), ("/secret", 2), ("/plain", 2)] {
        let first = fetch(&room, &site.url(path)).await.unwrap();
        assert_eq!(fetch(&room, &site.url(path)).await.unwrap(), first, "{path}");
        let asked = site.asked().iter().filter(|asked| asked.target == path).count();
        assert_eq!(asked, requests, "{path}");
    }
    let conditions =
        site.asked().iter().filter(|asked| asked.header("if-none-match").is_some()).count();
    assert_eq!(conditions, 1);
}

#[tokio::test]
async fn a_download_streams_into_its_place() {
    let room = Room::new().await;
    let body: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let served = body.clone();
    let site = Site::start(move |_| Page::of("application/zip; x=y", &served)).await;
    let input = json!({ "url": site.url("/a.zip"), "file_path": "new/folder/a.zip" });
    let output = room.call("download", input.clone()).await.unwrap();
    assert_eq!(output.text, "Saved 3,000,000 bytes (application/zip) to new/folder/a.zip\n");
    assert_eq!(std::fs::read(room.folder().join("new/folder/a.zip")).unwrap(), body);
    let left: Vec<_> = std::fs::read_dir(room.folder().join("new/folder")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let Value::Object(input) = input else { unreachable!() };
    let call = room.registry.get("download").unwrap().clone().prepare(input).unwrap();
    let actions = call.actions(&room.workspace).unwrap();
    assert!(matches!(actions.as_slice(), [Action::Fetch(_), Action::Edit(spot)] if spot.inside));
}

#[tokio::test]
async fn a_download_replaces_only_what_is_known() {
    let room = Room::new().await;
    room.write("have.txt", "mine");
    let site = Site::start(|_| Page::of("text/plain", "theirs")).await;
    let read = |path: &str| std::fs::read_to_string(room.folder().join(path)).unwrap();
    let input = json!({ "url": site.url("/"), "file_path": "have.txt" });
    let error = room.call("download", input.clone()).await.unwrap_err();
    assert!(error.to_string().contains("set `overwrite`"), "{error}");
    assert_eq!((read("have.txt").as_str(), site.asked().len()), ("mine", 0));
    let path = room.folder().join("have.txt").display().to_string();
    let mark = ReadMark { hash: vec![1], at: room.workspace.clock.now() };
    room.workspace.store.put_read(room.workspace.session, path, mark).await.unwrap();
    room.call("download", input).await.unwrap();
    assert_eq!(read("have.txt"), "theirs");
    room.write("other.txt", "mine");
    let input = json!({ "url": site.url("/"), "file_path": "other.txt", "overwrite": true });
    room.call("download", input).await.unwrap();
    assert_eq!(read("other.txt"), "theirs");
    room.write("folder/x", "");
    let input = json!({ "url": site.url("/"), "file_path": "folder", "overwrite": true });
    let error = room.call("download", input).await.unwrap_err();
    assert!(error.to_string().contains("is a folder"), "{error}");
}

#[tokio::test]
async fn a_download_that_fails_leaves_nothing() {
    let room = Room::new().await;
    let site = Site::start(|asked| match asked.target.as_str() {
        "/broken" => Page::broken("half"),
        "/endless" => Page::endless(vec![b'x'; 1 << 20]),
        "/404" => Page::status(404),
        _ => Page::redirect("http://169.254.169.254/"),
    })
    .await;
    let reports = Arc::new(Mutex::new(Vec::new()));
    for (path, expected) in [
        ("/broken", "127.0.0.1"),
        ("/endless", "larger than 100 MB"),
        ("/404", "404"),
        ("/meta", "metadata"),
    ] {
        let input = json!({ "url": site.url(path), "file_path": "out.bin" });
        let Value::Object(input) = input else { unreachable!() };
        let call = room.registry.get("download").unwrap().clone().prepare(input).unwrap();
        let mut ctx = room.ctx();
        let seen = reports.clone();
        ctx.progress = Progress::new(move |block| seen.lock().unwrap().push(block));
        let error = call.run(&ctx).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{path}: {error}");
        assert!(std::fs::read_dir(room.folder()).unwrap().next().is_none(), "{path}");
    }
    let reports = reports.lock().unwrap();
    assert!(
        reports.iter().all(|block| matches!(block, Block::Text { text } if text.contains("KB")))
    );
}

const EVENTS: &str = r#"event: progress
data: {"done":false,"matchCount":0}

event: matches
data: [{"type":"content","path":"src/lib.rs","repository":"github.com/a/b","commit":"c","chunkMatches":[{"content":"fn one() {\n    two();\n}","contentStart":{"offset":0,"line":9,"column":0},"ranges":[]},{"content":"}\n\nmore","contentStart":{"line":11}},{"content":"far ``` away","contentStart":{"line":40}}]},{"type":"unheard of"}]

event: matches
data: [{"type":"repo","repository":"github.com/c/d"}]

event: alert
data: {"title":"Careful","description":"slow query"}

event: progress
data: {"done":true,"matchCount":12}

event: done
data: {}

"#;

async fn sourcegraph_room(answer: &'static str) -> (Room, Site) {
    let mut room = Room::new().await;
    let site = Site::start(move |_| Page::of("text/event-stream", answer)).await;
    let workspace = Arc::get_mut(&mut room.workspace).unwrap();
    let vars = [("SRC_ENDPOINT", site.url("/")), ("SRC_ACCESS_TOKEN", "sgp_x".to_owned())];
    workspace.env = workspace.env.with(vars.map(|(name, value)| (name.to_owned(), value)));
    (room, site)
}

#[tokio::test]
async fn code_search_groups_lines_by_file() {
    let (room, site) = sourcegraph_room(EVENTS).await;
    let input = json!({ "query": "one two", "count": 99, "context_window": 3 });
    let output = room.call("sourcegraph", input).await.unwrap();
    let expected = "Found 12 matches; 2 files shown\n(Sourcegraph says: Careful: slow query)\n\
        \n## github.com/a/b/src/lib.rs\n````rs\n10: fn one() {\n11:     two();\n12: }\n13: \n14: more\n\
        …\n41: far ``` away\n````\n\n## github.com/c/d\n";
    assert_eq!(output.text, expected);
    assert_eq!(output.origin, Origin::Web);
    let asked = &site.asked()[0];
    let target = "/.api/search/stream?q=one+two+count%3A20&v=V3&t=keyword&display=20&cm=true&cl=3&max-line-len=500";
    assert_eq!(asked.target, target);
    assert_eq!(asked.header("authorization"), Some("token sgp_x"));
}

#[tokio::test]
async fn code_search_tells_of_bad_queries_and_empty_results() {
    let (room, _site) =
        sourcegraph_room("event: error\ndata: {\"message\":\"unbalanced (\"}\n\n").await;
    let error = room.call("sourcegraph", json!({ "query": "(" })).await.unwrap_err();
    assert_eq!(error.to_string(), "Sourcegraph refuses the query: unbalanced (");
    let error = room.call("sourcegraph", json!({ "query": " " })).await.unwrap_err();
    assert!(error.to_string().contains("empty"), "{error}");
    let (room, _site) =
        sourcegraph_room("event: matches\ndata: not json\n\nevent: done\ndata: {}\n\n").await;
    let output = room.call("sourcegraph", json!({ "query": "x" })).await.unwrap();
    assert_eq!(output.text, "No results.\n");
}
