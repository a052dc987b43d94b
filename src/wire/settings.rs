//! Settings of a request besides its content: the model, and the endpoint's conventions.

use serde_json::{Map, Value};

use crate::domain::{Request, ToolDef, ToolName, schema_repair};
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
    /// The tools that are sent, each with the schema that endpoints take. A tool that takes no object is left out.
    pub(crate) fn tools<'r>(&self, request: &'r Request) -> Vec<(&'r ToolDef, Value)> {
        let is_sent = |def: &&ToolDef| !self.learned.tools.contains(self.names.out(&def.name));
        let tools = request.tools.iter().filter(is_sent);
        tools.filter_map(|def| Some((def, schema_repair::sendable(&def.parameters)?))).collect()
    }

    /// The sent tools that may be called now; none if all may be, or if the endpoint does not take such a choice.
    pub(crate) fn allowed<'r>(
        &self,
        request: &'r Request,
        tools: &[(&ToolDef, Value)],
    ) -> Vec<&'r ToolName> {
        let is_sent = |name: &&ToolName| tools.iter().any(|(def, _)| def.name == **name);
        let allowed = request.allowed.iter().filter(|_| self.allowed_tools);
        allowed.filter(is_sent).collect()
    }

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
