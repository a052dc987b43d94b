//! `toolyard call`: one tool call by hand, in a session that does nothing else. It takes the path of every call, with
//! the check of its arguments, and faults.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedReceiver;

use super::{call_args::CallArgs, out, trouble::Trouble};
use crate::domain::{
    Command, Event, Record, Refusal, SessionEvent, State, ToolCallPhase, ToolCallState, ToolSpec,
    arguments, words,
};
use crate::session::{JournalChoice, Session, SessionSpec, TaskSource};

pub fn call(args: &CallArgs) -> Result<(), Trouble> {
    let spec = SessionSpec {
        config: args.config.config.clone(),
        workspace: args.workspace.clone(),
        mcp: args.mcp.clone(),
        sample: args.sample,
        seed: args.seed,
        faults: args.fault.clone(),
        tasks: TaskSource::List(Vec::new()),
        journal: JournalChoice::None,
        fresh: true,
        paused: true,
        stay: true,
        awaits_tools: true,
        ..SessionSpec::default()
    };
    let prepared = spec.prepare()?;
    let notices = prepared.workspace.notices(|tool| tool.as_str() == args.tool);
    notices.iter().for_each(|notice| out::warn(notice));
    let Session { mut records, commands, engine, .. } = prepared.spawn()?;
    let mut state = State::default();
    let made = fold(&mut state, &mut records, are_tools_known)
        .and_then(|()| command(&state, args))
        .and_then(|command| commands.send(command).map_err(|_| ended()))
        .and_then(|()| fold(&mut state, &mut records, is_call_over));
    drop(commands);
    engine.join().map_err(Trouble::failed)?;
    made?;
    let call = state.tool_calls.last().ok_or_else(ended)?;
    if args.json {
        out::print_json(&serde_json::to_string(call).map_err(Trouble::failed)?)?;
    }
    said(call, args.json)
}

/// Folds records until one after which this holds.
fn fold(
    state: &mut State,
    records: &mut UnboundedReceiver<Arc<Record>>,
    holds: fn(&State, &Record) -> bool,
) -> Result<(), Trouble> {
    loop {
        let record = records.blocking_recv().ok_or_else(ended)?;
        state.apply(&record);
        if holds(state, &record) {
            return Ok(());
        }
    }
}

fn ended() -> Trouble {
    Trouble::Failed("the session ended before the call".to_owned())
}

fn are_tools_known(_: &State, record: &Record) -> bool {
    matches!(record.event, Event::Session(SessionEvent::ToolsAdded { .. }))
}

fn is_call_over(state: &State, _: &Record) -> bool {
    state.tool_calls.last().is_some_and(|call| call.phase.is_over())
}

fn command(state: &State, args: &CallArgs) -> Result<Command, Trouble> {
    let Some(tool) = state.tools.get(args.tool.as_str()) else {
        let expected = words::expected(&args.tool, state.tools.keys().map(|name| name.as_str()));
        return Err(Trouble::Usage(format!("there is no tool {}; {expected}", args.tool)));
    };
    let arguments = given(&tool.spec, &args.arguments)?;
    Ok(Command::CallTool { tool: tool.spec.name.clone(), arguments })
}

/// The arguments as the schema reads them.
fn given(spec: &ToolSpec, given: &[String]) -> Result<Value, Trouble> {
    if let [object] = given
        && object.trim_start().starts_with('{')
    {
        let read = serde_json::from_str(object);
        return read.map_err(|error| Trouble::Usage(format!("arguments: not JSON: {error}")));
    }
    let mut object = Map::new();
    for pair in given {
        let Some((name, value)) = pair.split_once('=') else {
            let text = format!("arguments: expected NAME=VALUE or one JSON object, got {pair:?}");
            return Err(Trouble::Usage(text));
        };
        let schema = &spec.parameters["properties"][name];
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
