//! The time axis that all lanes of a task share.

use super::track::Tracks;

/// Cells that a tick needs for its time.
const TICK: f64 = 8.0;

/// Intervals between ticks beyond a minute, in minutes; below, they are 1, 2 or 5 times a power of ten microseconds.
const LONG: [u64; 7] = [1, 2, 5, 10, 30, 60, 120];
const MINUTE: u64 = 60_000_000;

/// Cells of a gap, at most: a mark and its length.
const GAP: usize = 9;

/// A span of time on cells, in microseconds since the session was opened. Gaps are times in which a person's hold kept
/// everything from running: all gaps take the same few cells each, whatever their length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    start: u64,
    end: u64,
    pub width: usize,
    gaps: Vec<(u64, u64)>,
    /// Cells of each gap.
    gap: usize,
}

impl Axis {
    /// An axis from the first request to the last end; to now while anything is open.
    pub fn of(tracks: &Tracks<'_>, now: u64, width: usize) -> Self {
        let (mut start, mut end) = (u64::MAX, 0);
        for track in tracks.iter() {
            start = start.min(track.wanted().unwrap_or(u64::MAX));
            // Calls that have not started yet will come, unless the task is over.
            let open = track.wanted().is_some() || track.task.outcome().is_none();
            end = end.max(if open { track.over().unwrap_or(now) } else { 0 });
        }
        let start = if start == u64::MAX { now } else { start };
        Self::over((start, end.max(start.saturating_add(1))), width, tracks.held(now))
    }

    /// An axis over a span that is not empty, with the times in which something was held.
    pub fn over((start, end): (u64, u64), width: usize, held: Vec<(u64, u64)>) -> Self {
        Self::with(start, end, width, held)
    }

    /// The axis from its own start, with as much time in each cell as another one has.
    #[must_use]
    pub fn at_scale_of(mut self, other: &Self) -> Self {
        let scale = other.active().max(1) as f64 / other.cells_of(other.active()).max(1.0);
        let cells = self.active() as f64 / scale;
        self.width = (cells.ceil() as usize).clamp(1, self.width.max(1));
        // Gaps take at most a third of the narrower axis, too.
        self.gap = (self.width / 3).checked_div(self.gaps.len()).unwrap_or(0).min(self.gap);
        self
    }

    /// An axis with gaps for held times that are long enough; where space is scarce, for the longest.
    fn with(start: u64, end: u64, width: usize, held: Vec<(u64, u64)>) -> Self {
        let inside = held.into_iter().map(|(from, to)| (from.max(start), to.min(end)));
        let mut gaps: Vec<_> = inside.filter(|(from, to)| from < to).collect();
        let active = end - start - gaps.iter().map(|(from, to)| to - from).sum::<u64>();
        // A hold that fits into a gap's cells is drawn to scale.
        let least = active.max(1) as f64 * GAP as f64 / width.max(1) as f64;
        gaps.retain(|(from, to)| (to - from) as f64 > least);
        gaps.sort_by_key(|(from, to)| std::cmp::Reverse(to - from));
        gaps.truncate(width / 3);
        gaps.sort_unstable();
        let gap = (width / 3).checked_div(gaps.len()).unwrap_or(0).min(GAP);
        Self { start, end, width, gaps, gap }
    }

    /// The cell of this moment; the last cell for later moments.
    pub fn cell(&self, at: u64) -> usize {
        self.edge(at).min(self.width.saturating_sub(1))
    }

    /// The cell before which this moment ends.
    fn edge(&self, at: u64) -> usize {
        let at = at.clamp(self.start, self.end);
        let (mut active, mut cells) = (at - self.start, 0.0);
        for (from, to) in self.gaps.iter().filter(|(from, _)| *from < at) {
            let over = at.min(*to) - from;
            active -= over;
            cells += self.gap as f64 * over as f64 / (to - from) as f64;
        }
        ((self.cells_of(active) + cells).floor() as usize).min(self.width)
    }

    /// The number of cells for this much time outside of gaps.
    fn cells_of(&self, active: u64) -> f64 {
        let room = self.width - self.gap * self.gaps.len();
        active as f64 / self.active().max(1) as f64 * room as f64
    }

    /// The time outside of gaps.
    fn active(&self) -> u64 {
        self.end - self.start - self.gaps.iter().map(|(from, to)| to - from).sum::<u64>()
    }

    /// The cells from a moment to another; at least one.
    pub fn cells(&self, from: u64, to: u64) -> std::ops::Range<usize> {
        let first = self.cell(from);
        first..self.edge(to).max(first + 1).min(self.width)
    }

    /// The gaps: their cells, and their length in microseconds.
    pub fn gaps(&self) -> impl Iterator<Item = (std::ops::Range<usize>, u64)> {
        self.gaps.iter().map(|(from, to)| {
            let first = self.cell(*from);
            (first..(first + self.gap).min(self.width), to - from)
        })
    }

    /// The ticks, from the left: the cell, and the time since the start without gaps. The last one names the unit.
    pub fn ticks(&self) -> impl Iterator<Item = (usize, String)> {
        let span = self.active().max(1);
        let is_wide = |step: &u64| self.cells_of(*step) >= TICK;
        let decades = (0..8).map(|power| 10u64.pow(power));
        let steps = decades.flat_map(|ten| [1, 2, 5].map(|n| n * ten));
        let steps = steps.take_while(|step| *step < MINUTE);
        let mut steps = steps.chain(LONG.map(|minutes| minutes * MINUTE));
        let step = steps.find(is_wide).unwrap_or(span).max(1);
        // The end is not a cell of the axis.
        let ticks = if self.width == 0 { 0 } else { span.div_ceil(step) };
        let (unit, name) = unit(span, step);
        let places = [(10, 0), (100, 1), (1_000, 2)];
        let places = places.iter().find(|(parts, _)| step * parts >= unit * 10);
        let places = places.map_or(3, |(_, places)| *places);
        (0..ticks).map(move |i| {
            let at = (i * step) as f64 / unit as f64;
            let at = if i == 0 { "0".to_owned() } else { format!("{at:.places$}") };
            let label = if i + 1 == ticks { format!("{at} {name}") } else { at };
            (self.cell_after(i * step), label)
        })
    }

    /// The cell at which this much time outside of gaps has passed.
    fn cell_after(&self, active: u64) -> usize {
        let mut at = self.start + active;
        for (from, to) in &self.gaps {
            at += if *from < at { to - from } else { 0 };
        }
        self.cell(at)
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
            let axis = Axis::with(5, 5 + end, cells, Vec::new());
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

    #[test]
    fn gaps_fit_an_axis_at_the_scale_of_a_longer_one() {
        // A short time of work between long holds, beside an hour of work.
        let held = vec![(10_000, 60_000_000), (60_010_000, 120_000_000)];
        let own = Axis::with(0, 120_010_000, 60, held);
        let narrow = own.at_scale_of(&Axis::with(0, 3_600_000_000, 60, Vec::new()));
        assert_eq!(narrow.width, 1);
        assert!([0, 30_000_000, 120_010_000].iter().all(|at| narrow.cell(*at) < 1));
        assert!(narrow.gaps().all(|(cells, _)| cells.end <= 1));
    }

    #[test]
    fn held_time_is_cut_out() {
        // Two seconds of work around a minute, and around a moment.
        let held = vec![(1_000_000, 61_000_000), (61_500_000, 61_510_000)];
        let axis = Axis::with(0, 62_000_000, 49, held);
        assert_eq!(axis.gaps().collect::<Vec<_>>(), [(20..29, 60_000_000)]);
        assert_eq!(
            [0, 500_000, 1_000_000, 61_000_000, 61_500_000].map(|at| axis.cell(at)),
            [0, 10, 20, 29, 39]
        );
        let ticks: Vec<_> = axis.ticks().map(|(cell, label)| format!("{cell}:{label}")).collect();
        assert_eq!(ticks, ["0:0", "10:0.5", "20:1.0", "39:1.5 s"]);
        // A person who steps is shown the work as well.
        let steps: Vec<_> =
            (0..40).map(|i| (i * 2_000_000 + 100_000, (i + 1) * 2_000_000)).collect();
        let axis = Axis::with(0, 80_000_000, 60, steps);
        assert_eq!((axis.gaps().count(), axis.gap), (20, 1));
    }

    proptest! {
        #[test]
        fn every_moment_has_its_cells(
            start in 0u64..1 << 50, span in 1u64..1 << 50, cells in 1usize..300,
            from in 0u64..1 << 51, length in 0u64..1 << 51,
            held in prop::collection::vec((0u64..1 << 51, 1u64..1 << 50), 0..20),
        ) {
            let mut until = 0;
            let held = held.into_iter().map(|(after, length)| {
                let from = until + after / 20;
                until = from + length / 20;
                (from, until)
            });
            let axis = Axis::with(start, start + span, cells, held.collect());
            let range = axis.cells(from, from + length);
            prop_assert!(range.start < range.end && range.end <= cells);
            let ticks: Vec<_> = axis.ticks().collect();
            prop_assert!(!ticks.is_empty() && ticks.len() <= cells / 8 + 2, "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|two| two[0].0 <= two[1].0));
            let gaps: Vec<_> = axis.gaps().collect();
            prop_assert!(gaps.iter().all(|(cells, _)| cells.end <= axis.width), "{gaps:?}");
            prop_assert!(gaps.windows(2).all(|two| two[0].0.end <= two[1].0.end), "{gaps:?}");
            prop_assert!(axis.cell(from) <= axis.cell(from + length));
        }
    }
}
