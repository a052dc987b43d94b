//! Keeps a client waiting while its call is held, if it asked for progress notes.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::mpsc;

use super::book::Book;
use super::message::CallRequest;

/// The interval between progress notes for a held call.
pub const BEAT: Duration = Duration::from_secs(5);

/// Writes progress notes as long as this runs.
pub async fn beat<T>(
    asked: &CallRequest,
    book: &RefCell<Book>,
    client: &mpsc::Sender<Vec<u8>>,
) -> T {
    loop {
        tokio::time::sleep(BEAT).await;
        let progress = book.borrow_mut().next_progress(&asked.id);
        let Some(line) = note(asked, progress) else { return std::future::pending().await };
        // If the client is gone, other code notices it.
        let _ = client.send(line).await;
    }
}

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
