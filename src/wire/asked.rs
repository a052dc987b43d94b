//! A request as it came: its content, and the places in its text that can be changed.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::{Value, json};

use crate::domain::Request;
use crate::node::JsonItem;

/// A request that somebody sent.
#[derive(Clone, Debug, PartialEq)]
pub struct IncomingRequest {
    pub request: Request,
    /// The endpoint's own name of the model.
    pub model: String,
    /// Whether the answer is to come as a stream.
    pub streams: bool,
    /// Whether the model must call a tool: a certain one, or any.
    pub forces_call: bool,
    /// Whether no answer is asked for: the endpoint only prepares the next one.
    pub prepares: bool,
    /// The arguments of each call, in the order of the text.
    pub calls: Vec<Spot>,
    /// The content of each result, in the order of the text.
    pub results: Vec<Spot>,
    /// The place in each result of the field that says whether it failed, in formats that have one.
    pub failures: Vec<Spot>,
    /// The range of the items of its list of messages in the text; empty where it is not known.
    pub list: Range<usize>,
    /// The number of messages before the list: instructions.
    pub before: usize,
    /// The answer or the conversation at the endpoint that it continues.
    pub previous: Option<String>,
    /// Unknown parts of the request, each with its number of occurrences: `messages[].hologram` is a field.
    pub unknown: BTreeMap<String, u32>,
}

/// A value in the text of a request, or of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The number of the call, or of the result, among those of the request, from 0.
    pub number: usize,
    /// The bytes of the JSON value, with its quotes. An empty range is the place where the missing field can be added.
    pub range: Range<usize>,
    pub form: SpotForm,
}

/// The kind of value that an endpoint accepts in a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpotForm {
    /// A text, or a list of parts; for arguments, what the format has there.
    #[default]
    Content,
    /// Arguments that are an object in any format.
    Object,
    /// The response of a function: an object that has the text as its result.
    Response,
    /// The log of a patch, which may be missing.
    Output,
    /// The output of commands, one after the other.
    Shell,
    /// A picture of a screen. No text can stand there.
    Screenshot,
    /// Definitions of tools. No text can stand there.
    Tools,
    /// Whether a result is an error.
    IsError,
    /// Whether a patch was applied.
    Status,
}

/// A picture of one white dot.
const BLANK: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";

impl SpotForm {
    /// The value for a result with this text.
    pub(crate) fn value(self, text: &str, failed: bool) -> Value {
        match self {
            SpotForm::Content | SpotForm::Object | SpotForm::Output => text.into(),
            SpotForm::Response => match serde_json::from_str(text) {
                Ok(object @ Value::Object(_)) if !failed => object,
                _ => json!({if failed { "error" } else { "result" }: text}),
            },
            SpotForm::Shell => {
                let (stdout, stderr) = if failed { ("", text) } else { (text, "") };
                let outcome = json!({"type": "exit", "exit_code": u8::from(failed)});
                json!([{"stdout": stdout, "stderr": stderr, "outcome": outcome}])
            }
            SpotForm::Screenshot => json!({"type": "computer_screenshot", "image_url": BLANK}),
            SpotForm::Tools => json!([]),
            SpotForm::IsError => failed.into(),
            SpotForm::Status => if failed { "failed" } else { "completed" }.into(),
        }
    }

    /// Whether a model can read a text there.
    pub fn takes_text(self) -> bool {
        !matches!(self, SpotForm::Screenshot | SpotForm::Tools)
    }
}

impl Spot {
    /// The text to write at this place for a result with this text.
    pub fn written(&self, text: &str, failed: bool) -> String {
        let value = self.form.value(text, failed);
        let name = match self.form {
            _ if !self.range.is_empty() => return value.to_string(),
            SpotForm::IsError => "is_error",
            SpotForm::Output => "output",
            _ => "content",
        };
        format!(",{}:{value}", Value::from(name))
    }
}

/// Why a text is not a request.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    #[error("not UTF-8")]
    NotText(#[from] std::str::Utf8Error),
    #[error("not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("no request: {0}")]
    NoRequest(&'static str),
}

/// The range from the first of these items to the end of the last one.
pub(crate) fn list_of(items: &[JsonItem<'_>]) -> Range<usize> {
    let ends = items.first().zip(items.last());
    ends.map_or(0..0, |(first, last)| first.node.range().start..last.node.range().end)
}

/// Counts of the unknown parts of a request.
#[derive(Debug, Default)]
pub(crate) struct Unknown(pub BTreeMap<String, u32>);

impl Unknown {
    /// Counts one more occurrence of an unknown part.
    pub fn add(&mut self, what: impl Into<String>) {
        *self.0.entry(what.into()).or_default() += 1;
    }

    /// Counts the fields of an object that are not among the known ones.
    pub fn fields(&mut self, place: &str, fields: &crate::node::JsonFields<'_>, known: &[&str]) {
        for (name, _) in fields.iter().filter(|(name, _)| !known.contains(name)) {
            self.add(format!("{place}{name}"));
        }
    }
}
