//! A picture as sixels: columns of six pixels, one colour at a time, in the colours of a small cube.

use std::io::Write;

use image::RgbaImage;

/// Steps of red, green and blue: 6 * 7 * 6 colours stay below the 256 that terminals have at least.
const STEPS: (u8, u8, u8) = (6, 7, 6);

/// Pixels less opaque than this are left out.
const OPAQUE: u8 = 128;

/// Writes a picture as sixels.
pub(super) fn encode(image: &RgbaImage, out: &mut Vec<u8>) {
    let (width, height) = image.dimensions();
    push(out, format_args!("\x1bP0;1;0q\"1;1;{width};{height}"));
    let colors: Vec<Option<u8>> =
        image.pixels().map(|pixel| (pixel[3] >= OPAQUE).then(|| color(pixel.0))).collect();
    let mut is_used = [false; 256];
    for color in colors.iter().flatten() {
        is_used[usize::from(*color)] = true;
    }
    for color in (0..=255u8).filter(|color| is_used[usize::from(*color)]) {
        let (red, green, blue) = percent(color);
        push(out, format_args!("#{color};2;{red};{green};{blue}"));
    }
    let width = usize::try_from(width).unwrap_or(0).max(1);
    for band in colors.chunks(width * 6) {
        encode_band(band, width, out);
        out.push(b'-');
    }
    out.extend(b"\x1b\\");
}

/// Writes six rows: for each colour in them, the columns that have it.
fn encode_band(band: &[Option<u8>], width: usize, out: &mut Vec<u8>) {
    let mut present: Vec<u8> = band.iter().flatten().copied().collect();
    present.sort_unstable();
    present.dedup();
    for (index, color) in present.into_iter().enumerate() {
        if index > 0 {
            out.push(b'$');
        }
        push(out, format_args!("#{color}"));
        let column = |x: usize| {
            let rows = band.iter().skip(x).step_by(width).enumerate();
            rows.fold(0u8, |bits, (row, pixel)| bits | (u8::from(*pixel == Some(color)) << row))
        };
        let mut x = 0;
        while x < width {
            let bits = column(x);
            let run = (x..width).take_while(|&next| column(next) == bits).count();
            repeat(63 + bits, run, out);
            x += run;
        }
    }
}

fn repeat(sixel: u8, count: usize, out: &mut Vec<u8>) {
    if count > 3 {
        push(out, format_args!("!{count}"));
        out.push(sixel);
    } else {
        out.extend(std::iter::repeat_n(sixel, count));
    }
}

/// The colour of the cube next to a pixel's.
fn color([red, green, blue, _]: [u8; 4]) -> u8 {
    let step = |value: u8, steps: u8| {
        let scaled = (u16::from(value) * u16::from(steps - 1) + 127) / 255;
        u8::try_from(scaled).unwrap_or(0)
    };
    (step(red, STEPS.0) * STEPS.1 + step(green, STEPS.1)) * STEPS.2 + step(blue, STEPS.2)
}

/// A colour of the cube in hundredths.
fn percent(color: u8) -> (u8, u8, u8) {
    let part = |step: u8, steps: u8| {
        let scaled = u16::from(step) * 100 / u16::from(steps - 1);
        u8::try_from(scaled).unwrap_or(100)
    };
    let (rest, blue) = (color / STEPS.2, color % STEPS.2);
    let (red, green) = (rest / STEPS.1, rest % STEPS.1);
    (part(red, STEPS.0), part(green, STEPS.1), part(blue, STEPS.2))
}

fn push(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    drop(out.write_fmt(text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    #[test]
    fn columns_of_six_are_written_colour_by_colour() {
        let image = RgbaImage::from_fn(5, 7, |x, y| {
            let red = if y < 3 { 255 } else { 0 };
            Rgba([red, 0, 0, if x == 4 { 0 } else { 255 }])
        });
        let mut out = Vec::new();
        encode(&image, &mut out);
        let text = String::from_utf8(out).unwrap();
        let body = "#0;2;0;0;0#210;2;100;0;0#0!4w?$#210!4F?-#0!4@?-";
        assert_eq!(text, format!("\u{1b}P0;1;0q\"1;1;5;7{body}\u{1b}\\"));
    }
}
