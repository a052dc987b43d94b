//! The axis of tasks, and the strip above it: what each task did with each tool.

use std::ops::Range;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::facts::Facts;
use crate::domain::{Lap, TaskId, ToolName};
use crate::hits::{Hits, Target};
use crate::panes::row::Row;
use crate::papers::resilience::{Use, used};
use crate::symbols::{DONE, FAILED, INJECTED, SELECTED, SPENT, WAITING};
use crate::{cx::Cx, theme::Theme, vlist};

/// Cells left of the axis, for names, and right of it, for numbers.
pub(super) const LEFT: u16 = 22;
pub(super) const RIGHT: u16 = 12;
/// Cells between two numbers of tasks.
const APART: usize = 10;
/// A tool that was called after another one failed.
const SECOND: &str = "▄";

/// Which tasks are in which column.
pub(super) struct Axis {
    /// The places of the laps that are shown.
    pub shown: Range<usize>,
    /// Tasks that share a column.
    pub per: usize,
    pub area: Rect,
}

impl Axis {
    /// One column for each task; two where there are more, then the part around the fault or the cursor.
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
            // The fault stays in sight until the newest task would leave the axis.
            (None, Some(fault)) => fault.saturating_sub(most / 3).max(newest),
            (None, None) => newest,
        };
        let first = first.min(newest);
        Self { shown: first..all.min(first + most), per, area }
    }

    pub fn laps<'l>(&self, facts: &'l Facts<'_>) -> &'l [Lap] {
        &facts.laps[self.shown.clone()]
    }

    /// The column of a task, if it is shown.
    pub fn column(&self, facts: &Facts<'_>, task: TaskId) -> Option<u16> {
        let at = facts.laps.binary_search_by_key(&task, |lap| lap.task).ok()?;
        let at = at.checked_sub(self.shown.start).filter(|_| at < self.shown.end)?;
        u16::try_from(at / self.per).ok()
    }

    /// Numbers of tasks, with where the fault was armed, where the choice is stable, and the cursor.
    pub fn draw(&self, cx: &Cx<'_>, facts: &Facts<'_>, line: Rect, buf: &mut Buffer) {
        if line.is_empty() {
            return;
        }
        Row::new(line, buf).put(" task", cx.theme.dim);
        let mut put = |column: u16, text: &str, style: Style| {
            let x = self.area.x + column;
            let width = self.area.right().saturating_sub(x);
            Row::new(Rect { x, y: line.y, width, height: 1 }, buf).put(text, style);
        };
        let laps = self.laps(facts);
        for (column, some) in laps.chunks(self.per).enumerate().step_by(APART) {
            put(column as u16, &some[0].task.to_string(), cx.theme.dim);
        }
        let marks = facts.taken.iter().flat_map(|taken| {
            let armed = Some((taken.broken.from, INJECTED, cx.theme.injected));
            let stable = taken.found.stable.map(|task| (task, DONE, cx.theme.good));
            [armed, stable].into_iter().flatten()
        });
        for (task, mark, style) in marks {
            if let Some(column) = self.column(facts, task) {
                put(column, &format!("{mark}{task} "), style);
            }
        }
        if let Some((task, column)) =
            cx.view.task.and_then(|task| Some((task, self.column(facts, task)?)))
        {
            put(column, &format!("{SELECTED}{task} "), cx.theme.accent);
        }
    }

    /// A row for each tool.
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
            for some in self.laps(facts).chunks(self.per) {
                let (mark, style) = mark(cx.theme, some, tool, &facts.tools);
                row.put(mark, style);
            }
            if at == 0 {
                self.legend(cx, line, buf);
            }
            hits.add(line, Target::Tool(tool.clone()));
            if selected == Some(at) {
                vlist::select(cx, line, buf);
            }
        }
        for (column, some) in (0..).zip(self.laps(facts).chunks(self.per)) {
            let cells = Rect { x: self.area.x + column, width: 1, ..area };
            hits.add(cells, Target::Task(some[0].task));
        }
    }

    fn legend(&self, cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
        let x = self.area.right() + 1;
        let width = line.right().saturating_sub(x);
        Row::new(Rect { x, width, ..line }, buf)
            .put(&format!("{SPENT} 1st {SECOND} 2nd"), cx.theme.dim);
    }
}

/// What some tasks did with a tool: the worst of it.
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
