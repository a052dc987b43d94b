//! Requests to a server. One that is given up is cancelled at the server, too.

use futures::StreamExt;
use futures::future;
use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions};
use rmcp::{RoleClient, ServiceError};

use crate::domain::{CallProgress, words::clipped};
use crate::files::safe_text::visible;

/// The most bytes of a progress message that are shown.
const MESSAGE: usize = 200;

/// Sends one request. If this is dropped before the answer, the server is told that the request is cancelled.
pub async fn sent(
    peer: &Peer<RoleClient>,
    request: ClientRequest,
    progress: &ProgressDispatcher,
    told: impl Fn(CallProgress),
) -> Result<ServerResult, ServiceError> {
    let options = PeerRequestOptions::no_options();
    let handle = peer.send_cancellable_request(request, options).await?;
    let mut open = OpenRequest { peer: peer.clone(), id: Some(handle.id.clone()) };
    let mut progress = progress.subscribe(handle.progress_token.clone()).await;
    let tell = async {
        while let Some(now) = progress.next().await {
            let message = clipped(&visible(&now.message.unwrap_or_default()), MESSAGE);
            told(CallProgress {
                done: now.progress.into(),
                total: now.total.map(Into::into),
                message,
            });
        }
        future::pending().await
    };
    let answer = tokio::select! {
        answer = handle.await_response() => answer,
        never = tell => never,
    };
    open.id = None;
    answer
}

/// A request without an answer; dropping it cancels the request.
struct OpenRequest {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let why = Some("the request was cancelled".to_owned());
            let params = CancelledNotificationParam::new(Some(id), why);
            // Fails only if the server has ended.
            let _ended = peer.send_notification(CancelledNotification::new(params).into()).await;
        });
    }
}
