//! The first run: what is asked, in which order, and what is done.

use base::protocol::ModelChoice;
use proptest::prelude::*;

use super::*;
use crate::picker::testing::{press, screen, write};

pub(crate) fn providers() -> Vec<ProviderState> {
    let provider = |id: &str, name: &str, key, url: Option<&str>| ProviderState {
        id: id.to_owned(),
        name: name.to_owned(),
        key,
        url: url.map(str::to_owned),
        model: Some(ModelRef::new(id, "best")),
    };
    vec![
        provider("demo", "Offline demo", KeyState::NotNeeded, None),
        provider(
            "anthropic",
            "Anthropic",
            KeyState::Missing,
            Some("https://console.anthropic.com/keys"),
        ),
        provider("openai", "OpenAI", KeyState::Found("OPENAI_API_KEY".to_owned()), None),
        provider("ollama", "Ollama", KeyState::NotNeeded, None),
    ]
}

fn place() -> Place {
    Place {
        folder: "/home/ann/caiman".to_owned(),
        branch: None,
        trust: TrustState::Unknown,
        untrusted: vec![".caiman/settings.json".to_owned(), ".mcp.json".to_owned()],
        model: None,
        is_model_named: false,
        mode: base::protocol::Mode::Default,
        init: Some("AGENTS.md".to_owned()),
    }
}

fn model() -> ModelChoice {
    ModelChoice {
        model: ModelRef::new("openai", "best"),
        name: "Best".to_owned(),
        provider: "OpenAI".to_owned(),
        window: 0,
        input_price: None,
        output_price: None,
        reasons: false,
        sees: false,
        key: KeyState::NotNeeded,
    }
}

fn first_run() -> Welcome {
    let mut welcome = Welcome::new(&Shared::default(), place());
    let effects = welcome.open();
    assert!(matches!(effects.as_slice(), [Effect::Ask { query: Query::Providers, .. }]));
    welcome.hear(PROVIDERS, Ok(Reply::Providers { providers: providers() }));
    welcome
}

#[test]
fn providers_that_are_ready_come_first() {
    insta::assert_snapshot!(screen(&mut first_run(), 80, 24), @r"






    ╭─ welcome to caiman: choose a provider 4 ─────────────────────────────────╮
    │ › search                                                                 │
    │ ready                                                                    │
    │ › OpenAI        key from OPENAI_API_KEY                                  │
    │   Ollama        found on this machine                                    │
    │   Offline demo  a tour without network or key                            │
    │ paste a key                                                              │
    │   Anthropic     https://console.anthropic.com/keys                       │
    │                                                                          │
    │                                                                          │
    │ enter choose · up/down move · esc later                                  │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(screen(&mut first_run(), 40, 10), @r"
    welcome to caiman: choose a provider 4
    › search
    ready
    › OpenAI        key from OPENAI_API_K…
      Ollama        found on this machine
      Offline demo  a tour without networ…
    paste a key
      Anthropic     https://console.anthr…

    enter choose · up/down move
    ");
}

#[test]
fn a_first_run_goes_from_model_to_trust_to_instructions() {
    let mut welcome = first_run();
    let used = Effect::Use(ModelRef::new("openai", "best"));
    assert_eq!(press(&mut welcome, "enter"), Pressed::Taken(vec![used]));
    insta::assert_snapshot!(screen(&mut welcome, 80, 24), @r"





    ╭─ trust /home/ann/caiman? ────────────────────────────────────────────────╮
    │ These files can run commands or loosen rules:                            │
    │   .caiman/settings.json                                                  │
    │   .mcp.json                                                              │
    │ Without trust Caiman works here, but leaves what they say alone.         │
    │                                                                          │
    │   y  yes, I know these files                                             │
    │ › n  no, work without them                                               │
    │   q  quit                                                                │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter choose · up/down move                                              │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
    insta::assert_snapshot!(screen(&mut welcome, 40, 10), @r"
    trust /home/ann/caiman?
    These files can run commands or loosen
    rules:
    .caiman/settings.json  .mcp.json
    Without trust Caiman works here, but
    leaves what they say alone.
      y  yes, I know these files
    › n  no, work without them
      q  quit
    enter choose · up/down move
    ");
    let op = Op::Trust { folder: "/home/ann/caiman".to_owned(), trust: Trust::Given };
    let given = Effect::Submit { op, purpose: Purpose::Other };
    assert_eq!(press(&mut welcome, "y"), Pressed::Taken(vec![given]));
    insta::assert_snapshot!(screen(&mut welcome, 40, 10), @r"
    write AGENTS.md?
    There is no AGENTS.md yet: notes for
    agents on how this project is built
    and tested.
    The model reads the project and writes
    them; you see each step.
    › y  yes, write it
      n  not now
      v  never in this folder
    enter choose · up/down move
    ");
    assert_eq!(
        press(&mut welcome, "enter"),
        Pressed::Done(vec![Effect::Write("/init".to_owned())])
    );
}

#[test]
fn enter_alone_gives_no_trust_and_one_can_quit() {
    let known = || Place { model: Some(model()), ..place() };
    let mut welcome = Welcome::new(&Shared::default(), known());
    let Pressed::Taken(effects) = press(&mut welcome, "enter") else { panic!() };
    let [Effect::Submit { op: Op::Trust { trust, .. }, .. }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(*trust, Trust::Refused);
    let mut welcome = Welcome::new(&Shared::default(), known());
    assert_eq!(press(&mut welcome, "q"), Pressed::Done(vec![Effect::Quit]));
}

#[test]
fn who_tries_the_demo_is_not_asked_what_only_a_model_could_do() {
    let trusted = Place { trust: TrustState::Trusted, ..place() };
    let mut welcome = Welcome::new(&Shared::default(), trusted);
    welcome.hear(PROVIDERS, Ok(Reply::Providers { providers: providers() }));
    write(&mut welcome, "demo");
    let chosen = Effect::Use(ModelRef::new("demo", "best"));
    assert_eq!(press(&mut welcome, "enter"), Pressed::Done(vec![chosen]));
}

#[test]
fn the_offer_can_be_declined_for_ever() {
    let open = Place { model: Some(model()), trust: TrustState::Trusted, ..place() };
    assert!(Welcome::is_needed(&open));
    assert!(!Welcome::is_needed(&Place { init: None, ..open.clone() }));
    let Pressed::Done(effects) = press(&mut Welcome::new(&Shared::default(), open), "v") else {
        panic!()
    };
    let [Effect::Submit { op: Op::Remember { key, .. }, .. }] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(key, "init.never:/home/ann/caiman");
}

#[test]
fn a_key_is_tried_in_place_and_its_failure_is_told() {
    let mut welcome = first_run();
    write(&mut welcome, "anthropic");
    press(&mut welcome, "enter");
    assert!(matches!(welcome.step(), Step::Key(..)));
    let link = Effect::OpenLink("https://console.anthropic.com/keys".to_owned());
    assert_eq!(press(&mut welcome, "ctrl+o"), Pressed::Taken(vec![link]));
    welcome.paste("sk-ant-secret");
    insta::assert_snapshot!(screen(&mut welcome, 40, 10), @r"
    ─ key for Anthropic ────────────────────
      get one at
      https://console.anthropic.com/keys
      it is tried with one request, then
      kept in your keyring

      •••••••••••••

      enter try it · esc back
    ────────────────────────────────────────
    ");
    press(&mut welcome, "enter");
    assert_eq!(
        press(&mut welcome, "x enter"),
        Pressed::Taken(Vec::new()),
        "what is tried stays as it is"
    );
    welcome.submitted(Purpose::Login, Err(ClientError::Refused("401: no such key".to_owned())));
    assert!(screen(&mut welcome, 80, 24).contains("401: no such key"));
    press(&mut welcome, "enter");
    let effects = welcome.submitted(Purpose::Login, Ok(()));
    assert_eq!(effects, [Effect::Use(ModelRef::new("anthropic", "best"))]);
    assert!(matches!(welcome.step(), Step::Trust));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_keys_on_no_screen_break_the_first_run(
        keys in prop::collection::vec(
            prop::sample::select(vec!["enter", "up", "down", "end", "esc", "y", "x", "tab", "ctrl+u", "ctrl+o"]),
            0..12,
        ),
        (width, height) in (0u16..100, 0u16..30),
        takes_key in any::<bool>(),
    ) {
        let mut welcome = first_run();
        for key in keys {
            press(&mut welcome, key);
            welcome.paste("sk");
            let outcome = if takes_key { Ok(()) } else { Err(ClientError::Closed) };
            welcome.submitted(Purpose::Login, outcome);
            screen(&mut welcome, width, height);
        }
    }
}

#[test]
fn a_login_alone_ends_with_the_key() {
    let mut welcome = Welcome::login(&Shared::default());
    welcome.hear(PROVIDERS, Ok(Reply::Providers { providers: providers() }));
    write(&mut welcome, "anthropic");
    press(&mut welcome, "enter");
    welcome.paste("sk");
    press(&mut welcome, "enter");
    welcome.submitted(Purpose::Login, Ok(()));
    assert!(welcome.is_done());
}
