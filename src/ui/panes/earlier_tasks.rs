//! Draws the rows of earlier tasks, dimmed, below those of a task that leaves rows free.

use ratatui::{buffer::Buffer, layout::Rect};

use super::row::{Row, split};
use crate::cx::Cx;
use crate::domain::TaskState;
use crate::hits::{Hits, Target};
use crate::text;

/// The fewest rows for earlier tasks: an empty line, a heading, a row.
const LEAST: u16 = 3;
/// Bytes of a task's text that a heading can show.
const TEXT: usize = 400;

/// The rows of the task itself, which needs this many, and those below an empty line.
pub fn own(needs: usize, area: Rect) -> (Rect, Rect) {
    let needs = u16::try_from(needs).unwrap_or(u16::MAX);
    let rows = if area.height.saturating_sub(needs) >= LEAST { needs } else { area.height };
    let (own, rest) = split(area, rows);
    (own, split(rest, 1).1)
}

/// The useful rows if the longest task so far needs `longest` and all need `all` with their headings: those of the task
/// itself and of the one before it.
pub fn most(longest: usize, all: usize) -> usize {
    let before = all.saturating_sub(longest + 1).min(longest);
    longest + if before > 0 { before + 2 } else { 0 }
}

/// Draws as many of the tasks before this one as there is room for, the latest first. `rows` gives the rows that a task
/// needs, 0 to skip it, and `body` draws it.
pub fn draw<'a>(
    cx: &Cx<'a>,
    task: &TaskState,
    area: Rect,
    (buf, hits): (&mut Buffer, &mut Hits),
    rows: impl Fn(&'a TaskState) -> usize,
    body: impl Fn(&'a TaskState, Rect, &mut Buffer),
) {
    // A search shows only the task itself.
    if cx.view.find.is_some() {
        return;
    }
    let mut left = area;
    for other in cx.state.tasks.iter().rev().filter(|other| other.id < task.id) {
        if left.height < LEAST - 1 {
            return;
        }
        let needs = rows(other);
        if needs == 0 {
            continue;
        }
        let needs = u16::try_from(needs).unwrap_or(u16::MAX);
        let (here, below) = split(left, needs.saturating_add(1));
        left = below;
        let (head, inside) = split(here, 1);
        body(other, inside, buf);
        buf.set_style(inside, cx.theme.dim);
        let words = text::start(&other.task.text, TEXT);
        Row::new(head, buf).put(&format!("task {}  {words}", other.id), cx.theme.dim);
        hits.add(here, Target::Task(other.id));
    }
}
