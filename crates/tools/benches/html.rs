//! A megabyte of HTML as Markdown, in under 50 ms: `cargo bench -p tools --bench html`.
//!
//! Four kinds of pages, made here: an article, a table, links by the thousand, and nesting without end; and
//! an article small enough that it is searched for as one. The best of some rounds counts, for the others
//! tell about the machine and not about us.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement, run by hand")]

use std::time::{Duration, Instant};

use tools::web::to_markdown;
use url::Url;

const ROUNDS: usize = 30;
const LIMIT: Duration = Duration::from_millis(50);
const MEGABYTE: usize = 1_000_000;

fn main() {
    let url = Url::parse("https://example.com/docs/").unwrap();
    for (name, html) in [
        ("article", article(MEGABYTE)),
        ("small article", article(150_000)),
        ("table", table(MEGABYTE)),
        ("links", links(MEGABYTE)),
        ("nested", nested(MEGABYTE)),
    ] {
        let mut best = Duration::MAX;
        let mut length = 0;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            length = to_markdown(&html, &url).len();
            best = best.min(started.elapsed());
        }
        println!("{name:14} {:>9} bytes to {length:>9} in {best:?}", html.len());
        assert!(best < LIMIT, "{name} took {best:?}");
    }
}

/// Repeats what `part` writes of a number until there are enough bytes.
fn filled(start: &str, bytes: usize, part: impl Fn(usize) -> String) -> String {
    let mut html = start.to_owned();
    let mut number = 0;
    while html.len() < bytes {
        number += 1;
        html.push_str(&part(number));
    }
    html
}

fn article(bytes: usize) -> String {
    let start = "<!DOCTYPE html><html><head><title>A long article</title><style>p{margin:0}</style></head>\
        <body class=site><nav><ul><li><a href=/a>Home</a></ul></nav><article><h1>A long article</h1>";
    filled(start, bytes, |number| {
        let heading = if number % 12 == 1 {
            format!("<h2 id=s{number}>Part {number}</h2>")
        } else {
            String::new()
        };
        let code = if number % 30 == 0 {
            "<pre><code>let x = 1 &lt; 2;</code></pre><ul><li>one<li>two</ul>"
        } else {
            ""
        };
        format!(
            "{heading}<p class=\"body text\">This is sentence {number} of an article, with commas, a \
             <a href=\"/link/{number}?a=1&amp;b=2\">link to more</a>, some <code>code</code> and <b>bold</b> \
             words; it goes on for a while, as articles do, and says nothing of note.</p>\n{code}"
        )
    })
}

fn table(bytes: usize) -> String {
    filled("<h1>Numbers</h1><table><tr><th>a<th>b<th>c<th>d</tr>", bytes, |number| {
        format!(
            "<tr class=row><td>{number}</td><td><a href=/n/{number}>item {number}</a></td><td>{}</td>\
             <td>text &amp; more</td></tr>\n",
            number * 7
        )
    })
}

fn links(bytes: usize) -> String {
    filled("<body>", bytes, |number| {
        format!(
            "<p><a href='../a/{number}.html' class=x style='color:red'>Link number {number}</a> and words</p>"
        )
    })
}

fn nested(bytes: usize) -> String {
    filled("<body>", bytes, |_| "<div><section><b>word ".to_owned())
}
