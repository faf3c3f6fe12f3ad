//! Every pane at 40x10.

use super::fixture::opened;
use crate::pane::PaneKind;
use crate::picker::testing::screen;

fn shown(kind: PaneKind) -> String {
    screen(opened(kind).as_mut(), 40, 10)
}

#[test]
fn palette() {
    insta::assert_snapshot!(shown(PaneKind::Palette), @r"
    commands 35
    › search
    session
    › next permission mode       shift+tab
      think more or less             alt+e
      new session                   ctrl+n
      sessions of all projects      ctrl+s
      choose a model                 alt+p
      enter a provider's key
    enter do it · esc close · up/down move
    ");
}

#[test]
fn sessions() {
    insta::assert_snapshot!(shown(PaneKind::Sessions), @r"
    sessions 4
    › search
    ~/caiman
      ● fix the parser                 10m
    › 日本語のテスト                   16h
      (untitled)                        4w
    /srv/site
      deploy the site                   5m

    enter open · esc close · ctrl+r rename
    ");
}

#[test]
fn models() {
    insta::assert_snapshot!(shown(PaneKind::Models), @r"
    models 4
    › search
    favourites
      * Qwen 3
    Anthropic
    › ● Claude Sonnet 4.6           $3/$15
      Claude Haiku 4.5              $3/$15
    OpenAI (no key)
      GPT-5                         $3/$15
    enter use · esc close
    ");
}

#[test]
fn changes() {
    insta::assert_snapshot!(shown(PaneKind::Changes), @r"
    changes 2
    › search
    › src/lexer.rs                   +2 -1
      logo.png                   as it was





    tab diff · esc close
    ");
}

#[test]
fn checkpoints() {
    insta::assert_snapshot!(shown(PaneKind::Checkpoints), @r"
    go back 2
    › search
    › make it pass            2 files  50m
      why does it fail?                 1h





    enter go back… · esc close · tab files
    ");
}

#[test]
fn agents() {
    insta::assert_snapshot!(shown(PaneKind::Agents), @r"
    agents 2
    › search
    › explorer  looks around and reports
      reviewer  reads a change and finds …





    enter write its name · esc close
    ");
}

#[test]
fn skills() {
    insta::assert_snapshot!(shown(PaneKind::Skills), @r"
    skills 1
    › search
    › release  how releases are made here






    enter write its name · esc close
    ");
}

#[test]
fn servers() {
    insta::assert_snapshot!(shown(PaneKind::Servers), @r"
    servers 2
    › search
    MCP
    › ✗ tickets        failed: no such fi…
    language servers
      ● rust-analyzer  ready



    tab log · esc close
    ");
}

#[test]
fn todos() {
    insta::assert_snapshot!(shown(PaneKind::Todos), @r"
    to do 1/3
    ✓ read the parser
    ● write the failing test first, then
      make it pass without touching others
    ◌ update the docs




    esc close · up/down scroll
    ");
}

#[test]
fn context() {
    insta::assert_snapshot!(shown(PaneKind::Context), @r"
    context
    48k of 200k tokens, about · 24 %
    ██████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░

    system prompt   3.2k ██░░░░░░░░░░░░░░
    tools           9.8k █████░░░░░░░░░░░
    AGENTS.md       1.1k █░░░░░░░░░░░░░░░
    conversation   33.9k ████████████████
    free            152k
    esc close · up/down scroll
    ");
}

#[test]
fn cost() {
    insta::assert_snapshot!(shown(PaneKind::Cost), @r"
    cost
    $0.24 and what has no known price

    anthropic/claude-sonnet-4-6      $0.24
      12 calls · 20k in · 180k from cache
      (86 %) · 9k to cache · 4.2k out ·
      900 of it thought
    ollama/qwen3                  no price
      1 call · 900 in · 80 out
    esc close · up/down scroll
    ");
}

#[test]
fn themes() {
    insta::assert_snapshot!(shown(PaneKind::Themes), @r"
    themes 4
    › search
    › ● auto  fits the terminal's backgro…
      dark
      light
      plain   no colours



    enter keep · esc back to what it was
    ");
}

#[test]
fn queue() {
    insta::assert_snapshot!(shown(PaneKind::Queue), @r"
    waiting prompts 2
    › search
    › and run the linter    joins the turn
      then write            after the turn





    enter edit · ctrl+x delete · esc close
    ");
}

#[test]
fn history() {
    insta::assert_snapshot!(shown(PaneKind::History), @r"
    what you said 3
    › search
    › run the tests
      why does                    +2 lines
      /compact




    enter write it again · esc close
    ");
}

#[test]
fn help() {
    insta::assert_snapshot!(shown(PaneKind::Help), @r"
    help 60
    › search
    prompt
    › enter                send; while a …
      alt+enter            send after the…
      shift+enter, ctrl+j  new line
      ctrl+g               write the prom…
      ctrl+v               paste a pictur…
      ctrl+r               search what yo…
    esc close · enter do it
    ");
}
