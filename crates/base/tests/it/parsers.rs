//! What holds of the parsers of files people write, whatever bytes are in them.
//!
//! The smoke tests beside this file and the targets in `fuzz/` run the same functions.

use base::config::parse_text;
use base::front_matter;

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
    let plain = text.replace("\r\n", "\n").replace('\r', "\n");
    assert!(plain.ends_with(&document.body), "{:?} is not its end", document.body);
    for key in KEYS.iter().copied().chain(document.fields.keys().map(String::as_str)) {
        let all = (document.prose(key), document.flag(key), document.number(key));
        let list = document.list(key);
        assert!(document.fields.contains_key(key) || (all, list) == ((None, None, None), None));
    }
}
