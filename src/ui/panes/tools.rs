//! The tools: what each has been found to be worth, how that went, and what its calls came to. Those
//! that were used or scored come first.

use std::collections::HashSet;

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::{PLAIN, PaneSpec, format, glyph, position::Here, row::Row, tool_order::Order};
use crate::domain::{Classed, ClassedBy, State, ToolName, ToolState};
use crate::papers::toolnet::Weighted;
use crate::ui::hits::{Hits, Target};
use crate::ui::pane::{Cx, PaneId};
use crate::ui::vlist::{self, List};
use crate::ui::{action::Action, text, theme::Theme, update::act, view::View};

/// Off or gone, and a fault that is armed.
const MARKS: usize = 4;
/// The least and the most room for a name.
const NAME: (usize, usize) = (16, 28);

/// What is shown of a tool, from what matters most to what is left out first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Score,
    Last,
    Trend,
    Weight,
    Succeeded,
    Failed,
    Mean,
    Cost,
    Class,
    /// Who says of which class it is.
    Said,
}

/// With the width of each.
const COLUMNS: [(Column, &str, usize); 10] = [
    (Column::Score, "score", 5),
    (Column::Last, "last", 4),
    (Column::Trend, "trend", 8),
    (Column::Weight, "weight", 6),
    (Column::Succeeded, "ok", 4),
    (Column::Failed, "fail", 4),
    (Column::Mean, "mean", 8),
    (Column::Cost, "cost", 6),
    (Column::Class, "class", 28),
    (Column::Said, "said by", 8),
];

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Tools,
    name: "Tools",
    title,
    draw,
    list,
    open: |world, view| act(world, view, Action::InspectTool),
    keys: &[
        Action::Break,
        Action::EditScore,
        Action::SwitchTool,
        Action::InspectTool,
        Action::SetClass,
        Action::Find,
    ],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let tools = cx.state.tools.len();
    let sort = cx.view.sort.name();
    Line::from(format!("{} {tools} · by {sort}", SPEC.name))
}

type Tool<'a> = (&'a ToolName, &'a ToolState);

/// The tool in each row, and which row is selected.
fn rows<'a>(
    state: &'a State,
    view: &View,
) -> (impl Fn(usize) -> Option<Tool<'a>> + 'a, (usize, Option<usize>)) {
    let order = Order::new(state, view.sort);
    let selected = view.tool.as_ref().and_then(|tool| state.tools.get_index_of(tool));
    let place = (order.len(), selected.and_then(|i| order.row(i)));
    (move |row| state.tools.get_index(order.at(row)?), place)
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let (tool, place) = rows(state, view);
    List::new(place, tool, |(name, _), view| view.tool = Some(name.clone()), text)
}

/// What all rows of a frame have in common.
struct Shown<'a> {
    cx: &'a Cx<'a>,
    broken: HashSet<&'a ToolName>,
    columns: &'a [(Column, &'static str, usize)],
    name: usize,
}

impl<'a> Shown<'a> {
    fn new(cx: &'a Cx<'a>, width: usize) -> Self {
        let mut room = width.saturating_sub(MARKS + NAME.0);
        let fitting = COLUMNS.iter().take_while(|(_, _, width)| {
            let fits = room > *width;
            room = room.saturating_sub(width + 1);
            fits
        });
        let columns = &COLUMNS[..fitting.count()];
        let taken: usize = columns.iter().map(|(_, _, width)| width + 1).sum();
        Self {
            cx,
            broken: cx.state.broken_tools(),
            columns,
            name: width.saturating_sub(MARKS + taken).min(NAME.1),
        }
    }
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.tools.is_empty() {
        Row::new(area, buf).put("no tools yet", cx.theme.dim);
        return;
    }
    let head = u16::from(area.height > 2);
    let list = Rect { y: area.y + head, height: area.height - head, ..area };
    let bar = cx.state.tools.len() > usize::from(list.height);
    let shown = Shown::new(cx, usize::from(area.width.saturating_sub(u16::from(bar))));
    if head > 0 {
        draw_head(&shown, area, buf);
        hits.add(Rect { height: head, ..area }, Target::Action(Action::SortTools));
    }
    let (tool, rows) = rows(cx.state, cx.view);
    let visible = vlist::window(cx, SPEC.id, list, rows).range();
    let tools: Vec<_> = visible.clone().filter_map(tool).collect();
    let weights = weights(cx.state, &tools);
    vlist::draw(cx, SPEC.id, (list, buf, hits), rows, |row, line, buf, hits| {
        let at = row - visible.start;
        if let Some((name, tool)) = tools.get(at) {
            let weight = weights.get(at).and_then(Option::as_ref);
            draw_tool(&shown, (name, tool), weight, line, buf);
            hits.add(line, Target::Tool((*name).clone()));
        }
    });
}

/// The edges to these tools from where the agent is.
fn weights(state: &State, tools: &[(&ToolName, &ToolState)]) -> Vec<Option<Weighted>> {
    let names: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
    state.learning.weights(&state.knobs).some(Here::of(state).node(), &names)
}

fn draw_head(shown: &Shown<'_>, line: Rect, buf: &mut Buffer) {
    let dim = shown.cx.theme.dim;
    let mut row = Row::new(line, buf);
    row.gap(MARKS).cell("tool", shown.name, dim);
    for (column, head, width) in shown.columns {
        row.gap(1);
        match column {
            Column::Trend | Column::Class | Column::Said => row.cell(head, *width, dim),
            Column::Score
            | Column::Last
            | Column::Weight
            | Column::Succeeded
            | Column::Failed
            | Column::Mean
            | Column::Cost => row.right(head, *width, dim),
        };
    }
}

fn draw_tool(
    shown: &Shown<'_>,
    (name, tool): (&ToolName, &ToolState),
    weight: Option<&Weighted>,
    line: Rect,
    buf: &mut Buffer,
) {
    let cx = shown.cx;
    let theme = cx.theme;
    let mut row = Row::new(line, buf);
    draw_marks(theme, tool, shown.broken.contains(name), &mut row);
    let found = cx
        .view
        .needle(SPEC.id)
        .is_some_and(|needle| text((name, tool)).to_lowercase().contains(needle));
    let style = match (found, tool.is_offered()) {
        (true, _) => theme.found,
        (false, true) => theme.text,
        (false, false) => theme.dim,
    };
    row.cell(name.as_str(), shown.name, style);
    let points = cx.state.learning.history.get(name);
    for (column, _, width) in shown.columns {
        row.gap(1);
        match column {
            Column::Score => {
                let score = cx.state.learning.score(name);
                row.right(&glyph::signed(score), *width, signed_style(theme, score));
            }
            Column::Last => draw_last(cx, name, *width, &mut row),
            Column::Trend => {
                // Before its first score every tool stands at 0.
                let scores = points.into_iter().flatten().map(|point| point.score);
                let values = points.map(|_| 0.0).into_iter().chain(scores);
                row.cell(&glyph::spark(values, *width), *width, theme.bar_fill);
            }
            Column::Weight => draw_weight(cx, weight, *width, &mut row),
            Column::Succeeded => {
                count(&mut row, tool.succeeded, *width, theme.good, theme);
            }
            Column::Failed => count(&mut row, tool.failed, *width, theme.bad, theme),
            Column::Mean => {
                row.right(&mean(tool), *width, theme.text);
            }
            Column::Cost => {
                row.right(&cost(tool.spec.cost), *width, theme.dim);
            }
            Column::Class => {
                row.cell(&class(tool), *width, theme.dim);
            }
            Column::Said => {
                let by = tool.class.as_ref().map(|class| class.by);
                let style = if by == Some(ClassedBy::User) { theme.user } else { theme.dim };
                row.cell(by.map_or("", ClassedBy::name), *width, style);
            }
        }
    }
}

fn class(tool: &ToolState) -> String {
    tool.class.as_ref().map_or_else(String::new, Classed::name)
}

fn draw_marks(theme: &Theme, tool: &ToolState, broken: bool, row: &mut Row<'_>) {
    match (tool.present, tool.switched_on) {
        (false, _) => row.cell("†", 1, theme.dim),
        (true, false) => row.cell("⊘", 1, theme.warn),
        (true, true) => row.gap(1),
    };
    row.cell(if broken { "⚡" } else { "" }, 2, theme.injected).gap(1);
}

/// What the last evaluation or edit did to the score.
fn draw_last(cx: &Cx<'_>, name: &ToolName, width: usize, row: &mut Row<'_>) {
    let points = cx.state.learning.history.get(name).map_or(&[][..], Vec::as_slice);
    let Some((last, before)) = points.split_last() else {
        row.gap(width);
        return;
    };
    let change = last.score - before.last().map_or(0.0, |point| point.score);
    let arrow = match change {
        _ if change > 0.0 => "▲",
        _ if change < 0.0 => "▼",
        _ => "",
    };
    let size = glyph::signed(change.abs());
    let text = format!("{arrow}{}", size.trim_start_matches('+'));
    row.right(&text, width, signed_style(cx.theme, change));
}

fn draw_weight(cx: &Cx<'_>, edge: Option<&Weighted>, width: usize, row: &mut Row<'_>) {
    let Some(Weighted { weight, pinned, .. }) = edge else {
        row.right("–", width, cx.theme.dim);
        return;
    };
    let number = format::weight_format(&cx.state.knobs).show(*weight);
    let style = if *pinned { cx.theme.pinned } else { cx.theme.text };
    row.right(&if *pinned { format!("={number}") } else { number }, width, style);
}

fn count(row: &mut Row<'_>, n: u32, width: usize, style: Style, theme: &Theme) {
    let style = if n == 0 { theme.dim } else { style };
    row.right(&text::count(u64::from(n)), width, style);
}

fn mean(tool: &ToolState) -> String {
    let ended = u64::from(tool.succeeded + tool.failed);
    tool.micros.checked_div(ended).map_or_else(|| "–".to_owned(), text::span)
}

fn cost(credits: Option<f64>) -> String {
    match credits {
        Some(0.0) => "free".to_owned(),
        Some(credits) => credits.to_string(),
        None => "?".to_owned(),
    }
}

fn signed_style(theme: &Theme, value: f64) -> Style {
    match value {
        _ if value > 0.0 => theme.good,
        _ if value < 0.0 => theme.bad,
        _ => theme.dim,
    }
}

/// What can be found of a tool.
fn text((name, tool): Tool<'_>) -> String {
    format!("{name}\n{}", class(tool))
}
