//! Markdown as it is seen, and that pieces make the same rows as the whole.

use proptest::prelude::*;

use super::*;
use crate::style::Attrs;
use crate::transcript::sample::look;

fn shown(text: &str, cells: usize) -> String {
    let rows = Markdown::new(text).rows(cells, &look());
    let plain: Vec<String> =
        rows.iter().map(|row| row.line.plain().trim_end().to_owned()).collect();
    plain.join("\n")
}

#[test]
fn blocks_are_laid_out() {
    let text = "# Title\nSome *text* with `code` and [a link](https://x.y).\n\n\
        - one\n- two that is longer than the row is wide\n  1. inner\n  2. more\n- [x] done\n\n\
        7. seven\n8. eight\n\n   second paragraph\n\n> quoted\n> > deeper\n\n```rust\nfn main() {}\n```\nafter\n\n---\n<b>html</b>";
    insta::assert_snapshot!(shown(text, 30), @r#"
    Title

    Some text with code and a
    link.

    - one
    - two that is longer than the
      row is wide
      1. inner
      2. more
    - [x] done

    7. seven
    8. eight

       second paragraph

    │ quoted
    │
    │ │ deeper

      rust
      fn main() {}

    after

    ──────────────────────────────

    <b>html</b>
    "#);
}

#[test]
fn tables_shrink_and_become_records() {
    let text =
        "| name | what it does |\n|---|---|\n| a | something that is quite long |\n| bb | short |";
    insta::assert_snapshot!(shown(text, 24), @r#"
    name  what it does
    ────  ──────────────────
    a     something that is
          quite long
    bb    short
    "#);
    insta::assert_snapshot!(shown(text, 8), @r#"
    name: a
    what it
      does:
      someth
      ing
      that
      is
      quite
      long

    name: bb
    what it
      does:
      short
    "#);
}

#[test]
fn columns_stand_where_the_table_says() {
    let text =
        "| name | count | mood |\n|:--|--:|:-:|\n| a | 7 | ok |\n| bb | 1,024 | |\n| c | | fine |";
    insta::assert_snapshot!(shown(text, 40), @r#"
    name  count  mood
    ────  ─────  ────
    a         7   ok
    bb    1,024
    c            fine
    "#);
}

#[test]
fn loose_lists_stay_loose_and_tight_ones_tight() {
    assert_eq!(shown("a\n- b\n- c\n\n- d", 20), "a\n- b\n- c\n\n- d");
    assert_eq!(shown("- a\n\n  - x\n\n  - y\n", 20), "- a\n\n  - x\n\n  - y");
}

#[test]
fn an_address_that_claims_to_be_another_is_told() {
    let told = shown("[https://good.example](https://evil.example)", 80);
    assert_eq!(told, "https://good.example (https://evil.example)");
    let rows =
        Markdown::new("[docs](https://x.y/z) and [bad](java\u{7}script:x)").rows(80, &look());
    let links: Vec<&str> =
        rows[0].line.spans.iter().filter_map(|span| span.link.as_deref()).collect();
    assert_eq!(links, ["https://x.y/z"]);
}

#[test]
fn emphasis_is_styled_and_copied_without_marks() {
    let rows = Markdown::new("a **b** ~~c~~").rows(80, &look());
    let bold = rows[0].line.spans.iter().find(|span| span.text == "b").unwrap();
    assert!(bold.style.attrs.has(Attrs::BOLD));
    assert_eq!(row::copied(rows.iter(), (0, u16::MAX)), "a b c");
}

#[test]
fn code_is_copied_without_what_is_ours() {
    let text = "> quote\n\n```py\nif x:\n    y = \"a long string in a line that wraps\"\n```\n";
    let rows = Markdown::new(text).rows(24, &look());
    let code = "if x:\n    y = \"a long string in a line that wraps\"";
    assert_eq!(row::copied(rows.iter(), (0, u16::MAX)), format!("quote\n\n{code}"));
}

#[test]
fn a_long_block_of_code_costs_only_its_last_line() {
    let mut text = Markdown::new("```rust\n");
    let mut laid = Laid::default();
    for _ in 0..500 {
        text.push("let x = 1;\nlet y");
        text.lay_out(&mut laid, 80, &look());
        assert!(laid.rows.len() - laid.settled <= 1);
        text.push(" = 2;\n");
    }
}

#[test]
fn many_deltas_of_a_long_answer_are_cheap() {
    let paragraph = "Some words of an **answer** that `goes` on.\n\n- item one\n- item two\n\n";
    let whole = paragraph.repeat(200_000 / paragraph.len());
    let (mut text, mut laid) = (Markdown::default(), Laid::default());
    let began = std::time::Instant::now();
    let mut rest = whole.as_str();
    while !rest.is_empty() {
        let (delta, after) = rest.split_at(rest.len().min(10));
        text.push(delta);
        text.lay_out(&mut laid, 100, &look());
        rest = after;
    }
    assert_eq!(laid.rows, Markdown::new(&whole).rows(100, &look()));
    // About 0.7 s in a debug build here; laying out all of it for each delta would take hours.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
}

/// Text that has much of what Markdown is made of.
fn markdown_like() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "word ",
        "\n",
        "\n\n",
        "- ",
        "  ",
        "1. ",
        "2) ",
        "```",
        "```rust\n",
        "~~~\n",
        "# ",
        "> ",
        "| a | b |\n",
        "|---|---|\n",
        "**",
        "`",
        "    code",
        "---\n",
        "[x](y)",
        "<div>\n",
        "日本",
        "\t",
        "* * *\n",
        "[^1]: n\n",
        "[ ] ",
        "\\",
        "é\u{301}",
        "https://a.b ",
        "\u{1b}[31m",
        "====\n",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

#[test]
fn code_deep_in_lists_keeps_to_the_edge() {
    for row in Markdown::new("1. 1.     code日本").rows(8, &look()) {
        assert!(row.line.width() <= 8, "{:?}", row.line.plain());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn pieces_make_the_same_rows_as_the_whole(
        text in markdown_like(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        cells in 1usize..60,
    ) {
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        at.retain(|at| text.is_char_boundary(*at));
        at.extend([0, text.len()]);
        at.sort_unstable();
        let (mut pieces, mut laid) = (Markdown::default(), Laid::default());
        let whole = Markdown::new(&text).rows(cells, &look());
        for pair in at.windows(2) {
            pieces.push(&text[pair[0]..pair[1]]);
            pieces.lay_out(&mut laid, cells, &look());
            prop_assert_eq!(&laid.rows[..laid.settled()], &whole[..laid.settled()]);
            let settled = Markdown::new(&text[..laid.settled_bytes()]).rows(cells, &look());
            prop_assert_eq!(settled.len(), laid.settled());
        }
        prop_assert_eq!(&laid.rows, &whole);
    }

    #[test]
    fn rows_fit_whatever_the_text(text in markdown_like(), cells in 8usize..60) {
        for row in Markdown::new(&text).rows(cells, &look()) {
            // Deeply nested frames may take all the room there is; text then goes beyond the edge.
            let frames = row.line.plain().matches(['│', '-', '.']).count() * 4;
            prop_assert!(row.line.width() <= cells.max(frames + 8), "{:?}", row.line.plain());
            prop_assert!(!row.line.plain().contains('\n'));
        }
    }
}
