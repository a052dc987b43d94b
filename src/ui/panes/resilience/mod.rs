//! The agent's reaction to the failure of a tool: for each task its first choice of a tool, its cost, and the scores,
//! with a verdict in one line. A twin beside it shows what the fault, or learning, really changed. Of a watched agent, whose
//! tasks are of any kind, it shows what the agent did after each failed call.

mod axis;
mod chart;
mod deeds;
mod draw;
pub mod facts;
pub(super) mod price;
mod verdict;

use ratatui::text::Line;

use self::facts::{Facts, target};
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{Lap, State};
use crate::{action::Action, popups::Subject, view::View, vlist::List};
use crate::{cx::Cx, pane::PaneId, window::Move};

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Resilience,
    watched: Some("What the agent did"),
    most: |state, _| state.watched.is_some().then_some(deeds::ROWS),
    title,
    draw: |cx, area, buf, hits| match cx.state.watched {
        Some(_) => deeds::draw(cx, area, buf),
        None => draw::draw(cx, area, buf, hits),
    },
    list,
    go,
    open,
    leave: |view| (view.task, view.strip) = (None, None),
    keys: &[Action::Fail, Action::Twin, Action::NextView],
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    if cx.state.watched.is_some() {
        return Line::from(deeds::title(cx.state));
    }
    let facts = Facts::of(cx.state, cx.view);
    let mut said = match (&facts.taken, facts.laps.last()) {
        (Some(taken), _) => {
            let (fault, from) = (taken.fault, taken.broken.from);
            let repaired = taken.broken.until.map(|task| format!(", repaired at {task}"));
            let repaired = repaired.unwrap_or_default();
            format!(" · {} from task {from}{repaired}", fault.spec.target)
        }
        (None, Some(last)) => format!(" · no fault in tasks 1–{}", last.task),
        (None, None) => String::new(),
    };
    if let Some((twin, _)) = &facts.twin {
        let far = if twin.over { String::new() } else { format!(", task {}", twin.laps.len()) };
        said.push_str(&format!(" · twin: {}{far}", twin.kind.name()));
    }
    Line::from(said)
}

/// The selected row of the strip.
fn selected(view: &View, facts: &Facts<'_>) -> Option<usize> {
    let chosen = view.strip.as_ref();
    let at = chosen.and_then(|chosen| facts.tools.iter().position(|tool| tool == chosen));
    at.or((!facts.tools.is_empty()).then_some(0))
}

/// The tools of the strip.
fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    if state.watched.is_some() {
        return List::none();
    }
    let facts = Facts::of(state, view);
    let place = (facts.tools.len(), selected(view, &facts));
    let tools = facts.tools;
    List::new(
        place,
        move |row| tools.get(row).cloned(),
        |tool, view| {
            view.strip = Some(tool.clone());
            view.tool = Some(tool);
        },
        |tool| tool.to_string(),
    )
}

/// Moves along the tasks on the left and right keys.
fn go(state: &State, view: &mut View, to: Move) -> bool {
    if state.watched.is_some() {
        return false;
    }
    let laps: Vec<Lap> = state.laps_with_current();
    let Some(last) = laps.len().checked_sub(1) else { return false };
    let at = view.task.and_then(|task| laps.iter().position(|lap| lap.task == task));
    let at = match (to, at) {
        (Move::Left, None) => last,
        (Move::Left, Some(at)) => at.saturating_sub(1),
        (Move::Right, None) => return true,
        (Move::Right, Some(at)) => (at + 1).min(last),
        _ => return false,
    };
    view.task = Some(laps[at].task);
    true
}

/// The selected task, else the selected tool.
fn open(state: &State, view: &View) -> Opened {
    let task = view.task.map(Subject::Task);
    Opened::subject(task.or_else(|| target(state, view).map(Subject::Tool)))
}
