//! The planner/solver pairs that ran tasks in all sessions of this workspace, with accuracy and cost: a row for each
//! pair (the paper on concurrent workers, table 4).

use std::cmp::Ordering;

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::configured::SIMULATED;
use crate::domain::{PairTally, Pairs, Player, State, pairs::Cost, words::counted};
use crate::panes::{format, row::Row};
use crate::symbols::DONE;
use crate::table::{Cell, TableColumn, TextTable, left, right};
use crate::view::{PairSort, Round};
use crate::{cx::Cx, text, theme::Theme};

/// The mark behind the best value of a column.
const BEST: &str = DONE;
/// The least and the most room for the name of a model.
const NAME: (usize, usize) = (6, 24);

/// Columns of a pair besides its models, the most important first; the last are left out first.
fn columns<'a>() -> [TableColumn<PairRow<'a>>; 6] {
    [
        left("strategy", 10, |shown| (shown.tally.pair.strategy.to_string(), shown.theme.text)),
        right("tasks", 5, |shown| (text::count(shown.tally.tasks), shown.theme.text)),
        right("accuracy", 8, accuracy),
        right("tokens", 6, |shown| {
            (text::count(shown.tally.tokens().round() as u64), shown.theme.text)
        }),
        right("steps", 5, |shown| (format!("{:.2}", shown.tally.steps()), shown.theme.text)),
        right("$/1,000", 11, cost),
    ]
}

/// The column of simulated models, which every table has.
fn simulated<'a>() -> TableColumn<PairRow<'a>> {
    left("", SIMULATED.len(), |shown| {
        let word = if shown.tally.pair.is_simulated() { SIMULATED } else { "" };
        (word.to_owned(), shown.theme.simulated)
    })
}

/// A pair that is drawn.
struct PairRow<'a> {
    theme: &'a Theme,
    tally: &'a PairTally,
    /// The best accuracy and the least cost of all pairs.
    best: (Option<f64>, Option<f64>),
}

/// The pairs in the order in which they are shown.
pub fn sorted(state: &State, sort: PairSort) -> Vec<&PairTally> {
    let mut pairs: Vec<&PairTally> = state.pairs.all().iter().collect();
    // Equal pairs stay in the order in which they were first tried.
    pairs.sort_by(|a, b| match sort {
        // Unknown values come last.
        PairSort::Accuracy => b.accuracy().unwrap_or(-1.0).total_cmp(&a.accuracy().unwrap_or(-1.0)),
        PairSort::Cost => dearness(a).partial_cmp(&dearness(b)).unwrap_or(Ordering::Equal),
        PairSort::Tokens => a.tokens().total_cmp(&b.tokens()),
        PairSort::Steps => a.steps().total_cmp(&b.steps()),
        PairSort::Tasks => b.tasks.cmp(&a.tasks),
        PairSort::Name => names(a).cmp(&names(b)),
    });
    pairs
}

/// A sort key: first how well the cost is known, then the cost.
fn dearness(tally: &PairTally) -> (u8, f64) {
    match tally.cost() {
        Cost::Known(dollars) => (0, dollars),
        Cost::AtLeast(dollars) => (1, dollars),
        Cost::Unknown => (2, 0.0),
    }
}

fn names(tally: &PairTally) -> (&str, &str, String) {
    let planner = tally.pair.planner.as_ref().map_or("", |planner| planner.model.as_str());
    (planner, tally.pair.solver.model.as_str(), tally.pair.strategy.to_string())
}

/// Draws a head and the rows from `first` on, as many as there is room for.
pub fn draw(cx: &Cx<'_>, pairs: &[&PairTally], first: usize, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let (theme, width) = (cx.theme, usize::from(area.width));
    let least = 2 * NAME.0 + 1 + SIMULATED.len() + 1;
    let table = TextTable::fitting(columns(), width.saturating_sub(least)).with(simulated());
    let name = (width.saturating_sub(table.width + 1) / 2).clamp(NAME.0, NAME.1);
    let mut head = Row::new(area, buf);
    head.cell("planner", name, theme.dim).gap(1).cell("solver", name, theme.dim);
    table.head(&mut head, theme.dim);
    let best = cx.state.pairs.best();
    for (line, tally) in area.rows().skip(1).zip(pairs.iter().skip(first)) {
        let mut row = Row::new(line, buf);
        draw_player(theme, tally.pair.planner.as_ref(), name, &mut row);
        row.gap(1);
        draw_player(theme, Some(&tally.pair.solver), name, &mut row);
        table.cells(&PairRow { theme, tally, best }, &mut row);
    }
}

/// The mark behind a number, or a blank as wide, and the number's style.
fn marked(theme: &Theme, best: bool) -> (&'static str, Style) {
    if best { (BEST, theme.good) } else { (" ", theme.text) }
}

fn accuracy(shown: &PairRow<'_>) -> Cell {
    let accuracy = shown.tally.accuracy();
    let (mark, style) = marked(shown.theme, accuracy.is_some() && accuracy == shown.best.0);
    let share = |share: f64| format!("{:.1}%{mark}", 100.0 * share);
    (accuracy.map_or("unknown".to_owned(), share), style)
}

fn cost(shown: &PairRow<'_>) -> Cell {
    let cost = shown.tally.cost();
    let is_best = matches!((cost, shown.best.1), (Cost::Known(a), Some(b)) if a == b);
    let (mark, style) = marked(shown.theme, is_best);
    let style = if matches!(cost, Cost::Known(_)) { style } else { shown.theme.warn };
    (format::per_thousand(cost) + mark, style)
}

fn draw_player(theme: &Theme, player: Option<&Player>, width: usize, row: &mut Row<'_>) {
    match player {
        Some(player) if player.simulated => row.cell(player.model.as_str(), width, theme.simulated),
        Some(player) => row.cell(player.model.as_str(), width, theme.accent),
        None => row.cell("–", width, theme.dim),
    };
}

/// The sources of a pair's models in words, to tell apart models of one name.
pub fn about(tally: &PairTally) -> String {
    let player = |player: &Player| format!("{} is {}", player.model, player.source);
    let solver = player(&tally.pair.solver);
    match &tally.pair.planner {
        Some(planner) if *planner != tally.pair.solver => format!("{}; {solver}", player(planner)),
        Some(_) | None => solver,
    }
}

/// The heading of the table.
pub fn heading(pairs: &Pairs, sort: PairSort) -> String {
    let tasks: u64 = pairs.all().iter().map(|tally| tally.tasks).sum();
    let tasks = counted(tasks, "task");
    format!("Planner and solver · {tasks} of all sessions here · by {} · {BEST} best", sort.name())
}
