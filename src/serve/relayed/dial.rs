//! A relay's end of its connection to a session.

use std::collections::BTreeMap;
use std::rc::Rc;

use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinSet;

use super::find::RelaySession;
use super::line::{CallTurn, Called, RelayLine, line_of};
use crate::domain::ToolSpec;
use crate::line::{self, parse};
use crate::tool::relayed::{CallSessionEnd, ForeignCall, RelayNews, RelayTurn};

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
    let (mut ways, mut tasks, mut next) = (BTreeMap::new(), JoinSet::new(), 0);
    loop {
        tokio::select! {
            biased;
            Some(said) = said.recv() => {
                if out.write_all(&line_of(&said)).await.is_err() {
                    return;
                }
            }
            line = lines.next() => {
                let Ok(Some(line)) = line else { return };
                // The session has ended, or does not know such lines.
                let Ok(CallTurn { n, turn }) = parse::<CallTurn>(&line) else { return };
                let is_last = matches!(turn, RelayTurn::AsCame | RelayTurn::Instead(_));
                if let Some(way) = ways.get(&n).map(|way: &Rc<CallSessionEnd>| Rc::clone(way)) {
                    if is_last {
                        ways.remove(&n);
                    }
                    way.tell(turn);
                }
            }
            Some(_) = tasks.join_next() => {}
            told = news.recv() => match told {
                Some(RelayNews::Called(call)) => {
                    next += 1;
                    let (called, way) = split(*call, next);
                    let _ = say.send(RelayLine::Called(called));
                    let way = Rc::new(way);
                    ways.insert(next, Rc::clone(&way));
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
