//! Repeats a program with its recorded answers, up to any moment.

use std::time::Duration;

use super::{Machine, Wait, frames};
use crate::domain::program::{
    Again, CALLS, CallAnswer, Extra, ExtraOutcome, Heard, HeardCall, Moment, Pause, ProgramCall,
    ProgramEnd, ProgramLimits, ProgramStart, Reached, Stops, TOO_LONG, Until,
};
use crate::papers::atc::prepare::Prepared;
use crate::papers::atc::source::ParsedProgram;

/// The time that an expression may take, in milliseconds.
const ASKED_MS: u64 = 50;

/// A repeated run over a record.
struct Over {
    machine: Machine,
    reached: Reached,
}

impl Machine {
    /// Repeats a program. It continues from the place where it stops.
    pub fn again(again: Again) -> (Option<Self>, Reached) {
        let Again { start, heard, until, asked, counts } = again;
        let prepared =
            ParsedProgram::parse(&start.text).map(|source| Prepared::of(&source, &start));
        let code = match prepared {
            Ok(code) => code,
            Err(error) => return (None, Reached::failed(*error)),
        };
        let run = |nth, calls| over(&start, code.clone(), &heard, (nth, calls));
        let (all, asked_none) = (heard.calls.len(), asked.is_empty());
        // If a statement is not given by its number, a first run finds that.
        let nth = match until {
            Until::Record if asked.is_empty() => None,
            Until::Statement(nth) => Some(nth),
            Until::Record | Until::Last => Some(run(None, all).reached.statements),
            Until::Call(call) => Some(run(None, call.min(all)).reached.statements),
            Until::Line(line) => run(None, all).machine.hits.get(&line).map(|(_, nth)| *nth),
        };
        let Over { mut machine, mut reached } = run(nth.filter(|nth| *nth > 0), all);
        if let Pause::Line(at) = &mut reached.pause {
            let spent = machine.busy;
            let when = Moment::Hit { line: at.line, hit: at.hit };
            let tell = |expression: String| tell(&start, &heard, (when, nth), (expression, spent));
            at.told.extend(asked.into_iter().map(tell));
        }
        if counts {
            let is_last = matches!(until, Until::Record) && asked_none;
            let whole = || run(None, all).reached.statements;
            reached.whole = if is_last { reached.statements } else { whole() };
        }
        if let Some((Wait::Call | Wait::Calls, paused)) = &machine.waiting {
            reached.frames = frames::of(paused, &machine.code);
        }
        machine.explains = true;
        (Some(machine), reached)
    }
}

/// Repeats a program with the first calls of its record, up to a statement.
fn over(
    start: &ProgramStart,
    code: Prepared,
    heard: &Heard,
    (nth, calls): (Option<u64>, usize),
) -> Over {
    let none = Stops::default();
    let (mut machine, mut pause) = Machine::run(start.clone(), code, (&none, nth), false);
    let known = heard.calls.get(..calls).unwrap_or(&heard.calls);
    let (mut calls, mut clocks, mut parted) = (0, 0, false);
    loop {
        let answers = match &pause {
            Pause::Line(_) | Pause::Ended(_) => break,
            Pause::Clock => match heard.clocks.get(clocks) {
                Some(millis) => {
                    clocks += 1;
                    vec![CallAnswer::Time(*millis)]
                }
                None => break,
            },
            Pause::Call(made) => match answers(known, calls, std::slice::from_ref(made)) {
                Ok(answers) => answers,
                Err(parts) => {
                    parted = parts;
                    break;
                }
            },
            Pause::Calls(made) => match answers(known, calls, made) {
                Ok(answers) => answers,
                Err(parts) => {
                    parted = parts;
                    break;
                }
            },
        };
        if !matches!(pause, Pause::Clock) {
            calls += answers.len();
        }
        pause = machine.go_on(answers, &none);
    }
    let values = match &mut pause {
        Pause::Line(at) => at.values.clone().unwrap_or_default(),
        Pause::Ended(end) => end.set.clone(),
        _ => machine.sets(),
    };
    let (statements, whole, frames) = (machine.statements, 0, Vec::new());
    let reached = Reached { pause, calls, clocks, parted, values, statements, whole, frames };
    Over { machine, reached }
}

/// The recorded answers to these calls. The error says whether the record has other calls in their place.
fn answers(known: &[HeardCall], at: usize, made: &[ProgramCall]) -> Result<Vec<CallAnswer>, bool> {
    let left = known.get(at..).unwrap_or_default();
    let is_same = |(was, now): (&HeardCall, &ProgramCall)| {
        was.tool == now.tool && was.arguments == now.arguments
    };
    if !left.iter().zip(made).all(is_same) {
        return Err(true);
    }
    if left.len() < made.len() {
        return Err(false);
    }
    Ok(left[..made.len()].iter().map(|call| call.answer.clone()).collect())
}

/// The value of an expression where a program has stopped. The program is repeated for it: effects of the expression
/// are lost with that run, and an expression that takes too long ends only that run.
fn tell(
    start: &ProgramStart,
    heard: &Heard,
    (when, nth): (Moment, Option<u64>),
    (expression, spent): (String, Duration),
) -> ExtraOutcome {
    let extra = Extra { when, expression: expression.clone(), sets: None };
    let extras = start.extras.iter().cloned().chain([extra]).collect();
    let spent = u64::try_from(spent.as_millis()).unwrap_or(u64::MAX);
    // The first run may have been faster than this one by chance.
    let time_ms = spent.saturating_mul(2).saturating_add(ASKED_MS).min(start.limits.time_ms);
    let limits = ProgramLimits { time_ms, ..start.limits };
    let start = ProgramStart { extras, limits, ..start.clone() };
    let none = |why: String| ExtraOutcome {
        expression: expression.clone(),
        sets: None,
        value: Err(why),
        holds: false,
    };
    let source = match ParsedProgram::parse(&start.text) {
        Ok(source) => source,
        Err(error) => return none(error.summary()),
    };
    let code = Prepared::of(&source, &start);
    match over(&start, code, heard, (nth, heard.calls.len())).reached.pause {
        Pause::Line(at) => at.told.into_iter().next_back().unwrap_or_else(|| none(String::new())),
        Pause::Call(_) | Pause::Calls(_) => none(CALLS.to_owned()),
        Pause::Ended(ProgramEnd { error: Some(error), .. }) if error.kind != "TimeoutError" => {
            none(error.summary())
        }
        Pause::Ended(_) | Pause::Clock => none(TOO_LONG.to_owned()),
    }
}
