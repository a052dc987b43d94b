//! Reconstructs an agent's present attempt from the state.

use crate::act::{Decision, decide};
use crate::domain::{EffectId, Outcome, State, TaskState, ToolCallPhase, ToolCallState, ToolName};
use crate::{CallResult, Observation, Trajectory, TrajectoryTurn};

/// Where the agent decides next, and the decisions before that.
pub(super) struct AttemptTrace {
    pub at: ToolName,
    pub done: Trajectory,
    /// Whether the agent gave up although the plan has more: it gets the whole plan next.
    pub is_stuck: bool,
}

pub(super) fn retrace(state: &State, task: &TaskState) -> AttemptTrace {
    let first = task.steps.iter().rposition(|step| step.step == 1).unwrap_or(0);
    let steps = task.steps.get(first..).unwrap_or_default();
    let asked = |at: usize| steps.get(at).and_then(|step| step.model_call);
    let mut at = ToolName::start();
    let mut is_stuck = false;
    let mut turns = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        at = step.from.clone();
        let Some(call) = step.model_call else { break };
        let Some(reply) = state.model_call(call).and_then(|call| call.reply()) else { break };
        let until = asked(number + 1).unwrap_or(EffectId(u32::MAX));
        let of_step = |id: &&EffectId| call < **id && **id < until;
        let calls = task.tool_calls.iter().filter(of_step).filter_map(|id| state.tool_call(*id));
        let called: Option<Vec<CallResult>> = calls.map(|call| result(state, call)).collect();
        // The call has not ended: the agent has not decided anything since.
        let Some(called) = called else { break };
        if let Some(ran) = called.iter().rev().find(|called| called.observation.ran()) {
            at = ran.tool.clone();
        }
        let mut calls = Vec::new();
        match decide(reply) {
            Decision::Finish(ending) => is_stuck = ending.outcome == Outcome::GaveUp,
            Decision::Nothing => {}
            Decision::Call(made) => (calls, is_stuck) = (made, false),
        }
        turns.push(TrajectoryTurn::of(reply, calls, called));
    }
    AttemptTrace { at, done: Trajectory { turns }, is_stuck }
}

/// The end of a call, as the agent sees it; `None` before it.
fn result(state: &State, call: &ToolCallState) -> Option<CallResult> {
    let observation = match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => return None,
        ToolCallPhase::Done { output } if state.reads_on(&call.tool) => {
            Observation::More(output.text.clone())
        }
        ToolCallPhase::Done { output } => Observation::Result(output.text.clone()),
        ToolCallPhase::Failed { error } => Observation::Failed(error.clone()),
        ToolCallPhase::Refused { why, .. } => Observation::Refused(why.clone()),
    };
    Some(CallResult {
        id: call.id,
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        observation,
        injected: call.injected.is_some(),
    })
}
