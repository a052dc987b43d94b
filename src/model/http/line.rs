//! The way to an endpoint: a request goes out, and bytes come back in time or a failure does.

use std::time::{Duration, Instant, SystemTime};

use reqwest::{RequestBuilder, Response};
use tokio::time::timeout;
use tracing::info;

use super::failure::{Failure, Place};
use super::retry::Again;
use crate::domain::ModelErrorKind;

/// Longest body of an answer that is not streamed, in bytes: a hundred texts' vectors of some thousand
/// numbers each.
pub(super) const LONGEST_BODY: usize = 32 * 1024 * 1024;
/// Longest body of a refusal that is read, in bytes.
pub(super) const LONGEST_REFUSAL: usize = 64 * 1024;

/// An endpoint, and how long it may be silent.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub place: Place<'a>,
    pub silence: Duration,
}

impl Line<'_> {
    /// The response, once its headers say that there is an answer.
    pub(super) async fn send(&self, send: RequestBuilder) -> Result<Response, Failure> {
        let sent = Instant::now();
        let response = match timeout(self.silence, send.send()).await {
            Ok(response) => response.map_err(|error| self.place.broken(error))?,
            Err(_) => return Err(self.silent("did not begin to answer")),
        };
        let status = response.status();
        let (Place { host, model, .. }, ms) = (&self.place, sent.elapsed().as_millis() as u64);
        info!(host, model, status = status.as_u16(), ms, "an endpoint answered");
        if status.is_success() {
            return Ok(response);
        }
        let headers = response.headers().clone();
        // The refusal itself counts, even if its explanation does not come to its end.
        let body = self.body(response, LONGEST_REFUSAL).await.unwrap_or_else(|(read, _)| read);
        Err(self.place.refused(status, &headers, &body, SystemTime::now()))
    }

    /// A body to its end, or what had come of it and why there is no more. A longer one is cut.
    pub(super) async fn body(
        &self,
        mut response: Response,
        longest: usize,
    ) -> Result<Vec<u8>, (Vec<u8>, Failure)> {
        let mut body = Vec::new();
        while body.len() < longest {
            match timeout(self.silence, response.chunk()).await {
                Ok(Ok(Some(chunk))) => {
                    body.extend_from_slice(&chunk[..chunk.len().min(longest - body.len())]);
                }
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err((body, self.place.broken(error))),
                Err(_) => return Err((body, self.silent("sent nothing more"))),
            }
        }
        Ok(body)
    }

    /// Nothing came for longer than allowed.
    pub(super) fn silent(&self, what: &str) -> Failure {
        let (host, seconds) = (self.place.host, self.silence.as_secs_f64());
        let text = format!("{host} {what} for {seconds} s.");
        Failure::new(ModelErrorKind::Timeout, text, Again::Soon)
    }
}
