//! Reads copies of requests and answers in the background, and tells the session.

use std::borrow::Cow;

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{spawn_blocking, spawn_local};

use crate::domain::Request;
use crate::domain::chat::Role;
use crate::domain::sent_body::SentBody;
use crate::model::ModelProgress;
use crate::model::hosted::Overheard;
use crate::model::http::{CopySender, Pieces};
use crate::model::relay::Heard;
use crate::net::known::without_known;
use crate::wire::json;

/// Reads the request that was sent, unless it is `known`, and its answer from the pieces that go into the returned
/// channel. If the channel is closed before the answer is complete, the agent has hung up, and the session gets no end.
pub fn hear(
    overheard: Overheard,
    sent: Bytes,
    known: Option<Request>,
    heard: UnboundedSender<Heard>,
) -> CopySender {
    let (copy, pieces) = Pieces::channel();
    spawn_local(read(overheard, (sent, known), heard, pieces));
    copy
}

async fn read(
    overheard: Overheard,
    (sent, known): (Bytes, Option<Request>),
    heard: UnboundedSender<Heard>,
    mut pieces: Pieces,
) {
    let format = overheard.format;
    // A long request takes milliseconds, during which other streams continue.
    let parse = move || {
        let read = || format.read_request(&sent).ok().map(|asked| asked.request);
        let body = str::from_utf8(&sent).ok().and_then(SentBody::of);
        // A body may have a fault that is known.
        let body = body.or_else(|| json::read(&sent).ok().as_ref().map(SentBody::from));
        (body, known.or_else(read))
    };
    let (body, request) = spawn_blocking(parse).await.unwrap_or_default();
    // If the receiver is gone, the session has ended.
    let tell = |news: Heard| drop(heard.send(news));
    if let Some(body) = body {
        tell(Heard::Sent(body));
    }
    let request = request.unwrap_or_else(|| Request::new(Role::Actor, Vec::new()));
    let mut said = String::new();
    let mut progress = |progress: ModelProgress| match progress {
        ModelProgress::Text(text) => {
            said.push_str(&text);
            tell(Heard::Text(text));
        }
        ModelProgress::Reasoning(text) => {
            said.push_str(&text);
            tell(Heard::Reasoning(text));
        }
        ModelProgress::Retrying { .. }
        | ModelProgress::Noticed(_)
        | ModelProgress::Sent(_)
        | ModelProgress::Answered(_) => {}
    };
    let ended = overheard.reply(&request, &mut pieces, &mut progress).await;
    let Some(ended) = ended else { return };
    let ended = ended.map(|(reply, id)| {
        id.into_iter().for_each(|id| tell(Heard::Named(id)));
        reply
    });
    // A key that a model writes in several pieces is whole in none of them.
    let has_key = |text: &str| matches!(without_known(text), Cow::Owned(_));
    let reply = ended.as_ref().ok().and_then(|reply| serde_json::to_string(reply).ok());
    // The agent may go on from the answer already.
    tell(Heard::Ended(ended));
    if !has_key(&said) && !reply.is_some_and(|reply| has_key(&reply)) {
        pieces.whole().await.into_iter().for_each(|answer| tell(Heard::Answered(answer.into())));
    }
}
