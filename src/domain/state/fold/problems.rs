//! The fold of problems: which events show one, and which say what the model did next.

use std::sync::Arc;

use crate::chat::{Finish, Reply, Role};
use crate::error::{ModelErrorKind, ToolErrorKind};
use crate::event::{
    Event, Guest, ModelCallEvent, Outcome, Refusal, RunEvent, TaskEvent, ToolCallEvent,
};
use crate::id::{EffectId, TaskId};
use crate::misfit::misfit;
use crate::state::problems::short;
use crate::state::{AgentProblem, Landmark, NextMove, ProblemKind, State, ToolCallState};

impl State {
    /// Notes the problems that an event shows. The state has folded the event.
    pub(super) fn note_problems(&mut self, event: &Event) {
        let before = self.problems.count();
        match event {
            Event::ToolCall(event) => self.problems_of_tool_call(event),
            Event::ModelCall(ModelCallEvent::ModelCallFinished { effect, reply, .. }) => {
                self.problems_of_reply(effect.id, reply);
            }
            Event::ModelCall(ModelCallEvent::ModelCallFailed { effect, error, .. })
                if error.kind != ModelErrorKind::Cancelled =>
            {
                self.problem_of(ProblemKind::ModelFailed, effect.id, None, &error.text);
            }
            Event::Run(event) => self.problems_of_run(event),
            Event::Task(TaskEvent::TaskFinished { task, outcome, answer, correct, .. }) => {
                let next = match outcome {
                    Outcome::Answered => NextMove::Answered,
                    _ => NextMove::Ended,
                };
                self.problems.moved((*task, self.n), |_| next.clone());
                // A watched agent that leaves has its tasks stopped; a person cannot stop them.
                let is_left = *outcome == Outcome::Stopped && self.is_guest(*task);
                if outcome.is_wrong(*correct) || is_left {
                    let wrong = *outcome == Outcome::Answered;
                    let about = if wrong { "wrong answer" } else { outcome.name() };
                    let said = answer.as_deref().unwrap_or_default();
                    self.problem(ProblemKind::TaskFailed, (*task, None), about, said);
                }
            }
            _ => {}
        }
        if self.problems.count() > before {
            self.landmarks.add(Landmark::Problem, self.n);
        }
    }

    fn problems_of_tool_call(&mut self, event: &ToolCallEvent) {
        match event {
            ToolCallEvent::ToolCallRequested { effect, .. } if self.is_of_guest(effect.id) => {
                if let Some(why) = self.misfit_of(effect.id) {
                    self.problem_of(ProblemKind::Arguments, effect.id, None, &why);
                }
            }
            ToolCallEvent::ToolCallRefused { effect, why, reason } => {
                if *reason == Refusal::Arguments {
                    self.problem_of(ProblemKind::Arguments, effect.id, None, why);
                }
                self.note_loop(effect.id);
            }
            ToolCallEvent::ToolCallFinished { effect, output } => {
                if self.is_spoilt(effect.id) {
                    self.problem_of(ProblemKind::Spoilt, effect.id, None, &output.text);
                } else if output.says_error() {
                    self.problem_of(ProblemKind::SaysError, effect.id, None, &output.text);
                }
                self.note_loop(effect.id);
            }
            ToolCallEvent::ToolCallFailed { effect, error } => {
                let is_lost = self.tool_call(effect.id).is_some_and(ToolCallState::has_no_result);
                match error.kind {
                    ToolErrorKind::Cancelled => {}
                    _ if is_lost => self.problem_of(ProblemKind::NoResult, effect.id, None, ""),
                    _ => self.problem_of(ProblemKind::ToolFailed, effect.id, None, &error.text),
                }
                self.note_loop(effect.id);
            }
            _ => {}
        }
    }

    fn problems_of_reply(&mut self, call: EffectId, reply: &Reply) {
        let Some(known) = self.model_call(call) else { return };
        let decides =
            matches!(known.role, Role::Actor | Role::Planner | Role::Programmer | Role::Solver);
        let (task, n) = (known.task, known.n);
        if decides {
            self.problems.moved((task, n), |problem| match reply.calls.as_slice() {
                [] => NextMove::Answered,
                calls if calls.iter().any(|call| problem.is_about(call.tool.as_str())) => {
                    NextMove::Again
                }
                [first, ..] => NextMove::called(first.tool.as_str()),
            });
        }
        if reply.finish.is_cut() {
            let said = match reply.finish {
                Finish::Filtered => "by a content filter",
                _ => "at the token limit",
            };
            self.problem_of(ProblemKind::CutAnswer, call, None, said);
        } else if self.is_spoilt(call) {
            self.problem_of(ProblemKind::Spoilt, call, None, &reply.text);
        }
    }

    fn problems_of_run(&mut self, event: &RunEvent) {
        match event {
            RunEvent::HistoryRewritten { call: Some(call), dropped, .. } => {
                let about = dropped.to_string();
                self.problem_of(ProblemKind::Rewritten, *call, Some(&about), "");
            }
            // A text that changes with every request is told once.
            RunEvent::PrefixLost { call, lost, .. } if !self.is_lost_again(lost) => {
                self.problem_of(ProblemKind::LostPrefix, *call, Some(&lost.field), &lost.now);
            }
            RunEvent::InputUnread { call, unread, .. } => {
                let said = format!("it read {} tokens of some {}", unread.read, unread.of);
                self.problem_of(ProblemKind::DroppedInput, *call, None, &said);
            }
            RunEvent::RunParted { run, field, asked, recorded, .. } => {
                let of_run = self.tasks.iter().rev().find(|task| self.run_of(task.id) == *run);
                let said = format!("{} instead of {}", short(asked), short(recorded));
                let task = of_run.map(|task| task.id);
                if let Some(task) = task {
                    self.problem(ProblemKind::Parted, (task, None), field, &said);
                }
            }
            RunEvent::ResultDrifted { drift, .. } => {
                let said = format!(
                    "{}: {} instead of {}",
                    drift.field,
                    short(&drift.now),
                    short(&drift.recorded)
                );
                self.problem_of(ProblemKind::Drifted, drift.call, None, &said);
            }
            _ => {}
        }
    }

    fn note_loop(&mut self, call: EffectId) {
        let Some(tools) = self.loop_at(call) else { return };
        let tools: Vec<_> = tools.iter().map(|tool| short(tool.as_str())).collect();
        let tools = tools.join(", ");
        self.problem_of(ProblemKind::Loop, call, Some(&tools), "");
    }

    /// Notes a problem of a call: of its tool or its model, unless the problem is about something else. What a person
    /// called by hand, or what probes tools, is no problem of the agent.
    fn problem_of(&mut self, kind: ProblemKind, call: EffectId, about: Option<&str>, said: &str) {
        let Some(task) = self.effect(call).map(|effect| effect.task) else { return };
        let tool = self.tool_call(call).filter(|call| !call.is_by_hand());
        let tool = tool.map(|call| short(call.tool.as_str()));
        let model = || self.model_call(call).map(|call| short(call.model.as_str()));
        let Some(name) = tool.or_else(model).filter(|_| !self.is_probe(task)) else { return };
        self.problem(kind, (task, Some(call)), about.unwrap_or(&name), said);
    }

    fn problem(
        &mut self,
        kind: ProblemKind,
        (task, call): (TaskId, Option<EffectId>),
        about: &str,
        said: &str,
    ) {
        let began = self.task(task).and_then(|task| task.started).unwrap_or(0);
        let injected = match kind {
            ProblemKind::Spoilt => true,
            ProblemKind::ToolFailed | ProblemKind::ModelFailed | ProblemKind::CutAnswer => {
                call.is_some_and(|call| self.is_spoilt(call))
            }
            _ => false,
        };
        let problem = AgentProblem {
            number: 0,
            kind,
            n: self.n,
            at: self.at.saturating_sub(began),
            task,
            call,
            about: Arc::default(),
            said: Arc::default(),
            injected,
            next: None,
        };
        self.problems.add(problem, about, said);
    }

    /// Whether a task is of a watched agent, and not only the calls of a server.
    fn is_guest(&self, task: TaskId) -> bool {
        let guest = self.runs.get(&self.run_of(task)).and_then(|run| run.guest.as_ref());
        guest.is_some_and(|guest| guest.wire != Guest::MCP)
    }

    /// Whether a fault replaced the outcome of this effect.
    fn is_spoilt(&self, effect: EffectId) -> bool {
        let fault = self.effect(effect).and_then(|effect| effect.injected);
        let fault = fault.and_then(|fault| self.faults.get(&fault));
        fault.is_some_and(|fault| !fault.spec.kind.keeps_answer())
    }

    /// Why the arguments of a watched agent's call break the schema that its request had for the tool.
    fn misfit_of(&self, call: EffectId) -> Option<String> {
        let call = self.tool_call(call)?;
        let asked = self.task(call.task)?.model_calls.last().and_then(|id| self.model_call(*id))?;
        let tool = asked.request.tools.iter().find(|tool| tool.name == call.tool)?;
        misfit(&tool.parameters, &call.arguments)
    }
}
