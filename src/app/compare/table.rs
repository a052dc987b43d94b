//! Tables of plain text: words aligned left, numbers aligned right.

use crate::ui::text::{clean, width};

/// The widest bar, in characters.
const BAR: usize = 20;

/// Eighths of a character, from the empty one to the full one.
const EIGHTHS: [char; 9] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// A table below a title.
pub struct PlainTable {
    title: String,
    /// The number of leading text columns.
    words: usize,
    rows: Vec<Vec<String>>,
}

impl PlainTable {
    /// The first `words` columns are text, and the others are numbers.
    pub fn new(title: impl Into<String>, words: usize, columns: &[&str]) -> Self {
        let head = columns.iter().map(|name| (*name).to_owned()).collect();
        Self { title: title.into(), words, rows: vec![head] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        // A name may come from a file.
        self.rows.push(cells.iter().map(|cell| clean(cell).into_owned()).collect());
    }

    /// Formats the table as lines; empty without rows.
    pub fn text(&self) -> String {
        if self.rows.len() < 2 {
            return String::new();
        }
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let of = |column: usize| {
            self.rows.iter().filter_map(move |row| row.get(column)).map(|cell| width(cell)).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| of(column).unwrap_or(0)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, most))| {
                let space = " ".repeat(most.saturating_sub(width(cell)));
                if column < self.words {
                    format!("{cell}{space}")
                } else {
                    format!("{space}{cell}")
                }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            format!("{}\n", line.trim_end())
        };
        format!("{}\n{}", self.title, self.rows.iter().map(line).collect::<String>())
    }
}

/// A bar proportional to the value's share of the largest, as wide as the widest.
pub fn bar(value: f64, most: f64) -> String {
    let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * (BAR * 8) as f64).round() as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    let mut bar = "█".repeat(full);
    if rest > 0 {
        bar.push(EIGHTHS[rest]);
    }
    bar.push_str(&" ".repeat(BAR - full - usize::from(rest > 0)));
    bar
}

/// A share as percent.
pub fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

pub fn number(number: f64) -> String {
    format!("{number:.2}")
}

/// A missing value is shown as unknown, never as 0.
pub fn or(value: Option<f64>, show: fn(f64) -> String, none: &str) -> String {
    value.map_or_else(|| none.to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right_whatever_they_hold() {
        let mut table = PlainTable::new("T", 1, &["method", "AC"]);
        assert_eq!(table.text(), "");
        table.row(vec!["react\u{1b}[31m".to_owned(), "7.25".to_owned()]);
        table.row(vec!["数".to_owned(), "11.00".to_owned()]);
        let text = table.text();
        assert!(!text.contains('\u{1b}'), "{text}");
        let ends: std::collections::BTreeSet<_> = text.lines().skip(1).map(width).collect();
        assert_eq!(ends.len(), 1, "{text}");
    }

    #[test]
    fn bars_are_as_wide_whatever_they_show() {
        for (value, most) in
            [(0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (0.013, 1.0), (3.0, 0.0), (9.0, 1.0)]
        {
            assert_eq!(width(&bar(value, most)), BAR, "{value} of {most}");
        }
        assert_eq!(bar(1.0, 1.0).trim_end(), "█".repeat(BAR));
        assert_eq!(bar(0.5, 1.0).trim_end(), "█".repeat(BAR / 2));
        assert_eq!(bar(0.0, 1.0).trim_end(), "");
    }
}
