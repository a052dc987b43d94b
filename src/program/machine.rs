//! Runs a program in the interpreter, from pause to pause.

mod call;
mod frames;
mod missing_part;
mod replay;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use monty::{MontyRepl, ReplFunctionCall, ReplProgress, ReplStartError};
use monty_types::{
    AssertMessageAnnotations, CompileOptions, ExcType, ExtFunctionResult, MontyException,
    MontyObject, NameLookupResult, OsFunctionCall, PrintWriter, ResourceLimits, ResourceTracker,
};

use self::call::{Called, Limits, called, exception};
use super::{memory, value};
use crate::domain::program::{
    CallAnswer, Extra, ExtraOutcome, LineStop, Moment, Pause, ProgramEnd, ProgramStart, Raised,
    Set, Stops,
};
use crate::papers::atc::extra::{DUE, IS, TELL};
use crate::papers::atc::flaws::ALL_OF;
use crate::papers::atc::prepare::{AT, HAD, Prepared, unmarked};
use crate::papers::atc::source::ParsedProgram;

/// The factor by which a program that stops is slower between two calls, with all work for its stops.
const STOPPING: u32 = 5;

/// The name of the program in tracebacks.
const SCRIPT: &str = "<python-input-0>";

type MachineProgress = Result<ReplProgress, Box<ReplStartError>>;

/// A running program.
pub struct Machine {
    start: ProgramStart,
    code: Prepared,
    printed: String,
    waiting: Option<(Wait, ReplProgress)>,
    /// The number of tool calls so far, and the bytes of their arguments.
    calls: usize,
    sent: usize,
    /// How often each line was reached, and the number of its statement at the last time.
    hits: BTreeMap<u32, (u32, u64)>,
    /// The number of statements that the program has reached.
    statements: u64,
    /// The number of the statement before which the program always stops.
    until: Option<u64>,
    set: Vec<Noted>,
    /// The number of variables that the last statement has set: they come last.
    fresh: usize,
    told: Vec<ExtraOutcome>,
    /// The answers so far, with which the program can be repeated to explain its error.
    answered: Vec<Vec<CallAnswer>>,
    explains: bool,
    /// The last value that the failing expression took a part of: its description, and its keys.
    had: Option<(String, Vec<String>)>,
    /// The program's working time between pauses.
    busy: Duration,
}

/// A variable that was set. Its value is read only when it is reported: a loop may set it often.
struct Noted {
    line: u32,
    name: String,
    value: MontyObject,
}

impl Noted {
    fn set(&self) -> Set {
        let value = value::shown(&self.value);
        Set { line: self.line, name: self.name.clone(), value }
    }
}

/// The kind of answer that the program waits for.
#[derive(Clone, Copy)]
enum Wait {
    Call,
    /// A call of [`ALL_OF`].
    Calls,
    Line,
    Clock,
}

impl Machine {
    /// Prepares a program and runs it to its first pause.
    pub fn begin(start: ProgramStart, stops: &Stops) -> (Option<Self>, Pause) {
        let prepared =
            ParsedProgram::parse(&start.text).map(|source| Prepared::of(&source, &start));
        let code = match prepared {
            Ok(code) => code,
            Err(error) => return (None, Pause::Ended(ProgramEnd::failed("", *error))),
        };
        let (machine, pause) = Self::run(start, code, (stops, None), true);
        (Some(machine), pause)
    }

    /// Runs a program. `explains`: it reports the actual value if a part is missing.
    fn run(
        start: ProgramStart,
        code: Prepared,
        (stops, until): (&Stops, Option<u64>),
        explains: bool,
    ) -> (Self, Pause) {
        memory::begin();
        let limits = ResourceLimits::default()
            .max_duration(Duration::from_millis(start.limits.time_ms))
            .max_memory(start.limits.memory)
            .max_recursion_depth(start.limits.depth);
        let options = CompileOptions { assert_message_annotations: AssertMessageAnnotations::Off };
        let repl = MontyRepl::new("program", ResourceTracker::new(limits), options);
        let mut machine = Self {
            start,
            code,
            printed: String::new(),
            waiting: None,
            calls: 0,
            sent: 0,
            hits: BTreeMap::new(),
            statements: 0,
            until,
            set: Vec::new(),
            fresh: 0,
            told: Vec::new(),
            answered: Vec::new(),
            explains,
            had: None,
            busy: Duration::ZERO,
        };
        let text = machine.code.code.clone();
        let pause = machine.work(stops, |print| repl.feed_start(&text, Vec::new(), print));
        (machine, pause)
    }

    /// Continues with the answers for which it waited.
    pub fn go_on(&mut self, mut answers: Vec<CallAnswer>, stops: &Stops) -> Pause {
        let Some((wait, paused)) = self.waiting.take() else {
            return Pause::Ended(ProgramEnd::default());
        };
        if !matches!(wait, Wait::Line) {
            self.answered.push(answers.clone());
        }
        let with: ExtFunctionResult = match (wait, answers.pop()) {
            (Wait::Line, _) => MontyObject::None.into(),
            (Wait::Calls, last) => {
                answers.extend(last);
                MontyObject::List(answers.iter().map(in_list).collect()).into()
            }
            (Wait::Call, Some(answer)) => result(&answer),
            (Wait::Clock, Some(CallAnswer::Time(millis))) => match &paused {
                ReplProgress::OsCall(call) => call::time(&call.function_call, millis),
                _ => MontyObject::Int(millis).into(),
            },
            (Wait::Clock, _) => refused("there is no clock here"),
            (Wait::Call, None) => {
                exception(&Raised::new("RuntimeError", "the call was not answered")).into()
            }
        };
        self.work(stops, |print| resume(paused, with, print))
    }

    /// Works until the next pause.
    fn work(
        &mut self,
        stops: &Stops,
        first: impl FnOnce(PrintWriter<'_>) -> MachineProgress,
    ) -> Pause {
        let begun = Instant::now();
        let most = self.start.limits.printed;
        let mut progress = first(PrintWriter::CollectString(&mut self.printed, Some(most)));
        let pause = loop {
            progress = match progress {
                Err(error) => break self.failed(&error.error),
                Ok(ReplProgress::Complete { value: last, .. }) => break self.ended(&last, None),
                Ok(ReplProgress::NameLookup(lookup)) => {
                    let known = self.function(&lookup.name);
                    let print = PrintWriter::CollectString(&mut self.printed, Some(most));
                    lookup.resume(known, print)
                }
                Ok(ReplProgress::ResolveFutures(futures)) => {
                    let error = MontyException::runtime_error(
                        "functions return their results; do not await them",
                    );
                    futures.abort(error, PrintWriter::Disabled)
                }
                Ok(paused @ ReplProgress::OsCall(_)) => match self.system(paused) {
                    Ok(pause) => break pause,
                    Err(going) => *going,
                },
                Ok(ReplProgress::FunctionCall(call)) => {
                    let spent = self.busy + begun.elapsed();
                    match self.function_call(call, stops, spent) {
                        Ok(pause) => break pause,
                        Err(going) => *going,
                    }
                }
            };
        };
        self.busy += begun.elapsed();
        pause
    }

    /// Looks up a name that the program does not bind.
    fn function(&self, name: &str) -> NameLookupResult {
        let is_own =
            [AT, IS, HAD, DUE, TELL, ALL_OF].contains(&name) || self.code.call(name).is_some();
        let is_tool = || self.start.functions.iter().any(|function| function.name == name);
        if is_own || is_tool() {
            NameLookupResult::Value(MontyObject::Function {
                name: name.to_owned(),
                docstring: None,
            })
        } else {
            NameLookupResult::Undefined
        }
    }

    /// Handles a call. Returns a pause, or the progress if the program continues at once.
    fn function_call(
        &mut self,
        mut call: ReplFunctionCall,
        stops: &Stops,
        spent: Duration,
    ) -> Result<Pause, Box<MachineProgress>> {
        let limit = Duration::from_millis(self.start.limits.time_ms) * STOPPING;
        match call.function_name.as_str() {
            AT | IS | DUE | TELL if spent > limit => {
                let text = format!("time limit exceeded: {} ms", self.start.limits.time_ms);
                let error = MontyException::new(ExcType::TimeoutError, Some(text));
                Err(Box::new(call.abort(error, PrintWriter::Disabled)))
            }
            AT => self.at(call, stops),
            IS => {
                self.note(&mut call);
                Err(self.resume(ReplProgress::FunctionCall(call), MontyObject::None))
            }
            TELL => {
                self.tell(&call);
                Err(self.resume(ReplProgress::FunctionCall(call), MontyObject::None))
            }
            DUE => {
                let is_due = self.is_due(&call);
                Err(self.resume(ReplProgress::FunctionCall(call), MontyObject::Bool(is_due)))
            }
            HAD => {
                let value = call.args.first().cloned().unwrap_or(MontyObject::None);
                let keys = || value::keys(&value).into_iter().map(str::to_owned).collect();
                self.had = value::had(&value).map(|had| (had, keys()));
                Err(self.resume(ReplProgress::FunctionCall(call), value))
            }
            "exit" | "quit" | "sys.exit" => {
                let with = call.args.first().map(|value| value::clipped(value.py_repr()));
                let end = MontyException::new(ExcType::SystemExit, with);
                Err(Box::new(call.abort(end, PrintWriter::Disabled)))
            }
            _ => self.tool(call),
        }
    }

    fn resume(
        &mut self,
        paused: ReplProgress,
        with: impl Into<ExtFunctionResult>,
    ) -> Box<MachineProgress> {
        let most = self.start.limits.printed;
        Box::new(resume(
            paused,
            with.into(),
            PrintWriter::CollectString(&mut self.printed, Some(most)),
        ))
    }

    /// Handles the place before a statement: stops there, or continues.
    fn at(&mut self, call: ReplFunctionCall, stops: &Stops) -> Result<Pause, Box<MachineProgress>> {
        let line = match call.args.first() {
            Some(MontyObject::Int(line)) => u32::try_from(*line).unwrap_or(0),
            _ => 0,
        };
        self.statements += 1;
        let nth = self.statements;
        let (hit, last) = self.hits.entry(line).or_default();
        (*hit, *last) = (*hit + 1, nth);
        let hit = *hit;
        let paused = ReplProgress::FunctionCall(call);
        let told = std::mem::take(&mut self.told);
        let fresh = std::mem::take(&mut self.fresh);
        let is_until = self.until == Some(nth);
        let is_named = is_until
            || stops.lines.contains(&line)
            || self.set.iter().any(|set| stops.names.contains(&set.name));
        if !is_named && stops.within.is_none() {
            return Err(self.resume(paused, MontyObject::None));
        }
        let frames = frames::of(&paused, &self.code);
        if !is_named && stops.within.is_some_and(|deepest| frames.len() > deepest) {
            return Err(self.resume(paused, MontyObject::None));
        }
        let mut set = self.sets();
        self.set.clear();
        let values = is_until.then(|| {
            let last = set.split_off(set.len().saturating_sub(fresh));
            std::mem::replace(&mut set, last)
        });
        self.waiting = Some((Wait::Line, paused));
        let (calls, ahead) = (self.calls, 0);
        Ok(Pause::Line(LineStop { line, hit, frames, set, told, nth, calls, values, ahead }))
    }

    /// Notes the result of an extra's expression: its value, or the type and the text of an exception.
    fn tell(&mut self, call: &ReplFunctionCall) {
        let Some(Extra { expression, sets, .. }) = self.extra(call) else { return };
        let (expression, sets) = (expression.clone(), sets.clone());
        let (value, holds) = match &call.args[1..] {
            [value] => (Ok(value::shown(value)), value::is_true(value)),
            [_, MontyObject::String(kind), MontyObject::String(text)] => {
                (Err(value::clipped(Raised::new(kind, unmarked(text)).summary())), false)
            }
            _ => return,
        };
        self.told.push(ExtraOutcome { expression, sets, value, holds });
    }

    fn extra(&self, call: &ReplFunctionCall) -> Option<&Extra> {
        let Some(MontyObject::Int(number)) = call.args.first() else { return None };
        self.start.extras.get(usize::try_from(*number).ok()?)
    }

    /// Whether the program reaches the line of an extra for the requested time.
    fn is_due(&self, call: &ReplFunctionCall) -> bool {
        self.extra(call).is_some_and(|extra| match extra.when {
            // The statement is counted after its extras.
            Moment::Hit { line, hit } => {
                self.hits.get(&line).map_or(0, |(hits, _)| *hits) + 1 == hit
            }
            Moment::Always | Moment::Line(_) => true,
        })
    }

    fn note(&mut self, call: &mut ReplFunctionCall) {
        let mut args = std::mem::take(&mut call.args).into_iter();
        let (Some(MontyObject::Int(line)), Some(MontyObject::String(name)), Some(value)) =
            (args.next(), args.next(), args.next())
        else {
            return;
        };
        let line = u32::try_from(line).unwrap_or(0);
        let known = self.set.iter().position(|set| set.name == name && set.line == line);
        if let Some(at) = known {
            self.fresh -= usize::from(at + self.fresh >= self.set.len());
            self.set.remove(at);
        }
        self.set.push(Noted { line, name, value });
        self.fresh += 1;
    }

    /// Handles a call of a tool, or of several at once.
    fn tool(&mut self, call: ReplFunctionCall) -> Result<Pause, Box<MachineProgress>> {
        let limits = Limits { made: self.calls, sent: self.sent, most: self.start.limits };
        let made = called(&call, &self.code, &self.start.functions, limits);
        let (wait, mut calls) = match made {
            Called::One(made) => (Wait::Call, vec![made]),
            Called::Many(made) if made.is_empty() => {
                return Err(
                    self.resume(ReplProgress::FunctionCall(call), MontyObject::List(Vec::new()))
                );
            }
            Called::Many(made) => (Wait::Calls, made),
            Called::TooMany => {
                let error =
                    MontyException::new(ExcType::RuntimeError, Some("call limit".to_owned()));
                return Err(Box::new(call.abort(error, PrintWriter::Disabled)));
            }
            Called::Wrong(text) => {
                let error = exception(&Raised::new("TypeError", text));
                return Err(self.resume(ReplProgress::FunctionCall(call), error));
            }
        };
        self.calls += calls.len();
        self.sent += call::sent(&call);
        let paused = ReplProgress::FunctionCall(call);
        if calls.iter().any(|call| call.line == 0) {
            // The tool was passed on as a value, so the frames give the line.
            let line = frames::of(&paused, &self.code).last().map_or(0, |frame| frame.line);
            calls.iter_mut().for_each(|call| call.line = line);
        }
        self.waiting = Some((wait, paused));
        Ok(match (wait, calls.pop()) {
            (Wait::Call, Some(call)) => Pause::Call(call),
            (_, last) => {
                calls.extend(last);
                Pause::Calls(calls)
            }
        })
    }

    /// Handles files, the environment and the clock.
    fn system(&mut self, paused: ReplProgress) -> Result<Pause, Box<MachineProgress>> {
        let name = match &paused {
            ReplProgress::OsCall(call) => match call.function_call {
                OsFunctionCall::DateToday | OsFunctionCall::DateTimeNow(_) => {
                    self.waiting = Some((Wait::Clock, paused));
                    return Ok(Pause::Clock);
                }
                _ => call.function_call.name(),
            },
            _ => "this",
        };
        let why = refused(&format!("{name}: there are no files and no environment here"));
        Err(self.resume(paused, why))
    }

    fn ended(&mut self, last: &MontyObject, exit: Option<String>) -> Pause {
        let value = match last {
            MontyObject::None => None,
            _ => Some(value::last(last, self.start.limits.printed)),
        };
        let (printed, set) = (std::mem::take(&mut self.printed), self.last_values());
        Pause::Ended(ProgramEnd { printed, value, error: None, exit, set })
    }

    fn failed(&mut self, error: &MontyException) -> Pause {
        if error.exc_type() == ExcType::SystemExit {
            let with = value::clipped(error.message().unwrap_or_default().to_owned());
            return self.ended(&MontyObject::None, Some(with));
        }
        // The text that exceeds the limit was not added.
        let printed = error
            .message()
            .is_some_and(|text| text.contains(&format!("{} bytes", self.start.limits.printed)));
        let raised = frames::raised(error, &self.code, &self.start.limits, printed);
        let raised = if self.explains { self.explained(raised) } else { raised };
        let printed = std::mem::take(&mut self.printed);
        let set = self.last_values();
        Pause::Ended(ProgramEnd { set, ..ProgramEnd::failed(printed, raised) })
    }

    /// The values since the last stop; long ones only as their shapes.
    fn last_values(&mut self) -> Vec<Set> {
        let shown = |set: Set| Set { value: value::short(set.value), ..set };
        let sets = self.sets().into_iter().map(shown).collect();
        self.set.clear();
        sets
    }

    /// The values since the last stop.
    fn sets(&self) -> Vec<Set> {
        self.set.iter().map(Noted::set).collect()
    }
}

fn resume(
    paused: ReplProgress,
    with: ExtFunctionResult,
    print: PrintWriter<'_>,
) -> MachineProgress {
    match paused {
        ReplProgress::FunctionCall(call) => call.resume(with, print),
        ReplProgress::OsCall(call) => call.resume(with, print),
        other => Ok(other),
    }
}

fn refused(text: &str) -> ExtFunctionResult {
    exception(&Raised::new("PermissionError", text)).into()
}

fn result(answer: &CallAnswer) -> ExtFunctionResult {
    match answer {
        CallAnswer::Result(text) => value::result(text).into(),
        CallAnswer::Raise(raised) => exception(raised).into(),
        CallAnswer::Time(millis) => MontyObject::Int(*millis).into(),
    }
}

/// The value of an answer in the list of [`ALL_OF`], where an error is a value.
fn in_list(answer: &CallAnswer) -> MontyObject {
    match answer {
        CallAnswer::Result(text) => value::result(text),
        CallAnswer::Raise(raised) => {
            let text = MontyObject::String(raised.text.clone());
            MontyObject::dict(vec![(MontyObject::String("error".to_owned()), text)])
        }
        CallAnswer::Time(millis) => MontyObject::Int(*millis),
    }
}
