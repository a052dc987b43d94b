//! Calls of the model's wire that also arrive on the wire of tools: each is one call, which passed its stations before
//! the agent got it. The relay follows what they decided.

use std::cell::{LazyCell, RefCell};
use std::rc::Rc;

use serde_json::Value;

use super::calls::{OnTools, OpenCall, Returned};
use super::conversation_data::Talks;
use super::tool_names::is_named;
use super::tool_wire::{give, tell_holds};
use crate::domain::chance::canonical;
use crate::domain::{
    Boundary, EffectId, Lane, ToolCallEvent, ToolCallPhase, ToolError, ToolErrorKind,
};
use crate::handle::Handle;
use crate::session::Session;
use crate::tool::foreign_calls::{CallSessionEnd, ForeignCall, RelayTurn};

/// Finds the open call of a conversation that this call belongs to, and notes that it has arrived: the first one with
/// its arguments whose tool has its name, as agents write the names of a server's tools.
pub fn find(session: &mut Session, talks: &mut Talks, call: &ForeignCall) -> Option<EffectId> {
    // Long arguments are not compared where no call fits.
    let arguments = LazyCell::new(|| canonical(&call.arguments));
    let is_same = |session: &Session, open: &OpenCall, fits: fn(&str, &str, &str) -> bool| {
        open.on_tools == OnTools::No
            && fits(open.call.tool.as_str(), &call.server, &call.tool)
            && canonical(as_sent(session, open)) == *arguments
    };
    let named: [fn(&str, &str, &str) -> bool; 2] = [is_named, ends_so];
    let id = named.into_iter().find_map(|fits| {
        talks.open_calls().find(|open| is_same(session, open, fits)).map(|open| {
            open.on_tools = OnTools::Sent;
            open.effect
        })
    })?;
    let (effect, server) = (session.state().effect(id)?.reference(), call.server.clone());
    session.emit(ToolCallEvent::CallSent { effect, server });
    Some(id)
}

/// The arguments that the agent got.
fn as_sent<'a>(session: &'a Session, open: &'a OpenCall) -> &'a Value {
    session.state().tool_call(open.effect).map_or(&open.call.arguments, |call| &call.arguments)
}

/// Whether the name ends with the tool's name, as a word.
fn ends_so(name: &str, _: &str, tool: &str) -> bool {
    let before = name.strip_suffix(tool);
    before.is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric()))
}

/// Makes the server run the call, and tells the client its result, until the client has its answer or has given up.
pub async fn attend(handle: Handle, talks: Rc<RefCell<Talks>>, id: EffectId, way: CallSessionEnd) {
    tokio::select! {
        biased;
        () = pass(&handle, &talks, id, &way) => {}
        never = tell_holds(&handle, &way, id) => never,
        () = way.given_up() => {}
    }
}

async fn pass(handle: &Handle, talks: &RefCell<Talks>, id: EffectId, way: &CallSessionEnd) {
    // The call may have been paused since.
    if !handle.read(|session| is_over(session, id)) {
        handle.checkpoint(Lane::Effect(id), Boundary::BeforeToolCall).await;
    }
    if handle.read(|session| is_over(session, id)) {
        // A fault or a person has answered the call: the tool does not run.
        end(handle, id, way, None).await;
        return;
    }
    way.tell(RelayTurn::On(None));
    let came = tokio::select! {
        biased;
        came = way.returned() => came,
        () = handle.until(|session| is_over(session, id)) => None,
    };
    let Some(came) = came else { return end(handle, id, way, None).await };
    handle.write(|session| {
        let effect = session.state().effect(id).map(|effect| effect.reference());
        effect.into_iter().for_each(|effect| session.emit(ToolCallEvent::CallRan { effect }));
    });
    let is_given = talks.borrow_mut().open_calls().find(|open| open.effect == id).map(|open| {
        open.on_tools = OnTools::Returned;
        open.give(came.clone());
    });
    match is_given {
        Some(()) => end(handle, id, way, Some(came)).await,
        // The agent has continued without the call.
        None => drop(way.tell(RelayTurn::AsCame)),
    }
}

/// Gives the client the outcome, once it has passed the last station.
async fn end(handle: &Handle, id: EffectId, way: &CallSessionEnd, came: Option<Returned>) {
    handle.until(|session| session.lanes().flight(id).is_none()).await;
    let failed = |why: &str| Err(ToolError::new(ToolErrorKind::Failed, why));
    let returned = handle.read(|session| match session.state().tool_call(id).map(|it| &it.phase) {
        Some(ToolCallPhase::Done { output }) => Ok((**output).clone()),
        Some(ToolCallPhase::Failed { error }) => Err(error.clone()),
        Some(ToolCallPhase::Refused { why, .. }) => failed(why),
        Some(ToolCallPhase::Requested | ToolCallPhase::Running) | None => {
            failed("the call has no outcome")
        }
    });
    give(handle, way, id, came, returned);
}

fn is_over(session: &Session, id: EffectId) -> bool {
    session.state().effect(id).is_none_or(|effect| effect.is_over())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_name_a_server_s_tool_in_several_ways() {
        for name in ["read_file", "mcp__my-files__read_file", "my-files__read_file"] {
            assert!(is_named(name, "my-files", "read_file"), "{name}");
        }
        assert!(is_named("my_files_read_file", "my-files", "read_file"));
        assert!(is_named("my-files.read_file", "my-files", "read_file"));
        for name in ["other__read_file", "unread_file", "read_files", "mcp__my-files__read"] {
            assert!(!is_named(name, "my-files", "read_file"), "{name}");
        }
        assert!(ends_so("functions.read_file", "", "read_file"));
        assert!(!ends_so("unread_file", "", "read_file"));
    }
}
