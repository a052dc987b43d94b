//! A relay's end of its connection to a session.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;

use super::find::RelaySession;
use super::line::{CallTurn, Called, RelayLine, line_of};
use crate::domain::ToolSpec;
use crate::line::{self, parse};
use crate::net::known;
use crate::tool::foreign_calls::{CallSessionEnd, ForeignCall, RelayNews, RelayTurn};

/// The most bytes of tools in one line.
const TOOLS: usize = 1 << 20;

/// Carries a relay's news to this session, and the turns of its calls back, until one side ends. Code that waits for a
/// call then sees its channel closed. Needs a local set.
pub async fn dial(session: RelaySession, server: &str, mut news: UnboundedReceiver<RelayNews>) {
    let RelaySession { mut lines, mut out, .. } = session;
    let hello = line::line_of(&line::AttachLine::Relay(server.to_owned()));
    if out.write_all(hello.as_bytes()).await.is_err() {
        return;
    }
    let (say, mut said) = mpsc::unbounded_channel();
    let (mut tasks, mut next) = (JoinSet::new(), 0);
    let mut ways = BTreeMap::<u64, (Rc<CallSessionEnd>, Rc<Value>)>::new();
    loop {
        tokio::select! {
            biased;
            Some(said) = said.recv() => {
                // The session does not know the keys of this process, but its journal must not have them either.
                let clean = known::redacted(&said, |json| serde_json::from_str(json).ok());
                if out.write_all(&line_of(&clean.unwrap_or(said))).await.is_err() {
                    return;
                }
            }
            line = lines.next() => {
                let Ok(Some(line)) = line else { return };
                // The session has ended, or does not know such lines.
                let Ok(CallTurn { n, turn }) = parse::<CallTurn>(&line) else { return };
                let is_last = matches!(turn, RelayTurn::AsCame | RelayTurn::Instead(_));
                if let Some((way, arguments)) = ways.get(&n).cloned() {
                    if is_last {
                        ways.remove(&n);
                    }
                    way.tell(with_keys(turn, &arguments));
                }
            }
            Some(_) = tasks.join_next() => {}
            told = news.recv() => match told {
                Some(RelayNews::Called(call)) => {
                    next += 1;
                    let (called, way) = split(*call, next);
                    let (way, arguments) = (Rc::new(way), Rc::new(called.arguments.clone()));
                    let _ = say.send(RelayLine::Called(called));
                    ways.insert(next, (Rc::clone(&way), arguments));
                    tasks.spawn_local(follow(next, way, say.clone()));
                }
                Some(RelayNews::Offered { tools, .. }) => {
                    parts(tools).into_iter().for_each(|tools| drop(say.send(RelayLine::Offered(tools))));
                }
                Some(RelayNews::Noticed(text)) => drop(say.send(RelayLine::Noticed(text))),
                Some(RelayNews::Ended { .. }) | None => return,
            },
        }
    }
}

fn split(call: ForeignCall, n: u64) -> (Called, CallSessionEnd) {
    let ForeignCall { id, tool, arguments, patience, way, .. } = call;
    let patience_ms = patience.and_then(|it| u64::try_from(it.as_millis()).ok());
    (Called { n, id, tool, arguments, patience_ms }, way)
}

/// Reports the server's result, and when no client waits any more.
async fn follow(n: u64, way: Rc<CallSessionEnd>, say: mpsc::UnboundedSender<RelayLine>) {
    if let Some(returned) = way.returned().await {
        let _ = say.send(RelayLine::Returned { n, returned });
    }
    way.given_up().await;
    let _ = say.send(RelayLine::GivenUp(n));
}

/// A turn with the keys that the session does not know: the server gets what its client sent where the session has
/// changed nothing.
fn with_keys(turn: RelayTurn, sent: &Value) -> RelayTurn {
    match (turn, known::redacted(sent, |json| serde_json::from_str(json).ok())) {
        (RelayTurn::On(Some(mut arguments)), Some(told)) => {
            restore(&mut arguments, &told, sent);
            RelayTurn::On(Some(arguments))
        }
        (turn, _) => turn,
    }
}

fn restore(value: &mut Value, told: &Value, sent: &Value) {
    if value == told {
        value.clone_from(sent);
        return;
    }
    match (value, told, sent) {
        (Value::Object(fields), told, sent) => {
            fields.iter_mut().for_each(|(name, field)| restore(field, &told[name], &sent[name]));
        }
        (Value::Array(items), Value::Array(told), Value::Array(sent)) => {
            let both = told.iter().zip(sent);
            items.iter_mut().zip(both).for_each(|(item, (told, sent))| restore(item, told, sent));
        }
        _ => {}
    }
}

/// Tools in lines of a moderate length.
fn parts(tools: Vec<ToolSpec>) -> Vec<Vec<ToolSpec>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for tool in tools {
        let size = line_of(&tool).len();
        bytes += size;
        if bytes > TOOLS {
            parts.push(Vec::new());
            bytes = size;
        }
        parts.last_mut().into_iter().for_each(|part: &mut Vec<_>| part.push(tool.clone()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn changed_arguments_keep_the_keys_that_the_session_was_not_told() {
        crate::net::learn::variable("KEY", "k3y-of-arguments");
        let key = "with k3y-of-arguments";
        let sent = json!({"a": key, "b": [key, 1, key], "c": {"d": key, "e": 1}, "f": key});
        let changed = json!({"a": "with [key]", "b": ["with [key]", 1, "other"],
            "c": {"d": "with [key]", "e": 2}, "f": ["with [key]"], "g": "with [key]"});
        let expected = json!({"a": key, "b": [key, 1, "other"], "c": {"d": key, "e": 2},
            "f": ["with [key]"], "g": "with [key]"});
        let turn = with_keys(RelayTurn::On(Some(changed)), &sent);
        assert_eq!(turn, RelayTurn::On(Some(expected)));
        assert_eq!(with_keys(RelayTurn::On(None), &sent), RelayTurn::On(None));
    }
}
