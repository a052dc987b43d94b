//! Interventions: changes of tools, scores, weights and knobs.

use super::action::Action;
use super::keymap::Keymap;
use super::pane::PaneId;
use super::panes::{resilience::facts, tool_order};
use super::popups::{
    Choose, Confirm, FaultForm, ModelChoice, StrategyChoice, ToolForm, ValueEntry,
};
use super::request::{Requests, ScreenRequest, World, send};
use super::view::View;
use crate::domain::{
    Command, Event, FaultEvent, FaultKind, FaultSpec, Knob, Mode, State, Target, ToolName,
    knob::KnobKind,
};
use crate::papers::toolnet::Weights;

/// Breaks a tool, a role or a model, or repairs it if it is broken. Repairing disarms every fault on it. Breaking arms
/// an earlier crash again if there is one, so that the list of faults does not fill up.
pub fn toggle_fault(world: &World<'_>, view: &mut View) -> Requests {
    let Some(target) = fault_target(world.live, view) else { return Vec::new() };
    let on_it = || world.live.faults.iter().filter(|(_, fault)| fault.spec.target == target);
    let armed = || on_it().filter(|(_, fault)| fault.armed);
    let waits = armed().any(|(_, fault)| starts_later(world.live, &fault.spec));
    let disarmed = armed().map(|(fault, _)| Command::DisarmFault { fault: *fault });
    let mut commands: Vec<Command> = disarmed.collect();
    if commands.is_empty() || waits {
        let plain = FaultSpec::outage(target.clone());
        let mut crash = plain.clone();
        let is_tool = matches!(target, Target::Tool(_)) && world.live.watched.is_none();
        // A tour has chosen its moment.
        let compares = is_tool && !view.is_toured && world.live.tasks.len() > 2 * COMPARED;
        if compares && !waits && world.live.tasks_done < COMPARED {
            crash.trigger.from_task = u32::try_from(COMPARED + 1).ok();
        }
        commands.push(match on_it().find(|(_, fault)| [&crash, &plain].contains(&&fault.spec)) {
            Some((fault, _)) => Command::RearmFault { fault: *fault },
            None => Command::ArmFault { spec: crash },
        });
        if let Target::Tool(tool) = target {
            if view.tool.as_ref() != Some(&tool) {
                view.most_used = Some(tool.clone());
            }
            view.tool = Some(tool);
        }
    }
    commands.into_iter().map(ScreenRequest::Send).collect()
}

/// Tasks before a fault that one key arms, so that there is something to compare with, and at least as many after it.
const COMPARED: usize = 5;

/// The words for a fault that was armed: why this tool, and how it begins at once.
pub fn armed(state: &State, view: &View, event: &Event, keymap: &Keymap) -> Option<String> {
    let Event::Fault(FaultEvent::FaultArmed { spec, .. }) = event else { return None };
    if spec.kind != FaultKind::outage() {
        return None;
    }
    // A fault of a form may be of another tool.
    let is_selected =
        matches!(&spec.target, Target::Tool(tool) if view.tool.as_ref() == Some(tool));
    let is_most_used = is_selected && view.tool == view.most_used;
    let most = if is_most_used { " (most used)" } else { "" };
    let target = &spec.target;
    match spec.trigger.from_task {
        Some(from) if starts_later(state, spec) => {
            let again = keymap.key(Action::Fail).unwrap_or_default();
            Some(format!("{target}{most} fails from task {from} · {again} again: at once"))
        }
        _ if is_most_used => Some(format!("{target}{most} now fails")),
        _ => None,
    }
}

/// Whether a fault waits for a task that has not begun.
pub fn starts_later(state: &State, spec: &FaultSpec) -> bool {
    let from = spec.trigger.from_task.and_then(|from| usize::try_from(from).ok());
    from.is_some_and(|from| from > state.tasks_started())
}

/// Target of a fault from here: in the pane of resilience a tool of its strip, elsewhere the selection. If the person
/// has chosen no tool, the most used one: a fault of another tool shows nothing.
pub fn fault_target(state: &State, view: &View) -> Option<Target> {
    // Without a choice the last call of an own agent is marked, which may be any.
    let is_chosen = state.watched.is_some() || view.call.is_some() || view.evidence.is_some();
    let is_call = view.focus == PaneId::Calls && is_chosen && view.meant_call(state).is_some();
    match view.focus {
        PaneId::Resilience => facts::target(state, view).map(Target::Tool),
        PaneId::Models => view.fault_target(state),
        // The row that is marked there is in sight.
        PaneId::Tools if view.tool.is_some() => view.fault_target(state),
        _ if is_call => view.fault_target(state),
        // The same tool again, not that of the call that is marked now.
        _ if view.tool.is_some() && view.tool == view.most_used => {
            view.tool.clone().map(Target::Tool)
        }
        _ if view.has_chosen_tool() => view.fault_target(state),
        _ => facts::most_used(state).map(Target::Tool).or_else(|| view.fault_target(state)),
    }
}

pub fn edit_score(world: &World<'_>, view: &mut View) -> Requests {
    let is_scored = tool_order::is_scored(world.live);
    let Some(tool) = view.tool.clone().filter(|_| is_scored) else { return Vec::new() };
    let score = world.live.learning.score(&tool);
    view.open(ValueEntry::score(tool, score))
}

/// Adds one to the selected tool's score, or takes one from it.
pub fn turn_score(_: &World<'_>, view: &mut View, up: bool) -> Requests {
    let by = if up { 1.0 } else { -1.0 };
    tool(view, |tool| Command::AddScore { tool, by })
}

pub fn forget_score(_: &State, view: &mut View) -> Requests {
    tool(view, |tool| Command::ForgetScore { tool })
}

pub fn unpin(_: &State, view: &mut View) -> Requests {
    let edge = view.edge.clone();
    edge.map_or_else(Vec::new, |(from, to)| send(Command::UnpinWeight { from, to }))
}

pub fn cancel(live: &State, view: &mut View) -> Requests {
    view.cancels(live).map_or_else(|_| Vec::new(), send)
}

/// Sends a command about the selected tool.
pub fn tool(view: &View, command: impl FnOnce(ToolName) -> Command) -> Requests {
    view.tool.clone().map_or_else(Vec::new, |tool| send(command(tool)))
}

pub fn switch_tool(world: &World<'_>, view: &mut View) -> Requests {
    let changed = view.tool.as_ref().and_then(|tool| world.live.changed_definition(tool));
    if let (Some(tool), Some(changed)) = (view.tool.clone(), changed) {
        let question = Confirm::definition(tool, changed);
        return view.open(question);
    }
    let is_off = |tool: &ToolName| world.live.tools.get(tool).is_some_and(|tool| !tool.switched_on);
    self::tool(view, |tool| Command::SwitchTool { on: is_off(&tool), tool })
}

/// Opens a form for a call of the selected tool; in the panes of calls and lines, of the chosen call's tool.
pub fn call_tool(world: &World<'_>, view: &mut View) -> Requests {
    let spec = |tool: &ToolName| world.live.tools.get(tool).map(|tool| tool.spec.clone());
    match view.tool.as_ref().and_then(spec) {
        Some(spec) => view.open(ToolForm::new(world.live, &spec, view.call)),
        None => Vec::new(),
    }
}

/// Says why no tool can be called by hand: none is selected, or the selected one is not available now.
pub fn no_tool_to_call(state: &State, view: &View) -> Option<&'static str> {
    let gone = |tool: &ToolName| state.tools.get(tool).is_some_and(|tool| !tool.present);
    let is_gone = view.tool.as_ref().is_some_and(gone);
    no_tool(state, view).or(is_gone.then_some("the selected tool is not available now"))
}

/// Probes the selected tool.
pub fn probe(_: &World<'_>, view: &mut View) -> Requests {
    let tool = view.tool.clone();
    tool.map_or_else(Vec::new, |tool| send(Command::Probe { tools: vec![tool] }))
}

/// Opens the form of a new fault, initially for the selection.
pub fn add_fault(world: &World<'_>, view: &mut View) -> Requests {
    let target = fault_target(world.live, view);
    view.open(FaultForm::new(world.live, target.as_ref()))
}

pub fn choose_strategy(world: &World<'_>, view: &mut View) -> Requests {
    view.open(StrategyChoice::new(world.live))
}

/// Opens the choice of a model, and checks which models can be reached.
pub fn bind_model(world: &World<'_>, view: &mut View) -> Requests {
    let role = view.role();
    view.open(ModelChoice::new(world.live, role));
    send(Command::ProbeModels)
}

pub fn set_class(world: &World<'_>, view: &mut View) -> Requests {
    let Some(tool) = view.tool.clone() else { return Vec::new() };
    view.open(Choose::class(world.live, &tool))
}

pub fn pin(world: &World<'_>, view: &mut View) -> Requests {
    let live = world.live;
    let Some((from, to)) = view.edge_to_pin(live) else { return Vec::new() };
    if live.learning.pins.get(from.as_str(), to.as_str()).is_some() {
        return send(Command::UnpinWeight { from, to });
    }
    let weights = Weights::of(&live.learning, &live.knobs);
    let weight = weights.weight(from.as_str(), to.as_str()).unwrap_or_default();
    view.open(ValueEntry::weight(from, to, weight))
}

pub fn turn(knob: Knob, steps: i32) -> Requests {
    send(Command::TurnKnobBy { knob, steps })
}

/// The better value that a sweep of the selected knob has found.
pub fn best(live: &State, view: &View) -> Option<f64> {
    let sweep = view.sweep.as_ref().filter(|sweep| sweep.scope.knob == view.knob())?;
    sweep.better(live, view.measure)
}

pub fn use_best(world: &World<'_>, view: &mut View) -> Requests {
    let (knob, best) = (view.knob(), best(world.live, view));
    best.map_or_else(Vec::new, |value| send(Command::TurnKnob { knob, value }))
}

pub fn set_uses(live: &State, view: &mut View) -> Requests {
    let Some((tool, task)) = view.tool.clone().zip(live.task_at_work()) else { return Vec::new() };
    let uses = task.budget.allowed(tool.as_str());
    view.open(ValueEntry::uses(tool, uses))
}

pub fn set_knob(live: &State, view: &mut View) -> Requests {
    let knob = view.knob();
    let value = live.knobs.get(knob);
    match knob.spec().kind {
        KnobKind::Real | KnobKind::Whole => view.open(ValueEntry::knob(knob, value)),
        KnobKind::Switch => turn(knob, 1),
        KnobKind::Choice(names) => view.open(Choose::knob(knob, names, value)),
    }
}

/// Says why nothing can be changed: the session is recorded or has ended.
pub fn over(state: &State, view: &View) -> Option<&'static str> {
    if let Some(read_only) = view.read_only {
        return Some(read_only.why());
    }
    (state.control.mode == Mode::Ended).then_some("the session has ended")
}

pub fn no_tool(state: &State, view: &View) -> Option<&'static str> {
    let known = view.tool.as_ref().is_some_and(|tool| state.tools.contains_key(tool));
    (!known).then_some("no tool is selected")
}

/// Says why nothing can be scored. `end` has a score too, though it is not a tool.
pub fn nothing_scored(state: &State, view: &View) -> Option<&'static str> {
    let scored = view.tool.as_ref().is_some_and(|tool| {
        state.learning.scores.get(tool.as_str()).is_some_and(|score| score != 0.0)
    });
    (!scored).then_some("the selected tool has no score")
}

pub fn not_pinned(state: &State, view: &View) -> Option<&'static str> {
    let pinned = view
        .edge
        .as_ref()
        .is_some_and(|(from, to)| state.learning.pins.get(from.as_str(), to.as_str()).is_some());
    (!pinned).then_some("the selected edge is not pinned")
}

/// Says why no uses can be set: uses belong to a budget plan, and a blacklisted tool has none.
pub fn no_uses_to_set(state: &State, view: &View) -> Option<&'static str> {
    let why = || {
        let Some(task) = state.task_at_work().filter(|task| task.budget.plan.is_some()) else {
            return Some(
                "the current task has no budget plan: choose a strategy with +btp (<key:strategy>)",
            );
        };
        let banned =
            view.tool.as_ref().is_some_and(|tool| task.budget.blacklist.contains_key(tool));
        banned.then_some("the selected tool is blacklisted for this task")
    };
    no_tool(state, view).or_else(why)
}
