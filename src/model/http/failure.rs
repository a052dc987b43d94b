//! Classifies failures and explains them: what went wrong, where, and what to do about it.

use std::time::Duration;

use reqwest::{StatusCode, header::HeaderMap};
use serde_json::Value;

use super::retry::{self, Again};
use super::{Refused, Wire, sse::Event};
use crate::domain::invisible::{is_invisible, reorders};
use crate::domain::{ModelError, ModelErrorKind};
use crate::model::secret::KeySource;
use crate::net::{known::without_keys, waiting};

/// How soon after a request the end of an idle connection shows.
const AT_ONCE: Duration = Duration::from_secs(1);
/// How the TLS library begins what it says about a certificate.
const BAD_CERTIFICATE: &str = "invalid peer certificate";

/// What to do about a prompt that is too long.
const CONTEXT: &str = " The prompt is longer than the model takes. Set `context` of this model to its \
                       window in tokens, so that old results are left out, or lower the knobs \
                       `result_max` and `history`.";

/// Longest text from an endpoint that an error repeats, in characters.
const LONGEST: usize = 300;

/// A failed attempt, and whether to retry.
#[derive(Debug)]
pub struct Failure {
    pub(super) error: ModelError,
    pub(super) again: Again,
    /// The status of the response, if it was a refusal.
    pub(super) status: Option<StatusCode>,
    /// There was no connection at all.
    is_unreachable: bool,
    /// What a refusal says of single fields.
    pub(super) refused: Option<Box<Refused>>,
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

    /// Keeps what a refusal says of the request's fields. A prompt that is too long is none.
    fn note_refused(&mut self, status: u16, body: &[u8]) {
        if self.error.kind != ModelErrorKind::ContextOverflow {
            let told = self.error.text.clone();
            let refused = Refused::of(status, body);
            self.refused = refused.map(|refused| Refused { told, ..refused }.into());
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
pub struct Place<'a> {
    /// Host and port.
    pub host: &'a str,
    pub(super) model: &'a str,
    pub(super) key: &'a KeySource,
    pub(super) wire: &'a Wire,
}

/// An endpoint's error details, in one of many shapes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Detail {
    message: String,
    /// `code` and `type`, in lower case.
    words: String,
    /// A status code in the body, as errors in a stream have it.
    status: Option<u16>,
}

impl Place<'_> {
    /// A response with an unsuccessful status.
    pub(super) fn refused(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        now: std::time::SystemTime,
    ) -> Failure {
        let detail = read(body);
        let again = Again::of(status, headers, now);
        let told = format!("HTTP {} from {}", status.as_u16(), self.host);
        let mut failed = self.classify(status, &detail, &told, again);
        failed.status = Some(status);
        failed.note_refused(status.as_u16(), body);
        if let Some(wait) = waiting::asked(headers, now).filter(|_| failed.again == Again::Never) {
            failed.error.text += &format!(" It asks to wait {} s.", wait.as_secs());
        }
        if let Some(to) = headers.get("location").filter(|_| status.is_redirection()) {
            let to = self.clean(&String::from_utf8_lossy(to.as_bytes()));
            failed.error.text += &format!(" It redirects to {to}: set `url` to where that is.");
        }
        failed
    }

    /// The JSON document of a whole body.
    ///
    /// # Errors
    /// It is not JSON, or it reports an error.
    pub(super) fn document(&self, body: &[u8]) -> Result<Value, Failure> {
        let document = serde_json::from_slice(body).map_err(|why| {
            Failure::bad(format!("the answer of {} is not JSON ({why}).", self.host))
        })?;
        if is_error(&document) { Err(self.inside(&document)) } else { Ok(document) }
    }

    /// The JSON data of an event.
    ///
    /// # Errors
    /// It is not JSON, or it reports an error.
    pub fn event(&self, event: &Event) -> Result<Value, Failure> {
        let data = serde_json::from_str(event.data.trim()).map_err(|why| {
            Failure::bad(format!("{} sent an event that is not JSON ({why}).", self.host))
        })?;
        let failed = is_error(&data) || event.name == "error";
        if failed { Err(self.inside(&data)) } else { Ok(data) }
    }

    /// An error inside a stream or inside a success: the connection is fine, the answer is not.
    fn inside(&self, body: &Value) -> Failure {
        let detail = of_value(body);
        let status = detail.status.or_else(|| from_words(&detail.words));
        let status = status.and_then(|code| StatusCode::from_u16(code).ok());
        let told = format!("an error in the answer of {}", self.host);
        let again = match status {
            Some(status) if !retry::worth(status) => Again::Never,
            Some(_) | None => Again::Soon,
        };
        let status = status.unwrap_or(StatusCode::BAD_GATEWAY);
        let mut failed = self.classify(status, &detail, &told, again);
        failed.note_refused(status.as_u16(), body.to_string().as_bytes());
        failed
    }

    fn classify(&self, status: StatusCode, detail: &Detail, told: &str, again: Again) -> Failure {
        let kind = kind(status, detail);
        let said = if detail.message.is_empty() {
            status.canonical_reason().unwrap_or("no explanation").to_owned()
        } else {
            self.clean(&detail.message)
        };
        let stop = if said.ends_with(['.', '!', '?', '…']) { "" } else { "." };
        let again = if kind == ModelErrorKind::ContextOverflow { Again::Never } else { again };
        Failure::new(kind, format!("{told}: {said}{stop}{}", self.advice(kind, status)), again)
    }

    /// External text, made safe to show. Secrets are removed first: one that is cut in half would
    /// not be found.
    fn clean(&self, text: &str) -> String {
        visible(&without_keys(text), LONGEST)
    }

    fn advice(&self, kind: ModelErrorKind, status: StatusCode) -> String {
        match kind {
            ModelErrorKind::Auth => match self.key {
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
            ModelErrorKind::Connection
            | ModelErrorKind::Timeout
            | ModelErrorKind::RateLimited
            | ModelErrorKind::Endpoint
            | ModelErrorKind::Refused
            | ModelErrorKind::BadAnswer
            | ModelErrorKind::TooLong
            | ModelErrorKind::OverBudget
            | ModelErrorKind::Cancelled => String::new(),
        }
    }

    /// Not a byte of an answer, so long after the request. A server closes idle connections when it
    /// likes; a request that meets such an end fails at once, and a new connection works.
    pub(super) fn unanswered(&self, error: reqwest::Error, after: Duration) -> Failure {
        let mut failed = self.broken(error);
        let is_open = failed.error.kind == ModelErrorKind::Connection && !failed.is_unreachable;
        if is_open && failed.again == Again::Soon && after < AT_ONCE {
            failed.again = Again::AtOnce;
        }
        failed
    }

    /// No answer, or an incomplete one.
    pub(super) fn broken(&self, error: reqwest::Error) -> Failure {
        let error = error.without_url();
        let why = self.clean(&root(&error));
        let host = self.host;
        if error.is_timeout() {
            let text = format!("no connection to {host} in time ({why}).");
            return Failure::new(ModelErrorKind::Timeout, text, Again::Soon);
        }
        if why.starts_with(BAD_CERTIFICATE) {
            let text = format!(
                "no connection to {host}: its certificate is not accepted ({why}). Check `url` and \
                 this machine's clock, or set `ca_file` of this model to the issuer's certificate."
            );
            return Failure::new(ModelErrorKind::Connection, text, Again::Never);
        }
        if error.is_connect() {
            let text = format!(
                "no connection to {host}: {why}. Is the server running and is `url` correct?"
            );
            let failed = Failure::new(ModelErrorKind::Connection, text, Again::Soon);
            return Failure { is_unreachable: true, ..failed };
        }
        if error.is_builder() {
            let text = format!("cannot send the request to {host}: {why}.");
            return Failure::new(ModelErrorKind::Refused, text, Again::Never);
        }
        let text = format!("the connection to {host} broke: {why}.");
        Failure::new(ModelErrorKind::Connection, text, Again::Soon)
    }
}

/// The error in the body of a success or of a stream, if there is one.
fn is_error(body: &Value) -> bool {
    match &body["error"] {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
    }
}

fn kind(status: StatusCode, detail: &Detail) -> ModelErrorKind {
    if overflow(detail) {
        return ModelErrorKind::ContextOverflow;
    }
    let kind = ModelErrorKind::of_status(status.as_u16());
    let moderated = kind == ModelErrorKind::Auth && detail.words.contains("moderation");
    if moderated { ModelErrorKind::Refused } else { kind }
}

/// Whether the prompt was too long: by its code if there is one, else by the messages of known
/// servers.
fn overflow(detail: &Detail) -> bool {
    let codes = ["context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"];
    let phrases = [
        "maximum context length",
        "context length exceeded",
        "exceeds the available context size",
        "exceeds the context window",
        "prompt is too long",
    ];
    let message = detail.message.to_lowercase();
    codes.iter().any(|code| detail.words.contains(code))
        || phrases.iter().any(|phrase| message.contains(phrase))
}

fn from_words(words: &str) -> Option<u16> {
    let known = [
        ("rate_limit", 429),
        ("overloaded", 529),
        ("server_error", 500),
        ("internal", 500),
        ("timeout", 408),
        ("authentication", 401),
        ("invalid_api_key", 401),
        ("permission", 403),
        ("invalid_request", 400),
    ];
    known.iter().find(|(word, _)| words.contains(word)).map(|(_, status)| *status)
}

fn read(body: &[u8]) -> Detail {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_slice(body) {
        // Google wraps its error in a list.
        return of_value(value.get(0).unwrap_or(&value));
    }
    let text = String::from_utf8_lossy(body);
    let message = html_title(&text).unwrap_or_else(|| text.into_owned());
    Detail { message, ..Detail::default() }
}

fn of_value(body: &Value) -> Detail {
    let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
    let inner = &error["message"]["detail"];
    let message = [&error["message"], inner, &body["detail"], &body["message"], error]
        .into_iter()
        .find_map(message)
        .unwrap_or_default();
    // The provider's error behind a router, which is more specific than the router's "Provider
    // returned error".
    let message = match error["metadata"]["raw"].as_str() {
        Some(raw) => format!("{message} ({raw})"),
        None => message,
    };
    let words = [&error["code"], &error["type"], &error["status"]];
    let words: Vec<String> =
        words.iter().filter_map(|word| word.as_str()).map(str::to_lowercase).collect();
    let number = |value: &Value| match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(|code| u16::try_from(code).ok()),
    };
    let status = [&error["code"], &error["status"]].into_iter().find_map(number);
    Detail { message, words: words.join(" "), status }
}

fn message(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        // FastAPI lists the faults and their places.
        Value::Array(items) => {
            let one = |item: &Value| Some(format!("{}: {}", item["loc"], item["msg"].as_str()?));
            let all: Vec<String> = items.iter().filter_map(one).collect();
            (!all.is_empty()).then(|| all.join("; "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// The title of a web page. Proxies and gateways answer with pages.
fn html_title(text: &str) -> Option<String> {
    let start = text.trim_start().get(..15)?.to_ascii_lowercase();
    if !start.starts_with("<!doctype html") && !start.starts_with("<html") {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title>").map(|at| at + "<title>".len());
    let title = title.and_then(|at| Some(&text[at..at + lower[at..].find("</title>")?]));
    Some(format!("a web page, {:?}", title.unwrap_or("without a title").trim()))
}

/// The innermost cause, which is the real one.
fn root(error: &dyn std::error::Error) -> String {
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
