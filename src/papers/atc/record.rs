//! The record of a program in the state of its session, with which it can be run again.

use crate::domain::program::{
    Again, CallAnswer, Heard, HeardCall, ProgramLimits, ProgramStart, Raised,
};
use crate::domain::state::ProgramState;
use crate::domain::{
    EffectId, Refusal, State, TaskId, TaskState, ToolCallPhase, ToolCallState, ToolError,
    ToolErrorKind, ToolName,
};

use super::identifiers::{self, Identifiers};

/// A program to be run again over its whole record. `None`: it did not run, or the details of its task are gone.
pub fn again(state: &State, task: TaskId, number: u32) -> Option<Again> {
    let task = state.task(task)?;
    let program = state.program(task.id, number)?;
    if program.text.is_empty() || !program.refused.is_empty() {
        return None;
    }
    let step = task.steps.iter().rfind(|step| step.step <= number)?;
    let names = names(state, task, step.menu.iter().map(|item| &item.tool));
    let functions = step.menu.iter().filter_map(|item| {
        let tool = state.tools.get(&item.tool)?;
        Some(identifiers::function(names.name(&item.tool)?, &tool.spec))
    });
    let mut calls = Vec::new();
    for call in way(state, program)? {
        // A program waits for its calls in order.
        let Some(call) = heard(call, &names) else { break };
        calls.push(call);
    }
    let sets = program.extras.iter().filter(|extra| extra.sets.is_some());
    let start = ProgramStart {
        text: program.text.to_string(),
        functions: functions.collect(),
        limits: ProgramLimits::default(),
        stoppable: true,
        extras: sets.cloned().collect(),
    };
    let heard = Heard { calls, clocks: program.clocks.clone() };
    Some(Again { start, heard, ..Again::default() })
}

fn names<'a>(
    state: &'a State,
    task: &TaskState,
    menu: impl Iterator<Item = &'a ToolName>,
) -> Identifiers {
    match task.task.probe {
        Some(_) => Identifiers::of(state.tools.keys()),
        None => Identifiers::of(menu),
    }
}

/// The calls on the path of a program, without those that it has left behind; of repeated calls, only the last. `None`
/// if some of them are gone.
pub fn way<'a>(state: &'a State, program: &ProgramState) -> Option<Vec<&'a ToolCallState>> {
    let mut way: Vec<&ToolCallState> = Vec::new();
    for id in program.calls.iter().filter(|id| !program.left.contains(id)) {
        let call = state.tool_call(*id)?;
        let replaces = |known: &EffectId| call.parent == Some(*known);
        match way.iter_mut().find(|known| replaces(&known.id)) {
            Some(known) => *known = call,
            None => way.push(call),
        }
    }
    Some(way)
}

fn heard(call: &ToolCallState, names: &Identifiers) -> Option<HeardCall> {
    let name = names.name(&call.tool).unwrap_or(call.tool.as_str());
    let answer = match &call.phase {
        ToolCallPhase::Requested | ToolCallPhase::Running => return None,
        ToolCallPhase::Done { output } => CallAnswer::Result(output.text.clone()),
        ToolCallPhase::Failed { error } => failed(name, error),
        ToolCallPhase::Refused { why, reason } => refused(name, why, *reason),
    };
    // The arguments that the program itself used.
    let arguments = call.own.as_ref().unwrap_or(&call.arguments).as_object()?.clone();
    Some(HeardCall { tool: name.to_owned(), arguments, answer })
}

/// The answer to a program for a failed call.
pub fn failed(name: &str, error: &ToolError) -> CallAnswer {
    let kind = match error.kind {
        ToolErrorKind::Timeout => "TimeoutError",
        _ => "RuntimeError",
    };
    CallAnswer::Raise(Raised::new(kind, format!("{name}: {}", error.text)))
}

/// The answer to a program for a refused call.
pub fn refused(name: &str, why: &str, reason: Refusal) -> CallAnswer {
    CallAnswer::Raise(match reason {
        Refusal::Arguments => Raised::new("TypeError", format!("{name}(): {why}")),
        _ => Raised::new("PermissionError", format!("{name}: {why}")),
    })
}
