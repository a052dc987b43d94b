//! What a server asks of its client. Toolyard has no model, no person and no folders for servers: it declines what can
//! be declined, lists no folders, and refuses the rest. So nothing waits for an answer.

#![expect(deprecated, reason = "servers of older revisions send what they log")]

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, InputRequest, InputRequests,
    LoggingMessageNotificationParam, ProgressNotificationParam,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::log::Log;

/// The client's side of a connection.
#[derive(Clone)]
pub struct Client {
    pub log: Arc<Log>,
    /// The server said that its tools have changed.
    pub changed: Arc<Notify>,
    pub progress: ProgressDispatcher,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let program = Implementation::new("toolyard", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), program)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.handle_notification(progress).await;
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text = match message.data {
            Value::String(text) => text,
            other => other.to_string(),
        };
        self.log.add(&text);
    }
}

/// The answers to what a call needs from its client (`input_required`).
///
/// # Errors
/// What a server needs and toolyard does not have.
pub fn answers(requests: InputRequests) -> Result<BTreeMap<String, Value>, String> {
    let answer = |(key, request)| match request {
        InputRequest::Elicitation(_) => Ok((key, json!({ "action": "decline" }))),
        InputRequest::ListRoots(_) => Ok((key, json!({ "roots": [] }))),
        InputRequest::CreateMessage(_) => {
            Err("the server asks for a model, and toolyard offers servers none".to_owned())
        }
        _ => Err("the server asks for something that toolyard does not know".to_owned()),
    };
    requests.into_iter().map(answer).collect()
}
