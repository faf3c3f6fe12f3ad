//! Whether themes can be read, and read in.

use super::*;
use crate::style::{Attrs, Color};
use proptest::prelude::*;

/// Roles whose text stands on the terminal's background, on panels and on code blocks.
const TEXTS: [Role; 18] = [
    Role::Text,
    Role::Muted,
    Role::Faint,
    Role::Strong,
    Role::Accent,
    Role::User,
    Role::Link,
    Role::Code,
    Role::Match,
    Role::Good,
    Role::Warning,
    Role::Bad,
    Role::Keyword,
    Role::String,
    Role::Number,
    Role::Comment,
    Role::Type,
    Role::Function,
];

fn luminance(color: Color) -> f64 {
    let Color::Rgb(red, green, blue) = color else { panic!("{color:?} has no measure") };
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

fn contrast(one: Color, other: Color) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn custom(themes: &[(&str, &[(&str, &str)])]) -> Custom {
    let styles = |styles: &[(&str, &str)]| {
        styles.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
    };
    themes.iter().map(|(name, of)| ((*name).to_owned(), styles(of))).collect()
}

#[test]
fn text_can_be_read_on_every_background() {
    let dark = [Color::Rgb(0, 0, 0), Color::Rgb(0x1e, 0x1e, 0x1e)];
    let light = [Color::Rgb(255, 255, 255), Color::Rgb(0xf5, 0xf5, 0xf5)];
    for (theme, grounds) in [(Theme::dark(), dark), (Theme::light(), light)] {
        let own = [Role::Panel, Role::CodeBlock].map(|role| theme.style(role).bg);
        for role in TEXTS {
            for ground in grounds.into_iter().chain(own) {
                let ratio = contrast(theme.style(role).fg, ground);
                assert!(ratio >= 4.5, "{role:?} on {ground:?}: {ratio:.2}");
            }
        }
        for (role, name) in ROLES {
            let style = theme.style(role);
            if style.bg != Color::Default {
                let ratio = contrast(style.fg, style.bg);
                assert!(ratio >= 4.5, "{name}: {ratio:.2}");
            }
        }
    }
}

#[test]
fn colours_are_told_apart_by_256_colour_terminals() {
    let levels = [0, 95, 135, 175, 215, 255];
    let nearest = |part: u8| {
        levels.into_iter().min_by_key(|level: &i32| (level - i32::from(part)).abs()).unwrap()
    };
    for theme in [Theme::dark(), Theme::light()] {
        for (role, name) in ROLES {
            let style = theme.style(role);
            for color in [style.fg, style.bg] {
                let Color::Rgb(red, green, blue) = color else { continue };
                let is_grey = red == green && green == blue && (red % 10 == 8 || red == 0);
                let is_cube =
                    [red, green, blue].iter().all(|part| nearest(*part) == i32::from(*part));
                let is_dark_tint = [red, green, blue].iter().all(|part| *part <= 135);
                assert!(is_grey || is_cube || is_dark_tint, "{name}: {color:?}");
            }
        }
        let tints = [Role::Added, Role::AddedWord, Role::Removed, Role::RemovedWord];
        let mut mapped: Vec<[i32; 3]> = tints
            .iter()
            .filter_map(|role| match theme.style(*role).bg {
                Color::Rgb(red, green, blue) => Some([red, green, blue].map(nearest)),
                Color::Default | Color::Indexed(_) => None,
            })
            .collect();
        mapped.dedup();
        assert_eq!(mapped.len(), 4, "{mapped:?}");
    }
}

#[test]
fn the_plain_theme_has_no_colour_and_still_tells_things_apart() {
    let theme = Theme::plain();
    for (role, name) in ROLES {
        let style = theme.style(role);
        assert_eq!((style.fg, style.bg), (Color::Default, Color::Default), "{name}");
    }
    for role in [Role::Chosen, Role::Selection, Role::Match, Role::Strong, Role::Bad, Role::Link] {
        assert_ne!(theme.style(role), theme.style(Role::Text), "{role:?}");
    }
}

#[test]
fn auto_fits_the_background() {
    let named = |background| Theme::named("auto", background, &Custom::new()).unwrap();
    assert_eq!(named(Background::of(30, 30, 30)), Theme::dark());
    assert_eq!(named(Background::of(250, 250, 230)), Theme::light());
    assert_eq!(named(Background::Unknown), Theme::neutral());
}

#[test]
fn a_theme_of_ones_own_changes_its_base() {
    let themes = custom(&[
        (
            "swamp",
            &[
                ("base", "light"),
                ("accent", "#00875f"),
                ("chosen", "bold white on 22"),
                ("panel", "254"),
            ],
        ),
        ("deep-swamp", &[("base", "swamp"), ("text", "bright-red"), ("panel", "default")]),
        ("dark", &[("base", "dark"), ("accent", "201")]),
    ]);
    let named = |name| Theme::named(name, Background::Dark, &themes);
    let swamp = named("swamp").unwrap();
    assert_eq!(swamp.style(Role::Accent), Style::fg(Color::Rgb(0, 0x87, 0x5f)));
    let chosen = Style::fg(Color::Indexed(7)).on(Color::Indexed(22)).with(Attrs::BOLD);
    assert_eq!(swamp.style(Role::Chosen), chosen);
    assert_eq!(swamp.style(Role::Panel), Theme::light().style(Role::Panel).on(Color::Indexed(254)));
    let deep = named("deep-swamp").unwrap();
    assert_eq!(deep.style(Role::Text).fg, Color::Indexed(9));
    assert_eq!(deep.style(Role::Panel).bg, Color::Default);
    assert_eq!(deep.style(Role::Accent), swamp.style(Role::Accent));
    assert_eq!(named("dark").unwrap().style(Role::Accent).fg, Color::Indexed(201));
    assert_eq!(Theme::names(&themes), ["auto", "dark", "light", "plain", "deep-swamp", "swamp"]);
}

#[test]
fn what_is_wrong_with_a_theme_is_told() {
    let themes = custom(&[
        ("round", &[("base", "about")]),
        ("about", &[("base", "round")]),
        ("lost", &[("base", "nowhere")]),
        ("role", &[("acent", "red")]),
        ("style", &[("accent", "#12")]),
        ("empty", &[("accent", " ")]),
    ]);
    let table = [
        ("round", "theme round: its base leads back to itself"),
        ("role", "theme role: there is no role acent"),
        (
            "lost",
            "there is no theme nowhere; there are auto, dark, light, plain, about, empty, lost, role, round, style",
        ),
        (
            "style",
            "theme style: accent: `#12` is no style: write for example #5fd7af, \"white on 23\" or \"bold red\"",
        ),
    ];
    for (name, expected) in table {
        let problem = Theme::named(name, Background::Dark, &themes).unwrap_err();
        assert_eq!(problem.to_string(), expected);
    }
    assert!(Theme::named("empty", Background::Dark, &themes).is_err());
}

proptest! {
    #[test]
    fn no_words_make_reading_a_theme_fail_badly(
        role in prop::sample::select(ROLES.map(|(_, name)| name).to_vec()),
        text in "(on |bold |#[0-9a-f]{0,7} |[a-z]{0,6} |[0-9]{0,4} |é){0,4}",
    ) {
        let themes = custom(&[("mine", &[(role, &text)])]);
        let _outcome = Theme::named("mine", Background::Light, &themes);
    }
}
