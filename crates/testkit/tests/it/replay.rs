//! Recordings come back over HTTP exactly as they are, however they are cut.

use testkit::cassette;
use testkit::replay::{Chunks, Replay};

use crate::client::{Client, End};

#[tokio::test]
async fn recorded_bytes_arrive_whole_however_they_are_cut() {
    let Some(all) = cassette::supported().unwrap() else {
        eprintln!("SKIPPED: no recorded traffic (set CAIMAN_CASSETTES)");
        return;
    };
    let sample: Vec<_> = all.into_iter().step_by(40).collect();
    for chunks in [Chunks::WHOLE, Chunks::of(7), Chunks::of(4096)] {
        let replay = Replay::start(sample.clone(), chunks).await.unwrap();
        let mut client = Client::connect(&replay.url(0)).await;
        for (number, exchange) in sample.iter().enumerate() {
            let path = format!("/{number}/v1/anything");
            let answer = client.post(&path, &serde_json::json!({})).await;
            assert_eq!(answer.status, exchange.response.status, "{}", exchange.file);
            assert_eq!(answer.body, exchange.response.bytes(), "{}", exchange.file);
            assert_eq!(answer.end, End::Whole, "{}", exchange.file);
        }
        assert_eq!(client.get("/99999/x").await.status, 404);
        replay.close().await;
    }
}
