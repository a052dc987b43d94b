//! The task as a whole: a bar of its budget, the levers of the budget plan, and the reason for the plan.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::{LEVERS, limit, mark, sheet::BudgetAreas};
use crate::domain::state::TaskBudget;
use crate::domain::{BudgetPlan, Knob, Matter, Spent, TaskState, words::counted};
use crate::hits::{Hits, Target};
use crate::panes::budget_words;
use crate::panes::format::credits;
use crate::panes::row::{self, Row};
use crate::symbols::{PLANNED, SPARE, SPENT, WAITING};
use crate::{action::Action, cx::Cx, text};

/// Cells for a knob's symbol and value.
const LABEL: (usize, usize) = (2, 5);

/// A part of the total bar: its glyph tells it apart without colours.
struct BudgetSegment {
    glyph: &'static str,
    credits: f64,
    words: String,
    style: Style,
}

pub(super) fn draw(cx: &Cx<'_>, sheet: &BudgetAreas, buf: &mut Buffer, hits: &mut Hits) {
    let task = cx.view.task_of(cx.state);
    let parts = parts(cx, task);
    total(cx, task, &parts, sheet.total, buf);
    mark(cx, LEVERS[0], sheet.total, buf, hits);
    legend(cx, task, &parts, sheet.legend, buf);
    if !sheet.tau.is_empty() {
        tau(cx, sheet.tau, buf);
        mark(cx, LEVERS[1], sheet.tau, buf, hits);
    }
    plan(cx, sheet, buf, hits);
}

fn parts(cx: &Cx<'_>, task: Option<&TaskState>) -> Vec<BudgetSegment> {
    let theme = cx.theme;
    let spent = task.map_or(Spent::default(), |task| task.budget.spent);
    let plan = task.and_then(|task| task.budget.plan.as_deref());
    // An ended task uses nothing more, even if more was planned.
    let open = task.filter(|task| task.outcome().is_none());
    let (ahead, more) = open.map_or((0.0, 0.0), |task| task.budget.ahead());
    let kept = open.filter(|task| !task.budget.closing).and(plan).map_or(0.0, |plan| *plan.reserve);
    let free = (limit(cx.state, task) - spent.total() - ahead - more - kept).max(0.0);
    let part = |glyph, name, of: &[(&str, f64)], sum, style| {
        let of = of.iter().filter(|(_, part)| *part > 0.0);
        let of: Vec<_> = of.map(|(name, part)| format!("{name} {}", credits(*part))).collect();
        let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
        BudgetSegment { glyph, credits: sum, words: format!("{name} {}{of}", credits(sum)), style }
    };
    let of = [("tools", *spent.tools), ("models", *spent.models), ("time", *spent.time)];
    // Without a plan nothing is planned ahead or reserved.
    let planned =
        part(PLANNED, "still planned", &[("reserved", kept)], ahead + kept, theme.planned);
    let spare = (more > 0.0).then(|| part(SPARE, "spare", &[], more, theme.planned));
    let spent = part(SPENT, "spent", &of, spent.total(), theme.bar_fill);
    let free = part(WAITING, "free", &[], free, theme.bar_empty);
    [Some(spent), plan.map(|_| planned), spare, Some(free)].into_iter().flatten().collect()
}

fn total(
    cx: &Cx<'_>,
    task: Option<&TaskState>,
    parts: &[BudgetSegment],
    line: Rect,
    buf: &mut Buffer,
) {
    let theme = cx.theme;
    let budget = cx.state.knobs.get(Knob::Budget);
    let (spent, limit) = (task.map_or(0.0, TaskState::credits), limit(cx.state, task));
    let (said, style) = match task.is_some_and(|task| task.is_over(limit)) {
        true => (format!("OVER by {}", credits(spent - limit)), theme.bad),
        false => (format!("{} left", credits(limit - spent)), theme.text),
    };
    let mut row = Row::new(line, buf);
    row.cell("B", LABEL.0, theme.accent).right(&credits(budget), LABEL.1, theme.title).gap(1);
    let width = row.left().saturating_sub(text::width(&said) + 1);
    if width >= 6 {
        bar(parts, limit, width, &mut row);
        row.gap(1);
    }
    row.put(&said, style);
}

/// Draws all parts as one bar of exactly `width` cells; if they exceed the budget, `┃` marks its end.
fn bar(parts: &[BudgetSegment], limit: f64, width: usize, row: &mut Row<'_>) {
    let sum: f64 = parts.iter().map(|part| part.credits).sum();
    let all = sum.max(limit);
    let cell = |credits: f64| match credits / all {
        share if share.is_finite() => ((share * width as f64).round() as usize).min(width),
        _ => 0,
    };
    let end =
        if sum > limit * (1.0 + 1e-9) && limit >= 0.0 { cell(limit).min(width - 1) } else { width };
    let (mut from, mut before) = (0, 0.0);
    for part in parts {
        before += part.credits;
        let to = cell(before).max(from);
        for at in from..to {
            row.put(if at == end { "┃" } else { part.glyph }, part.style);
        }
        from = to;
    }
    // Both the budget and the spent credits are 0.
    row.gap(width - from);
}

/// Draws the numbers of the bar and the assumed cost of unknown prices, on as many lines as the area has.
fn legend(
    cx: &Cx<'_>,
    task: Option<&TaskState>,
    parts: &[BudgetSegment],
    area: Rect,
    buf: &mut Buffer,
) {
    let theme = cx.theme;
    let numbers = parts.iter().map(|part| (part.glyph, part.style, part.words.clone()));
    let unpriced = task.filter(|task| task.unpriced > 0).map(|task| {
        let calls = counted(task.unpriced, "model call");
        let each = credits(cx.state.rates.model(None));
        ("!", theme.warn, format!("{calls} without a price, counted as {each} each"))
    });
    let mut pieces = numbers.chain(unpriced).peekable();
    for line in area.rows() {
        let mut row = Row::new(line, buf);
        let (mut gap, last) = (0, line.bottom() == area.bottom());
        let fits = |words: &str, row: &Row<'_>, gap| text::width(words) + 2 + gap <= row.left();
        while let Some((glyph, style, words)) =
            pieces.next_if(|(_, _, words)| gap == 0 || last || fits(words, &row, gap))
        {
            row.gap(gap).put(glyph, style).gap(1).put(&words, theme.text);
            gap = 2;
        }
    }
}

fn tau(cx: &Cx<'_>, line: Rect, buf: &mut Buffer) {
    let (theme, knobs) = (cx.theme, &cx.state.knobs);
    let show = |knob: Knob| knob.spec().show(knobs.get(knob));
    if cx.state.cannot(Matter::Knob(Knob::Tau)).is_some() {
        let mut row = Row::new(line, buf);
        row.cell("τ", LABEL.0, theme.dim).right(&show(Knob::Tau), LABEL.1, theme.dim);
        row.gap(1).put("no plan uses it", theme.dim);
        return;
    }
    let named = [
        format!("estimate {}", show(Knob::Estimate)),
        format!("blacklist {}", show(Knob::Blacklist)),
        format!("judge {}", show(Knob::Judge)),
    ];
    let said = named.join(", ");
    let mut row = Row::new(line, buf);
    row.cell("τ", LABEL.0, theme.accent).right(&show(Knob::Tau), LABEL.1, theme.title).gap(1);
    let width = row.left().saturating_sub(text::width(&said) + 2).min(24);
    if width >= 6 {
        // Tau goes from 0 to 1.
        row.bar(knobs.get(Knob::Tau), width, (theme.bar_fill, theme.bar_empty)).gap(2);
    }
    row.put(&said, theme.dim);
}

/// Whether the line about the plan has more than one row.
pub(super) fn is_long(cx: &Cx<'_>, width: u16) -> bool {
    let task = cx.view.task_of(cx.state);
    let planned = task.and_then(|task| Some((&task.budget, task.budget.plan.as_deref()?)));
    planned.is_some_and(|(budget, latest)| {
        text::width(&plan_words(cx, task, budget, latest)) > usize::from(width)
    })
}

fn plan_words(
    cx: &Cx<'_>,
    task: Option<&TaskState>,
    budget: &TaskBudget,
    latest: &BudgetPlan,
) -> String {
    let sums = budget_words::sums(latest, budget.before.as_deref());
    let beyond = task.and_then(|task| budget_words::beyond(cx.state, task));
    let beyond = beyond.map_or_else(String::new, |why| format!(" · {why}"));
    format!("plan {}: {sums}{beyond} · {}", budget.plans, budget.why)
}

fn plan(cx: &Cx<'_>, sheet: &BudgetAreas, buf: &mut Buffer, hits: &mut Hits) {
    let task = cx.view.task_of(cx.state);
    let theme = cx.theme;
    let planned = task.and_then(|task| Some((&task.budget, task.budget.plan.as_deref()?)));
    let Some((budget, latest)) = planned else {
        let why = match cx.state.strategy.btp {
            _ if cx.state.cannot(Matter::Strategy).is_some() => {
                "no budget plan, B is only reported"
            }
            true => "no budget plan yet: the next task begins with one",
            false => {
                "no budget plan, B is only reported: choose a strategy with +btp (<key:strategy>)"
            }
        };
        return row::wrapped(sheet.plan, &cx.keymap.fill(why), theme.dim, buf);
    };
    row::wrapped(sheet.plan, &plan_words(cx, task, budget, latest), theme.text, buf);
    hits.add(sheet.plan, Target::Action(Action::Open));
    row::wrapped(sheet.marginal, &budget_words::marginal(latest.marginal.as_ref()), theme.dim, buf);
}
