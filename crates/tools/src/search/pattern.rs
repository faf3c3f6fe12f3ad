//! Path patterns as models write them: `*.rs`, `src/**/*.{ts,tsx}`, `!*.md`, several with commas.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::tool::ToolError;

/// Characters that make a part of a path a pattern.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Patterns for paths relative to a root. A pattern without a slash holds for names at any depth.
#[derive(Debug, Clone)]
pub(crate) struct Patterns {
    wanted: GlobSet,
    unwanted: GlobSet,
}

impl Patterns {
    /// Reads patterns set apart by commas; those that begin with `!` take away.
    pub(crate) fn parse(text: &str) -> Result<Self, ToolError> {
        Self::of(split(text))
    }

    /// Reads one pattern an item.
    pub(crate) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, ToolError> {
        let mut wanted = GlobSetBuilder::new();
        let mut unwanted = GlobSetBuilder::new();
        for text in texts {
            match text.strip_prefix('!') {
                Some(text) => unwanted.add(glob(text)?),
                None => wanted.add(glob(text)?),
            };
        }
        let build = |set: GlobSetBuilder| set.build().map_err(|error| refused(&error));
        Ok(Self { wanted: build(wanted)?, unwanted: build(unwanted)? })
    }

    /// Whether a path is meant. Only exclusions mean everything else.
    pub(crate) fn is_match(&self, path: &Path) -> bool {
        (self.wanted.is_empty() || self.wanted.is_match(path)) && !self.unwanted.is_match(path)
    }
}

/// Splits a pattern into the folder it names and the rest: `src/a/*.rs` is `src/a` and `*.rs`. A walk
/// begins there, and a pattern outside the workspace is judged by that folder.
pub(crate) fn anchor(pattern: &str) -> (&str, &str) {
    let wild = pattern.find(WILD).unwrap_or(pattern.len());
    match pattern.get(..wild).and_then(|plain| plain.rfind('/')) {
        // The slash of `/etc` belongs to the folder.
        Some(0) => ("/", &pattern[1..]),
        Some(slash) => (&pattern[..slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

fn glob(text: &str) -> Result<Glob, ToolError> {
    let text = text.trim();
    let text = text.strip_prefix("./").unwrap_or(text);
    let text = text.strip_suffix('/').unwrap_or(text);
    let anywhere;
    let text = match text.strip_prefix('/') {
        Some(text) => text,
        None if text.contains('/') => text,
        None => {
            anywhere = format!("**/{text}");
            &anywhere
        }
    };
    GlobBuilder::new(text).literal_separator(true).build().map_err(|error| refused(&error))
}

fn refused(error: &globset::Error) -> ToolError {
    ToolError::Arguments(format!("{error}; write patterns like `*.rs` or `src/**/*.ts`"))
}

/// Parts between commas, braces and brackets left whole.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = text.split(move |c| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Patterns::parse(pattern).unwrap().is_match(Path::new(path))
    }

    #[test]
    fn patterns_mean_what_models_mean() {
        for (pattern, path) in [
            ("*.rs", "a.rs"),
            ("*.rs", "deep/er/a.rs"),
            ("src/*.rs", "src/a.rs"),
            ("./src/*.rs", "src/a.rs"),
            ("/src/*.rs", "src/a.rs"),
            ("**/*.rs", "a.rs"),
            ("src/**/*.rs", "src/a.rs"),
            ("*.{ts,tsx}", "x/a.tsx"),
            ("*.ts, *.js", "a.js"),
            ("!*.md", "a.rs"),
            ("*.rs,!*_test.rs", "a.rs"),
            (".env*", ".env.example"),
        ] {
            assert!(matches(pattern, path), "{pattern} should match {path}");
        }
        for (pattern, path) in [
            ("src/*.rs", "src/deep/a.rs"),
            ("src/*.rs", "other/src/a.rs"),
            ("*.ts", "a.tsx"),
            ("!*.md", "x/a.md"),
            ("*.rs,!*_test.rs", "a_test.rs"),
        ] {
            assert!(!matches(pattern, path), "{pattern} should not match {path}");
        }
        assert!(Patterns::parse("src/{a").unwrap_err().to_string().contains("write patterns"));
    }

    #[test]
    fn the_folder_a_pattern_names_is_where_a_walk_begins() {
        assert_eq!(anchor("src/a/*.rs"), ("src/a", "*.rs"));
        assert_eq!(anchor("src/a.rs"), ("src", "a.rs"));
        assert_eq!(anchor("*.rs"), ("", "*.rs"));
        assert_eq!(anchor("src/**/x/*.rs"), ("src", "**/x/*.rs"));
        assert_eq!(anchor("/etc/*.conf"), ("/etc", "*.conf"));
        assert_eq!(anchor("/*"), ("/", "*"));
        assert_eq!(anchor("../other/{a,b}/c"), ("../other", "{a,b}/c"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn any_text_is_a_pattern_or_an_error(text in "[ -~é*?{}\\[\\]!,/]{0,24}") {
            let (folder, rest) = anchor(&text);
            prop_assert!(folder.len() + rest.len() <= text.len());
            prop_assert!(!folder.contains(WILD));
            drop(Patterns::parse(&text));
        }
    }
}
