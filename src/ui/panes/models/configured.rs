//! The configured models: price, context size, and reachability.

use ratatui::{buffer::Buffer, layout::Rect};

use crate::domain::{Aim, Finite, ModelName, ModelSpec, ModelState, Reach, Reachable};
use crate::panes::row::Row;
use crate::symbols::{DONE, FAILED, INJECTED};
use crate::table::{Cell, TableColumn, TextTable, right};
use crate::{cx::Cx, text, theme::Theme};

pub(super) const SIMULATED: &str = "SIMULATED";

/// The least height that shows a model: an empty line, the head, and the model.
pub const LEAST: u16 = 3;

/// Widths of the name, of each price, and of the context.
const NAME: usize = 24;
const PRICE: usize = 8;
const CONTEXT: usize = 7;

fn columns<'a>() -> TextTable<(&'a Theme, &'a ModelState)> {
    let columns: [TableColumn<(&Theme, &ModelState)>; 3] = [
        right("$/M in", PRICE, |(theme, model)| price(theme, &model.spec, model.spec.price_in)),
        right("$/M out", PRICE, |(theme, model)| price(theme, &model.spec, model.spec.price_out)),
        right("context", CONTEXT, |(theme, model)| {
            (model.spec.context.map_or_else(|| "unknown".to_owned(), text::count), theme.text)
        }),
    ];
    TextTable::fitting(columns, usize::MAX)
}

/// Draws the headings above the columns.
pub fn draw_head(theme: &Theme, line: Rect, buf: &mut Buffer) {
    let mut row = Row::new(line, buf);
    let name = name_width(&row);
    row.cell("configured", name, theme.dim);
    columns().head(&mut row, theme.dim);
    row.gap(2).put("reachable", theme.dim);
}

pub fn draw(cx: &Cx<'_>, (name, model): (&ModelName, &ModelState), now: u64, row: &mut Row<'_>) {
    let aim = Aim { model: Some(name), ..Aim::default() };
    let width = draw_mark(cx, &aim, name_width(row), row);
    draw_name(cx.theme, name.as_str(), Some(&model.spec), width, row);
    columns().cells(&(cx.theme, model), row);
    let (shown, style) = reachable(cx.theme, model, now);
    row.gap(2).put(&shown, style);
}

/// In a narrow pane the name is shortened, so that reachability stays readable.
fn name_width(row: &Row<'_>) -> usize {
    row.left().saturating_sub(46).clamp(12, NAME)
}

/// Draws the mark of a fault that is armed for these model calls; returns the width left for the name.
pub(super) fn draw_mark(cx: &Cx<'_>, aim: &Aim<'_>, width: usize, row: &mut Row<'_>) -> usize {
    const MARK: usize = 2;
    if !cx.state.has_fault_on(aim) || width <= MARK {
        return width;
    }
    row.cell(INJECTED, MARK, cx.theme.injected);
    width - MARK
}

/// Draws the model's name and whether it is simulated, unless the name already says that.
pub(super) fn draw_name(
    theme: &Theme,
    name: &str,
    spec: Option<&ModelSpec>,
    width: usize,
    row: &mut Row<'_>,
) {
    let word = match spec {
        Some(spec) if spec.simulated => SIMULATED,
        Some(_) | None => "",
    };
    let shown = match word {
        "" => width,
        _ if name.eq_ignore_ascii_case(word) => 0,
        _ => text::width(name).min(width.saturating_sub(word.len() + 1)),
    };
    row.cell(name, shown, theme.accent);
    if !word.is_empty() {
        let gap = usize::from(shown > 0);
        row.gap(gap).cell(word, width - shown - gap, theme.simulated);
    }
}

fn price(theme: &Theme, spec: &ModelSpec, dollars: Option<Finite>) -> Cell {
    let about = if spec.listed { "~" } else { "" };
    match dollars {
        Some(dollars) => (format!("{about}{}", *dollars), theme.text),
        None => ("unknown".to_owned(), theme.warn),
    }
}

/// Reachability in a few words; [`why`] says more.
fn reachable(theme: &Theme, model: &ModelState, now: u64) -> Cell {
    match &model.reachable {
        _ if model.spec.simulated => (format!("{DONE} part of toolyard"), theme.good),
        Reachable::NotTried if model.tally.calls > model.tally.failed => {
            (format!("{DONE} has answered · {}", model.spec.source), theme.good)
        }
        Reachable::NotTried => (format!("not tried · {}", model.spec.source), theme.dim),
        Reachable::Trying { since } => {
            (format!("trying for {}", text::span(now.saturating_sub(*since))), theme.dim)
        }
        Reachable::Tried { how: Reach::Yes, text } => (format!("{DONE} {text}"), theme.good),
        Reachable::Tried { how: Reach::Unsure, text } => (format!("? {text}"), theme.warn),
        Reachable::Tried { how: Reach::No, text } => (format!("{FAILED} {text}"), theme.bad),
    }
}

/// The model's source, and the result of its reachability check if there is one.
pub fn why(model: &ModelState) -> String {
    let source = &model.spec.source;
    match &model.reachable {
        Reachable::Tried { how, text } if !model.spec.simulated => {
            let not = if *how == Reach::No { "not reachable: " } else { "" };
            format!("{source}: {not}{text}")
        }
        Reachable::Tried { .. } | Reachable::NotTried | Reachable::Trying { .. } => source.clone(),
    }
}
