//! Keeps a client waiting while its call is held, if it asked for progress notes.

use std::time::Duration;

use super::message::CallRequest;

/// The interval between progress notes for a held call.
pub const BEAT: Duration = Duration::from_secs(5);

/// A progress note for a held call; `None` if its client asked for none.
pub fn note(asked: &CallRequest, progress: f64) -> Option<Vec<u8>> {
    let token = asked.token.as_ref()?;
    let params = format!(
        "{{\"progressToken\":{token},\"progress\":{progress},\"message\":\"held by toolyard\"}}"
    );
    let method = "\"method\":\"notifications/progress\"";
    let line = format!("{{\"jsonrpc\":\"2.0\",{method},\"params\":{params}}}\n");
    Some(line.into_bytes())
}
