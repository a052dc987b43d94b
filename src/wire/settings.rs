//! Settings of a request besides its content: the model, and the endpoint's conventions.

use serde_json::{Map, Value};

use crate::learned::Learned;
use crate::names::FunctionNames;

/// How a request is written.
#[derive(Clone, Copy, Debug)]
pub struct WireSettings<'a> {
    /// The endpoint's own name of the model.
    pub model: &'a str,
    /// The endpoint's name in replies: fields that it wrote go back to it alone.
    pub source: &'a str,
    /// The names of tools as they are sent.
    pub names: &'a FunctionNames,
    pub streams: bool,
    /// The field for the longest answer, where a format has two.
    pub max_tokens_field: &'a str,
    /// The longest answer in tokens, where a format needs one and the request has none.
    pub longest: u32,
    /// Whether the endpoint accepts tools that may not be called now.
    pub allowed_tools: bool,
    /// Whether to mark the parts of the prompt that the endpoint should cache, where a format has marks.
    pub caches: bool,
    /// Fields that come last and take precedence.
    pub extra: &'a Map<String, Value>,
    pub learned: &'a Learned,
}

impl WireSettings<'_> {
    /// Finishes a body: the endpoint's extra fields take precedence, and fields that it refuses are left out.
    pub(crate) fn finish(&self, mut body: Map<String, Value>) -> Value {
        body.extend(self.extra.clone());
        self.learned.apply(&mut body);
        Value::Object(body)
    }
}

/// The fields of this list that have a value.
pub(crate) fn given<const N: usize>(
    fields: [(&str, Option<Value>); N],
) -> impl Iterator<Item = (String, Value)> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)))
}
