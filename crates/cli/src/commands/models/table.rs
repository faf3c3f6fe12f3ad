//! The table of models.

use llm::catalog::ModelEntry;
use llm::price::is_free;

use super::Group;
use crate::render::columns;

/// The table: one line a model, the reference first so that scripts can cut it off.
pub(super) fn text(groups: &[Group]) -> String {
    let head = ["MODEL", "WINDOW", "$/M IN", "$/M OUT", "REASONING", "IMAGES"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for group in groups {
        rows.extend(group.models.iter().map(row));
    }
    // Which models can be used is told only where it differs: by default all can.
    let (some, all) = (groups.iter().any(|it| it.is_usable), groups.iter().all(|it| it.is_usable));
    if some && !all {
        let usable = groups.iter().flat_map(|group| group.models.iter().map(|_| group.is_usable));
        let cells = std::iter::once("USABLE".to_owned()).chain(usable.map(mark));
        rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell));
    }
    columns(&rows)
}

fn row(entry: &ModelEntry) -> Vec<String> {
    let model = &entry.model;
    let levels: Vec<&str> = model.reasoning_levels.iter().map(|level| level.as_str()).collect();
    let reasoning = match (model.can_reason, levels.as_slice()) {
        (false, _) => "-".to_owned(),
        (true, [] | [_]) => "yes".to_owned(),
        (true, [first, .., last]) => format!("{first}..{last}"),
    };
    let is_paid = model.cost_per_1m_in > 0.0 || model.cost_per_1m_out > 0.0;
    let price = |dollars: f64| {
        if entry.flat_rate || is_free(&model.id) {
            "0".to_owned()
        } else if is_paid {
            format!("{dollars}")
        } else {
            "?".to_owned()
        }
    };
    vec![
        entry.model_ref().to_string(),
        window(model.context_window),
        price(model.cost_per_1m_in),
        price(model.cost_per_1m_out),
        reasoning,
        yes(model.supports_attachments),
    ]
}

/// Nothing for no: most rows then end before the edge of a narrow terminal.
fn mark(is: bool) -> String {
    if is { "yes".to_owned() } else { String::new() }
}

fn yes(is: bool) -> String {
    if is { "yes".to_owned() } else { "-".to_owned() }
}

/// `1M`, `200k`, `8192`: makers count in thousands or in powers of two, and both are shown as meant.
fn window(tokens: u64) -> String {
    match tokens {
        0 => "?".to_owned(),
        1_000_000.. => {
            let tenths = tokens / 100_000;
            if tenths.is_multiple_of(10) {
                format!("{}M", tenths / 10)
            } else {
                format!("{}.{}M", tenths / 10, tenths % 10)
            }
        }
        10_000.. if tokens.is_multiple_of(1024) && !tokens.is_multiple_of(1000) => {
            format!("{}k", tokens / 1024)
        }
        10_000.. => format!("{}k", tokens / 1000),
        _ => tokens.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_short_and_true() {
        let shown = [0, 8192, 131_072, 200_000, 1_000_000, 1_048_576, 1_550_000].map(window);
        assert_eq!(shown, ["?", "8192", "128k", "200k", "1M", "1M", "1.5M"]);
    }
}
