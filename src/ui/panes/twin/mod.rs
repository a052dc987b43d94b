//! The session and its twin beside each other, call by call: the first difference is marked, and below stands what it costs.

mod draw;
mod price;

use ratatui::text::Line;

use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::State;
use crate::twin_call::TwinCall;
use crate::view::Round;
use crate::{action::Action, popups::Subject, view::View, vlist::List};
use crate::{cx::Cx, pane::PaneId, text};

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Twin,
    when: |_, view| view.twin.is_some(),
    title,
    draw: draw::draw,
    list,
    filters: |_| Some("call"),
    open,
    why_not_adjust: |_, _| Some("a twin cannot be changed"),
    leave: |view| {
        if let Some(twin) = &mut view.twin {
            twin.row = None;
        }
    },
    keys: &[Action::Twin, Action::NextView, Action::GoToMoment, Action::Play],
    ..PLAIN
};

/// The session's own call in the selected row.
pub fn selected(view: &View) -> Option<&TwinCall> {
    let twin = view.twin.as_ref()?;
    twin.rows.get(twin.selected(view.moment)?)?.0
}

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(twin) = &cx.view.twin else { return Line::default() };
    let running = if twin.over { "" } else { ", running" };
    Line::from(format!(" · {}{running} · in step by {}", twin.kind.name(), twin.in_step.name()))
}

fn list<'a>(_: &'a State, view: &View) -> List<'a> {
    let Some(twin) = &view.twin else { return List::none() };
    let (place, rows) = ((twin.rows.len(), twin.selected(view.moment)), twin.rows.clone());
    List::new(
        place,
        Some,
        |row, view| {
            if let Some(twin) = &mut view.twin {
                twin.row = Some(row);
            }
        },
        move |at| {
            let (own, other) = rows.get(at).unwrap_or_default();
            let words = |call: &TwinCall| format!("{} {} {}", call.name, call.input, call.outcome);
            text::clean(&own.into_iter().chain(other).map(words).collect::<String>()).into_owned()
        },
    )
}

/// The page of this session's call. One whose details are gone is looked at where it happened.
fn open(state: &State, view: &View) -> Opened {
    match selected(view) {
        None => Opened::Nothing,
        Some(call) if state.tool_call(call.id).is_some() => Opened::Subject(Subject::Call(call.id)),
        Some(call) if state.model_call(call.id).is_some() => {
            Opened::Subject(Subject::Prompt(call.id))
        }
        Some(_) => Opened::Act(Action::GoToMoment),
    }
}
