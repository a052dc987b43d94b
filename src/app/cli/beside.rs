//! Compares a session with its origin: the costs and the results of both.

use std::path::Path;

use serde_json::Value;

use super::trouble::Trouble;
use crate::domain::words::clipped;
use crate::domain::{State, state::Keeps, state::RECENT};
use crate::report::live_report::Folded;
use crate::store::journal::JournalReader;
use crate::ui::panes::format::dollars;
use crate::ui::text::{clean, number, span};

/// Columns of a name.
const NAME: usize = 32;

/// A session in the table.
pub struct SessionRow {
    name: String,
    /// The sums of its report.
    totals: Value,
    micros: u64,
    /// Whether its check passed, if there was one.
    pub verified: Option<bool>,
}

impl SessionRow {
    /// A session by its folded records.
    ///
    /// # Errors
    /// The sums have no form in JSON.
    pub fn of(name: &str, folded: &Folded, state: &State) -> Result<Self, Trouble> {
        let totals = serde_json::to_value(folded.sums(state).totals).map_err(Trouble::failed)?;
        Ok(Self { name: name.to_owned(), totals, micros: state.at, verified: None })
    }

    /// The session of a journal.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn of_journal(name: &str, journal: &Path) -> Result<Self, Trouble> {
        let mut state = State::keeping(Keeps::Tasks(RECENT));
        let mut folded = Folded::default();
        for record in JournalReader::open(journal).map_err(Trouble::usage)? {
            let record = record.map_err(Trouble::usage)?;
            state.apply(&record);
            folded.take(&state, &record).map_err(Trouble::failed)?;
        }
        Self::of(name, &folded, &state)
    }

    /// The cells after the name.
    fn cells(&self) -> [String; 7] {
        let count = |name: &str| self.totals[name].as_u64().unwrap_or_default();
        let of = |part: &str, whole: &str| format!("{} of {}", count(part), count(whole));
        let right = if count("with_gold") > 0 { of("correct", "with_gold") } else { String::new() };
        let listed = self.totals["listed"] == true;
        let cost = self.totals["dollars"]
            .as_f64()
            .map_or_else(|| "unknown".to_owned(), |sum| dollars(sum, 0, listed));
        [
            of("answered", "tasks"),
            right,
            number(count("steps")),
            number(count("calls")),
            number(count("tokens_in").saturating_add(count("tokens_out"))),
            cost,
            span(self.micros),
        ]
    }
}

/// The rows as a table.
pub fn table(rows: &[SessionRow]) -> String {
    let heads = ["answered", "right", "steps", "calls", "tokens", "cost", "time"];
    let line = |name: &str, cells: [&str; 7], verified: &str| {
        let [answered, right, steps, calls, tokens, cost, time] = cells;
        let line = format!(
            "{name:<NAME$} {answered:>9} {right:>9} {steps:>6} {calls:>6} {tokens:>9} {cost:>9} {time:>8}  {verified}"
        );
        line.trim_end().to_owned()
    };
    let checked = if rows.iter().any(|row| row.verified.is_some()) { "verified" } else { "" };
    let row = |row: &SessionRow| {
        let cells = row.cells();
        let verified = row.verified.map_or("", |passed| if passed { "passed" } else { "FAILED" });
        line(&clipped(&clean(&row.name), NAME), cells.each_ref().map(String::as_str), verified)
    };
    let lines = std::iter::once(line("", heads, checked)).chain(rows.iter().map(row));
    lines.collect::<Vec<_>>().join("\n")
}
