//! The words of a lane: its name, the line beside it, and its state.

use ratatui::style::Style;

use super::rows::{LaneCall, LaneRow};
use crate::cx::Cx;
use crate::domain::{
    Finish, ModelCallPhase, ModelCallState, State, ToolCallPhase, ToolCallState, words::counted,
};
use crate::panes::calls::status;
use crate::panes::inline_json;
use crate::symbols::{DONE, EDITED, FAILED, HELD, INJECTED, RUNNING, WAITING};
use crate::text;
use crate::theme::Theme;

/// LaneWords of a line, each with its style.
pub type LaneWords = Vec<(String, Style)>;

/// The inputs for the words of a lane.
#[derive(Clone, Copy)]
pub struct At<'a> {
    pub state: &'a State,
    pub theme: &'a Theme,
    /// Microseconds since the session was opened.
    pub now: u64,
}

impl<'a> At<'a> {
    pub fn of(cx: &Cx<'a>) -> Self {
        Self { state: cx.state, theme: cx.theme, now: cx.now }
    }
}

/// `model` for a watched agent, else the role of the call; or the tool.
pub fn name<'a>(state: &State, row: &LaneRow<'a>) -> &'a str {
    match row.call {
        LaneCall::Model(_) if state.watched.is_some() => "model",
        LaneCall::Model(call) => call.role.name(),
        LaneCall::Tool(call) => call.tool.as_str(),
    }
}

/// The line beside the name in about `cells` cells: the model with its tokens, or the arguments. `is_named`: arguments
/// have their names.
pub fn beside(row: &LaneRow<'_>, cells: usize, is_named: bool) -> String {
    match row.call {
        LaneCall::Model(call) => used(call, cells),
        LaneCall::Tool(call) if is_named => {
            inline_json::pairs(call.shown_arguments(), cells).join(", ")
        }
        LaneCall::Tool(call) => inline_json::values(call.shown_arguments(), cells),
    }
}

/// `gpt-5-mini  259→91 tok · 71 % cached`; without the cache where that does not fit.
fn used(call: &ModelCallState, cells: usize) -> String {
    let Some(usage) = call.usage() else { return call.model.to_string() };
    let about = if usage.estimated { "≈" } else { "" };
    let (sent, got) = (text::count(usage.tokens_in), text::count(usage.tokens_out));
    let cached = match usage.cached {
        0 => String::new(),
        cached => format!(" · {} % cached", 100 * cached / usage.tokens_in.max(1)),
    };
    let said = format!("{}  {about}{sent}→{got} tok", call.model);
    if text::width(&said) + text::width(&cached) <= cells { said + &cached } else { said }
}

/// The beginning of what came back: an answer, a result or an error.
pub fn note(row: &LaneRow<'_>, cells: usize) -> String {
    let said = match row.call {
        LaneCall::Tool(call) => call.observation().unwrap_or_default(),
        LaneCall::Model(call) => match &call.phase {
            ModelCallPhase::Done { reply } => reply.said(),
            ModelCallPhase::Failed { error } => &error.text,
            ModelCallPhase::Requested | ModelCallPhase::Running => &call.partial,
        },
    };
    let words = text::start(said, 4 * cells).split_whitespace();
    words.collect::<Vec<_>>().join(" ")
}

/// The state of a lane, with a mark if a person has edited its call.
pub fn state(cx: At<'_>, row: &LaneRow<'_>) -> LaneWords {
    let mut words = standing(cx, row);
    if row.effect().edits > 0 {
        words.insert(0, (format!("{EDITED} "), cx.theme.user));
    }
    words
}

fn standing(cx: At<'_>, row: &LaneRow<'_>) -> LaneWords {
    let theme = cx.theme;
    if row.hold(cx.state).is_some() {
        return vec![(format!("{HELD} held #{}", row.effect().id), theme.paused)];
    }
    if let Some(held) = row.waits_for(cx.state) {
        return vec![(format!("{WAITING} waits for #{held}"), theme.dim)];
    }
    let took = text::span(row.took(cx.state, cx.now));
    match row.call {
        LaneCall::Model(call) => of_model(cx, call, took),
        LaneCall::Tool(call) => of_tool(cx, row, call, took),
    }
}

fn of_model(cx: At<'_>, call: &ModelCallState, took: String) -> LaneWords {
    let theme = cx.theme;
    let injected = call.injected.map(|fault| cx.state.fault_kind(fault));
    let done = |sign: &'static str, style: Style, word: String| {
        vec![
            (format!("{took} "), theme.text),
            (sign.to_owned(), style),
            (format!(" {word}"), theme.text),
        ]
    };
    match (&call.phase, injected) {
        (ModelCallPhase::Requested, _) => vec![(format!("{WAITING} queued"), theme.warn)],
        (ModelCallPhase::Running, _) => {
            let what = if call.partial.is_empty() { "asked" } else { "answers" };
            vec![(format!("{RUNNING} {what} {took}"), theme.running)]
        }
        (_, Some(kind)) => vec![(format!("{INJECTED} {kind} injected"), theme.injected)],
        (ModelCallPhase::Done { reply }, None) if reply.finish.is_cut() => {
            let word = if reply.finish == Finish::Filtered { "filtered" } else { "cut off" };
            done("!", theme.warn, word.to_owned())
        }
        (ModelCallPhase::Done { reply }, None) => {
            let marks = !cx.state.marks(call.id).is_empty();
            let (sign, style) = if marks { ("!", theme.warn) } else { (DONE, theme.good) };
            done(
                sign,
                style,
                match reply.calls.len() {
                    0 => "answer".to_owned(),
                    calls => counted(calls, "call"),
                },
            )
        }
        (ModelCallPhase::Failed { error }, None) => {
            vec![(format!("{FAILED} {}", status::model_failure(error.kind)), theme.bad)]
        }
    }
}

fn of_tool(cx: At<'_>, row: &LaneRow<'_>, call: &ToolCallState, took: String) -> LaneWords {
    let theme = cx.theme;
    let status = status::of_call(call, None, theme);
    if let (Some(fault), true) = (call.injected, call.is_over()) {
        let words = format!("{INJECTED} {} injected", cx.state.fault_kind(fault));
        return vec![(words, theme.injected)];
    }
    let is_away = cx.state.watched.is_some() && call.wire_id.is_some();
    match &call.phase {
        ToolCallPhase::Running if is_away && call.injected.is_none() => {
            let relayed = call.relayed.as_ref().filter(|relayed| relayed.ran.is_none());
            let who = if relayed.is_some() { "at its server" } else { "with the agent" };
            vec![(format!("{RUNNING} {who}"), theme.running)]
        }
        ToolCallPhase::Running => {
            vec![(format!("{} {} {took}", status.glyph, status.word), status.style)]
        }
        ToolCallPhase::Done { .. } if row.is_back_together() => {
            let calls = row.answer.len();
            let all = if calls == 2 { "both back".to_owned() } else { format!("all {calls} back") };
            match row.place() {
                0 => vec![(DONE.to_owned(), theme.good), (format!(" {all}"), theme.text)],
                1 => vec![(format!("  after {took}"), theme.text)],
                _ => vec![(DONE.to_owned(), theme.good)],
            }
        }
        ToolCallPhase::Done { .. } => {
            let word = if status.word == "ok" { "" } else { status.word };
            vec![
                (format!("{took} "), theme.text),
                (status.glyph.to_owned(), status.style),
                (format!(" {word}"), theme.text),
            ]
        }
        ToolCallPhase::Failed { .. } => vec![
            (format!("{took} "), theme.text),
            (format!("{} {}", status.glyph, status.word), status.style),
        ],
        ToolCallPhase::Requested | ToolCallPhase::Refused { .. } => {
            vec![(format!("{} {}", status.glyph, status.word), status.style)]
        }
    }
}

/// The text that a search looks in: name, arguments or model, result or answer, and state.
pub fn text(state: &State, row: &LaneRow<'_>) -> String {
    let at = At { state, theme: Theme::of_words(), now: state.at };
    let (given, found) = match row.call {
        LaneCall::Model(call) => (
            used(call, usize::MAX),
            call.reply().map_or("", |reply| reply.text.as_str()).to_owned(),
        ),
        LaneCall::Tool(call) => {
            (call.arguments.to_string(), call.observation().unwrap_or_default().to_owned())
        }
    };
    let stands: String = self::state(at, row).into_iter().map(|(text, _)| text).collect();
    [name(state, row), &given, &found, &stands].join("\n")
}
