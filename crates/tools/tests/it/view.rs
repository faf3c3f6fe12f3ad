//! `view`.

use std::io::{Cursor, Write as _};
use std::sync::Arc;

use base::transcript::FileSource;
use base64::Engine as _;
use image::{DynamicImage, GenericImageView as _, ImageFormat, RgbImage, RgbaImage};
use serde_json::{Value, json};
use tools::{Output, ToolError};

use crate::room::Room;

async fn view(room: &Room, path: &str) -> String {
    room.call("view", json!({ "file_path": path })).await.unwrap().text
}

async fn refusal(room: &Room, path: &str) -> String {
    room.call("view", json!({ "file_path": path })).await.unwrap_err().to_string()
}

async fn part(room: &Room, path: &str, offset: usize, limit: usize) -> String {
    let input = json!({ "file_path": path, "offset": offset, "limit": limit });
    room.call("view", input).await.unwrap().text
}

#[tokio::test]
async fn shows_numbered_lines() {
    let room = Room::new().await;
    room.write("a.txt", "one\n\ttwo\r\n\nfour");
    assert_eq!(view(&room, "a.txt").await, "1\tone\n2\t\ttwo\n3\t\n4\tfour");
}

#[tokio::test]
async fn shows_a_part_and_names_the_next() {
    let room = Room::new().await;
    let lines: Vec<String> = (1..=2_500).map(|line| format!("line {line}\n")).collect();
    room.write("a.txt", lines.concat());
    assert_eq!(part(&room, "a.txt", 0, 1).await, "1\tline 1\n[more of 2500 lines: offset 2]");
    assert_eq!(part(&room, "a.txt", 2499, 9).await, "2499\tline 2499\n2500\tline 2500");
    assert_eq!(
        part(&room, "a.txt", 9999, 9).await,
        "a.txt has 2500 lines; line 9999 is past its end"
    );
    assert!(
        view(&room, "a.txt").await.ends_with("2000\tline 2000\n[more of 2500 lines: offset 2001]")
    );
}

#[tokio::test]
async fn cuts_long_lines_and_long_files() {
    let room = Room::new().await;
    room.write("long.txt", "é".repeat(3_000));
    assert!(view(&room, "long.txt").await.ends_with("é… [1000 more letters]"));
    room.write("wide.txt", format!("{}\n", "x".repeat(1_500)).repeat(1_000));
    let shown = view(&room, "wide.txt").await;
    assert!(
        shown.len() < 205_000 && shown.ends_with("offset 134]"),
        "{}",
        &shown[shown.len() - 60..]
    );
}

#[tokio::test]
async fn names_what_is_not_text() {
    let room = Room::new().await;
    room.write("empty", "");
    room.write("d/a.txt", "x");
    room.write("program", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    room.write("noise", [0, 159, 146, 150].repeat(500));
    assert_eq!(view(&room, "empty").await, "empty is empty");
    assert_eq!(refusal(&room, "d").await, "d is a folder; use ls to see what is in it");
    assert_eq!(view(&room, "program").await, "program is a program (ELF) of 16 bytes, not text");
    assert_eq!(view(&room, "noise").await, "noise is binary data of 2.0 KB, not text");
    let refused = refusal(&room, "/dev/zero").await;
    assert_eq!(refused, "cannot read /dev/zero: it is a device, not a file");
}

#[tokio::test]
async fn reads_other_encodings_and_says_so() {
    let room = Room::new().await;
    room.write("old.txt", b"d\xe9j\xe0 vu, cr\xe8me br\xfbl\xe9e\n");
    assert_eq!(view(&room, "old.txt").await, "[windows-1252 text]\n1\tdéjà vu, crème brûlée");
    let wide: Vec<u8> =
        "\u{feff}größe\r\nzwei\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    room.write("wide.txt", wide);
    assert_eq!(view(&room, "wide.txt").await, "[UTF-16LE text]\n1\tgröße\n2\tzwei");
    room.write("mark.txt", "\u{feff}one\n");
    assert_eq!(view(&room, "mark.txt").await, "1\tone");
    let late = [vec![b'x'; 70_000], b"\n\xff\n".to_vec()].concat();
    room.write("late.txt", late);
    assert!(
        view(&room, "late.txt").await.starts_with("[some bytes are not UTF-8 and shown as �]\n")
    );
}

#[tokio::test]
async fn suggests_what_may_have_been_meant() {
    let room = Room::new().await;
    room.write("src/main.rs", "");
    room.write("src/lib.rs", "");
    room.write("deep/down/config.toml", "");
    let refused = |path: &'static str| refusal(&room, path);
    assert_eq!(
        refused("src/mian.rs").await,
        "there is no file src/mian.rs; did you mean src/main.rs?"
    );
    assert_eq!(
        refused("src/MAIN.rs").await,
        "there is no file src/MAIN.rs; did you mean src/main.rs?"
    );
    assert_eq!(
        refused("config.toml").await,
        "there is no file config.toml; did you mean deep/down/config.toml?"
    );
    assert_eq!(
        refused("src/lib.ts").await,
        "there is no file src/lib.ts; did you mean src/lib.rs?"
    );
    assert_eq!(refused("quite/other").await, "there is no file quite/other");
}

#[tokio::test]
async fn suggests_nothing_from_outside() {
    let room = Room::new().await;
    std::fs::write(room.folder().with_file_name("secret.txt"), "").unwrap();
    let refused = refusal(&room, "../secrat.txt").await;
    assert!(refused.starts_with("there is no file ") && !refused.contains("secret"), "{refused}");
}

fn png(picture: &DynamicImage) -> Vec<u8> {
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    bytes
}

/// A picture that does not compress.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    RgbImage::from_fn(width, height, |_, _| image::Rgb([next(), next(), next()])).into()
}

fn attached(output: &Output) -> (String, DynamicImage, usize) {
    let [file] = output.files.as_slice() else { panic!("one picture") };
    let FileSource::Base64(text) = &file.source else { panic!("its bytes") };
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap();
    (file.media_type.clone(), image::load_from_memory(&bytes).unwrap(), bytes.len())
}

#[tokio::test]
async fn a_small_picture_is_shown_as_it_is() {
    let room = Room::new().await;
    let bytes = png(&RgbaImage::new(40, 30).into());
    room.write("a.png", &bytes);
    let output = room.call("view", json!({ "file_path": "a.png" })).await.unwrap();
    assert!(output.text.starts_with("a.png is a picture (PNG, 40×30, "), "{}", output.text);
    let (media_type, picture, size) = attached(&output);
    assert_eq!(
        (media_type.as_str(), picture.dimensions(), size),
        ("image/png", (40, 30), bytes.len())
    );
}

#[tokio::test]
async fn a_large_picture_is_scaled_down() {
    let room = Room::new().await;
    room.write("wide.png", png(&RgbImage::new(4_000, 1_000).into()));
    let output = room.call("view", json!({ "file_path": "wide.png" })).await.unwrap();
    assert!(output.text.ends_with("scaled to 1568×392"), "{}", output.text);
    assert_eq!(attached(&output).1.dimensions(), (1568, 392));
}

#[tokio::test]
async fn a_picture_of_many_bytes_is_made_small_enough() {
    let room = Room::new().await;
    room.write("noise.png", png(&noise(720, 500)));
    let output = room.call("view", json!({ "file_path": "noise.png" })).await.unwrap();
    let (media_type, _, size) = attached(&output);
    assert!(size <= 1_000_000, "{size}");
    assert_eq!(media_type, "image/jpeg");
}

#[tokio::test]
async fn a_model_that_cannot_look_is_told_what_the_picture_is() {
    let mut room = Room::new().await;
    Arc::get_mut(&mut room.workspace).unwrap().sees_images = false;
    room.write("a.png", png(&RgbImage::new(4, 3).into()));
    let output = room.call("view", json!({ "file_path": "a.png" })).await.unwrap();
    assert!(output.text.ends_with("this model cannot look at pictures"), "{}", output.text);
    assert!(output.files.is_empty());
}

#[tokio::test]
async fn a_broken_or_monstrous_picture_is_said_to_be() {
    let room = Room::new().await;
    let whole = png(&noise(100, 100));
    room.write("cut.png", &whole[..20]);
    let shown = view(&room, "cut.png").await;
    assert!(shown.starts_with("cut.png is a picture that cannot be read"), "{shown}");
    // A header that claims 60,000 × 60,000 points.
    let mut bomb = whole;
    bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    room.write("bomb.png", bomb);
    let shown = view(&room, "bomb.png").await;
    assert!(shown.contains("cannot be read"), "{shown}");
}

#[tokio::test]
async fn svg_is_text() {
    let room = Room::new().await;
    room.write("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n");
    assert!(view(&room, "a.svg").await.starts_with("1\t<svg"));
}

/// A PDF with one line of text a page.
pub(crate) fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    let mut kids = Vec::new();
    for text in pages {
        let content = format!("BT /F1 24 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
        let number = objects.len();
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
        ));
        kids.push(format!("{} 0 R", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), kids.len());
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        writeln!(bytes, "{} 0 obj\n{object}\nendobj", at + 1).unwrap();
    }
    let start = bytes.len();
    writeln!(bytes, "xref\n0 {}\n0000000000 65535 f ", objects.len() + 1).unwrap();
    for place in places {
        writeln!(bytes, "{place:010} 00000 n ").unwrap();
    }
    let size = objects.len() + 1;
    write!(bytes, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").unwrap();
    bytes
}

#[tokio::test]
async fn shows_the_text_of_a_pdf_by_pages() {
    let room = Room::new().await;
    room.write("a.pdf", pdf(&["First page", "Second page", "Third page"]));
    let shown = view(&room, "a.pdf").await;
    assert!(shown.starts_with("[page 1 of 3]\nFirst page\n[page 2 of 3]\nSecond page"), "{shown}");
    let shown = part(&room, "a.pdf", 2, 1).await;
    assert_eq!(shown, "[page 2 of 3]\nSecond page\n[more of 3 pages: offset 3]");
    room.write("bad.pdf", b"%PDF-1.4\nnot really a document");
    let refused = refusal(&room, "bad.pdf").await;
    assert!(refused.starts_with("bad.pdf is a PDF that cannot be read"), "{refused}");
}

#[tokio::test]
async fn shows_a_notebook_as_cells() {
    let room = Room::new().await;
    let notebook = json!({ "nbformat": 4, "cells": [
        { "cell_type": "markdown", "source": ["# Title\n", "text"] },
        { "cell_type": "code", "source": "1 + 1", "outputs": [
            { "output_type": "execute_result", "data": { "text/plain": ["2"] } },
            { "output_type": "stream", "text": "x".repeat(5_000) },
            { "output_type": "display_data", "data": { "image/png": "aGk=", "text/plain": "<Figure>" } },
            { "output_type": "error", "ename": "ValueError", "evalue": "no" },
        ] },
    ] });
    room.write("a.ipynb", notebook.to_string());
    let shown = view(&room, "a.ipynb").await;
    assert!(
        shown
            .starts_with("[cell 1, markdown]\n# Title\ntext\n[cell 2, code]\n1 + 1\n[output]\n2\n"),
        "{shown}"
    );
    assert!(
        shown.ends_with("…\n[output]\n(image/png picture) <Figure>\n[output]\nValueError: no"),
        "{shown}"
    );
    assert!(shown.len() < 2_500);
    assert_eq!(
        part(&room, "a.ipynb", 1, 1).await,
        "[cell 1, markdown]\n# Title\ntext\n[more of 2 cells: offset 2]"
    );
    room.write("fake.ipynb", "not json\n");
    assert_eq!(view(&room, "fake.ipynb").await, "1\tnot json");
}

#[tokio::test]
async fn a_huge_file_is_not_read_whole() {
    let room = Room::new().await;
    room.write("huge.log", "a line\n".repeat(20_000));
    let file =
        std::fs::OpenOptions::new().write(true).open(room.folder().join("huge.log")).unwrap();
    file.set_len(4_000_000_000).unwrap();
    let shown = part(&room, "huge.log", 3, 2).await;
    assert_eq!(shown, "3\ta line\n4\ta line\n[more of 4.0 GB: offset 5]");
    let edit = json!({ "file_path": "huge.log", "old_string": "a", "new_string": "b" });
    let refused = room.call("edit", edit).await.unwrap_err().to_string();
    assert_eq!(refused, "huge.log is too large to edit (4.0 GB); change it with a command");
}

#[tokio::test]
async fn a_cancelled_view_ends_at_once() {
    let room = Room::new().await;
    room.write("huge.log", "a line\n".repeat(20_000));
    let file =
        std::fs::OpenOptions::new().write(true).open(room.folder().join("huge.log")).unwrap();
    file.set_len(400_000_000_000).unwrap();
    let call = room.call("view", json!({ "file_path": "huge.log", "offset": 1_000_000_000 }));
    let cancel = async {
        tokio::task::yield_now().await;
        room.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call, cancel);
    assert!(matches!(outcome, Err(ToolError::Cancelled)), "{outcome:?}");
}

#[tokio::test]
async fn the_title_names_the_part() {
    let room = Room::new().await;
    let title = |input: Value| {
        let Value::Object(input) = input else { unreachable!() };
        room.registry.get("view").unwrap().clone().prepare(input).unwrap().title()
    };
    assert_eq!(title(json!({ "file_path": "a" })), "a");
    assert_eq!(title(json!({ "file_path": "a", "offset": 10 })), "a from 10");
    assert_eq!(title(json!({ "file_path": "a", "offset": 10, "limit": 5 })), "a 10–14");
}
