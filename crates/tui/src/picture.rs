//! Pictures in cells: two pixels a cell, as half blocks. Terminals that can do better are given the picture
//! itself by the screen.

use std::sync::Arc;

use base::transcript::{File, FileSource};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::imageops::FilterType;
use image::{GenericImageView as _, ImageReader, Limits};

use crate::line::{Line, Span};
use crate::look::{Look, Pictures};
use crate::style::{Color, Style};
use crate::terminal::picture::Picture;
use crate::text;
use crate::theme::Role;
use crate::transcript::row::{Placed, Row};

/// Rows a picture takes at most.
const MOST_ROWS: u32 = 14;
/// Columns it takes at most.
const MOST_COLUMNS: u32 = 60;
/// A picture larger than this, in pixels a side, is only named.
const MOST_PIXELS: u32 = 8_000;
/// A picture whose bytes are more than this is only named.
const MOST_BYTES: usize = 12 * 1024 * 1024;
/// A cell in pixels, about; what a terminal's cells really are only it knows.
const CELL: (u16, u16) = (9, 18);
/// Pixels less opaque than this show what is behind them.
const OPAQUE: u8 = 96;

/// Rows of a picture, named below.
pub fn rows(file: &File, cells: usize, look: &Look) -> Vec<Row> {
    let mut rows = match look.pictures {
        Pictures::HalfBlocks if look.unicode => drawn(file, cells),
        Pictures::HalfBlocks => Vec::new(),
        Pictures::Kitty | Pictures::Iterm | Pictures::Sixel => placed(file, cells),
    };
    let name = file.name.as_deref().unwrap_or(&file.media_type);
    let style = look.theme.style(Role::Muted);
    rows.push(Row::ours(Line::new(format!("[{}]", text::clean(name)), style)));
    rows
}

/// Its bytes, if they are at hand and not too many.
fn bytes(file: &File) -> Option<Vec<u8>> {
    let FileSource::Base64(encoded) = &file.source else { return None };
    (encoded.len() <= MOST_BYTES).then(|| STANDARD.decode(encoded).ok()).flatten()
}

/// Blank rows that the terminal lays the picture over.
fn placed(file: &File, cells: usize) -> Vec<Row> {
    let picture = bytes(file).and_then(|bytes| Picture::decode(&bytes).ok());
    let Some(picture) = picture else { return Vec::new() };
    let most_columns = u32::try_from(cells).unwrap_or(MOST_COLUMNS).clamp(1, MOST_COLUMNS);
    let narrow = |count: u32| u16::try_from(count).unwrap_or(u16::MAX);
    let (columns, rows) = picture.cells(narrow(most_columns), narrow(MOST_ROWS), CELL);
    let mut blank = vec![Row::ours(Line::EMPTY); usize::from(rows)];
    if let Some(first) = blank.first_mut() {
        first.picture = Some(Box::new(Placed { picture: Arc::new(picture), columns, rows }));
    }
    blank
}

fn drawn(file: &File, cells: usize) -> Vec<Row> {
    let Some(bytes) = bytes(file) else { return Vec::new() };
    let Ok(mut reader) = ImageReader::new(std::io::Cursor::new(bytes)).with_guessed_format() else {
        return Vec::new();
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(MOST_PIXELS);
    limits.max_image_height = Some(MOST_PIXELS);
    reader.limits(limits);
    let Ok(picture) = reader.decode() else { return Vec::new() };
    let columns = u32::try_from(cells).unwrap_or(MOST_COLUMNS).clamp(1, MOST_COLUMNS);
    let (wide, high) = picture.dimensions();
    let (columns, lines) = (columns.min(wide), (2 * MOST_ROWS).min(high));
    let small = picture.resize(columns, lines, FilterType::Triangle).to_rgba8();
    let pixel = |x: u32, y: u32| -> Color {
        match small.get_pixel_checked(x, y).map(|pixel| pixel.0) {
            Some([red, green, blue, alpha]) if alpha >= OPAQUE => Color::Rgb(red, green, blue),
            Some(_) | None => Color::Default,
        }
    };
    let row = |y: u32| {
        let spans = (0..small.width()).map(|x| half(pixel(x, 2 * y), pixel(x, 2 * y + 1)));
        Row::ours(joined(spans).into())
    };
    (0..small.height().div_ceil(2)).map(row).collect()
}

/// One cell of two pixels.
fn half(upper: Color, lower: Color) -> Span {
    match (upper, lower) {
        (Color::Default, Color::Default) => Span::new(" ", Style::PLAIN),
        (Color::Default, lower) => Span::new("▄", Style::fg(lower)),
        (upper, Color::Default) => Span::new("▀", Style::fg(upper)),
        (upper, lower) => Span::new("▀", Style::fg(upper).on(lower)),
    }
}

fn joined(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut out: Vec<Span> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last) if last.style == span.style => last.text.push_str(&span.text),
            Some(_) | None => out.push(span),
        }
    }
    out
}

/// What some bytes are.
pub(crate) fn media_type(bytes: &[u8]) -> &'static str {
    if let Ok(format) = image::guess_format(bytes) {
        return format.to_mime_type();
    }
    if bytes.starts_with(b"%PDF-") {
        return "application/pdf";
    }
    let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    if is_text { "text/plain" } else { "application/octet-stream" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::sample;

    #[test]
    fn a_picture_becomes_half_blocks_and_a_broken_one_its_name() {
        let mut bytes = Vec::new();
        let picture = image::RgbaImage::from_pixel(8, 8, image::Rgba([200, 10, 10, 255]));
        let format = image::ImageFormat::Png;
        picture.write_to(&mut std::io::Cursor::new(&mut bytes), format).unwrap();
        let mut file = File {
            media_type: "image/png".to_owned(),
            name: Some("red.png".to_owned()),
            source: FileSource::Base64(STANDARD.encode(&bytes)),
        };
        let shown = rows(&file, 40, &sample::look());
        assert_eq!(shown.len(), 5);
        assert_eq!(shown[0].line.plain(), "▀".repeat(8));
        let kitty = Look { pictures: Pictures::Kitty, ..sample::look() };
        let shown = rows(&file, 40, &kitty);
        let placed = shown[0].picture.as_ref().unwrap();
        assert_eq!((placed.columns, usize::from(placed.rows)), (1, shown.len() - 1));
        file.source = FileSource::Base64("not a picture".to_owned());
        let shown = rows(&file, 40, &sample::look());
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0].line.plain(), "[red.png]");
    }

    #[test]
    fn what_a_file_is_is_told_by_its_bytes() {
        assert_eq!(media_type(b"\x89PNG\r\n\x1a\n"), "image/png");
        assert_eq!(media_type(b"%PDF-1.7"), "application/pdf");
        assert_eq!(media_type("grüße".as_bytes()), "text/plain");
        assert_eq!(media_type(b"\xff\0"), "application/octet-stream");
    }
}
