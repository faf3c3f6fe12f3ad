//! The scripted model inside the binary: no key, no network, no AI, and it says so.
//!
//! It answers through the same deltas as every wire, so that a first run shows the real product.

use std::time::Duration;

use base::model::{StopReason, Usage};
use base::transcript::{Part, Role};

use crate::delta::{Delta, Opening};
use crate::request::Request;

/// The pause between two words: fast enough to read along, slow enough to be seen streaming.
const PAUSE: Duration = Duration::from_millis(6);
/// Most that is repeated of the user's prompt.
const QUOTE_LIMIT: usize = 120;

/// One step of the script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Beat {
    /// How long to wait before it.
    pub(crate) wait: Duration,
    /// What it brings.
    pub(crate) deltas: Vec<Delta>,
}

/// The script's answer to `request`.
pub(crate) fn script(request: &Request) -> Vec<Beat> {
    let prompt = last_words(request);
    let thought = "The script has one thought: say clearly that it is a script.";
    let answer = answer(&prompt);
    let started = Delta::Started { id: Some("demo".into()), model: Some("tour".into()) };
    let mut beats = vec![Beat { wait: Duration::ZERO, deltas: vec![started] }];
    beats.extend(spoken(0, Opening::Reasoning, thought));
    beats.extend(spoken(1, Opening::Text, &answer));
    let usage = Usage {
        input: estimate(&prompt),
        output: estimate(thought) + estimate(&answer),
        reasoning: estimate(thought),
        ..Usage::default()
    };
    let end = vec![Delta::Stop(StopReason::Done), Delta::Usage(usage)];
    beats.push(Beat { wait: PAUSE, deltas: end });
    beats
}

fn answer(prompt: &str) -> String {
    let said = if prompt.is_empty() {
        "You said nothing, which a script answers just as well.".to_owned()
    } else {
        format!("You said: \"{}\"", quoted(prompt))
    };
    format!(
        "This is the demo: a script inside the Caiman binary, not an AI. {said}\n\
         \n\
         What you see around the script is real. These words took the path every model's answer \
         takes, and the session is on disk:\n\
         \n\
         - `caiman session last` shows it, `caiman session export` writes it as Markdown or JSONL.\n\
         - `caiman stats` counts tokens and money, per day, model and session.\n\
         \n\
         To talk to a model:\n\
         \n\
         1. Set a key, for example `export ANTHROPIC_API_KEY=...`, or store one with \
         `caiman login openai`. A local Ollama, llama.cpp or LM Studio needs none.\n\
         2. `caiman models` lists what you can use.\n\
         3. `caiman run --model anthropic/claude-sonnet-4-6 \"...\"`, or set a default in \
         `caiman.json`.\n"
    )
}

fn last_words(request: &Request) -> String {
    let last = request.turns.iter().rev().find(|turn| turn.role == Role::User);
    let texts = last.map(|turn| turn.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>());
    texts.unwrap_or_default().join("\n").trim().to_owned()
}

fn quoted(prompt: &str) -> String {
    let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTE_LIMIT {
        return line;
    }
    line.chars().take(QUOTE_LIMIT).collect::<String>() + "…"
}

fn spoken(part: usize, opening: Opening, text: &str) -> Vec<Beat> {
    let open = Beat { wait: PAUSE, deltas: vec![Delta::Open { part, opening }] };
    let words = text.split_inclusive(' ').map(|word| Beat {
        wait: PAUSE,
        deltas: vec![Delta::More { part, text: word.to_owned() }],
    });
    std::iter::once(open).chain(words).collect()
}

/// About four bytes a token: good enough for a script.
fn estimate(text: &str) -> u64 {
    u64::try_from(text.len() / 4 + 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use base::transcript::{Maker, PartBody, Turn};

    use super::*;
    use crate::fold::Fold;

    fn told(prompt: &str) -> String {
        let turns = vec![Turn { role: Role::User, parts: vec![Part::user_text(prompt)] }];
        let request = Request { turns, ..Request::default() };
        let maker = Maker { provider: "demo".into(), model: "tour".into(), wire: "demo".into() };
        let mut fold = Fold::new(maker);
        script(&request)
            .into_iter()
            .flat_map(|beat| beat.deltas)
            .for_each(|delta| fold.push(delta));
        let answer = fold.answer();
        assert_eq!(answer.stop, Some(StopReason::Done));
        assert!(matches!(answer.parts[0].body, PartBody::Reasoning { .. }));
        answer.parts[1].as_text().unwrap().to_owned()
    }

    #[test]
    fn says_that_it_is_a_script_and_repeats_the_prompt() {
        let text = told("fix  the\nbug");
        assert!(text.contains("not an AI"), "{text}");
        assert!(text.contains("You said: \"fix the bug\""), "{text}");
    }

    #[test]
    fn a_long_prompt_is_cut_at_a_character() {
        let text = told(&"ü".repeat(500));
        assert!(text.contains(&format!("{}…", "ü".repeat(QUOTE_LIMIT))), "{text}");
    }
}
