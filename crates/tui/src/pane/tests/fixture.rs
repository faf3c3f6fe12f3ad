//! A small world for panes: what the interface knows, and what the mind would answer.

use base::block::{Todo, TodoState};
use base::protocol::{
    Bill, BillLine, Change, Checkpoint, Delivery, Hit, KeyState, ModelChoice, Offer, OfferKind,
    Query, Reply, ServerKind, ServerState, SessionSummary, Spent, WaitingPrompt,
};
use base::{
    Entry, EntryId, EntryKind, ModelRef, Money, Part, SessionId, StopReason, Timestamp, Usage,
};

use crate::message::{Asker, Effect};
use crate::pane::{Pane, PaneKind, Shared, open};

/// Every pane there is.
pub(super) const KINDS: [PaneKind; 16] = [
    PaneKind::Palette,
    PaneKind::Sessions,
    PaneKind::Models,
    PaneKind::Changes,
    PaneKind::Checkpoints,
    PaneKind::Agents,
    PaneKind::Skills,
    PaneKind::Servers,
    PaneKind::Todos,
    PaneKind::Context,
    PaneKind::Cost,
    PaneKind::Themes,
    PaneKind::Queue,
    PaneKind::History,
    PaneKind::Help,
    PaneKind::Login,
];

fn minutes(count: i64) -> Timestamp {
    Timestamp::from_millis(count * 60_000)
}

fn id(number: u8) -> [u8; 16] {
    [number; 16]
}

pub(super) fn session(number: u8) -> SessionId {
    SessionId::from_bytes(id(number))
}

pub(super) fn entry(number: u8) -> EntryId {
    EntryId::from_bytes(id(number))
}

fn text(text: &str) -> String {
    text.to_owned()
}

fn offer(kind: OfferKind, name: &str, arguments: &str, about: &str) -> Offer {
    let [name, arguments, about] = [name, arguments, about].map(text);
    Offer { kind, name, arguments, about, source: text("built in"), color: None }
}

/// What the interface knows.
pub(super) fn shared() -> Shared {
    let todo = |words: &str, state| Todo { text: text(words), state };
    let waits = |number, words: &str, delivery| WaitingPrompt {
        entry: entry(number),
        parts: vec![Part::user_text(words)],
        delivery,
    };
    Shared {
        pane: 7,
        session: Some(session(1)),
        folder: text("/home/ann/caiman"),
        home: text("/home/ann"),
        now: minutes(100_000),
        offers: vec![
            offer(OfferKind::Command, "compact", "[focus]", "replace the older part by a summary"),
            offer(OfferKind::Command, "init", "", "write AGENTS.md"),
            offer(OfferKind::Skill, "release", "[version]", "how releases are made here"),
            offer(OfferKind::Agent, "explorer", "", "looks around and reports"),
            offer(
                OfferKind::Agent,
                "reviewer",
                "",
                "reads a change and finds what is wrong with it",
            ),
        ],
        todos: vec![
            todo("read the parser", TodoState::Completed),
            todo(
                "write the failing test first, then make it pass without touching others",
                TodoState::InProgress,
            ),
            todo("update the docs", TodoState::Pending),
        ],
        waiting: vec![
            waits(21, "and run the linter", Delivery::Steer),
            waits(22, "then write\na changelog", Delivery::Queue),
        ],
        model: Some(ModelRef::new("anthropic", "claude-sonnet-4-6")),
        window: 200_000,
        used: 48_000,
        spent: vec![
            Spent {
                model: ModelRef::new("anthropic", "claude-sonnet-4-6"),
                calls: 12,
                usage: Usage {
                    input: 20_000,
                    cache_read: 180_000,
                    cache_write: 9_000,
                    output: 4_200,
                    reasoning: 900,
                },
                cost: Some(Money::from_dollars(0.24)),
            },
            Spent {
                model: ModelRef::new("ollama", "qwen3"),
                calls: 1,
                usage: Usage { input: 900, output: 80, ..Usage::default() },
                cost: None,
            },
        ],
        theme: text("auto"),
        ..Shared::default()
    }
}

fn summary(number: u8, title: Option<&str>, folder: &str, updated: i64) -> SessionSummary {
    SessionSummary {
        id: session(number),
        title: title.map(text),
        folder: text(folder),
        created: minutes(updated - 10),
        updated: minutes(updated),
        entries: 42,
        model: Some(ModelRef::new("anthropic", "claude-sonnet-4-6")),
        usage: Usage { input: 12_000, output: 400, ..Usage::default() },
        cost: Money::from_dollars(0.12),
    }
}

fn model(provider: &str, id: &str, name: &str, key: KeyState) -> ModelChoice {
    ModelChoice {
        model: ModelRef::new(provider, id),
        name: text(name),
        provider: text(match provider {
            "anthropic" => "Anthropic",
            "openai" => "OpenAI",
            _ => "Ollama",
        }),
        window: 200_000,
        input_price: (provider != "ollama").then(|| Money::from_dollars(3.0)),
        output_price: (provider != "ollama").then(|| Money::from_dollars(15.0)),
        reasons: provider != "ollama",
        sees: id.contains("sonnet"),
        key,
    }
}

fn said(number: u8, kind: EntryKind) -> Entry {
    Entry { id: entry(number), parent: None, at: minutes(1), kind }
}

/// What the mind would answer.
pub(super) fn answer(query: &Query) -> Reply {
    let found = || KeyState::Found(text("ANTHROPIC_API_KEY"));
    match query {
        Query::Sessions { .. } | Query::Session { .. } => Reply::Sessions {
            sessions: vec![
                summary(1, Some("fix the parser"), "/home/ann/caiman", 99_990),
                summary(2, Some("日本語のテスト"), "/home/ann/caiman", 99_000),
                summary(3, Some("deploy the site"), "/srv/site", 99_995),
                summary(4, None, "/home/ann/caiman", 50_000),
            ],
        },
        Query::Entries { .. } => Reply::Entries {
            paid: Vec::new(),
            entries: vec![
                said(11, EntryKind::User { parts: vec![Part::user_text("why does\n\nit fail?")] }),
                said(
                    12,
                    EntryKind::Assistant {
                        parts: vec![Part::assistant_text(
                            "Because the lexer drops the last token.",
                        )],
                        model: ModelRef::new("anthropic", "claude-sonnet-4-6"),
                        stop: StopReason::Done,
                        usage: Usage::default(),
                    },
                ),
            ],
        },
        Query::Find { .. } => Reply::Found {
            hits: vec![Hit {
                session: summary(3, Some("deploy the site"), "/srv/site", 99_995),
                entry: Some(entry(31)),
                snippet: text("… the lexer of the template engine …"),
            }],
        },
        Query::Models { .. } => Reply::Models {
            models: vec![
                model("anthropic", "claude-sonnet-4-6", "Claude Sonnet 4.6", found()),
                model("anthropic", "claude-haiku-4-5", "Claude Haiku 4.5", found()),
                model("openai", "gpt-5", "GPT-5", KeyState::Missing),
                model("ollama", "qwen3", "Qwen 3", KeyState::NotNeeded),
            ],
        },
        Query::Offers { .. } => Reply::Offers { offers: shared().offers },
        Query::Files { .. } => Reply::Files { paths: Vec::new() },
        Query::History { .. } => Reply::History {
            prompts: vec![
                text("run the tests"),
                text("why does\nit fail\nhere?"),
                text("/compact"),
            ],
        },
        Query::Changes { .. } => changes(),
        Query::Checkpoints { .. } => checkpoints(),
        Query::Context { .. } => Reply::Context(Bill {
            window: 200_000,
            lines: [
                ("system prompt", 3_200),
                ("tools", 9_800),
                ("AGENTS.md", 1_100),
                ("conversation", 33_900),
                ("free", 152_000),
            ]
            .map(|(what, tokens)| BillLine { what: text(what), tokens })
            .to_vec(),
        }),
        Query::Recall { key } => {
            Reply::Recalled { value: (key == crate::pane::FAVOURITE).then(|| text("ollama/qwen3")) }
        }
        Query::Servers { .. } | Query::ServersChanged { .. } => servers(),
        Query::Providers => Reply::Providers { providers: crate::welcome::providers_for_tests() },
        Query::State { .. } | Query::Children { .. } | Query::Place { .. } => {
            panic!("no pane asks {query:?}")
        }
    }
}

fn changes() -> Reply {
    Reply::Changes {
        changes: vec![
            Change {
                path: text("src/lexer.rs"),
                unified: text(
                    "@@ -1,2 +1,3 @@\n fn lex() {\n-    old();\n+    new();\n+    more();\n",
                ),
                added: 2,
                removed: 1,
            },
            Change { path: text("logo.png"), unified: String::new(), added: 0, removed: 0 },
        ],
    }
}

fn checkpoints() -> Reply {
    Reply::Checkpoints {
        checkpoints: vec![
            Checkpoint {
                entry: entry(42),
                before: Some(entry(41)),
                at: minutes(99_950),
                label: text("make it pass"),
                files: vec![text("src/lexer.rs"), text("src/lib.rs")],
            },
            Checkpoint {
                entry: entry(40),
                before: None,
                at: minutes(99_900),
                label: text("why does it fail?"),
                files: Vec::new(),
            },
        ],
    }
}

fn servers() -> Reply {
    Reply::Servers {
        servers: vec![
            ServerState {
                name: text("rust-analyzer"),
                kind: ServerKind::Lsp,
                state: text("ready"),
                log: vec![text("indexed 240 crates")],
            },
            ServerState {
                name: text("tickets"),
                kind: ServerKind::Mcp,
                state: text("failed: no such file"),
                log: Vec::new(),
            },
        ],
    }
}

/// Answers every look-up of a pane, and those that follow; returns what else it wants done.
pub(super) fn settle(pane: &mut dyn Pane, effects: Vec<Effect>) -> Vec<Effect> {
    let mut other = Vec::new();
    let mut open = effects;
    while let Some(effect) = open.pop() {
        // Nothing ever changes here.
        if let Effect::Ask { query: Query::ServersChanged { .. }, .. } = effect {
            continue;
        }
        if let Effect::Ask { query, asker: Asker::Pane { pane: number, what } } = effect {
            assert_eq!(number, 7, "look-ups carry the pane's number");
            open.extend(pane.hear(what, Ok(answer(&query))));
        } else {
            other.push(effect);
        }
    }
    other
}

/// Lets time pass for a pane until it waits no longer.
pub(super) fn rest(pane: &mut dyn Pane) {
    for tick in 0..20 {
        if !pane.wants_tick() {
            return;
        }
        let effects = pane.tick(tick * 100);
        settle(pane, effects);
    }
    panic!("it waits for ever");
}

/// An open pane with all its answers.
pub(super) fn opened(kind: PaneKind) -> Box<dyn Pane> {
    let mut pane = open(kind, &shared());
    let effects = pane.open();
    settle(pane.as_mut(), effects);
    rest(pane.as_mut());
    pane
}
