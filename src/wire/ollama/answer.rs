//! A growing answer. Its objects are those of OpenAI's chat with other names, so that they are read as such.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::chat::ChatAnswer;
use crate::domain::{Reply, Request};
use crate::errors::is_error;
use crate::names::FunctionNames;
use crate::reading::{self, AnswerFault, AnswerPiece, GrowingAnswer};
use crate::sse::Event;
use crate::usage::Report;

/// An answer, as far as it has arrived.
#[derive(Debug)]
pub(super) struct OllamaAnswer {
    chat: ChatAnswer,
    /// The number of calls so far.
    calls: u64,
}

impl OllamaAnswer {
    pub fn begin(names: &Arc<FunctionNames>, cost: Report) -> Self {
        Self { chat: ChatAnswer::of(names, cost), calls: 0 }
    }

    /// The chunk of OpenAI's chat for an object.
    fn chunk(&mut self, object: &Value) -> Value {
        let message = if object["message"].is_object() { &object["message"] } else { object };
        let mut delta = Map::new();
        for (name, own) in [
            ("content", &message["content"]),
            ("content", &message["response"]),
            ("reasoning", &message["thinking"]),
        ] {
            if own.as_str().is_some_and(|text| !text.is_empty()) {
                delta.insert(name.to_owned(), own.clone());
            }
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<Value> = calls.map(|call| self.call(call)).collect();
        if !calls.is_empty() {
            delta.insert("tool_calls".into(), calls.into());
        }
        let mut choice = json!({"index": 0, "delta": delta});
        let mut chunk = json!({});
        if object["done"] == true {
            choice["finish_reason"] = object["done_reason"].as_str().unwrap_or("stop").into();
            // A prompt that was read before is not counted by older versions.
            let usage = [
                ("prompt_tokens", &object["prompt_eval_count"]),
                ("completion_tokens", &object["eval_count"]),
            ];
            let usage = usage.into_iter().filter(|(_, count)| !count.is_null());
            chunk["usage"] = usage.map(|(name, count)| (name.to_owned(), count.clone())).collect();
        }
        chunk["choices"] = json!([choice]);
        chunk
    }

    /// A call. Each comes whole, whatever its index.
    fn call(&mut self, call: &Value) -> Value {
        let mut call = call.clone();
        if let Some(fields) = call.as_object_mut() {
            fields.insert("index".into(), self.calls.into());
            self.calls += 1;
        }
        call
    }
}

impl GrowingAnswer for OllamaAnswer {
    fn whole(
        &mut self,
        document: &Value,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<(), AnswerFault> {
        if is_error(document) {
            return Err(AnswerFault::Said(document.clone()));
        }
        let chunk = self.chunk(document);
        self.chat.take(&chunk, seen)
    }

    fn event(
        &mut self,
        event: &Event,
        seen: &mut dyn FnMut(AnswerPiece),
    ) -> Result<bool, AnswerFault> {
        let object = reading::data(event)?;
        if ["done", "message", "response", "error"].iter().all(|name| object.get(name).is_none()) {
            return Err(AnswerFault::Other(object));
        }
        self.whole(&object, seen)?;
        Ok(object["done"] == true)
    }

    fn is_finished(&self) -> bool {
        self.chat.is_finished()
    }

    fn text(&self) -> &str {
        self.chat.text()
    }

    fn size(&self) -> usize {
        self.chat.size()
    }

    fn reply(self: Box<Self>, request: &Request, endpoint: &str) -> (Reply, Report) {
        Box::new(self.chat).reply(request, endpoint)
    }

    fn is_sequence(&self) -> bool {
        true
    }
}
