//! Checks that the agent may call a tool: it exists, is switched on and on the menu of this step.

use super::{Actor, Effect, Passage, Passing, Station, StationVerdict, ToolCall, now};
use crate::domain::{Refusal, TaskId};
use crate::session::Session;

pub(super) struct Menu;

impl Station for Menu {
    /// A person may call tools that the agent is not offered, and a guest has its own menu.
    fn concerns(&self, actor: Actor) -> bool {
        actor == Actor::Run
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let verdict = match &passage.effect {
            Effect::Tool(call) => {
                let checked = passage.handle.read(|session| check(session, passage.task, call));
                checked.map_or_else(StationVerdict::refuse, |()| StationVerdict::Go)
            }
            Effect::Model(_) | Effect::Embedding(_) | Effect::Reading(_) => StationVerdict::Go,
        };
        now(verdict)
    }
}

fn check(session: &Session, task: TaskId, call: &ToolCall) -> Result<(), (Refusal, String)> {
    let name = &call.tool;
    let refused = |why: String| Err((Refusal::NotOffered, why));
    if session.state().reads_on(name) {
        let task = session.state().task(task);
        let read =
            task.map_or(Ok(String::new()), |task| session.state().read_on(task, &call.arguments));
        return read.map(drop).map_err(|why| (Refusal::Arguments, why));
    }
    // A ban comes before any other reason (BTP, algorithm 2).
    session.policy(task).not_blacklisted(name)?;
    match session.kit().tools.get(name.as_str()) {
        Some(_) if session.state().in_task(task).offers(name.as_str()) => {}
        Some(_) => {
            return refused(format!("the tool {name} is not available; choose another one"));
        }
        None => {
            return refused(format!("there is no tool {name}; choose one of those offered"));
        }
    }
    // "No use left" explains more than "not on the menu".
    session.policy(task).has_use_left(name)?;
    let step = session.state().task(task).and_then(|task| task.steps.last());
    if step.is_some_and(|step| !step.menu.iter().any(|item| item.tool == *name)) {
        return refused(format!("{name} is not among the tools offered; choose one of those"));
    }
    Ok(())
}
