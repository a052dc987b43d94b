//! What is wished becomes an event, or a refusal with its reason.

use super::core::{Core, Effect, Shared};
use crate::domain::{
    command::Command,
    event::{By, Event, Resume},
    fault::FaultSpec,
    graph::Scores,
    id::{FaultId, ToolName},
    knob::Knob,
    spec::Task,
    state::{Mode, ToolState},
    strategy::Strategy,
};

/// Obeys a command, or says why not. What was wished is on the disk afterwards.
pub(super) fn obey(shared: &Shared, command: Command) {
    let name = command.name();
    shared.write(|core| {
        if let Err(why) = grant(core, command, By::User) {
            core.emit(Event::CommandRefused { command: name.to_owned(), why });
        }
        core.sync();
    });
}

fn grant(core: &mut Core, command: Command, by: By) -> Result<(), String> {
    match command {
        Command::Run => resume(core, Resume::Run, by),
        Command::Step => resume(core, Resume::Step, by),
        Command::StepTask => resume(core, Resume::Task, by),
        Command::Pause => pause(core, by),
        // The loop itself takes these.
        Command::Stop | Command::ProbeModels => Ok(()),
        Command::CancelCall(call) => cancel(core, Effect::Call(call)),
        Command::PauseLane(lane) => {
            if !core.lanes.live.contains(&lane) {
                return Err(format!("{lane} does nothing at this moment"));
            }
            if core.state.control.paused_lanes.contains(&lane) {
                return Err(format!("{lane} is stopped already"));
            }
            core.emit(Event::LanePaused { lane, by });
            Ok(())
        }
        Command::ResumeLane(lane) => {
            if !core.state.control.paused_lanes.contains(&lane) {
                return Err(format!("{lane} is not stopped"));
            }
            core.emit(Event::LaneResumed { lane, by });
            Ok(())
        }
        Command::SetClass { tool, class } => core.set_class(tool, class, by),
        Command::CancelAsk => {
            let ask = core.state.ask_in_flight().map(|ask| ask.id);
            cancel(core, Effect::Ask(ask.ok_or("no model is being asked")?))
        }
        Command::QueueTask { text } => queue(core, &text, by),
        Command::UseStrategy { strategy } => use_strategy(core, &strategy, by),
        Command::TurnKnob { knob, value } => turn(core, knob, value, by),
        Command::TurnKnobBy { knob, steps } => turn_by(core, knob, steps, by),
        Command::BindRole { role, model } => {
            if !core.models.contains_key(&model) {
                return Err(format!("no model {model} is configured"));
            }
            let bound = core.state.models.roles.get(&role);
            let was = bound.map_or_else(|| model.clone(), |bound| bound.model.clone());
            let why = format!("{role}: {was} → {model}");
            core.emit(Event::RoleBound { role, model, was, by });
            core.replan_quietly(&why);
            Ok(())
        }
        Command::SetScore { tool, score } => set_score(core, tool, score, by),
        Command::AddScore { tool, by: more } => {
            let score = core.state.learning.score(&tool) + more;
            set_score(core, tool, score, by)
        }
        Command::ForgetScore { tool } => set_score(core, tool, 0.0, by),
        Command::PinWeight { from, to, weight } => pin(core, from, to, weight, by),
        Command::UnpinWeight { from, to } => {
            let was = core.state.learning.pins.get(from.as_str(), to.as_str());
            let was = was.ok_or_else(|| format!("the weight {from} → {to} is not pinned"))?;
            core.emit(Event::WeightUnpinned { from, to, was, by });
            Ok(())
        }
        Command::ArmFault { spec } => arm(core, spec, by),
        Command::DisarmFault { fault } => disarm(core, fault, by),
        Command::RearmFault { fault } => rearm(core, fault, by),
        Command::SwitchTool { tool, on } => {
            if known_tool(core, &tool)?.switched_on == on {
                let how = if on { "on" } else { "off" };
                return Err(format!("{tool} is {how} already"));
            }
            let why = format!("{tool} switched {}", if on { "on" } else { "off" });
            core.emit(Event::ToolSwitched { tool, on, by });
            core.replan_quietly(&why);
            Ok(())
        }
        Command::SetUses { tool, uses } => core.set_uses(tool, uses, by),
        Command::AddUses { tool, by: more } => core.add_uses(tool, more, by),
        Command::ReloadTools => core.reload_tools(),
        Command::Undo => undo(core),
    }
}

fn resume(core: &mut Core, how: Resume, by: By) -> Result<(), String> {
    match (core.state.control.mode, how) {
        (Mode::Ended, _) => return Err("the session has ended".to_owned()),
        (Mode::Running, Resume::Run) => return Err("it is running".to_owned()),
        _ => {}
    }
    core.emit(Event::Resumed { how, by });
    if how == Resume::Step {
        core.grant_step();
    }
    Ok(())
}

fn pause(core: &mut Core, by: By) -> Result<(), String> {
    match core.state.control.mode {
        Mode::Ended => return Err("the session has ended".to_owned()),
        Mode::Opening => return Err("the session is not open yet".to_owned()),
        Mode::Paused => return Err("it is paused".to_owned()),
        Mode::Pausing => return Err("it is pausing; what runs must come to a boundary".to_owned()),
        Mode::Running | Mode::Stepping | Mode::SteppingTask => {}
    }
    core.revoke_step();
    core.emit(Event::PauseRequested { by });
    core.settle();
    Ok(())
}

fn cancel(core: &mut Core, effect: Effect) -> Result<(), String> {
    let token = core.cancels.get(&effect).ok_or("it is not in flight")?;
    token.cancel();
    Ok(())
}

fn queue(core: &mut Core, text: &str, by: By) -> Result<(), String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the task is empty".to_owned());
    }
    // A task that is known by its text brings its gold answer and chain along.
    let known = core.state.tasks.iter().find(|task| task.task.text == text);
    let task = known.map_or_else(|| Task::from_text(text), |known| known.task.clone());
    let first = core.next_task();
    core.emit(Event::TasksQueued { first, tasks: vec![task], by });
    Ok(())
}

fn use_strategy(core: &mut Core, strategy: &str, by: By) -> Result<(), String> {
    let strategy = strategy.parse::<Strategy>()?.to_string();
    let was = core.state.strategy.clone();
    core.emit(Event::StrategyChosen { strategy, was, by });
    Ok(())
}

fn turn(core: &mut Core, knob: Knob, value: f64, by: By) -> Result<(), String> {
    let value = knob.spec().check(value)?;
    let was = core.state.knobs.get(knob);
    if value == was {
        return Err(format!("{knob} is {} already", knob.spec().show(was)));
    }
    core.emit(Event::KnobTurned { knob, value, was, by });
    match knob {
        Knob::Budget | Knob::Tau | Knob::Estimate | Knob::Judge => {
            let (was, now) = (knob.spec().show(was), knob.spec().show(value));
            core.replan(&format!("{knob} {was} → {now}"));
        }
        Knob::Alpha
        | Knob::Beta
        | Knob::TopK
        | Knob::Explore
        | Knob::MenuMax
        | Knob::WeightFormat
        | Knob::MaxSteps
        | Knob::History
        | Knob::Tries
        | Knob::Learn
        | Knob::LearnInjected
        | Knob::Temperature
        | Knob::Concurrency
        | Knob::Pace
        | Knob::Candidates
        | Knob::Widen
        | Knob::Blacklist => {}
    }
    Ok(())
}

fn turn_by(core: &mut Core, knob: Knob, steps: i32, by: By) -> Result<(), String> {
    let spec = knob.spec();
    let was = core.state.knobs.get(knob);
    let value = spec.turned(was, steps);
    if value == was {
        return Err(format!("{knob} is at its limit: it takes {}", spec.range()));
    }
    turn(core, knob, value, by)
}

fn known_tool<'a>(core: &'a Core, tool: &ToolName) -> Result<&'a ToolState, String> {
    core.state.tools.get(tool).ok_or_else(|| format!("there is no tool {tool}"))
}

fn set_score(core: &mut Core, tool: ToolName, score: f64, by: By) -> Result<(), String> {
    // `end` is scored like a tool (ToolNet, eq. 7 sums over all successors).
    if tool.as_str() != ToolName::END {
        known_tool(core, &tool)?;
    }
    if score.is_nan() || score.abs() > Scores::MAX {
        return Err(format!("a score is a number from -{0} to {0}, not {score}", Scores::MAX));
    }
    let was = core.state.learning.score(&tool);
    core.emit(Event::ScoreSet { tool, score, was, by });
    Ok(())
}

fn pin(core: &mut Core, from: ToolName, to: ToolName, weight: f64, by: By) -> Result<(), String> {
    for end in [&from, &to].into_iter().filter(|end| !end.is_special()) {
        known_tool(core, end)?;
    }
    if !(0.0..=1.0).contains(&weight) {
        return Err(format!("a weight is a number from 0 to 1, not {weight}"));
    }
    if !core.state.learning.graph.has_edge(from.as_str(), to.as_str()) {
        return Err(format!("there is no edge {from} → {to}"));
    }
    let was = core.state.learning.pins.get(from.as_str(), to.as_str());
    core.emit(Event::WeightPinned { from, to, weight, was, by });
    Ok(())
}

fn arm(core: &mut Core, spec: FaultSpec, by: By) -> Result<(), String> {
    known_tool(core, &spec.tool)?;
    let fault = core.next_fault();
    core.emit(Event::FaultArmed { fault, spec, by });
    Ok(())
}

fn disarm(core: &mut Core, fault: FaultId, by: By) -> Result<(), String> {
    match core.state.faults.get(&fault) {
        Some(known) if known.armed => {
            core.emit(Event::FaultDisarmed { fault, by });
            Ok(())
        }
        Some(_) => Err(format!("fault {fault} is not armed")),
        None => Err(format!("there is no fault {fault}")),
    }
}

fn rearm(core: &mut Core, fault: FaultId, by: By) -> Result<(), String> {
    let known =
        core.state.faults.get(&fault).ok_or_else(|| format!("there is no fault {fault}"))?;
    if known.armed {
        return Err(format!("fault {fault} is armed"));
    }
    let spec = known.spec.clone();
    core.emit(Event::FaultArmed { fault, spec, by });
    Ok(())
}

fn undo(core: &mut Core) -> Result<(), String> {
    let mut refused = None;
    // What cannot be taken back any more (its tool is gone, say) must not bar what was done before.
    for undoable in core.state.control.undo.clone().into_iter().rev() {
        match grant(core, undoable.back, By::Undo(undoable.n)) {
            Ok(()) => return Ok(()),
            Err(why) => refused = refused.or(Some(why)),
        }
    }
    Err(refused.unwrap_or_else(|| "there is nothing to take back".to_owned()))
}
