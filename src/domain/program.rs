//! Programs that a model writes over the tools (ATC): what an interpreter reports and receives. Lines and columns count
//! from 1, columns in characters.

mod program_repeat;

use std::collections::BTreeSet;

use futures::future::LocalBoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::program_repeat::{Again, Back, CALLS, Heard, HeardCall, Reached, TOO_LONG, Until};

/// A place in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Span {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    /// The first column after it.
    pub end_column: u32,
}

/// An exception that the program did not catch, or an error in the program that was found before it ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised {
    /// Python's type: `KeyError`.
    #[serde(rename = "type")]
    pub kind: String,
    pub text: String,
    /// Advice on what to do instead, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Description of the value that the failing expression took a part of: `has: id, cast, crew`,
    /// `is a list of 2 elements`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub had: Option<String>,
    /// The failing expression; `None` if the interpreter knows no place, such as for a time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// The lines of the frames, outermost first; the last is the failing line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u32>,
}

impl Raised {
    pub fn new(kind: &str, text: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            text: text.into(),
            hint: None,
            had: None,
            span: None,
            frames: Vec::new(),
        }
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub fn at(self, span: Span) -> Self {
        Self { span: Some(span), frames: vec![span.line], ..self }
    }

    pub fn line(&self) -> Option<u32> {
        self.frames.last().copied().or_else(|| self.span.map(|span| span.line))
    }

    /// As Python prints the last line of a traceback.
    pub fn summary(&self) -> String {
        if self.text.is_empty() {
            self.kind.clone()
        } else {
            format!("{}: {}", self.kind, self.text)
        }
    }
}

/// A function that a program may call: a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    /// The arguments in the order in which a program may give them without names.
    pub parameters: Vec<String>,
    /// Whether the function also accepts arguments with other names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub takes_more: bool,
}

/// A call of a tool by a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// The line of the call; 0 if it is not known.
    pub line: u32,
}

/// How much a program may use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramLimits {
    /// Own time of the program in milliseconds: waiting for tools, and being held, do not count.
    pub time_ms: u64,
    /// Bytes.
    pub memory: usize,
    /// Frames.
    pub depth: usize,
    /// Bytes that it may print.
    pub printed: usize,
    /// Calls of tools.
    pub calls: usize,
    /// Bytes of one argument, and of the arguments of all calls.
    pub argument: usize,
    pub arguments: usize,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        Self {
            time_ms: 2000,
            memory: 64 << 20,
            depth: 200,
            printed: 64 << 10,
            calls: 50,
            argument: 256 << 10,
            arguments: 4 << 20,
        }
    }
}

/// Places where a program stops, besides its calls; none if all fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stops {
    /// Before every statement in frames of at most this depth (1: the module).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<usize>,
    /// Before statements that begin in these lines.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub lines: BTreeSet<u32>,
    /// Before the statement that follows when one of these variables was set.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub names: BTreeSet<String>,
}

impl Stops {
    /// Before every statement.
    pub fn every() -> Self {
        Self { within: Some(usize::MAX), ..Self::default() }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Expression that a program evaluates before statements, for a person or a breakpoint. Its value may be given to a
/// variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extra {
    pub when: Moment,
    /// Python, evaluated in the scope of the statement.
    pub expression: String,
    /// The variable that gets the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<String>,
}

/// Expression that a person wants evaluated where a program is held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramQuestion {
    /// Python.
    pub expression: String,
    /// The variable that gets the value.
    pub sets: Option<String>,
}

/// Before which statements an [`Extra`] is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    Always,
    /// Before each statement of this line, every time.
    Line(u32),
    /// Before the statements of this line, only when the program gets there for the nth time (`hit`, from 1).
    Hit {
        line: u32,
        hit: u32,
    },
}

impl Moment {
    pub fn is_at(self, at: u32) -> bool {
        match self {
            Moment::Always => true,
            Moment::Line(line) | Moment::Hit { line, .. } => line == at,
        }
    }
}

/// Outcome of an [`Extra`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtraOutcome {
    pub expression: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<String>,
    /// The value as a person reads it, or the exception that the expression raised.
    pub value: Result<Value, String>,
    /// Whether the value is true in Python's sense.
    pub holds: bool,
}

/// Places where a program has to stop, and expressions that it evaluates there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopRequest {
    pub stops: Stops,
    /// Expressions of breakpoints.
    pub extras: Vec<Extra>,
    /// Expressions that a person has evaluated since the beginning, some of them to set a variable.
    pub asked: Vec<Extra>,
    /// Whether somebody may look at the values of the program's variables after its end.
    pub is_watched: bool,
}

impl StopRequest {
    pub fn is_none(&self) -> bool {
        self.stops.is_none() && self.extras.is_empty() && self.asked.is_empty()
    }
}

/// A program to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramStart {
    pub text: String,
    pub functions: Vec<Function>,
    pub limits: ProgramLimits,
    /// Whether the program can stop before its statements and reports the values of its assignments. That makes it some
    /// twenty times slower.
    pub stoppable: bool,
    /// Only for a stoppable program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<Extra>,
}

/// A moment between two statements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineStop {
    pub line: u32,
    /// Number of times that the program came here, including this one.
    pub hit: u32,
    /// The functions at work, outermost first, each with its current line. The last one is at `line`.
    pub frames: Vec<Frame>,
    /// The variables that were set since the last stop, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<Set>,
    /// Outcomes of the extras of this statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<ExtraOutcome>,
    /// Number of the statement among all that the program has come to, from 1; 0 if unknown.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nth: u64,
    /// Number of calls that the program has made before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub calls: usize,
    /// Values that the program had before its last statement, if it was taken back to here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Set>>,
    /// Number of calls after this place that the record answers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ahead: usize,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A variable was set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Set {
    pub line: u32,
    pub name: String,
    /// The value; for a large value or one that is not JSON, a text that describes its shape.
    pub value: Value,
}

/// A function at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// `None`: the module.
    pub function: Option<String>,
    pub line: u32,
}

/// How a program ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramEnd {
    pub printed: String,
    /// The value of the last expression, if there is one and it is not `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Raised>,
    /// Argument of `exit()`, if the program ended by calling it; empty: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<String>,
    /// The last value of each variable at each line that sets it, if the program reports values; for a large one its
    /// shape.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<Set>,
}

impl ProgramEnd {
    pub fn failed(printed: impl Into<String>, error: Raised) -> Self {
        Self { printed: printed.into(), error: Some(error), ..Self::default() }
    }

    /// Returns the remark that the program called `exit()`, or that it printed nothing and did not fail.
    pub fn remark(&self) -> Option<String> {
        let printed = !self.printed.trim().is_empty() || self.value.is_some();
        match &self.exit {
            Some(with) if printed => Some(format!("the program called exit({with})")),
            Some(with) => Some(format!("the program called exit({with}) and printed nothing")),
            None if self.error.is_none() && !printed => {
                Some("the program printed nothing".to_owned())
            }
            None => None,
        }
    }
}

/// Reason why a program waits, or its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Pause {
    Call(ProgramCall),
    /// Calls that the program wants made together: `all_of`.
    Calls(Vec<ProgramCall>),
    /// The time of day.
    Clock,
    Line(LineStop),
    Ended(ProgramEnd),
}

/// The answer to one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CallAnswer {
    /// The result of the tool, as text that is parsed if it is JSON.
    Result(String),
    /// An exception is raised at the call.
    Raise(Raised),
    /// The time of day in milliseconds since 1970, UTC.
    Time(i64),
}

/// An interpreter of programs. One program at a time; a dead interpreter is an error of its program.
pub trait Interpreter {
    /// Begins a program and runs it to its first pause.
    fn start<'a>(
        &'a mut self,
        start: &'a ProgramStart,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause>;

    /// Goes on after a pause, with one answer for each of its calls.
    fn answer<'a>(
        &'a mut self,
        answers: Vec<CallAnswer>,
        stops: &'a Stops,
    ) -> LocalBoxFuture<'a, Pause>;

    /// Runs a program again over recorded answers. It goes on from where it stops.
    fn again<'a>(&'a mut self, again: &'a Again) -> LocalBoxFuture<'a, Reached>;

    /// Ends the program where it is.
    fn stop(&mut self);
}
