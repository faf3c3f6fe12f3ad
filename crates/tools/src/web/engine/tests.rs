//! Answers in the formats of each engine, made up; and what becomes of them.

use proptest::prelude::*;

use super::*;

fn engine(kind: SearchEngine) -> Vec<Box<dyn Engine>> {
    let own = Url::parse("https://engine.example/base").unwrap();
    engines(kind, Some(own), &Secret::new("key-1")).unwrap()
}

fn read(engine: &dyn Engine, body: &str) -> Result<Vec<(String, String, String)>, SearchError> {
    let hits = engine.read(&Reply { status: 200, body })?;
    Ok(hits.into_iter().map(|hit| (hit.title, hit.url.to_string(), hit.snippet)).collect())
}

fn hit(title: &str, url: &str, snippet: &str) -> (String, String, String) {
    (title.to_owned(), url.to_owned(), snippet.to_owned())
}

const PAGES: &str = r##"<!DOCTYPE html><html><body><div id="links" class="results">
 <div class="result results_links results_links_deep result--ad">
  <h2 class="result__title"><a class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;u3=x">Buy</a></h2>
  <a class="result__snippet" href="#">An advert</a></div>
 <div class="result results_links web-result"><div class="links_main links_deep result__body">
  <h2 class="result__title"><a rel="nofollow" class="result__a"
    href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fdocs.example%2Fa%3Fx%3D1%26y%3D2%23top&amp;rut=abc">Async &amp; <b>await</b></a></h2>
  <a class="result__url" href="#"> docs.example/a </a>
  <a class="result__snippet" href="#">How <b>async</b>
     works.</a></div></div>
 <div class="result web-result"><h2 class="result__title"><a class="result__a" href="https://direct.example/">Direct</a></h2></div>
 <div class="result web-result"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad">Sly advert</a></div>
 <div class="result web-result"><a class="result__a" href="javascript:alert(1)">Script</a></div>
</div></body></html>"##;

const LITE: &str = r"<html><body><form><table><tr><td>top</td></tr></table><table>
 <tr class='result-sponsored'><td>1.</td><td><a rel='nofollow' href='//duckduckgo.com/y.js?ad' class='result-link'>Buy</a></td></tr>
 <tr class='result-sponsored'><td></td><td class='result-snippet'>Advert</td></tr>
 <tr><td>1.&nbsp;</td><td><a rel='nofollow' href='//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2F&amp;rut=x' class='result-link'>One</a></td></tr>
 <tr><td>&nbsp;</td><td class='result-snippet'>The <b>first</b> page.</td></tr>
 <tr><td>&nbsp;</td><td><span class='link-text'>one.example</span></td></tr>
 <tr><td>2.</td><td><a href='https://two.example/x' class='result-link'>Two</a></td></tr>
 </table></form></body></html>";

#[test]
fn duckduckgo_pages_are_read_without_adverts_and_detours() {
    let engines = engine(SearchEngine::DuckDuckGo);
    assert_eq!(
        read(&*engines[0], PAGES).unwrap(),
        [
            hit("Async & await", "https://docs.example/a?x=1&y=2#top", "How async works."),
            hit("Direct", "https://direct.example/", ""),
        ]
    );
    assert_eq!(
        read(&*engines[1], LITE).unwrap(),
        [
            hit("One", "https://one.example/", "The first page."),
            hit("Two", "https://two.example/x", "")
        ]
    );
    assert_eq!(
        engines[0].ask("a b&c", 5).url.as_str(),
        "https://engine.example/base/html/?q=a+b%26c"
    );
    assert_eq!(engines[1].ask("x", 5).url.as_str(), "https://engine.example/base/lite/?q=x");
}

#[test]
fn duckduckgo_says_when_it_is_asked_too_often_or_found_nothing() {
    for engine in engine(SearchEngine::DuckDuckGo) {
        for body in [
            "<div class='anomaly-modal__title'>Unfortunately, bots use DuckDuckGo too.</div>",
            "<form id='challenge-form'>",
            "<script src=/anomaly.js?x>",
        ] {
            assert!(matches!(read(&*engine, body), Err(SearchError::RateLimited("DuckDuckGo"))));
        }
        let accepted = engine.read(&Reply { status: 202, body: PAGES });
        assert!(matches!(accepted, Err(SearchError::RateLimited(_))));
        assert_eq!(read(&*engine, "<div class='no-results'>No results.</div>").unwrap(), []);
        assert!(matches!(read(&*engine, "<p>Welcome"), Err(SearchError::Unreadable(_))));
    }
}

#[test]
fn interfaces_are_asked_with_their_key_and_read() {
    let found = |field: &str| {
        format!(
            r#"[{{"title":"T <b>x</b>","url":"https://t.example/","{field}":"S &amp; <strong>s</strong>"}},
                {{"title":"no address"}},{{"title":"f","url":"file:///etc/passwd"}},{{"url":"https://u.example/"}}]"#
        )
    };
    let expected = [
        hit("T x", "https://t.example/", "S & s"),
        hit("https://u.example/", "https://u.example/", ""),
    ];
    let results = |list: String| format!(r#"{{"results":{list}}}"#);
    for (kind, body, url, header, posted) in [
        (
            SearchEngine::Brave,
            format!(r#"{{"web":{}}}"#, results(found("description"))),
            "https://engine.example/base/res/v1/web/search?q=a+b&count=7",
            Some(("x-subscription-token", "key-1")),
            None,
        ),
        (
            SearchEngine::Searxng,
            results(found("content")),
            "https://engine.example/base/search?q=a+b&format=json",
            None,
            None,
        ),
        (
            SearchEngine::Tavily,
            results(found("content")),
            "https://engine.example/base/search",
            Some(("authorization", "Bearer key-1")),
            Some(r#"{"query":"a b","max_results":7}"#),
        ),
        (
            SearchEngine::Exa,
            results(found("text")),
            "https://engine.example/base/search",
            Some(("x-api-key", "key-1")),
            Some(r#"{"query":"a b","numResults":7,"contents":{"text":{"maxCharacters":400}}}"#),
        ),
    ] {
        let engine = &engine(kind)[0];
        let ask = engine.ask("a b", 7);
        assert_eq!(
            (ask.url.as_str(), ask.body.map(|body| body.to_string()).as_deref()),
            (url, posted)
        );
        if let Some((name, value)) = header {
            assert_eq!(ask.headers.get(name).unwrap(), value);
        }
        assert_eq!(read(&**engine, &body).unwrap(), expected, "{kind:?}");
        for broken in ["", "<html>", "[]", r#"{"web":1,"results":{}}"#] {
            assert!(
                matches!(read(&**engine, broken), Err(SearchError::Unreadable(_))),
                "{kind:?}: {broken}"
            );
        }
    }
    assert_eq!(read(&*engine(SearchEngine::Brave)[0], r#"{"type":"search"}"#).unwrap(), []);
}

#[test]
fn the_engine_is_chosen_by_settings_and_keys() {
    let kind = |engine: SearchEngine, env: &[(&str, &str)]| {
        let settings = Search { engine, ..Search::default() };
        Finder::new(&settings, &Network::default(), &env.iter().copied().collect()).kind()
    };
    let auto = SearchEngine::Auto;
    assert_eq!(kind(auto, &[]), SearchEngine::DuckDuckGo);
    assert_eq!(kind(auto, &[("SEARXNG_URL", "http://s")]), SearchEngine::Searxng);
    assert_eq!(kind(auto, &[("EXA_API_KEY", "k"), ("SEARXNG_URL", "s")]), SearchEngine::Exa);
    assert_eq!(kind(auto, &[("TAVILY_API_KEY", "k"), ("BRAVE_API_KEY", "k")]), SearchEngine::Brave);
    assert_eq!(kind(auto, &[("BRAVE_API_KEY", "")]), SearchEngine::DuckDuckGo);
    let settings = Search { url: Some("http://search.lan".to_owned()), ..Search::default() };
    let finder = Finder::new(&settings, &Network::default(), &Env::default());
    assert_eq!(finder.address("x").unwrap().as_str(), "http://search.lan/search?q=x&format=json");
    let own = SearchEngine::DuckDuckGo;
    assert_eq!(kind(own, &[("BRAVE_API_KEY", "k")]), own);
}

#[tokio::test]
async fn keys_come_from_settings_first_and_lacking_ones_are_told() {
    let finder = |engine, api_key: Option<&str>, env: &[(&str, &str)]| {
        let settings = Search { engine, api_key: api_key.map(Secret::new), ..Search::default() };
        Finder::new(&settings, &Network::default(), &env.iter().copied().collect())
    };
    let brave = SearchEngine::Brave;
    let env = [("BRAVE_API_KEY", "from-env"), ("MINE", "mine")];
    let key = |api_key| {
        let finder = finder(brave, api_key, &env);
        async move { finder.key(brave).await.unwrap().expose().to_owned() }
    };
    assert_eq!(key(None).await, "from-env");
    assert_eq!(key(Some("$MINE")).await, "mine");
    assert_eq!(key(Some("$LACKING")).await, "from-env");
    assert_eq!(key(Some("$(echo told)")).await, "told");
    let error = finder(brave, None, &[]).ready().await.err().unwrap().to_string();
    assert!(error.contains("BRAVE_API_KEY") && error.contains("tools.search.api_key"), "{error}");
    let error = finder(SearchEngine::Searxng, None, &[]).address("x").unwrap_err().to_string();
    assert!(error.contains("SEARXNG_URL"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn any_answer_is_read_or_refused(cut in 0..2_000_usize, noise in "[ -~é<>\"']{0,20}") {
        for (kind, body) in [(SearchEngine::DuckDuckGo, PAGES), (SearchEngine::DuckDuckGo, LITE)] {
            let at = body.floor_char_boundary(cut.min(body.len()));
            let body = format!("{}{noise}{}", &body[..at], &body[at..]);
            for engine in engine(kind) {
                drop(read(&*engine, &body));
                drop(read(&*engine, &noise));
            }
        }
        drop(read(&*engine(SearchEngine::Exa)[0], &noise));
    }
}
