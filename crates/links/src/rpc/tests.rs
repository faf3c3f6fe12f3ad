//! Two peers that talk through a pipe in memory, and one that does not play by the rules.

use super::*;

const DIALECT: Dialect = Dialect {
    framing: Framing::Headers,
    cancel: |id| ("$/cancelRequest", json!({ "id": id })),
    at_work: 32,
};
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers `double`, never answers `sleep`, remembers what it is told.
#[derive(Default)]
struct Desk(Arc<Mutex<Vec<String>>>);

impl Handler for Desk {
    fn request(&self, method: &str, params: Value) -> BoxFuture<'static, Result<Value, Fault>> {
        let method = method.to_owned();
        Box::pin(async move {
            match method.as_str() {
                "double" => Ok(json!(params.as_i64().unwrap_or_default() * 2)),
                "sleep" => std::future::pending().await,
                other => Err(Fault::unknown(other)),
            }
        })
    }

    fn notification(&self, method: &str, params: Value) {
        self.0.lock().unwrap().push(format!("{method} {params}"));
    }
}

fn pair(scope: &TaskScope) -> (Peer, Peer, Arc<Mutex<Vec<String>>>) {
    let (ours, theirs) = tokio::io::duplex(1024);
    let (from_them, to_them) = tokio::io::split(ours);
    let (from_us, to_us) = tokio::io::split(theirs);
    let desk = Desk::default();
    let heard = desk.0.clone();
    let one = Peer::start(DIALECT, (to_them, from_them), Arc::new(Desk::default()), scope);
    let other = Peer::start(DIALECT, (to_us, from_us), Arc::new(desk), scope);
    (one, other, heard)
}

#[tokio::test]
async fn both_sides_ask_and_are_answered() {
    let scope = TaskScope::new();
    let (one, other, _) = pair(&scope);
    let all = futures::future::join_all((0..100).map(|number| {
        let asker = if number % 2 == 0 { &one } else { &other };
        asker.request("double", json!(number), PATIENCE)
    }));
    for (number, answer) in all.await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), json!(number * 2));
    }
    let refused = one.request("nonsense", Value::Null, PATIENCE).await.unwrap_err();
    assert!(matches!(refused, RpcError::Refused(Fault { code: -32601, .. })), "{refused}");
    scope.close().await;
}

#[tokio::test]
async fn whoever_stops_waiting_takes_the_question_back() {
    let scope = TaskScope::new();
    let (one, _other, heard) = pair(&scope);
    let late = one.request("sleep", Value::Null, Duration::from_millis(20)).await.unwrap_err();
    assert!(matches!(late, RpcError::TimedOut { .. }), "{late}");
    assert_eq!(one.request("double", json!(1), PATIENCE).await.unwrap(), json!(2));
    assert_eq!(*heard.lock().unwrap(), [r#"$/cancelRequest {"id":1}"#]);
    assert!(one.lock().is_empty());
    scope.close().await;
}

#[tokio::test]
async fn a_peer_that_goes_away_leaves_nobody_waiting() {
    let scope = TaskScope::new();
    let (ours, theirs) = tokio::io::duplex(1024);
    let (output, input) = tokio::io::split(ours);
    let peer = Peer::start(DIALECT, (input, output), Arc::new(Desk::default()), &scope);
    let asked = peer.request("sleep", Value::Null, PATIENCE);
    let (answer, ()) = tokio::join!(asked, async { drop(theirs) });
    assert!(matches!(answer, Err(RpcError::Closed(_))), "{answer:?}");
    assert!(matches!(peer.notify("x", Value::Null).await, Err(RpcError::Closed(_))));
    scope.close().await;
}

#[tokio::test]
async fn garbage_closes_the_connection_with_its_reason() {
    let scope = TaskScope::new();
    let (ours, mut theirs) = tokio::io::duplex(1 << 16);
    let (output, input) = tokio::io::split(ours);
    let peer = Peer::start(DIALECT, (input, output), Arc::new(Desk::default()), &scope);
    scope.spawn(async move { while theirs.write_all(&[b'#'; 4096]).await.is_ok() {} });
    tokio::time::timeout(PATIENCE, peer.closed()).await.unwrap();
    assert_eq!(peer.why(), "it prints what is no message");
    scope.close().await;
}

#[tokio::test]
async fn a_peer_that_never_reads_costs_only_the_time_that_was_given() {
    let scope = TaskScope::new();
    let (ours, _theirs) = tokio::io::duplex(64);
    let (output, input) = tokio::io::split(ours);
    let peer = Peer::start(DIALECT, (input, output), Arc::new(Desk::default()), &scope);
    let asked = (0..200).map(|_| peer.request("sleep", Value::Null, Duration::from_millis(50)));
    let answers = futures::future::join_all(asked).await;
    assert!(answers.iter().all(|answer| matches!(answer, Err(RpcError::TimedOut { .. }))));
    scope.close().await;
}

#[tokio::test]
async fn a_peer_that_says_nothing_more_still_gets_its_answers() {
    let scope = TaskScope::new();
    let (mut theirs, ours) = tokio::io::duplex(1 << 16);
    let (output, input) = tokio::io::split(ours);
    let dialect = Dialect { framing: Framing::OnlyLines, ..DIALECT };
    let peer = Peer::start(dialect, (input, output), Arc::new(Desk::default()), &scope);
    let lines: Vec<String> = (0..20)
        .map(|id| json!({ "id": id, "method": "double", "params": id }).to_string())
        .collect();
    theirs.write_all(lines.join("\n").as_bytes()).await.unwrap();
    theirs.shutdown().await.unwrap();
    peer.closed().await;
    scope.close().await;
    drop(peer);
    let mut heard = String::new();
    theirs.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard.lines().count(), 20, "{heard}");
}
