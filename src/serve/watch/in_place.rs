//! Answers that are written here.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use jiff::Timestamp;

use super::patience::Patience;
use super::{Answered, Broken, Outgoing};
use crate::domain::{ModelError, ModelErrorKind};
use crate::model::relay::Said;
use crate::wire::{Answering, Format, Names, chat};

/// What an answer has to do with its request.
#[derive(Clone, Debug)]
pub struct Asker {
    pub format: Format,
    pub streams: bool,
    /// The endpoint's own name of the model.
    pub model: String,
    /// The number of this answer among those of the listener.
    pub number: u64,
    /// The client did not ask for the chunk of the usage, and may not understand it.
    pub hides_usage: bool,
    /// How long it waits.
    pub patience: Patience,
}

impl Asker {
    /// The answer that a client gets for this.
    ///
    /// # Errors
    /// The client gets no answer: its connection ends.
    pub fn answer(&self, said: &Said) -> Answered {
        let reply = match said {
            Ok(reply) => reply,
            Err(error) => return self.fail(error),
        };
        let (id, names) = (self.bare_id(), Names::default());
        let created = Timestamp::now().as_second();
        let answering = Answering { id: &id, model: &self.model, names: &names, created };
        let mut text = self.format.write_answer(reply, &answering, self.streams);
        if self.hides_usage {
            text = without_usage(&text);
        }
        let kind = if self.streams { STREAM } else { JSON };
        let mut response = whole(StatusCode::OK, kind, text);
        if self.streams {
            set(&mut response, CACHE_CONTROL, "no-cache");
        }
        Ok(response)
    }

    /// The id of the answer, as a client reads it.
    pub fn id(&self) -> String {
        let prefix = match self.format {
            Format::Chat => "chatcmpl-",
            Format::Responses => "resp_",
            Format::Messages => "msg_",
        };
        format!("{prefix}{}", self.bare_id())
    }

    fn bare_id(&self) -> String {
        format!("toolyard{}", self.number)
    }

    fn fail(&self, error: &ModelError) -> Answered {
        if error.kind == ModelErrorKind::Connection {
            return Err(error.text.clone().into());
        }
        let status = status(error, self.format);
        let mut response = refusal(self.format, status, &error.text);
        if error.kind == ModelErrorKind::RateLimited {
            set(&mut response, RETRY_AFTER, "1");
        }
        Ok(response)
    }
}

/// A stream without the chunk that has the usage alone.
fn without_usage(stream: &str) -> String {
    let is_usage = |event: &&str| {
        let data = event.strip_prefix("data: ").unwrap_or_default();
        chat::is_usage_alone(data.trim_end())
    };
    stream.split_inclusive("\n\n").filter(|event| !is_usage(event)).collect()
}

/// The content type of a body that is not streamed.
pub const JSON: &str = "application/json";
/// That of a stream.
pub const STREAM: &str = "text/event-stream; charset=utf-8";

/// The status that makes a client see this failure.
fn status(error: &ModelError, format: Format) -> u16 {
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
            if format == Format::Messages { 529 } else { 503 }
        }
        ModelErrorKind::Endpoint => 500,
        ModelErrorKind::BadAnswer | ModelErrorKind::Connection => 502,
    }
}

/// A refusal with this status, in words of the format.
pub fn refusal(format: Format, status: u16, message: &str) -> Response<Outgoing> {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    whole(code, JSON, format.write_error(status, message))
}

/// A text for people.
pub fn plain(status: StatusCode, text: &'static str) -> Response<Outgoing> {
    whole(status, "text/plain; charset=utf-8", text)
}

fn whole(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Outgoing> {
    let body = Full::new(text.into()).map_err(|never: Infallible| -> Broken { match never {} });
    let mut response = Response::new(Box::pin(body) as Outgoing);
    *response.status_mut() = status;
    set(&mut response, CONTENT_TYPE, kind);
    response
}

fn set(response: &mut Response<Outgoing>, name: HeaderName, value: &'static str) {
    response.headers_mut().insert(name, HeaderValue::from_static(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stream_has_the_usage_only_for_a_client_that_asked_for_it() {
        let said = Ok(std::sync::Arc::new(crate::domain::Reply::of_text("hi")));
        for hides_usage in [false, true] {
            let (format, model) = (Format::Chat, "m".into());
            let asker = Asker { format, streams: true, model, number: 1, hides_usage };
            let answer = asker.answer(&said).unwrap().into_body().collect().await.unwrap();
            let text = String::from_utf8(answer.to_bytes().to_vec()).unwrap();
            assert_eq!(text.contains("\"usage\":{"), !hides_usage, "{text}");
            assert!(text.contains("hi") && text.ends_with("data: [DONE]\n\n"), "{text}");
        }
    }

    #[test]
    fn failures_have_the_status_of_their_kind() {
        let asker = |format| Asker {
            format,
            streams: true,
            model: "m".into(),
            number: 1,
            hides_usage: false,
            patience: Patience::of(None),
        };
        for (kind, text, chat, messages) in [
            (ModelErrorKind::RateLimited, "slow", 429, 429),
            (ModelErrorKind::Auth, "no", 401, 401),
            (ModelErrorKind::ContextOverflow, "long", 400, 400),
            (ModelErrorKind::Endpoint, "Overloaded", 503, 529),
            (ModelErrorKind::Endpoint, "broken", 500, 500),
        ] {
            for (format, status) in [(Format::Chat, chat), (Format::Messages, messages)] {
                let response = asker(format).answer(&Err(ModelError::new(kind, text))).unwrap();
                assert_eq!(response.status().as_u16(), status, "{text}");
                assert_eq!(response.headers().contains_key(RETRY_AFTER), status == 429);
            }
        }
        let cut = ModelError::new(ModelErrorKind::Connection, "cut");
        assert!(asker(Format::Chat).answer(&Err(cut)).is_err());
    }
}
