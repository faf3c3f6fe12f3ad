//! Pictures, made small enough to be sent.

use std::io::Cursor;

use base::transcript::{File, FileSource};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::error::{LimitError, LimitErrorKind};
use image::{
    DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, ImageResult, Limits,
};

use super::{Reading, Shown};
use crate::text;

/// Longest side that is sent: above it providers scale down themselves, and bill what they got.
const SIDE: u32 = 1568;
/// Most bytes that are sent, before base64 makes four of three.
const BYTES: usize = 1_000_000;
/// Most memory a picture may take while it is read: 8,000 × 8,000 points.
const MEMORY: u64 = 256_000_000;

/// The format of a picture models can look at.
pub(super) fn format_of(sample: &[u8]) -> Option<ImageFormat> {
    const SEEN: [ImageFormat; 4] =
        [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
    image::guess_format(sample).ok().filter(|format| SEEN.contains(format))
}

/// Shows a picture, or says what it is to a model that cannot look.
pub(super) fn show(bytes: Vec<u8>, format: ImageFormat, reading: &Reading<'_>) -> Shown {
    let name = reading.name;
    let is = match ImageReader::with_format(Cursor::new(&bytes), format).into_dimensions() {
        Ok((width, height)) => {
            let size = text::size(bytes.len() as u64);
            format!("{name} is a picture ({}, {width}×{height}, {size})", label(format))
        }
        Err(error) => {
            return Shown::text(format!("{name} is a picture that cannot be read: {error}"));
        }
    };
    if !reading.workspace.sees_images {
        return Shown::text(format!("{is}; this model cannot look at pictures"));
    }
    match fitted(bytes, format) {
        Ok(Fitted { bytes, media_type, scaled }) => {
            let text = match scaled {
                Some((width, height)) => format!("{is}, scaled to {width}×{height}"),
                None => is,
            };
            let source = FileSource::Base64(STANDARD.encode(bytes));
            let file =
                File { media_type: media_type.to_owned(), name: Some(name.to_owned()), source };
            Shown { text, files: vec![file] }
        }
        Err(error) => Shown::text(format!("{is}, but cannot be read: {error}")),
    }
}

struct Fitted {
    bytes: Vec<u8>,
    media_type: &'static str,
    /// Its new size, if it is another.
    scaled: Option<(u32, u32)>,
}

/// The picture as it is if it is small enough, else scaled down and written anew.
fn fitted(bytes: Vec<u8>, format: ImageFormat) -> ImageResult<Fitted> {
    let reader = || ImageReader::with_format(Cursor::new(&bytes), format);
    let (width, height) = reader().into_dimensions()?;
    if width.max(height) <= SIDE && bytes.len() <= BYTES {
        return Ok(Fitted { bytes, media_type: format.to_mime_type(), scaled: None });
    }
    // Not every decoder keeps to its limits.
    if u64::from(width) * u64::from(height) * 4 > MEMORY {
        let kind = LimitErrorKind::InsufficientMemory;
        return Err(ImageError::Limits(LimitError::from_kind(kind)));
    }
    let mut reader = reader();
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    let turned = decoder.orientation()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(turned);
    let mut side = SIDE.min(picture.width().max(picture.height()));
    loop {
        let small = picture.thumbnail(side, side);
        let (bytes, media_type) = encoded(&small)?;
        // Noise does not compress; a smaller picture of it does.
        if bytes.len() <= BYTES || side < 200 {
            return Ok(Fitted { bytes, media_type, scaled: Some((small.width(), small.height())) });
        }
        side = side / 4 * 3;
    }
}

/// PNG where that is small, as it is for screenshots, else JPEG.
fn encoded(picture: &DynamicImage) -> ImageResult<(Vec<u8>, &'static str)> {
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)?;
    if bytes.len() <= BYTES / 2 {
        return Ok((bytes, "image/png"));
    }
    let mut bytes = Vec::new();
    picture.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 85))?;
    Ok((bytes, "image/jpeg"))
}

fn label(format: ImageFormat) -> String {
    format.extensions_str().first().copied().unwrap_or_default().to_ascii_uppercase()
}
