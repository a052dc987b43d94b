//! Checks that the arguments of a tool call fit the tool.

use super::{Actor, Effect, Passage, Passing, Station, StationVerdict, ToolCall, now};
use crate::domain::{Refusal, ToolErrorKind};
use crate::session::Session;

pub(super) struct Arguments;

impl Station for Arguments {
    /// The tools of a guest run elsewhere, and check their arguments themselves.
    fn concerns(&self, actor: Actor) -> bool {
        actor != Actor::Guest
    }

    fn before<'a>(&'a self, passage: &'a mut Passage) -> Passing<'a, StationVerdict> {
        let Effect::Tool(call) = &passage.effect else { return now(StationVerdict::Go) };
        let actor = passage.actor();
        let checked = passage.handle.read(|session| check(session, call, actor));
        now(checked.map_or_else(StationVerdict::refuse, |()| StationVerdict::Go))
    }
}

fn check(session: &Session, call: &ToolCall, actor: Actor) -> Result<(), (Refusal, String)> {
    let name = &call.tool;
    // The menu has already checked calls that read on.
    if actor == Actor::Run && session.state().reads_on(name) {
        return Ok(());
    }
    if session.kit().tools.get(name.as_str()).is_none() {
        return Err((Refusal::NotOffered, format!("there is no tool {name}")));
    }
    let checked = session.kit().tools.check(name.as_str(), &call.arguments);
    checked.map_err(|error| match error.kind {
        ToolErrorKind::Unavailable => (Refusal::NotOffered, error.text),
        _ => (Refusal::Arguments, error.text),
    })
}
