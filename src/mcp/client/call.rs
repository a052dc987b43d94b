//! Calls of a server's tools.

use std::sync::Arc;
use std::time::Duration;

use futures::future::LocalBoxFuture;
use jsonschema::Validator;
use rmcp::model::{CallToolRequest, CallToolRequestParams, CallToolResult, ServerResult};
use rmcp::service::Peer;
use rmcp::{RoleClient, ServiceError};

use super::life::ServerContext;
use super::stage::Stage;
use super::{answer, failure, request, server_requests};
use crate::domain::{CallProgress, ToolSpec};
use crate::tool::{Invocation, Tool, ToolError, ToolErrorKind, ToolOutput};

/// How often a server may ask back before it answers a call.
const ROUNDS: u32 = 10;

/// A tool of a server.
pub struct McpTool {
    pub spec: Arc<ToolSpec>,
    /// The server's own name for it.
    pub name: String,
    pub shared: Arc<ServerContext>,
    /// The schema of its structured content, if it is a valid one.
    pub output: Option<Validator>,
}

impl Tool for McpTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.call_telling(invocation, &|_| {})
    }

    fn call_telling<'a>(
        &'a self,
        invocation: &'a Invocation,
        told: &'a dyn Fn(CallProgress),
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let peer = self.shared.peer().ok_or_else(|| self.away())?;
            let mut params = CallToolRequestParams::new(self.name.clone());
            params.arguments = invocation.arguments.as_object().cloned();
            let result = answered(&peer, params, &self.shared, told).await?;
            answer::output(&result, self.output.as_ref())
        })
    }
}

impl McpTool {
    /// The error if the server cannot be called now.
    fn away(&self) -> ToolError {
        let key = &self.shared.entry.key;
        let text = match &*self.shared.stage.borrow() {
            Stage::Down { why, again } => {
                let soon = again.as_secs();
                format!(
                    "the MCP server {key:?} has ended: {why}; it is started again after {soon} s"
                )
            }
            Stage::Off { why } => format!("the MCP server {key:?} is disabled: {why}"),
            Stage::Starting | Stage::Ready(_) => format!("the MCP server {key:?} is starting"),
        };
        ToolError::new(ToolErrorKind::Unavailable, text)
    }
}

/// Calls the tool, and answers the server's requests.
async fn answered(
    peer: &Peer<RoleClient>,
    mut params: CallToolRequestParams,
    shared: &ServerContext,
    told: &dyn Fn(CallProgress),
) -> Result<CallToolResult, ToolError> {
    let failed = |text: String| ToolError::new(ToolErrorKind::Failed, text);
    for round in 0..ROUNDS {
        let request = CallToolRequest::new(params.clone()).into();
        let sent = request::sent(peer, request, &shared.progress, told);
        match sent.await.map_err(|error| failed(said(&error)))? {
            ServerResult::CallToolResult(result) => return Ok(result),
            ServerResult::EmptyResult(_) => return Ok(CallToolResult::default()),
            ServerResult::InputRequiredResult(asked) => {
                let requests = asked.input_requests.unwrap_or_default();
                if requests.is_empty() {
                    tokio::time::sleep(Duration::from_millis(50 << round)).await;
                }
                let answers = server_requests::answers(requests, shared.entry.gives_defaults)
                    .map_err(failed)?;
                params.input_responses = (!answers.is_empty()).then_some(answers);
                params.request_state = asked.request_state;
            }
            _ => return Err(failed("the answer is no result of a tool".to_owned())),
        }
    }
    Err(failed(format!("the server asked back {ROUNDS} times and gave no result")))
}

/// An error of the connection, for the agent.
fn said(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportClosed => {
            "the server ended during the call; whether it has done its work is unknown".to_owned()
        }
        other => failure::of_request(other),
    }
}
