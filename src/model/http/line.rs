//! Transport to an endpoint: sends a request, and returns bytes in time or a failure.

use std::time::{Duration, Instant, SystemTime};

use reqwest::{RequestBuilder, Response};
use tokio::time::timeout;
use tracing::info;

use super::failure::{EndpointLabel, Failure};
use super::retry::Again;
use crate::domain::ModelErrorKind;
use crate::net::coding::Body;

/// Longest body of an answer that is not streamed, in bytes: the vectors of a hundred texts with
/// some thousand numbers each.
pub(super) const LONGEST_BODY: usize = 32 * 1024 * 1024;
/// Longest body of a refusal that is read, in bytes.
pub(super) const LONGEST_REFUSAL: usize = 64 * 1024;

/// An endpoint, its longest silence and its longest answer.
#[derive(Debug)]
pub(super) struct EndpointTransport<'a> {
    pub place: EndpointLabel<'a>,
    pub silence: Duration,
    /// The longest answer, in tokens.
    pub longest: u64,
}

impl EndpointTransport<'_> {
    /// The response, once its headers report success.
    pub(super) async fn send(&self, send: RequestBuilder) -> Result<Response, Failure> {
        let sent = Instant::now();
        let response = match timeout(self.silence, send.send()).await {
            Ok(response) => {
                response.map_err(|error| self.place.unanswered(error, sent.elapsed()))?
            }
            Err(_) => return Err(self.silent("did not begin to answer")),
        };
        let status = response.status();
        let (EndpointLabel { host, model, .. }, ms) =
            (&self.place, sent.elapsed().as_millis() as u64);
        info!(host, model, status = status.as_u16(), ms, "an endpoint answered");
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        // The refusal counts, even if its explanation is incomplete.
        let body = self.body(response, LONGEST_REFUSAL).await;
        let body = body.unwrap_or_else(|(read, why)| match why.error.kind {
            ModelErrorKind::BadAnswer => why.error.text.into_bytes(),
            _ => read,
        });
        Err(self.place.refused(status, &headers, &body, SystemTime::now()))
    }

    /// A whole body, or the part that arrived and the reason for its end. A longer one is cut.
    pub(super) async fn body(
        &self,
        response: Response,
        longest: usize,
    ) -> Result<Vec<u8>, (Vec<u8>, Failure)> {
        let (mut body, mut pieces) = (Vec::new(), Body::of(response));
        while body.len() < longest {
            match timeout(self.silence, pieces.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    body.extend_from_slice(&chunk[..chunk.len().min(longest - body.len())]);
                }
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err((body, self.place.cut(error))),
                Err(_) => return Err((body, self.silent("sent nothing more"))),
            }
        }
        Ok(body)
    }

    /// The failure after too long a silence.
    pub(super) fn silent(&self, what: &str) -> Failure {
        let (host, seconds) = (self.place.host, self.silence.as_secs_f64());
        let text = format!("{host} {what} for {seconds} s.");
        Failure::new(ModelErrorKind::Timeout, text, Again::Soon)
    }
}
