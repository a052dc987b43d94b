//! A single attempt: sends a request, and returns either a complete answer or a failure.

use std::time::Duration;

use reqwest::RequestBuilder;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::time::timeout;

use super::failure::Failure;
use super::line::EndpointTransport;
use super::reading::{HttpAnswer, Stage};
use crate::ModelProgress;
use crate::net::coding::Body;
use crate::wire::GrowingAnswer;

/// How long usage may arrive after the finish reason, which ends the answer itself.
const AFTER_FINISH: Duration = Duration::from_secs(5);
/// How long to wait for the connection to end after its last event, so that it can be reused.
const AFTER_LAST: Duration = Duration::from_millis(20);

impl EndpointTransport<'_> {
    /// Sends the request, and reads the answer that `begin` creates from the headers of the response.
    pub(super) async fn answer(
        &self,
        send: RequestBuilder,
        begin: &dyn Fn(&HeaderMap) -> Box<dyn GrowingAnswer>,
        progress: &mut dyn FnMut(ModelProgress),
    ) -> Result<Box<dyn GrowingAnswer>, Failure> {
        let response = self.send(send).await?;
        let headers = response.headers();
        let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
        let kind = kind.unwrap_or_default();
        let (status, answer) = (response.status(), begin(headers));
        let mut reading = HttpAnswer::new(&self.place, self.longest, status, &kind, answer);
        let mut body = Body::of(response);
        loop {
            let stage = reading.stage();
            let patience = match stage {
                Stage::Last => AFTER_LAST,
                Stage::Finished => AFTER_FINISH.min(self.silence),
                Stage::Open => self.silence,
            };
            match timeout(patience, body.chunk()).await {
                Ok(Ok(Some(chunk))) => reading.feed(&chunk, progress)?,
                Ok(Ok(None)) => break,
                // A connection that breaks after the end of the answer does no harm.
                Ok(Err(_)) | Err(_) if stage != Stage::Open || reading.is_page() => break,
                Ok(Err(error)) => {
                    return Err(self.place.cut(error).with_partial(reading.text()));
                }
                Err(_) => {
                    return Err(self.silent("sent nothing more").with_partial(reading.text()));
                }
            }
        }
        reading.end(progress)
    }
}
