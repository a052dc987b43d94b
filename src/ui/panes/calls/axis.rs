//! The time axis that all lanes of a task share.

use super::track::Tracks;

/// Cells that a tick needs for its time.
const TICK: f64 = 8.0;

/// How far apart ticks may be, in microseconds, beyond 1, 2 and 5 times a power of ten.
const LONG: [u64; 7] = [1, 2, 5, 10, 30, 60, 120];
const MINUTE: u64 = 60_000_000;

/// From when to when, in microseconds since the session was opened, on so many cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Axis {
    start: u64,
    end: u64,
    pub width: usize,
}

impl Axis {
    /// From the first wish to the last end; to now while anything is open.
    pub fn of(tracks: &Tracks<'_>, now: u64, width: usize) -> Self {
        let (mut start, mut end) = (u64::MAX, 0);
        for track in tracks.iter() {
            start = start.min(track.wanted().unwrap_or(u64::MAX));
            // Calls that have not started still come, unless the task is over.
            let open = track.wanted().is_some() || track.task.outcome().is_none();
            end = end.max(if open { track.over().unwrap_or(now) } else { 0 });
        }
        let start = if start == u64::MAX { now } else { start };
        Self { start, end: end.max(start.saturating_add(1)), width }
    }

    /// The cell in which this moment lies; the last one for what comes later.
    pub fn cell(&self, at: u64) -> usize {
        self.edge(at).min(self.width.saturating_sub(1))
    }

    /// The cell before which this moment ends.
    fn edge(&self, at: u64) -> usize {
        let share = at.saturating_sub(self.start) as f64 / (self.end - self.start) as f64;
        ((share * self.width as f64).floor() as usize).min(self.width)
    }

    /// The cells from a moment to another; at least one.
    pub fn cells(&self, from: u64, to: u64) -> std::ops::Range<usize> {
        let first = self.cell(from);
        first..self.edge(to).max(first + 1).min(self.width)
    }

    /// The ticks, from the left: the cell, and the time since the start. The last one names the unit.
    pub fn ticks(&self) -> impl Iterator<Item = (usize, String)> {
        let span = self.end - self.start;
        let is_wide = |step: &u64| *step as f64 / span as f64 * self.width as f64 >= TICK;
        let decades = (0..8).map(|power| 10u64.pow(power));
        let steps = decades.flat_map(|ten| [1, 2, 5].map(|n| n * ten));
        let steps = steps.take_while(|step| *step < MINUTE);
        let mut steps = steps.chain(LONG.map(|minutes| minutes * MINUTE));
        let step = steps.find(is_wide).unwrap_or(span).max(1);
        let axis = *self;
        // The end is no cell of the axis.
        let ticks = if self.width == 0 { 0 } else { span.div_ceil(step) };
        let (unit, name) = unit(span, step);
        let places = [(10, 0), (100, 1), (1_000, 2)];
        let places = places.iter().find(|(parts, _)| step * parts >= unit * 10);
        let places = places.map_or(3, |(_, places)| *places);
        (0..ticks).map(move |i| {
            let at = (i * step) as f64 / unit as f64;
            let at = if i == 0 { "0".to_owned() } else { format!("{at:.places$}") };
            let label = if i + 1 == ticks { format!("{at} {name}") } else { at };
            (axis.cell(axis.start + i * step), label)
        })
    }
}

/// The unit of all ticks of an axis, in microseconds, and its name.
fn unit(span: u64, step: u64) -> (u64, &'static str) {
    match () {
        () if step >= MINUTE => (MINUTE, "min"),
        () if span >= 1_000_000 => (1_000_000, "s"),
        () => (1_000, "ms"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        let ticks = |end: u64, cells| {
            let axis = Axis { start: 5, end: 5 + end, width: cells };
            axis.ticks().map(|(cell, label)| format!("{cell}:{label}")).collect::<Vec<_>>()
        };
        assert_eq!(ticks(300_000, 40), ["0:0", "13:100", "26:200 ms"]);
        assert_eq!(ticks(1_200_000, 40), ["0:0", "16:0.5", "33:1.0 s"]);
        assert_eq!(ticks(3_400_000, 30), ["0:0", "8:1", "17:2", "26:3 s"]);
        assert_eq!(ticks(900, 20), ["0:0", "11:0.5 ms"]);
        assert_eq!(ticks(90_000_000, 40), ["0:0", "8:20", "17:40", "26:60", "35:80 s"]);
        assert_eq!(ticks(400_000_000, 30), ["0:0", "9:2", "18:4", "27:6 min"]);
        assert_eq!(ticks(1, 12), ["0:0 ms"]);
        assert!(ticks(1, 0).is_empty());
    }

    proptest! {
        #[test]
        fn every_moment_has_its_cells(
            start in 0u64..1 << 50, span in 1u64..1 << 50, cells in 1usize..300,
            from in 0u64..1 << 51, length in 0u64..1 << 51,
        ) {
            let axis = Axis { start, end: start + span, width: cells };
            let range = axis.cells(from, from + length);
            prop_assert!(range.start < range.end && range.end <= cells);
            let ticks: Vec<_> = axis.ticks().collect();
            prop_assert!(!ticks.is_empty() && ticks.len() <= cells / 8 + 2, "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|two| two[0].0 <= two[1].0));
        }
    }
}
