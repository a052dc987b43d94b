//! Interventions: tools, scores, weights and knobs.

use super::{ScreenRequest, open, send};
use crate::domain::{Command, FaultSpec, Knob, State, ToolName, knob::Kind};
use crate::ui::popups::{Choose, ModelChoice, Popup, Value};
use crate::ui::view::View;

/// One key breaks a tool, a role or a model and mends it. Mending disarms whatever is armed on it; breaking arms the
/// crash that was armed before, if there is one, so that the list of faults does not fill up.
pub(super) fn toggle_fault(live: &State, view: &View) -> Vec<ScreenRequest> {
    let Some(target) = view.fault_target() else { return Vec::new() };
    let on_it = || live.faults.iter().filter(|(_, fault)| fault.spec.target == target);
    let armed: Vec<ScreenRequest> = on_it()
        .filter(|(_, fault)| fault.armed)
        .map(|(fault, _)| ScreenRequest::Send(Command::DisarmFault { fault: *fault }))
        .collect();
    if !armed.is_empty() {
        return armed;
    }
    let crash = FaultSpec::crash(target.clone());
    send(match on_it().find(|(_, fault)| fault.spec == crash) {
        Some((fault, _)) => Command::RearmFault { fault: *fault },
        None => Command::ArmFault { spec: crash },
    })
}

pub(super) fn edit_score(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let score = live.learning.score(&tool);
    open(view, Popup::Value(Value::score(tool, score)))
}

/// Asks for what is to happen to the selected tool.
pub(super) fn tool(view: &View, what: impl FnOnce(ToolName) -> Command) -> Vec<ScreenRequest> {
    view.tool.clone().map_or_else(Vec::new, |tool| send(what(tool)))
}

pub(super) fn switch_tool(live: &State, view: &View) -> Vec<ScreenRequest> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let on = live.tools.get(&tool).is_some_and(|tool| !tool.switched_on);
    send(Command::SwitchTool { tool, on })
}

/// Whoever chooses wants to know who can be reached, so that is looked for as the choice opens.
pub(super) fn bind_model(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let role = view.role();
    view.popups.push(Popup::Models(ModelChoice::new(live, role)));
    send(Command::ProbeModels)
}

pub(super) fn set_class(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    open(view, Popup::Choose(Choose::class(live, &tool)))
}

pub(super) fn pin(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some((from, to)) = view.edge.clone() else { return Vec::new() };
    if live.learning.pins.get(from.as_str(), to.as_str()).is_some() {
        return send(Command::UnpinWeight { from, to });
    }
    let weights = live.learning.weights(&live.knobs);
    let weight = weights.weight(from.as_str(), to.as_str()).unwrap_or_default();
    open(view, Popup::Value(Value::weight(from, to, weight)))
}

pub(super) fn turn(knob: Knob, steps: i32) -> Vec<ScreenRequest> {
    send(Command::TurnKnobBy { knob, steps })
}

pub(super) fn set_uses(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some((tool, task)) = view.tool.clone().zip(live.current_task()) else { return Vec::new() };
    let uses = task.budget.allowed(tool.as_str());
    open(view, Popup::Value(Value::uses(tool, uses)))
}

pub(super) fn set_knob(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let knob = view.knob();
    let value = live.knobs.get(knob);
    match knob.spec().kind {
        Kind::Real | Kind::Whole => open(view, Popup::Value(Value::knob(knob, value))),
        Kind::Switch => turn(knob, 1),
        Kind::Choice(names) => open(view, Popup::Choose(Choose::knob(knob, names, value))),
    }
}
