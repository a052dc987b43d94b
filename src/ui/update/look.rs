//! Selecting and looking closer.

use super::ScreenRequest;
use crate::domain::{Knob, State};
use crate::ui::view::{Lever, View};
use crate::ui::{hits::Target, pane::PaneId, panes, popups::Subject, vlist};

/// Selects the next or previous thing that holds what was searched for last.
pub(super) fn find_next(shown: &State, view: &mut View, how: vlist::Find) -> Vec<ScreenRequest> {
    if let Some((pane, needle)) = view.find.clone() {
        view.follow(pane);
        panes::find(pane, shown, view, &needle, how);
    }
    Vec::new()
}

/// The chosen call, or the chosen evidence where no call looks for it.
pub fn lane(shown: &State, view: &View) -> Option<Subject> {
    let evidence = || view.evidence(shown).map(|(task, id, _)| Subject::Evidence(task.id, id));
    view.call(shown).map(Subject::Call).or_else(evidence)
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
        Target::Line(n) => panes::transcript::select(state, view, *n),
        Target::Pane(_) | Target::Action(_) | Target::Popup | Target::PopupRow(_) => false,
    }
}

/// Selects in the budget pane; false if something else was selected there and it has the keyboard.
fn pull(view: &mut View, lever: Lever) -> bool {
    let was = std::mem::replace(&mut view.lever, lever);
    was == lever || view.focus != PaneId::Budget
}
