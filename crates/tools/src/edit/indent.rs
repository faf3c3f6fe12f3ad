//! Lines a model wrote, indented the way the file is.

use std::collections::BTreeMap;

use super::lines::Line;

/// How wide a tab counts while indents are compared.
const TAB_COLUMNS: usize = 8;

/// How the indents a model used become those of the file.
#[derive(Debug, Clone)]
pub(crate) struct Indent {
    /// The model's columns, with the file's own indent, from lines both have.
    known: BTreeMap<usize, Vec<u8>>,
    /// Columns of one step in the model's text.
    step: usize,
    /// One step in the file.
    unit: Vec<u8>,
}

impl Indent {
    /// Learns from lines that are the same but for blanks: the file's, and the model's. `written` is all
    /// the model wrote, `lines` the whole file.
    pub(crate) fn learn<'a>(
        pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>,
        written: &[&[u8]],
        lines: &[Line<'_>],
    ) -> Self {
        let mut known = BTreeMap::new();
        for (file, model) in pairs {
            if !model.trim_ascii().is_empty() {
                known.entry(columns(blanks(model))).or_insert_with(|| blanks(file).to_owned());
            }
        }
        let unit = unit_of(lines);
        let step = step_of(written).unwrap_or_else(|| columns(&unit));
        Self { known, step, unit }
    }

    /// Indents one line.
    pub(crate) fn apply(&self, line: &[u8]) -> Vec<u8> {
        let own = blanks(line);
        let rest = &line[own.len()..];
        if rest.trim_ascii().is_empty() {
            return line.to_owned();
        }
        let mut out = self.translate(columns(own)).unwrap_or_else(|| own.to_owned());
        out.extend_from_slice(rest);
        out
    }

    /// The file's indent for the model's columns, counted in steps from the nearest indent that is known.
    fn translate(&self, columns: usize) -> Option<Vec<u8>> {
        if let Some((&from, base)) = self.known.range(..=columns).next_back() {
            let mut out = base.clone();
            let extra = columns - from;
            out.extend(self.unit.repeat(extra / self.step));
            out.extend(vec![b' '; extra % self.step]);
            return Some(out);
        }
        let (&from, base) = self.known.first_key_value()?;
        let missing = (from - columns).div_ceil(self.step) * self.unit.len();
        Some(base[..base.len().saturating_sub(missing)].to_owned())
    }
}

/// The blanks a line begins with.
pub(super) fn blanks(line: &[u8]) -> &[u8] {
    let length = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &line[..length]
}

fn columns(blanks: &[u8]) -> usize {
    blanks.iter().map(|&byte| if byte == b'\t' { TAB_COLUMNS } else { 1 }).sum()
}

/// One step of a file: a tab if most of its indented lines begin with one, else the step most often taken
/// from one line to the next.
fn unit_of(lines: &[Line<'_>]) -> Vec<u8> {
    const LOOKED_AT: usize = 10_000;
    let (mut tabs, mut spaces) = (0_usize, 0_usize);
    let mut steps = [0_usize; 9];
    let mut before = 0;
    for line in lines.iter().take(LOOKED_AT).filter(|line| !line.text.trim_ascii().is_empty()) {
        let own = blanks(line.text);
        match own.first() {
            Some(b'\t') => tabs += 1,
            Some(_) => spaces += 1,
            None => {}
        }
        let now = columns(own);
        if let Some(count) = steps.get_mut(now.abs_diff(before)) {
            *count += 1;
        }
        before = now;
    }
    if tabs > spaces {
        return b"\t".to_vec();
    }
    let taken = (2..steps.len()).max_by_key(|&step| (steps[step], 100 - step));
    vec![b' '; taken.filter(|&step| steps[step] > 0).unwrap_or(4)]
}

/// One step of what the model wrote, in columns; none if all its lines are at one depth.
fn step_of(written: &[&[u8]]) -> Option<usize> {
    let lines = written.iter().filter(|line| !line.trim_ascii().is_empty());
    let mut depths: Vec<usize> = lines.map(|line| columns(blanks(line))).collect();
    depths.sort_unstable();
    depths.windows(2).map(|pair| pair[1] - pair[0]).filter(|&step| step > 1).min()
}
