//! `toolyard tools call`: one tool call by hand, in a session that does nothing else. It takes the path of every call, with
//! the check of its arguments, and faults.

use serde_json::{Map, Value};

use super::tools::open::ToolSession;
use super::{call_args::CallArgs, out, trouble::Trouble};
use crate::domain::{
    Command, Refusal, ToolCallPhase, ToolCallState, ToolSpec, arguments, schema_repair,
};
use crate::session::SessionSpec;

pub fn call(args: &CallArgs) -> Result<(), Trouble> {
    let spec =
        SessionSpec { seed: args.seed, faults: args.fault.clone(), ..SessionSpec::default() };
    let mut session = ToolSession::open(&args.from, spec, |tool| tool == args.tool)?;
    session.send(command(&session, args)?)?;
    session
        .fold_until(|state, _| state.tool_calls.last().is_some_and(|call| call.phase.is_over()))?;
    let state = session.end()?;
    let Some(call) = state.tool_calls.last() else {
        return Err(Trouble::Failed("there was no call".to_owned()));
    };
    if args.json {
        out::print_json(&serde_json::to_string(call).map_err(Trouble::failed)?)?;
    }
    said(call, args.json)
}

fn command(session: &ToolSession, args: &CallArgs) -> Result<Command, Trouble> {
    let spec = &session.tool(&args.tool)?.spec;
    let arguments = given(spec, &args.arguments)?;
    Ok(Command::CallTool { tool: spec.name.clone(), arguments })
}

/// The arguments, parsed by the schema.
fn given(spec: &ToolSpec, given: &[String]) -> Result<Value, Trouble> {
    if let [object] = given
        && object.trim_start().starts_with('{')
    {
        let read = serde_json::from_str(object);
        return read.map_err(|error| Trouble::Usage(format!("arguments: not JSON: {error}")));
    }
    let sendable = schema_repair::sendable(&spec.parameters).unwrap_or_default();
    let mut object = Map::new();
    for pair in given {
        let Some((name, value)) = pair.split_once('=') else {
            let text = format!("arguments: expected NAME=VALUE or one JSON object, got {pair:?}");
            return Err(Trouble::Usage(text));
        };
        let schema = &sendable["properties"][name];
        object.insert(name.to_owned(), arguments::value(value, schema));
    }
    Ok(Value::Object(object))
}

/// Prints the result, or says why there is none.
fn said(call: &ToolCallState, is_printed: bool) -> Result<(), Trouble> {
    let text = call.observation().unwrap_or_default();
    match &call.phase {
        ToolCallPhase::Refused { reason: Refusal::Arguments, .. } => {
            Err(Trouble::Usage(text.to_owned()))
        }
        ToolCallPhase::Done { .. } if is_printed => Ok(()),
        ToolCallPhase::Done { .. } => out::print_line(text),
        _ => Err(Trouble::Failed(format!("{} failed: {text}", call.tool))),
    }
}
