//! Requests of a server to its client. Toolyard has no model, no person and no folders for servers: it declines
//! requests that can be declined, lists no folders, and refuses the rest. So no server waits for an answer.

#![expect(deprecated, reason = "servers of older revisions send what they log")]

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::handler::client::progress::ProgressDispatcher;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation, InputRequest,
    InputRequests, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Map, Value, json};
use tokio::sync::Notify;

use super::log::Log;

/// The client's side of a connection.
#[derive(Clone)]
pub struct Client {
    pub log: Arc<Log>,
    /// Signals that the server's tools have changed.
    pub changed: Arc<Notify>,
    pub progress: ProgressDispatcher,
    /// Whether the client uses the last protocol revision that has `initialize`.
    pub is_old: bool,
    /// Whether requests for user input are answered with their defaults.
    pub gives_defaults: bool,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let program = Implementation::new("toolyard", env!("CARGO_PKG_VERSION"));
        let mut can = ClientCapabilities::default();
        can.elicitation = self
            .gives_defaults
            .then(|| ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        let mut config = ClientConfig::new(can, program);
        if self.is_old {
            config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        }
        config
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn create_elicitation(
        &self,
        asked: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(elicited(&asked, self.gives_defaults))
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

/// Accepts with the default of each field that has one, if `gives_defaults` and every required field has one; else
/// declines.
fn elicited(asked: &ElicitRequestParams, gives_defaults: bool) -> ElicitResult {
    let declined = ElicitResult::new(ElicitationAction::Decline);
    let ElicitRequestParams::FormElicitationParams { requested_schema, .. } = asked else {
        return declined;
    };
    let schema = json!(requested_schema);
    let fields = schema["properties"].as_object().into_iter().flatten();
    let given =
        fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())));
    let given: Map<String, Value> = given.collect();
    let required = schema["required"].as_array().into_iter().flatten();
    let is_whole = required.filter_map(Value::as_str).all(|name| given.contains_key(name));
    match gives_defaults && is_whole {
        true => ElicitResult::new(ElicitationAction::Accept).with_content(given.into()),
        false => declined,
    }
}

/// The answers to the requests that a call makes to its client (`input_required`).
///
/// # Errors
/// A request of the server that toolyard cannot answer.
pub fn answers(
    requests: InputRequests,
    gives_defaults: bool,
) -> Result<BTreeMap<String, Value>, String> {
    let answer = |(key, request)| match request {
        InputRequest::Elicitation(asked) => {
            Ok((key, json!(elicited(&asked.params, gives_defaults))))
        }
        InputRequest::ListRoots(_) => Ok((key, json!({ "roots": [] }))),
        InputRequest::CreateMessage(_) => {
            Err("the server asks for a model, and toolyard offers servers none".to_owned())
        }
        _ => Err("the server asks for something that toolyard does not know".to_owned()),
    };
    requests.into_iter().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_given_where_they_are_whole_and_wanted() {
        let asked = |required: &[&str]| -> ElicitRequestParams {
            let schema = json!({"type": "object", "required": required, "properties": {
                "name": {"type": "string", "default": "Ann"}, "age": {"type": "integer"}}});
            let form = json!({"mode": "form", "message": "who?", "requestedSchema": schema});
            serde_json::from_value(form).unwrap()
        };
        let given = elicited(&asked(&["name"]), true);
        assert_eq!(given.action, ElicitationAction::Accept);
        assert_eq!(given.content, Some(json!({"name": "Ann"})));
        assert_eq!(elicited(&asked(&["age"]), true).action, ElicitationAction::Decline);
        assert_eq!(elicited(&asked(&[]), false).action, ElicitationAction::Decline);
    }
}
