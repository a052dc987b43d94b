//! Keeps a client waiting whose call is held, where it asked for notes of progress.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::mpsc;

use super::book::Book;
use super::message::CallRequest;

/// How often the client hears that its call is held.
pub const BEAT: Duration = Duration::from_secs(5);

/// Writes notes of progress as long as this runs.
pub async fn beat<T>(
    asked: &CallRequest,
    book: &RefCell<Book>,
    client: &mpsc::Sender<Vec<u8>>,
) -> T {
    loop {
        tokio::time::sleep(BEAT).await;
        let progress = book.borrow_mut().next_progress(&asked.id);
        let Some(line) = note(asked, progress) else { return std::future::pending().await };
        // Where the client is gone, others notice.
        let _ = client.send(line).await;
    }
}

/// A note of progress for a call that is held; `None`: its client asked for none.
pub fn note(asked: &CallRequest, progress: f64) -> Option<Vec<u8>> {
    let token = asked.token.as_ref()?;
    let params = format!(
        "{{\"progressToken\":{token},\"progress\":{progress},\"message\":\"held by toolyard\"}}"
    );
    let method = "\"method\":\"notifications/progress\"";
    let line = format!("{{\"jsonrpc\":\"2.0\",{method},\"params\":{params}}}\n");
    Some(line.into_bytes())
}
