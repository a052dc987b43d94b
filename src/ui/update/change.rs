//! Interventions: tools, scores, weights and knobs.

use super::{ScreenRequest, World, open, send};
use crate::domain::{Command, FaultSpec, Knob, State, ToolName, knob::Kind};
use crate::ui::popups::{Choose, FaultForm, ModelChoice, Value};
use crate::ui::view::View;

/// One key breaks a tool, a role or a model and mends it. Mending disarms whatever is armed on it; breaking arms the
/// crash that was armed before, if there is one, so that the list of faults does not fill up.
pub(in crate::ui) fn toggle_fault(live: &State, view: &View) -> Vec<ScreenRequest> {
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

pub(in crate::ui) fn edit_score(world: &World<'_>, view: &mut View) -> Vec<ScreenRequest> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let score = world.live.learning.score(&tool);
    open(view, Value::score(tool, score))
}

/// Adds one to the selected tool's score, or takes one from it.
pub(in crate::ui) fn turn_score(_: &World<'_>, view: &mut View, up: bool) -> Vec<ScreenRequest> {
    let by = if up { 1.0 } else { -1.0 };
    tool(view, |tool| Command::AddScore { tool, by })
}

pub(in crate::ui) fn forget_score(_: &State, view: &View) -> Vec<ScreenRequest> {
    tool(view, |tool| Command::ForgetScore { tool })
}

pub(in crate::ui) fn unpin(_: &State, view: &View) -> Vec<ScreenRequest> {
    let edge = view.edge.clone();
    edge.map_or_else(Vec::new, |(from, to)| send(Command::UnpinWeight { from, to }))
}

pub(in crate::ui) fn cancel(live: &State, view: &View) -> Vec<ScreenRequest> {
    view.cancels(live).map_or_else(|_| Vec::new(), send)
}

/// Sends a command about the selected tool.
pub(in crate::ui) fn tool(
    view: &View,
    command: impl FnOnce(ToolName) -> Command,
) -> Vec<ScreenRequest> {
    view.tool.clone().map_or_else(Vec::new, |tool| send(command(tool)))
}

pub(in crate::ui) fn switch_tool(live: &State, view: &View) -> Vec<ScreenRequest> {
    let is_off = |tool: &ToolName| live.tools.get(tool).is_some_and(|tool| !tool.switched_on);
    self::tool(view, |tool| Command::SwitchTool { on: is_off(&tool), tool })
}

/// A new fault, of what is selected.
pub(in crate::ui) fn add_fault(view: &mut View) -> Vec<ScreenRequest> {
    let target = view.fault_target();
    open(view, FaultForm::new(target.as_ref()))
}

/// Whoever chooses wants to know who can be reached, so that is looked for as the choice opens.
pub(in crate::ui) fn bind_model(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let role = view.role();
    open(view, ModelChoice::new(live, role));
    send(Command::ProbeModels)
}

pub(in crate::ui) fn set_class(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    open(view, Choose::class(live, &tool))
}

pub(in crate::ui) fn pin(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some((from, to)) = view.edge_to_pin(live) else { return Vec::new() };
    if live.learning.pins.get(from.as_str(), to.as_str()).is_some() {
        return send(Command::UnpinWeight { from, to });
    }
    let weights = live.learning.weights(&live.knobs);
    let weight = weights.weight(from.as_str(), to.as_str()).unwrap_or_default();
    open(view, Value::weight(from, to, weight))
}

pub(in crate::ui) fn turn(knob: Knob, steps: i32) -> Vec<ScreenRequest> {
    send(Command::TurnKnobBy { knob, steps })
}

pub(in crate::ui) fn set_uses(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let Some((tool, task)) = view.tool.clone().zip(live.current_task()) else { return Vec::new() };
    let uses = task.budget.allowed(tool.as_str());
    open(view, Value::uses(tool, uses))
}

pub(in crate::ui) fn set_knob(live: &State, view: &mut View) -> Vec<ScreenRequest> {
    let knob = view.knob();
    let value = live.knobs.get(knob);
    match knob.spec().kind {
        Kind::Real | Kind::Whole => open(view, Value::knob(knob, value)),
        Kind::Switch => turn(knob, 1),
        Kind::Choice(names) => open(view, Choose::knob(knob, names, value)),
    }
}
