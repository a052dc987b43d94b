//! Runs one program: its calls are effects, and what it does between them is nobody's business unless somebody wants
//! it to stop.

use std::sync::Arc;

use serde_json::Value;

use crate::domain::program::{
    Answer, Function, Interpreter, LineStop, Pause, ProgramCall, ProgramEnd, ProgramLimits,
    ProgramStart, Raised, Stops,
};
use crate::domain::{
    Boundary, ProgramEvent, Refusal, SessionEvent, ToolCall, ToolCallPhase, ToolErrorKind,
};
use crate::papers::atc::identifiers::Identifiers;
use crate::strategy::{CallResult, Context, Observation};

/// A program to run.
pub(super) struct Run<'a, C> {
    pub ctx: &'a C,
    /// Its number in the task, from 1.
    pub number: u32,
    pub program: &'a Arc<str>,
    pub names: &'a Identifiers,
}

/// What a program did.
pub(super) struct Ran {
    pub calls: Vec<ToolCall>,
    pub called: Vec<CallResult>,
    pub end: ProgramEnd,
}

/// What a program was told so far: it is deterministic, so it can be run again up to here.
#[derive(Default)]
struct Told {
    calls: Vec<(Pause, Vec<Answer>)>,
}

impl<C: Context> Run<'_, C> {
    pub async fn to_end(&self, functions: Vec<Function>) -> Ran {
        let mut interpreter = self.ctx.interpreter();
        let mut ran = Ran { calls: Vec::new(), called: Vec::new(), end: ProgramEnd::default() };
        let mut told = Told::default();
        let mut stops = self.ctx.stops();
        let mut start = ProgramStart {
            text: self.program.to_string(),
            functions,
            limits: ProgramLimits::default(),
            stoppable: stops != Stops::None,
        };
        let mut pause = interpreter.start(&start, &stops).await;
        loop {
            let answers = match &pause {
                Pause::Ended(end) => {
                    ran.end = end.clone();
                    return ran;
                }
                Pause::Line(at) => {
                    self.hold(at).await;
                    Vec::new()
                }
                Pause::Clock => vec![Answer::Time(self.ctx.clock())],
                Pause::Call(call) => self.call(std::slice::from_ref(call), &mut ran).await,
                Pause::Calls(calls) => self.call(calls, &mut ran).await,
            };
            stops = self.ctx.stops();
            if stops != Stops::None && !start.stoppable {
                // Somebody wants it to stop from here on: it is run again up to here, in a way that can.
                start.stoppable = true;
                self.again(&mut *interpreter, &start, &told, &pause).await;
            }
            if !matches!(pause, Pause::Line(_)) {
                told.calls.push((pause, answers.clone()));
            }
            pause = interpreter.answer(answers, &stops).await;
        }
    }

    /// Runs the program again over what it was told, up to where it waits now.
    async fn again(
        &self,
        interpreter: &mut dyn Interpreter,
        start: &ProgramStart,
        told: &Told,
        now: &Pause,
    ) {
        interpreter.stop();
        let mut pause = interpreter.start(start, &Stops::None).await;
        for (was, answers) in &told.calls {
            if pause != *was {
                break;
            }
            pause = interpreter.answer(answers.clone(), &Stops::None).await;
        }
        if pause != *now {
            let text = "the program did something else when it was run again with the same results"
                .to_owned();
            self.ctx.say(|_| SessionEvent::Noticed { text });
        }
    }

    async fn hold(&self, at: &LineStop) {
        let (number, at) = (self.number, Arc::new(at.clone()));
        self.ctx.say(|task| ProgramEvent::ProgramHeld { task, number, at });
        self.ctx.checkpoint(Boundary::ProgramLine).await;
    }

    /// Makes calls, at once if there are several.
    async fn call(&self, made: &[ProgramCall], ran: &mut Ran) -> Vec<Answer> {
        let call = |(i, call): (usize, &ProgramCall)| {
            let tool =
                self.names.tool(&call.tool).cloned().unwrap_or_else(|| call.tool.as_str().into());
            let id = format!("{}-{}", self.number, ran.calls.len() + i + 1);
            (ToolCall { id, tool, arguments: Value::Object(call.arguments.clone()) }, call.line)
        };
        let calls: Vec<(ToolCall, u32)> = made.iter().enumerate().map(call).collect();
        let called = self.ctx.run(self.number, &calls).await;
        let answers =
            called.iter().zip(made).map(|(called, made)| self.answer(called, &made.tool)).collect();
        ran.calls.extend(calls.into_iter().map(|(call, _)| call));
        ran.called.extend(called);
        answers
    }

    /// What the program gets of a call.
    fn answer(&self, called: &CallResult, name: &str) -> Answer {
        let raise = |kind, text: &str| Answer::Raise(Raised::new(kind, text));
        match &called.observation {
            Observation::Result(text) | Observation::More(text) => Answer::Result(text.clone()),
            Observation::Failed(error) if error.kind == ToolErrorKind::Timeout => {
                raise("TimeoutError", &format!("{name}: {}", error.text))
            }
            Observation::Failed(error) => raise("RuntimeError", &format!("{name}: {}", error.text)),
            Observation::Refused(why) if self.is_wrong_arguments(called) => {
                raise("TypeError", &format!("{name}(): {why}"))
            }
            Observation::Refused(why) => raise("PermissionError", &format!("{name}: {why}")),
        }
    }

    fn is_wrong_arguments(&self, called: &CallResult) -> bool {
        let is_it = |phase: &ToolCallPhase| {
            matches!(phase, ToolCallPhase::Refused { reason: Refusal::Arguments, .. })
        };
        self.ctx.state(|state| state.tool_call(called.id).is_some_and(|call| is_it(&call.phase)))
    }
}
