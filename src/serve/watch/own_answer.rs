//! Answers that toolyard writes itself.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use futures::future::ready;
use futures::{StreamExt, stream};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use jiff::Timestamp;
use tokio::task::yield_now;

use super::frames::Frames;
use super::patience::Patience;
use super::{AnswerResult, Broken, Outgoing, Reset};
use crate::domain::wire_answer::WireAnswer;
use crate::domain::{ModelError, ModelErrorKind, Reply, ToolCall, WireFailure};
use crate::model::relay::RelayResult;
use crate::net::kept_body::unpacked;
use crate::wire::{AnswerForm, Answering, FunctionNames, WireFormat, changed};

/// Properties of a request that its answer depends on.
#[derive(Clone, Debug)]
pub struct Asker {
    pub format: WireFormat,
    /// The form of the answer that the client expects.
    pub form: AnswerForm,
    /// The endpoint's own name of the model.
    pub model: String,
    /// The number of this answer among those of the listener.
    pub number: u64,
    /// Whether the client did not ask for the chunk with the usage, and may not understand it.
    pub hides_usage: bool,
    /// Whether the client waits for the next event, and does not hear comments.
    pub counts_events: bool,
    /// The client's patience.
    pub patience: Patience,
    /// Whether the client must wait in vain.
    pub is_silent: Arc<AtomicBool>,
}

impl Asker {
    /// Bytes that tell a waiting client that there will be an answer.
    pub fn heartbeat(&self) -> &'static str {
        match (self.form, self.format) {
            (AnswerForm::Whole | AnswerForm::List, _) => " ",
            // OpenAI's own keep-alive, which its SDKs do not expect before the first event.
            (_, WireFormat::Responses) if self.counts_events => {
                "event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n"
            }
            (_, format) => format.codec().heartbeat,
        }
    }

    /// The answer that a client gets for this result.
    ///
    /// # Errors
    /// The client gets no answer: its connection ends.
    pub fn answer(&self, said: &RelayResult) -> AnswerResult {
        let reply = match said {
            Ok(reply) => reply,
            Err(error) => return self.fail(error),
        };
        let text = self.written(|words| self.format.write_answer(reply, words, self.form));
        Ok(self.ok(if self.hides_usage {
            self.without_usage(text.as_bytes())
        } else {
            text.into()
        }))
    }

    /// Writes an answer with its id, the endpoint's name of the model, and the time.
    fn written(&self, write: impl Fn(&Answering<'_>) -> String) -> String {
        let (id, names) = (self.bare_id(), FunctionNames::default());
        let created = Timestamp::now().as_second();
        write(&Answering { id: &id, model: &self.model, names: &names, created })
    }

    fn ok(&self, text: impl Into<Bytes>) -> Response<Outgoing> {
        let mut response = whole(StatusCode::OK, self.form.content_type(), text);
        if self.form.streams() {
            set(&mut response, CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        response
    }

    /// The id of the answer, as a client reads it.
    pub fn id(&self) -> String {
        format!("{}{}", self.format.codec().id, self.bare_id())
    }

    fn bare_id(&self) -> String {
        format!("toolyard{}", self.number)
    }

    fn fail(&self, error: &ModelError) -> AnswerResult {
        match error.shown {
            Some(WireFailure::Status { status, retry_after }) => {
                let mut response = self.refusal(error, status, &message(error, status));
                retry_after.into_iter().for_each(|it| set(&mut response, RETRY_AFTER, it.into()));
                return Ok(response);
            }
            Some(shown) if self.form.streams() => return Ok(self.broken(error, shown)),
            // Half a document, or one that contains an error, would be taken for an answer.
            Some(WireFailure::Reset | WireFailure::Cut) => return Err(Reset.into()),
            Some(WireFailure::Event) | None => {}
        }
        if error.kind == ModelErrorKind::Connection {
            return Err(error.text.clone().into());
        }
        let status = status(error, self.format);
        let mut response = self.refusal(error, status, &error.text);
        if error.kind == ModelErrorKind::RateLimited {
            set(&mut response, RETRY_AFTER, HeaderValue::from_static("1"));
        }
        Ok(response)
    }

    fn refusal(&self, error: &ModelError, status: u16, message: &str) -> Response<Outgoing> {
        match (error.kind, status) {
            (ModelErrorKind::ContextOverflow, 400) => {
                whole(StatusCode::BAD_REQUEST, JSON, self.format.write_overflow(message))
            }
            _ => refusal(self.format, status, message),
        }
    }

    /// A stream that breaks after the part that had arrived.
    fn broken(&self, error: &ModelError, shown: WireFailure) -> Response<Outgoing> {
        let reply = Reply::of_text(error.partial.as_str());
        let form = self.form;
        let mut text = self.written(|it| self.format.write_beginning(&reply, it, form));
        if shown == WireFailure::Event {
            let status = status(error, self.format);
            text += &self.format.write_error_event(status, &error.text, (form, false));
        }
        let mut response = self.ok(Bytes::new());
        *response.body_mut() = cut(text, shown == WireFailure::Reset);
        response
    }

    /// A stream without the chunk that has only the usage.
    pub fn without_usage(&self, stream: &[u8]) -> Vec<u8> {
        let mut frames = Frames::new(self.format, None, true);
        [frames.take(stream), frames.rest()].concat()
    }

    /// An answer as an endpoint wrote it earlier, with these calls if they are others; `None` if its body is damaged.
    pub fn recorded(
        &self,
        answer: &WireAnswer,
        calls: Option<&[ToolCall]>,
    ) -> Option<Response<Outgoing>> {
        let mut text = unpacked(&answer.body)?.into_owned().into_bytes();
        let status = StatusCode::from_u16(answer.status).ok()?;
        if self.hides_usage && status.is_success() {
            text = self.without_usage(&text);
        }
        if let Some(calls) = calls {
            text = changed(self.format, &text, "", calls);
        }
        let mut response = Response::new(if answer.is_cut { cut(text, true) } else { full(text) });
        *response.status_mut() = status;
        for (name, value) in &answer.headers {
            if let (Ok(name), Ok(value)) =
                (HeaderName::try_from(name), HeaderValue::try_from(value))
            {
                response.headers_mut().append(name, value);
            }
        }
        Some(response)
    }
}

/// A body that ends after this text, by a reset of its connection or as if it were whole.
fn cut(text: impl Into<Bytes>, is_reset: bool) -> Outgoing {
    let first = Some(Ok(Frame::data(text.into())));
    let last = is_reset.then(|| Err(Broken::from(Reset)));
    let last = stream::once(async {
        // Bytes that were sent before are written first, or they would be lost.
        yield_now().await;
        last
    });
    Box::pin(StreamBody::new(stream::iter(first).chain(last.filter_map(ready))))
}

/// The message of an error, besides its status.
fn message(error: &ModelError, status: u16) -> String {
    let text = error.text.strip_prefix(&format!("HTTP {status}")).unwrap_or(&error.text);
    let text = text.strip_prefix(": ").unwrap_or(text);
    let usual = || StatusCode::from_u16(status).ok()?.canonical_reason();
    if text.is_empty() { usual().unwrap_or("error").to_owned() } else { text.to_owned() }
}

/// The content type of a body that is not streamed.
pub const JSON: &str = "application/json";

/// The status that makes a client see this failure.
fn status(error: &ModelError, format: WireFormat) -> u16 {
    match error.kind {
        ModelErrorKind::RateLimited => 429,
        ModelErrorKind::Auth => 401,
        ModelErrorKind::Quota => 402,
        ModelErrorKind::ContextOverflow
        | ModelErrorKind::Refused
        | ModelErrorKind::Filtered
        | ModelErrorKind::OverBudget
        | ModelErrorKind::Cancelled => 400,
        ModelErrorKind::Timeout | ModelErrorKind::TooLong => 504,
        ModelErrorKind::Endpoint if error.text.to_lowercase().contains("overloaded") => {
            format.codec().overloaded
        }
        ModelErrorKind::Endpoint => 500,
        ModelErrorKind::BadAnswer | ModelErrorKind::Connection => 502,
    }
}

/// A refusal with this status, in words of the format.
pub fn refusal(format: WireFormat, status: u16, message: &str) -> Response<Outgoing> {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    whole(code, JSON, format.write_error(status, message))
}

/// A text for people.
pub fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Outgoing> {
    whole(status, "text/plain; charset=utf-8", text)
}

fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Outgoing> {
    let mut response = Response::new(full(text));
    *response.status_mut() = status;
    set(&mut response, CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

fn full(text: impl Into<Bytes>) -> Outgoing {
    Box::pin(Full::new(text.into()).map_err(|never: Infallible| -> Broken { match never {} }))
}

fn set(response: &mut Response<Outgoing>, name: HeaderName, value: HeaderValue) {
    response.headers_mut().insert(name, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::wire_answer::WireBody;
    use crate::net::kept_body::packed;

    fn asker(format: WireFormat, hides_usage: bool) -> Asker {
        Asker {
            format,
            form: format.codec().streamed,
            model: "m".into(),
            number: 1,
            hides_usage,
            counts_events: false,
            patience: Patience::of(None, None, true),
            is_silent: Arc::default(),
        }
    }

    #[tokio::test]
    async fn a_stream_has_the_usage_only_for_a_client_that_asked_for_it() {
        let said = Ok(std::sync::Arc::new(crate::domain::Reply::of_text("hi")));
        for hides_usage in [false, true] {
            let asker = asker(WireFormat::Chat, hides_usage);
            let answer = asker.answer(&said).unwrap().into_body().collect().await.unwrap();
            let text = String::from_utf8(answer.to_bytes().to_vec()).unwrap();
            assert_eq!(text.contains("\"usage\":{"), !hides_usage, "{text}");
            assert!(text.contains("hi") && text.ends_with("data: [DONE]\n\n"), "{text}");
        }
    }

    #[test]
    fn a_client_that_counts_events_hears_one() {
        for (format, streams, own) in [
            (WireFormat::Responses, true, "event: keepalive\n"),
            (WireFormat::Responses, false, " "),
            (WireFormat::Chat, true, ": held\n\n"),
            (WireFormat::Messages, true, "event: ping\n"),
        ] {
            let form = if streams { format.codec().streamed } else { AnswerForm::Whole };
            let other = Asker { form, ..asker(format, false) };
            let own_beat = Asker { counts_events: true, ..other.clone() }.heartbeat();
            assert!(own_beat.starts_with(own), "{own_beat}");
            assert_eq!(other.heartbeat() == own_beat, format != WireFormat::Responses || !streams);
        }
    }

    #[tokio::test]
    async fn a_recorded_answer_is_as_it_came_but_for_its_calls() {
        let call = |id: &str, n: u32| {
            let arguments = serde_json::json!({ "n": n });
            ToolCall { id: id.into(), tool: "t".into(), arguments }
        };
        let (names, format) = (FunctionNames::default(), WireFormat::Chat);
        let reply = Reply { calls: vec![call("a", 1), call("b", 2)], ..Reply::of_text("Look: ") };
        let answering = Answering { id: "x9", model: "m", names: &names, created: 7 };
        let text = format.write_answer(&reply, &answering, AnswerForm::Events) + ": odd\n\n";
        let headers = [("x-request-id", "r"), ("no name", "x"), ("odd", "a\nb")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let body = packed(text.clone());
        let answer = WireAnswer { status: 200, headers, body, is_cut: false };
        let asker = |hides_usage| asker(format, hides_usage);
        let read = |response: Response<Outgoing>| async {
            let body = response.into_body().collect().await.map(|body| body.to_bytes().to_vec());
            body.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let same = asker(false).recorded(&answer, None).unwrap();
        assert_eq!(same.headers().len(), 1);
        assert_eq!(read(same).await.unwrap(), text);
        let without = read(asker(true).recorded(&answer, None).unwrap()).await.unwrap();
        assert!(text.contains("\"usage\":{") && !without.contains("\"usage\":{"), "{without}");
        let calls = [call("b", 3)];
        let other = read(asker(false).recorded(&answer, Some(&calls)).unwrap()).await.unwrap();
        assert!(other.contains("x9") && other.contains("Look: ") && other.ends_with(": odd\n\n"));
        assert!(other.contains("\\\"n\\\":3") && !other.contains("\"a\""), "{other}");
        let cut = WireAnswer { is_cut: true, ..answer.clone() };
        assert!(read(asker(false).recorded(&cut, None).unwrap()).await.is_err());
        let bad = [
            WireAnswer { status: 7, ..answer.clone() },
            WireAnswer { body: WireBody::Packed { deflate: "!".into() }, ..answer },
        ];
        assert!(bad.iter().all(|answer| asker(false).recorded(answer, None).is_none()));
    }

    #[test]
    fn failures_have_the_status_of_their_kind() {
        for (kind, text, chat, messages) in [
            (ModelErrorKind::RateLimited, "slow", 429, 429),
            (ModelErrorKind::Auth, "no", 401, 401),
            (ModelErrorKind::ContextOverflow, "long", 400, 400),
            (ModelErrorKind::Endpoint, "Overloaded", 503, 529),
            (ModelErrorKind::Endpoint, "broken", 500, 500),
        ] {
            for (format, status) in [(WireFormat::Chat, chat), (WireFormat::Messages, messages)] {
                let response =
                    asker(format, false).answer(&Err(ModelError::new(kind, text))).unwrap();
                assert_eq!(response.status().as_u16(), status, "{text}");
                assert_eq!(response.headers().contains_key(RETRY_AFTER), status == 429);
            }
        }
        let cut = ModelError::new(ModelErrorKind::Connection, "cut");
        assert!(asker(WireFormat::Chat, false).answer(&Err(cut)).is_err());
        let shown = WireFailure::Status { status: 418, retry_after: Some(7) };
        for (text, says) in [("HTTP 418: no coffee", "no coffee"), ("HTTP 418", "I'm a teapot")] {
            let error = ModelError::new(ModelErrorKind::Refused, text).shown(shown);
            assert_eq!(message(&error, 418), says);
            let response = asker(WireFormat::Chat, false).answer(&Err(error)).unwrap();
            assert_eq!(response.status().as_u16(), 418);
            assert_eq!(response.headers()[RETRY_AFTER], "7");
        }
    }
}
