//! A program that is run again over the recorded answers to its calls. It does the same each time, so any moment of it
//! can be reached without calling anything.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CallAnswer, Frame, Pause, ProgramEnd, ProgramStart, Raised, Set};

/// Error of an expression that takes longer than its limit of 50 ms.
pub const TOO_LONG: &str = "it takes longer than 50 ms";
/// Error of an expression that calls a tool under another name.
pub const CALLS: &str = "it calls a tool; expressions cannot call tools";

/// A call that a program made, and the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeardCall {
    /// The function.
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub answer: CallAnswer,
}

/// Answers that a program received: to its calls, and times of day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heard {
    pub calls: Vec<HeardCall>,
    /// The times of day, in milliseconds since 1970, UTC.
    pub clocks: Vec<i64>,
}

/// Up to where a program is run again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Until {
    /// To the first question that the record does not answer, or to its end.
    #[default]
    Record,
    /// Before the nth statement that it comes to, from 1.
    Statement(u64),
    /// Before the statement that makes this call of the record, from 0.
    Call(usize),
    /// Before this line, when it comes there for the last time.
    Line(u32),
    /// Before the last statement that it comes to.
    Last,
}

/// A program to be run again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Again {
    /// The program, which can stop before its statements.
    pub start: ProgramStart,
    pub heard: Heard,
    pub until: Until,
    /// Expressions to evaluate there. They change nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Whether to count the statements that the whole record leads to.
    #[serde(default)]
    pub counts: bool,
}

/// Position of a program that was run again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reached {
    pub pause: Pause,
    /// Number of calls of the record that the program has made.
    pub calls: usize,
    /// Number of times of day that the program has read from the record.
    pub clocks: usize,
    /// Whether the program made a different call than the record has in this place.
    pub parted: bool,
    /// The program's values now, or those before its last statement if it stopped there.
    pub values: Vec<Set>,
    /// Number of statements that the program has come to.
    pub statements: u64,
    /// Number of statements that the whole record leads to, if [`Again::counts`] is set.
    pub whole: u64,
    /// The functions at work while the program waits for a call.
    pub frames: Vec<Frame>,
}

impl Reached {
    /// The result when the interpreter is gone.
    pub fn failed(error: Raised) -> Self {
        Self {
            pause: Pause::Ended(ProgramEnd::failed("", error)),
            calls: 0,
            clocks: 0,
            parted: false,
            values: Vec::new(),
            statements: 0,
            whole: 0,
            frames: Vec::new(),
        }
    }
}

/// How far a person takes a program back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Back {
    /// To the statement before.
    Line,
    /// To the statement that made the last call.
    Call,
    /// To the nth statement that it came to.
    Statement(u64),
}
