//! The frames of a streamed answer, as the vendor's clients read them.

use serde_json::{Value, json};

use super::kinds::ClientCallKind;
use super::reply::{begun, error, items, response};
use crate::answering::Answering;
use crate::domain::Reply;

/// All frames of a streamed answer: the beginning, each item with its texts, and the whole response.
pub fn write_stream(reply: &Reply, answering: &Answering<'_>) -> String {
    let mut frames = Frames::default();
    let begun = Value::from(begun(answering));
    frames.push("response.created", json!({"response": begun}));
    frames.push("response.in_progress", json!({"response": begun}));
    let items = items(reply, answering);
    for (index, item) in (0..).zip(&items) {
        frames.item(index, item);
    }
    let whole = response(reply, answering, items);
    let end = match whole["status"] == "incomplete" {
        true => "response.incomplete",
        false => "response.completed",
    };
    frames.push(end, json!({"response": whole}));
    frames.text
}

/// An error inside a stream. Clients look for it in one of two places.
pub fn write_error_event(status: u16, message: &str) -> String {
    let mut frames = Frames::default();
    let error = error(status, message);
    let code = error["code"].clone();
    frames.push("error", json!({"code": code, "message": message, "param": null, "error": error}));
    frames.text
}

#[derive(Default)]
pub(super) struct Frames {
    pub text: String,
    /// The number of the next event.
    pub next: u64,
}

impl Frames {
    /// An event of this type with these fields.
    fn push(&mut self, kind: &str, mut data: Value) {
        data["type"] = kind.into();
        data["sequence_number"] = self.next.into();
        self.next = self.next.saturating_add(1);
        self.text += &format!("event: {kind}\ndata: {data}\n\n");
    }

    /// The events of one item.
    pub fn item(&mut self, index: u64, item: &Value) {
        let kind = item["type"].as_str().unwrap_or_default();
        let mut begun = item.clone();
        // Only a text comes in pieces.
        let call = ClientCallKind::of(kind).filter(|call| !call.takes_object());
        match (kind, call) {
            ("message", _) => begun["content"] = json!([]),
            ("reasoning", _) => begun["summary"] = json!([]),
            (_, Some(call)) => begun[call.input(|_| true)] = "".into(),
            (_, None) => {}
        }
        if item["status"] == "completed" {
            begun["status"] = "in_progress".into();
        }
        self.push("response.output_item.added", json!({"output_index": index, "item": begun}));
        match (kind, call) {
            ("message", _) => self.contents(index, item),
            ("reasoning", _) => self.summaries(index, item),
            (_, Some(call)) => self.input(index, item, call),
            (_, None) => {}
        }
        self.push("response.output_item.done", json!({"output_index": index, "item": item}));
    }

    fn contents(&mut self, index: u64, item: &Value) {
        for (at, part) in item["content"].as_array().into_iter().flatten().enumerate() {
            let place = json!({"item_id": item["id"], "output_index": index, "content_index": at});
            let (stem, field) = match part["type"].as_str() {
                Some("refusal") => ("response.refusal", "refusal"),
                Some("output_text") => ("response.output_text", "text"),
                _ => ("", ""),
            };
            let mut begun = part.clone();
            if !stem.is_empty() {
                begun[field] = "".into();
            }
            self.push("response.content_part.added", with(&place, "part", &begun));
            if !stem.is_empty() {
                self.text(stem, &place, field, &part[field]);
            }
            self.push("response.content_part.done", with(&place, "part", part));
        }
    }

    fn summaries(&mut self, index: u64, item: &Value) {
        for (at, part) in item["summary"].as_array().into_iter().flatten().enumerate() {
            let place = json!({"item_id": item["id"], "output_index": index, "summary_index": at});
            let begun = json!({"type": "summary_text", "text": ""});
            self.push("response.reasoning_summary_part.added", with(&place, "part", &begun));
            self.text("response.reasoning_summary_text", &place, "text", &part["text"]);
            self.push("response.reasoning_summary_part.done", with(&place, "part", part));
        }
    }

    fn input(&mut self, index: u64, item: &Value, call: ClientCallKind) {
        let mut place = json!({"item_id": item["id"], "output_index": index});
        let stem = match call {
            ClientCallKind::Custom => "response.custom_tool_call_input",
            _ => "response.function_call_arguments",
        };
        let input = call.input(|_| true);
        self.push(&format!("{stem}.delta"), with(&place, "delta", &item[input]));
        place["name"] = item["name"].clone();
        self.push(&format!("{stem}.done"), with(&place, input, &item[input]));
    }

    /// A text in one piece, and its end.
    fn text(&mut self, stem: &str, place: &Value, field: &str, text: &Value) {
        let mut place = place.clone();
        if stem == "response.output_text" {
            place["logprobs"] = json!([]);
        }
        self.push(&format!("{stem}.delta"), with(&place, "delta", text));
        self.push(&format!("{stem}.done"), with(&place, field, text));
    }
}

/// Returns these fields and one more.
fn with(fields: &Value, name: &str, value: &Value) -> Value {
    let mut fields = fields.clone();
    fields[name] = value.clone();
    fields
}
