//! The engine's side of the interface for strategies: every effect goes through the stations.

use std::{cell::Cell, rc::Rc, sync::Arc};

use futures::{StreamExt, stream::FuturesOrdered};

use super::effect::{self, Caller, Effect, Outcome, PendingEffect};
use super::{handle::Handle, programs, reading, session::lanes::Waits};
use crate::domain::{
    Boundary, By, Event, InTask, Lane, ModelError, ModelErrorKind, Reply, Request, Role, RunId,
    SessionEvent, TaskId, ToolCall, ToolName,
};
use crate::strategy::{self, AskSpec, CallResult, CallSpec, Observation, Sought};

/// Empty replies in a row after which a task ends: the same request would be paid again and again.
const MOST_EMPTY: u32 = 3;

/// A strategy's interface to one task.
pub(super) struct Context {
    pub handle: Handle,
    pub run: RunId,
    pub task: TaskId,
    /// Number of empty replies in a row.
    pub empty: Cell<u32>,
}

impl strategy::Context for Context {
    fn state<T>(&self, look: impl FnOnce(&InTask<'_>) -> T) -> T {
        self.handle.read(|session| look(&session.state().in_task(self.task)))
    }

    fn say<E: Into<Event>>(&self, event: impl FnOnce(TaskId) -> E) {
        self.handle.emit(event(self.task));
    }

    async fn retrieve(&self, text: &str, sought: Sought, k: usize) -> Vec<ToolName> {
        let ranking = reading::read(&self.handle, self.task, text, sought).await;
        self.handle.read(|session| session.retrieve(self.task, text, ranking.as_deref(), k))
    }

    async fn ask(
        &self,
        spec: impl Into<AskSpec>,
        request: Request,
    ) -> Result<Arc<Reply>, ModelError> {
        let AskSpec { role, evidence, along } = spec.into();
        if evidence.is_none() {
            self.handle.verdicts(self.run).await;
        }
        // A continuation of a text may be empty, and evidence is requested only once.
        let counted = (evidence.is_none() && along.is_none()).then_some(role);
        self.expect_something(counted, None)?;
        let (task, parent, waits) = (self.task, None, Waits::Agent);
        let caller = Caller { task, evidence, parent, waits, judged: along.map(Rc::new) };
        let reply = effect::ask(&self.handle, caller, role, request).await.1?;
        self.expect_something(counted, Some(&reply))?;
        Ok(reply)
    }

    async fn call(&self, spec: CallSpec<'_>, calls: &[ToolCall]) -> Vec<CallResult> {
        // All are requested before the first one runs, so that their numbers follow their order.
        let requested: Vec<_> =
            (0..).zip(calls).map(|(nth, call)| self.request(spec, nth, call)).collect();
        let running: FuturesOrdered<_> = requested
            .into_iter()
            .zip(calls)
            .map(|(requested, call)| self.tool_call(requested, call))
            .collect();
        let called = running.collect().await;
        if matches!(spec, CallSpec::Step(_)) {
            self.handle.verdicts(self.run).await;
        }
        called
    }

    async fn widen(&self, needs: &[&str], kept: Option<&[ToolName]>) -> bool {
        if self.handle.read(|session| session.state().in_task(self.task).may_widen()) {
            for need in needs {
                reading::read(&self.handle, self.task, need, Sought::Need).await;
            }
        }
        self.handle
            .write(|session| session.widen(self.task, needs, kept, "the agent missed a tool"))
    }

    async fn checkpoint(&self, boundary: Boundary) {
        self.handle.checkpoint(Lane::Run(self.run), boundary).await;
    }

    fn program(&self, number: u32) -> impl strategy::ProgramHost {
        programs::TaskProgram { handle: &self.handle, run: self.run, task: self.task, number }
    }
}

impl Context {
    /// Fails after too many empty replies in a row of a role that is called again after one, and from then on also for
    /// a reflector, which has nothing to reflect on.
    fn expect_something(
        &self,
        role: Option<Role>,
        reply: Option<&Reply>,
    ) -> Result<(), ModelError> {
        let is_asked_again = matches!(role, Some(Role::Actor | Role::Programmer));
        if !is_asked_again && role != Some(Role::Reflector) {
            return Ok(());
        }
        if let Some(reply) = reply.filter(|_| is_asked_again) {
            let has_nothing = reply.is_empty() || reply.is_unread();
            self.empty.set(if has_nothing { self.empty.get() + 1 } else { 0 });
        }
        if self.empty.get() < MOST_EMPTY {
            return Ok(());
        }
        let text = format!(
            "the model answered {MOST_EMPTY} times in a row with neither an answer nor a call; the task ends"
        );
        if reply.is_some() {
            self.handle.emit(SessionEvent::Noticed { text: text.clone() });
        }
        Err(ModelError::new(ModelErrorKind::BadAnswer, text))
    }

    fn request(&self, spec: CallSpec<'_>, nth: usize, call: &ToolCall) -> PendingEffect {
        let (step, evidence, line) = match spec {
            CallSpec::Step(step) => (step, None, None),
            CallSpec::Evidence(step, evidence) => (step, Some(evidence), None),
            CallSpec::Program(number, lines) => (number, None, lines.get(nth).copied()),
        };
        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
        let by = By::Engine;
        let effect = Effect::Tool(effect::ToolCall {
            step,
            tool,
            arguments,
            evidence,
            by,
            line,
            guest: None,
        });
        self.handle.write(|session| effect::request(session, self.task, effect, None, Waits::Agent))
    }

    /// Runs a requested call to its end. A person can have it made again, any number of times.
    async fn tool_call(&self, mut requested: PendingEffect, call: &ToolCall) -> CallResult {
        let more = self.handle.read(|session| session.state().reads_on(&call.tool));
        let (id, outcome) = loop {
            let id = requested.reference.id;
            let (outcome, is_again) = effect::perform(&self.handle, requested).await;
            match is_again.then(|| self.handle.write(|session| session.request_again(id))).flatten()
            {
                Some(again) => requested = again,
                None => break (id, outcome),
            }
        };
        let observation = match outcome {
            Outcome::Result(Ok(output)) if more => Observation::More(output.text),
            Outcome::Result(Ok(output)) => Observation::Result(output.text),
            Outcome::Result(Err(error)) => Observation::Failed(error),
            Outcome::Refused(_, why) => Observation::Refused(why),
            Outcome::Reply(_) | Outcome::Embedded(_) | Outcome::Ranked(_) => {
                Observation::Refused(String::new())
            }
        };
        let tool = call.tool.clone();
        self.handle.read(|session| {
            let made = session.state().tool_call(id);
            let injected = made.is_some_and(|made| made.injected.is_some());
            // A person may have changed the arguments.
            let arguments = made.map_or(&call.arguments, |made| made.shown_arguments()).clone();
            CallResult { id, tool, arguments, observation, injected }
        })
    }
}
