//! A search in a pane: its text, and the rows of the pane's list that match.

use super::{needle::Needle, pane::PaneId};

/// A search, with the matches of its last look-up.
#[derive(Debug, Default)]
pub struct PaneSearch {
    pub pane: PaneId,
    pub needle: Needle,
    /// Word for a row, if only matching rows are shown; `None`: all rows are shown, and keys go from match to match.
    pub filters: Option<&'static str>,
    /// The rows that match, ascending.
    pub rows: Vec<usize>,
    /// How many rows there are.
    pub total: usize,
    /// How many of the first rows are not in memory.
    pub gone: usize,
    /// Index of the selected row among the matching rows.
    at: Option<usize>,
    /// Rows before this one were looked at, and do not change any more.
    steady: usize,
    /// The event and the width of the pane at the last look-up.
    when: (u64, u16),
}

impl PaneSearch {
    pub fn new(pane: PaneId, needle: Needle) -> Self {
        Self { pane, needle, ..Self::default() }
    }

    /// Looks at all rows of a list that may have changed. `total`: the number of rows. `steady`: the number of rows at
    /// the beginning whose texts are final. `when`: the last event, and the width of the pane.
    pub fn look(
        &mut self,
        (total, selected): (usize, Option<usize>),
        steady: usize,
        when: (u64, u16),
        holds: impl Fn(usize) -> bool,
    ) {
        let goes_on = when.0 >= self.when.0 && when.1 == self.when.1;
        let from = if goes_on { self.steady.min(total) } else { 0 };
        self.rows.truncate(self.rows.partition_point(|row| *row < from));
        self.rows.extend((from..total).filter(|row| holds(*row)));
        self.at = selected.and_then(|row| self.rows.binary_search(&row).ok());
        (self.total, self.steady, self.when) = (total, steady, when);
    }

    /// `2 of 7`; for a filter, the number of rows that it shows.
    pub fn count(&self) -> String {
        let matches = self.rows.len();
        match (self.filters, self.at) {
            _ if matches == 0 => "nothing found".to_owned(),
            (Some(_), _) if self.gone > 0 => {
                format!("{matches} of {} in memory", self.total.saturating_sub(self.gone))
            }
            (Some(_), _) => format!("{matches} of {}", self.total),
            (None, Some(at)) => format!("{} of {matches}", at + 1),
            (None, None) => format!("{matches} found"),
        }
    }

    /// The rows that a filter shows; `None` without a filter.
    pub fn kept(&self) -> Option<&[usize]> {
        self.filters.map(|_| self.rows.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn rows_that_do_not_change_are_looked_at_once() {
        let mut found = PaneSearch::new(PaneId::Transcript, Needle::new("x"));
        let mut look = |total, steady, when, selected| {
            let seen = RefCell::new(Vec::new());
            found.look((total, selected), steady, when, |row| {
                seen.borrow_mut().push(row);
                row % 2 == 0
            });
            (found.rows.clone(), seen.into_inner().len(), found.count())
        };
        assert_eq!(look(6, 3, (5, 80), Some(2)), (vec![0, 2, 4], 6, "2 of 3".to_owned()));
        assert_eq!(look(7, 4, (6, 80), Some(3)), (vec![0, 2, 4, 6], 4, "4 found".to_owned()));
        // Another width, and an earlier moment: everything may be different.
        assert_eq!(look(7, 4, (6, 90), None).1, 7);
        assert_eq!(look(4, 1, (3, 90), None).1, 4);
        assert_eq!(look(0, 0, (3, 90), None).2, "nothing found");
    }
}
