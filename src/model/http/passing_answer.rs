//! Reads an answer that another program requested, while its bytes pass by.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::EndpointLabel;
use super::failure::without_begun;
use super::line::LONGEST_REFUSAL;
use super::reading::{HttpAnswer, Stage};
use crate::ModelProgress;
use crate::domain::wire_answer::WireAnswer;
use crate::domain::{ModelError, ModelErrorKind};
use crate::net::kept_body::{LONGEST_KEPT, packed};
use crate::net::known::{without_keys, without_known};
use crate::relay::UNREAD;
use crate::wire::{GrowingAnswer, HttpFacts};

/// The parts of an answer that passes by, in order. If a channel closes before the end, the reader of the answer has
/// hung up.
#[derive(Debug)]
pub enum Passing {
    Began(StatusCode, HeaderMap),
    Bytes(Bytes),
    End,
    Failed(ModelError),
}

/// Headers of answers that clients act on, or that name an answer. Others may tell who the client is.
const KEPT: [&str; 10] = [
    "apim-request-id",
    "cache-control",
    "content-type",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "x-request-id",
    "x-should-retry",
];
/// The beginnings of the names of further ones.
const KEPT_FAMILIES: [&str; 3] = ["anthropic-ratelimit-", "ratelimit-", "x-ratelimit-"];
/// The ends of an event in a stream.
const EVENT_ENDS: [&str; 3] = ["\n\n", "\r\n\r\n", "\r\r"];
/// The most bytes of text that are read of a growing answer.
const LONGEST: usize = 2 << 20;
/// How long the end of a body may come after its last event.
const REST: Duration = Duration::from_millis(200);

/// The most bytes by which the reader of a copy may be behind before the answer waits for it.
const BEHIND: usize = 4 << 20;

/// Bytes that were not read so far.
#[derive(Debug, Default)]
struct Backlog {
    bytes: AtomicUsize,
    read: Notify,
}

/// The end of a copy into which an answer goes while it passes.
#[derive(Clone, Debug)]
pub struct CopySender {
    to: UnboundedSender<Passing>,
    backlog: Arc<Backlog>,
}

impl CopySender {
    /// Adds a part; the reader may be gone.
    pub fn send(&self, part: Passing) {
        if let Passing::Bytes(bytes) = &part {
            self.backlog.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        }
        let _ = self.to.send(part);
    }

    /// Waits while the reader is far behind: an answer can come faster than it is read.
    pub async fn wait(&self) {
        while self.backlog.bytes.load(Ordering::Relaxed) > BEHIND {
            tokio::select! {
                () = self.backlog.read.notified() => {}
                () = self.to.closed() => return,
            }
        }
    }
}

/// The parts that pass by, of which a copy is kept.
pub struct Pieces {
    from: UnboundedReceiver<Passing>,
    backlog: Arc<Backlog>,
    began: Option<(StatusCode, HeaderMap)>,
    body: Vec<u8>,
    /// Whether the connection broke; `None` before the end.
    is_cut: Option<bool>,
}

impl Pieces {
    /// The two ends of a copy.
    pub fn channel() -> (CopySender, Self) {
        let ((to, from), backlog) = (unbounded_channel(), Arc::<Backlog>::default());
        let pieces = Self {
            from,
            backlog: Arc::clone(&backlog),
            began: None,
            body: Vec::new(),
            is_cut: None,
        };
        (CopySender { to, backlog }, pieces)
    }

    async fn next(&mut self) -> Option<Passing> {
        let piece = self.from.recv().await;
        if let Some(Passing::Bytes(bytes)) = &piece {
            self.backlog.bytes.fetch_sub(bytes.len(), Ordering::Relaxed);
            self.backlog.read.notify_one();
        }
        match &piece {
            Some(Passing::Began(status, headers)) => self.began = Some((*status, headers.clone())),
            Some(Passing::Bytes(bytes)) if self.body.len() <= LONGEST_KEPT => {
                self.body.extend_from_slice(bytes);
            }
            Some(Passing::Bytes(_)) | None => {}
            Some(Passing::End) => self.is_cut = Some(false),
            // The bytes go on, but nobody can read them.
            Some(Passing::Failed(error)) if error.kind == ModelErrorKind::BadAnswer => {
                self.began = None;
            }
            Some(Passing::Failed(_)) => self.is_cut = Some(true),
        }
        piece
    }

    /// The answer as it came; `None` if it is too long, no text, has a key, or has no end.
    pub async fn whole(mut self) -> Option<WireAnswer> {
        let end = async { while self.is_cut.is_none() && self.next().await.is_some() {} };
        let _ = timeout(REST, end).await;
        // Packing a long answer takes milliseconds, during which other streams continue.
        spawn_blocking(move || self.kept()).await.ok()?
    }

    fn kept(self) -> Option<WireAnswer> {
        let (status, headers) = self.began?;
        let text = String::from_utf8(self.body).ok().filter(|text| text.len() <= LONGEST_KEPT)?;
        // Some endpoints do not close a stream, and nobody waits for more after its last event or after all bytes.
        let length =
            headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        let is_whole =
            || length == Some(text.len()) || EVENT_ENDS.iter().any(|end| text.ends_with(end));
        let is_cut = self.is_cut.or_else(|| is_whole().then_some(false))?;
        // Refusals repeat keys, and some of these keys are not known here.
        let clean =
            if status.is_success() { without_known(&text).into() } else { without_keys(&text) };
        let kept = headers.iter().filter_map(|(name, value)| {
            let (name, value) = (name.as_str(), value.to_str().ok()?);
            let is_kept =
                KEPT.contains(&name) || KEPT_FAMILIES.iter().any(|it| name.starts_with(it));
            (is_kept && without_keys(value) == value).then(|| (name.to_owned(), value.to_owned()))
        });
        let (status, headers) = (status.as_u16(), kept.collect());
        (clean == text).then(|| WireAnswer { status, headers, body: packed(text), is_cut })
    }
}

impl<'a> EndpointLabel<'a> {
    /// An endpoint that another program calls.
    pub(crate) fn of_other(host: &'a str, model: &'a str, wire: &'a HttpFacts) -> Self {
        Self { host, model, key: None, wire }
    }

    /// The error if there is no answer, or no more of one.
    pub(crate) fn no_more(&self, error: reqwest::Error) -> ModelError {
        self.broken(error).error
    }

    /// The error if another client got no answer.
    pub(crate) fn none(&self, error: &dyn Error, is_timeout: bool, is_connect: bool) -> ModelError {
        self.lost(error, is_timeout, is_connect).error
    }
}

/// Reads the parts that pass by. `begin` creates the answer from the headers of the response. `None` if the reader hung
/// up before the answer was complete.
pub async fn overhear(
    place: &EndpointLabel<'_>,
    begin: impl FnOnce(&HeaderMap) -> Box<dyn GrowingAnswer>,
    pieces: &mut Pieces,
    progress: &mut dyn FnMut(ModelProgress),
) -> Option<Result<Box<dyn GrowingAnswer>, ModelError>> {
    let (status, headers) = match pieces.next().await? {
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
    // The other program decides how many tokens an answer may have.
    let mut reading = HttpAnswer::new(place, u64::MAX, status, &kind, begin(&headers));
    while reading.stage() != Stage::Last {
        let is_whole = reading.stage() != Stage::Open || reading.is_page();
        match pieces.next().await {
            Some(Passing::Bytes(bytes)) => {
                if let Err(failed) = reading.feed(&bytes, progress) {
                    return Some(Err(without_begun(failed.error)));
                }
                if reading.size() > LONGEST {
                    let text = format!("{UNREAD}: its text is longer than 2 MiB.");
                    return Some(Err(ModelError::new(ModelErrorKind::BadAnswer, text)));
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
async fn refusal(pieces: &mut Pieces) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(Passing::Bytes(bytes)) = pieces.next().await
        && body.len() < LONGEST_REFUSAL
    {
        body.extend_from_slice(&bytes);
    }
    body
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;
    use crate::domain::ModelErrorKind::{BadAnswer, Connection};
    use crate::net::kept_body::unpacked;

    const BODY: &str = r#"{"id":"x"}"#;

    fn began(status: u16, headers: &[(&'static str, &'static str)]) -> Passing {
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Passing::Began(StatusCode::from_u16(status).unwrap(), headers.collect())
    }

    fn bytes(text: impl Into<Bytes>) -> Passing {
        Passing::Bytes(text.into())
    }

    fn failed(kind: ModelErrorKind) -> Passing {
        Passing::Failed(ModelError::new(kind, "no"))
    }

    /// The copy of an answer of these parts, whose channel stays open.
    async fn kept(parts: Vec<Passing>) -> Option<WireAnswer> {
        let (copy, pieces) = Pieces::channel();
        parts.into_iter().for_each(|part| copy.send(part));
        pieces.whole().await
    }

    #[tokio::test]
    async fn a_copy_has_the_whole_body_and_the_headers_that_count() {
        let headers = [
            ("Content-Type", "application/json"),
            ("set-cookie", "a=b"),
            ("X-Ratelimit-Reset-Tokens", "6m0s"),
            ("x-request-id", "req_1"),
            ("content-encoding", "gzip"),
            ("openai-organization", "o"),
            ("retry-after", "sk-looks-like-a-key"),
        ];
        let answer =
            kept(vec![began(429, &headers), bytes(&BODY[..4]), bytes(&BODY[4..]), Passing::End]);
        let answer = answer.await.unwrap();
        assert_eq!((answer.status, answer.is_cut), (429, false));
        assert_eq!(unpacked(&answer.body).as_deref(), Some(BODY));
        let mut names: Vec<&str> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["content-type", "x-ratelimit-reset-tokens", "x-request-id"]);
        let left = kept(vec![began(200, &[]), bytes("data: [DONE]\n\n")]).await.unwrap();
        assert!(!left.is_cut, "its connection stays open");
        let all = kept(vec![began(429, &[("content-length", "4")]), bytes("slow")]).await.unwrap();
        assert!(!all.is_cut, "the client has all its bytes");
        let cut = kept(vec![began(200, &[]), bytes(BODY), failed(Connection)]).await.unwrap();
        assert!(cut.is_cut);
    }

    #[tokio::test]
    async fn an_answer_waits_for_a_reader_that_is_far_behind_and_for_none_that_is_gone() {
        let (copy, mut pieces) = Pieces::channel();
        copy.send(bytes(vec![b'a'; BEHIND]));
        assert!(copy.wait().now_or_never().is_some());
        copy.send(bytes("more"));
        assert!(copy.wait().now_or_never().is_none());
        pieces.next().await.unwrap();
        assert!(copy.wait().now_or_never().is_some());
        copy.send(bytes(vec![b'a'; BEHIND]));
        assert!(copy.wait().now_or_never().is_none());
        drop(pieces);
        assert!(copy.wait().now_or_never().is_some());
    }

    #[tokio::test]
    async fn half_a_copy_is_none() {
        let refused = "Incorrect API key provided: sk-proj-ab1****9xyz.";
        for parts in [
            vec![],
            vec![failed(Connection)],
            vec![began(200, &[]), bytes(BODY)],
            vec![began(200, &[("content-length", "11")]), bytes(BODY)],
            vec![began(200, &[]), bytes(BODY), failed(BadAnswer), Passing::End],
            vec![began(200, &[]), bytes(&b"\xff\xfe"[..]), Passing::End],
            vec![began(200, &[]), bytes(vec![b'a'; LONGEST_KEPT + 1]), Passing::End],
            vec![began(401, &[]), bytes(refused), Passing::End],
        ] {
            let shown =
                format!("{:?}", parts.iter().map(std::mem::discriminant).collect::<Vec<_>>());
            assert_eq!(kept(parts).await, None, "{shown}");
        }
    }
}
