//! One tool call, through its stations.

use std::{rc::Rc, time::Duration};

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    core::{Core, Effect, Shared},
    faults,
};
use crate::{
    domain::{
        chance::{Chance, canonical},
        chat::ToolCall,
        error::{ToolError, ToolErrorKind},
        event::{Boundary, Event, Lane, Refusal},
        id::{EffectId, TaskId, ToolName},
        knob::Knob,
        output::ToolOutput,
        plan::EvidenceId,
    },
    strategy::Observation,
    tool::{Invocation, Tool},
};

/// Says that a call is wanted, before anything about it is checked.
pub(super) fn request(
    core: &mut Core,
    task: TaskId,
    step: u32,
    evidence: Option<EvidenceId>,
    call: &ToolCall,
) -> EffectId {
    let id = core.next_call();
    core.cancels.insert(Effect::Call(id), CancellationToken::new());
    let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
    core.emit(Event::ToolCallRequested { call: id, task, step, tool, arguments, evidence });
    id
}

/// Takes a requested call through its stations.
pub(super) async fn call(shared: &Shared, id: EffectId, call: &ToolCall) -> Observation {
    let cancel = shared.read(|core| core.cancels.get(&Effect::Call(id)).cloned());
    let cancel = cancel.unwrap_or_default();
    let observation = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            let ran = shared.write(|core| {
                core.let_go(Lane::Call(id));
                core.state.call(id).is_some_and(|call| call.started.is_some())
            });
            let error = ToolError::new(ToolErrorKind::Cancelled, "the call was cancelled by the user");
            let why = error.text.clone();
            let observation = ended(shared, id, Err(error));
            if ran { observation } else { Observation::Refused(why) }
        }
        observation = attempt(shared, id, call) => observation,
    };
    shared.write(|core| core.cancels.remove(&Effect::Call(id)));
    shared.pass(Lane::Call(id), Boundary::AfterToolCall).await;
    observation
}

async fn attempt(shared: &Shared, id: EffectId, call: &ToolCall) -> Observation {
    if let Err(why) = shared.read(|core| offered(core, &call.tool)) {
        return refused(shared, id, why);
    }
    // The gate comes behind the wait for room, so that nothing starts in a pause because something
    // else has ended; but those that a gate lets go together need not all find room.
    loop {
        shared.until(has_room).await;
        shared.pass(Lane::Call(id), Boundary::BeforeToolCall).await;
        if shared.read(has_room) {
            break;
        }
    }
    // Once more: while it waited, the tool may have left, changed or been switched off.
    let tool = match shared.read(|core| offered(core, &call.tool)) {
        Ok(tool) => tool,
        Err(why) => return refused(shared, id, why),
    };
    if let Err(error) = shared.read(|core| core.tools.check(call.tool.as_str(), &call.arguments)) {
        return refused(shared, id, (Refusal::Arguments, error.text));
    }
    let (seed, fault, paid) = shared.write(|core| {
        core.emit(Event::ToolCallStarted { call: id });
        let paid = core.allot_time(id);
        let chance = occurrence(core, &call.tool, &call.arguments);
        let fault = faults::firing(core, id, &call.tool, chance);
        if let Some((fault, _)) = &fault {
            core.emit(Event::FaultFired { fault: *fault, call: id });
        }
        (chance.bits(), fault.map(|(_, kind)| kind), paid)
    });
    shared.stays_sound().await;
    let invocation = Invocation { arguments: call.arguments.clone(), seed };
    let allowed = shared.read(|core| allowed(core, id, &*tool));
    let outcome = within(&*tool, allowed, paid, faults::run(fault, &*tool, &invocation)).await;
    ended(shared, id, outcome)
}

/// The tool, if it may be called now: there, not switched off, and on the menu of this step.
///
/// In this order (BTP, algorithm 2): blacklisted, unknown, no use left or too dear, not on the menu.
fn offered(core: &Core, name: &ToolName) -> Result<Rc<dyn Tool>, (Refusal, String)> {
    let refused = |why: String| Err((Refusal::NotOffered, why));
    core.not_blacklisted(name)?;
    let tool = match (core.tools.get(name.as_str()), core.state.tools.get(name)) {
        (Some(tool), Some(state)) if state.is_offered() => tool,
        (Some(_), _) => {
            return refused(format!("the tool {name} is not available; choose another one"));
        }
        (None, _) => {
            return refused(format!("there is no tool {name}; choose one of those offered"));
        }
    };
    core.affordable(name)?;
    let step = core.state.current_task().and_then(|task| task.steps.last());
    if step.is_some_and(|step| !step.menu.iter().any(|item| item.tool == *name)) {
        return refused(format!("{name} is not among the tools offered; choose one of those"));
    }
    Ok(tool)
}

/// Whether another call may start beside those that run.
fn has_room(core: &Core) -> bool {
    let running = core.state.calls_in_flight().filter(|call| call.started.is_some()).count();
    running < core.state.knobs.count(Knob::Concurrency)
}

/// The draw for this occurrence of this call (see debugger.md: never from a shared stream).
pub(super) fn occurrence(core: &mut Core, tool: &ToolName, arguments: &Value) -> Chance {
    let what = Chance::new(core.state.seed)
        .with(tool.as_str().as_bytes())
        .with(canonical(arguments).as_bytes());
    let nth = core.occurrences.entry(what.bits()).or_default();
    *nth += 1;
    what.with(&nth.to_le_bytes())
}

/// How long a call may take: what its tool allows, and for one of a plan no longer than is
/// configured for workers.
fn allowed(core: &Core, id: EffectId, tool: &dyn Tool) -> Duration {
    let own = tool.spec().timeout_ms;
    let evidence = core.state.call(id).and_then(|call| call.evidence);
    let worker = evidence.map(|_| core.state.workers.timeout_ms);
    Duration::from_millis(worker.map_or(own, |worker| own.min(worker)))
}

/// Runs a call for as long as its tool allows and the budget pays for. Time held is spent outside and
/// does not count.
async fn within(
    tool: &dyn Tool,
    allowed: Duration,
    paid: Option<Duration>,
    run: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let spec = tool.spec();
    let limit = paid.map_or(allowed, |paid| paid.min(allowed));
    tokio::time::timeout(limit, run).await.unwrap_or_else(|_| {
        let text = format!("{} did not answer within {} ms", spec.name, limit.as_millis());
        Err(if limit < allowed {
            let text = format!("over budget in time: {text}, and what is left pays for no more");
            ToolError::new(ToolErrorKind::OverBudget, text)
        } else {
            ToolError::new(ToolErrorKind::Timeout, text)
        })
    })
}

fn refused(shared: &Shared, id: EffectId, (reason, why): (Refusal, String)) -> Observation {
    shared.emit(Event::ToolCallRefused { call: id, why: why.clone(), reason });
    Observation::Refused(why)
}

fn ended(shared: &Shared, id: EffectId, outcome: Result<ToolOutput, ToolError>) -> Observation {
    shared.write(|core| core.allotted.remove(&id));
    let observation = tell(shared, id, outcome);
    shared.write(Core::check_plan);
    observation
}

fn tell(shared: &Shared, id: EffectId, outcome: Result<ToolOutput, ToolError>) -> Observation {
    match outcome {
        Ok(output) => {
            shared.emit(Event::ToolCallFinished { call: id, output: output.clone() });
            Observation::Result(output.text)
        }
        Err(error) => {
            shared.emit(Event::ToolCallFailed { call: id, error: error.clone() });
            Observation::Failed(error)
        }
    }
}
