//! Requests that pass unread, and yet cost something: embeddings and the like. Their answers pass as they come; a copy of a
//! short one tells the model and the tokens.

use bytes::Bytes;
use hyper::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::coding;
use super::room::Room;
use crate::domain::{Usage, api_requests};
use crate::model::relay::ListenerNews;
use crate::wire::usage;

/// The most bytes of an answer that are kept to be read.
const MOST: usize = 4 << 20;

/// A copy of an answer. It is read when the answer has passed.
pub struct Meter {
    service: &'static str,
    endpoint: String,
    headers: HeaderMap,
    copy: Vec<u8>,
    room: Room,
    is_too_long: bool,
    news: UnboundedSender<ListenerNews>,
}

/// The parts of an answer that tell what it costs, in the words of several APIs.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PricedAnswer {
    model: Option<String>,
    usage: Value,
    /// Ollama's.
    prompt_eval_count: Option<u64>,
}

impl Meter {
    /// A meter of the answer to a request for a service that costs something; `None` for any other.
    pub fn of(
        what: &str,
        endpoint: &str,
        headers: &HeaderMap,
        news: &UnboundedSender<ListenerNews>,
    ) -> Option<Self> {
        Some(Self {
            service: api_requests::service(what).filter(|it| !api_requests::is_free(it))?,
            endpoint: endpoint.to_owned(),
            headers: headers.clone(),
            copy: Vec::new(),
            room: Room::default(),
            is_too_long: false,
            news: news.clone(),
        })
    }

    /// Copies the next bytes.
    pub fn take(&mut self, bytes: &Bytes) {
        let length = self.copy.len() + bytes.len();
        self.is_too_long |= length > MOST || !self.room.has(length);
        if self.is_too_long {
            self.copy = Vec::new();
        } else {
            self.copy.extend_from_slice(bytes);
        }
    }

    /// The model that an answer names, and its tokens; `None` if it does not tell them.
    fn read(&self) -> Option<(String, Usage)> {
        if self.is_too_long {
            return None;
        }
        let text = coding::unpacked(&self.headers, &self.copy).ok()?;
        let answer: PricedAnswer = serde_json::from_slice(&text).ok()?;
        let told = match answer.prompt_eval_count {
            Some(tokens) => json!({ "prompt_tokens": tokens }),
            None => answer.usage,
        };
        // Nothing is estimated: what an endpoint does not tell stays unknown.
        let usage = usage::read(&told)?.usage(Usage::default);
        Some((answer.model?, usage))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some((model, usage)) = self.read() {
            let (service, endpoint) = (self.service.to_owned(), self.endpoint.clone());
            // A session that has ended needs no news.
            let _ = self.news.send(ListenerNews::Metered { service, model, endpoint, usage });
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    /// The model and the tokens that an answer in these pieces tells.
    fn told(what: &str, pieces: &[&str]) -> Option<(String, u64, u64)> {
        let (news, mut told) = unbounded_channel();
        let mut meter = Meter::of(what, "e", &HeaderMap::new(), &news)?;
        pieces.iter().for_each(|piece| meter.take(&Bytes::from((*piece).to_owned())));
        drop(meter);
        match told.try_recv().ok()? {
            ListenerNews::Metered { model, usage, .. } => {
                Some((model, usage.tokens_in, usage.tokens_out))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_tell_what_they_cost() {
        let embedded = [
            r#"{"object":"list","data":[{"embedding":[0.1,0."#,
            r#"2]}],"model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}}"#,
        ];
        let of_openai = Some(("text-embedding-3-small".to_owned(), 8, 0));
        assert_eq!(told("POST /v1/embeddings", &embedded), of_openai);
        let of_ollama = r#"{"model":"all-minilm","embeddings":[[0.1]],"prompt_eval_count":5}"#;
        assert_eq!(told("POST /api/embed", &[of_ollama]), Some(("all-minilm".to_owned(), 5, 0)));
        let old =
            r#"{"model":"davinci","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}"#;
        assert_eq!(told("POST /v1/completions", &[old]), Some(("davinci".to_owned(), 3, 4)));
        // Half of an answer, one without a model or without tokens, and one that no table prices.
        assert_eq!(told("POST /v1/embeddings", &embedded[..1]), None);
        assert_eq!(told("POST /v1/embeddings", &[r#"{"usage":{"prompt_tokens":8}}"#]), None);
        assert_eq!(told("POST /v1/rerank", &[r#"{"model":"m","results":[]}"#]), None);
        assert_eq!(told("POST /v1/files", &[old]), None);
        let long = "x".repeat(MOST + 1);
        assert_eq!(told("POST /v1/embeddings", &[&long, old]), None);
    }
}
