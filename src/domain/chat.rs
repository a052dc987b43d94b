//! What a model is asked and what it answers, in no vendor's words. The model adapters translate.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{Display, IntoStaticStr, VariantArray};

use crate::domain::id::ToolName;

/// What a model is asked *for*. Each role is bound to a configured model and can be re-bound live.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    Display,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// Chooses the next tool call or the answer.
    Actor,
    /// Scores every tool of a finished trajectory (ToolNet, section 3.3).
    Evaluator,
    /// Says after a failed try what to do differently (Reflexion).
    Reflector,
    /// Says whether a result helped (BTP, section 2.4), and which of two steps promises more
    /// (Tree of Thoughts).
    Judge,
    /// Writes the whole plan before anything is called (ReWOO; concurrent workers).
    Planner,
    /// Makes the answer of all plans and their evidence (ReWOO; concurrent workers).
    Solver,
    /// Sorts tools into classes (concurrent workers).
    Classifier,
}

impl Role {
    pub fn all() -> impl Iterator<Item = Role> + Clone {
        Self::VARIANTS.iter().copied()
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One model request, whole: what is in here is what the model sees, and nothing else is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub role: Role,
    pub messages: Vec<Message>,
    /// The menu, in the order in which the model sees it. Empty: no tools are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDef>,
    /// Sampling temperature; `None` leaves it to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Upper bound of the answer's length in tokens; `None` leaves it to the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Texts at which the model is to stop, themselves not part of the answer. Text mode needs
    /// them, so that a model does not go on to invent its own observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<String>,
    /// JSON Schema of the whole answer, for a model that can be held to one; `None`: free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum Message {
    System {
        text: String,
    },
    User {
        text: String,
    },
    /// What the model itself said before, with the calls it asked for.
    Assistant {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The observation that answers the assistant's call with this id.
    Tool {
        id: String,
        tool: ToolName,
        text: String,
    },
}

impl Message {
    pub fn system(text: impl Into<String>) -> Self {
        Message::System { text: text.into() }
    }

    pub fn user(text: impl Into<String>) -> Self {
        Message::User { text: text.into() }
    }

    pub fn text(&self) -> &str {
        match self {
            Message::System { text }
            | Message::User { text }
            | Message::Assistant { text, .. }
            | Message::Tool { text, .. } => text,
        }
    }
}

/// A tool as it is offered to a model. A weight, where one is shown, is part of the description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDef {
    pub name: ToolName,
    pub description: String,
    /// JSON Schema of the arguments (an object).
    pub parameters: Arc<Value>,
}

/// A call that a model asks for.
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
    /// Said all it wanted to say.
    Stop,
    /// Wants tools called.
    Calls,
    /// Ran into the token limit.
    Length,
    /// Refused, or a filter did.
    Refused,
    /// Anything else, in the endpoint's words.
    Other(String),
}

/// What a request consumed. Tokens are counted by the endpoint, or estimated and marked so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Of `tokens_in`, those that the endpoint served from its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// The endpoint sent no usage: the numbers are counted here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// US dollars, where the endpoint itself says what it charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

impl Usage {
    /// So many tokens, counted or assumed here.
    pub fn estimate(tokens_in: u64, tokens_out: u64) -> Self {
        Self { tokens_in, tokens_out, estimated: true, ..Self::default() }
    }
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub text: String,
    /// Thinking that the endpoint shows apart from the answer.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reasoning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    pub finish: Finish,
    pub usage: Usage,
}
