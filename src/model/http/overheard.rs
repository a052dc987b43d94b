//! Reads an answer that another program requested, while its bytes pass by.

use std::time::SystemTime;

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::sync::mpsc::UnboundedReceiver;

use super::failure::without_begun;
use super::line::LONGEST_REFUSAL;
use super::reading::{HttpAnswer, Stage};
use super::{EndpointLabel, Wire};
use crate::domain::ModelError;
use crate::{ModelProgress, wire};

/// The parts of an answer that passes by, in order. If a channel closes before the end, the reader of the answer has
/// hung up.
#[derive(Debug)]
pub enum Passing {
    Began(StatusCode, HeaderMap),
    Bytes(Bytes),
    End,
    Failed(ModelError),
}

impl<'a> EndpointLabel<'a> {
    /// An endpoint that another program calls.
    pub(crate) fn of_other(host: &'a str, model: &'a str, wire: &'a Wire) -> Self {
        Self { host, model, key: None, wire }
    }

    /// The error if there is no answer, or no more of one.
    pub(crate) fn no_more(&self, error: reqwest::Error) -> ModelError {
        self.broken(error).error
    }
}

/// Reads the parts that pass by. `begin` creates the answer from the headers of the response. `None` if the reader hung
/// up before the answer was complete.
pub async fn overhear<A: wire::GrowingAnswer>(
    place: &EndpointLabel<'_>,
    begin: impl FnOnce(&HeaderMap) -> A,
    pieces: &mut UnboundedReceiver<Passing>,
    progress: &mut dyn FnMut(ModelProgress),
) -> Option<Result<A, ModelError>> {
    let (status, headers) = match pieces.recv().await? {
        Passing::Began(status, headers) => (status, headers),
        Passing::Failed(error) => return Some(Err(error)),
        Passing::Bytes(_) | Passing::End => return None,
    };
    if !status.is_success() {
        let body = refusal(pieces).await;
        return Some(Err(place.refused(status, &headers, &body, SystemTime::now()).error));
    }
    let kind = headers.get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    let kind = kind.unwrap_or_default();
    // The other program decides how long an answer may be.
    let mut reading = HttpAnswer::new(place, u64::MAX, status, &kind, begin(&headers));
    while reading.stage() != Stage::Last {
        let is_whole = reading.stage() != Stage::Open || reading.is_page();
        match pieces.recv().await {
            Some(Passing::Bytes(bytes)) => {
                if let Err(failed) = reading.feed(&bytes, progress) {
                    return Some(Err(without_begun(failed.error)));
                }
            }
            Some(Passing::Failed(error)) if !is_whole => {
                let partial = reading.text().to_owned();
                return Some(Err(without_begun(ModelError { partial, ..error })));
            }
            None if !is_whole => return None,
            Some(Passing::Began(..) | Passing::End | Passing::Failed(_)) | None => break,
        }
    }
    Some(reading.end(progress).map_err(|failed| without_begun(failed.error)))
}

/// The body of a refusal, which counts even if it is incomplete.
async fn refusal(pieces: &mut UnboundedReceiver<Passing>) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(Passing::Bytes(bytes)) = pieces.recv().await
        && body.len() < LONGEST_REFUSAL
    {
        body.extend_from_slice(&bytes);
    }
    body
}
