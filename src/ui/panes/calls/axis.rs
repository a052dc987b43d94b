//! The time axis that all lanes of a task share.

use super::track::Tracks;

/// Cells that a tick needs for its time.
const TICK: f64 = 8.0;

/// How far apart ticks are: a unit in microseconds, its name, and how many of it.
const STEPS: [(u64, &str, &[u64]); 4] = [
    (1, "µs", &[1, 10, 100]),
    (1_000, "ms", &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    (1_000_000, "s", &[1, 2, 5, 10, 20]),
    (60_000_000, "min", &[1, 2, 5, 10, 30, 60, 120, 600]),
];

/// From when to when, in microseconds since the session was opened, on so many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    start: u64,
    end: u64,
    cells: usize,
}

impl Axis {
    /// From the first wish to the last end; to now while anything is open.
    pub fn of(tracks: &Tracks<'_>, now: u64, cells: usize) -> Self {
        let (mut start, mut end) = (u64::MAX, 0);
        for track in tracks.iter() {
            start = start.min(track.wanted().unwrap_or(u64::MAX));
            // What nobody has begun still comes, unless the task is over.
            let open = track.wanted().is_some() || track.task.outcome().is_none();
            end = end.max(if open { track.over().unwrap_or(now) } else { 0 });
        }
        let start = if start == u64::MAX { now } else { start };
        Self { start, end: end.max(start.saturating_add(1)), cells }
    }

    /// The cell in which this moment lies; the last one for what comes later.
    pub fn cell(&self, at: u64) -> usize {
        self.edge(at).min(self.cells.saturating_sub(1))
    }

    /// The cell before which this moment ends.
    fn edge(&self, at: u64) -> usize {
        let share = at.saturating_sub(self.start) as f64 / (self.end - self.start) as f64;
        ((share * self.cells as f64).floor() as usize).min(self.cells)
    }

    /// The cells from a moment to another; at least one.
    pub fn cells(&self, from: u64, to: u64) -> std::ops::Range<usize> {
        let first = self.cell(from);
        first..self.edge(to).max(first + 1).min(self.cells)
    }

    /// The ticks, from the left: the cell, and the time since the start.
    pub fn ticks(&self) -> impl Iterator<Item = (usize, String)> {
        let span = self.end - self.start;
        let is_wide = |step: &u64| *step as f64 / span as f64 * self.cells as f64 >= TICK;
        let mut steps =
            STEPS.iter().flat_map(|(unit, _, steps)| steps.iter().map(move |n| n * unit));
        let step = steps.find(is_wide);
        let step = step.unwrap_or(span).max(1);
        let axis = *self;
        // The end is no cell of the axis.
        let ticks = if self.cells == 0 { 0 } else { span.div_ceil(step) };
        (0..ticks).map(move |i| (axis.cell(axis.start + i * step), label(i * step, step)))
    }
}

/// A time in the unit of the steps.
fn label(at: u64, step: u64) -> String {
    let unit = STEPS.iter().rfind(|(unit, ..)| *unit <= step);
    unit.map_or_else(String::new, |(unit, name, _)| format!("{} {name}", at / unit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        let ticks = |end: u64, cells| {
            let axis = Axis { start: 5, end: 5 + end, cells };
            axis.ticks().map(|(cell, label)| format!("{cell}:{label}")).collect::<Vec<_>>()
        };
        assert_eq!(ticks(300_000, 40), ["0:0 ms", "13:100 ms", "26:200 ms"]);
        assert_eq!(ticks(1_200_000, 40), ["0:0 ms", "16:500 ms", "33:1000 ms"]);
        assert_eq!(ticks(3_400_000, 30), ["0:0 s", "8:1 s", "17:2 s", "26:3 s"]);
        assert_eq!(ticks(1, 12), ["0:0 µs"]);
        assert!(ticks(1, 0).is_empty());
    }

    proptest! {
        #[test]
        fn every_moment_has_its_cells(
            start in 0u64..1 << 50, span in 1u64..1 << 50, cells in 1usize..300,
            from in 0u64..1 << 51, length in 0u64..1 << 51,
        ) {
            let axis = Axis { start, end: start + span, cells };
            let range = axis.cells(from, from + length);
            prop_assert!(range.start < range.end && range.end <= cells);
            let ticks: Vec<_> = axis.ticks().collect();
            prop_assert!(!ticks.is_empty() && ticks.len() <= cells / 8 + 2, "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|two| two[0].0 <= two[1].0));
        }
    }
}
