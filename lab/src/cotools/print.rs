//! Prints figures.

use super::measure::Measured;
use crate::app::compare::table::{PlainTable, percent};
use crate::app::shell::{out, trouble::Trouble};

/// The tables of groups.
pub fn tables(all: &[Measured]) -> String {
    let table = |measured: &Measured| {
        let Measured { queries, pool, rows, .. } = measured;
        let count = rows.first().map_or(0, |row| row.figures.questions);
        let title = format!("{count} {queries} over {pool}");
        let mut table = PlainTable::new(title, 1, &["by", "top-1", "top-5", "MRR"]);
        for row in rows {
            let figures = row.figures;
            table.row(vec![
                row.by.to_owned(),
                percent(figures.top_1),
                percent(figures.top_5),
                format!("{:.3}", figures.mrr),
            ]);
        }
        table.text()
    };
    all.iter().map(table).collect::<Vec<_>>().join("\n")
}

/// Prints the figures below those of words, and the line about the ranking.
///
/// # Errors
/// As [`out::print`].
pub fn remarks(below: &[String], line: &str) -> Result<(), Trouble> {
    for sentence in below {
        out::print_line(sentence)?;
    }
    out::print_line(line)
}
