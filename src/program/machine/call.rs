//! Calls of tools as programs make them.

use jiff::Timestamp;
use monty::ReplFunctionCall;
use monty_types::{
    ExcType, ExtFunctionResult, MontyDate, MontyDateTime, MontyException, MontyObject,
    OsFunctionCall,
};
use serde_json::{Map, Value};

use crate::domain::program::{Function, ProgramCall, ProgramLimits, Raised};
use crate::papers::atc::{flaws::ALL_OF, prepare::Prepared};
use crate::value::argument;

/// The result of reading a call.
pub enum Called {
    One(ProgramCall),
    Many(Vec<ProgramCall>),
    TooMany,
    /// The text of a `TypeError`.
    Wrong(String),
}

/// The calls that a program has made, and its limits.
#[derive(Clone, Copy)]
pub struct Limits {
    pub made: usize,
    /// The bytes of the arguments of these calls.
    pub sent: usize,
    pub most: ProgramLimits,
}

/// The approximate size of a call's arguments, in bytes.
pub fn sent(call: &ReplFunctionCall) -> usize {
    let named = call.kwargs.iter().map(|(_, value)| value);
    call.args.iter().chain(named).map(MontyObject::deep_host_size).fold(0, usize::saturating_add)
}

/// Reads a call of a tool, or of [`ALL_OF`].
pub fn called(
    call: &ReplFunctionCall,
    code: &Prepared,
    functions: &[Function],
    limits: Limits,
) -> Called {
    let (tool, line) = code
        .call(&call.function_name)
        .map_or((&*call.function_name, 0), |(tool, at)| (tool, at.line));
    let more = sent(call).saturating_add(limits.sent);
    let read = if more > limits.most.arguments {
        let most = limits.most.arguments >> 20;
        Err(format!("the arguments of all calls are larger than {most} MiB"))
    } else if tool == ALL_OF {
        all_of(call, code, functions, limits.most.argument).map(Called::Many)
    } else {
        let most = limits.most.argument;
        let named = arguments((functions, most), tool, &call.args, &call.kwargs);
        named
            .map(|arguments| Called::One(ProgramCall { tool: tool.to_owned(), arguments, line: 0 }))
    };
    let more = match &read {
        Ok(Called::Many(calls)) => calls.len(),
        _ => 1,
    };
    match read {
        _ if limits.made + more > limits.most.calls => Called::TooMany,
        Err(text) => Called::Wrong(text),
        Ok(Called::One(call)) => Called::One(ProgramCall { line, ..call }),
        Ok(Called::Many(calls)) => {
            Called::Many(calls.into_iter().map(|call| ProgramCall { line, ..call }).collect())
        }
        Ok(other) => other,
    }
}

fn all_of(
    call: &ReplFunctionCall,
    code: &Prepared,
    functions: &[Function],
    most: usize,
) -> Result<Vec<ProgramCall>, String> {
    let usage = || format!("{ALL_OF}() takes a tool and a list of dicts of arguments");
    let [MontyObject::Function { name, .. }, MontyObject::List(all) | MontyObject::Tuple(all)] =
        &*call.args
    else {
        return Err(usage());
    };
    let tool = code.call(name).map_or(name.as_str(), |(tool, _)| tool);
    let one = |one: &MontyObject| {
        let MontyObject::Dict(pairs) = one else { return Err(usage()) };
        let named: Vec<_> = pairs.iter().cloned().collect();
        let arguments = arguments((functions, most), tool, &[], &named)?;
        Ok(ProgramCall { tool: tool.to_owned(), arguments, line: 0 })
    };
    all.iter().map(one).collect()
}

/// The arguments by name, none larger than `most` bytes.
///
/// # Errors
/// Python's message about them.
fn arguments(
    (functions, most): (&[Function], usize),
    tool: &str,
    given: &[MontyObject],
    named: &[(MontyObject, MontyObject)],
) -> Result<Map<String, Value>, String> {
    let function = functions.iter().find(|function| function.name == tool);
    let Function { parameters, takes_more, .. } =
        function.ok_or_else(|| format!("{tool} is not a function"))?;
    let mut arguments = Map::new();
    if given.len() > parameters.len() {
        let (most, given) = (parameters.len(), given.len());
        return Err(format!("{tool}() takes {most} positional arguments but {given} were given"));
    }
    let read = |name: &str, value: &MontyObject| {
        let read = match value.deep_host_size() {
            // A text takes a few more bytes than its length.
            size if size > most + 64 => Err(format!("larger than {} KiB", most >> 10)),
            _ => argument(value),
        };
        read.map_err(|why| format!("{tool}() argument '{name}' is {why}"))
    };
    for (name, value) in parameters.iter().zip(given) {
        arguments.insert(name.clone(), read(name, value)?);
    }
    for (name, value) in named {
        let MontyObject::String(name) = name else {
            return Err(format!("{tool}() keywords must be strings"));
        };
        if !takes_more && !parameters.contains(name) {
            return Err(format!("{tool}() got an unexpected keyword argument '{name}'"));
        }
        if arguments.contains_key(name) {
            return Err(format!("{tool}() got multiple values for argument '{name}'"));
        }
        arguments.insert(name.clone(), read(name, value)?);
    }
    Ok(arguments)
}

/// An exception of the interpreter; an unknown one becomes a `RuntimeError`.
pub fn exception(raised: &Raised) -> MontyException {
    let kind = raised.kind.parse().unwrap_or(ExcType::RuntimeError);
    MontyException::new(kind, Some(raised.text.clone()))
}

/// The date, or the date and the time, that a program asked for.
pub fn time(call: &OsFunctionCall, millis: i64) -> ExtFunctionResult {
    let Ok(time) = Timestamp::from_millisecond(millis) else {
        return exception(&Raised::new("OverflowError", "the clock is wrong")).into();
    };
    let (offset, name) = match call {
        OsFunctionCall::DateTimeNow(Some(zone)) => (Some(zone.offset_seconds), zone.name.clone()),
        _ => (None, None),
    };
    let zone = jiff::tz::Offset::from_seconds(offset.unwrap_or(0)).unwrap_or(jiff::tz::Offset::UTC);
    let at = zone.to_datetime(time);
    let part = |value: i8| u8::try_from(value).unwrap_or(0);
    let (year, month, day) = (i32::from(at.year()), part(at.month()), part(at.day()));
    if matches!(call, OsFunctionCall::DateToday) {
        return MontyObject::Date(MontyDate { year, month, day }).into();
    }
    let microsecond = u32::try_from(at.subsec_nanosecond() / 1000).unwrap_or(0);
    MontyObject::DateTime(MontyDateTime {
        year,
        month,
        day,
        hour: part(at.hour()),
        minute: part(at.minute()),
        second: part(at.second()),
        microsecond,
        offset_seconds: offset,
        timezone_name: name,
    })
    .into()
}
