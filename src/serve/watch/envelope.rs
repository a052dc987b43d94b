//! Answers of Amazon Bedrock: opened when they come, so that all behind reads Messages, and closed for the client.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Full, Limited, StreamBody};
use hyper::body::Frame;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};

use super::own_answer::JSON;
use super::room::LONGEST;
use super::upstream::Came;
use super::{AnswerResult, Broken, Outgoing};
use crate::wire::bedrock::{EVENT_STREAM, Passage, error_kind, write_error};
use crate::wire::{AnswerForm, Envelope};

/// The header that names an error.
const ERROR: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// The envelope of an answer, which is opened and closed.
#[derive(Clone, Debug)]
pub struct AnswerEnvelope {
    kind: Envelope,
    passage: Arc<Mutex<Passage>>,
}

/// The reason why a request must go on as it came, for people; `None` if it may change.
pub fn fixed(headers: &HeaderMap, envelope: Option<Envelope>) -> Option<&'static str> {
    if is_signed(headers) {
        Some("its signature holds only for the request as it came")
    } else {
        let is_converse = envelope == Some(Envelope::Converse);
        is_converse.then_some("requests of Bedrock's Converse are only read")
    }
}

/// Whether a signature of AWS stands for the headers and the body of a request.
pub fn is_signed(headers: &HeaderMap) -> bool {
    headers.get_all(AUTHORIZATION).iter().any(|value| value.as_bytes().starts_with(b"AWS4-"))
}

impl AnswerEnvelope {
    pub fn new(kind: Envelope) -> Self {
        Self { kind, passage: Arc::new(Mutex::new(Passage::new(kind))) }
    }

    fn passage(&self) -> MutexGuard<'_, Passage> {
        self.passage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens an answer. One that cannot be opened stays as it is.
    pub async fn open(&self, response: reqwest::Response) -> Came {
        // This answer may replace an earlier one.
        *self.passage() = Passage::new(self.kind);
        if !response.status().is_success() {
            return Came::from(response);
        }
        if is_of(response.headers(), EVENT_STREAM) {
            return Came::from(self.opened(response));
        }
        let mut came = Came::from(response);
        if self.kind == Envelope::Converse && is_of(&came.headers, JSON) {
            let document = came.look(LONGEST).await;
            if document.len() < LONGEST {
                let opened = self.passage().open_document(&document);
                came.headers.insert(CONTENT_LENGTH, opened.len().into());
                came.replace(opened.into());
            }
        }
        came
    }

    fn opened(&self, mut response: reqwest::Response) -> reqwest::Response {
        let (status, mut headers) = (response.status(), std::mem::take(response.headers_mut()));
        headers.remove(CONTENT_LENGTH);
        let kind = HeaderValue::from_static(AnswerForm::Events.content_type());
        headers.insert(CONTENT_TYPE, kind);
        let events = stream::unfold(Some((self.clone(), response)), |open| async {
            let (own, mut response) = open?;
            Some(match response.chunk().await {
                Ok(Some(bytes)) => {
                    let events = own.passage().open(&bytes);
                    (Ok(events), Some((own, response)))
                }
                Ok(None) => (Ok(own.passage().open_end()), None),
                Err(error) => (Err(error), None),
            })
        });
        let mut opened = Response::new(reqwest::Body::wrap_stream(events));
        (*opened.status_mut(), *opened.headers_mut()) = (status, headers);
        opened.into()
    }

    /// Closes an answer of Messages. Any other stays as it is.
    ///
    /// # Errors
    /// The answer broke.
    pub async fn close(self, answer: Response<Outgoing>) -> AnswerResult {
        let is_json = is_of(answer.headers(), JSON);
        if !answer.status().is_success() {
            return if is_json { refused(answer).await } else { Ok(answer) };
        }
        let (mut parts, body) = answer.into_parts();
        if is_of(&parts.headers, "text/event-stream") {
            parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
            // A held stream has the length of its text.
            parts.headers.remove(CONTENT_LENGTH);
            return Ok(Response::from_parts(parts, self.closed(body)));
        }
        if self.kind != Envelope::Converse || !is_json {
            return Ok(Response::from_parts(parts, body));
        }
        if !parts.headers.contains_key(CONTENT_LENGTH) && body.size_hint().exact().is_none() {
            return Ok(Response::from_parts(parts, self.closed_late(body)));
        }
        let text = Limited::new(body, LONGEST).collect().await?.to_bytes();
        let document = self.passage().close_document(&text);
        parts.headers.insert(CONTENT_LENGTH, document.len().into());
        Ok(Response::from_parts(parts, full(document)))
    }

    fn closed(self, body: Outgoing) -> Outgoing {
        let frames = stream::unfold((self, body), |(own, mut body)| async {
            loop {
                let text = match body.frame().await? {
                    Ok(frame) => frame.into_data().unwrap_or_default(),
                    Err(why) => return Some((Err(why), (own, body))),
                };
                let bytes = own.passage().close(&text);
                if !bytes.is_empty() {
                    return Some((Ok(Frame::data(bytes.into())), (own, body)));
                }
            }
        });
        Box::pin(StreamBody::new(frames))
    }

    /// A whole answer whose head goes out at once. The spaces before it tell the client that it will come.
    fn closed_late(self, body: Outgoing) -> Outgoing {
        let frames = stream::unfold(Some((self, body, Vec::new())), |open| async {
            let (own, mut body, mut text) = open?;
            loop {
                match body.frame().await {
                    Some(Ok(frame)) => {
                        let bytes = frame.into_data().unwrap_or_default();
                        if text.is_empty() && bytes.trim_ascii().is_empty() {
                            return Some((Ok(Frame::data(bytes)), Some((own, body, text))));
                        }
                        text.extend_from_slice(&bytes);
                    }
                    Some(Err(why)) => return Some((Err(why), None)),
                    None => {
                        let document = own.passage().close_document(&text);
                        return Some((Ok::<_, Broken>(Frame::data(document.into())), None));
                    }
                }
            }
        });
        Box::pin(StreamBody::new(frames))
    }
}

/// A refusal in the words of Bedrock.
async fn refused(answer: Response<Outgoing>) -> AnswerResult {
    let (mut parts, body) = answer.into_parts();
    let text = Limited::new(body, LONGEST).collect().await?.to_bytes();
    let Some(kind) = error_kind(&text) else {
        return Ok(Response::from_parts(parts, full(text)));
    };
    if parts.status.as_u16() > 504 {
        // The status of an endpoint of Anthropic that is overloaded.
        parts.status = StatusCode::SERVICE_UNAVAILABLE;
    }
    parts.headers.insert(ERROR, HeaderValue::from_static(kind));
    parts.headers.remove(CONTENT_LENGTH);
    Ok(Response::from_parts(parts, full(write_error(&text))))
}

fn is_of(headers: &HeaderMap, kind: &str) -> bool {
    let told = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    told.is_some_and(|told| told.starts_with(kind))
}

fn full(bytes: impl Into<Bytes>) -> Outgoing {
    Box::pin(Full::new(bytes.into()).map_err(|never| match never {}))
}
