//! Errors in the words of Bedrock, and in those of Messages.

use serde_json::{Value, json};

/// The exception inside a stream, the error of a request, and the type in Messages. The first of several fits best.
const KINDS: [(&str, &str, &str); 12] = [
    ("throttlingException", "ThrottlingException", "rate_limit_error"),
    ("validationException", "ValidationException", "invalid_request_error"),
    ("serviceUnavailableException", "ServiceUnavailableException", "overloaded_error"),
    ("modelTimeoutException", "ModelTimeoutException", "timeout_error"),
    ("internalServerException", "InternalServerException", "api_error"),
    ("internalServerException", "AccessDeniedException", "authentication_error"),
    ("internalServerException", "AccessDeniedException", "permission_error"),
    ("internalServerException", "ServiceQuotaExceededException", "billing_error"),
    ("internalServerException", "ResourceNotFoundException", "not_found_error"),
    ("validationException", "ValidationException", "request_too_large"),
    ("modelStreamErrorException", "ModelErrorException", "api_error"),
    ("modelErrorException", "ModelErrorException", "api_error"),
];

/// The error of Messages that an exception inside a stream stands for.
pub(super) fn opened(exception: &str, payload: &[u8]) -> Value {
    let said: Option<Value> = serde_json::from_slice(payload).ok();
    let message =
        said.as_ref().and_then(|said| said["message"].as_str().or(said["Message"].as_str()));
    let message = message.map_or_else(|| String::from_utf8_lossy(payload), Into::into);
    let kind =
        KINDS.iter().find(|(name, ..)| *name == exception).map_or("api_error", |kind| kind.2);
    let message = format!("{exception}: {message}");
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

/// The name of the exception for an error of Messages, and its payload.
pub(super) fn closed(error: &Value) -> (&'static str, String) {
    let kind = kind(error).map_or("internalServerException", |kind| kind.0);
    (kind, body(error))
}

/// The name by which clients know an error of Messages; `None` if the text is none.
pub fn error_kind(text: &[u8]) -> Option<&'static str> {
    let error: Value = serde_json::from_slice(text).ok()?;
    (error["type"] == "error")
        .then(|| kind(&error).map_or("InternalServerException", |kind| kind.1))
}

/// The body for an error of Messages.
pub fn write_error(text: &[u8]) -> String {
    serde_json::from_slice(text).map_or_else(|_| String::new(), |error| body(&error))
}

fn kind(error: &Value) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let kind = error["error"]["type"].as_str();
    KINDS.iter().find(|(.., own)| Some(*own) == kind)
}

fn body(error: &Value) -> String {
    let message = error["error"]["message"].as_str().unwrap_or_default();
    json!({ "message": message }).to_string()
}
