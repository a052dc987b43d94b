//! Runs one program. Its calls are effects; its other statements are reported only where a stop is requested.

mod from;
mod progress;

use std::sync::Arc;

use serde_json::Value;

pub(super) use self::from::From;
pub(super) use self::progress::Ran;
use crate::domain::program::{
    Again, Back, CALLS, CallAnswer, Extra, ExtraOutcome, Function, Interpreter, LineStop, Moment,
    Pause, ProgramCall, ProgramEnd, ProgramLimits, ProgramStart, Reached, Set, StopRequest, Stops,
    TOO_LONG, Until,
};
use crate::domain::{
    Boundary, InTask, ProgramEvent, Refusal, SessionEvent, ToolCall, ToolCallPhase,
};
use crate::papers::atc::{identifiers::Identifiers, record};
use crate::{CallResult, CallSpec, Context, Observation, ProgramHost};

/// The time of its own that a program may take to report its values after its end, in milliseconds.
const TELLING_MS: u64 = 100;

/// A program to run.
pub(super) struct ProgramRun<'a, C> {
    pub ctx: &'a C,
    /// The number of the program in the task, from 1.
    pub number: u32,
    pub program: &'a Arc<str>,
    pub names: &'a Identifiers,
    pub functions: &'a [Function],
    /// The place up to which it runs over a record.
    pub from: Option<From>,
}

/// The last values of a program that has ended: it is run again over its record in a form that reports them.
async fn values(interpreter: &mut dyn Interpreter, ran: &Ran, end: &ProgramEnd) -> Vec<Set> {
    // Reporting takes longer than running: a program that reached a limit would reach it again.
    const LIMITS: [&str; 4] = ["TimeoutError", "MemoryError", "RecursionError", "SystemError"];
    if end.error.as_ref().is_some_and(|error| LIMITS.contains(&error.kind.as_str())) {
        return Vec::new();
    }
    let limits = ProgramLimits { time_ms: TELLING_MS, ..ran.start.limits };
    let start = ProgramStart { stoppable: true, limits, ..ran.start.clone() };
    let again = Again { start, heard: ran.heard.clone(), ..Again::default() };
    match interpreter.again(&again).await.pause {
        Pause::Ended(again) if again.printed == end.printed => again.set,
        _ => Vec::new(),
    }
}

/// The stops of the program: at first, where a person's program leaves its record.
fn stops(from: Option<&From>, wanted: &StopRequest) -> Stops {
    from.map_or_else(|| wanted.stops.clone(), From::stops)
}

/// The expressions that a person asks for at a place without setting a variable, in order.
fn asked_at(asked: &[Extra], at: &LineStop) -> Vec<String> {
    let here = Moment::Hit { line: at.line, hit: at.hit };
    let asks = asked.iter().filter(|extra| extra.when == here && extra.sets.is_none());
    asks.map(|extra| extra.expression.clone()).collect()
}

impl<C: Context> ProgramRun<'_, C> {
    /// The session's side of the program.
    fn program(&self) -> impl ProgramHost {
        self.ctx.program(self.number)
    }

    pub async fn to_end(&self) -> Ran {
        let mut interpreter = self.program().interpreter();
        let wanted = self.program().wanted();
        let start = ProgramStart {
            text: self.program.to_string(),
            functions: self.functions.to_vec(),
            limits: ProgramLimits::default(),
            stoppable: self.from.is_some() || !wanted.is_none(),
            extras: wanted.extras.clone(),
        };
        let stops = stops(self.from.as_ref(), &wanted);
        let pause = interpreter.start(&start, &stops).await;
        self.go_on(&mut *interpreter, Ran::new(start), pause).await
    }

    /// Goes on from an earlier place if a person has taken the program back after its end.
    ///
    /// # Errors
    /// No person took it back; this is the ended program.
    pub async fn back(&self, mut ran: Ran) -> Result<Ran, Ran> {
        let Some(to) = self.taken_back(&mut ran) else { return Err(ran) };
        let mut interpreter = self.program().interpreter();
        let end = Pause::Ended(ran.end.clone());
        let pause = self.take_back(&mut *interpreter, &mut ran, to, &end).await;
        Ok(self.go_on(&mut *interpreter, ran, pause).await)
    }

    async fn go_on(
        &self,
        interpreter: &mut dyn Interpreter,
        mut ran: Ran,
        mut pause: Pause,
    ) -> Ran {
        let mut from = self.from.clone().filter(|_| ran.backs == 0);
        loop {
            let before = ran.place;
            let answers = match &pause {
                Pause::Ended(end) => {
                    let wanted = self.program().wanted();
                    let set = match wanted.is_watched {
                        true => values(interpreter, &ran, end).await,
                        false => Vec::new(),
                    };
                    ran.end = ProgramEnd { set, ..end.clone() };
                    return ran;
                }
                Pause::Line(at) => {
                    from.take_if(|from| from.is_at(at));
                    if from.is_none() && self.program().reach(&Arc::new(at.clone())) {
                        self.ctx.checkpoint(Boundary::ProgramLine).await;
                        if super::edited(self.ctx, self.number).is_some() {
                            interpreter.stop();
                            return ran;
                        }
                        if let Some(to) = self.taken_back(&mut ran) {
                            pause = self.take_back(interpreter, &mut ran, to, &pause).await;
                            continue;
                        }
                    }
                    Vec::new()
                }
                Pause::Clock => vec![CallAnswer::Time(ran.time(|| self.program().clock()))],
                Pause::Call(call) => self.call(std::slice::from_ref(call), &mut ran).await,
                Pause::Calls(calls) => self.call(calls, &mut ran).await,
            };
            if let Some(to) = self.taken_back(&mut ran) {
                pause = self.take_back(interpreter, &mut ran, to, &pause).await;
                continue;
            }
            let wanted = self.program().wanted();
            if ran.lacks(&wanted) {
                let other = self.look(interpreter, &mut ran, &wanted, (&pause, before)).await;
                if let Some(other) = other {
                    pause = other;
                    continue;
                }
            }
            pause = interpreter.answer(answers, &stops(from.as_ref(), &wanted)).await;
        }
    }

    /// Takes up a person's new requests: to see more from here on, to evaluate an expression, or to set a variable. The
    /// program is run again up to here, in a form that reports these. `None`: it waits here for its answers. Otherwise
    /// the new pause, which the caller must handle again.
    async fn look(
        &self,
        interpreter: &mut dyn Interpreter,
        ran: &mut Ran,
        wanted: &StopRequest,
        (now, before): (&Pause, progress::RecordPlace),
    ) -> Option<Pause> {
        let new = wanted.asked.get(ran.asked..).unwrap_or_default();
        ran.asked = wanted.asked.len();
        let after = ran.place;
        let (until, asked) = match now {
            Pause::Line(at) => (Until::Statement(at.nth), asked_at(&wanted.asked, at)),
            _ => (Until::Record, Vec::new()),
        };
        let mut refused: Vec<ExtraOutcome> = Vec::new();
        let sets = new.iter().filter(|extra| extra.sets.is_some());
        for set in sets {
            match self.refused(interpreter, ran, (set, until, before)).await {
                Some(told) => refused.push(told),
                None => ran.sets.push(set.clone()),
            }
        }
        ran.tells(wanted);
        let again = ran.again(until, before, asked);
        let mut reached = interpreter.again(&again).await;
        if let Pause::Line(at) = &mut reached.pause {
            at.told.extend(refused);
            at.ahead = ran.heard.calls.len().saturating_sub(reached.calls);
        }
        let is_here = match (&reached.pause, now) {
            (Pause::Line(at), Pause::Line(here)) => (at.line, at.hit) == (here.line, here.hit),
            (pause, now) => pause == now,
        };
        if !is_here {
            self.goes_elsewhere(ran, &reached);
            return Some(reached.pause);
        }
        let is_asked = |at: &LineStop| {
            let here = Moment::Hit { line: at.line, hit: at.hit };
            new.iter().any(|extra| extra.when == here)
        };
        match reached.pause {
            Pause::Line(at) if is_asked(&at) => Some(Pause::Line(at)),
            _ => {
                ran.place = after;
                None
            }
        }
    }

    /// The outcome of an expression that cannot become a variable's value because it takes too long or calls a tool;
    /// `None` for other expressions.
    async fn refused(
        &self,
        interpreter: &mut dyn Interpreter,
        ran: &mut Ran,
        (set, until, before): (&Extra, Until, progress::RecordPlace),
    ) -> Option<ExtraOutcome> {
        let again = ran.again(until, before, vec![set.expression.clone()]);
        let Pause::Line(at) = interpreter.again(&again).await.pause else { return None };
        let told = at.told.into_iter().next_back()?;
        let is_refused = told.value.as_ref().is_err_and(|why| [TOO_LONG, CALLS].contains(&&**why));
        is_refused.then(|| ExtraOutcome { sets: set.sets.clone(), ..told })
    }

    /// Handles a program that has left its record: somebody set a variable earlier, or the program is not
    /// deterministic.
    fn goes_elsewhere(&self, ran: &mut Ran, reached: &Reached) {
        ran.place = progress::RecordPlace { calls: reached.calls, clocks: reached.clocks };
        if ran.sets.is_empty() {
            let text = "the program did something else when it was run again with the same results"
                .to_owned();
            self.ctx.say(|_| SessionEvent::Noticed { text });
        }
        self.part(ran);
    }

    /// Drops the rest of the record, which the program no longer follows, and reports the dropped calls.
    fn part(&self, ran: &mut Ran) {
        let (number, calls) = (self.number, ran.part());
        if !calls.is_empty() {
            self.ctx.say(|task| ProgramEvent::ProgramParted { task, number, calls });
        }
    }

    /// How far a person has taken the program back since the last check.
    fn taken_back(&self, ran: &mut Ran) -> Option<Back> {
        let back = self.ctx.state(|state| {
            let mut programs = state.current_task()?.programs.iter();
            programs.find(|program| program.number == self.number)?.back
        });
        let (times, to) = back.filter(|(times, _)| *times > ran.backs)?;
        ran.backs = times;
        Some(to)
    }

    /// Runs the program again up to an earlier place. Its calls after that are answered from its record as long as they
    /// are the same.
    async fn take_back(
        &self,
        interpreter: &mut dyn Interpreter,
        ran: &mut Ran,
        to: Back,
        from: &Pause,
    ) -> Pause {
        let until = match (to, from) {
            (Back::Statement(nth), _) => Until::Statement(nth),
            (Back::Line, Pause::Line(at)) => Until::Statement(at.nth.saturating_sub(1).max(1)),
            (Back::Line, Pause::Ended(_)) => Until::Last,
            // Where a call is held, the statement that made it is the previous one.
            (Back::Line | Back::Call, _) => Until::Call(ran.place.calls.saturating_sub(1)),
        };
        let wanted = self.program().wanted();
        ran.tells(&wanted);
        let again = ran.again(until, ran.whole(), Vec::new());
        let mut reached = interpreter.again(&again).await;
        if let Pause::Line(at) = &reached.pause {
            let asked = asked_at(&wanted.asked, at);
            if !asked.is_empty() {
                let again = ran.again(Until::Statement(at.nth), ran.whole(), asked);
                reached = interpreter.again(&again).await;
            }
        }
        ran.place = progress::RecordPlace { calls: reached.calls, clocks: reached.clocks };
        match &mut reached.pause {
            Pause::Line(at) => at.ahead = ran.heard.calls.len().saturating_sub(reached.calls),
            _ => {
                let text = "the program does not come to that place again".to_owned();
                self.ctx.say(|_| SessionEvent::Noticed { text });
            }
        }
        reached.pause
    }

    /// Makes calls, together if there are several. Recorded calls are not made again.
    async fn call(&self, made: &[ProgramCall], ran: &mut Ran) -> Vec<CallAnswer> {
        if let Some(answers) = ran.recorded(made) {
            return answers;
        }
        self.part(ran);
        let call = |(i, call): (usize, &ProgramCall)| {
            let tool =
                self.names.tool(&call.tool).cloned().unwrap_or_else(|| call.tool.as_str().into());
            let id = format!("{}-{}", self.number, ran.calls.len() + i + 1);
            ToolCall { id, tool, arguments: Value::Object(call.arguments.clone()) }
        };
        let calls: Vec<ToolCall> = made.iter().enumerate().map(call).collect();
        let lines: Vec<u32> = made.iter().map(|call| call.line).collect();
        let called = self.ctx.call(CallSpec::Program(self.number, &lines), &calls).await;
        let answers: Vec<CallAnswer> =
            called.iter().zip(made).map(|(called, made)| self.answer(called, &made.tool)).collect();
        ran.note(made, &called, &answers);
        ran.calls.extend(calls);
        ran.called.extend(called);
        answers
    }

    /// The answer to the program for a call.
    fn answer(&self, called: &CallResult, name: &str) -> CallAnswer {
        match &called.observation {
            Observation::Result(text) | Observation::More(text) => CallAnswer::Result(text.clone()),
            Observation::Failed(error) => record::failed(name, error),
            Observation::Refused(why) => record::refused(name, why, self.refusal(called)),
        }
    }

    fn refusal(&self, called: &CallResult) -> Refusal {
        let refused = |state: &InTask<'_>| match &state.tool_call(called.id)?.phase {
            ToolCallPhase::Refused { reason, .. } => Some(*reason),
            _ => None,
        };
        self.ctx.state(refused).unwrap_or(Refusal::Cancelled)
    }
}
