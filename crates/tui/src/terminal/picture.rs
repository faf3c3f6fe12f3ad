//! Pictures as bytes for a terminal: kitty's protocol, iTerm2's, sixels.

mod sixel;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Cursor, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits, RgbaImage};

/// Bytes of base64 in one of kitty's chunks.
const CHUNK: usize = 4096;

/// Pixels a side may have; larger pictures are made smaller. A screen has no more.
const LONGEST_SIDE: u32 = 1600;

/// Why a picture cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Its format is none we know.
    #[error("this is no picture in a format that can be shown: {0}")]
    Format(#[from] image::ImageError),
    /// It cannot be read at all.
    #[error("the picture cannot be read: {0}")]
    Read(#[from] std::io::Error),
}

/// A picture, decoded.
#[derive(Debug)]
pub struct Picture {
    id: u32,
    pixels: RgbaImage,
}

impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Picture {}

impl Picture {
    /// Decodes a PNG, JPEG, GIF or WebP file; what is too large for any screen is made smaller.
    pub fn decode(bytes: &[u8]) -> Result<Self, PictureError> {
        let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
        let mut limits = Limits::default();
        limits.max_image_width = Some(20_000);
        limits.max_image_height = Some(20_000);
        limits.max_alloc = Some(256 << 20);
        reader.limits(limits);
        let image = reader.decode()?;
        let is_large = image.width().max(image.height()) > LONGEST_SIDE;
        let image = if is_large { image.thumbnail(LONGEST_SIDE, LONGEST_SIDE) } else { image };
        Ok(Self::from_pixels(image.into_rgba8()))
    }

    /// A picture of these pixels.
    pub fn from_pixels(pixels: RgbaImage) -> Self {
        let mut hasher = DefaultHasher::new();
        (pixels.dimensions(), pixels.as_raw()).hash(&mut hasher);
        // Kitty's numbers are 32 bits and not zero; small ones are left to other programs.
        let id = u32::try_from(hasher.finish() & 0x7fff_ffff).unwrap_or(1) | 0x0100_0000;
        Self { id, pixels }
    }

    /// Names its content.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its pixels.
    pub fn pixels(&self) -> &RgbaImage {
        &self.pixels
    }

    /// Columns and rows it takes at most `columns` by `rows`, its shape kept, for cells of a size in pixels.
    pub fn cells(&self, columns: u16, rows: u16, cell: (u16, u16)) -> (u16, u16) {
        let (width, height) = self.pixels.dimensions();
        let (cell_width, cell_height) = (u32::from(cell.0.max(1)), u32::from(cell.1.max(1)));
        let most_wide = (u32::from(columns) * cell_width).min(width).max(1);
        let most_high = (u32::from(rows) * cell_height).min(height).max(1);
        let wide = most_wide.min(width * most_high / height.max(1)).max(1);
        let high = (height * wide / width.max(1)).max(1);
        let count = |pixels: u32, cell: u32, most: u16| {
            u16::try_from(pixels.div_ceil(cell)).unwrap_or(most).min(most)
        };
        (count(wide, cell_width, columns), count(high, cell_height, rows))
    }

    fn png(&self) -> Option<Vec<u8>> {
        let mut bytes = Cursor::new(Vec::new());
        let image = DynamicImage::ImageRgba8(self.pixels.clone());
        image.write_to(&mut bytes, ImageFormat::Png).ok()?;
        Some(bytes.into_inner())
    }
}

/// Sends a picture by kitty's protocol, in chunks; nothing is shown yet, and no answer wanted.
pub(crate) fn kitty_send(picture: &Picture, out: &mut Vec<u8>) {
    let Some(png) = picture.png() else { return };
    let text = STANDARD.encode(png);
    let mut chunks = text.as_bytes().chunks(CHUNK).peekable();
    let mut head = format!("a=t,f=100,i={},q=2,", picture.id);
    while let Some(chunk) = chunks.next() {
        let more = u8::from(chunks.peek().is_some());
        push(out, format_args!("\x1b_G{head}m={more};"));
        out.extend(chunk);
        out.extend(b"\x1b\\");
        head = String::new();
    }
}

/// Shows a picture that was sent at the cursor, which stays where it is.
pub(crate) fn kitty_place(id: u32, place: u32, cells: (u16, u16), out: &mut Vec<u8>) {
    let (columns, rows) = cells;
    push(out, format_args!("\x1b_Ga=p,i={id},p={place},c={columns},r={rows},C=1,q=2\x1b\\"));
}

/// Takes one showing of a picture away.
pub(crate) fn kitty_remove(id: u32, place: u32, out: &mut Vec<u8>) {
    push(out, format_args!("\x1b_Ga=d,d=i,i={id},p={place},q=2\x1b\\"));
}

/// Takes all pictures away, and their memory in the terminal.
pub(crate) fn kitty_clear(out: &mut Vec<u8>) {
    out.extend(b"\x1b_Ga=d,d=A,q=2\x1b\\");
}

/// Draws a picture at the cursor by iTerm2's protocol; returns whether it could be written.
pub(crate) fn iterm(picture: &Picture, cells: (u16, u16), out: &mut Vec<u8>) -> bool {
    let Some(png) = picture.png() else { return false };
    let (columns, rows) = cells;
    push(
        out,
        format_args!(
            "\x1b]1337;File=inline=1;size={};width={columns};height={rows};preserveAspectRatio=1:",
            png.len()
        ),
    );
    out.extend(STANDARD.encode(png).into_bytes());
    out.push(7);
    true
}

/// Draws a picture at the cursor as sixels, within a size in pixels; returns whether it could be written.
pub(crate) fn sixel(picture: &Picture, size: (u32, u32), out: &mut Vec<u8>) -> bool {
    if size.0 == 0 || size.1 == 0 {
        return false;
    }
    let image = DynamicImage::ImageRgba8(picture.pixels.clone());
    let image = image.resize(size.0, size.1, FilterType::Triangle).into_rgba8();
    sixel::encode(&image, out);
    true
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    drop(out.write_fmt(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    fn picture(width: u32, height: u32) -> Picture {
        Picture::from_pixels(RgbaImage::from_fn(width, height, |x, y| {
            let value = u8::try_from((x * 31 + y * 17) % 256).unwrap();
            Rgba([value, value.wrapping_mul(7), 255 - value, 255])
        }))
    }

    #[test]
    fn kitty_gets_chunks_it_can_put_together() {
        let picture = picture(120, 90);
        let mut out = Vec::new();
        kitty_send(&picture, &mut out);
        let text = String::from_utf8(out).unwrap();
        let chunks: Vec<&str> = text.split_terminator("\u{1b}\\").collect();
        assert!(chunks.len() > 1);
        let (last, first) = chunks.split_last().unwrap();
        assert!(last.contains("m=0;") && first.iter().all(|chunk| chunk.contains("m=1;")));
        let joined: String = chunks.iter().map(|chunk| chunk.split_once(';').unwrap().1).collect();
        let decoded = Picture::decode(&STANDARD.decode(joined).unwrap()).unwrap();
        assert_eq!(decoded, picture);
    }

    #[test]
    fn a_picture_keeps_its_shape_within_its_cells() {
        let cells = |picture: &Picture| picture.cells(40, 10, (10, 20));
        assert_eq!(cells(&picture(100, 100)), (10, 5));
        assert_eq!(cells(&picture(1000, 10)), (40, 1));
        assert_eq!(cells(&picture(10, 1000)), (1, 10));
        assert_eq!(cells(&picture(1000, 1000)), (20, 10));
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(Picture::decode(b"hello").is_err());
        assert!(Picture::decode(b"").is_err());
    }
}
