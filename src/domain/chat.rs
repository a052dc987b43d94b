//! Model requests and replies, independent of any vendor. The model adapters translate.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, IntoStaticStr, VariantArray};

use crate::blocks::Block;
use crate::finite::Finite;
use crate::messages::Messages;
use crate::repair::Repair;
use crate::reply_source::ReplySource;
use crate::words::counted;
use crate::{id::ToolName, window::LeftOut};

/// The purpose of a model call. Each role is bound to a configured model and can be re-bound live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, Display, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Chooses the next tool call or the answer.
    Actor,
    /// Scores every tool of a finished trajectory (ToolNet, section 3.3).
    Evaluator,
    /// Explains after a failed attempt what to do differently (Reflexion).
    Reflector,
    /// Judges whether a result helped (BTP, section 2.4), and which of two steps promises more
    /// (Tree of Thoughts).
    Judge,
    /// Writes the whole plan before any tool is called (ReWOO; concurrent workers).
    Planner,
    /// Writes the answer from all plans and their evidence (ReWOO; concurrent workers).
    Solver,
    /// Sorts tools into classes (concurrent workers).
    Classifier,
    /// Writes a program over the tools (ATC).
    Programmer,
    /// Names the tool whose call made a program fail (ATC, section 4.2).
    Attributor,
    /// Writes programs that call a tool to learn what it returns, and chooses the tools that help (ATC, section 4.3).
    Prober,
    /// Says whether a final answer means the same as a right one. It measures the agent and is not part of it.
    Grader,
}

impl Role {
    pub fn all() -> impl Iterator<Item = Role> + Clone {
        Self::VARIANTS.iter().copied()
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether its model calls are work of the agent, which its task pays for.
    pub fn is_of_agent(self) -> bool {
        self != Role::Grader
    }
}

/// Complete model request: the model sees exactly this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub role: Role,
    pub messages: Messages,
    /// The menu, in the order in which the model sees it. Empty: no tools are offered.
    #[serde(default, skip_serializing_if = "is_none_offered")]
    pub tools: Arc<[ToolDef]>,
    /// Sampling temperature; `None` leaves it to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Finite>,
    /// Share of the probability from which tokens are drawn; `None` leaves it to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<Finite>,
    /// Seed of the endpoint's randomness; `None` leaves it to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Upper bound of the answer's length in tokens; `None` leaves it to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts at which the model must stop; they are not part of the answer. Text mode needs them,
    /// so that a model does not go on to invent its own observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// JSON Schema of the whole answer, for a model with structured output; `None`: free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// The subset of `tools` that may be called now, which the end of the messages also lists; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<ToolName>,
    /// Parts left out so that the request fits the model's context window; the messages mention them too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
}

impl Request {
    /// A request without tools, with the endpoint's own settings.
    pub fn new(role: Role, messages: impl Into<Messages>) -> Self {
        Self {
            role,
            messages: messages.into(),
            tools: Arc::default(),
            temperature: None,
            top_p: None,
            seed: None,
            max_tokens: None,
            stop: Vec::new(),
            schema: None,
            allowed: Vec::new(),
            left_out: None,
        }
    }
}

/// Message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Message {
    System {
        text: String,
    },
    User {
        text: String,
        /// Parts of the message, if it has more than text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        blocks: Vec<Block>,
    },
    /// A previous reply of the model itself, with the calls it requested.
    Assistant {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// Endpoint that wrote the message; `None` if no endpoint did, or if its reply is in an old journal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<Arc<ReplySource>>,
    },
    /// The observation that answers the assistant's call with this id.
    Tool {
        id: String,
        tool: ToolName,
        text: String,
        /// Parts of the message, if it has more than text.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        blocks: Vec<Block>,
        /// Whether the call failed, if the wire reports that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
}

impl Message {
    pub fn system(text: impl Into<String>) -> Self {
        Message::System { text: text.into() }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Message::User { text: text.into(), blocks: Vec::new() }
    }

    /// A reply without calls that no endpoint knows as its own.
    pub fn assistant(text: impl Into<String>) -> Self {
        Message::Assistant { text: text.into(), calls: Vec::new(), source: None }
    }

    /// Builds the message with the result of a call, as text.
    pub fn result(id: impl Into<String>, tool: ToolName, text: impl Into<String>) -> Self {
        let (id, text) = (id.into(), text.into());
        Message::Tool { id, tool, text, blocks: Vec::new(), failed: false }
    }

    /// Returns the parts of the message, if it has more than text and calls.
    pub fn blocks(&self) -> &[Block] {
        match self {
            Message::System { .. } => &[],
            Message::User { blocks, .. } | Message::Tool { blocks, .. } => blocks,
            Message::Assistant { source, .. } => source.as_deref().map_or(&[], |it| &it.blocks),
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Message::System { text }
            | Message::User { text, .. }
            | Message::Assistant { text, .. }
            | Message::Tool { text, .. } => text,
        }
    }
}

/// A tool as it is offered to a model. A weight, if shown, is part of the description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDef {
    pub name: ToolName,
    pub description: String,
    /// JSON Schema of the arguments (an object).
    pub parameters: Arc<Value>,
}

/// A call that a model requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The endpoint's id of this call; an arbitrary string, unique within one reply.
    pub id: String,
    pub tool: ToolName,
    /// The arguments as JSON; `Value::String` of the raw text where they were not valid JSON.
    pub arguments: Value,
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// Finished its answer.
    Stop,
    /// Requested tool calls.
    Calls,
    /// Ran into the token limit.
    Length,
    /// Refused by the model.
    Refused,
    /// Ended by a content filter.
    Filtered,
    /// Ended by a judge that reads along: a tool is to be called here (CoTools).
    Judged,
    /// Any other reason, in the endpoint's words.
    Other(String),
}

impl Finish {
    /// Whether the model was not done.
    pub fn is_cut(&self) -> bool {
        matches!(self, Finish::Length | Finish::Filtered)
    }

    /// Whether the endpoint only paused, and wants to be asked to go on with the same answer.
    pub fn is_pause(&self) -> bool {
        matches!(self, Finish::Other(reason) if ["pause_turn", "compaction"].contains(&reason.as_str()))
    }
}

/// The tokens and cost of a request. Tokens are counted by the endpoint, or estimated and marked
/// so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Part of `tokens_in` that the endpoint served from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// Part of `tokens_in` that the endpoint put into its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub written: u64,
    /// The endpoint sent no usage: the numbers were counted locally.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// US dollars, if the endpoint reports its charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<Finite>,
}

impl Usage {
    /// Usage from token numbers that were counted or assumed locally.
    pub fn estimate(tokens_in: u64, tokens_out: u64) -> Self {
        Self { tokens_in, tokens_out, estimated: true, ..Self::default() }
    }

    /// Whether the endpoint counted the input, and reports nothing about a cache.
    pub fn is_plain(&self) -> bool {
        !self.estimated && self.tokens_in > 0 && self.cached == 0 && self.written == 0
    }
}

fn is_none_offered(tools: &Arc<[ToolDef]>) -> bool {
    tools.is_empty()
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A model's reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    /// Reasoning that the endpoint returns separately from the answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    pub finish: Finish,
    pub usage: Usage,
    /// Endpoint that wrote the reply; `None` if no endpoint did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Arc<ReplySource>>,
    /// Parts of the reply that were read differently from how the endpoint sent them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

impl Reply {
    /// A reply without text in words: `2 tool calls`.
    pub fn without_text(&self) -> String {
        match self.calls.len() {
            0 => "(empty)".to_owned(),
            calls => counted(calls, "tool call"),
        }
    }

    /// A reply with only this text and without a charge.
    pub fn of_text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            reasoning: String::new(),
            calls: Vec::new(),
            finish: Finish::Stop,
            usage: Usage::default(),
            source: None,
            repairs: Vec::new(),
        }
    }

    /// Whether the reply has a call that cannot be read, so that its text is not an answer.
    pub fn is_unread(&self) -> bool {
        self.repairs.iter().any(|repair| matches!(repair, Repair::Unread { .. }))
    }

    /// Whether the reply has neither a text nor a call. It may have reasoning.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }

    /// The text; where there is none, the reasoning.
    pub fn said(&self) -> &str {
        match self.text.trim() {
            "" => self.reasoning.trim(),
            text => text,
        }
    }
}
