//! The contents of a request: the conversation so far.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::parts::{SIGNATURE, SIGNATURES, kind};
use super::spelling::{either, is_among};
use crate::arguments;
use crate::asked::{Spot, SpotForm, Unknown};
use crate::assistant_message::{AssistantMessage, TextParts};
use crate::domain::blocks::{Block, BlockKind};
use crate::domain::{Message, ToolCall, ToolName};
use crate::ids::{FreeIds, given_here};
use crate::node::{JsonFields, JsonItem, JsonNode};

/// Fields of a text, and of the part of a call.
const TEXT: [&str; 3] = ["text", "thought", SIGNATURE];
const OF_CALL: [&str; 3] = ["functionCall", "thought", SIGNATURE];
const CALL: [&str; 3] = ["id", "name", "args"];
const RESULT: [&str; 6] = ["id", "name", "response", "parts", "willContinue", "scheduling"];

/// The conversation so far.
#[derive(Debug, Default)]
pub(super) struct ContentHistory {
    pub messages: Vec<Message>,
    pub calls: Vec<Spot>,
    pub results: Vec<Spot>,
    pub unknown: Unknown,
    /// The ids of all calls so far, and the number of results.
    ids: HashSet<String>,
    called: usize,
    returned: usize,
    /// The calls without a result so far.
    open: Vec<(String, ToolName)>,
    /// The message of the model that is not at its end: clients send a streamed answer back as several contents.
    said: AssistantMessage,
}

impl ContentHistory {
    /// The instructions: a text, or a content with a message for each of its texts.
    pub fn system(&mut self, system: &JsonNode<'_>) {
        if let Some(text) = system.string() {
            return self.messages.push(Message::System { text: text.into_owned() });
        }
        let parts = system.fields().map(|fields| fields.items("parts")).unwrap_or_default();
        for part in parts {
            match part.fields().and_then(|fields| fields.string("text")) {
                Some(text) if text.is_empty() => {}
                Some(text) => self.messages.push(Message::System { text: text.into_owned() }),
                None => self.unknown.add("systemInstruction.parts[]"),
            }
        }
    }

    /// The next content.
    pub fn content(&mut self, content: &JsonItem<'_>) {
        let Some(fields) = &content.fields else { return self.unknown.add("contents[]") };
        self.unknown.fields("contents[].", fields, &["role", "parts"]);
        let parts = fields.items("parts");
        match fields.string("role").as_deref() {
            Some("model") => self.model(&parts),
            Some("user" | "function" | "tool") | None => self.user(&parts),
            Some(role) => {
                self.unknown.add(format!("contents[].role={role}"));
                self.user(&parts);
            }
        }
    }

    /// Reads a content of the user, which has results. The rest before, between and after them is the user's own.
    fn user(&mut self, parts: &[JsonNode<'_>]) {
        self.end_of_model();
        let mut own = TextParts::default();
        for part in parts {
            let fields = part.fields();
            let result = fields.as_ref().and_then(|fields| either(fields, "functionResponse"));
            match result.and_then(|result| result.fields()) {
                Some(result) => {
                    self.end(std::mem::take(&mut own));
                    self.result(&result);
                }
                None => self.part(part, &mut own),
            }
        }
        self.end(own);
    }

    fn end(&mut self, own: TextParts) {
        if !own.blocks.is_empty() {
            let (text, blocks) = own.into_message();
            self.messages.push(Message::User { text, blocks });
        }
    }

    /// A part that is neither a call nor a result.
    fn part(&mut self, part: &JsonNode<'_>, parts: &mut TextParts) {
        let fields = part.fields();
        match fields.as_ref().and_then(|fields| fields.string("text")) {
            Some(text) => parts.add(&text),
            None => {
                let raw = part.value();
                parts.blocks.push(Block::kept(self.kind(&raw), raw));
            }
        }
    }

    /// The kind of a part that is kept. Unknown ones are counted.
    fn kind(&mut self, raw: &Value) -> BlockKind {
        let kind = kind(raw);
        if kind == BlockKind::Unknown {
            let name = raw.as_object().and_then(|fields| fields.keys().next());
            self.unknown.add(format!("contents[].parts[].{}", name.map_or("", String::as_str)));
        }
        kind
    }

    /// The result of a call. One without an id belongs to the first open call of its function. Where the client has left
    /// that call out, it gets the id which the call had: LiteLLM sends two equal calls once, and both results.
    fn result(&mut self, result: &JsonFields<'_>) {
        self.count("contents[].parts[].functionResponse.", result, &RESULT);
        let tool = ToolName::from(result.string("name").unwrap_or_default().as_ref());
        let id = result.string("id").filter(|id| !id.is_empty()).map(|id| id.into_owned());
        let at = match &id {
            Some(id) => self.open.iter().position(|(open, _)| open == id),
            None => self.open.iter().position(|(_, name)| *name == tool),
        };
        let known = at.map(|at| self.open.remove(at).0);
        let id = id.or(known).unwrap_or_else(|| self.free_id());
        self.ids.insert(id.clone());
        let number = self.returned;
        self.returned += 1;
        let (mut text, mut failed) = (String::new(), false);
        if let Some(response) = result.get("response") {
            let fields = response.fields();
            let only = fields.as_ref().and_then(only_text);
            failed = only.as_ref().is_some_and(|(name, ..)| name == "error");
            let (range, form) = match &only {
                Some((_, node, _)) => (node.range(), SpotForm::Content),
                None => (response.range(), SpotForm::Response),
            };
            text = only.map_or_else(|| response.value().to_string(), |(_, _, text)| text);
            self.results.push(Spot { number, range, form });
        }
        let mut parts = TextParts::default();
        parts.add(&text);
        result.items("parts").iter().for_each(|part| self.part(part, &mut parts));
        let (text, blocks) = parts.into_message();
        self.messages.push(Message::Tool { id, tool, text, blocks, failed });
    }

    fn free_id(&self) -> String {
        FreeIds::beside(self.ids.iter().map(String::as_str), "call").take()
    }

    fn model(&mut self, parts: &[JsonNode<'_>]) {
        let mut said = std::mem::take(&mut self.said);
        for part in parts {
            let fields = part.fields();
            let is_thought =
                fields.as_ref().and_then(|it| it.get("thought")?.bool()).unwrap_or(false);
            let call = fields.as_ref().and_then(|fields| either(fields, "functionCall")?.fields());
            let text = fields.as_ref().and_then(|fields| fields.string("text"));
            match (fields.as_ref(), call, text.filter(|_| !is_thought)) {
                (Some(fields), Some(call), _) => self.call(fields, &call, &mut said),
                (Some(fields), None, Some(text)) => {
                    self.count("contents[].parts[].", fields, &TEXT);
                    let signature = either(fields, SIGNATURE).map(|signature| signature.value());
                    said.text(&text, signature.unwrap_or_default());
                }
                _ => {
                    let raw = part.value();
                    said.keep(self.kind(&raw), raw);
                }
            }
        }
        self.said = said;
    }

    /// Ends the message of the model, if there is one.
    pub fn end_of_model(&mut self) {
        let (text, calls, source) = std::mem::take(&mut self.said).into_parts("", SIGNATURES);
        if !text.is_empty() || !calls.is_empty() || source.is_some() {
            self.messages.push(Message::Assistant { text, calls, source });
        }
    }

    fn call(&mut self, part: &JsonFields<'_>, call: &JsonFields<'_>, said: &mut AssistantMessage) {
        self.count("contents[].parts[].", part, &OF_CALL);
        self.count("contents[].parts[].functionCall.", call, &CALL);
        let mut beside = Map::new();
        if let Some(signature) = either(part, SIGNATURE) {
            beside.insert(SIGNATURE.to_owned(), signature.value());
        }
        let id = call.string("id").filter(|id| !id.is_empty()).map(|id| id.into_owned());
        let id = id.unwrap_or_else(|| {
            beside.extend(given_here());
            self.free_id()
        });
        self.ids.insert(id.clone());
        let tool = ToolName::from(call.string("name").unwrap_or_default().as_ref());
        let args = call.get("args");
        let number = self.called;
        let spot =
            |args: &JsonNode<'_>| Spot { number, range: args.range(), form: SpotForm::Object };
        self.calls.extend(args.as_ref().map(spot));
        self.called += 1;
        self.open.push((id.clone(), tool.clone()));
        // A value that is nested too deeply stays a text.
        let arguments = arguments::read(args.map_or("", |args| args.raw()));
        said.call(ToolCall { id, tool, arguments }, beside);
    }

    /// Counts the fields of an object that are not among the known ones, in either spelling.
    fn count(&mut self, place: &str, fields: &JsonFields<'_>, known: &[&str]) {
        for (name, _) in fields.iter().filter(|(name, _)| !is_among(name, known)) {
            self.unknown.add(format!("{place}{name}"));
        }
    }
}

/// The only field of a response, if that is a text: its name, its value, and the text.
fn only_text<'a>(fields: &JsonFields<'a>) -> Option<(String, JsonNode<'a>, String)> {
    let mut all = fields.iter();
    let (name, node) = all.next()?;
    let text = node.string().filter(|_| all.next().is_none())?;
    Some((name.to_owned(), node, text.into_owned()))
}
