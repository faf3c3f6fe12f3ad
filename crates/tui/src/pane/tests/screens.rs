//! Every pane at 80x24.

use super::fixture::opened;
use crate::pane::PaneKind;
use crate::picker::testing::screen;

fn shown(kind: PaneKind) -> String {
    screen(opened(kind).as_mut(), 80, 24)
}

#[test]
fn palette() {
    insta::assert_snapshot!(shown(PaneKind::Palette), @r"

    ╭─ commands 35 ────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │                                                                          │
    │ session                                                                  │
    │ › next permission mode                                         shift+tab │
    │   think more or less                                               alt+e │
    │   new session                                                     ctrl+n │
    │   sessions of all projects                                        ctrl+s │
    │   choose a model                                                   alt+p │
    │   enter a provider's key                                                 │
    │   go back to an earlier moment                                        f6 │
    │ lists and pages                                                          │
    │   keys and commands                                                   f1 │
    │   what is to be done                                              ctrl+t │
    │   files changed in this session                                       f5 │
    │   what fills the context window                                       f7 │
    │   MCP and language servers                                            f8 │
    │   what the session cost                                               f9 │
    │   agents                                                                 │
    │                                                                          │
    │ enter do it · esc close · up/down move                                   │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn sessions() {
    insta::assert_snapshot!(shown(PaneKind::Sessions), @r"






    ╭─ sessions 4 ─────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ ~/caiman                                                                 │
    │   ● fix the parser                                                   10m │
    │ › 日本語のテスト                                                     16h │
    │   (untitled)                                                          4w │
    │ /srv/site                                                                │
    │   deploy the site                                                     5m │
    │                                                                          │
    │                                                                          │
    │ enter open · esc close · ctrl+r rename · ctrl+x delete · ctrl+f fork     │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn models() {
    insta::assert_snapshot!(shown(PaneKind::Models), @r"





    ╭─ models 4 ───────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ favourites                                                               │
    │   * Qwen 3             ollama/qwen3                       200k           │
    │ Anthropic                                                                │
    │ › ● Claude Sonnet 4.6  anthropic/claude-son…      $3/$15  200k think see │
    │   Claude Haiku 4.5     anthropic/claude-hai…      $3/$15  200k think     │
    │ OpenAI (no key)                                                          │
    │   GPT-5                openai/gpt-5               $3/$15  200k think     │
    │                                                                          │
    │                                                                          │
    │ enter use · esc close · ctrl+f favourite · tab details                   │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn changes() {
    insta::assert_snapshot!(shown(PaneKind::Changes), @r"






    ╭─ changes 2 ──────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › src/lexer.rs                                                     +2 -1 │
    │   logo.png                                                     as it was │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ tab diff · esc close · shift+up/down scroll · enter name it              │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn checkpoints() {
    insta::assert_snapshot!(shown(PaneKind::Checkpoints), @r"






    ╭─ go back 2 ──────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › make it pass                                              2 files  50m │
    │   why does it fail?                                                   1h │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter go back… · esc close · tab files                                   │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn agents() {
    insta::assert_snapshot!(shown(PaneKind::Agents), @r"






    ╭─ agents 2 ───────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › explorer  looks around and reports                                     │
    │   reviewer  reads a change and finds what is wrong with it               │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter write its name · esc close · tab details · ctrl+o edit its file    │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn skills() {
    insta::assert_snapshot!(shown(PaneKind::Skills), @r"






    ╭─ skills 1 ───────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › release  how releases are made here                                    │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter write its name · esc close · tab details · ctrl+o edit its file    │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn servers() {
    insta::assert_snapshot!(shown(PaneKind::Servers), @r"






    ╭─ servers 2 ──────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ MCP                                                                      │
    │ › ✗ tickets        failed: no such file                                  │
    │ language servers                                                         │
    │   ● rust-analyzer  ready                                                 │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ tab log · esc close · ctrl+s start anew · ctrl+r look again              │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn todos() {
    insta::assert_snapshot!(shown(PaneKind::Todos), @r"






    ╭─ to do 1/3 ──────────────────────────────────────────────────────────────╮
    │                                                                          │
    │ ✓ read the parser                                                        │
    │ ● write the failing test first, then make it pass without touching       │
    │   others                                                                 │
    │ ◌ update the docs                                                        │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ esc close · up/down scroll                                               │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn context() {
    insta::assert_snapshot!(shown(PaneKind::Context), @r"





    ╭─ context ────────────────────────────────────────────────────────────────╮
    │                                                                          │
    │ 48k of 200k tokens, about · 24 %                                         │
    │ ███████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░             │
    │                                                                          │
    │ system prompt   3.2k ████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░            │
    │ tools           9.8k ████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░            │
    │ AGENTS.md       1.1k ██░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░            │
    │ conversation   33.9k ████████████████████████████████████████            │
    │ free            152k                                                     │
    │                                                                          │
    │ esc close · up/down scroll                                               │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn cost() {
    insta::assert_snapshot!(shown(PaneKind::Cost), @r"






    ╭─ cost ───────────────────────────────────────────────────────────────────╮
    │                                                                          │
    │ $0.24 and what has no known price                                        │
    │                                                                          │
    │ anthropic/claude-sonnet-4-6                            $0.24             │
    │   12 calls · 20k in · 180k from cache (86 %) · 9k to cache · 4.2k out ·  │
    │   900 of it thought                                                      │
    │ ollama/qwen3                                        no price             │
    │   1 call · 900 in · 80 out                                               │
    │                                                                          │
    │ esc close · up/down scroll                                               │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn themes() {
    insta::assert_snapshot!(shown(PaneKind::Themes), @r"






    ╭─ themes 4 ───────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › ● auto  fits the terminal's background                                 │
    │   dark                                                                   │
    │   light                                                                  │
    │   plain   no colours                                                     │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter keep · esc back to what it was · tab sample                        │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn queue() {
    insta::assert_snapshot!(shown(PaneKind::Queue), @r"






    ╭─ waiting prompts 2 ──────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › and run the linter                                      joins the turn │
    │   then write                                              after the turn │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter edit · ctrl+x delete · esc close · tab all of it                   │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn history() {
    insta::assert_snapshot!(shown(PaneKind::History), @r"






    ╭─ what you said 3 ────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │ › run the tests                                                          │
    │   why does                                                      +2 lines │
    │   /compact                                                               │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │                                                                          │
    │ enter write it again · esc close · tab all of it                         │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}

#[test]
fn help() {
    insta::assert_snapshot!(shown(PaneKind::Help), @r"

    ╭─ help 60 ────────────────────────────────────────────────────────────────╮
    │ › search                                                                 │
    │                                                                          │
    │ prompt                                                                   │
    │ › enter                send; while a turn runs, join it             send │
    │   alt+enter            send after the running turn            send_later │
    │   shift+enter, ctrl+j  new line                                 new_line │
    │   ctrl+g               write the prompt in your editor       open_editor │
    │   ctrl+v               paste a picture or text               paste_image │
    │   ctrl+r               search what you said before        search_history │
    │   alt+q                prompts that wait                      open_queue │
    │   ctrl+c               clear the prompt; twice quits               clear │
    │ session                                                                  │
    │   esc                  stop the turn, close what is open            stop │
    │   shift+tab            next permission mode                    next_mode │
    │   alt+e                think more or less                    next_effort │
    │   ctrl+n               new session                           new_session │
    │   ctrl+s               sessions of all projects            open_sessions │
    │   alt+p, f2            choose a model                        open_models │
    │                                                                          │
    │ esc close · enter do it · type to search                                 │
    ╰──────────────────────────────────────────────────────────────────────────╯
    ");
}
