use std::path::PathBuf;

use base::{EntryId, Part, Timestamp};
use settings::definition::skill::{Callers, Context};
use settings::definition::{Home, Source, Standing};

use super::*;

fn skill(name: &str, description: &str) -> Skill {
    Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        when_to_use: None,
        body: "Body".to_owned(),
        folder: PathBuf::from("/skills").join(name),
        argument_hint: None,
        arguments: Vec::new(),
        callers: Callers::Both,
        allowed_tools: Vec::new(),
        disallowed_tools: Vec::new(),
        model: None,
        effort: None,
        context: Context::Here,
        agent: None,
        background: false,
        hooks: settings::definition::Hooks::default(),
        paths: Vec::new(),
        more: serde_json::Map::new(),
        home: Home { source: Source::User, file: None, standing: Standing::Trusted },
    }
}

#[test]
fn the_list_is_a_line_each_in_a_stable_order() {
    let mut hidden = skill("hidden", "For the user only");
    hidden.callers = Callers::User;
    let mut late = skill("zeta", "Does\n  z.");
    late.when_to_use = Some("Use it last.".to_owned());
    let alpha = skill("alpha", "Does a.");
    insta::assert_snapshot!(segment(&[&late, &hidden, &alpha]).unwrap_or_default(), @r"
    Skills: when one fits the task, load it with the skill tool before you begin.
    - alpha: Does a.
    - zeta: Does z. Use it last.
    ");
    assert_eq!(segment(&[&hidden]), None);
}

#[test]
fn many_skills_share_the_room() {
    for count in [10, 40, 90, 1_000] {
        let name = |at| format!("skill-{at:04}");
        let many = (0..count).map(|at| skill(&name(at), &"word ".repeat(100)));
        let many: Vec<Skill> = many.collect();
        let lines = lines(&many.iter().collect::<Vec<_>>()).unwrap_or_default();
        assert!(lines.len() <= LIST_BYTES + 60, "{count}: {}", lines.len());
        assert!(lines.contains("skill-0009"), "{count}");
    }
}

#[test]
fn only_what_changed_is_news() {
    let (alpha, beta) = (skill("alpha", "Does a."), skill("beta", "Does b."));
    let (one, two) = ([&alpha], [&alpha, &beta]);
    let system = vec!["Who we are.".to_owned(), segment(&one).unwrap_or_default()];
    assert_eq!(news(&one, &system, &[]), None);
    let text = news(&two, &system, &[]).unwrap_or_default();
    assert!(text.ends_with("- alpha: Does a.\n- beta: Does b."), "{text}");
    let said = |text: String| {
        let parts = vec![Part::new(PartBody::Text { text }, Origin::System)];
        let kind = EntryKind::User { parts };
        Entry { id: EntryId::new(), parent: None, at: Timestamp::default(), kind }
    };
    let mut branch = vec![said(text)];
    assert_eq!(news(&two, &system, &branch), None);
    let gone = news(&[], &system, &branch).unwrap_or_default();
    assert_eq!(gone, NONE_LEFT);
    branch.push(said(gone));
    assert_eq!(news(&[], &system, &branch), None);
    assert!(news(&one, &system, &branch).is_some());
}
