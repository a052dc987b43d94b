//! Failures of a connection, for people. The SDK's own texts name types of Rust and leave out causes.

use std::error::Error;

use rmcp::ServiceError;
use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde::Serialize;
use serde_json::Value;

use super::message_repair::NO_CODE;
use crate::domain::words::clipped;

/// The most characters of a server's error that are shown.
const ERROR: usize = 2000;
/// The most characters of an odd answer that are shown.
const ANSWER: usize = 200;

/// The reason why no connection was opened.
pub fn of_start(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { discover, fallback } => {
            let (discover, fallback) = (of_start(discover), of_start(fallback));
            format!("it answers neither server/discover ({discover}) nor initialize ({fallback})")
        }
        ClientInitializeError::ExpectedInitResponse(answer) => odd(answer),
        ClientInitializeError::ExpectedInitResult(answer) => odd(answer),
        ClientInitializeError::ConnectionClosed(before) => {
            format!("it closed the connection before its {before}")
        }
        ClientInitializeError::TransportError { error, context } => {
            format!("could not {context}: {}", of_transport(error))
        }
        ClientInitializeError::JsonRpcError(error) => of_server(error),
        ClientInitializeError::NoCompatibleProtocolVersion {
            client_supported,
            server_supported,
        } => {
            let (ours, theirs) = (listed(client_supported), listed(server_supported));
            format!("it has revision {theirs} of the protocol, and toolyard has {ours}")
        }
        other => other.to_string(),
    }
}

/// Whether the server cannot be reached, or lets nobody in.
pub fn is_unreachable(error: &ClientInitializeError) -> bool {
    let ClientInitializeError::TransportError { error, .. } = error else { return false };
    match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => error.is_connect() || error.is_redirect(),
        Some(StreamableHttpError::AuthRequired(_)) => true,
        _ => false,
    }
}

/// The reason why a request got no result.
pub fn of_request(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => of_server(error),
        ServiceError::TransportSend(error) => {
            clipped(&format!("could not send the request: {}", of_transport(error)), ERROR)
        }
        other => clipped(&other.to_string(), ERROR),
    }
}

fn of_server(error: &ErrorData) -> String {
    let mut text = clipped(&error.message, ERROR);
    if error.code != NO_CODE {
        let said = if text.is_empty() { "it says no reason" } else { &text };
        text = format!("error {} of the server: {said}", error.code.0);
    }
    match &error.data {
        Some(Value::String(data)) if !error.message.contains(&**data) => {
            format!("{text}; {}", clipped(data, ERROR))
        }
        None | Some(Value::Null | Value::String(_)) => text,
        Some(data) => format!("{text}; {}", clipped(&data.to_string(), ERROR)),
    }
}

/// The innermost cause. The address stays out of it, since it may have a key.
fn of_transport(error: &DynamicTransportError) -> String {
    let mut cause: &(dyn Error + 'static) = error.error.as_ref();
    // The SDK names these causes in its text only.
    match cause.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(StreamableHttpError::Client(error)) => cause = error,
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => return clipped(said, ERROR),
        _ => {}
    }
    while let Some(source) = cause.source() {
        cause = source;
    }
    clipped(&cause.to_string(), ERROR)
}

fn odd(answer: &impl Serialize) -> String {
    let answer = serde_json::to_string(answer).unwrap_or_default();
    format!("its answer is no revision of the protocol: {}", clipped(&answer, ANSWER))
}

fn listed(revisions: &[ProtocolVersion]) -> String {
    let all: Vec<_> = revisions.iter().map(ToString::to_string).collect();
    clipped(&all.join(", "), ANSWER)
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;
    use std::io;

    use serde_json::json;

    use super::*;

    fn transport(error: impl Error + Send + Sync + 'static) -> DynamicTransportError {
        let name = "rmcp::transport::worker::WorkerTransport<rmcp::X>";
        DynamicTransportError::from_parts(name, TypeId::of::<()>(), Box::new(error))
    }

    #[test]
    fn no_type_of_rust_is_named() {
        let sent = |error| ClientInitializeError::TransportError {
            error: transport(error),
            context: "send discover request".into(),
        };
        type Http = StreamableHttpError<reqwest::Error>;
        let refused = Http::Io(io::Error::other("connection refused"));
        assert_eq!(of_start(&sent(refused)), "could not send discover request: connection refused");
        let closed = ServiceError::TransportSend(transport(Http::TransportChannelClosed));
        assert_eq!(of_request(&closed), "could not send the request: Transport channel closed");
        let error = || ClientInitializeError::JsonRpcError(ErrorData::internal_error("no", None));
        let both = ClientInitializeError::LegacyFallbackFailed {
            discover: Box::new(error()),
            fallback: Box::new(error()),
        };
        let why = "error -32603 of the server: no";
        let text = format!("it answers neither server/discover ({why}) nor initialize ({why})");
        assert_eq!(of_start(&both), text);
        let odd = ClientInitializeError::ExpectedInitResult(None);
        assert_eq!(of_start(&odd), "its answer is no revision of the protocol: null");
        let none = ClientInitializeError::NoCompatibleProtocolVersion {
            client_supported: vec![ProtocolVersion::V_2026_07_28],
            server_supported: vec![ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_03_26],
        };
        assert_eq!(
            of_start(&none),
            "it has revision 2025-06-18, 2025-03-26 of the protocol, and toolyard has 2026-07-28"
        );
    }

    #[test]
    fn an_error_is_told_with_its_data() {
        let told = |error: serde_json::Value| {
            let error: ErrorData = serde_json::from_value(error).unwrap();
            of_request(&ServiceError::McpError(error))
        };
        let issues = json!({"issues": [{"path": ["city"], "message": "no such city"}]});
        assert_eq!(
            told(json!({"code": -32602, "message": "Invalid arguments", "data": issues})),
            format!("error -32602 of the server: Invalid arguments; {issues}")
        );
        assert_eq!(
            told(json!({"code": -32602, "message": "no: x", "data": "x"})),
            "error -32602 of the server: no: x"
        );
        assert_eq!(told(json!({"code": 0, "message": "no", "data": null})), "no");
        assert_eq!(
            told(json!({"code": 5, "message": ""})),
            "error 5 of the server: it says no reason"
        );
    }

    #[tokio::test]
    async fn the_cause_is_told_without_the_address() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("http://127.0.0.1:{port}/mcp?key=secret");
        let builder = crate::net::guard::builder(true, crate::net::guard::Redirects::SameServer);
        let error = builder.build().unwrap().get(address).send().await.unwrap_err();
        let why = of_transport(&transport(StreamableHttpError::Client(error)));
        assert!(why.contains("refused") && !why.contains("secret"), "{why}");
    }
}
