//! What holds of the parsers of files people write, whatever bytes are in them.
//!
//! The smoke tests beside this file and the targets in `fuzz/` run the same functions.

use std::path::Path;

use settings::definition::{
    Home, Problem, Source, Standing, Weight, agent, command, skill, slug, style,
};
use settings::front_matter;
use settings::parse_text;

/// Fields a caller may look for in a definition file.
const KEYS: [&str; 6] = ["name", "description", "tools", "model", "color", "argument-hint"];

/// Settings: every problem names a place that is there, in one printable line, each time the same.
pub(crate) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let loaded = parse_text("caiman.json", &text);
    let lines = text.matches('\n').count() + 1;
    for problem in &loaded.problems {
        assert!(problem.line as usize <= lines, "{problem} lies below the last line");
        let shown = problem.to_string();
        assert!(!shown.contains(char::is_control), "{shown:?}");
    }
    assert_eq!(loaded.problems, parse_text("caiman.json", &text).problems);
}

/// Definition files: the body is the end of the text, and every field can be asked for.
pub(crate) fn front_matter(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let document = front_matter::parse(&text, &KEYS);
    let plain = text.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "");
    assert!(plain.ends_with(&document.body), "{:?} is not its end", document.body);
    for key in KEYS.iter().copied().chain(document.fields.keys().map(String::as_str)) {
        let all = (document.prose(key), document.flag(key), document.number(key));
        let list = document.list(key);
        assert!(document.fields.contains_key(key) || (all, list) == ((None, None, None), None));
    }
}

/// Definitions: whatever is read has a name and a use, and whatever is not is said why, at a line that is
/// there.
pub(crate) fn definition(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Path::new("kit/thing.md");
    for source in [Source::User, Source::Plugin("kit".to_owned())] {
        let home = || Home {
            source: source.clone(),
            file: Some(path.to_owned()),
            standing: Standing::Untrusted,
        };
        let (agent, told) = agent::read(&text, home());
        judge(&text, agent.map(|it| (it.name, it.description)), &told);
        let (skill, told) = skill::read(&text, Path::new("kit/thing"), home());
        judge(&text, skill.map(|it| (it.name, it.description)), &told);
        let (command, told) = command::read(&text, path, home());
        judge(&text, command.map(|it| (it.name, it.body)), &told);
        let (style, told) = style::read(&text, path, home());
        judge(&text, style.map(|it| (it.name, it.body)), &told);
    }
    let (agents, told) = agent::read_json(&text);
    assert!(!agents.is_empty() || !told.is_empty() || text.contains('{'));
    assert!(!slug(&text).contains(['/', '\\', '.', '\0']));
}

fn judge(text: &str, read: Option<(String, String)>, told: &[Problem]) {
    match read {
        Some((name, purpose)) => {
            assert!(!name.trim().is_empty() && !purpose.trim().is_empty());
            assert!(!name.contains(char::is_control), "{name:?}");
            assert!(told.iter().all(|it| it.weight == Weight::Note), "{told:?}");
        }
        None => assert!(!told.is_empty(), "nothing was said of {text:?}"),
    }
    // A carriage return is a line of its own to an editor that knows it as one.
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").matches('\n').count() + 1;
    for problem in told {
        assert!(problem.line.is_none_or(|line| (1..=lines).contains(&line)), "{problem}");
        assert!(!problem.to_string().contains(char::is_control), "{problem}");
    }
}
