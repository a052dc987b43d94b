//! The axis of tasks, and the strip above it: what each task did with each tool.

use std::ops::Range;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::facts::Facts;
use crate::domain::{Lap, TaskId, ToolName};
use crate::hits::{Hits, Target};
use crate::panes::row::Row;
use crate::papers::resilience::{Use, used};
use crate::symbols::{DONE, FAILED, INJECTED, SELECTED, SPENT, WAITING};
use crate::{cx::Cx, text, theme::Theme, vlist};

/// Cells left of the axis, for names, and right of it, for numbers.
pub(super) const LEFT: u16 = 22;
pub(super) const RIGHT: u16 = 12;
/// The fewest cells between the numbers of two tasks, and the steps between numbers.
const APART: usize = 6;
const STEPS: [usize; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];
/// From this width on there is a gap between two tasks.
const GAPPED: usize = 3;
/// A tool that was called after another one failed.
const SECOND: &str = "▄";

/// The assignment of tasks to columns.
pub(super) struct Axis {
    /// The indices of the laps shown.
    pub shown: Range<usize>,
    /// Tasks per column: 1, or 2 where there are more tasks than columns.
    pub per: usize,
    /// The number of parts that share the columns; few tasks get several columns each.
    parts: usize,
    pub area: Rect,
}

impl Axis {
    /// Shares all columns among the tasks. If there are more tasks, two share a column, then only the part around the
    /// fault or the cursor is shown.
    pub fn of(facts: &Facts<'_>, cursor: Option<TaskId>, area: Rect) -> Self {
        let right = if area.width >= 70 { RIGHT } else { 7 };
        let left = LEFT.min(area.width / 3);
        let width = area.width.saturating_sub(left + right);
        let area = Rect { x: area.x + left, width, ..area };
        let (all, columns) = (facts.laps.len(), usize::from(width).max(1));
        let per = if all <= columns { 1 } else { 2 };
        let most = columns * per;
        let place = |task: TaskId| facts.laps.partition_point(|lap| lap.task < task);
        let fault = facts.taken.as_ref().map(|taken| place(taken.broken.from));
        let newest = all.saturating_sub(most);
        let first = match (cursor.map(place), fault) {
            (Some(cursor), _) => cursor.saturating_sub(most / 2),
            // The fault stays visible until the newest task would leave the axis.
            (None, Some(fault)) => fault.saturating_sub(most / 3).max(newest),
            (None, None) => newest,
        };
        let first = first.min(newest);
        let shown = first..all.min(first + most);
        let here = shown.len().div_ceil(per);
        let parts = roomy(here).min(facts.tasks).min(columns).max(here).max(1);
        Self { shown, per, parts, area }
    }

    /// The columns of a part: of one task, or of tasks that share them.
    pub fn cells(&self, part: usize) -> Range<u16> {
        let at = |part: usize| (part * usize::from(self.area.width) / self.parts) as u16;
        at(part)..at(part + 1)
    }

    pub fn laps<'l>(&self, facts: &'l Facts<'_>) -> &'l [Lap] {
        &facts.laps[self.shown.clone()]
    }

    /// The first column of a task, if it is shown.
    pub fn column(&self, facts: &Facts<'_>, task: TaskId) -> Option<u16> {
        let at = facts.laps.binary_search_by_key(&task, |lap| lap.task).ok()?;
        let at = at.checked_sub(self.shown.start).filter(|_| at < self.shown.end)?;
        Some(self.cells(at / self.per).start)
    }

    /// Draws numbers of tasks, with marks where the fault was armed, where the choice is stable, and at the cursor.
    pub fn draw(&self, cx: &Cx<'_>, facts: &Facts<'_>, line: Rect, buf: &mut Buffer) {
        if line.is_empty() {
            return;
        }
        Row::new(line, buf).put(" task", cx.theme.dim);
        let marks = facts.taken.iter().flat_map(|taken| {
            let armed = Some((taken.broken.from, INJECTED, cx.theme.injected));
            let stable = taken.found.stable.map(|task| (task, DONE, cx.theme.good));
            [stable, armed].into_iter().flatten()
        });
        let cursor = cx.view.task.map(|task| (task, SELECTED, cx.theme.accent));
        let marks = cursor.into_iter().chain(marks).filter_map(|(task, mark, style)| {
            Some((self.column(facts, task)?, format!("{mark}{task}"), style))
        });
        // Marks keep their places; numbers take the rest.
        let mut taken: Vec<Range<u16>> = Vec::new();
        for (start, text, style) in marks.chain(self.numbers(facts, cx.theme.dim)) {
            let end = start + text::width(&text) as u16 + 1;
            if taken.iter().all(|taken| end <= taken.start || start >= taken.end) {
                let width = self.area.width.saturating_sub(start);
                let here = Rect { x: self.area.x + start, width, ..line };
                Row::new(here, buf).put(&text, style);
                taken.push(start..end);
            }
        }
    }

    /// Numbers of tasks, some cells apart: their columns and styles.
    fn numbers(&self, facts: &Facts<'_>, style: Style) -> Vec<(u16, String, Style)> {
        let width = usize::from(self.area.width);
        let is_apart = |step: &&usize| **step * width >= APART * self.parts * self.per;
        let step = STEPS.iter().find(is_apart).copied().unwrap_or(1000);
        let parts = self.laps(facts).chunks(self.per).enumerate();
        let numbered = parts.filter_map(|(part, some)| {
            let round = some.iter().find(|lap| (lap.task.0 as usize).is_multiple_of(step));
            let lap = round.or(some.first().filter(|_| part == 0))?;
            Some((self.cells(part).start, lap.task.to_string(), style))
        });
        numbered.collect()
    }

    /// Draws a row for each tool.
    pub fn strip(
        &self,
        cx: &Cx<'_>,
        facts: &Facts<'_>,
        (area, buf, hits): (Rect, &mut Buffer, &mut Hits),
    ) {
        let selected = super::selected(cx.view, facts);
        for (at, (line, tool)) in area.rows().zip(&facts.tools).enumerate() {
            let mut row = Row::new(line, buf);
            let name = usize::from(self.area.x - line.x).saturating_sub(2);
            row.gap(1).cell(tool.as_str(), name, cx.theme.text).gap(1);
            for (part, some) in self.laps(facts).chunks(self.per).enumerate() {
                let (mark, style) = mark(cx.theme, some, tool, &facts.tools);
                let width = self.cells(part).len();
                let gap = usize::from(width >= GAPPED);
                row.put(&mark.repeat(width - gap), style).gap(gap);
            }
            if at == 0 {
                self.legend(cx, line, buf);
            }
            hits.add(line, Target::Tool(tool.clone()));
            if selected == Some(at) {
                vlist::select(cx, line, buf);
            }
        }
        for (part, some) in self.laps(facts).chunks(self.per).enumerate() {
            let Range { start, end } = self.cells(part);
            let cells = Rect { x: self.area.x + start, width: end - start, ..area };
            hits.add(cells, Target::Task(some[0].task));
        }
    }

    fn legend(&self, cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
        let x = self.area.right() + 1;
        let width = line.right().saturating_sub(x);
        let words = format!("{SPENT} 1st {SECOND} 2nd");
        // A truncated legend would mislead.
        if text::width(&words) <= usize::from(width) {
            Row::new(Rect { x, width, ..line }, buf).put(&words, cx.theme.dim);
        }
    }
}

/// Adds room for some more parts, so that the scale changes only a few times while tasks end.
fn roomy(parts: usize) -> usize {
    let mut room = [4, 6].into_iter().cycle().zip((0..u32::BITS / 2).flat_map(|by| [by, by]));
    room.find_map(|(unit, by)| Some(unit << by).filter(|room| *room >= parts)).unwrap_or(parts)
}

/// The mark for the worst use of a tool in these tasks.
fn mark(theme: &Theme, laps: &[Lap], tool: &ToolName, strip: &[ToolName]) -> (&'static str, Style) {
    let rank = |how: Use| match how {
        Use::Injected => 4,
        Use::Failed => 3,
        Use::Second => 2,
        Use::First => 1,
        Use::None => 0,
    };
    let worst = laps.iter().map(|lap| used(lap, tool, strip)).max_by_key(|how| rank(*how));
    match worst.unwrap_or(Use::None) {
        Use::Injected => (INJECTED, theme.injected),
        Use::Failed => (FAILED, theme.bad),
        Use::Second => (SECOND, theme.warn),
        Use::First => (SPENT, theme.bar_fill),
        Use::None => (WAITING, theme.bar_empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_has_columns_and_together_they_have_all() {
        assert_eq!([0, 4, 5, 7, 9, 13, 33].map(roomy), [4, 4, 6, 8, 12, 16, 48]);
        for width in 1..200_u16 {
            for parts in 1..=usize::from(width) {
                let area = Rect { width, ..Rect::default() };
                let axis = Axis { shown: 0..parts, per: 1, parts, area };
                let cells: Vec<u16> = (0..parts).flat_map(|part| axis.cells(part)).collect();
                assert!(cells.into_iter().eq(0..width));
                assert!((0..parts).all(|part| !axis.cells(part).is_empty()));
            }
        }
    }
}
