//! Every recording again, over real HTTP in chunks of seven bytes: what a caller makes of it equals
//! what the recorded bytes say.

use std::fmt::Write as _;

use futures::StreamExt;
use futures::stream;
use llm::{Request, Target};
use testkit::cassette;
use testkit::oracle;
use testkit::replay::{Chunks, Replay};

use crate::recordings::{compare, target};
use crate::speaking::{ask_by, caller};
use crate::transcripts::user;

/// Calls under way at once; the answers are short, so most time is spent between them.
const TOGETHER: usize = 8;

#[tokio::test]
async fn every_recording_is_answered_over_http_as_its_bytes_say() {
    let Some(exchanges) = cassette::supported().unwrap() else {
        testkit::parts::skipped("no cassettes; set CAIMAN_CASSETTES to their folder");
        return;
    };
    let server = Replay::start(exchanges.clone(), Chunks::of(7)).await.unwrap();
    let caller = caller(1);
    let request =
        Request { turns: vec![user(vec![base::Part::user_text("Hi")])], ..Request::default() };
    let checks = stream::iter(exchanges.iter().enumerate()).map(async |(number, exchange)| {
        let known = target(exchange, exchange.wire()?);
        let here = Target {
            base_url: server.url(number),
            transport: llm::Transport::Direct,
            auth: llm::Auth::Anonymous,
            ..known
        };
        let answer = ask_by(&caller, &here, &request).await.0;
        let why = compare(&oracle::expect(exchange), answer).err()?;
        Some(format!("FAILED {}: {why}", exchange.file))
    });
    let failed: Vec<Option<String>> = checks.buffered(TOGETHER).collect().await;
    assert!(!failed.is_empty(), "the folder has no recording of a wire we have");
    let mut report = String::new();
    for line in failed.iter().flatten() {
        writeln!(report, "{line}").unwrap();
    }
    assert!(report.is_empty(), "{report}");
    eprintln!("{} recordings replayed over HTTP", failed.len());
}
