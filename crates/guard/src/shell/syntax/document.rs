//! Here-documents: where they end, and whether they run something.

use super::super::Unclear;
use super::Read;

/// A here-document, and what the grammar made of it.
#[derive(Default)]
pub(super) struct Document<'t> {
    pub(super) start: &'t str,
    pub(super) body: &'t str,
    pub(super) end: &'t str,
    /// The text behind the delimiter.
    pub(super) after: &'t str,
    pub(super) tabs: Tabs,
}

/// Whether tabs at the start of its lines count.
#[derive(Default, PartialEq, Eq)]
pub(super) enum Tabs {
    #[default]
    Kept,
    Stripped,
}

impl Document<'_> {
    /// Refuses what a shell might end elsewhere, or where it would run something inside.
    pub(super) fn check(&self) -> Read<()> {
        let quoted = ['\'', '"'].iter().find_map(|quote| {
            self.start.strip_prefix(*quote).and_then(|it| it.strip_suffix(*quote))
        });
        let word = quoted.unwrap_or(self.start);
        let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        let bare = |line: &str| match self.tabs {
            Tabs::Kept => line.to_owned(),
            Tabs::Stripped => line.trim_start_matches('\t').to_owned(),
        };
        // The grammar takes `EOF | sort` for the end; a shell reads on.
        let ends_a_line =
            self.end.ends_with('\n') || self.after.is_empty() || self.after.starts_with('\n');
        let ends_early = self.body.lines().any(|line| bare(line) == word);
        if word.is_empty()
            || !word.chars().all(plain)
            || bare(self.end.trim_end_matches('\n')) != word
            || !ends_a_line
            || ends_early
        {
            return Err(Unclear::new("it is not clear where its here-document ends"));
        }
        let runs = ["`", "$(", "${", "$["].iter().any(|it| self.body.contains(it));
        if quoted.is_none() && runs {
            return Err(Unclear::new("its here-document holds commands"));
        }
        // A line that continues may join with the next one to the delimiter.
        if quoted.is_none() && self.body.contains("\\\n") {
            return Err(Unclear::new("it is not clear where its here-document ends"));
        }
        Ok(())
    }
}
