//! The list of tools: the spent and planned cost of each as a bar, and its numbers beside it.

use ratatui::{buffer::Buffer, layout::Rect};

use super::rows::{BudgetRows, BudgetTool};
use super::{LEVERS, SPEC};
use crate::domain::{BudgetPlan, PlannedTool, ToolName};
use crate::hits::{Hits, Target};
use crate::panes::format::{credits, worth};
use crate::panes::{glyph, row::Row};
use crate::symbols::{EDITED, PLANNED, REFUSED, RUNNING, SPARE, SPENT};
use crate::table::{Cell, TableColumn, TextTable, right};
use crate::{cx::Cx, text, vlist, vlist::ListSection};

/// Cells of two marks: banned, refused or running; and set by the user.
const MARKS: usize = 3;
/// The least and the most room for a name.
const NAME: (usize, usize) = (12, 24);
/// The least and the most room for a bar.
const BAR: (usize, usize) = (8, 30);
/// With this many cells left, there is room for words beside the numbers.
const WORDS: usize = 24;

/// Columns of a tool's numbers, the most important first; the last are left out first.
fn columns<'a>() -> [TableColumn<Tool<'a>>; 5] {
    [
        right("uses", 6, uses),
        right("cost", 6, cost),
        right("spent", 5, |tool| match tool.entry.done() {
            0 => tool.nothing(),
            _ => (credits(tool.entry.spent()), tool.cx.theme.text),
        }),
        right("was→", 5, |tool| change(tool).unwrap_or_else(|| tool.nothing())),
        right("value", 5, |tool| match tool.entry.planned {
            Some(planned) => (worth(*planned.value), tool.cx.theme.text),
            None => tool.nothing(),
        }),
    ]
}

/// A tool that is drawn.
struct Tool<'a> {
    cx: &'a Cx<'a>,
    rows: &'a BudgetRows<'a>,
    entry: &'a BudgetTool<'a>,
}

/// How the width is shared out.
struct Shares<'a> {
    name: usize,
    bar: usize,
    table: TextTable<Tool<'a>>,
    words: usize,
}

impl Shares<'_> {
    /// `longest`: width of the longest words of any tool.
    fn of(width: usize, longest: usize) -> Self {
        let room = width.saturating_sub(MARKS + NAME.0 + 1 + BAR.0);
        let table = TextTable::fitting(columns(), room);
        let name = NAME.0 + ((room - table.width) / 3).min(NAME.1 - NAME.0);
        let room = width.saturating_sub(MARKS + name + 1).saturating_sub(table.width);
        if room < BAR.0 + WORDS + 2 {
            return Self { name, bar: room, table, words: 0 };
        }
        // The reason why a tool was refused says more than a few cells of its bar.
        let bar = room.saturating_sub(longest.saturating_add(2)).clamp(BAR.0, BAR.1);
        Self { name, bar, table, words: room - bar - 2 }
    }
}

pub(super) fn draw(
    cx: &Cx<'_>,
    rows: &BudgetRows<'_>,
    (head, list): (Rect, Rect),
    selected: Option<usize>,
    buf: &mut Buffer,
    hits: &mut Hits,
) {
    if list.is_empty() {
        return;
    }
    let bar = rows.entries.len() > usize::from(list.height);
    // Only the first tools count: there may be thousands, and the important ones come first.
    let first = rows.entries.iter().take(usize::from(list.height));
    let longest = first.map(|entry| text::width(&words(cx, rows, entry))).max().unwrap_or(0);
    let shares = Shares::of(usize::from(list.width.saturating_sub(u16::from(bar))), longest);
    if !head.is_empty() {
        draw_head(cx, rows, &shares, head, buf);
    }
    let part = ListSection { first: LEVERS.len(), total: rows.entries.len(), selected };
    vlist::draw(cx, SPEC.id, (list, buf, hits), part, |at, row| {
        let entry = rows.entries.get(at)?;
        Tool { cx, rows, entry }.draw(&shares, row);
        Some(Target::Tool(entry.tool.clone()))
    });
}

fn draw_head(
    cx: &Cx<'_>,
    rows: &BudgetRows<'_>,
    shares: &Shares<'_>,
    line: Rect,
    buf: &mut Buffer,
) {
    let dim = cx.theme.dim;
    let mut row = Row::new(line, buf);
    let plain = format!("{SPENT} spent");
    let both = format!("{plain} {PLANNED} planned");
    let all = format!("{both} {SPARE} spare");
    let is_planned = rows.budget.plan.is_some();
    let fits = |words: &&String| is_planned && text::width(words) <= shares.bar;
    let bar = [&all, &both].into_iter().find(fits).unwrap_or(&plain);
    row.gap(MARKS).cell("tool", shares.name, dim).gap(1).cell(bar, shares.bar, dim);
    shares.table.head(&mut row, dim);
}

impl<'a> Tool<'a> {
    fn nothing(&self) -> Cell {
        ("–".to_owned(), self.cx.theme.dim)
    }

    fn draw(&self, shares: &Shares<'a>, row: &mut Row<'_>) {
        let Self { cx, rows, entry } = self;
        let (theme, name) = (cx.theme, entry.tool);
        let banned = rows.budget.blacklist.contains_key(name);
        let planned = entry.planned.is_some_and(|planned| planned.uses > 0);
        self.draw_marks(banned, row);
        let is_used = !banned && (planned || entry.done() > 0);
        let style = if is_used { theme.text } else { theme.dim };
        row.cell(name.as_str(), shares.name, style).gap(1);
        self.draw_bar(shares.bar, row);
        shares.table.cells(self, row);
        if shares.words > 0 {
            let style = if banned { theme.warn } else { theme.dim };
            row.gap(2).put(&words(cx, rows, entry), style);
        }
    }

    fn draw_marks(&self, banned: bool, row: &mut Row<'_>) {
        let theme = self.cx.theme;
        let running =
            self.cx.state.tool_calls_in_flight().any(|call| call.tool == *self.entry.tool);
        let refused = self.entry.ledger.is_some_and(|ledger| ledger.refused > 0);
        match (banned, running, refused) {
            (true, _, _) => row.cell(REFUSED, 1, theme.warn),
            (false, true, _) => row.cell(RUNNING, 1, theme.running),
            (false, false, true) => row.cell("!", 1, theme.warn),
            (false, false, false) => row.gap(1),
        };
        match self.entry.planned {
            Some(PlannedTool { set: true, .. }) => row.cell(EDITED, 1, theme.user),
            Some(_) | None => row.gap(1),
        };
        row.gap(1);
    }

    /// Draws the spent credits as fill, and the planned ones that are left as a line behind it.
    fn draw_bar(&self, width: usize, row: &mut Row<'_>) {
        let Self { cx, rows, entry } = self;
        let is_over = cx.view.task_of(cx.state).is_some_and(|task| task.outcome().is_some());
        let ahead = if is_over { (0.0, 0.0) } else { entry.ahead(rows.budget) };
        let (spent, (ahead, spare)) = (entry.spent(), ahead);
        let fill = glyph::bar(spent / rows.most, width);
        let filled = text::width(&fill);
        let cell = |credits: f64| match credits / rows.most * width as f64 {
            cells if cells.is_finite() => (cells.round() as usize).min(width),
            _ => 0,
        };
        // Planned credits are visible, however few they are.
        let planned = cell(spent + ahead).max((filled + usize::from(ahead > 0.0)).min(width));
        let end = cell(spent + ahead + spare).max((planned + usize::from(spare > 0.0)).min(width));
        row.put(&fill, cx.theme.bar_fill);
        row.put(&PLANNED.repeat(planned - filled), cx.theme.planned);
        row.put(&SPARE.repeat(end - planned), cx.theme.planned).gap(width - end);
    }
}

/// The uses that were made of those that the plan needs, and the spare ones that are left: `1/2+3`.
fn uses(tool: &Tool<'_>) -> Cell {
    let (done, left) = (tool.entry.done(), tool.entry.left(tool.rows.budget));
    let Some(planned) = tool.entry.planned else {
        let style = if done == 0 { tool.cx.theme.dim } else { tool.cx.theme.text };
        return (done.to_string(), style);
    };
    let budget = tool.rows.budget;
    let spare = left - budget.needed_left(planned).min(left);
    // Uses before this plan were needed by an earlier one; spare uses that were made are not.
    let since = budget.used.get(&planned.tool).copied().unwrap_or(0).min(done);
    let all = u64::from(done - since) + u64::from(planned.needed());
    let style = if all == 0 { tool.cx.theme.dim } else { tool.cx.theme.text };
    let spare = if spare > 0 { format!("+{spare}") } else { String::new() };
    (format!("{done}/{all}{spare}"), style)
}

/// The planned cost of one use.
fn cost(tool: &Tool<'_>) -> Cell {
    match tool.entry.planned {
        Some(planned) if is_undeclared(tool.cx, tool.entry.tool) => {
            (format!("{}?", credits(*planned.cost)), tool.cx.theme.warn)
        }
        Some(planned) => (credits(*planned.cost), tool.cx.theme.text),
        None => tool.nothing(),
    }
}

/// The uses of the previous plan and of this one, if they differ.
fn change(tool: &Tool<'_>) -> Option<Cell> {
    let theme = tool.cx.theme;
    let before = tool.rows.budget.before.as_ref();
    let uses = |plan: &BudgetPlan| plan.tool(tool.entry.tool.as_str()).map_or(0, |tool| tool.uses);
    let (old, new) = (before.map(|before| uses(before)), tool.entry.planned?.uses);
    match old {
        Some(old) if old < new => Some((format!("{old}→{new}"), theme.good)),
        Some(old) if old > new => Some((format!("{old}→{new}"), theme.warn)),
        Some(_) | None => None,
    }
}

fn is_undeclared(cx: &Cx<'_>, tool: &ToolName) -> bool {
    cx.state.tools.get(tool).is_some_and(|tool| tool.spec.cost.is_none())
}

/// All remarks on a tool, including a cost that it does not declare.
pub(super) fn words(cx: &Cx<'_>, rows: &BudgetRows<'_>, entry: &BudgetTool<'_>) -> String {
    let words = entry.words(rows.budget);
    if !is_undeclared(cx, entry.tool) {
        return words;
    }
    let own = credits(cx.state.rates.tool(None));
    let undeclared = format!("no declared cost, counted as {own}");
    if words.is_empty() { undeclared } else { format!("{words} · {undeclared}") }
}
