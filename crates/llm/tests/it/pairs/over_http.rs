//! A session over real HTTP that goes from one wire to another and back.

use base::Part;
use base::model::Effort;
use base::transcript::{
    CallResult, File, FileSource, Mended, Origin, Outcome, PartBody, Piece, Turn,
};
use llm::{Answer, Reasoning, Request, Target, ToolSpec};
use serde_json::json;
use settings::provider::Wire;
use testkit::script::ChatThoughts;
use testkit::{Action, Script, Server, arbitrary};

use crate::speaking::{ask, model_at, text_of};
use crate::transcripts::{assistant, text, user};

/// Base64, as some wires demand it.
const FIRST_SEAL: &str = "Zmlyc3Qgc2VhbA==";
const SECOND_SEAL: &str = "c2Vjb25kIHNlYWw=";

fn thought(seal: &str) -> Action {
    Action::Reasoning { text: "Let me see.".into(), deltas: 2, seal: Some(seal.into()) }
}

fn script(wire: Wire) -> Script {
    let script = Script::new().chat_thoughts(ChatThoughts::ReasoningDetails);
    // OpenAI's own Chat has no place for thoughts; who sends them is somebody else.
    if wire == Wire::OpenaiChat { script.compatible() } else { script }
}

async fn serve(script: Script) -> Server {
    Server::start(script).await.unwrap()
}

fn named(provider: &str, target: Target) -> Target {
    Target { provider: provider.to_owned(), ..target }
}

/// A session as an agent keeps it.
struct Session {
    turns: Vec<Turn>,
}

impl Session {
    async fn ask(&mut self, target: &Target) -> Answer {
        let tools = ["view", "edit"].map(|name| ToolSpec {
            name: name.to_owned(),
            description: format!("Runs {name}."),
            schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        });
        let request = Request {
            system: vec!["Be brief.".to_owned()],
            turns: self.turns.clone(),
            tools: tools.to_vec(),
            max_tokens: Some(32_000),
            reasoning: Reasoning::Effort(Effort::Medium),
            ..Request::default()
        };
        let answer = ask(target, &request).await.unwrap();
        self.turns.push(assistant(answer.parts.clone()));
        answer
    }

    /// Answers the calls of the last turn: the first fails, the others show a picture.
    fn answer_calls(&mut self, answer: &Answer) {
        let calls = answer.parts.iter().filter_map(|part| match &part.body {
            PartBody::Call(call) => Some(call),
            PartBody::Text { .. }
            | PartBody::Reasoning { .. }
            | PartBody::Result(_)
            | PartBody::File(_)
            | PartBody::Opaque { .. } => None,
        });
        let picture = Piece::File(File {
            media_type: "image/png".to_owned(),
            name: None,
            source: FileSource::Base64(arbitrary::PNG.to_owned()),
        });
        let results = calls.enumerate().map(|(at, call)| {
            let (outcome, pieces) = match at {
                0 => (Outcome::Failed, vec![text("no such file")]),
                _ => (Outcome::Done, vec![text("seen"), picture.clone()]),
            };
            let (call, name) = (call.id.clone(), call.name.clone());
            let result = CallResult { call, name, outcome, pieces, shown: None };
            Part::new(PartBody::Result(result), Origin::Workspace)
        });
        let results = results.collect();
        self.turns.push(user(results));
    }
}

/// How many requests so far hold a text.
fn holding(server: &Server, text: &str) -> Vec<bool> {
    let of = |body: &[u8]| String::from_utf8_lossy(body).contains(text);
    server.requests().iter().map(|request| of(&request.bytes)).collect()
}

async fn there_and_back(from: Wire, to: Wire) {
    let pair = format!("{from:?} to {to:?}");
    let first_script = script(from)
        .act(thought(FIRST_SEAL))
        .text_in("I look.", 2)
        .call("view", json!({ "path": "a.txt" }))
        .call("edit", json!("{\"path\": \"b.txt\", \"text\": "))
        .usage(10, 5)
        .then()
        .text("Done.");
    let second_script =
        script(to).act(thought(SECOND_SEAL)).call("view", json!({ "path": "c" })).text("Well.");
    let (first, second) = (serve(first_script).await, serve(second_script).await);
    let one = named("one", model_at(&first, from));
    let two = named("two", model_at(&second, to));
    let mut session = Session { turns: vec![user(vec![Part::user_text("Look.")])] };

    let answer = session.ask(&one).await;
    assert_eq!(text_of(&answer), "I look.", "{pair}");
    let broken = answer.parts.iter().filter(|part| match &part.body {
        PartBody::Call(call) => {
            matches!(call.input.mended, Some(Mended::Broken(_) | Mended::Repaired(_)))
        }
        PartBody::Text { .. }
        | PartBody::Reasoning { .. }
        | PartBody::Result(_)
        | PartBody::File(_)
        | PartBody::Opaque { .. } => false,
    });
    assert_eq!(broken.count(), 1, "{pair}: {:?}", answer.parts);
    session.answer_calls(&answer);
    let answer = session.ask(&two).await;
    session.answer_calls(&answer);
    let answer = session.ask(&one).await;
    assert_eq!(text_of(&answer), "Done.", "{pair}");

    assert_eq!(first.violations(), [], "{pair}");
    assert_eq!(second.violations(), [], "{pair}");
    assert_eq!(holding(&first, FIRST_SEAL), [false, true], "{pair}: replayed to its maker");
    assert_eq!(holding(&first, SECOND_SEAL), [false, false], "{pair}: kept from strangers");
    assert_eq!(holding(&second, FIRST_SEAL), [false], "{pair}: kept from strangers");
}

#[tokio::test]
async fn every_session_goes_on_on_every_wire_and_comes_back() {
    for from in Wire::ALL {
        for to in Wire::ALL {
            there_and_back(from, to).await;
        }
    }
}
