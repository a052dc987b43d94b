//! Selecting and looking closer.

use super::{ScreenRequest, World, act, inspect};
use crate::domain::state::{Line, What};
use crate::domain::{Knob, State};
use crate::ui::view::{Lever, View};
use crate::ui::{action::Action, hits::Target, pane::PaneId, panes, popups::Subject};

/// Enter: what is selected in the pane that has the keyboard.
pub(super) fn open_selected(world: &World<'_>, view: &mut View) -> Vec<ScreenRequest> {
    let shown = world.shown;
    match view.focus {
        PaneId::Graph | PaneId::Tools => act(world, view, Action::InspectTool),
        PaneId::Knobs => act(world, view, Action::SetKnob),
        PaneId::Models => act(world, view, Action::BindModel),
        PaneId::Calls => act(world, view, Action::InspectCall),
        PaneId::Tasks => {
            let task = view.task.or_else(|| shown.shown_task().map(|task| task.id));
            inspect(view, task.map(Subject::Task))
        }
        PaneId::Budget => open_lever(world, view),
        PaneId::Search => {
            let subject = panes::steps_subject(shown, view);
            inspect(view, subject)
        }
        PaneId::Transcript => {
            let n = view.line.or_else(|| shown.transcript.last().map(|line| line.n));
            let subject = n.and_then(|n| subject_of_line(shown, n));
            inspect(view, subject)
        }
    }
}

/// The chosen call, or the chosen evidence where no call looks for it.
pub(super) fn lane(shown: &State, view: &View) -> Option<Subject> {
    let evidence = || view.evidence(shown).map(|(task, id, _)| Subject::Evidence(task.id, id));
    view.call(shown).map(Subject::Call).or_else(evidence)
}

/// A number to type; where it cannot be set, its tool is looked at.
fn open_lever(world: &World<'_>, view: &mut View) -> Vec<ScreenRequest> {
    let knob = match panes::budget::lever(world.shown, view) {
        Some(Lever::Budget) => Knob::Budget,
        Some(Lever::Tau) => Knob::Tau,
        Some(Lever::Tool) if Action::SetUses.spec().why_not(world.live, view).is_none() => {
            return act(world, view, Action::SetUses);
        }
        Some(Lever::Tool) | None => return act(world, view, Action::InspectTool),
    };
    view.knob = Some(knob);
    act(world, view, Action::SetKnob)
}

fn line(state: &State, n: u64) -> Option<&Line> {
    let at = state.transcript.binary_search_by_key(&n, |line| line.n).ok()?;
    state.transcript.get(at)
}

/// What a line of the transcript is about.
fn subject_of_line(state: &State, n: u64) -> Option<Subject> {
    let line = line(state, n)?;
    match &line.what {
        What::Ask { ask } => Some(Subject::Prompt(*ask)),
        What::Call { call } => Some(Subject::Call(*call)),
        What::TaskStarted
        | What::TryStarted { .. }
        | What::Step { .. }
        | What::Evaluated { .. }
        | What::TaskFinished => line.task.map(Subject::Task),
        What::Told { .. } | What::Newer { .. } | What::BudgetPlanned { .. } | What::Plan { .. } => {
            Some(Subject::Line(n))
        }
    }
}

/// Selects what was pointed at; true if it was selected already, so that a second click opens it.
pub fn select(state: &State, view: &mut View, target: &Target) -> bool {
    match target {
        Target::Tool(tool) => {
            let was = pull(view, Lever::Tool);
            view.tool.replace(tool.clone()).as_ref() == Some(tool) && was
        }
        Target::Edge(from, to) => {
            view.tool = Some(to.clone());
            let edge = (from.clone(), to.clone());
            view.edge.replace(edge.clone()) == Some(edge)
        }
        Target::Call(call) => view.choose_call(state, *call),
        Target::Evidence(task, evidence) => view.choose_evidence(state, *task, *evidence),
        Target::Ask(ask) => view.ask.replace(*ask) == Some(*ask),
        // The strip of the budget pane only chooses whose budget is shown.
        Target::Task(task) => {
            view.task.replace(*task) == Some(*task) && view.focus != PaneId::Budget
        }
        Target::Knob(knob) => {
            let levers = [(Knob::Budget, Lever::Budget), (Knob::Tau, Lever::Tau)];
            let lever = levers.iter().find(|(lever, _)| lever == knob).map(|(_, lever)| *lever);
            let was = lever.is_none_or(|lever| pull(view, lever));
            view.knob.replace(*knob) == Some(*knob) && was
        }
        Target::Node(task, node) => panes::search::select(state, view, *task, *node),
        Target::Role(role) => {
            let was = view.model.take().is_none();
            view.role.replace(*role) == Some(*role) && was
        }
        // A second click opens nothing: there is no more to see of a model.
        Target::Model(model) => {
            view.model = Some(model.clone());
            false
        }
        Target::Fault(fault) => view.fault.replace(*fault) == Some(*fault),
        Target::Line(n) => {
            select_with_line(state, view, *n);
            view.line.replace(*n) == Some(*n)
        }
        Target::Pane(_) | Target::Action(_) | Target::Popup | Target::PopupRow(_) => false,
    }
}

/// Selects in the budget pane; false if something else was selected there and it has the keyboard.
fn pull(view: &mut View, lever: Lever) -> bool {
    let was = std::mem::replace(&mut view.lever, lever);
    was == lever || view.focus != PaneId::Budget
}

/// A line about an ask or a call selects that too: the keys that mean an ask or a call then mean it.
fn select_with_line(state: &State, view: &mut View, n: u64) {
    let what = line(state, n).map(|line| &line.what);
    if let Some(What::Ask { ask }) = what {
        view.ask = Some(*ask);
    }
    if let Some(What::Call { call }) = what {
        select(state, view, &Target::Call(*call));
    }
}
