//! What is asked of each path, and the answers as cells.

use std::time::Duration;

use regex::Regex;
use serde_json::{Value, json};
use toolyard::domain::State;

use super::endpoint::Exchange;
use super::http::Message;
use super::rows::{Kind, Path1};
use super::runs::{Left, Trial};
use super::table::{Cell, Row};
use super::tap::Exchange as Tapped;

/// How long a call is held, in seconds, and how long the client reads without a byte.
const HELD: (&str, Duration) = ("5", Duration::from_secs(5));
const READS: &str = "3";
/// What a broken tool says.
const FAULT: &str = "503 Service Unavailable";
/// What a person makes of a call and of its result.
const CITY: &str = "Bonn";
const RESULT: &str = "hail in Bonn";
/// What toolyard adds to a request for a stream of chat that does not ask for its usage.
const ASKING: &str = "\"stream_options\":{\"include_usage\":true},";
/// Headers for toolyard and of one connection, and those that say how a body is packed.
const OF_CONNECTION: [&str; 9] = [
    "x-toolyard-session",
    "host",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "upgrade",
    "accept-encoding",
    "content-length",
];

/// Whether it is so, with the reason if not.
type Told = Result<(), String>;

/// Tries a path in every way.
pub fn row(path: &Path1) -> Row {
    let trial = Trial::new(path);
    let direct = trial.direct();
    let row = |cells| Row { name: path.name(), version: path.version.clone(), cells };
    if direct.code != 0 || direct.answer.is_empty() {
        println!("{} does not work without toolyard: {}", path.name(), direct.trouble());
        return row(std::array::from_fn(|_| Cell::Not("it does not work without toolyard")));
    }
    let (first, tapped) = trial.tapped();
    let bytes = bytes(&direct, &first, &tapped);
    let seen = seen(path, &trial, &first);
    let held = held(path, &trial, &direct);
    let again = trial.again();
    let replayed = replayed(&first, &again);
    let (fault, edit) = match path.framework.kind {
        Kind::Text => (Cell::Not("calls in text"), Cell::Not("calls in text")),
        Kind::Answer => (Cell::Not("the call is the answer"), cell(edited(path, &trial))),
        _ => (cell(fault(path, &trial)), cell(edited(path, &trial))),
    };
    row([cell(bytes), cell(seen), fault, held, edit, cell(replayed)])
}

fn cell(told: Told) -> Cell {
    match told {
        Ok(()) => Cell::Yes,
        Err(why) => Cell::No(why),
    }
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Told {
    if holds { Ok(()) } else { Err(why()) }
}

/// Every request and answer passed as it was, and the agent did what it does without toolyard.
fn bytes(direct: &Left, first: &Left, tapped: &[Tapped]) -> Told {
    ensure(first.code == 0, || first.trouble())?;
    ensure(first.answer == direct.answer, || format!("it answered: {}", first.answer))?;
    let mut left: Vec<&Exchange> = first.exchanges.iter().collect();
    for exchange in tapped {
        let at = left.iter().position(|it| passed(exchange, it)).ok_or_else(|| {
            let sent = String::from_utf8_lossy(&exchange.request.body);
            let near = left.first().map_or("nothing", |it| &it.request);
            format!("{} came as another one: {}", exchange.request.first, apart(&sent, near))
        })?;
        left.remove(at);
    }
    ensure(left.is_empty(), || format!("{} requests did not come from the agent", left.len()))?;
    let sent: Vec<String> =
        tapped.iter().map(|it| String::from_utf8_lossy(&it.request.body).into_owned()).collect();
    let alone: Vec<&String> = direct.exchanges.iter().map(|it| &it.request).collect();
    ensure(sent.len() == alone.len(), || {
        format!("{} requests, without toolyard {}", sent.len(), alone.len())
    })?;
    for (sent, alone) in sent.iter().zip(alone) {
        let [one, other] = [sent, alone].map(|text| masked(text));
        // Fields of maps come in any order.
        let [a, b] = [&one, &other].map(|text| serde_json::from_str::<Value>(text).ok());
        ensure(one == other || (a.is_some() && a == b), || {
            format!("the agent sent another request: {}", apart(&one, &other))
        })?;
    }
    Ok(())
}

/// Where two texts part, for a person.
fn apart(one: &str, other: &str) -> String {
    let same = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from =
        |text: &str| -> String { text.chars().skip(same.saturating_sub(20)).take(80).collect() };
    format!("“{}” and “{}”", from(one), from(other))
}

/// Without what differs from run to run by itself.
fn masked(text: &str) -> String {
    const VARIES: &str = concat!(
        r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}",
        r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*|lc_run-[-\w]+|127\.0\.0\.1:\d+",
        r"|unix_ms\W+\d+|Chunk ID: \w+|Wall time:? [\d.]+"
    );
    Regex::new(VARIES).unwrap().replace_all(text, "…").into_owned()
}

/// Whether an exchange before toolyard is this one behind it.
fn passed(before: &Tapped, behind: &Exchange) -> bool {
    let body = |message: &Message| String::from_utf8_lossy(&message.body).into_owned();
    let (sent, got) = (body(&before.request), body(&before.answer));
    let hides = sent != behind.request;
    let answer = if hides { without_usage(&behind.answer) } else { behind.answer.clone() };
    let headers = before.request.headers.iter();
    let mut headers = headers.filter(|(name, _)| !OF_CONNECTION.contains(&name.as_str()));
    let path = before.request.path();
    // The versions and the names of endpoints before it may differ.
    (behind.path.ends_with(path) || path.ends_with(&behind.path))
        && (!hides || behind.request.replacen(ASKING, "", 1) == sent)
        && got == answer
        && headers.all(|(name, value)| behind.headers[name] == value.as_str())
}

/// A stream without the chunk that has the usage alone.
fn without_usage(stream: &str) -> String {
    let events = stream.split_inclusive("\n\n");
    let is_other = |event: &&str| {
        let data = event.strip_prefix("data: ").unwrap_or_default();
        !toolyard::wire::chat::is_usage_alone(data.trim_end())
    };
    events.filter(is_other).collect()
}

/// One conversation with its calls and their results, answered, without a failure or a mark.
fn seen(path: &Path1, trial: &Trial<'_>, first: &Left) -> Told {
    let bytes = std::fs::read(trial.home.path("first.json")).map_err(|why| why.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|why| why.to_string())?;
    let state: State = serde_json::from_slice(&bytes).map_err(|why| why.to_string())?;
    let list = |part: &str| value[part].as_array().cloned().unwrap_or_default();
    let (asks, calls, tasks) = (list("asks"), list("calls"), list("tasks"));
    let asked = first.model_calls().len();
    ensure(asks.len() == asked, || format!("{} of {asked} model calls", asks.len()))?;
    let runs = value["runs"].as_object().map_or(0, serde_json::Map::len);
    // Each request of an agent that sends its past as one text is another one from the beginning on.
    let one = path.framework.kind == Kind::Text || (runs, tasks.len()) == (1, 1);
    ensure(one, || format!("{runs} conversations, {} tasks", tasks.len()))?;
    let made = first.exchanges.iter().map(|it| it.calls).sum::<u64>();
    ensure(calls.len() as u64 == made, || format!("{} of {made} tool calls", calls.len()))?;
    for task in tasks {
        let outcome = &task["phase"]["done"]["outcome"];
        ensure(outcome == "answered", || format!("its task ended so: {outcome}"))?;
    }
    for call in calls {
        let error = &call["phase"]["failed"]["error"];
        ensure(error.is_null(), || format!("{} failed: {error}", call["tool"]))?;
    }
    let effects = state.model_calls.iter().map(|it| it.effect.id);
    let effects = effects.chain(state.tool_calls.iter().map(|it| it.effect.id));
    let marks: Vec<String> =
        effects.flat_map(|id| state.marks(id)).map(|mark| format!("{mark:?}")).collect();
    ensure(marks.is_empty(), || format!("marks: {}", marks.join(", ")))
}

/// The model reads the fault.
fn fault(path: &Path1, trial: &Trial<'_>) -> Told {
    let fault = format!("{}:error", path.tool());
    let left = trial.watched("fault", &["--fault", &fault], None);
    ensure(left.code == 0, || left.trouble())?;
    reads_only(&left, FAULT)?;
    ensure(left.answer.contains(FAULT), || format!("it answered: {}", left.answer))
}

/// The agent waits for calls that are held for longer than its client reads.
fn held(path: &Path1, trial: &Trial<'_>, direct: &Left) -> Cell {
    let stop = match path.framework.kind {
        Kind::Text => "model:after".to_owned(),
        _ => format!("{}:before", path.tool()),
    };
    let options = ["--break", &stop, "--hold", HELD.0];
    let left = trial.watched("held", &options, Some(READS));
    if path.is_limited() && left.code != 0 {
        return Cell::Not("its limit is that of the whole answer");
    }
    cell((|| {
        ensure(left.code == 0, || left.trouble())?;
        ensure(left.time > HELD.1, || format!("it was held for {:?} at most", left.time))?;
        ensure(left.answer == direct.answer, || format!("it answered: {}", left.answer))?;
        let (asked, usual) = (left.model_calls().len(), direct.model_calls().len());
        ensure(asked == usual, || format!("{asked} model calls, usually {usual}"))
    })())
}

/// The tool gets what a person made of the call, and the model reads what they made of the result.
fn edited(path: &Path1, trial: &Trial<'_>) -> Told {
    let line = format!("echo {CITY} >> \"$GOT\"; echo sunny in {CITY}");
    let arguments = match path.tool() {
        "Bash" => json!({"command": line, "description": "Tells the weather"}),
        "exec_command" => json!({"cmd": line}),
        _ => json!({"city": CITY}),
    };
    let left = trial.edited(arguments, RESULT);
    ensure(left.code == 0, || left.trouble())?;
    if path.framework.kind == Kind::Answer {
        return ensure(left.answer.contains(CITY), || format!("it answered: {}", left.answer));
    }
    ensure(!left.got.is_empty() && left.got.iter().all(|it| it == CITY), || {
        format!("the tool got {:?}", left.got)
    })?;
    reads_only(&left, RESULT)
}

/// The model read this of every result, and not what the tool said.
fn reads_only(left: &Left, text: &str) -> Told {
    let read = left.model_calls().last().map_or_else(Vec::new, |it| it.read.clone());
    ensure(!read.is_empty() && read.iter().all(|it| it.contains(text)), || {
        format!("the model read {read:?}")
    })?;
    ensure(read.iter().all(|it| !it.contains("sunny in")), || {
        format!("the model read the tool's own result, too: {read:?}")
    })
}

/// The same agent needs no endpoint over its record.
fn replayed(first: &Left, again: &Left) -> Told {
    let count = first.model_calls().len();
    let all = format!("{count} of {count} model calls answered from the record");
    ensure(again.err.contains(&all), || {
        let line = again.err.lines().find(|it| it.contains("recorded")).unwrap_or_default();
        format!("{line} ({})", again.trouble())
    })?;
    ensure(again.code == 0, || again.trouble())?;
    ensure(again.answer == first.answer, || format!("it answered: {}", again.answer))
}
