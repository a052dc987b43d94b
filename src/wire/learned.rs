//! Fields and words that an endpoint has refused, renamed or demanded: the codecs write requests accordingly.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::{roles, schema_words};

/// A field that some endpoints want in every call, or in every message with calls, even if another model wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// DeepSeek and Kimi: `reasoning_content` of a message. It may be empty.
    Reasoning,
    /// Gemini: the signature of the thought before a call. Google names this one for calls of other models.
    Signature,
    /// Anthropic and Bedrock: definitions of tools, wherever a message has a call.
    Tools,
    /// Templates such as Gemma's: no role of the system, and users and assistants in turn.
    Turns,
}

/// The fields of demands.
pub const DEMANDS: [(Demand, &str); 2] =
    [(Demand::Reasoning, "reasoning_content"), (Demand::Signature, "thought_signature")];
/// The signature that Google names for calls of other models.
pub(crate) const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Facts learned so far from the refusals of one model's endpoint.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    pub left_out: BTreeSet<String>,
    pub renamed: BTreeMap<String, String>,
    pub demands: BTreeSet<Demand>,
    /// Words that the schemas of tools leave out.
    pub words: BTreeSet<String>,
    /// Names of tools, as they are sent, that are left out.
    pub tools: BTreeSet<String>,
}

impl Learned {
    /// Returns the facts of an endpoint that has refused nothing yet.
    pub const fn new() -> Self {
        Self {
            left_out: BTreeSet::new(),
            renamed: BTreeMap::new(),
            demands: BTreeSet::new(),
            words: BTreeSet::new(),
            tools: BTreeSet::new(),
        }
    }

    pub fn leaves_out(&self, field: &str) -> bool {
        self.left_out.contains(field)
    }

    /// Removes or renames the fields of a body that were refused, and defines tools if the endpoint demands it.
    pub fn apply(&self, body: &mut Map<String, Value>) {
        for (field, other) in &self.renamed {
            if let Some(value) = body.shift_remove(field) {
                body.entry(other).or_insert(value);
            }
        }
        for field in &self.left_out {
            body.shift_remove(field);
        }
        schema_words::leave_out(body, &self.words);
        if self.demands.contains(&Demand::Turns) {
            roles::take_turns(body);
        }
        if self.leaves_out("stream") {
            body.shift_remove("stream_options");
        }
        if self.demands.contains(&Demand::Tools) && !body.contains_key("tools") {
            define_called(body);
        }
    }

    /// Adds the field that the endpoint demands in a message.
    pub fn complete_message(&self, message: &mut Map<String, Value>) {
        let (demand, field) = DEMANDS[0];
        let is_wanted = self.demands.contains(&demand) && !self.leaves_out(field);
        if is_wanted && message.contains_key("tool_calls") {
            message.entry(field).or_insert_with(|| "".into());
        }
    }

    /// Adds the field that the endpoint demands in a call.
    pub fn complete_call(&self, call: &mut Map<String, Value>) {
        let field = "extra_content";
        if self.demands.contains(&Demand::Signature) && !self.leaves_out(field) {
            let signature = json!({"google": {"thought_signature": NO_SIGNATURE}});
            call.entry(field).or_insert(signature);
        }
    }
}

/// Defines the tools that messages call, none of which may be called now.
fn define_called(body: &mut Map<String, Value>) {
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let calls = messages.flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let names = calls.filter_map(|call| call["function"]["name"].as_str().map(str::to_owned));
    let names: BTreeSet<String> = names.collect();
    if names.is_empty() {
        return;
    }
    let tool = |name: &String| {
        let parameters = json!({"type": "object", "properties": {}});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    };
    let tools: Vec<Value> = names.iter().map(tool).collect();
    body.insert("tools".into(), tools.into());
    body.entry("tool_choice").or_insert_with(|| "none".into());
}
