//! The tools: the score of each, its trend, and the results of its calls. Tools that were used or scored come
//! first.

use ratatui::{buffer::Buffer, layout::Rect, style::Style, text::Line};

use super::row::{Row, note, split};
use super::spec::{Opened, PLAIN, PaneSpec};
use super::{format, glyph, position::Here, tool_order, trends};
use crate::action::Action;
use crate::change;
use crate::domain::{ClassAssignment, ClassedBy, State, ToolName, ToolState};
use crate::hits::{Hits, Target};
use crate::papers::toolnet::{WeightedEdge, Weights};
use crate::symbols::{CHOSEN, INJECTED, REFUSED};
use crate::table::{Cell, TableColumn, TextTable, left, right};
use crate::view::{Round, View};
use crate::vlist::{self, List};
use crate::{cx::Cx, pane::PaneId};
use crate::{text, theme::Theme};

/// Cells of two marks: off or gone, and an armed fault.
const MARKS: usize = 4;
/// The least and the most room for a name.
const NAME: (usize, usize) = (16, 28);
/// Cells of a description, if there is room for so many.
const DESCRIPTION: usize = 28;

/// Columns of a tool, the most important first; the last are left out first.
fn columns<'a>(state: &State) -> Vec<TableColumn<Tool<'a>>> {
    let called = [
        right("ok", 4, |tool: &Tool<'a>| count(tool, tool.tool.succeeded, tool.cx.theme.good)),
        right("fail", 4, |tool| count(tool, tool.tool.failed, tool.cx.theme.bad)),
        right("mean", 8, |tool| (text::span_if_any(tool.tool.mean_micros()), tool.cx.theme.text)),
    ];
    if state.watched.is_some() {
        // Nothing scores the tools of a watched agent, unless a person asks for it.
        let scored = right("score", 5, |tool: &Tool<'a>| {
            let score = tool.cx.state.learning.score(tool.name);
            (glyph::signed(score), signed_style(tool.cx.theme, score))
        });
        let scored = tool_order::is_scored(state).then_some(scored);
        let described = left("description", DESCRIPTION, |tool: &Tool<'a>| {
            (format!(" {}", tool.tool.spec.description), tool.cx.theme.text)
        });
        return scored.into_iter().chain(called).chain([described]).collect();
    }
    let scored = [
        right("score", 5, |tool: &Tool<'a>| {
            let score = tool.cx.state.learning.score(tool.name);
            (glyph::signed(score), signed_style(tool.cx.theme, score))
        }),
        left("trend", trends::SCORES, |tool| {
            (trends::scores(tool.cx.state, tool.name, tool.scale), tool.cx.theme.bar_fill)
        }),
        right("weight", 6, weight),
    ];
    let set = [
        right("cost", 6, |tool: &Tool<'a>| {
            (cost(tool.tool.spec.cost.map(Into::into)), tool.cx.theme.dim)
        }),
        left("class", 28, |tool| (class(tool.tool), tool.cx.theme.dim)),
        left("set by", 8, said_by),
    ];
    scored.into_iter().chain(called).chain(set).collect()
}

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Tools,
    most: |state, _| Some(state.tools.len() + 1),
    title,
    draw,
    list,
    filters: |_| Some("tool"),
    open: |_, _| Opened::Act(Action::InspectTool),
    why_not_remove: change::nothing_scored,
    remove: change::forget_score,
    keys: &[
        Action::Less,
        Action::More,
        Action::Switch,
        Action::Pin,
        Action::Sort,
        Action::Remove,
        Action::SetClass,
    ],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let tools = cx.state.tools.len();
    let sort = tool_order::of(cx.state, cx.view.sort).name();
    let source = match cx.state.watched.is_some() && tool_order::is_scored(cx.state) {
        true => " · scores by rules",
        false => "",
    };
    Line::from(format!(" {tools} · by {sort}{source}"))
}

type ToolEntry<'a> = (&'a ToolName, &'a ToolState);

/// The tool of each row, and the selected row.
fn rows<'a>(
    state: &'a State,
    view: &View,
) -> (impl Fn(usize) -> Option<ToolEntry<'a>> + 'a, (usize, Option<usize>)) {
    let order = tool_order::sorted(state, view.sort);
    let selected = view.tool.as_ref().and_then(|tool| state.tools.get_index_of(tool));
    let selected = selected.and_then(|i| order.iter().position(|place| *place == i));
    let place = (order.len(), selected);
    (move |row| state.tools.get_index(*order.get(row)?), place)
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let (tool, place) = rows(state, view);
    List::new(place, tool, |(name, _), view| view.tool = Some(name.clone()), text)
}

/// A tool that is drawn.
struct Tool<'a> {
    cx: &'a Cx<'a>,
    name: &'a ToolName,
    tool: &'a ToolState,
    weight: Option<WeightedEdge>,
    /// The scale shared by all trends: least and greatest score.
    scale: (f64, f64),
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    if cx.state.tools.is_empty() {
        return note(area, "no tools yet", cx.theme.dim, buf);
    }
    let (head, list) = split(area, u16::from(area.height > 2));
    let bar = cx.state.tools.len() > usize::from(list.height);
    let width = usize::from(area.width.saturating_sub(u16::from(bar)));
    let table = TextTable::fitting(columns(cx.state), width.saturating_sub(MARKS + NAME.0));
    let name_width = width.saturating_sub(MARKS + table.width).min(NAME.1);
    if !head.is_empty() {
        let mut row = Row::new(head, buf);
        row.gap(MARKS).cell("tool", name_width, cx.theme.dim);
        table.head(&mut row, cx.theme.dim);
        hits.add(head, Target::Action(Action::Sort));
    }
    let broken = cx.state.broken_tools();
    let (tool, rows) = rows(cx.state, cx.view);
    let visible = vlist::visible(cx, SPEC.id, list, rows);
    let tools: Vec<_> = visible.iter().filter_map(|row| tool(*row)).collect();
    let names: Vec<&str> = tools.iter().map(|(name, _)| name.as_str()).collect();
    // The edges to these tools from where the agent is.
    let weights = Weights::of(&cx.state.learning, &cx.state.knobs);
    let weights = weights.some(Here::of(cx.state).node(), &names);
    let scale = trends::score_scale(cx.state);
    let mut shown = tools.into_iter().zip(weights);
    vlist::draw(cx, SPEC.id, (list, buf, hits), rows, |_, row| {
        let ((name, tool), weight) = shown.next()?;
        let marks = (broken.contains(name), cx.state.breaks_at_tool(name));
        draw_marks(cx.theme, tool, marks, row);
        let style = if tool.is_offered() { cx.theme.text } else { cx.theme.dim };
        row.cell(&text::cut_middle(name.as_str(), name_width), name_width, style);
        table.cells(&Tool { cx, name, tool, weight, scale }, row);
        Some(Target::Tool(name.clone()))
    });
}

fn class(tool: &ToolState) -> String {
    tool.class.as_ref().map_or_else(String::new, ClassAssignment::name)
}

/// Draws the marks: off or gone, broken, and with a breakpoint.
fn draw_marks(theme: &Theme, tool: &ToolState, (broken, breaks): (bool, bool), row: &mut Row<'_>) {
    match (tool.present, tool.switched_on) {
        (false, _) => row.cell(REFUSED, 1, theme.dim),
        (true, false) => row.cell(REFUSED, 1, theme.warn),
        (true, true) if !tool.is_offered() => row.cell(REFUSED, 1, theme.warn),
        (true, true) if breaks => row.cell(CHOSEN, 1, theme.bad),
        (true, true) => row.gap(1),
    };
    row.cell(if broken { INJECTED } else { "" }, 2, theme.injected).gap(1);
}

fn weight(tool: &Tool<'_>) -> Cell {
    let theme = tool.cx.theme;
    let Some(WeightedEdge { weight, pinned, .. }) = &tool.weight else {
        return ("–".to_owned(), theme.dim);
    };
    let number = format::weight_format(&tool.cx.state.knobs).show(*weight);
    if *pinned { (format!("={number}"), theme.pinned) } else { (number, theme.text) }
}

fn said_by(tool: &Tool<'_>) -> Cell {
    let theme = tool.cx.theme;
    let by = tool.tool.class.as_ref().map(|class| class.by);
    let style = if by == Some(ClassedBy::User) { theme.user } else { theme.dim };
    (by.map_or("", ClassedBy::name).to_owned(), style)
}

fn count(tool: &Tool<'_>, n: u32, style: Style) -> Cell {
    (text::count(u64::from(n)), if n == 0 { tool.cx.theme.dim } else { style })
}

fn cost(credits: Option<f64>) -> String {
    match credits {
        Some(0.0) => "free".to_owned(),
        Some(credits) => credits.to_string(),
        None => "?".to_owned(),
    }
}

pub(super) fn signed_style(theme: &Theme, value: f64) -> Style {
    match value {
        _ if value > 0.0 => theme.good,
        _ if value < 0.0 => theme.warn,
        _ => theme.dim,
    }
}

/// The text of a tool that a search looks in.
fn text((name, tool): ToolEntry<'_>) -> String {
    format!("{name}\n{}", class(tool))
}
