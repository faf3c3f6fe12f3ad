use super::*;
use crate::clock::Timestamp;
use crate::model::{ModelRef, StopReason, Usage};
use crate::transcript::{Call, CallInput, File, FileSource, Outcome};

/// A branch that grows entry by entry.
#[derive(Default)]
struct Branch(Vec<Entry>);

impl Branch {
    fn add(&mut self, kind: EntryKind) -> EntryId {
        let parent = self.0.last().map(|entry| entry.id);
        let entry = Entry { id: EntryId::new(), parent, at: Timestamp::default(), kind };
        self.0.push(entry);
        self.0[self.0.len() - 1].id
    }

    fn user(&mut self, text: &str) -> EntryId {
        self.add(EntryKind::User { parts: vec![Part::user_text(text)] })
    }

    fn assistant(&mut self, parts: Vec<Part>) -> EntryId {
        let model = ModelRef::new("demo", "tour");
        self.add(EntryKind::Assistant {
            parts,
            model,
            stop: StopReason::Done,
            usage: Usage::default(),
        })
    }

    fn call(&mut self, id: &str, pieces: Vec<Piece>) -> EntryId {
        let id = CallId::new(id);
        let name = "view".to_owned();
        let call = Call { id: id.clone(), name: name.clone(), input: CallInput::default() };
        self.assistant(vec![Part::new(PartBody::Call(call), Origin::Assistant)]);
        let result = CallResult { call: id, name, outcome: Outcome::Done, pieces, shown: None };
        let part = Part::new(PartBody::Result(result), Origin::Workspace);
        self.add(EntryKind::ToolResults { parts: vec![part] })
    }

    fn prune(&mut self, ids: &[&str]) -> EntryId {
        self.add(EntryKind::Pruned { calls: ids.iter().copied().map(CallId::new).collect() })
    }

    fn compact(&mut self, summary: &str, keep_from: Option<EntryId>) -> EntryId {
        self.add(EntryKind::Compaction { summary: summary.to_owned(), keep_from })
    }

    fn undo(&mut self, entry: EntryId) -> EntryId {
        self.add(EntryKind::Undone { entry })
    }

    /// The conversation, one line a turn.
    fn said(&self) -> Vec<String> {
        let line = |turn: Turn| {
            let texts: Vec<_> = turn.parts.iter().map(text_of).collect();
            format!("{:?}: {}", turn.role, texts.join("+"))
        };
        turns(&self.0).into_iter().map(line).collect()
    }
}

fn text_of(part: &Part) -> String {
    match &part.body {
        PartBody::Text { text } | PartBody::Reasoning { text } => text.clone(),
        PartBody::Call(call) => format!("call {}", call.id),
        PartBody::Result(result) => {
            let piece = |piece: &Piece| match piece {
                Piece::Text { text } => text.clone(),
                Piece::File(file) => file.media_type.clone(),
            };
            result.pieces.iter().map(piece).collect::<Vec<_>>().join("|")
        }
        PartBody::File(_) | PartBody::Opaque { .. } => String::new(),
    }
}

fn text(text: impl Into<String>) -> Piece {
    Piece::Text { text: text.into() }
}

#[test]
fn a_compaction_stands_for_what_it_replaces() {
    let mut branch = Branch::default();
    branch.user("a");
    branch.assistant(vec![Part::assistant_text("b")]);
    let kept = branch.user("c");
    assert_eq!(branch.said(), ["User: a", "Assistant: b", "User: c"]);
    branch.compact("sum", Some(kept));
    branch.assistant(vec![Part::assistant_text("e")]);
    assert_eq!(branch.said(), ["User: sum+c", "Assistant: e"]);
}

#[test]
fn an_undone_compaction_gives_way_to_the_one_before_it() {
    let mut branch = Branch::default();
    branch.user("a");
    let first = branch.compact("first", None);
    branch.user("b");
    let second = branch.compact("second", None);
    branch.user("c");
    assert_eq!(branch.said(), ["User: second+c"]);
    let undoing = branch.undo(second);
    assert_eq!(branch.said(), ["User: first+b+c"]);
    assert_eq!(Seen::of(&branch.0).newest_cut, Some(first));
    branch.undo(first);
    assert_eq!(branch.said(), ["User: a+b+c"]);
    branch.undo(undoing);
    assert_eq!(branch.said(), ["User: second+c"], "an undoing can be undone");
}

#[test]
fn a_pruned_result_keeps_head_and_tail_and_names_its_id() {
    let mut branch = Branch::default();
    let long = format!("first line\n{}\nexit code 1", "ä".repeat(5_000));
    branch.call("c1", vec![text(&long), text("short")]);
    branch.call("c2", vec![text(&long)]);
    let pruning = branch.prune(&["c1"]);
    let said = branch.said();
    let (cut, whole) = (&said[1], &said[3]);
    assert!(cut.starts_with("User: first line\n") && cut.ends_with("exit code 1|short"), "{cut}");
    assert!(cut.contains("bytes left out; recall id \"c1\" has them"), "{cut}");
    assert!(cut.len() < SHORT_BYTES + 50 && whole.contains(&long), "{}", cut.len());
    branch.undo(pruning);
    assert!(branch.said()[1].contains(&long));
}

#[test]
fn a_pruning_does_not_touch_results_that_come_after_it() {
    let mut branch = Branch::default();
    branch.call("again", vec![text("x".repeat(5_000))]);
    branch.prune(&["again"]);
    branch.call("again", vec![text("y".repeat(5_000))]);
    let said = branch.said();
    assert!(said[1].len() < 1_500 && said[3].len() > 5_000, "{said:?}");
}

#[test]
fn a_pruned_picture_is_named_only() {
    let mut branch = Branch::default();
    let source = FileSource::Base64("aGk=".to_owned());
    let file = File { media_type: "image/png".to_owned(), name: None, source };
    branch.call("c", vec![Piece::File(file)]);
    branch.prune(&["c"]);
    assert_eq!(branch.said()[1], "User: [image/png left out; recall id \"c\" has it]");
}

#[test]
fn what_is_kept_never_begins_after_the_compaction_itself() {
    let mut branch = Branch::default();
    branch.user("a");
    branch.compact("sum", Some(EntryId::new()));
    branch.user("b");
    assert_eq!(branch.said(), ["User: sum+b"]);
}
