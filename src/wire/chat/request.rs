//! Reads a request, as a client wrote it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::calls::{OLD, old_kind};
use super::kept::is_of_thoughts;
use crate::asked::{IncomingRequest, NotRead, Spot, SpotForm, Unknown, list_of};
use crate::body::RequestBody;
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Finite, Message, ReplySource, Request, Role, ToolCall, ToolDef, ToolName};
use crate::ids::{FreeIds, given_here};
use crate::node::{JsonFields, JsonItem, JsonNode};
use crate::{arguments, schema};

/// Fields of a request that are shown, or that do not affect the conversation.
const OF_REQUEST: [&str; 35] = [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "response_format",
    "stream",
    "stream_options",
    "parallel_tool_calls",
    "n",
    "user",
    "metadata",
    "store",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "presence_penalty",
    "frequency_penalty",
    "reasoning_effort",
    "service_tier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "verbosity",
    "modalities",
    "audio",
    "prediction",
    "web_search_options",
];
/// Fields of a message.
const OF_MESSAGE: [&str; 8] = [
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "refusal",
    "annotations",
    "function_call",
];
/// Fields of a call, and of its function.
const OF_CALL: [&str; 4] = ["index", "id", "type", "function"];
const OF_FUNCTION: [&str; 2] = ["name", "arguments"];

/// Reads the body of a request.
///
/// # Errors
/// The body is not JSON, or not an object with messages.
pub fn read_request(bytes: &[u8]) -> Result<IncomingRequest, NotRead> {
    let text = str::from_utf8(bytes)?;
    let mut body = RequestBody::read(text)?;
    let messages = body.list("messages");
    let messages = messages.ok_or(NotRead::NoRequest("expected a list `messages`"))?;
    let tools = body.list("tools").unwrap_or_default();
    let fields = body.fields;
    let list = list_of(&messages);
    let mut reader = ChatRequestReader::default();
    reader.unknown.fields("", &fields, &OF_REQUEST);
    for message in messages {
        reader.message(&message);
    }
    let number = |name: &str| fields.get(name).and_then(|node| node.f64()).map(Finite::from);
    let limit = ["max_tokens", "max_completion_tokens"].iter().find_map(|name| fields.get(name));
    let schema = fields.fields("response_format").and_then(|format| format.fields("json_schema"));
    let mut request = Request::new(Role::Actor, reader.messages);
    request.messages.name_results();
    let mut defined: Vec<ToolDef> =
        tools.iter().filter_map(|it| tool(it, &mut reader.unknown)).collect();
    defined.extend(fields.items("functions").iter().filter_map(|it| function(&it.fields()?)));
    request.tools = defined.into();
    request.temperature = number("temperature");
    request.top_p = number("top_p");
    request.seed = fields.get("seed").and_then(|node| node.i64());
    request.max_tokens = limit.and_then(|node| node.u64()).and_then(|it| u32::try_from(it).ok());
    request.stop = texts(fields.get("stop"));
    request.schema = schema.and_then(|it| it.get("schema")).map(|it| it.value());
    request.allowed = allowed(&fields);
    Ok(IncomingRequest {
        request,
        model: fields.string("model").unwrap_or_default().into_owned(),
        streams: fields.get("stream").and_then(|node| node.bool()).unwrap_or_default(),
        forces_call: forces_call(&fields),
        prepares: false,
        calls: reader.calls,
        results: reader.results,
        failures: Vec::new(),
        list,
        before: 0,
        previous: None,
        unknown: reader.unknown.0,
    })
}

/// A text, or a list of texts.
pub(crate) fn texts(node: Option<JsonNode<'_>>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    match node.string() {
        Some(text) => vec![text.into_owned()],
        None => {
            let items = node.items().unwrap_or_default();
            items.iter().filter_map(|item| item.string().map(|text| text.into_owned())).collect()
        }
    }
}

/// Whether the model must call a tool.
fn forces_call(fields: &JsonFields<'_>) -> bool {
    let word = |fields: &JsonFields<'_>, name| fields.string(name).unwrap_or_default().into_owned();
    let is_named = |name| {
        fields.fields(name).is_some_and(|choice| match choice.string("type").as_deref() {
            // A list of tools, of which the model may have to call one. Some servers take it flat.
            Some("allowed_tools") => {
                let nested = choice.fields("allowed_tools");
                word(nested.as_ref().unwrap_or(&choice), "mode") == "required"
            }
            _ => choice.fields("function").is_some() || choice.get("name").is_some(),
        })
    };
    ["required", "any"].contains(&word(fields, "tool_choice").as_str())
        || ["tool_choice", "function_call"].into_iter().any(is_named)
}

fn allowed(fields: &JsonFields<'_>) -> Vec<ToolName> {
    let Some(choice) = fields.fields("tool_choice") else { return Vec::new() };
    // The vendor nests the list; some servers take it flat.
    let nested = choice.fields("allowed_tools");
    let tools = nested.map(|inner| inner.items("tools")).unwrap_or_else(|| choice.items("tools"));
    let name = |tool: &JsonNode<'_>| {
        Some(tool.fields()?.fields("function")?.string("name")?.as_ref().into())
    };
    tools.iter().filter_map(name).collect()
}

pub(crate) fn tool(item: &JsonItem<'_>, unknown: &mut Unknown) -> Option<ToolDef> {
    let fields = item.fields.as_ref()?;
    let kind = fields.string("type").unwrap_or_default();
    let Some(function) = fields.fields("function") else {
        unknown.add(format!("tools[].type={kind}"));
        return (!kind.is_empty()).then(|| schema::tool_without_schema(&kind));
    };
    self::function(&function)
}

/// A tool. Before there were tools, requests defined functions alone.
fn function(function: &JsonFields<'_>) -> Option<ToolDef> {
    Some(ToolDef {
        name: function.string("name")?.as_ref().into(),
        description: function.string("description").unwrap_or_default().into_owned(),
        parameters: function.get("parameters").map_or_else(|| json!({}), |it| it.value()).into(),
    })
}

/// Reads messages, also those of formats that resemble this one.
#[derive(Default)]
pub(crate) struct ChatRequestReader {
    pub messages: Vec<Message>,
    pub calls: Vec<Spot>,
    pub results: Vec<Spot>,
    pub unknown: Unknown,
    /// Known fields of messages besides those of this format.
    further: &'static [&'static str],
    /// Whether calls may lack ids, and results may name their tools instead, or nothing: they come in order.
    gives_ids: bool,
    /// The ids of the calls so far.
    called: Vec<String>,
    /// The number of results so far.
    returned: usize,
    /// The calls without a result so far that a result without an id may belong to, and their tools.
    open: Vec<(String, ToolName)>,
}

impl ChatRequestReader {
    /// A reader of a format whose calls may lack ids, and whose messages have these fields besides.
    pub fn with_fields(further: &'static [&'static str]) -> Self {
        Self { further, gives_ids: true, ..Self::default() }
    }

    /// Reads the next message.
    pub fn message(&mut self, item: &JsonItem<'_>) {
        let Some(fields) = &item.fields else { return self.unknown.add("messages[]") };
        let role = fields.string("role").unwrap_or_default();
        let (text, blocks) = self.content(fields.get("content"));
        let message = match role.as_ref() {
            "system" | "developer" => Message::system(with_labels(text, &blocks)),
            "assistant" => self.assistant(fields, text, blocks),
            "tool" | "function" => {
                let named = fields.get("tool_call_id").map(|_| fields.id("tool_call_id"));
                self.open.retain(|(id, _)| Some(id) != named.as_ref());
                let tool = fields.string("name").or_else(|| fields.string("tool_name"));
                let tool = ToolName::from(tool.unwrap_or_default().as_ref());
                let id = named.unwrap_or_else(|| self.answered(&tool));
                let (number, form) = (self.returned, SpotForm::Content);
                let range = fields.get("content").map(|node| node.range());
                self.results.extend(range.map(|range| Spot { number, range, form }));
                self.returned += 1;
                Message::Tool { id, tool, text, blocks, failed: false }
            }
            other => {
                if other != "user" {
                    self.unknown.add(format!("messages[].role={other}"));
                }
                Message::User { text, blocks }
            }
        };
        if role != "assistant" {
            self.unknown.fields("messages[].", fields, &[&OF_MESSAGE, self.further].concat());
        }
        self.messages.push(message);
    }

    /// The text of a content, and its blocks if it is more than one text.
    fn content(&mut self, content: Option<JsonNode<'_>>) -> (String, Vec<Block>) {
        let Some(content) = content else { return (String::new(), Vec::new()) };
        if let Some(text) = content.string() {
            return (text.into_owned(), Vec::new());
        }
        let (mut text, mut blocks) = (String::new(), Vec::new());
        for part in content.items().unwrap_or_default() {
            let known = part.fields();
            let kind = known.as_ref().and_then(|it| it.string("type")).unwrap_or_default();
            let said = known.as_ref().filter(|_| ["text", "refusal"].contains(&kind.as_ref()));
            match said.and_then(|fields| fields.string(&kind)) {
                Some(more) => {
                    text.push_str(&more);
                    blocks.push(Block::Text { bytes: more.len() });
                }
                None => {
                    let kept = match kind.as_ref() {
                        "image_url" => BlockKind::Image,
                        "file" => BlockKind::Document,
                        "input_audio" => BlockKind::Audio,
                        _ => {
                            self.unknown.add(format!("messages[].content[].type={kind}"));
                            BlockKind::Unknown
                        }
                    };
                    blocks.push(Block::kept(kept, part.value()));
                }
            }
        }
        let is_plain = matches!(blocks.as_slice(), [Block::Text { .. }]);
        (text, if is_plain { Vec::new() } else { blocks })
    }

    fn assistant(&mut self, fields: &JsonFields<'_>, text: String, blocks: Vec<Block>) -> Message {
        let refusal = fields.string("refusal").filter(|_| text.is_empty());
        let text = refusal.map_or(text, |refusal| refusal.into_owned());
        let mut source = ReplySource { blocks, ..ReplySource::default() };
        for (name, node) in fields.iter().filter(|(name, _)| !OF_MESSAGE.contains(name)) {
            let value = node.value();
            if is_of_thoughts(name, &value) {
                source.message.insert(name.to_owned(), value);
            } else if !self.further.contains(&name) {
                self.unknown.add(format!("messages[].{name}"));
            }
        }
        let calls = fields.items("tool_calls");
        let mut calls: Vec<ToolCall> =
            calls.iter().filter_map(|node| self.call(node, &mut source)).collect();
        if let Some(function) = fields.fields(OLD).filter(|_| calls.is_empty()) {
            let id = self.free_id();
            source.calls.insert(id.clone(), old_kind());
            let call = self.function_call(id, &function);
            self.open.push((call.id.clone(), call.tool.clone()));
            calls.push(call);
        }
        // Calls come after all other parts.
        if !source.blocks.is_empty() {
            source.blocks.extend(calls.iter().map(|call| Block::Call { id: call.id.clone() }));
        }
        // The ids of calls are the client's.
        let has_some = !calls.is_empty() || source != ReplySource::default();
        let source = has_some.then(|| Arc::new(source));
        Message::Assistant { text, calls, source }
    }

    fn call(&mut self, node: &JsonNode<'_>, source: &mut ReplySource) -> Option<ToolCall> {
        let fields = node.fields()?;
        let Some(function) = fields.fields("function") else {
            self.unknown.add("messages[].tool_calls[]");
            return None;
        };
        let mut id = fields.id("id");
        let mut kept = rest(&fields, &OF_CALL);
        let is_without = id.is_empty() && self.gives_ids;
        if is_without {
            id = self.free_id();
            kept.extend(given_here());
        }
        let inner = rest(&function, &OF_FUNCTION);
        if !inner.is_empty() {
            kept.insert("function".to_owned(), inner.into());
        }
        if !kept.is_empty() {
            source.calls.insert(id.clone(), kept);
        }
        let call = self.function_call(id, &function);
        if self.gives_ids {
            self.open.push((call.id.clone(), call.tool.clone()));
        }
        Some(call)
    }

    fn free_id(&self) -> String {
        FreeIds::beside(self.called.iter().map(String::as_str), "call").take()
    }

    /// A call of this function.
    fn function_call(&mut self, id: String, function: &JsonFields<'_>) -> ToolCall {
        let tool = ToolName::from(function.string("name").unwrap_or_default().as_ref());
        let given = function.get("arguments");
        let arguments = match given {
            None => json!({}),
            Some(node) => node.string().map_or_else(|| node.value(), |text| arguments::read(&text)),
        };
        let (number, form) = (self.called.len(), SpotForm::Content);
        self.calls.extend(given.map(|node| Spot { number, range: node.range(), form }));
        self.called.push(id.clone());
        ToolCall { id, tool, arguments }
    }

    /// The id of the call that a result of this function, which has no id, belongs to; empty if there is none.
    fn answered(&mut self, function: &ToolName) -> String {
        let is_unnamed = function.as_str().is_empty() && self.gives_ids;
        let at = self.open.iter().position(|(_, tool)| tool == function || is_unnamed);
        at.map(|at| self.open.remove(at).0).unwrap_or_default()
    }
}

/// The fields that are not among the known ones.
fn rest(fields: &JsonFields<'_>, known: &[&str]) -> serde_json::Map<String, Value> {
    let unknown = fields.iter().filter(|(name, node)| !known.contains(name) && !node.is_null());
    unknown.map(|(name, node)| (name.to_owned(), node.value())).collect()
}

/// A text with labels for the parts beside it.
fn with_labels(text: String, blocks: &[Block]) -> String {
    blocks.iter().filter_map(Block::label).fold(text, |text, label| text + "\n" + &label)
}
