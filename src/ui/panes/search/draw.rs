//! The rows of the tree.

use ratatui::{buffer::Buffer, layout::Rect, style::Style};

use super::tree::Order;
use super::{SPEC, selected};
use crate::domain::{
    ModelCallState, NodeEnd, NodeState, Reply, State, TaskState, ToolCallPhase, ToolCallState,
    strategy::STRATEGIES,
};
use crate::hits::{Hits, Target};
use crate::panes::row::{self, Row};
use crate::panes::{earlier_tasks, inline_json};
use crate::symbols::{DONE, FAILED, REFUSED, RUNNING, WAITING};
use crate::{cx::Cx, text, theme::Theme, vlist};

/// Columns for the end of a node, and for its votes.
const END: usize = 9;
const VOTES: usize = 8;
/// Cells of arguments that are worth building.
const ARGUMENTS: usize = 60;
/// Bytes of a thought that a line can show.
const THOUGHT: usize = 600;

pub fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let task = cx.view.task_of(cx.state);
    let Some(task) = task.filter(|task| !task.search.nodes.is_empty()) else {
        return empty(cx, area, buf);
    };
    let order = Order::of(&task.search);
    let votes = task.search.nodes.iter().any(|node| node.votes.is_some());
    let rows = (order.rows.len(), selected(cx.view, task, &order));
    let (area, before) = earlier_tasks::own(order.rows.len(), area);
    vlist::draw(cx, SPEC.id, (area, buf, hits), rows, |at, row| {
        let node = order.rows.get(at)?.node;
        let lines = order.lines(at, row.left() / 6);
        draw_node(cx, (task, node), (&lines, votes), row);
        Some(Target::Node(task.id, node.node))
    });
    let needs = |task: &TaskState| task.search.nodes.len();
    earlier_tasks::draw(cx, task, before, (buf, hits), needs, |task, area, buf| {
        let order = Order::of(&task.search);
        for (at, line) in area.rows().enumerate() {
            let mut row = Row::new(line, buf);
            let lines = order.lines(at, row.left() / 6);
            let Some(placed) = order.rows.get(at) else { return };
            draw_node(cx, (task, placed.node), (&lines, false), &mut row);
        }
    });
}

fn empty(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    let searching = STRATEGIES.iter().filter(|spec| spec.searches).map(|spec| spec.name);
    let strategies = searching.collect::<Vec<_>>().join(" and ");
    let said = format!("no search in this task: {strategies} search a tree (A chooses a strategy)");
    row::lines(area, text::wrap(&said, usize::from(area.width)), cx.theme.dim, buf);
}

/// Draws a node behind the lines of its tree; `votes`: some node of the tree has votes.
fn draw_node(
    cx: &Cx<'_>,
    (task, node): (&TaskState, &NodeState),
    (lines, votes): (&str, bool),
    row: &mut Row<'_>,
) {
    let theme = cx.theme;
    let here = task.search.at == node.node;
    row.cell(if here { RUNNING } else { "" }, 2, theme.graph_here);
    row.put(lines, theme.dim);
    let style = if here { theme.graph_here } else { standing(theme, node) };
    row.put(&node.node.to_string(), style).gap(1);
    let call = call(cx.state, task, node);
    let (glyph, style) = result(theme, node, call);
    row.put(glyph, style).gap(1);
    let votes = if votes && row.left() > 30 + VOTES { VOTES + 1 } else { 0 };
    let end = if row.left() > 20 + END { END + 1 } else { 0 };
    let room = row.left().saturating_sub(votes + end);
    let text = words(cx.state, task, node);
    row.cell(&text, room, standing(theme, node));
    if votes > 0 {
        let votes = node.votes.map_or(String::new(), |votes| format!("{votes} votes"));
        row.gap(1).right(&votes, VOTES, theme.dim);
    }
    if end > 0 {
        row.gap(1).cell(node.end.map_or("", NodeEnd::name), END, standing(theme, node));
    }
}

/// The style of a node: an answer is highlighted, and a dead end is dim.
fn standing(theme: &Theme, node: &NodeState) -> Style {
    match node.end {
        None => theme.text,
        Some(NodeEnd::Answered) => theme.good,
        Some(NodeEnd::GaveUp | NodeEnd::TooDeep | NodeEnd::Exhausted | NodeEnd::Failed) => {
            theme.dim
        }
    }
}

/// The call that the agent decided on at a node.
fn call<'a>(state: &'a State, task: &TaskState, node: &NodeState) -> Option<&'a ToolCallState> {
    state.tool_call(task.step_of(node.node)?.call?)
}

/// The glyph and the style of the call's result.
fn result(theme: &Theme, node: &NodeState, call: Option<&ToolCallState>) -> (&'static str, Style) {
    let Some(call) = call else {
        return match node.end {
            Some(NodeEnd::Answered) => (DONE, theme.good),
            Some(NodeEnd::Failed) => (FAILED, theme.bad),
            Some(NodeEnd::GaveUp | NodeEnd::TooDeep | NodeEnd::Exhausted) => (REFUSED, theme.dim),
            None => (WAITING, theme.dim),
        };
    };
    match (&call.phase, call.helpful) {
        (ToolCallPhase::Requested | ToolCallPhase::Running, _) => (WAITING, theme.running),
        (ToolCallPhase::Refused { .. }, _) => (REFUSED, theme.warn),
        (ToolCallPhase::Failed { .. }, _) => (FAILED, theme.bad),
        (ToolCallPhase::Done { .. }, Some(true)) => (DONE, theme.good),
        (ToolCallPhase::Done { .. }, Some(false)) => (WAITING, theme.warn),
        (ToolCallPhase::Done { .. }, None) => ("=", theme.text),
    }
}

/// The decision at a node: the tool and its arguments, then the thought. Without a tool call, the thought or the
/// answer alone.
pub(super) fn words(state: &State, task: &TaskState, node: &NodeState) -> String {
    let answered = task.step_of(node.node).and_then(|step| state.model_call(step.model_call?));
    let reply = answered.and_then(ModelCallState::reply);
    let thought = text::start(reply.map_or("", Reply::said), THOUGHT);
    let Some(call) = call(state, task, node) else {
        let waiting = if node.end.is_none() { "not decided yet" } else { "" };
        return if thought.is_empty() { waiting.to_owned() } else { thought.to_owned() };
    };
    let arguments = inline_json::arguments(&call.arguments, ARGUMENTS);
    let what = match &call.phase {
        ToolCallPhase::Refused { reason, .. } => format!(" {REFUSED} {}", reason.name()),
        ToolCallPhase::Failed { error } => {
            format!(" {FAILED} {}", text::start(&error.text, THOUGHT))
        }
        ToolCallPhase::Requested | ToolCallPhase::Running | ToolCallPhase::Done { .. } => {
            String::new()
        }
    };
    let between = if thought.is_empty() { "" } else { " · " };
    format!("{}({arguments}){what}{between}{thought}", call.tool)
}
