//! The areas of the pane's parts. In a low pane the most informative parts stay longest.

use ratatui::layout::{Constraint, Layout, Rect};

use super::rows::BudgetRows;

/// Tools that are shown before less important parts get a line.
const TOOLS: u16 = 4;
/// The most lines of the session's strip, including its heading and its marks.
pub(super) const STRIP: u16 = 6;

/// The parts, from the top down; parts without room are empty.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BudgetAreas {
    pub total: Rect,
    pub legend: Rect,
    pub tau: Rect,
    pub plan: Rect,
    pub marginal: Rect,
    /// The names of the list's columns.
    pub columns: Rect,
    pub list: Rect,
    /// All remarks on the selected tool.
    pub detail: Rect,
    /// The session so far.
    pub strip: Rect,
}

/// `most`: rows of the strip. `is_long`: whether the line about the plan has more than one row.
pub(super) fn parts(area: Rect, rows: &BudgetRows<'_>, most: u16, is_long: bool) -> BudgetAreas {
    let entries = u16::try_from(rows.entries.len().max(1)).unwrap_or(u16::MAX);
    let mut left = area.height;
    let list_needs = entries.min(TOOLS);
    // The total and one tool matter more than their explanations.
    let mut take = |wanted: u16, keep: u16| {
        let taken = wanted.min(left.saturating_sub(keep));
        left -= taken;
        taken
    };
    let narrow = area.width < 100;
    let total = take(1, 0);
    let legend = take(1, 1);
    let columns = take(1, 2);
    let tau = take(1, list_needs);
    let plan = take(1, list_needs);
    let detail = take(1, list_needs);
    // Without a plan, the value of more credits is unknown.
    let is_planned = rows.budget.plan.is_some();
    let marginal = if is_planned { take(1, list_needs) } else { 0 };
    let strip = take(most.min(1), list_needs);
    // Lines left over after the whole list go to more words, then to a higher strip.
    let legend = legend + if narrow { take(1, entries.min(6)) } else { 0 };
    let plan = plan + if plan > 0 && is_planned && is_long { take(1, entries.min(8)) } else { 0 };
    let detail = detail + if detail > 0 && is_planned { take(1, entries.min(10)) } else { 0 };
    let strip = strip + if strip > 0 { take(most - 1, entries.min(10)) } else { 0 };
    // Higher bars say more.
    let spare = if most > 1 && strip == most { left.saturating_sub(entries) } else { 0 };
    let (left, strip) = (left - spare, strip + spare);
    let heights = [total, legend, tau, plan, marginal, columns, left, detail, strip];
    let [total, legend, tau, plan, marginal, columns, list, detail, strip] =
        Layout::vertical(heights.map(Constraint::Length)).areas(area);
    BudgetAreas { total, legend, tau, plan, marginal, columns, list, detail, strip }
}
