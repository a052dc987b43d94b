//! The session's end of a relay's connection.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::line::{CallTurn, Called, RelayLine, line_of};
use crate::line::{LineReader, parse};
use crate::tool::foreign_calls::{ForeignCall, RelayNews, RelayTurn, Returned, way};

/// A call whose relay waits.
struct RelayWait {
    returned: Option<oneshot::Sender<Returned>>,
    /// Stops passing the turns on.
    turns: AbortHandle,
}

/// Serves a relay until it leaves, or the session ends.
pub async fn serve<R: AsyncBufRead + Unpin>(
    mut lines: LineReader<R>,
    mut out: impl AsyncWrite + Unpin,
    server: Arc<str>,
    news: mpsc::UnboundedSender<RelayNews>,
    is_over: &CancellationToken,
) {
    let (tell, mut told) = mpsc::unbounded_channel();
    let (mut open, mut tasks) = (BTreeMap::new(), JoinSet::new());
    loop {
        let line = tokio::select! {
            biased;
            Some(told) = told.recv() => {
                if out.write_all(&line_of(&told)).await.is_err() {
                    break;
                }
                continue;
            }
            line = lines.next() => line,
            Some(_) = tasks.join_next() => continue,
            () = is_over.cancelled() => break,
        };
        let Ok(Some(line)) = line else { break };
        let Ok(said) = parse::<RelayLine>(&line) else { break };
        let server = Arc::clone(&server);
        let is_heard = match said {
            RelayLine::Offered(tools) => news.send(RelayNews::Offered { server, tools }),
            RelayLine::Noticed(text) => news.send(RelayNews::Noticed(text)),
            RelayLine::Called(called) => {
                let (call, n, kept) = begin(server, called, &tell, &mut tasks);
                open.insert(n, kept);
                news.send(RelayNews::Called(Box::new(call)))
            }
            RelayLine::Returned { n, returned } => {
                let waits = open.get_mut(&n).and_then(|open: &mut RelayWait| open.returned.take());
                // The session may have answered it already.
                let _ = waits.map(|waits| waits.send(returned));
                Ok(())
            }
            RelayLine::GivenUp(n) => {
                open.remove(&n).into_iter().for_each(|open| open.turns.abort());
                Ok(())
            }
        };
        if is_heard.is_err() {
            break;
        }
    }
    // Calls that were sent on have an unknown outcome, which the session learns first.
    open.clear();
    drop(tasks);
    let _ = news.send(RelayNews::Ended { server });
}

fn begin(
    server: Arc<str>,
    called: Called,
    tell: &mpsc::UnboundedSender<CallTurn>,
    tasks: &mut JoinSet<()>,
) -> (ForeignCall, u64, RelayWait) {
    let Called { n, id, tool, arguments, patience_ms } = called;
    let (way, mut line) = way();
    let returned = line.returned.take();
    let tell = tell.clone();
    let turns = tasks.spawn_local(async move {
        while let Some(turn) = line.turns.recv().await {
            let is_last = matches!(turn, RelayTurn::AsCame | RelayTurn::Instead(_));
            if tell.send(CallTurn { n, turn }).is_err() || is_last {
                return;
            }
        }
    });
    let patience = patience_ms.map(Duration::from_millis);
    (ForeignCall { server, id, tool, arguments, patience, way }, n, RelayWait { returned, turns })
}
