//! One attempt: a request is sent, and either a complete answer or a failure returns.

use std::time::Duration;

use reqwest::RequestBuilder;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;
use tokio::time::timeout;

use super::failure::{Failure, Place};
use super::line::Line;
use super::reading::{Reading, Stage};
use super::sse::Event;
use crate::Progress;

/// How long usage may arrive after the finish reason, which ends the answer itself.
const AFTER_FINISH: Duration = Duration::from_secs(5);
/// How long to wait for the connection to end after its last event, so that it can be reused.
const AFTER_LAST: Duration = Duration::from_millis(20);

/// An answer as one wire parses it: from the events of a stream, or from one whole document,
/// whichever the server sends.
pub trait Answer: Sized {
    /// Reads a whole answer. Errors in the document were handled before.
    ///
    /// # Errors
    /// The document is not an answer.
    fn whole(
        &mut self,
        document: &Value,
        place: &Place<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure>;

    /// Reads one event whose data is not blank, and reports what it adds. True for the last event.
    ///
    /// # Errors
    /// Those of [`Place::event`], or the answer is invalid.
    fn event(
        &mut self,
        event: &Event,
        place: &Place<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, Failure>;

    /// Whether the server has sent the end of the answer. Without that, it is only a beginning.
    fn is_finished(&self) -> bool;

    /// The text so far. A failure keeps it.
    fn text(&self) -> &str;

    /// Bytes of everything that the model has written so far, in any part of the answer.
    fn size(&self) -> usize;
}

impl Line<'_> {
    /// Sends the request, and reads the answer that `begin` begins with the headers of the response.
    pub(super) async fn answer<A: Answer>(
        &self,
        send: RequestBuilder,
        begin: &dyn Fn(&HeaderMap) -> A,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<A, Failure> {
        let mut response = self.send(send).await?;
        let headers = response.headers();
        let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
        let kind = kind.unwrap_or_default();
        let (status, answer) = (response.status(), begin(headers));
        let mut reading = Reading::new(&self.place, self.longest, status, &kind, answer);
        loop {
            let stage = reading.stage();
            let patience = match stage {
                Stage::Last => AFTER_LAST,
                Stage::Finished => AFTER_FINISH.min(self.silence),
                Stage::Open => self.silence,
            };
            match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(chunk))) => reading.feed(&chunk, progress)?,
                Ok(Ok(None)) => break,
                // A connection that breaks after the end of the answer does no harm.
                Ok(Err(_)) | Err(_) if stage != Stage::Open || reading.is_page() => break,
                Ok(Err(error)) => {
                    return Err(self.place.broken(error).with_partial(reading.text()));
                }
                Err(_) => {
                    return Err(self.silent("sent nothing more").with_partial(reading.text()));
                }
            }
        }
        reading.end(progress)
    }
}
