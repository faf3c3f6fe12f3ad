//! How many colours a terminal has, and the nearest one for each we want.

use crate::style::{Color, Style};

/// How many colours a terminal has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Depth {
    /// None, or none are wanted: attributes carry the look.
    None,
    /// The 16 of its palette.
    Ansi16,
    /// The 256 of xterm.
    #[default]
    Ansi256,
    /// All.
    True,
}

impl Depth {
    /// The style as this terminal can show it.
    pub fn limit(self, style: Style) -> Style {
        Style { fg: self.limit_color(style.fg), bg: self.limit_color(style.bg), ..style }
    }

    fn limit_color(self, color: Color) -> Color {
        match (self, color) {
            (Self::None, _) | (_, Color::Default) => Color::Default,
            (Self::Ansi16, Color::Indexed(index @ 16..)) => {
                Color::Indexed(nearest_of_16(rgb_of(index)))
            }
            (Self::Ansi16, Color::Rgb(r, g, b)) => Color::Indexed(nearest_of_16((r, g, b))),
            (Self::Ansi256, Color::Rgb(r, g, b)) => Color::Indexed(nearest_of_256((r, g, b))),
            (Self::Ansi16 | Self::Ansi256 | Self::True, Color::Indexed(_) | Color::Rgb(..)) => {
                color
            }
        }
    }
}

type Rgb = (u8, u8, u8);

/// Steps of the colour cube.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The palette's first 16 as most terminals show them.
const BASE: [Rgb; 16] = [
    (0, 0, 0),
    (205, 49, 49),
    (13, 188, 121),
    (229, 229, 16),
    (36, 114, 200),
    (188, 63, 188),
    (17, 168, 205),
    (204, 204, 204),
    (102, 102, 102),
    (241, 76, 76),
    (35, 209, 139),
    (245, 245, 67),
    (59, 142, 234),
    (214, 112, 214),
    (41, 184, 219),
    (255, 255, 255),
];

/// The colour of one of xterm's 256.
fn rgb_of(index: u8) -> Rgb {
    match index {
        0..16 => BASE[usize::from(index)],
        16..232 => {
            let cube = index - 16;
            let step = |digit: u8| STEPS[usize::from(digit % 6)];
            (step(cube / 36), step(cube / 6), step(cube))
        }
        232.. => {
            let grey = 8 + 10 * (index - 232);
            (grey, grey, grey)
        }
    }
}

fn nearest_of_256(rgb: Rgb) -> u8 {
    let digit = |value: u8| {
        let nearest = (0u8..).zip(STEPS).min_by_key(|(_, step)| step.abs_diff(value));
        nearest.map_or(0, |(digit, _)| digit)
    };
    let cube = 16 + 36 * digit(rgb.0) + 6 * digit(rgb.1) + digit(rgb.2);
    let mean = (u16::from(rgb.0) + u16::from(rgb.1) + u16::from(rgb.2)) / 3;
    let shade = u8::try_from((mean.saturating_sub(3) / 10).min(23)).unwrap_or(23);
    let grey = 232 + shade;
    if distance(rgb_of(grey), rgb) < distance(rgb_of(cube), rgb) { grey } else { cube }
}

fn nearest_of_16(rgb: Rgb) -> u8 {
    let nearest = (0u8..).zip(BASE).min_by_key(|(_, base)| distance(*base, rgb));
    nearest.map_or(7, |(index, _)| index)
}

/// How far two colours are from each other, weighted as eyes do.
fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    3 * square(a.0, b.0) + 4 * square(a.1, b.1) + 2 * square(a.2, b.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_colour_is_used() {
        let table = [
            (Depth::True, Color::Rgb(1, 2, 3), Color::Rgb(1, 2, 3)),
            (Depth::Ansi256, Color::Rgb(255, 0, 0), Color::Indexed(196)),
            (Depth::Ansi256, Color::Rgb(128, 128, 128), Color::Indexed(244)),
            (Depth::Ansi256, Color::Indexed(3), Color::Indexed(3)),
            (Depth::Ansi16, Color::Rgb(250, 250, 250), Color::Indexed(15)),
            (Depth::Ansi16, Color::Indexed(196), Color::Indexed(1)),
            (Depth::Ansi16, Color::Default, Color::Default),
            (Depth::None, Color::Rgb(1, 2, 3), Color::Default),
        ];
        for (depth, wanted, shown) in table {
            assert_eq!(depth.limit(Style::fg(wanted)).fg, shown, "{depth:?} {wanted:?}");
        }
    }
}
