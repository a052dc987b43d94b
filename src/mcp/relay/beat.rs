//! Keeps a client waiting whose call is held, where it asked for notes of progress.

use std::cell::RefCell;
use std::time::Duration;

use tokio::sync::mpsc;

use super::book::Book;
use super::message::Asked;

/// How often the client hears that its call is held.
const BEAT: Duration = Duration::from_secs(5);

/// Writes notes of progress as long as this runs.
pub async fn beat<T>(asked: &Asked, book: &RefCell<Book>, client: &mpsc::Sender<Vec<u8>>) -> T {
    let Some(token) = &asked.token else { return std::future::pending().await };
    loop {
        tokio::time::sleep(BEAT).await;
        let progress = book.borrow_mut().next_progress(&asked.id);
        let params = format!(
            "{{\"progressToken\":{token},\"progress\":{progress},\"message\":\"held by toolyard\"}}"
        );
        let method = "\"method\":\"notifications/progress\"";
        let line = format!("{{\"jsonrpc\":\"2.0\",{method},\"params\":{params}}}\n");
        // Where the client is gone, others notice.
        let _ = client.send(line.into_bytes()).await;
    }
}
