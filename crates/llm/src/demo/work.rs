//! The script at work: it looks, runs the tests, mends what fails, runs them again. What it says of each
//! step it takes from the results it was given, so that a denied or failed call is told as such.

use base::transcript::{CallResult, Outcome, Part, Piece, Role};
use serde_json::json;

use super::Lines;
use crate::request::Request;

/// The project the script works on: file names and texts. The bug is real, and so is the test that shows it.
pub const PROJECT: [(&str, &str); 2] =
    [(SOURCE, include_str!("largest.sh")), ("test.sh", include_str!("test.sh"))];

/// The command that runs the project's tests.
pub const TEST: &str = "sh test.sh";

const SOURCE: &str = "largest.sh";
/// What is wrong, and what is right.
const BUG: &str = "largest=0";
const MENDED: &str = "largest=$1";
/// The tools the script cannot do without.
const NEEDED: [&str; 4] = ["bash", "edit", "ls", "view"];

/// Whether a prompt asks the script to work rather than to talk.
pub fn asks_for_work(prompt: &str) -> bool {
    let words = prompt.split(|character: char| !character.is_alphanumeric());
    words.map(str::to_lowercase).any(|word| {
        matches!(
            word.as_str(),
            "fix" | "fixes" | "mend" | "repair" | "bug" | "bugs" | "test" | "tests"
        )
    })
}

/// What the script says and calls next, if it was asked to work and can.
pub(super) fn lines(request: &Request, prompt: &str) -> Option<Lines> {
    let has = |name: &&str| request.tools.iter().any(|tool| tool.name == *name);
    if !asks_for_work(prompt) || !NEEDED.iter().all(has) {
        return None;
    }
    Some(next(&results(request)))
}

/// The results since the user last spoke.
fn results(request: &Request) -> Vec<&CallResult> {
    let said = |part: &Part| part.as_text().is_some_and(|text| !text.trim().is_empty());
    let spoke = request
        .turns
        .iter()
        .rposition(|turn| turn.role == Role::User && turn.parts.iter().any(said));
    let since = request.turns.iter().skip(spoke.map_or(0, |at| at + 1));
    since.flat_map(|turn| &turn.parts).filter_map(Part::as_result).collect()
}

fn next(results: &[&CallResult]) -> Lines {
    let of = |tool: &str| results.iter().filter(|result| result.name == tool).copied().collect();
    let (looks, views, tests, edits): (Vec<_>, Vec<_>, Vec<_>, Vec<_>) =
        (of("ls"), of("view"), of("bash"), of("edit"));
    if looks.is_empty() {
        return Lines {
            thought: "I am a script, but the tools I call are real. First: what is here?",
            text: "I am the demo, a script and not an AI; the tools I use are real. I look around."
                .to_owned(),
            calls: vec![("ls", json!({ "path": "." }))],
        };
    }
    if views.is_empty() {
        let view = |file: &str| ("view", json!({ "file_path": file }));
        return said("Two files: a program and its tests. I read both.")
            .calling([view(SOURCE), view("test.sh")]);
    }
    match (tests.as_slice(), edits.as_slice()) {
        ([], _) => said("Now the tests.").calling([test("Run the tests")]),
        ([first], []) => after_first_test(first),
        ([_], [edit, ..]) if edit.outcome == Outcome::Failed => stuck("change the file", edit),
        ([_], [_, ..]) => said("Mended. The tests again.").calling([test("Run the tests again")]),
        ([_, second, ..], _) => after_second_test(second),
    }
}

fn after_first_test(test: &CallResult) -> Lines {
    let output = text(test);
    if output.contains("FAILED: ") {
        let edit = json!({ "file_path": SOURCE, "old_string": BUG, "new_string": MENDED });
        return said(
            "One test fails: all its numbers are below zero, and `largest.sh` begins its search at 0. \
             It should begin at the first number.",
        )
        .calling([("edit", edit)]);
    }
    if output.contains("ok: ") {
        return said("All tests pass; there is nothing to fix.\n");
    }
    stuck("run the tests", test)
}

fn after_second_test(test: &CallResult) -> Lines {
    let output = text(test);
    if output.contains("FAILED: ") || !output.contains("ok: ") {
        return stuck("make the tests pass", test);
    }
    said(&format!(
        "All tests pass now. What happened, all of it real: two files read, the tests run, one line of \
         `{SOURCE}` changed (`{BUG}` to `{MENDED}`), the tests run again.\n\
         \n\
         `caiman session last` shows every step. With a model instead of this script (`caiman models`), \
         the same tools work in your own project.\n"
    ))
}

/// Tells honestly what did not work; a denied call says itself what would allow it.
fn stuck(what: &str, result: &CallResult) -> Lines {
    let answer = text(result);
    let why = answer.lines().next().unwrap_or("it gave no reason").to_owned();
    said(&format!(
        "I could not {what}: {why}\n\
         \n\
         If that was a matter of permission, `--mode acceptEdits` lets files of this folder be changed \
         and `--allow 'Bash({TEST})'` lets the tests run.\n"
    ))
}

fn test(description: &str) -> (&'static str, serde_json::Value) {
    ("bash", json!({ "command": TEST, "description": description }))
}

fn text(result: &CallResult) -> String {
    let text = |piece: &Piece| match piece {
        Piece::Text { text } => Some(text.clone()),
        Piece::File(_) => None,
    };
    result.pieces.iter().filter_map(text).collect()
}

fn said(text: &str) -> Lines {
    Lines { text: text.to_owned(), ..Lines::default() }
}

impl Lines {
    fn calling(
        mut self,
        calls: impl IntoIterator<Item = (&'static str, serde_json::Value)>,
    ) -> Self {
        self.calls = calls.into_iter().collect();
        self
    }
}
