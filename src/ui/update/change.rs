//! Interventions: tools, scores, weights and knobs.

use super::{Effect, open, send};
use crate::{
    command::Command,
    fault::{FaultKind, FaultSpec, Trigger},
    id::ToolName,
    knob::{Kind, Knob},
    state::State,
    ui::{
        popups::{Choose, Popup, Value},
        view::{Tone, View},
    },
};

/// One key breaks a tool and mends it. Mending disarms whatever is armed on it; breaking arms the
/// crash that was armed before, if there is one, so that the list of faults does not fill up.
pub(super) fn toggle_fault(live: &State, view: &View) -> Vec<Effect> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let on_tool = || live.faults.iter().filter(|(_, fault)| fault.spec.tool == tool);
    let armed: Vec<Effect> = on_tool()
        .filter(|(_, fault)| fault.armed)
        .map(|(fault, _)| Effect::Send(Command::DisarmFault { fault: *fault }))
        .collect();
    if !armed.is_empty() {
        return armed;
    }
    let crash =
        FaultSpec { tool: tool.clone(), kind: FaultKind::crash(), trigger: Trigger::default() };
    send(match on_tool().find(|(_, fault)| fault.spec == crash) {
        Some((fault, _)) => Command::RearmFault { fault: *fault },
        None => Command::ArmFault { spec: crash },
    })
}

pub(super) fn edit_score(live: &State, view: &mut View) -> Vec<Effect> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let score = live.learning.score(&tool);
    open(view, Popup::Value(Value::score(tool, score)))
}

pub(super) fn bump_score(live: &State, view: &View, by: f64) -> Vec<Effect> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let score = live.learning.score(&tool) + by;
    send(Command::SetScore { tool, score })
}

pub(super) fn forget_score(view: &View) -> Vec<Effect> {
    view.tool.clone().map_or_else(Vec::new, |tool| send(Command::ForgetScore { tool }))
}

pub(super) fn switch_tool(live: &State, view: &View) -> Vec<Effect> {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    let on = live.tools.get(&tool).is_some_and(|tool| !tool.switched_on);
    send(Command::SwitchTool { tool, on })
}

pub(super) fn pin(live: &State, view: &mut View) -> Vec<Effect> {
    let Some((from, to)) = view.edge.clone() else { return Vec::new() };
    if live.learning.pins.get(from.as_str(), to.as_str()).is_some() {
        return send(Command::UnpinWeight { from, to });
    }
    let weights = live.learning.weights(&live.knobs);
    let weight = weights.weight(from.as_str(), to.as_str()).unwrap_or_default();
    open(view, Popup::Value(Value::weight(from, to, weight)))
}

pub(super) fn freeze(live: &State) -> Vec<Effect> {
    let value = if live.knobs.is_on(Knob::Learn) { 0.0 } else { 1.0 };
    send(Command::TurnKnob { knob: Knob::Learn, value })
}

pub(super) fn turn(live: &State, view: &mut View, knob: Knob, steps: i32) -> Vec<Effect> {
    let spec = knob.spec();
    let was = live.knobs.get(knob);
    let value = spec.turned(was, steps);
    if value == was {
        let text = format!("{} is at its limit: it takes {}", spec.name, spec.range());
        view.tell(live.at, Tone::Plain, text);
        return Vec::new();
    }
    send(Command::TurnKnob { knob, value })
}

/// How often the selected tool may still be used in the task at work: what the user set last, which
/// the next plan has in it, else what the plan says.
fn uses(live: &State, view: &View) -> Option<(ToolName, u32)> {
    let tool = view.tool.clone()?;
    let budget = &live.current_task()?.budget;
    let set = budget.set.get(&tool).copied();
    let uses = set.or_else(|| budget.left(tool.as_str())).unwrap_or(0);
    Some((tool, uses))
}

pub(super) fn bump_uses(live: &State, view: &mut View, by: i32) -> Vec<Effect> {
    let Some((tool, was)) = uses(live, view) else { return Vec::new() };
    let uses = was.saturating_add_signed(by);
    if uses == was {
        view.tell(live.at, Tone::Plain, format!("{tool} has {uses} uses left already"));
        return Vec::new();
    }
    send(Command::SetUses { tool, uses })
}

pub(super) fn set_uses(live: &State, view: &mut View) -> Vec<Effect> {
    let Some((tool, uses)) = uses(live, view) else { return Vec::new() };
    open(view, Popup::Value(Value::uses(tool, uses)))
}

pub(super) fn set_knob(live: &State, view: &mut View) -> Vec<Effect> {
    let knob = view.knob();
    let value = live.knobs.get(knob);
    match knob.spec().kind {
        Kind::Real | Kind::Whole => open(view, Popup::Value(Value::knob(knob, value))),
        Kind::Switch => turn(live, view, knob, 1),
        Kind::Choice(names) => open(view, Popup::Choose(Choose::knob(knob, names, value))),
    }
}
