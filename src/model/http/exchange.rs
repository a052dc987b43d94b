//! One attempt: a request is sent, and either a complete answer or a failure returns.

use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::timeout;

use super::failure::{Failure, Place};
use super::line::{LONGEST_BODY, LONGEST_REFUSAL, Line};
use super::retry::Again;
use super::sse::{Event, Parser};
use crate::domain::ModelErrorKind;
use crate::model::Progress;

/// Bytes that count as a token where tokens do not come one by one.
const BYTES_PER_TOKEN: usize = 4;

/// How long usage may arrive after the finish reason, which ends the answer itself.
const AFTER_FINISH: Duration = Duration::from_secs(5);
/// How long to wait for the connection to end after its last event, so that it can be reused.
const AFTER_LAST: Duration = Duration::from_millis(20);

/// An answer as one wire parses it: from the events of a stream, or from one whole document,
/// whichever the server sends.
pub trait Answer: Sized {
    /// Only these headers have arrived.
    fn begin(headers: &HeaderMap) -> Self;

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
    /// Sends the request, and reads the answer by its type, not by the request: some servers always
    /// stream, some never do.
    pub(super) async fn answer<A: Answer>(
        &self,
        send: RequestBuilder,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<A, Failure> {
        let response = self.send(send).await?;
        let mut answer = A::begin(response.headers());
        let kind =
            response.headers().get(CONTENT_TYPE).map(|kind| kind.as_bytes().to_ascii_lowercase());
        let kind = String::from_utf8_lossy(kind.as_deref().unwrap_or_default()).into_owned();
        if kind.contains("json") {
            let body = self.body(response, LONGEST_BODY).await.map_err(|(_, failed)| failed)?;
            answer.whole(&self.place.document(&body)?, &self.place, progress)?;
            self.expect_short(answer.size() / BYTES_PER_TOKEN)?;
        } else if kind.contains("html") {
            return Err(self.page(response).await);
        } else {
            let streamed = self.stream(response, &mut answer, progress).await;
            streamed.map_err(|failed| failed.with_partial(answer.text()))?;
        }
        Ok(answer)
    }

    async fn stream(
        &self,
        mut response: Response,
        answer: &mut impl Answer,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), Failure> {
        let mut parser = Parser::default();
        let mut was_last = false;
        let mut tokens = 0;
        loop {
            let patience = match (answer.is_finished(), was_last) {
                (_, true) => AFTER_LAST,
                (true, false) => AFTER_FINISH.min(self.silence),
                (false, false) => self.silence,
            };
            let chunk = match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                // A connection that breaks after the end of the answer does no harm.
                Ok(Err(_)) | Err(_) if answer.is_finished() || was_last => break,
                Ok(Err(error)) => return Err(self.place.broken(error)),
                Err(_) => return Err(self.silent("sent nothing more")),
            };
            let events = parser.feed(&chunk).map_err(|error| Failure::bad(format!("{error}.")))?;
            for event in events.iter().filter(|event| !event.data.trim().is_empty()) {
                let before = answer.size();
                was_last |= answer.event(event, &self.place, progress)?;
                // Most servers send each token by itself, however short it is.
                let more = answer.size().saturating_sub(before);
                tokens += more.min(1).max(more / BYTES_PER_TOKEN);
                self.expect_short(tokens)?;
            }
        }
        // An event that was cut contains half of its data; the check below reports it.
        let whole = |event: &Event| serde_json::from_str::<IgnoredAny>(&event.data).is_ok();
        if let Some(event) = parser.finish().filter(whole) {
            answer.event(&event, &self.place, progress)?;
        }
        if !answer.is_finished() {
            let host = self.place.host;
            return Err(Failure::bad(format!("the stream of {host} ended before the answer did.")));
        }
        Ok(())
    }

    /// Ends an answer that has become too long: a model that repeats itself does not stop.
    fn expect_short(&self, tokens: usize) -> Result<(), Failure> {
        if tokens as u64 <= self.longest {
            return Ok(());
        }
        let (host, longest) = (self.place.host, self.longest);
        let text = format!(
            "the answer of {host} is longer than {longest} tokens, and was ended. Set `answer_limit` \
             of this model if it needs more."
        );
        Err(Failure::new(ModelErrorKind::TooLong, text, Again::Never))
    }

    /// A web page instead of an answer; a retry would not help.
    async fn page(&self, response: Response) -> Failure {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.body(response, LONGEST_REFUSAL).await.unwrap_or_else(|(read, _)| read);
        let mut failed = self.place.refused(status, &headers, &body, SystemTime::now());
        let wire = self.place.wire;
        failed.error.kind = ModelErrorKind::BadAnswer;
        failed.error.text +=
            &format!(" Is `url` the address of {}? Most end in {}.", wire.api, wire.address_end);
        failed.again = Again::Never;
        failed
    }
}
