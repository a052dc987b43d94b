//! Numbers as pictures of one line: bars, trends, heat. Each is readable without colour.

/// A full cell of a bar, with a gap above it, so that bars in rows below each other stay apart.
const FULL: [char; 1] = ['▇'];
/// Heights of a cell, from one eighth to eight.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Signs from nothing to much, in the order of the theme's `heat`.
pub const HEAT: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// The full part of a bar of `width` cells for a share from 0 to 1, in whole cells. A share above 0 has at least one.
pub fn bar(share: f64, width: usize) -> String {
    parts_of(share, width, &FULL)
}

/// Like [`bar`], as a line to half a cell.
pub fn thin_bar(share: f64, width: usize) -> String {
    parts_of(share, width, &['╸', '━'])
}

/// A bar in parts of a cell; the last part is a whole cell.
fn parts_of(share: f64, width: usize, parts: &[char]) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let (each, all) = (parts.len(), width * parts.len());
    let mut full = ((share * all as f64).round() as usize).min(all);
    if share > 0.0 && width > 0 {
        full = full.max(1);
    }
    let mut bar: String = std::iter::repeat_n(parts[each - 1], full / each).collect();
    if let Some(rest) = (full % each).checked_sub(1) {
        bar.push(parts[rest]);
    }
    bar
}

/// A cell of a column that is `cells` high from here on; `None` if the column does not reach this cell.
pub fn height(cells: f64) -> Option<char> {
    let eighths = (cells.clamp(0.0, 1.0) * 8.0).ceil();
    // Also false for NaN.
    if eighths >= 1.0 { Some(HEIGHTS[(eighths as usize).min(8) - 1]) } else { None }
}

/// The last `width` values as a line of heights between a floor and a ceiling, which all lines of a column
/// share.
pub fn spark(
    values: impl DoubleEndedIterator<Item = f64>,
    width: usize,
    (low, high): (f64, f64),
) -> String {
    let mut last: Vec<f64> = values.rev().take(width).collect();
    last.reverse();
    let height = |value: f64| {
        let place = if high > low { (value - low) / (high - low) * 7.0 } else { 0.0 };
        HEIGHTS[(place.round() as usize).min(7)]
    };
    last.into_iter().map(height).collect()
}

/// The heat of a weight from 0 to 1, 0 to 4. Nodes of a graph have many successors, so the steps are finer for small
/// weights.
pub fn heat(weight: f64) -> usize {
    const STEPS: [f64; 4] = [0.02, 0.1, 0.25, 0.5];
    STEPS.iter().filter(|step| weight >= **step).count()
}

/// A signed number as people read it, with a real minus: `+3`, `−1.5`, `0`.
pub fn signed(value: f64) -> String {
    with_sign(value, plain(value.abs()))
}

/// The text of a number without its sign, after the sign of its value. A number shown as 0 has no sign.
pub fn with_sign(value: f64, text: String) -> String {
    match value {
        _ if !text.contains(|c: char| ('1'..='9').contains(&c)) => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Formats with at most one decimal, and none if it is 0.
fn plain(value: f64) -> String {
    match value {
        _ if value >= 1e6 => format!("{value:.0e}"),
        _ if (value - value.round()).abs() < 0.05 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_exact_to_a_part_of_a_cell() {
        assert_eq!(bar(0.0, 10), "");
        assert_eq!(bar(1.0, 3), "▇▇▇");
        assert_eq!(bar(0.5, 4), "▇▇");
        assert_eq!(bar(0.0001, 10), "▇");
        assert_eq!(bar(7.0, 2), "▇▇");
        assert_eq!([0.5, 1.0, 0.0001].map(|share| thin_bar(share, 3)), ["━╸", "━━━", "╸"]);
        assert_eq!(bar(f64::NAN, 2), "");
        assert_eq!(bar(0.5, 0), "");
    }

    #[test]
    fn sparks_show_the_last_values() {
        assert_eq!(spark([9.0, 0.0, 1.0, 7.0].into_iter(), 3, (0.0, 7.0)), "▁▂█");
        assert_eq!(spark([2.0, 2.0].into_iter(), 8, (0.0, 14.0)), "▂▂");
        assert_eq!(spark([].into_iter(), 8, (0.0, 0.0)), "");
        assert_eq!([0.01, 0.5, 3.0].map(height), [Some('▁'), Some('▄'), Some('█')]);
        assert_eq!([0.0, -1.0, f64::NAN].map(height), [None; 3]);
    }

    #[test]
    fn numbers_have_a_sign() {
        let shown = [3.0, -1.5, 0.0, -0.01, 2.999, 1e15].map(signed);
        assert_eq!(shown, ["+3", "−1.5", "0", "0", "+3", "+1e15"]);
        assert_eq!([0.0, 0.05, 0.3, 1.0].map(heat), [0, 1, 3, 4]);
    }
}
