//! The models by name, with the usage of each, for sessions without roles: watched agents have none.

use ratatui::{buffer::Buffer, layout::Rect};

use super::configured::{draw_mark, draw_name};
use super::{SPEC, Used, cached, counted, dollars, last, per_task, prompt_composition, tokens};
use crate::domain::{Aim, ModelName, ModelState};
use crate::hits::{Hits, Target};
use crate::panes::row::{Row, split};
use crate::symbols::RUNNING;
use crate::table::{TableColumn, TextTable, right};
use crate::{cx::Cx, text, vlist};

/// The least and the most cells of a name.
const NAME: (usize, usize) = (14, 32);

/// Columns of a model's usage, the most important first; the last are left out first.
fn columns<'a>() -> [TableColumn<Used<'a>>; 8] {
    [
        right("calls", 5, |used| (used.tally.calls.to_string(), used.theme.text)),
        right("tokens", 6, |used| tokens(used, used.tally.tokens())),
        right("dollars", 9, dollars),
        right("median", 8, |used| {
            (text::span_if_any(used.tally.latency.median()), used.theme.text)
        }),
        right("last", 8, last),
        right("cached", 6, cached),
        right("failed", 6, |used| counted(used, used.tally.failed, used.theme.bad)),
        right("retried", 7, |used| counted(used, used.tally.retries, used.theme.warn)),
    ]
}

/// The selected model, else the first.
pub(super) fn selected(cx: &Cx<'_>) -> Option<usize> {
    let known = &cx.state.models.known;
    let selected = cx.view.model.as_ref().and_then(|model| known.get_index_of(model));
    selected.or((!known.is_empty()).then_some(0))
}

pub(super) fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let known = &cx.state.models.known;
    let (head, list) = split(area, u16::from(area.height > 2));
    let longest = known.keys().map(|name| text::width(name.as_str()) + 2).max().unwrap_or(0);
    let width = usize::from(area.width);
    let table = TextTable::fitting(columns(), width.saturating_sub(NAME.0));
    let name = width.saturating_sub(table.width).min(longest.clamp(NAME.0, NAME.1));
    if !head.is_empty() {
        let mut row = Row::new(head, buf);
        row.gap(1).cell("model", name.saturating_sub(1), cx.theme.dim);
        table.head(&mut row, cx.theme.dim);
    }
    let (list, below) = split(list, u16::try_from(known.len()).unwrap_or(u16::MAX));
    let below = prompt_composition::draw(cx, below, buf, hits);
    per_task::draw(cx, below, buf, hits);
    vlist::draw(cx, SPEC.id, (list, buf, hits), (known.len(), selected(cx)), |at, row| {
        let (model, state) = known.get_index(at)?;
        draw_model(cx, (model, state), name, &table, row);
        Some(Target::Model(model.clone()))
    });
}

fn draw_model<'a>(
    cx: &Cx<'a>,
    (name, model): (&ModelName, &'a ModelState),
    width: usize,
    table: &TextTable<Used<'a>>,
    row: &mut Row<'_>,
) {
    let aim = Aim { model: Some(name), ..Aim::default() };
    row.gap(1);
    let width = draw_mark(cx, &aim, width.saturating_sub(1), row);
    draw_name(cx.theme, name.as_str(), Some(&model.spec), width, row);
    let asking = cx.state.model_calls_in_flight().rfind(|call| call.model == *name);
    let asking = asking.map(|call| format!("{RUNNING}{}", text::span(call.elapsed(cx.now))));
    let simulated = model.spec.simulated;
    table.cells(&Used { theme: cx.theme, tally: &model.tally, simulated, asking }, row);
}
