//! The name of a model with what must be known about it.

use crate::domain::{Aim, ModelState};
use crate::ui::symbols::INJECTED;
use crate::ui::{cx::Cx, panes::row::Row, text};

pub(super) const SIMULATED: &str = "SIMULATED";

/// Says that a fault waits for what is asked here, and gives the width that is left for the name.
pub(super) fn draw_mark(cx: &Cx<'_>, aim: &Aim<'_>, width: usize, row: &mut Row<'_>) -> usize {
    const MARK: usize = 2;
    if !cx.state.has_fault_on(aim) || width <= MARK {
        return width;
    }
    row.cell(INJECTED, MARK, cx.theme.injected);
    width - MARK
}

/// The model's name, and whether it is simulated: said once where the name says it already.
pub(super) fn draw_name(
    cx: &Cx<'_>,
    model: Option<&ModelState>,
    name: &str,
    width: usize,
    row: &mut Row<'_>,
) {
    let simulated = model.is_some_and(|model| model.spec.simulated);
    if !simulated {
        row.cell(name, width, cx.theme.accent);
        return;
    }
    let room = width.saturating_sub(SIMULATED.len() + 1);
    let shown = match text::width(name) {
        _ if name.eq_ignore_ascii_case(SIMULATED) => 0,
        wide => wide.min(room),
    };
    row.cell(name, shown, cx.theme.accent).gap(usize::from(shown > 0));
    let left = width - shown - usize::from(shown > 0);
    row.cell(SIMULATED, left, cx.theme.simulated);
}
