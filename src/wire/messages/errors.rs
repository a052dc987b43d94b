//! Errors as a client of this format understands them.

use serde_json::{Value, json};

use super::reply::frame;

/// The body of the answer to a request that failed with this status of HTTP.
pub fn write_error(status: u16, message: &str) -> String {
    document(status, message).to_string()
}

/// The event of a failure inside a stream, with the status that an earlier failure would have had.
pub fn write_error_event(status: u16, message: &str) -> String {
    frame(&document(status, message))
}

fn document(status: u16, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind(status), "message": message}})
}

/// The type of an error, which clients check inside a stream, where there is no status.
fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        408 | 504 => "timeout_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_type_of_their_status() {
        let event = write_error_event(529, "Over\nloaded");
        let body = write_error(529, "Over\nloaded");
        assert_eq!(event, format!("event: error\ndata: {body}\n\n"));
        let error: Value = serde_json::from_str(&body).unwrap();
        let expected = json!({"type": "overloaded_error", "message": "Over\nloaded"});
        assert_eq!((&error["type"], &error["error"]), (&json!("error"), &expected));
        for (status, expected) in [
            (400, "invalid_request_error"),
            (418, "invalid_request_error"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (0, "api_error"),
        ] {
            assert_eq!(kind(status), expected, "{status}");
        }
    }
}
