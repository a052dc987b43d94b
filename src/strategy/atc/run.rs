//! Runs one program: its calls are effects, and what it does between them is nobody's business unless somebody wants
//! it to stop.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;
use similar::{DiffTag, TextDiff};

use crate::domain::program::{
    Answer, Extra, Function, Interpreter, LineStop, Moment, Pause, ProgramCall, ProgramEnd,
    ProgramLimits, ProgramStart, Raised, Set, Stops, Wanted,
};
use crate::domain::{Boundary, Refusal, SessionEvent, ToolCall, ToolCallPhase, ToolErrorKind};
use crate::papers::atc::identifiers::Identifiers;
use crate::strategy::{CallResult, Context, Observation};

/// The time of its own that a program may take to tell its values after its end, in milliseconds.
const TELLING_MS: u64 = 100;

/// A program to run.
pub(super) struct Run<'a, C> {
    pub ctx: &'a C,
    /// Its number in the task, from 1.
    pub number: u32,
    pub program: &'a Arc<str>,
    pub names: &'a Identifiers,
    /// Up to where it runs over a record.
    pub from: Option<From>,
}

/// The last values of a program that has ended: it is run again over what it was told, in a way that tells them.
async fn values(
    interpreter: &mut dyn Interpreter,
    start: &ProgramStart,
    told: &Told,
    end: &ProgramEnd,
) -> Vec<Set> {
    // Telling takes longer than running: what has reached a limit would do so again.
    const LIMITS: [&str; 4] = ["TimeoutError", "MemoryError", "RecursionError", "SystemError"];
    if end.error.as_ref().is_some_and(|error| LIMITS.contains(&error.kind.as_str())) {
        return Vec::new();
    }
    let limits = ProgramLimits { time_ms: TELLING_MS, ..start.limits };
    let start = ProgramStart { stoppable: true, limits, ..start.clone() };
    let mut pause = interpreter.start(&start, &Stops::default()).await;
    for (_, answers) in &told.calls {
        if matches!(pause, Pause::Ended(_)) {
            break;
        }
        pause = interpreter.answer(answers.clone(), &Stops::default()).await;
    }
    match pause {
        Pause::Ended(again) if again.printed == end.printed => again.set,
        _ => Vec::new(),
    }
}

/// Whether something is asked at this very moment.
fn is_asked(extras: &[&Extra], pause: &Pause) -> bool {
    let Pause::Line(at) = pause else { return false };
    extras.iter().any(|extra| extra.when == Moment::Hit { line: at.line, hit: at.hit })
}

/// Where a person's program goes on: up to there it runs over the record of the program that it replaces. That is before
/// the first changed line that it reaches, or where the program before was held.
#[derive(Clone)]
pub(super) struct From {
    changed: BTreeSet<u32>,
    /// Line and hit.
    held: Option<(u32, u32)>,
}

impl From {
    pub fn of(was: &str, now: &str, held: Option<(u32, u32)>) -> Self {
        let number = |line: usize| u32::try_from(line + 1).unwrap_or(u32::MAX);
        let (mut changed, mut moved) = (BTreeSet::new(), None);
        for part in TextDiff::from_lines(was, now).ops() {
            let (_, old, new) = part.as_tag_tuple();
            if part.tag() == DiffTag::Equal {
                let held = held
                    .into_iter()
                    .find(|(line, _)| old.clone().map(number).any(|it| it == *line));
                moved =
                    moved.or(
                        held.map(|(line, hit)| (line + number(new.start) - number(old.start), hit))
                    );
            } else {
                // Where lines were only taken out, the line that has moved up stands for them.
                changed.extend((new.start..new.end.max(new.start + 1)).map(number));
            }
        }
        Self { changed, held: moved }
    }

    fn stops(&self) -> Stops {
        let lines = self.changed.iter().copied().chain(self.held.map(|(line, _)| line)).collect();
        Stops { lines, ..Stops::default() }
    }

    fn is_at(&self, at: &LineStop) -> bool {
        self.changed.contains(&at.line) || self.held == Some((at.line, at.hit))
    }
}

/// What a program did.
#[derive(Default)]
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
        let mut ran = Ran::default();
        let mut told = Told::default();
        let mut wanted = self.ctx.wanted(self.number);
        let mut start = ProgramStart {
            text: self.program.to_string(),
            functions,
            limits: ProgramLimits::default(),
            stoppable: self.from.is_some() || !wanted.is_none(),
            extras: wanted.extras.clone(),
        };
        let mut from = self.from.clone();
        let stops = |from: &Option<From>, wanted: &Wanted| {
            from.as_ref().map_or_else(|| wanted.stops.clone(), From::stops)
        };
        let mut pause = interpreter.start(&start, &stops(&from, &wanted)).await;
        loop {
            let answers = match &pause {
                Pause::Ended(end) => {
                    let set = match wanted.is_watched {
                        true => values(&mut *interpreter, &start, &told, end).await,
                        false => Vec::new(),
                    };
                    ran.end = ProgramEnd { set, ..end.clone() };
                    return ran;
                }
                Pause::Line(at) => {
                    from.take_if(|from| from.is_at(at));
                    if from.is_none() && self.ctx.reach(self.number, &Arc::new(at.clone())) {
                        self.ctx.checkpoint(Boundary::ProgramLine).await;
                        if super::edited(self.ctx, self.number).is_some() {
                            interpreter.stop();
                            return ran;
                        }
                    }
                    Vec::new()
                }
                Pause::Clock => vec![Answer::Time(self.ctx.clock())],
                Pause::Call(call) => self.call(std::slice::from_ref(call), &mut ran).await,
                Pause::Calls(calls) => self.call(calls, &mut ran).await,
            };
            wanted = self.ctx.wanted(self.number);
            let is_new = |extra: &&Extra| !start.extras.contains(extra);
            let new: Vec<&Extra> = wanted.extras.iter().filter(is_new).collect();
            if !start.stoppable && !wanted.is_none() || !new.is_empty() {
                // Somebody wants to see it from here on: it is run again up to here, in a way that tells.
                let is_asked = is_asked(&new, &pause);
                start = ProgramStart { stoppable: true, extras: wanted.extras.clone(), ..start };
                pause = self.again(&mut *interpreter, &start, &told, &pause).await;
                if is_asked {
                    continue;
                }
            }
            if !matches!(pause, Pause::Line(_)) {
                told.calls.push((pause, answers.clone()));
            }
            pause = interpreter.answer(answers, &stops(&from, &wanted)).await;
        }
    }

    /// Runs the program again over what it was told, up to where it waits now.
    async fn again(
        &self,
        interpreter: &mut dyn Interpreter,
        start: &ProgramStart,
        told: &Told,
        now: &Pause,
    ) -> Pause {
        let stops = match now {
            Pause::Line(at) => Stops::line(at.line),
            _ => Stops::default(),
        };
        let mut told = told.calls.iter();
        let mut pause = interpreter.start(start, &stops).await;
        loop {
            let answers = match (&pause, now) {
                (Pause::Line(at), Pause::Line(here)) if at.hit < here.hit => Vec::new(),
                (Pause::Line(_) | Pause::Ended(_), _) => break,
                _ => match told.next() {
                    Some((was, answers)) if pause == *was => answers.clone(),
                    _ => break,
                },
            };
            pause = interpreter.answer(answers, &stops).await;
        }
        let is_here = match (&pause, now) {
            (Pause::Line(at), Pause::Line(here)) => (at.line, at.hit) == (here.line, here.hit),
            (pause, now) => pause == now,
        };
        if !is_here {
            let text = "the program did something else when it was run again with the same results"
                .to_owned();
            self.ctx.say(|_| SessionEvent::Noticed { text });
        }
        pause
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_persons_program_goes_on_at_what_was_changed_or_where_the_other_was_held() {
        let from = |now: &str, held: u32| {
            let From { changed, held } = From::of("a\nb\nc\nd\n", now, Some((held, 2)));
            (changed.into_iter().collect::<Vec<u32>>(), held)
        };
        assert_eq!(from("a\nB\nc\nd\n", 3), (vec![2], Some((3, 2))));
        assert_eq!(from("a\nB\nB\nc\nd\n", 3), (vec![2, 3], Some((4, 2))), "it has moved down");
        assert_eq!(from("a\nc\nd\n", 4), (vec![2], Some((3, 2))), "it has moved up");
        assert_eq!(from("a\nB\nc\nd\n", 2), (vec![2], None), "it is gone");
        assert_eq!(from("a\nb\nc\nd\n", 2), (vec![], Some((2, 2))), "nothing has changed");
        assert_eq!(from("x\ny\n", 1), (vec![1, 2], None));
        assert_eq!(from("A\nb\nc\nD\n", 3), (vec![1, 4], Some((3, 2))));
        assert_eq!(from("a\na\nb\nc\nd\n", 1), (vec![2], Some((1, 2))));
        assert_eq!(from("", 1), (vec![1], None));
    }
}
