//! Reads copies of requests and answers in the background, and tells the session.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::{spawn_blocking, spawn_local};

use crate::domain::Request;
use crate::domain::chat::Role;
use crate::model::ModelProgress;
use crate::model::hosted::Overheard;
use crate::model::http::Passing;
use crate::model::relay::Heard;
use crate::wire::json;

/// Reads the request that was sent, unless it is `known`, and its answer from the pieces that go into the returned
/// channel. If the channel is closed before the answer is complete, the agent has hung up, and the session gets no end.
pub fn hear(
    overheard: Overheard,
    sent: Bytes,
    known: Option<Request>,
    heard: UnboundedSender<Heard>,
) -> UnboundedSender<Passing> {
    let (copy, pieces) = mpsc::unbounded_channel();
    spawn_local(read(overheard, (sent, known), heard, pieces));
    copy
}

async fn read(
    overheard: Overheard,
    (sent, known): (Bytes, Option<Request>),
    heard: UnboundedSender<Heard>,
    mut pieces: UnboundedReceiver<Passing>,
) {
    let format = overheard.format;
    // A long request takes milliseconds, during which other streams continue.
    let parse = move || {
        let read = || format.read_request(&sent).ok().map(|asked| asked.request);
        (json::read(&sent).ok(), known.or_else(read))
    };
    let (body, request) = spawn_blocking(parse).await.unwrap_or_default();
    // If the receiver is gone, the session has ended.
    let tell = |news: Heard| drop(heard.send(news));
    if let Some(body) = body {
        tell(Heard::Sent(Arc::new(body)));
    }
    let request = request.unwrap_or_else(|| Request::new(Role::Actor, Vec::new()));
    let mut progress = |progress: ModelProgress| match progress {
        ModelProgress::Text(text) => tell(Heard::Text(text)),
        ModelProgress::Reasoning(text) => tell(Heard::Reasoning(text)),
        ModelProgress::Retrying { .. } | ModelProgress::Noticed(_) | ModelProgress::Sent(_) => {}
    };
    if let Some(ended) = overheard.reply(&request, &mut pieces, &mut progress).await {
        tell(Heard::Ended(ended));
    }
}
