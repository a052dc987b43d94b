//! The messages of the selected model call, the newest first: the top says what the model has just been told. The page of
//! the call has the whole prompt.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use super::row::{Row, note, wrapped};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{ModelCallState, State, tokens, words::counted};
use crate::hits::{Hits, Target};
use crate::layout::Size;
use crate::{cx::Cx, pane::PaneId, popups::Subject, text, view::View};

/// Cells of a message's kind.
const KIND: u16 = 16;
/// The most lines of a message that the request before had, too.
const OLD: usize = 2;

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Prompt,
    // Smaller screens have more urgent things to show, until a person asks for it.
    when: |state, view| state.watched.is_some() && view.layouts.size() == Size::Giant,
    title,
    draw,
    open: |state, view| Opened::subject(view.model_call(state).map(Subject::Prompt)),
    why_not_adjust: |_, _| Some("a prompt is edited at its call, before it is sent"),
    ..PLAIN
};

fn call<'a>(state: &'a State, view: &View) -> Option<&'a ModelCallState> {
    state.model_call(view.model_call(state)?)
}

/// The number of messages that the request before had, too.
fn known(state: &State, call: &ModelCallState) -> usize {
    let before = state.call_before(call);
    before.map_or(0, |before| call.request.messages.same(&before.request.messages))
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(call) = call(cx.state, cx.view) else { return Line::default() };
    let all = call.request.messages.len();
    let new = all - known(cx.state, call);
    Line::from(format!(" · task {} · {}, {new} new", call.task, counted(all, "message")))
}

fn draw(cx: &Cx<'_>, area: Rect, buf: &mut Buffer, hits: &mut Hits) {
    let Some(call) = call(cx.state, cx.view) else {
        return note(area, "no model call yet", cx.theme.dim, buf);
    };
    let known = known(cx.state, call);
    let mut rest = area;
    for at in (0..call.request.messages.len()).rev() {
        let Some(message) = call.request.messages.get(at).filter(|_| !rest.is_empty()) else {
            break;
        };
        let (kind, said, most) = match at >= known {
            true => (cx.theme.accent, cx.theme.text, usize::from(rest.height).div_ceil(2)),
            false => (cx.theme.dim, cx.theme.dim, OLD),
        };
        tokens::of_message(message, &mut |label, text| {
            let width = rest.width.saturating_sub(KIND + 1);
            let lines = text::wrap_within(&text, usize::from(width), most).len().max(1);
            let height = u16::try_from(lines).unwrap_or(u16::MAX).min(rest.height);
            let words = Rect { x: rest.x + KIND + 1, width, height, ..rest };
            if !words.is_empty() {
                Row::new(rest, buf).cell(&label, usize::from(KIND), kind);
                wrapped(words, &text, said, buf);
                hits.add(Rect { height, ..rest }, Target::Call(call.id));
            }
            rest = Rect { y: rest.y + height, height: rest.height - height, ..rest };
        });
    }
}
