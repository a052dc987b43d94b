//! Calls of tools that a watched agent runs: each ends when a later request of its conversation has the result.

use std::sync::Arc;
use std::{cell::RefCell, rc::Rc};

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use tokio::sync::oneshot;

use super::past::RecordedCall;
use super::past_changes::Decision;
use crate::domain::{
    By, EffectId, Message, TaskId, ToolCall, ToolCallEvent, ToolError, ToolErrorKind, ToolOutput,
    ToolSpec, UnseenResult,
};
use crate::effect::{self, Effect, GuestCall, Outcome, PendingEffect};
use crate::handle::Handle;
use crate::session::{Session, lanes::Waits};
use crate::tool::{Invocation, Tool};

/// Why a call without a result fails.
pub const NO_RESULT: &str = "the agent never sent its result";

/// The result of a call, as the agent reports it.
pub type Returned = Result<ToolOutput, ToolError>;

/// A tool that runs in the agent.
struct Elsewhere {
    spec: Arc<ToolSpec>,
    result: RefCell<Option<oneshot::Receiver<Returned>>>,
}

impl Tool for Elsewhere {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> LocalBoxFuture<'a, Returned> {
        let result = self.result.take();
        async move {
            let lost = || ToolError::new(ToolErrorKind::Unavailable, NO_RESULT);
            match result {
                Some(result) => result.await.unwrap_or_else(|_| Err(lost())),
                None => Err(lost()),
            }
        }
        .boxed_local()
    }
}

/// A model call that was answered, as the parent of its calls.
#[derive(Clone, Copy)]
pub struct Parent {
    pub task: TaskId,
    pub step: u32,
    pub id: EffectId,
    /// Whether the client has forced the model to call a tool.
    pub forces_call: bool,
    /// Whether its requests cannot change.
    pub is_fixed: bool,
}

/// The state of a call on the wire of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTools {
    /// No relay has the call, at least not yet.
    No,
    Sent,
    /// The client has the answer with which the call ended.
    Returned,
}

/// A call whose result the agent has not sent.
pub struct OpenCall {
    pub call: ToolCall,
    pub effect: EffectId,
    /// The model call whose answer has it.
    pub parent: EffectId,
    /// Whether the client has forced the model to call a tool.
    pub is_forced: bool,
    pub on_tools: OnTools,
    /// The place of the call in the record that its agent runs over again.
    pub recorded: Option<RecordedCall>,
    result: Option<oneshot::Sender<Returned>>,
    outcome: oneshot::Receiver<Outcome>,
}

/// Requests a call, and returns the data that is kept while it runs.
pub fn request(
    session: &mut Session,
    of: Parent,
    call: &ToolCall,
    spec: Arc<ToolSpec>,
) -> (PendingEffect, OpenCall, oneshot::Sender<Outcome>) {
    let (result, to_come) = oneshot::channel();
    let (ended, outcome) = oneshot::channel();
    let tool = Rc::new(Elsewhere { spec, result: RefCell::new(Some(to_come)) });
    let effect = Effect::Tool(effect::ToolCall {
        step: of.step,
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        evidence: None,
        by: By::Engine,
        line: None,
        guest: Some(GuestCall {
            id: call.id.as_str().into(),
            tool,
            is_relayed: false,
            is_fixed: of.is_fixed,
        }),
    });
    let requested = effect::request(session, of.task, effect, Some(of.id), Waits::Agent);
    let open = OpenCall {
        call: call.clone(),
        effect: requested.reference.id,
        parent: of.id,
        is_forced: of.forces_call,
        on_tools: OnTools::No,
        recorded: None,
        result: Some(result),
        outcome,
    };
    (requested, open, ended)
}

impl OpenCall {
    /// Gives the call its returned result. A call that a fault or a person has ended accepts no result.
    pub fn give(&mut self, returned: Returned) {
        if let Some(result) = self.result.take() {
            let _ = result.send(returned);
        }
    }

    /// Returns when the call has passed its last station.
    pub async fn over(&mut self) {
        if let Ok(outcome) = (&mut self.outcome).await {
            let (again, to_come) = oneshot::channel();
            let _ = again.send(outcome);
            self.outcome = to_come;
        }
    }

    /// Ends the call with its result, or with `instead`. Returns the result that the model must read, if it differs
    /// from the agent's. `is_withheld`: then the model does not read the agent's.
    pub async fn end(
        mut self,
        handle: &Handle,
        returned: Returned,
        instead: Option<Returned>,
        is_withheld: bool,
    ) -> Option<Decision> {
        let (effect, told) = (self.effect, effect::redacted(Outcome::Result(returned.clone())));
        self.give(instead.unwrap_or(returned));
        let outcome = self.outcome.await.ok()?;
        if self.on_tools != OnTools::No {
            handle.write(|session| {
                let effect = session.state().effect(effect).map(|known| known.reference());
                let read = effect.map(|effect| ToolCallEvent::ResultRead { effect });
                read.into_iter().for_each(|event| session.emit(event));
            });
        }
        // The client has told the agent this result already, in its own words.
        if self.on_tools == OnTools::Returned {
            return None;
        }
        if text_of(&outcome) == text_of(&told) {
            return None;
        }
        if let (true, Outcome::Result(returned)) = (is_withheld, told) {
            let text = returned.map_or_else(|error| error.text, |output| output.text);
            let output = Arc::new(ToolOutput::of(text));
            handle.write(|session| {
                let effect = session.state().effect(effect).map(|known| known.reference());
                let withheld =
                    effect.map(|effect| ToolCallEvent::ResultWithheld { effect, output });
                withheld.into_iter().for_each(|event| session.emit(event));
            });
        }
        let failed = !matches!(outcome, Outcome::Result(Ok(_)));
        Some(Decision { text: text_of(&outcome).to_owned(), failed })
    }
}

/// Notes that no request has the result of a call as such.
pub fn note_unseen(session: &mut Session, call: EffectId, why: UnseenResult) {
    let effect = session.state().effect(call).map(|known| known.reference());
    let event = effect.map(|effect| ToolCallEvent::ResultUnseen { effect, why });
    event.into_iter().for_each(|event| session.emit(event));
}

/// The result in a message.
pub fn returned(message: &Message) -> Option<Returned> {
    let Message::Tool { text, failed, .. } = message else { return None };
    Some(match failed {
        true => Err(ToolError::new(ToolErrorKind::Failed, text)),
        false => Ok(ToolOutput::of(text.clone())),
    })
}

fn text_of(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Result(Ok(output)) => &output.text,
        Outcome::Result(Err(error)) => &error.text,
        Outcome::Refused(_, why) => why,
        Outcome::Reply(_) | Outcome::Embedded(_) | Outcome::Ranked(_) => "",
    }
}
