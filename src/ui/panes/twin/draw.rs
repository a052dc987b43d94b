//! Drawing of both sessions: the first difference, the calls, the selected pair in full, and the price.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{SPEC, price};
use crate::cx::Cx;
use crate::domain::words::counted;
use crate::hits::{Hits, Target};
use crate::in_step::InStep;
use crate::panes::row::{Row, note, split};
use crate::symbols::{DIFFERS, LEADS};
use crate::twin::{MOST, Twin};
use crate::twin_call::TwinCall;
use crate::{text, vlist};

/// Cells of a task's number.
const TASK: usize = 5;
/// The pane shows the selected pair in full, below the calls, if it has this many rows.
const HIGH: u16 = 16;
/// Rows of the selected pair in full.
const FULL: u16 = 7;

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some(twin) = &cx.view.twin else {
        let key = cx.keymap.fill("no twin: <key:twin> sets one beside this session");
        return note(area, &key, cx.theme.dim, buf);
    };
    let words = price_words(cx, twin, usize::from(area.width));
    let below = u16::try_from(words.len()).unwrap_or(u16::MAX).min(area.height / 4);
    let (area, last) = split(area, area.height - below);
    for (line, words) in last.rows().zip(words) {
        Row::new(line, buf).gap(1).put(&words, cx.theme.text);
    }
    let (head, area) = split(area, 2.min(area.height.saturating_sub(1)));
    let mut rows = head.rows();
    if let Some(line) = rows.next() {
        first(cx, twin, &mut Row::new(line, buf));
    }
    if let Some(line) = rows.next() {
        let mut row = Row::new(line, buf);
        let half = half(&row);
        row.gap(2).cell(" task", TASK, cx.theme.dim).gap(1);
        row.cell("this session", half, cx.theme.dim).gap(2);
        row.put(twin.kind.name(), cx.theme.dim);
    }
    let (area, full) = split(area, area.height - if area.height >= HIGH { FULL } else { 0 });
    let place = (twin.rows.len(), twin.selected(cx.view.moment));
    vlist::draw(cx, SPEC.id, (area, buf, hits), place, |at, line| {
        draw_pair(cx, twin, at, line);
        Some(Target::Pair(at))
    });
    in_full(cx, twin, full, buf);
}

/// Cells of a call beside the other.
fn half(row: &Row<'_>) -> usize {
    row.left().saturating_sub(TASK + 5) / 2
}

/// Where the sessions part.
fn first(cx: &Cx<'_>, twin: &Twin, line: &mut Row<'_>) {
    let Some((pair, _)) = twin.first else {
        let so_far = if twin.over { "no difference" } else { "no difference so far" };
        let is_both = |row: &usize| matches!(twin.rows.get(*row), Some((Some(_), Some(_))));
        let calls = (0..twin.rows.len()).filter(is_both).count();
        let words = format!("{so_far}: {} calls are the same", text::number(calls as u64));
        line.gap(1).put(&words, cx.theme.good);
        return;
    };
    let (own, other) = twin.rows.calls(pair);
    let words = own.or(other).map(|call| {
        let what = match (own, other) {
            (Some(own), Some(other)) if own.question != other.question => "is asked something else",
            (Some(_), Some(_)) => "returned something else",
            (Some(_), None) => "is only here",
            (None, _) => "is only in the other session",
        };
        let (task, number, name) = (call.task, twin.rows.number(pair), &call.name);
        format!("first difference: task {task}, call {number}: {name} {what}")
    });
    line.gap(1).cell(DIFFERS, 1, cx.theme.warn).gap(1);
    line.put(&words.unwrap_or_default(), cx.theme.warn);
    if twin.rows.is_cut() {
        let words = format!(" · only the first {} calls", text::number(MOST as u64));
        line.put(&words, cx.theme.dim);
    }
}

fn draw_pair(cx: &Cx<'_>, twin: &Twin, at: usize, line: &mut Row<'_>) {
    let Some((own, other)) = twin.rows.get(at) else { return };
    let is_same = own.map(|call| call.content) == other.map(|call| call.content);
    let is_later = cx.view.moment.is_some_and(|moment| own.is_none_or(|call| call.n > moment));
    let style = match () {
        () if twin.first.is_some_and(|(_, first)| first == at) => cx.theme.warn,
        () if is_later || is_same => cx.theme.dim,
        () => cx.theme.text,
    };
    let half = half(line);
    let sign = if twin.rows.differs(at) { DIFFERS } else { " " };
    let task = own.or(other).map_or_else(String::new, |call| call.task.to_string());
    line.gap(1).cell(sign, 1, style).right(&task, TASK, cx.theme.dim).gap(1);
    let none = match (twin.in_step, twin.rows.differs(at)) {
        (InStep::Time, _) => "",
        (_, true) => "no call",
        (_, false) => "not yet",
    };
    let words = |call, beside| cell(call, beside).unwrap_or_else(|| none.to_owned());
    line.cell(&words(own, other), half, style).gap(2);
    match is_same {
        true => line.put("the same", cx.theme.dim),
        false => line.put(&words(other, own), style),
    };
}

/// A call in one cell: its name, its arguments where the other's differ, and its outcome. A prompt is shown only where
/// nothing else differs.
fn cell(call: Option<&TwinCall>, beside: Option<&TwinCall>) -> Option<String> {
    let call = call?;
    let asks_same = beside.is_some_and(|beside| beside.question == call.question);
    let says_same = beside.is_some_and(|beside| beside.outcome == call.outcome);
    let has_input = if call.is_of_model { says_same && !asks_same } else { !asks_same };
    let input = if has_input && !call.input.is_empty() {
        format!(" {}", call.input)
    } else {
        String::new()
    };
    Some(format!("{}{input} {LEADS} {}", call.name, call.outcome))
}

/// The selected pair with as much of its texts as there is room for.
fn in_full(cx: &Cx<'_>, twin: &Twin, area: Rect, buf: &mut Buffer) {
    let Some((own, other)) = twin.selected(cx.view.moment).and_then(|at| twin.rows.get(at)) else {
        return;
    };
    let width = usize::from(area.width.saturating_sub(2));
    let mut rows = area.rows().skip(1);
    let sides = if own.map(|call| call.content) == other.map(|call| call.content) {
        vec![("both", own)]
    } else {
        vec![("here", own), ("twin", other)]
    };
    for (side, call) in sides {
        let Some(call) = call else { continue };
        let words = format!("{side}: {} {} {LEADS} {}", call.name, call.input, call.outcome);
        for line in text::wrap_within(&words, width, 3) {
            let Some(area) = rows.next() else { return };
            Row::new(area, buf).gap(1).put(&line, cx.theme.text);
        }
    }
}

/// The price of the difference, wrapped.
fn price_words(cx: &Cx<'_>, twin: &Twin, width: usize) -> Vec<String> {
    let words = match twin.compared(cx.live) {
        None => "price of the difference: known when both have done the same tasks".to_owned(),
        Some((own, other, tasks)) => {
            let of = tasks.map(|tasks| format!(" in {} of both", counted(tasks, "task")));
            let words = price::words(&own, &other).join(", ");
            format!("price of the difference{}: {words}", of.unwrap_or_default())
        }
    };
    text::wrap_within(&words, width.saturating_sub(2).max(1), 2)
}
