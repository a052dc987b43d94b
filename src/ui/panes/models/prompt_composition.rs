//! The composition of a prompt: of the selected model call, else of the newest one of the shown task.

use std::cell::RefCell;
use std::sync::{Arc, Once, Weak};
use std::thread;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use crate::action::Action;
use crate::cx::Cx;
use crate::domain::tokens::{self, PromptGroup, PromptSum};
use crate::domain::{ModelCallState, Request, State, Usage};
use crate::hits::{Hits, Target};
use crate::panes::glyph;
use crate::panes::row::{Row, split};
use crate::text;

/// Rows of the bar with its words and an empty line above, and the fewest without that line.
const ROWS: u16 = 4;
const LEAST: u16 = 3;
/// The most rows for groups that a pane asks room for.
const GROUPS: usize = 8;
/// Cells of a group's name, and of a number.
const NAME: usize = 24;
const NUMBER: usize = 7;
/// The most cells of the bar.
const BAR: usize = 60;
const CELL: &str = "▄";
/// Number of prompts whose composition is remembered.
const REMEMBERED: usize = 8;

/// The rows that the composition can use.
pub(super) fn most(state: &State) -> usize {
    let tools = state.model_calls.last().map(|call| call.request.tools.len());
    tools.map_or(0, |tools| usize::from(ROWS) + GROUPS.min(tools + 4))
}

/// The share of cached tokens in percent, if the endpoint reports a cache.
fn cached(usage: Usage) -> Option<u64> {
    let has_cache = usage.cached > 0 || usage.written > 0;
    let share = u128::from(usage.cached) * 100 / u128::from(usage.tokens_in.max(1));
    has_cache.then(|| u64::try_from(share).unwrap_or(100).min(100))
}

/// The composition of a call's prompt. It is computed once, and never while the vocabulary is loaded.
fn of(state: &State, call: &ModelCallState) -> Arc<PromptSum> {
    type Known = (Weak<Request>, Option<Weak<Request>>, Arc<PromptSum>);
    thread_local! {
        static KNOWN: RefCell<Vec<Known>> = RefCell::default();
    }
    static LOADING: Once = Once::new();
    let before = state.call_before(call).map(|before| &before.request);
    let is_it = |weak: &Weak<Request>, request: &Arc<Request>| {
        std::ptr::eq(weak.as_ptr(), Arc::as_ptr(request))
    };
    KNOWN.with_borrow_mut(|known| {
        let is_same = |(request, earlier, _): &Known| {
            let earlier = earlier.as_ref().map(Weak::as_ptr);
            is_it(request, &call.request) && earlier == before.map(Arc::as_ptr)
        };
        if let Some((.., sum)) = known.iter().find(|known| is_same(known)) {
            return Arc::clone(sum);
        }
        let is_loaded = tokens::is_loaded();
        let sum = Arc::new(tokens::made_of(&call.request, before.map(|it| &**it), false));
        if is_loaded {
            known.truncate(REMEMBERED - 1);
            let before = before.map(Arc::downgrade);
            known.insert(0, (Arc::downgrade(&call.request), before, Arc::clone(&sum)));
        } else {
            // The first frame of a replay does not wait.
            LOADING.call_once(|| {
                let _ = thread::Builder::new().name("tokens".to_owned()).spawn(tokens::load);
            });
        }
        sum
    })
}

/// Draws the composition; returns the area left below it.
pub(super) fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) -> Rect {
    let state = cx.state;
    let of_task = || cx.view.task_of(state)?.model_calls.last().copied();
    let chosen = cx.view.model_call;
    let call = chosen.or_else(of_task).and_then(|call| state.model_call(call));
    let Some(call) = call.or_else(|| state.model_calls.last()).filter(|_| area.height >= LEAST)
    else {
        return area;
    };
    let sum = of(state, call);
    let (_, area) = split(area, u16::from(area.height >= ROWS));
    let (head, rest) = split(area, 1);
    let (bar, rest) = split(rest, 1);
    let (legend, rest) = split(rest, 1);
    let about = if sum.is_rough { "≈" } else { "" };
    let which = match chosen {
        Some(_) => format!("what prompt #{} was made of", call.id),
        None => "what the last prompt was made of".to_owned(),
    };
    let share = call.usage().and_then(cached);
    let share = share.map_or_else(String::new, |share| format!(", {share} % cached"));
    let said = format!("{which}: {about}{} tok{share}", text::number(sum.total()));
    Row::new(head, buf).put(&said, cx.theme.title);
    hits.add(head, Target::Action(Action::Prompt));
    let parts = segments(cx, &sum);
    draw_bar(&parts, &mut Row::new(bar, buf));
    let mut row = Row::new(legend, buf);
    for (name, tokens, style) in parts.iter().filter(|(_, tokens, _)| *tokens > 0) {
        row.put(CELL, *style).gap(1).put(name, cx.theme.text).gap(1);
        row.put(&text::count(*tokens), cx.theme.dim).gap(2);
    }
    draw_groups(cx, &sum, rest, buf)
}

type Segment = (&'static str, u64, Style);

/// The parts of the bar. What is new counts only there.
fn segments(cx: &Cx<'_>, sum: &PromptSum) -> [Segment; 4] {
    let (system, tools) =
        (sum.sum(|group| *group == PromptGroup::System), sum.sum(PromptGroup::is_tool));
    let new = sum.fresh();
    let past = sum.total().saturating_sub(system + tools + new);
    let theme = cx.theme;
    [
        ("system", system, theme.accent),
        ("tools", tools, theme.bar_fill),
        ("past", past, theme.planned),
        ("new", new, theme.running),
    ]
}

/// Draws each part with its first letter in front, for readers who do not see colours.
fn draw_bar(parts: &[Segment], row: &mut Row<'_>) {
    let width = row.left().min(BAR);
    let total = parts.iter().map(|(_, tokens, _)| tokens).sum::<u64>().max(1);
    for (name, tokens, style) in parts.iter().filter(|(_, tokens, _)| *tokens > 0) {
        let cells = (*tokens as f64 / total as f64 * width as f64).round() as usize;
        let cells = cells.max(1) - 1;
        row.put(&name[..1], *style).put(&CELL.repeat(cells), *style);
    }
}

/// Draws a row for each group, the largest first; returns the area left below.
fn draw_groups(cx: &Cx<'_>, sum: &PromptSum, area: Rect, buf: &mut Buffer) -> Rect {
    let groups = sum.largest();
    let (rows, below) = split(area, u16::try_from(groups.len()).unwrap_or(u16::MAX));
    let most = groups.first().map_or(1, |(_, tokens, _)| *tokens).max(1);
    let shown = usize::from(rows.height);
    for (at, (line, (group, tokens, new))) in rows.rows().zip(&groups).enumerate() {
        let mut row = Row::new(line, buf);
        if at + 1 == shown && groups.len() > shown {
            let rest = groups.len() - at;
            row.put(&format!("… and {} smaller", text::number(rest as u64)), cx.theme.dim);
            break;
        }
        let style = if group.is_tool() { cx.theme.accent } else { cx.theme.text };
        row.cell(group.name(), NAME.min(row.left() / 2), style);
        row.right(&text::count(*tokens), NUMBER, cx.theme.text).gap(1);
        let bar = glyph::thin_bar(*tokens as f64 / most as f64, row.left().min(BAR / 3));
        row.put(&bar, cx.theme.bar_fill).gap(1);
        if *new > 0 {
            row.put(&format!("{} new", text::count(*new)), cx.theme.running);
        }
    }
    below
}
