//! The engine's side of the interface for strategies: every effect goes through the stations.

use std::{cell::Cell, rc::Rc, sync::Arc};

use futures::{StreamExt, stream::FuturesOrdered};

use super::effect::{self, Before, Caller, Effect, Outcome, PendingEffect};
use super::{
    handle::Handle,
    programs, reading,
    session::{Session, lanes::Waits},
};
use crate::domain::{
    Boundary, By, Event, EvidenceId, Lane, ModelError, ModelErrorKind, Reply, Request, Role,
    SessionEvent, State, TaskId, ToolCall, ToolName,
    program::{Interpreter, LineStop, Wanted},
};
use crate::strategy::{self, CallResult, Observation, Sought};

/// Empty replies in a row after which a task ends: the same request would be paid again and again.
const MOST_EMPTY: u32 = 3;

/// A strategy's interface to one task.
pub(super) struct Context {
    pub handle: Handle,
    pub task: TaskId,
    /// How many replies in a row were empty.
    pub empty: Cell<u32>,
}

impl strategy::Look for Context {
    fn state<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        self.handle.read(|session| look(session.state()))
    }

    fn retrieve(&self, text: &str, k: usize) -> Vec<ToolName> {
        self.handle.read(|session| session.retrieve(text, k))
    }
}

impl strategy::Context for Context {
    fn say<E: Into<Event>>(&self, event: impl FnOnce(TaskId) -> E) {
        self.handle.emit(event(self.task));
    }

    async fn read(&self, text: &str, sought: Sought) {
        reading::read(&self.handle, self.task, text, sought).await;
    }

    async fn write(
        &self,
        request: Request,
        question: &str,
        so_far: &str,
    ) -> Result<Arc<Reply>, ModelError> {
        self.handle.verdicts().await;
        let before = Before { question: question.to_owned(), so_far: so_far.to_owned() };
        let caller = Caller { judged: Some(Rc::new(before)), ..self.caller(None) };
        effect::ask(&self.handle, caller, Role::Actor, request).await.1
    }

    async fn widen(&self, needs: &[&str], kept: Option<&[ToolName]>) -> bool {
        if self.handle.read(|session| session.state().may_widen()) {
            for need in needs {
                self.read(need, Sought::Need).await;
            }
        }
        self.handle.write(|session| session.widen(needs, kept, "the agent missed a tool"))
    }

    async fn ask(&self, role: Role, request: Request) -> Result<Arc<Reply>, ModelError> {
        self.handle.verdicts().await;
        self.expect_something(role, None)?;
        let reply = self.model_call(role, request, None).await?;
        self.expect_something(role, Some(&reply))?;
        Ok(reply)
    }

    async fn call(&self, step: u32, calls: &[ToolCall]) -> Vec<CallResult> {
        // All are requested before the first one runs, so that their numbers follow their order.
        let requested: Vec<_> = calls.iter().map(|call| self.request(step, None, call)).collect();
        let running: FuturesOrdered<_> = requested
            .into_iter()
            .zip(calls)
            .map(|(requested, call)| self.tool_call(requested, call))
            .collect();
        let called = running.collect().await;
        self.handle.verdicts().await;
        called
    }

    async fn find(&self, step: u32, evidence: EvidenceId, call: &ToolCall) -> CallResult {
        let requested = self.request(step, Some(evidence), call);
        self.tool_call(requested, call).await
    }

    async fn find_out(
        &self,
        evidence: EvidenceId,
        role: Role,
        request: Request,
    ) -> Result<Arc<Reply>, ModelError> {
        self.model_call(role, request, Some(evidence)).await
    }

    async fn run(&self, program: u32, calls: &[(ToolCall, u32)]) -> Vec<CallResult> {
        let request =
            |(call, line): &(ToolCall, u32)| self.request_at(program, (None, Some(*line)), call);
        let requested: Vec<_> = calls.iter().map(request).collect();
        let running: FuturesOrdered<_> = requested
            .into_iter()
            .zip(calls)
            .map(|(requested, (call, _))| self.tool_call(requested, call))
            .collect();
        running.collect().await
    }

    fn interpreter(&self) -> Box<dyn Interpreter> {
        Box::new(programs::Warm::of(&self.handle))
    }

    fn wanted(&self, program: u32) -> Wanted {
        self.handle.write(|session| session.wanted_of_program(self.task, program))
    }

    fn reach(&self, program: u32, at: &Arc<LineStop>) -> bool {
        self.handle.write(|session| session.reach(self.task, program, at))
    }

    fn clock(&self) -> i64 {
        self.handle.write(Session::clock)
    }

    async fn checkpoint(&self, boundary: Boundary) {
        self.handle.checkpoint(Lane::Agent, boundary).await;
    }
}

impl Context {
    async fn model_call(
        &self,
        role: Role,
        request: Request,
        evidence: Option<EvidenceId>,
    ) -> Result<Arc<Reply>, ModelError> {
        effect::ask(&self.handle, self.caller(evidence), role, request).await.1
    }

    /// Fails after too many empty replies in a row of a role that is asked again after one, from then on: there is nothing
    /// to reflect on, either.
    fn expect_something(&self, role: Role, reply: Option<&Reply>) -> Result<(), ModelError> {
        let is_asked_again = matches!(role, Role::Actor | Role::Programmer);
        if !is_asked_again && role != Role::Reflector {
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

    fn caller(&self, evidence: Option<EvidenceId>) -> Caller {
        Caller { task: self.task, evidence, parent: None, waits: Waits::Agent, judged: None }
    }

    fn request(&self, step: u32, evidence: Option<EvidenceId>, call: &ToolCall) -> PendingEffect {
        self.request_at(step, (evidence, None), call)
    }

    fn request_at(
        &self,
        step: u32,
        (evidence, line): (Option<EvidenceId>, Option<u32>),
        call: &ToolCall,
    ) -> PendingEffect {
        let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
        let by = By::Engine;
        let effect = Effect::Tool(effect::ToolCall { step, tool, arguments, evidence, by, line });
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
            Outcome::Reply(_) | Outcome::Embedded(_) => Observation::Refused(String::new()),
        };
        let tool = call.tool.clone();
        self.handle.read(|session| {
            let made = session.state().tool_call(id);
            let injected = made.is_some_and(|made| made.injected.is_some());
            // A person may have changed them.
            let arguments = made.map_or(&call.arguments, |made| made.shown_arguments()).clone();
            CallResult { id, tool, arguments, observation, injected }
        })
    }
}
