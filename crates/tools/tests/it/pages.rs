//! Pages as sites make them (a manual, a wiki, a blog, a forum), and what a model reads of each.

use std::time::{Duration, Instant};

use tools::web::to_markdown;
use url::Url;

const MEGABYTE: usize = 1_000_000;

fn read(html: &str) -> String {
    to_markdown(html, &Url::parse("https://docs.example.com/queue/page.html").unwrap())
}

#[test]
fn a_page_of_a_manual() {
    insta::assert_snapshot!(read(include_str!("pages/docs.html")));
}

#[test]
fn a_page_of_a_wiki() {
    insta::assert_snapshot!(read(include_str!("pages/wiki.html")));
}

#[test]
fn a_page_of_a_blog() {
    insta::assert_snapshot!(read(include_str!("pages/blog.html")));
}

#[test]
fn a_page_of_a_forum() {
    insta::assert_snapshot!(read(include_str!("pages/forum.html")));
}

/// A page of `bytes`: `part` over and over.
fn filled(part: &str, bytes: usize) -> String {
    let body = part.repeat(bytes / part.len());
    format!("<html><head><title>Long</title></head><body>{body}</body></html>")
}

#[test]
fn a_megabyte_takes_a_moment_and_twice_as_much_about_twice_as_long() {
    let markup =
        "<div class=\"a b c\" data-x=\"0123456789\"><span style=\"color:red\"><i></i></span></div>";
    for (name, part) in [
        ("text", "<p>Some words, and <a href=\"/x\">a link</a> among them.</p>\n"),
        ("markup with little text", markup),
        ("scripts", "<script>var x = '<p>no</p>';</script><style>a{b:c}</style>"),
        ("never closed", "<div><ul><li><b>x"),
        ("entities", "&amp;&lt;&#160;&nosuch;&copy "),
    ] {
        let best = |bytes: usize| {
            let html = filled(part, bytes);
            let round = || {
                let began = Instant::now();
                assert!(read(&html).len() <= html.len() + MEGABYTE, "{name}");
                began.elapsed()
            };
            (0..3).map(|_| round()).min().unwrap_or_default()
        };
        let (half, whole) = (best(MEGABYTE / 2), best(MEGABYTE));
        // Generous: tests are not optimised, and the machine is shared. A defect is quadratic, not slow.
        assert!(whole < Duration::from_secs(5), "{name} took {whole:?}");
        let floor = Duration::from_millis(20);
        assert!(whole < half.max(floor) * 6, "{name}: {half:?} for half of it, {whole:?} for all");
    }
}
