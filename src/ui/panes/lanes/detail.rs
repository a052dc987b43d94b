//! The selected call in full: where it is, its arguments as pairs of name and value, its result, and the keys for it.

use ratatui::style::Style;
use ratatui::{buffer::Buffer, layout::Rect};

use super::rows::{LaneCall, LaneRow, LaneRows};
use super::words::LaneWords;
use crate::action::Action;
use crate::cx::Cx;
use crate::domain::misfit::misfit;
use crate::domain::words::counted;
use crate::domain::{Boundary, Hold, ModelCallPhase, ModelCallState, ToolCallPhase, ToolCallState};
use crate::marks;
use crate::pane::PaneId;
use crate::panes::format::gives_up;
use crate::panes::inline_json;
use crate::panes::row::Row;
use crate::symbols::{DONE, FAILED, INJECTED, LEADS};
use crate::text;

/// From this width on pairs stand in one line if they fit.
const WIDE: usize = 100;
/// The most lines of an argument, and of a result or an answer.
const VALUE: usize = 4;
const SAID: usize = 4;
/// Cells of the names of arguments.
const NAMES: usize = 16;
/// Cells before a line of the selected call.
const INDENT: usize = 2;

/// A line: text at the left, and keys at the right.
#[derive(Clone, Debug, Default)]
pub struct DetailLine {
    pub left: LaneWords,
    pub keys: Vec<(String, &'static str)>,
}

/// The lines about a call, at most `most`.
pub fn lines(
    cx: &Cx<'_>,
    rows: &LaneRows<'_>,
    lane: &LaneRow<'_>,
    width: u16,
    most: u16,
) -> Vec<DetailLine> {
    let (width, most) = (usize::from(width).saturating_sub(2 * INDENT), usize::from(most));
    let mut keys = keys(cx, lane);
    // A key in each line below the head; what is left over shares the last line, and takes half the width at most.
    let places = most.saturating_sub(1).max(1);
    let dealt = |keys: &[(String, &'static str)]| {
        let mut lines = vec![Vec::new(); keys.len().min(places)];
        for (at, key) in keys.iter().enumerate() {
            lines[at.min(places - 1)].push(key.clone());
        }
        lines
    };
    let widest = |lines: &[Vec<(String, &'static str)>]| {
        lines.iter().map(|keys| cells(keys)).max().unwrap_or(0)
    };
    while !keys.is_empty() && widest(&dealt(&keys)) > width / 2 {
        keys.pop();
    }
    let dealt = dealt(&keys);
    let left = width.saturating_sub(widest(&dealt) + 1);
    let mut words = Vec::new();
    match lane.call {
        LaneCall::Tool(call) => tool(cx, lane, call, (width, left), &mut words),
        LaneCall::Model(call) => model(cx, rows, call, (width, left), &mut words),
    }
    let hidden = words.len().saturating_sub(most);
    if hidden > 0 && most > 1 {
        words.truncate(most - 1);
        let open = cx.keymap.key(Action::Open).unwrap_or_default();
        let more = format!("  … {} more: {open}", counted(hidden + 1, "line"));
        words.push(vec![(more, cx.theme.dim)]);
    }
    words.truncate(most);
    words.resize(words.len().max((dealt.len() + 1).min(most)), LaneWords::new());
    let mut dealt = dealt.into_iter();
    let lines = words.into_iter().enumerate().map(|(at, left)| {
        let keys = if at > 0 { dealt.next() } else { None };
        DetailLine { left, keys: keys.unwrap_or_default() }
    });
    lines.collect()
}

/// Cells of keys with their words.
fn cells(keys: &[(String, &'static str)]) -> usize {
    keys.iter().map(|(key, what)| text::width(key) + what.len() + 3).sum()
}

/// Draws the lines.
pub fn draw(cx: &Cx<'_>, lines: &[DetailLine], area: Rect, buf: &mut Buffer) {
    let widest = lines.iter().map(|line| cells(&line.keys)).max().unwrap_or(0);
    for (line, rect) in lines.iter().zip(area.rows()) {
        let mut row = Row::new(rect, buf);
        row.gap(INDENT);
        for (piece, style) in &line.left {
            row.put(piece, *style);
        }
        if line.keys.is_empty() {
            continue;
        }
        let room = usize::from(rect.width).saturating_sub(widest + 1);
        let used = usize::from(row.x() - rect.x);
        row.gap(room.saturating_sub(used).max(1));
        for (key, what) in &line.keys {
            row.put(key, cx.theme.key).gap(1).put(what, cx.theme.text).gap(2);
        }
    }
}

fn tool(
    cx: &Cx<'_>,
    lane: &LaneRow<'_>,
    call: &ToolCallState,
    // The widths of the first line, and of the lines beside keys.
    (whole, width): (usize, usize),
    lines: &mut Vec<LaneWords>,
) {
    let theme = cx.theme;
    let mut head = vec![(text::cut_middle(call.tool.as_str(), whole), theme.title)];
    let (said, style) = whereabouts(cx, lane, call);
    head.push((said, style));
    head.extend(fit(cx, call));
    let pairs = inline_json::pairs(call.shown_arguments(), width * VALUE);
    let inline = pairs.join("   ");
    let used: usize = head.iter().map(|(piece, _)| text::width(piece)).sum();
    let is_inline = whole >= WIDE && used + 3 + text::width(&inline) <= whole;
    if is_inline {
        head.push((format!("   {inline}"), theme.text));
    }
    lines.push(head);
    if !is_inline {
        arguments(cx, call, width, lines);
    }
    let (sign, said, style) = match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => ("", "", theme.text),
        ToolCallPhase::Refused { why, .. } => (FAILED, why.as_str(), theme.warn),
        ToolCallPhase::Failed { error } => (FAILED, error.text.as_str(), theme.bad),
        ToolCallPhase::Done { output } => match output.text.trim() {
            "" => ("=", "(nothing)", theme.dim),
            text => ("=", text, theme.text),
        },
    };
    block(lines, (sign, style), (said, theme.text), width);
    if let Some(fault) = call.injected {
        let kind = cx.state.fault_kind(fault);
        lines.push(vec![(format!("{INJECTED} {kind} injected (fault {fault})"), theme.injected)]);
    }
}

/// Whether the arguments of a watched call fit the schema that its request gave: names and types only.
fn fit(cx: &Cx<'_>, call: &ToolCallState) -> Option<(String, Style)> {
    let tool = cx.state.tools.get(&call.tool).filter(|_| cx.state.watched.is_some())?;
    Some(match misfit(&tool.spec.parameters, call.shown_arguments()) {
        None => (" · schema ok".to_owned(), cx.theme.dim),
        Some(why) => (format!(" · {why}"), cx.theme.warn),
    })
}

/// Writes the arguments, a name in each line.
fn arguments(cx: &Cx<'_>, call: &ToolCallState, width: usize, lines: &mut Vec<LaneWords>) {
    let theme = cx.theme;
    let serde_json::Value::Object(map) = call.shown_arguments() else {
        let said = inline_json::arguments(call.shown_arguments(), width * VALUE);
        return block(lines, ("", theme.text), (&said, theme.text), width);
    };
    let names = map.keys().take(64).map(|name| text::width(name)).max().unwrap_or(0).min(NAMES);
    for (name, value) in map.iter().take(64) {
        let said = inline_json::value(value, width * VALUE);
        let room = width.saturating_sub(names + 4).max(1);
        for (at, line) in text::wrap_within(&said, room, VALUE).into_iter().enumerate() {
            let name = if at == 0 { text::cut_middle(name, names) } else { String::new() };
            let name = format!("  {}  ", text::fit(&name, names));
            lines.push(vec![(name, theme.dim), (line, theme.text)]);
        }
    }
}

/// Where a call is: held, with the agent, at its server, or back.
fn whereabouts(cx: &Cx<'_>, lane: &LaneRow<'_>, call: &ToolCallState) -> (String, Style) {
    let theme = cx.theme;
    if let Some(hold) = lane.hold(cx.state) {
        let held = cx.now.saturating_sub(hold.since);
        let waits =
            gives_up(cx.state, call.task, held).map_or(String::new(), |it| format!(", {it}"));
        let what = match (call.started, cx.state.watched.is_some()) {
            (None, true) => " has not left toolyard",
            (None, false) => " has not begun",
            (Some(_), _) => ": its result is held",
        };
        return (format!("{what}{waits}"), theme.paused);
    }
    if let Some(held) = lane.waits_for(cx.state) {
        let said = format!(" waits for #{held}: its agent gets all calls of an answer at once");
        return (said, theme.dim);
    }
    let decided = call.parent.and_then(|it| cx.state.model_call(it));
    let decided =
        decided.map_or(String::new(), |it| format!(" · decided by model call #{}", it.id));
    (decided, theme.dim)
}

fn model(
    cx: &Cx<'_>,
    rows: &LaneRows<'_>,
    call: &ModelCallState,
    (whole, width): (usize, usize),
    lines: &mut Vec<LaneWords>,
) {
    let theme = cx.theme;
    let mut head = vec![(text::cut_middle(call.model.as_str(), whole), theme.title)];
    let messages = counted(call.request.messages.len(), "message");
    let tools = counted(call.request.tools.len(), "tool");
    head.push((format!(" · #{} · {messages}, {tools}", call.id), theme.text));
    if let Some(dollars) = call.dollars {
        head.push((format!(" · ${:.4}", *dollars), theme.text));
    }
    lines.push(head);
    for mark in rows.state.marks(call.id) {
        lines.push(vec![(format!("! {}", marks::short(&mark)), theme.warn)]);
    }
    match &call.phase {
        ModelCallPhase::Requested => {}
        ModelCallPhase::Running => {
            block(lines, ("", theme.text), (call.partial.trim(), theme.text), width);
        }
        ModelCallPhase::Failed { error } => {
            block(lines, (FAILED, theme.bad), (&error.text, theme.text), width);
        }
        ModelCallPhase::Done { reply } => {
            block(lines, (DONE, theme.good), (reply.text.trim(), theme.text), width);
            for asked in reply.calls.iter().take(SAID) {
                let arguments = inline_json::arguments(&asked.arguments, width);
                let said = format!("{}({arguments})", asked.tool);
                block(lines, (LEADS, theme.accent), (&said, theme.text), width);
            }
        }
    }
}

/// Adds a text behind its sign, in a few lines; nothing for an empty text.
fn block(
    lines: &mut Vec<LaneWords>,
    (sign, style): (&str, Style),
    (said, text): (&str, Style),
    width: usize,
) {
    if said.is_empty() {
        return;
    }
    let room = width.saturating_sub(2).max(1);
    for (at, line) in text::wrap_within(said, room, SAID).into_iter().enumerate() {
        let sign = if at == 0 { text::fit(sign, 2) } else { "  ".to_owned() };
        lines.push(vec![(sign, style), (line, text)]);
    }
}

/// The keys for a call, with what they do to it now.
fn keys(cx: &Cx<'_>, lane: &LaneRow<'_>) -> Vec<(String, &'static str)> {
    // Without the keyboard the pane's own keys mean something else.
    if cx.view.focus != PaneId::Calls {
        return Vec::new();
    }
    let is_model = matches!(lane.call, LaneCall::Model(_));
    let is_over = lane.effect().is_over();
    let before =
        |hold: &Hold| matches!(hold.boundary, Boundary::BeforeToolCall | Boundary::BeforeModelCall);
    let actions: &[(Action, &str)] = match lane.hold(cx.state) {
        Some(hold) if before(hold) && is_model => &[
            (Action::Edit, "edit this prompt"),
            (Action::Answer, "answer in the model's place"),
            (Action::RunOrPause, "let it go"),
            (Action::Remove, "refuse it"),
        ],
        Some(hold) if before(hold) => &[
            (Action::Edit, "edit these arguments"),
            (Action::Answer, "answer in the tool's place"),
            (Action::RunOrPause, "let it go"),
            (Action::Remove, "refuse it"),
        ],
        Some(_) => &[(Action::Edit, "edit what came back"), (Action::RunOrPause, "let it go")],
        None if is_over && is_model => {
            &[(Action::Prompt, "prompt"), (Action::Open, "open"), (Action::Fail, "fail the next")]
        }
        None if is_over => &[
            (Action::Open, "open"),
            (Action::Fail, "fail the next"),
            (Action::Breakpoint, "break here"),
        ],
        None => &[
            (Action::Breakpoint, "break here"),
            (Action::Prompt, "prompt"),
            (Action::Remove, "cancel"),
        ],
    };
    let known = actions
        .iter()
        .filter_map(|(action, what)| Some((cx.keymap.key(*action)?.to_owned(), *what)));
    known.collect()
}
