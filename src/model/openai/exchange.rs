//! One try: a request goes out, and an answer comes back whole, or a failure does.

use std::time::{Duration, SystemTime};

use reqwest::{RequestBuilder, Response, header::CONTENT_TYPE};
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    answer::{Answer, TooLarge},
    failure::{Failed, is_error},
    line::{LONGEST_REFUSAL, Line},
    names::Names,
    retry::Again,
    sse::{Event, Parser},
    usage,
};
use crate::{
    domain::{
        chat::{Reply, Request},
        error::ModelErrorKind,
    },
    model::Progress,
};

/// How long usage may come after the finish reason, which ends the answer itself.
const AFTER_FINISH: Duration = Duration::from_secs(5);
/// How long the connection may take to end after `[DONE]`, so that it can be used again.
const AFTER_DONE: Duration = Duration::from_millis(20);
/// Longest body of a completion that is not streamed, in bytes.
const LONGEST_BODY: usize = 32 * 1024 * 1024;

/// One request of a conversation, over a line to its endpoint.
pub(super) struct Exchange<'a> {
    pub line: Line<'a>,
    pub request: &'a Request,
    pub names: &'a Names,
}

impl Exchange<'_> {
    pub(super) async fn run(
        &self,
        send: RequestBuilder,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reply, Failed> {
        let response = self.line.send(send).await?;
        let cost = litellm_cost(&response);
        let kind =
            response.headers().get(CONTENT_TYPE).map(|kind| kind.as_bytes().to_ascii_lowercase());
        let kind = String::from_utf8_lossy(kind.as_deref().unwrap_or_default()).into_owned();
        // By what came, not by what was asked for: some servers stream always, some never.
        let answer = if kind.contains("json") {
            self.whole(response, progress).await?
        } else if kind.contains("html") {
            return Err(self.page(response).await);
        } else {
            self.stream(response, progress).await?
        };
        Ok(answer.reply(self.request, self.names, cost))
    }

    async fn whole(
        &self,
        response: Response,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Failed> {
        let body = self.line.body(response, LONGEST_BODY).await.map_err(|(_, failed)| failed)?;
        let value: Value = serde_json::from_slice(&body).map_err(|why| {
            self.bad(format!("the answer of {} is no JSON ({why}).", self.line.place.host))
        })?;
        if is_error(&value) {
            return Err(self.line.place.inside(&value));
        }
        if value["choices"][0]["message"].is_null() {
            let host = self.line.place.host;
            return Err(self.bad(format!(
                "the answer of {host} holds no message; is `url` that of an OpenAI-compatible API?"
            )));
        }
        let mut answer = Answer::default();
        answer.take(&value, progress).map_err(|error| self.too_large(error))?;
        answer.finish_whole();
        Ok(answer)
    }

    async fn stream(
        &self,
        mut response: Response,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Answer, Failed> {
        let mut answer = Answer::default();
        let mut parser = Parser::default();
        let mut done = false;
        loop {
            let patience = match (answer.finished(), done) {
                (_, true) => AFTER_DONE,
                (true, false) => AFTER_FINISH.min(self.line.silence),
                (false, false) => self.line.silence,
            };
            let chunk = match timeout(patience, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break,
                // What breaks after its end is whole.
                Ok(Err(_)) | Err(_) if answer.finished() || done => break,
                Ok(Err(error)) => {
                    return Err(self.line.place.broken(error).with_partial(&answer.text));
                }
                Err(_) => {
                    return Err(self.line.silent("sent nothing more").with_partial(&answer.text));
                }
            };
            let events = match parser.feed(&chunk) {
                Ok(events) => events,
                Err(error) => return Err(self.bad(format!("{error}.")).with_partial(&answer.text)),
            };
            for event in events {
                done |= self.event(&event, &mut answer, progress)?;
            }
        }
        // Cut inside an event, what stands there is half, and the end below says so.
        let whole = |event: &Event| serde_json::from_str::<IgnoredAny>(&event.data).is_ok();
        if let Some(event) = parser.finish().filter(whole) {
            self.event(&event, &mut answer, progress)?;
        }
        if !answer.finished() {
            return Err(self.cut().with_partial(&answer.text));
        }
        Ok(answer)
    }

    /// Takes one event; true if it is the last.
    fn event(
        &self,
        event: &Event,
        answer: &mut Answer,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<bool, Failed> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return Ok(true);
        }
        if data.is_empty() {
            return Ok(false);
        }
        let failed = match serde_json::from_str::<Value>(data) {
            Ok(value) if is_error(&value) || event.name == "error" => {
                self.line.place.inside(&value)
            }
            Ok(value) => match answer.take(&value, progress) {
                Ok(()) => return Ok(false),
                Err(error) => self.too_large(error),
            },
            Err(why) => {
                let host = self.line.place.host;
                self.bad(format!("{host} sent an event that is no JSON ({why})."))
            }
        };
        Err(failed.with_partial(&answer.text))
    }

    /// A web page in place of an answer, which no second try turns into one.
    async fn page(&self, response: Response) -> Failed {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = self.line.body(response, LONGEST_REFUSAL).await.unwrap_or_else(|(read, _)| read);
        let mut failed = self.line.place.refused(status, &headers, &body, SystemTime::now());
        failed.error.kind = ModelErrorKind::BadAnswer;
        failed.error.text += " Is `url` that of an OpenAI-compatible API? Most end in /v1.";
        failed.again = Again::Never;
        failed
    }

    fn bad(&self, text: String) -> Failed {
        Failed::new(ModelErrorKind::BadAnswer, text, Again::Soon)
    }

    fn too_large(&self, error: TooLarge) -> Failed {
        Failed::new(ModelErrorKind::BadAnswer, format!("{error}."), Again::Never)
    }

    fn cut(&self) -> Failed {
        self.bad(format!("the stream of {} ended before the answer did.", self.line.place.host))
    }
}

/// What LiteLLM says that a request cost, in a header.
fn litellm_cost(response: &Response) -> Option<f64> {
    let cost = response.headers().get("x-litellm-response-cost")?;
    usage::dollars(cost.to_str().ok()?.trim().parse().ok())
}
