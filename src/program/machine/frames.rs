//! The place of a program, and of its error, in lines of the original.

use monty::{Dump, ReplProgress, Session, SessionRef, dump};
use monty_types::{ExcType, MontyException, MontyObject, PrintWriter, StackFrame};

use super::SCRIPT;
use crate::domain::program::{Frame, ProgramLimits, Raised, Span};
use crate::papers::atc::prepare::{Prepared, unmarked};
use crate::value::clipped;

/// The frames of a paused call, outermost first. The interpreter reveals frames only by an exception, so a copy of it
/// gets one; the call itself continues unharmed.
pub fn of(paused: &ReplProgress, code: &Prepared) -> Vec<Frame> {
    let Some(copy) = copied(paused).and_then(ReplProgress::into_function_call) else {
        return Vec::new();
    };
    let probe = MontyException::new(ExcType::RuntimeError, None);
    match copy.abort(probe, PrintWriter::Disabled) {
        Err(error) => {
            error.error.traceback().iter().filter_map(|frame| shown(frame, code)).collect()
        }
        Ok(_) => Vec::new(),
    }
}

pub fn copied(paused: &ReplProgress) -> Option<ReplProgress> {
    let bytes = dump("program", None, SessionRef::Suspended(paused)).ok()?;
    match Dump::load(&bytes).ok()?.state {
        Session::Suspended(copy) => Some(*copy),
        Session::Idle(_) | Session::Running(_) => None,
    }
}

fn shown(frame: &StackFrame, code: &Prepared) -> Option<Frame> {
    let is_ours = frame.filename == SCRIPT;
    let function = frame.frame_name.clone().filter(|name| name != "<module>");
    is_ours.then(|| Frame { function, line: code.span(span(frame)).line })
}

fn span(frame: &StackFrame) -> Span {
    Span {
        line: frame.start.line,
        column: frame.start.column,
        end_line: frame.end.line,
        end_column: frame.end.column,
    }
}

/// An uncaught exception, with its place in the original. `printed`: the program printed too much.
pub fn raised(
    error: &MontyException,
    code: &Prepared,
    limits: &ProgramLimits,
    printed: bool,
) -> Raised {
    let own = error.traceback().iter().filter(|frame| frame.filename == SCRIPT);
    let spans: Vec<Span> = own.map(|frame| code.span(span(frame))).collect();
    let kind = error.exc_type().to_string();
    let text = unmarked(error.message().unwrap_or_default());
    let place = spans.last().copied();
    let text = match kind.as_str() {
        "TimeoutError" if text.starts_with("time limit") => {
            format!("time limit exceeded: {} ms", limits.time_ms)
        }
        "MemoryError" if printed => format!("printed more than {} KiB", limits.printed >> 10),
        "MemoryError" => format!("memory limit exceeded: {} MiB", limits.memory >> 20),
        "KeyError" => key(&text, place.map(|span| code.text(span)).unwrap_or_default()),
        _ => text,
    };
    let is_within = kind == "NotImplementedError" && text.contains("external function");
    let hint = is_within.then(|| "call it in a loop or a comprehension".to_owned());
    let text = clipped(text);
    let frames = spans.iter().map(|span| span.line).collect();
    Raised { kind, text, hint, had: None, span: place, frames }
}

/// A missing key as Python writes it. The interpreter does not tell whether `5` is a text; the failing expression may.
fn key(text: &str, expression: &str) -> String {
    let is_other = text.parse::<f64>().is_ok()
        || ["None", "True", "False"].contains(&text)
        || text.starts_with('(');
    let in_quotes =
        ['\'', '"'].iter().any(|quote| expression.contains(&format!("{quote}{text}{quote}")));
    match is_other && !in_quotes {
        true => text.to_owned(),
        false => MontyObject::String(text.to_owned()).py_repr(),
    }
}
