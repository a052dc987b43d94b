//! Explains failures: what went wrong, where, and what to do about it.

use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use super::detail::Detail;
use super::retry::{self, Again};
use super::{RequestRefusal, limit, verdict};
use crate::domain::invisible::{is_invisible, reorders};
use crate::domain::{ModelError, ModelErrorKind};
use crate::net::coding::{BodyFault, Unread};
use crate::net::known::{left_of_key, without_keys};
use crate::secret::KeySource;
use crate::wire::HttpFacts;
use crate::wire::{AnswerFault, errors::is_error, json, pieces};

/// How soon after a request the end of an idle connection is noticed.
const AT_ONCE: Duration = Duration::from_secs(1);
/// The beginning of the TLS library's errors about a certificate.
const BAD_CERTIFICATE: &str = "invalid peer certificate";

/// Advice for a prompt that is too long.
const CONTEXT: &str = " The prompt is longer than the model takes. Set `context` of this model to its \
                       window in tokens, so that old results are left out, or lower the knobs \
                       `result_max` and `history`.";

/// Advice for an account without credit.
const QUOTA: &str = " The account of this key has no quota or credit left: check its plan and billing, or \
                     choose another model.";

/// Longest text from an endpoint that an error repeats, in characters.
const LONGEST: usize = 300;

/// The longest reason that an error repeats, in characters.
const SHOWN: usize = 64;

/// A failed attempt, and whether to retry.
#[derive(Debug)]
pub struct Failure {
    pub(super) error: ModelError,
    pub(super) again: Again,
    /// The status of the response, if it was a refusal.
    pub(super) status: Option<StatusCode>,
    /// Whether no connection could be made at all.
    is_unreachable: bool,
    /// The details of a refusal about single fields.
    pub(super) refused: Option<Box<RequestRefusal>>,
}

impl Failure {
    pub fn new(kind: ModelErrorKind, text: impl Into<String>, again: Again) -> Self {
        let error = ModelError::new(kind, text);
        Self { error, again, status: None, is_unreachable: false, refused: None }
    }

    /// An invalid answer; a retry may help.
    pub fn bad(text: impl Into<String>) -> Self {
        Self::new(ModelErrorKind::BadAnswer, text, Again::Soon)
    }

    /// Whether the same request can only fail again.
    fn is_final(&self) -> bool {
        use ModelErrorKind::{ContextOverflow, Filtered, Quota};
        matches!(self.error.kind, ContextOverflow | Filtered | Quota)
    }

    /// Keeps the details of a refusal about the request's fields. A prompt that is too long is not such a refusal.
    fn note_refused(&mut self, status: u16, body: &[u8]) {
        if !self.is_final() {
            let told = self.error.text.clone();
            let refused = RequestRefusal::of(status, body);
            self.refused = refused.map(|refused| RequestRefusal { told, ..refused }.into());
        }
    }

    /// A failure after text has arrived: it is not silently restarted.
    pub(super) fn with_partial(mut self, partial: &str) -> Self {
        if !partial.is_empty() {
            self.error.partial = partial.to_owned();
            self.again = Again::Never;
            self.refused = None;
        }
        self
    }
}

/// The endpoint's description in errors.
#[derive(Debug)]
pub struct EndpointLabel<'a> {
    /// Host and port.
    pub host: &'a str,
    pub(super) model: &'a str,
    /// The source of the key. `None`: another program calls, so none of our settings can help.
    pub(super) key: Option<&'a KeySource>,
    pub(super) wire: &'a HttpFacts,
}

impl EndpointLabel<'_> {
    /// A response with an unsuccessful status.
    pub(super) fn refused(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        now: SystemTime,
    ) -> Failure {
        let detail = Detail::read(body);
        let wait = limit::asked(status, headers, &detail, now);
        let again = Again::of(status, headers, wait);
        let told = format!("HTTP {} from {}", status.as_u16(), self.host);
        let mut failed = self.classify(status, &detail, &told, again);
        failed.status = Some(status);
        failed.note_refused(status.as_u16(), body);
        let is_for_nothing = failed.again == Again::Never && retry::worth(status);
        if let Some(wait) = wait.filter(|_| is_for_nothing && !failed.is_final()) {
            failed.error.text += &format!(" It asks to wait {} s.", wait.as_secs());
        }
        if let Some(to) = headers.get("location").filter(|_| status.is_redirection()) {
            let to = self.clean(&String::from_utf8_lossy(to.as_bytes()));
            let advice = self.ours(": set `url` to where that is");
            failed.error.text += &format!(" It redirects to {to}{advice}.");
        }
        failed
    }

    /// The JSON document of a whole body.
    ///
    /// # Errors
    /// The body is not JSON, or reports an error.
    pub(super) fn document(&self, body: &[u8]) -> Result<Value, Failure> {
        let document = json::read(body).map_err(|why| {
            Failure::bad(format!("the answer of {} is not JSON ({why}).", self.host))
        })?;
        if is_error(&document) { Err(self.inside(&document)) } else { Ok(document) }
    }

    /// The failure for a faulty answer. `None` if the data is not part of an answer, and harmless.
    pub(super) fn fault(&self, fault: AnswerFault) -> Option<Failure> {
        let host = self.host;
        Some(match fault {
            AnswerFault::NotJson(why) => {
                Failure::bad(format!("{host} sent an event that is not JSON ({why})."))
            }
            AnswerFault::Said(body) => self.inside(&body),
            AnswerFault::Other(body) => return self.said(&body),
            AnswerFault::Missing(part) => {
                Failure::bad(format!("the answer of {host} has no {part}."))
            }
            AnswerFault::Ended(reason) => {
                let reason: String = reason.chars().take(SHOWN).collect();
                let text = format!("{host} ended its answer with the reason {reason:?}.");
                Failure::new(ModelErrorKind::Endpoint, text, Again::Soon)
            }
            AnswerFault::TooLarge(mib) => {
                let text = format!("the answer is larger than {mib} MiB.");
                Failure::new(ModelErrorKind::BadAnswer, text, Again::Never)
            }
        })
    }

    /// The failure if a whole document is not an answer.
    pub(super) fn no_answer(&self, fault: AnswerFault) -> Failure {
        let (host, api) = (self.host, self.wire.api);
        let text = || match self.key {
            Some(_) => {
                format!("the answer of {host} contains no message; is `url` the address of {api}?")
            }
            None => format!("the answer of {host} contains no message of {api}."),
        };
        self.fault(fault).unwrap_or_else(|| Failure::bad(text()))
    }

    /// The failure that an unexpected document reports; `None` if it has no message.
    fn said(&self, document: &Value) -> Option<Failure> {
        Detail::of(document).is_said.then(|| self.inside(document))
    }

    /// An error inside a stream or inside a success: the connection is fine, the answer is not.
    fn inside(&self, body: &Value) -> Failure {
        let detail = Detail::of(body);
        let status = detail.status.and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.filter(|status| !status.is_success());
        let by_words = || verdict::status(&detail.words).and_then(|code| code.try_into().ok());
        let status = status.or_else(by_words).unwrap_or(StatusCode::BAD_GATEWAY);
        let told = format!("an error in the answer of {}", self.host);
        let headers = HeaderMap::new();
        let wait = limit::asked(status, &headers, &detail, SystemTime::now());
        let mut failed = self.classify(status, &detail, &told, Again::of(status, &headers, wait));
        failed.note_refused(status.as_u16(), body.to_string().as_bytes());
        failed
    }

    fn classify(&self, status: StatusCode, detail: &Detail, told: &str, again: Again) -> Failure {
        let kind = verdict::kind(status, detail);
        let said = if detail.message.trim().is_empty() {
            status.canonical_reason().unwrap_or("no explanation").to_owned()
        } else {
            self.clean(&detail.message)
        };
        let stop = if said.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        let mut failed = Failure::new(kind, String::new(), again);
        failed.error.text = format!("{told}: {said}{stop}{}", self.advice(kind, status));
        if failed.is_final() {
            failed.again = Again::Never;
        }
        failed
    }

    /// External text, made safe to show. Secrets are removed first: half a secret would not be found.
    pub(super) fn clean(&self, text: &str) -> String {
        visible(&without_keys(&pieces::joined(text)), LONGEST)
    }

    /// Advice on our own settings.
    fn ours<'b>(&self, advice: &'b str) -> &'b str {
        if self.key.is_some() { advice } else { "" }
    }

    /// Advice after a web page instead of an answer.
    pub(super) fn address_advice(&self) -> String {
        let HttpFacts { api, address_end, .. } = self.wire;
        let advice = || format!(" Is `url` the address of {api}? Most end in {address_end}.");
        self.key.map_or_else(String::new, |_| advice())
    }

    fn advice(&self, kind: ModelErrorKind, status: StatusCode) -> String {
        let Some(key) = self.key else { return String::new() };
        match kind {
            ModelErrorKind::Auth => match key {
                KeySource::None => " No key was sent: name an environment variable or a command \
                    for the key in this model's configuration."
                    .into(),
                key @ (KeySource::Env(_) | KeySource::Command(_)) => {
                    // A command may have the key among its arguments.
                    format!(" Check {}.", self.clean(&key.place()))
                }
            },
            ModelErrorKind::Refused if status == StatusCode::NOT_FOUND => format!(
                " Check `url` (most end in {}) and whether the endpoint has a model {:?}.",
                self.wire.address_end, self.model
            ),
            ModelErrorKind::ContextOverflow => CONTEXT.into(),
            ModelErrorKind::Quota => QUOTA.into(),
            ModelErrorKind::Connection
            | ModelErrorKind::Timeout
            | ModelErrorKind::RateLimited
            | ModelErrorKind::Endpoint
            | ModelErrorKind::Refused
            | ModelErrorKind::Filtered
            | ModelErrorKind::BadAnswer
            | ModelErrorKind::TooLong
            | ModelErrorKind::OverBudget
            | ModelErrorKind::Cancelled => String::new(),
        }
    }

    /// A failure before any byte of an answer, this long after the request. A server closes idle connections when it
    /// likes; a request on a closing connection fails at once, and a new connection works.
    pub(super) fn unanswered(&self, error: reqwest::Error, after: Duration) -> Failure {
        let mut failed = self.broken(error);
        let is_open = failed.error.kind == ModelErrorKind::Connection && !failed.is_unreachable;
        if is_open && failed.again == Again::Soon && after < AT_ONCE {
            failed.again = Again::AtOnce;
        }
        failed
    }

    /// A body that cannot be read to its end.
    pub(super) fn cut(&self, fault: BodyFault) -> Failure {
        let text = format!("cannot read the answer of {}: {fault}.", self.host);
        match fault {
            BodyFault::Broken(error) => self.broken(error),
            BodyFault::Unread(Unread::Damaged) => Failure::bad(text),
            BodyFault::Unread(Unread::Unknown(_) | Unread::TooLarge) => {
                Failure::new(ModelErrorKind::BadAnswer, text, Again::Never)
            }
        }
    }

    /// A missing or incomplete answer.
    pub(super) fn broken(&self, error: reqwest::Error) -> Failure {
        let error = error.without_url();
        if error.is_builder() {
            let (host, why) = (self.host, self.clean(&root(&error)));
            let text = format!("cannot send the request to {host}: {why}.");
            return Failure::new(ModelErrorKind::Refused, text, Again::Never);
        }
        self.lost(&error, error.is_timeout(), error.is_connect())
    }

    /// No connection, none in time, or one that broke.
    pub(super) fn lost(&self, error: &dyn Error, is_timeout: bool, is_connect: bool) -> Failure {
        let (host, why) = (self.host, self.clean(&root(error)));
        if is_timeout {
            let text = format!("no connection to {host} in time ({why}).");
            return Failure::new(ModelErrorKind::Timeout, text, Again::Soon);
        }
        if why.starts_with(BAD_CERTIFICATE) {
            let advice = self.ours(
                " Check `url` and this machine's clock, or set `ca_file` of this model to the \
                 issuer's certificate.",
            );
            let text = format!(
                "no connection to {host}: its certificate is not accepted ({why}).{advice}"
            );
            return Failure::new(ModelErrorKind::Connection, text, Again::Never);
        }
        if is_connect {
            let text = format!(
                "no connection to {host}: {why}. Is the server running and is its address correct?"
            );
            let failed = Failure::new(ModelErrorKind::Connection, text, Again::Soon);
            return Failure { is_unreachable: true, ..failed };
        }
        let text = format!("the connection to {host} broke: {why}.");
        Failure::new(ModelErrorKind::Connection, text, Again::Soon)
    }
}

/// The error without half a key at the end of its partial answer: half a key would not be found later.
pub(super) fn without_begun(mut error: ModelError) -> ModelError {
    let whole = error.partial.len() - left_of_key(&error.partial);
    error.partial.truncate(whole);
    error
}

/// The innermost cause.
fn root(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

/// A text on one line, without control or direction characters, of at most `longest` characters.
pub(super) fn visible(text: &str, longest: usize) -> String {
    let bound = text.chars().filter(|c| !is_invisible(*c)).take(longest * 4);
    let space = |c: char| if c.is_control() || reorders(c) { ' ' } else { c };
    let plain: String = bound.map(space).collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= longest {
        return line;
    }
    line.chars().take(longest).chain(['…']).collect()
}
