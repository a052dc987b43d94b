//! The table of all paths, and what is expected of it.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

use super::rows::FRAMEWORKS;

/// The columns of a row.
pub const COLUMNS: [&str; 6] = ["bytes", "seen", "fault", "hold", "edit", "replay"];

/// What a column says of a path.
#[derive(Clone, Debug)]
pub enum Cell {
    Yes,
    No(String),
    /// It cannot be, for this reason.
    Not(&'static str),
}

/// What was found of a path.
pub struct Row {
    pub name: String,
    pub version: String,
    pub cells: [Cell; 6],
}

impl Cell {
    fn word(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No(_) => "no",
            Self::Not(_) => "-",
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:<40}", self.name)?;
        for cell in &self.cells {
            write!(f, " {:<6}", cell.word())?;
        }
        for (column, cell) in COLUMNS.iter().zip(&self.cells) {
            if let Cell::No(why) = cell {
                write!(f, "\n    {column}: {why}")?;
            }
        }
        Ok(())
    }
}

/// A row as it is kept: without reasons.
fn kept(row: &Row) -> String {
    let words: Vec<&str> = row.cells.iter().map(Cell::word).collect();
    format!("{} | {} | {}", row.name, row.version, words.join(" "))
}

/// The file of what is expected.
fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/frameworks.txt")
}

/// Puts these rows in place of those of the same paths, in the order of all frameworks.
fn keep(rows: &[Row]) {
    let mut lines: Vec<String> =
        fs::read_to_string(file()).unwrap_or_default().lines().map(ToOwned::to_owned).collect();
    for row in rows {
        let begin = format!("{} | ", row.name);
        lines.retain(|line| !line.starts_with(&begin));
        lines.push(kept(row));
    }
    let place = |line: &String| {
        let name = line.split(", ").next().unwrap_or_default();
        FRAMEWORKS.iter().position(|framework| framework.name == name)
    };
    lines.sort_by_key(place);
    fs::write(file(), lines.join("\n") + "\n").unwrap();
}

/// Prints the table with sums and compares it with the expected one: no cell is worse.
pub fn check(rows: Vec<Row>) {
    println!("{:<40} {}", "path", COLUMNS.map(|it| format!("{it:<6}")).join(" "));
    rows.iter().for_each(|row| println!("{row}"));
    let sum =
        |at: usize, word: &str| rows.iter().filter(|row| row.cells[at].word() == word).count();
    let sums = (0..COLUMNS.len()).map(|at| {
        let (yes, all) = (sum(at, "yes"), rows.len() - sum(at, "-"));
        format!("{yes}/{all}")
    });
    let sums: Vec<String> = sums.map(|it| format!("{it:<6}")).collect();
    println!("{:<40} {}", format!("{} paths", rows.len()), sums.join(" "));
    let reasons =
        rows.iter().flat_map(|row| row.cells.iter().zip(COLUMNS).map(move |it| (row, it)));
    let mut exempt: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (_, (cell, column)) in reasons {
        if let Cell::Not(why) = cell {
            *exempt.entry((column, why)).or_default() += 1;
        }
    }
    for ((column, why), count) in exempt {
        println!("- {column}, {count} paths: {why}");
    }
    if std::env::var_os("TOOLYARD_FRAMEWORKS_WRITE").is_some() {
        return keep(&rows);
    }
    let expected = fs::read_to_string(file()).unwrap();
    let mut worse = Vec::new();
    for line in expected.lines() {
        let [name, _, words] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let Some(row) = rows.iter().find(|row| row.name == name) else { continue };
        for ((word, cell), column) in words.split(' ').zip(&row.cells).zip(COLUMNS) {
            if word == "yes" && !matches!(cell, Cell::Yes) {
                worse.push(format!("{name}: {column} is expected, and is {cell:?}"));
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}
