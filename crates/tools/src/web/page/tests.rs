//! Pages as they should be, and pages as nobody should make them.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn url() -> Url {
    Url::parse("https://example.com/docs/page.html").unwrap()
}

fn markdown_of(html: &str) -> String {
    render(html, &url(), Format::Markdown).text
}

fn text_of(html: &str) -> String {
    render(html, &url(), Format::Text).text
}

#[test]
fn a_page_becomes_markdown_with_links_that_can_be_followed() {
    let html = "<html><head><title>Guide</title><style>p{}</style></head><body>\
        <nav><a href=/x>menu</a></nav><h2>Set up</h2><p>Read <a href='../more.html#top'>more</a>, \
        <b>now</b>.</p><ul><li>one<li>two</ul><pre><code class='language-rust'>\nlet x = 1 &lt; 2;\n\n  y\n</code></pre>\
        <table><tr><th>a<th>b|c<tr><td>1<td>2</table><script>alert(1)</script></body></html>";
    let page = render(html, &url(), Format::Markdown);
    assert_eq!(page.title, "Guide");
    assert_eq!(
        page.text,
        "# Guide\n\n## Set up\n\nRead [more](https://example.com/more.html#top), **now**.\n\n- one\n- two\n\n\
         ```rust\nlet x = 1 < 2;\n\n  y\n```\n\n| a | b\\|c |\n| --- | --- |\n| 1 | 2 |\n"
    );
    assert_eq!(
        text_of(html),
        "Set up\n\nRead more, now.\n\n- one\n- two\n\nlet x = 1 < 2;\n\n  y\n\na  b|c\n1  2\n"
    );
    assert_eq!(render(html, &url(), Format::Html).text, html);
}

#[test]
fn structure_is_kept() {
    for (html, text) in [
        ("<ol start=3><li>a<ul><li>b</ul><li>c</ol>", "3. a\n   - b\n4. c\n"),
        ("<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc\n"),
        ("a<br>b<hr>c", "a\nb\n\n---\n\nc\n"),
        ("<h1>One <br> two</h1><h2></h2><h3><a href=#x>¶</a></h3>", "# One two\n"),
        ("<p>a <b> b </b> <i></i>c <code>d e</code></p>", "a **b** c `d e`\n"),
        ("<ul><li><p>a</p><p>b</p><li><h2>c</h2></ul>", "- a\n\n  b\n\n- ## c\n"),
        ("x<ul><li><li> <li>a<li></ul>y", "x\n- a\n\ny\n"),
        ("a<h2><p>b</p></h2><p>c", "a\n\n## b\n\nc\n"),
        ("<dl><dt>t<dd>d<dd>e</dl>", "t\n  d\n  e\n"),
        (
            "<img alt='A cat' src=/c.png><img src=x><img alt=d src=data:x>",
            "![A cat](https://example.com/c.png)(picture: d)\n",
        ),
        ("<a href='/a'><div>Card</div><p>text</p></a>", "[Card text](https://example.com/a)\n"),
        ("<a href='javascript:x'>no</a> <a href='#p'>here</a>", "no here\n"),
        ("<base href='/b/'><a href='c'>c</a>", "[c](https://example.com/b/c)\n"),
        ("<table><tr><td>only</table>", "only\n"),
        ("<ul><li><pre>x\n  y</pre></ul>", "- ```\n  x\n    y\n  ```\n"),
        ("caf&eacute; &#8364;5 &amp;amp; AT&T", "café €5 &amp; AT&T\n"),
        ("<p>one<custom-tag>two</custom-tag></p>", "onetwo\n"),
        ("<xmp><b>x</b></xmp>", "```\n<b>x</b>\n```\n"),
    ] {
        assert_eq!(markdown_of(html), text, "{html}");
    }
}

#[test]
fn tables_that_lay_out_a_page_are_taken_apart() {
    let long = "A long paragraph that fills a cell. ".repeat(30);
    let text = markdown_of(&format!("<table><tr><td>side<td>{long}<div>more</table>"));
    assert!(text.starts_with("side\n\nA long paragraph") && !text.contains('|'), "{text}");
    let text =
        markdown_of("<table><tr><td>a<td><table><tr><td>x<td>y<tr><td>1<td>2</table></table>end");
    assert!(text.contains('x') && text.ends_with("end\n"), "{text}");
}

#[test]
fn an_article_is_cut_out_of_its_page() {
    let paragraph = "This is a sentence of an article, with commas, and it goes on for a while. ";
    let body = format!("<p>{}</p>", paragraph.repeat(6)).repeat(12);
    let html = format!(
        "<html><head><title>The article</title></head><body><div class=sidebar>{}</div>\
         <article><h1>The article</h1>{body}<pre>code</pre></article><div class=comments>Comment</div></body></html>",
        "<a href=/a>Advert</a>".repeat(40)
    );
    let text = markdown_of(&html);
    assert!(text.starts_with("# The article\n"), "{text}");
    let sentences = text.matches("This is a sentence").count();
    assert!(
        sentences == 72 && !text.contains("Advert") && text.contains("```\ncode\n```"),
        "{text}"
    );
}

#[test]
fn the_main_part_is_taken_where_there_is_one() {
    let words = "Some words of use. ".repeat(20);
    for main in ["<main>", "<div role=main>"] {
        let end = if main == "<main>" { "</main>" } else { "</div>" };
        let html = format!("<div>Skip it</div>{main}<ul><li>{words}</ul>{end}<div>And it</div>");
        let text = markdown_of(&html);
        assert!(text.starts_with("- Some words") && !text.contains("it"), "{text}");
    }
    let html = format!("<main>x</main><ul><li>{words}</ul>");
    assert!(markdown_of(&html).contains("Some words"), "a main part of one letter is none");
}

#[test]
fn what_nobody_sees_is_not_read() {
    for html in [
        "<p hidden>EVIL</p>ok",
        "<div style='display:none'><div>x</div>EVIL</div>ok",
        "<div style='DISPLAY : None !important;color:red'>EVIL</div>ok",
        "<span style=visibility:hidden>EVIL</span>ok",
        "<span style='font-size:0'>EVIL</span>ok",
        "<span style='font-size:0.01em'>EVIL</span>ok",
        "<span style='font-size:1px'>EVIL</span>ok",
        "<span style='opacity:0.0'>EVIL</span>ok",
        "<p style='position:absolute;left:-9999px'>EVIL</p>ok",
        "<p style='text-indent:-1000em'>EVIL</p>ok",
        "<p style='height:0;overflow:hidden'>EVIL</p>ok",
        "<p style='clip:rect(0 0 0 0);width:1px'>EVIL</p>ok",
        "<p style='color:#fff'>EVIL</p>ok",
        "<p style='color: white; background: #FFFFFF'>EVIL</p>ok",
        "<p style='color:red;background-color:red'>EVIL</p>ok",
        "<p style='color:transparent'>EVIL</p>ok",
        "<font color=white>EVIL</font>ok",
        "<i aria-hidden=true>EVIL</i>ok",
        "<p class='a sr-only'>EVIL</p>ok",
        "<style>.x{display:none}</style><p class=x>EVIL</p>ok",
        "<style>b{} #y , .z{font-size:0px}</style><p id=y>EVIL</p><p class=z>EVIL</p>ok",
        "<template><p>EVIL</p></template>ok",
        "<template><template></template>EVIL</template>ok",
        "<noscript>EVIL</noscript><svg><text>EVIL</text></svg><canvas>EVIL</canvas>ok",
        "<textarea>EVIL</textarea><iframe srcdoc='EVIL'>EVIL</iframe><select><option>EVIL</select>ok",
        "<!-- EVIL --><!--><p>ok</p><!-- EVIL",
        "<div id=cookie-banner-1>EVIL</div><div class='OneTrust-x'>EVIL</div>ok",
        "<div role=navigation>EVIL</div><footer>EVIL</footer><aside>EVIL</aside>ok",
        "<script>'</div>EVIL'</script><style>EVIL</style>ok",
        "<div title='EVIL' data-x=EVIL onclick='EVIL'>ok</div>",
        "<section><div hidden>EVIL</section>ok",
        "<p style=display:none>EVIL<p>ok",
        "<ul><li hidden>EVIL<li>ok</ul>",
    ] {
        for text in [markdown_of(html), text_of(html)] {
            assert!(!text.contains("EVIL") && text.contains("ok"), "{html}: {text}");
        }
    }
}

#[test]
fn what_people_see_is_read() {
    for html in [
        "<body style='opacity:0'><p>ok</p>",
        "<div style='background:#333'><p style='color:#fff'>ok</p></div>",
        "<table bgcolor=black><tr><td><font color=white>ok</font></table>",
        "<style>.tab{display:none}.tab.on{display:block}</style><div class=tab>ok</div>",
        "<style>@media print{.x{display:none}}</style><p class=x>ok</p>",
        "<p style='font-size:1em;opacity:.8;left:-5px'>ok</p>",
        "<p style='overflow:hidden;width:100%'>ok</p>",
        "<p hidden=until-found>ok</p>",
        "<header>ok</header>",
        "<div aria-hidden=false>ok</div>",
    ] {
        assert!(markdown_of(html).contains("ok"), "{html}");
    }
}

#[test]
fn a_page_that_sends_its_readers_on_says_so() {
    let html = "<meta http-equiv=Refresh content=\"0; URL='/next'\"><p>Moved";
    assert_eq!(
        markdown_of(html),
        "(the page sends its readers on to https://example.com/next)\nMoved\n"
    );
    assert_eq!(markdown_of("<meta http-equiv=refresh content='5'>x"), "x\n");
    assert_eq!(markdown_of("<meta http-equiv=refresh content='0;url=javascript:x'>x"), "x\n");
    let frames =
        "<frameset><frame src=/left><frame src=javascript:x></frameset><noframes>None</noframes>";
    assert_eq!(markdown_of(frames), "[https://example.com/left](https://example.com/left)\nNone\n");
}

/// What `write` makes of each number, all together.
fn counted(count: usize, write: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |text, number| text + &write(number))
}

/// Pages made to cost: each megabyte of them must cost no more than any other.
fn tortures() -> Vec<(&'static str, String)> {
    let n = 30_000;
    let large = "x".repeat(1 << 20);
    let mut all = vec![
        ("nested divs", format!("{}text{}", "<div>".repeat(100_000), "</div>".repeat(100_000))),
        (
            "nested, never closed",
            format!("{}text", "<div><p><b><table><tr><td><ul><li>".repeat(n / 8)),
        ),
        ("closed, never opened", format!("{}text", "</div></p></b></i></table>".repeat(n / 4))),
        ("opened one, closed another", format!("{}text", "<b></i>".repeat(n))),
        ("links in links", format!("{}text", "<a href=x>".repeat(n))),
        ("quotes in quotes", format!("{}text", "<blockquote>".repeat(n))),
        ("lists in lists", format!("{}text", "<ul><li>".repeat(n))),
        ("tables in tables", format!("{}text", "<table><tr><td>".repeat(n / 2))),
        ("hidden in hidden", format!("text{}", "<div hidden>".repeat(n))),
        ("attribute of a megabyte", format!("<p title='{large}' class=\"{large}\">text</p>")),
        (
            "attributes by the thousand",
            format!("<p {}>text</p>", "a=b class=c style='x:y' ".repeat(n / 4)),
        ),
        ("picture in an address", format!("<img alt=a src='data:image/png;base64,{large}'>text")),
        ("comments", format!("{}text", "<!-- a --><!-->".repeat(n / 2))),
        ("comment that never ends", format!("text<!-- {}", "<p>--".repeat(n))),
        ("entities", format!("{}text", "&eacute;&amp;&#xe9;&nosuch;&".repeat(n / 4))),
        ("entities of any name", counted(n, |name| format!("&a{name};")) + "text"),
        (
            "script in script",
            format!("<script>{}</script>text", "<script></div></scrip".repeat(n / 4)),
        ),
        (
            "style rules",
            format!(
                "<style>{}</style><p class=a9>text",
                counted(n, |class| format!(".a{class} x{{display:none}}"))
            ),
        ),
        ("angles", format!("{}text", "< <".repeat(n * 3) + " ")),
        ("quotes never closed", format!("text{}", "<p a='\"".repeat(n))),
        ("CDATA", format!("{}text", "<![CDATA[x]]>".repeat(n / 4))),
        ("headings", format!("{}text", "<h1>".repeat(n))),
        ("invisible letters", format!("{}text", "\u{200b}\u{202e}\u{feff}".repeat(n))),
        ("rows", format!("<table>{}</table>text", "<tr><td>".repeat(n))),
        ("cells", format!("<table><tr>{}</table>text", "<td>x".repeat(n))),
        ("preformatted", format!("{}text", "<pre>\n".repeat(n / 2))),
        ("line breaks", format!("<li>{}text", "<br>".repeat(n))),
    ];
    let sentence = "A sentence, with commas, of an article that is none, but long. ".repeat(3);
    let chain =
        format!("{}<p>{sentence}</p>{}", "<div class=post>".repeat(50), "</div>".repeat(50));
    all.push(("article in article", chain.repeat(150) + "<p>text"));
    all.push(("paragraphs", format!("{}<p>text", format!("<p>{sentence}").repeat(900))));
    all.push(("one word", format!("text {large}")));
    all
}

#[test]
fn torture_costs_no_more_than_any_other_page() {
    for (name, html) in tortures() {
        let started = Instant::now();
        for format in [Format::Markdown, Format::Text] {
            let text = render(&html, &url(), format).text;
            assert!(text.contains("text"), "{name}: {}", &text[..text.floor_char_boundary(200)]);
            assert!(text.len() <= html.len() * 4 + 1_000, "{name} grows to {}", text.len());
        }
        // A debug build, on a machine that does other things, too: 0.2 s are usual.
        let took = started.elapsed();
        assert!(took < Duration::from_secs(15), "{name}: {took:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_text_is_a_page(
        html in "(<[/!?]?(div|p|a|b|h1|li|ul|td|tr|table|pre|code|blockquote|main|script|title|svg|x)?( (href|style|class|hidden)=?.{0,4})?/?>?|[ -~é\n]{0,6}|&[a-z#]{0,5};?){0,40}"
    ) {
        for format in [Format::Markdown, Format::Text] {
            let page = render(&html, &url(), format);
            prop_assert!(page.text.len() <= html.len() * 40 + 1_000);
        }
    }

    #[test]
    fn words_are_neither_lost_nor_made_up(words in proptest::collection::vec("[a-z]{1,6}", 0..30)) {
        let tags = ["<p>", "<b>", "</b>", "<li>", "<td>", "<div>", "</div>", "<a href=/x>", "</a>", "<h2>"];
        let html = counted(words.len(), |at| {
            let word = &words[at];
            format!("{}{word} ", tags[(at * 7 + word.len()) % tags.len()])
        });
        let text = render(&html, &url(), Format::Text).text;
        let read: Vec<&str> = text.split(|c: char| !c.is_ascii_lowercase()).filter(|word| !word.is_empty()).collect();
        prop_assert_eq!(read, words);
    }
}
