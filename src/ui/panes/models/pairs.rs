//! Which models did the tasks of all sessions in this workspace, how well and at what cost, a row for each
//! pair of a planner and a solver (the paper on concurrent workers, table 4).

use std::cmp::Ordering;

use ratatui::{buffer::Buffer, layout::Rect};

use super::super::{format, row::Row};
use crate::domain::{PairTally, Pairs, Player, State, pairs::Cost};
use crate::ui::{pane::Cx, text, theme::Theme, view::PairSort};

/// Stands behind what no other pair does better.
const BEST: &str = "★";
/// The least and the most room for the name of a model.
const NAME: (usize, usize) = (6, 24);

/// What is shown of a pair, besides its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Strategy,
    Tasks,
    Accuracy,
    Tokens,
    Steps,
    Cost,
    Simulated,
}

/// With the width of each.
const COLUMNS: [(Column, &str, usize); 7] = [
    (Column::Strategy, "strategy", 10),
    (Column::Tasks, "tasks", 5),
    (Column::Accuracy, "accuracy", 8),
    (Column::Tokens, "tokens", 6),
    (Column::Steps, "steps", 5),
    (Column::Cost, "$/1,000", 11),
    (Column::Simulated, "", 9),
];

/// The pairs in the order in which they are shown.
pub fn sorted(state: &State, sort: PairSort) -> Vec<&PairTally> {
    let mut pairs: Vec<&PairTally> = state.pairs.all().iter().collect();
    // What is equal stays in the order in which it was first tried.
    pairs.sort_by(|a, b| match sort {
        PairSort::Accuracy => highest(a.accuracy(), b.accuracy()),
        PairSort::Cost => dearness(a).partial_cmp(&dearness(b)).unwrap_or(Ordering::Equal),
        PairSort::Tokens => a.tokens().total_cmp(&b.tokens()),
        PairSort::Steps => a.steps().total_cmp(&b.steps()),
        PairSort::Tasks => b.tasks.cmp(&a.tasks),
        PairSort::Name => names(a).cmp(&names(b)),
    });
    pairs
}

/// What is not known comes last.
fn highest(a: Option<f64>, b: Option<f64>) -> Ordering {
    let number = |share: Option<f64>| share.unwrap_or(-1.0);
    number(b).total_cmp(&number(a))
}

/// How well the cost is known, then how high it is.
fn dearness(tally: &PairTally) -> (u8, f64) {
    match tally.cost() {
        Cost::Known(dollars) => (0, dollars),
        Cost::AtLeast(dollars) => (1, dollars),
        Cost::Unknown => (2, 0.0),
    }
}

fn names(tally: &PairTally) -> (&str, &str, &str) {
    let planner = tally.pair.planner.as_ref().map_or("", |planner| planner.model.as_str());
    (planner, tally.pair.solver.model.as_str(), &tally.pair.strategy)
}

/// How wide a model's name is, and which columns fit behind two of them.
struct Fitting {
    name: usize,
    columns: Vec<(Column, &'static str, usize)>,
}

impl Fitting {
    fn new(width: usize) -> Self {
        let mut columns = COLUMNS.to_vec();
        let taken = |columns: &[(Column, &str, usize)]| -> usize {
            columns.iter().map(|(_, _, width)| width + 1).sum()
        };
        // That something is simulated must be seen wherever there is a table at all.
        while taken(&columns) + 2 * NAME.0 + 1 > width && columns.len() > 1 {
            let least = columns.iter().rposition(|(column, ..)| *column != Column::Simulated);
            columns.remove(least.unwrap_or(0));
        }
        let name = width.saturating_sub(taken(&columns) + 1) / 2;
        Self { name: name.clamp(NAME.0, NAME.1), columns }
    }
}

/// Draws a head and the rows from `first` on, as many as there is room for.
pub fn draw(cx: &Cx<'_>, pairs: &[&PairTally], first: usize, area: Rect, buf: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let fitting = Fitting::new(usize::from(area.width));
    draw_head(cx, &fitting, area, buf);
    let best = cx.state.pairs.best();
    for (y, tally) in (area.y + 1..area.bottom()).zip(pairs.iter().skip(first)) {
        draw_pair(cx.theme, &fitting, tally, best, Rect { y, height: 1, ..area }, buf);
    }
}

fn draw_head(cx: &Cx<'_>, fitting: &Fitting, line: Rect, buf: &mut Buffer) {
    let dim = cx.theme.dim;
    let mut row = Row::new(line, buf);
    row.cell("planner", fitting.name, dim).gap(1).cell("solver", fitting.name, dim);
    for (column, head, width) in &fitting.columns {
        row.gap(1);
        match column {
            Column::Strategy | Column::Simulated => row.cell(head, *width, dim),
            Column::Tasks | Column::Accuracy | Column::Tokens | Column::Steps | Column::Cost => {
                row.right(head, *width, dim)
            }
        };
    }
}

fn draw_pair(
    theme: &Theme,
    fitting: &Fitting,
    tally: &PairTally,
    (accuracy, cost): (Option<f64>, Option<f64>),
    line: Rect,
    buf: &mut Buffer,
) {
    let mut row = Row::new(line, buf);
    draw_player(theme, tally.pair.planner.as_ref(), fitting.name, &mut row);
    row.gap(1);
    draw_player(theme, Some(&tally.pair.solver), fitting.name, &mut row);
    let mark = |best: bool| if best { BEST } else { " " };
    let styled = |best: bool| if best { theme.good } else { theme.text };
    for (column, _, width) in &fitting.columns {
        row.gap(1);
        match column {
            Column::Strategy => row.cell(&tally.pair.strategy, *width, theme.text),
            Column::Tasks => row.right(&text::count(tally.tasks), *width, theme.text),
            Column::Accuracy => {
                let best = tally.accuracy().is_some() && tally.accuracy() == accuracy;
                let share = |share: f64| format!("{:.1}%{}", 100.0 * share, mark(best));
                let shown = tally.accuracy().map_or("unknown".to_owned(), share);
                row.right(&shown, *width, styled(best))
            }
            Column::Tokens => {
                row.right(&text::count(tally.tokens().round() as u64), *width, theme.text)
            }
            Column::Steps => row.right(&format!("{:.2}", tally.steps()), *width, theme.text),
            Column::Cost => {
                let known = tally.cost();
                let best = matches!((known, cost), (Cost::Known(a), Some(b)) if a == b);
                let style = match known {
                    Cost::Known(_) => styled(best),
                    Cost::AtLeast(_) | Cost::Unknown => theme.warn,
                };
                row.right(&(format::per_thousand(known) + mark(best)), *width, style)
            }
            Column::Simulated => {
                let word = if tally.pair.is_simulated() { super::SIMULATED } else { "" };
                row.cell(word, *width, theme.simulated)
            }
        };
    }
}

fn draw_player(theme: &Theme, player: Option<&Player>, width: usize, row: &mut Row<'_>) {
    match player {
        Some(player) if player.simulated => row.cell(player.model.as_str(), width, theme.simulated),
        Some(player) => row.cell(player.model.as_str(), width, theme.accent),
        None => row.cell("–", width, theme.dim),
    };
}

/// In words: where the models of a pair are, for who wants to know which `mine` that was.
pub fn about(tally: &PairTally) -> String {
    let player = |player: &Player| format!("{} is {}", player.model, player.source);
    let solver = player(&tally.pair.solver);
    match &tally.pair.planner {
        Some(planner) if *planner != tally.pair.solver => format!("{}; {solver}", player(planner)),
        Some(_) | None => solver,
    }
}

/// What the table is of, in words.
pub fn heading(pairs: &Pairs, sort: PairSort) -> String {
    let tasks: u64 = pairs.all().iter().map(|tally| tally.tasks).sum();
    let tasks = format::plural(usize::try_from(tasks).unwrap_or(usize::MAX), "task");
    format!("Planner and solver, {tasks} of all sessions here · by {} · {BEST} best", sort.name())
}
