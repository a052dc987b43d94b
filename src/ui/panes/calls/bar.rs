//! A lane on the axis: dots while it waits for room, a bar while it runs, bars of rest while the user holds it.

use ratatui::style::Style;

use super::{axis::Axis, track::Track};
use crate::ui::symbols::{HELD, SPENT, WAITING};
use crate::ui::theme::Theme;

/// A run that does not decide how long all takes.
const ASIDE: &str = "▄";
const TICK: &str = "┊";

/// The cells of a lane.
pub struct Bar<'a> {
    axis: &'a Axis,
    theme: &'a Theme,
    cells: Vec<(&'static str, Style)>,
}

impl<'a> Bar<'a> {
    pub fn new(axis: &'a Axis, cells: usize, theme: &'a Theme) -> Self {
        let mut bar = vec![(" ", theme.dim); cells];
        for (cell, _) in axis.ticks() {
            if let Some(cell) = bar.get_mut(cell) {
                cell.0 = TICK;
            }
        }
        Self { axis, theme, cells: bar }
    }

    /// Draws a lane; one that was never wanted has no bar.
    pub fn draw(&mut self, track: &Track<'_>, critical: bool, now: u64) {
        let (axis, theme) = (self.axis, self.theme);
        let Some(wanted) = track.wanted() else { return };
        let unstarted = || track.call.and_then(|call| call.ended).or(track.over()).unwrap_or(now);
        let ran = track.ran().map(|(started, ended)| (started, ended.unwrap_or(now)));
        let (started, ended) = ran.unwrap_or_else(|| (unstarted(), unstarted()));
        if started > wanted || ran.is_none() {
            self.paint(axis.cells(wanted, started), WAITING, theme.warn);
        }
        if ran.is_some() {
            let glyph = if critical { SPENT } else { ASIDE };
            // Held, it is drawn as it ran.
            let style = match track.hold() {
                Some(_) => theme.dim,
                None => track.standing(theme).style,
            };
            self.paint(axis.cells(started, ended), glyph, style);
        }
        let holds = track.call.map_or(&[][..], |call| &call.holds);
        let hold = track.hold().map(|hold| (hold.since, now));
        for (from, to) in holds.iter().copied().chain(hold) {
            let mut cells = axis.cells(from, to);
            // A short hold before or after it must not hide how it ran.
            if ran.is_some() {
                let ran = axis.cells(started, ended);
                if from >= ended {
                    cells.start = cells.start.max(ran.end);
                } else if to <= started {
                    cells.end = cells.end.min(ran.start);
                }
            }
            self.paint(cells, HELD, theme.paused);
        }
    }

    fn paint(&mut self, cells: std::ops::Range<usize>, glyph: &'static str, style: Style) {
        for cell in self.cells.get_mut(cells).into_iter().flatten() {
            *cell = (glyph, style);
        }
    }

    /// The cells in runs of one style.
    pub fn runs(&self) -> impl Iterator<Item = (String, Style)> + '_ {
        self.cells.chunk_by(|a, b| a.1 == b.1).map(|run| {
            let text = run.iter().map(|(glyph, _)| *glyph).collect();
            (text, run[0].1)
        })
    }
}
