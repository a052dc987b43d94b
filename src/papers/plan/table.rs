//! Plans in tables: the header determines the content of each cell of a row.

use super::label::{self, LabelField};

/// The kinds of a table's columns.
pub(super) struct PlanTable {
    columns: Vec<PlanColumn>,
}

#[derive(Clone, Copy, PartialEq)]
enum PlanColumn {
    Text,
    Field(LabelField),
}

impl PlanTable {
    /// The table that begins with this row, if it has columns for calls and a rule below the row.
    pub fn new(cells: &[&str], below: &str) -> Option<Self> {
        let column = |cell: &&str| match label::field(cell.trim_matches(label::DRESS)) {
            Some(
                field @ (LabelField::Tool
                | LabelField::Input
                | LabelField::Evidence
                | LabelField::Call),
            ) => PlanColumn::Field(field),
            Some(LabelField::Asked) => PlanColumn::Field(LabelField::Input),
            Some(LabelField::Step | LabelField::Remark) | None => PlanColumn::Text,
        };
        let columns: Vec<PlanColumn> = cells.iter().map(column).collect();
        let called = columns.iter().any(|column| {
            matches!(
                column,
                PlanColumn::Field(LabelField::Tool | LabelField::Call | LabelField::Evidence)
            )
        });
        (is_rule(below) && called).then_some(Self { columns })
    }

    /// The text of a row's step, and its fields; evidence comes last, because it names the fields before it.
    pub fn row<'t>(&self, cells: &[&'t str]) -> (&'t str, Vec<(LabelField, &'t str)>) {
        let pairs = || self.columns.iter().zip(cells);
        let texts =
            pairs().filter(|(column, _)| **column == PlanColumn::Text).map(|(_, cell)| *cell);
        let is_text = |cell: &&str| cell.contains(char::is_alphabetic) && cell.chars().count() > 3;
        let text = texts.filter(is_text).max_by_key(|cell| cell.len()).unwrap_or_default();
        let mut fields: Vec<(LabelField, &str)> = pairs()
            .filter_map(|(column, cell)| match column {
                PlanColumn::Field(field) => Some((*field, *cell)),
                PlanColumn::Text => None,
            })
            .collect();
        fields.sort_by_key(|(field, _)| *field == LabelField::Evidence);
        (text, fields)
    }
}

/// The cells of a table's row.
pub(super) fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?;
    let inside = inside.strip_suffix('|').unwrap_or(inside);
    let cells: Vec<&str> = inside.split('|').map(str::trim).collect();
    (cells.len() > 1).then_some(cells)
}

/// Whether a row is the rule below a header.
pub(super) fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains("--") && line.chars().all(|c| "|-: ".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_row_of_dashes() {
        for rule in ["|---|---|", " | :--- | ---: | ", "|--|"] {
            assert!(is_rule(rule), "{rule}");
        }
        for other in ["| a | b |", "a -- b", "-----", "| -- a |", "| - | - |", "|:-: |"] {
            assert!(!is_rule(other), "{other}");
        }
    }
}
