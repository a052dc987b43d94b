//! The kinds of effects, and their outcomes.

use std::{rc::Rc, sync::Arc};

use serde_json::Value;

use crate::domain::{
    Boundary, By, Embedding, EvidenceId, ModelError, ModelErrorKind, ModelSpec, Ranking, Refusal,
    Reply, Request, Role, ToolError, ToolErrorKind, ToolName, ToolOutput, Usage,
};
use crate::model::{Model, relay::Relay};
use crate::strategy::{Before, Sought};
use crate::tool::Tool;
use crate::{actor::Actor, ranker::Ranker};

/// The action of an effect.
pub enum Effect {
    Model(ModelCall),
    Tool(ToolCall),
    Embedding(EmbeddingCall),
    Reading(ReadingCall),
}

/// A model call.
pub struct ModelCall {
    pub role: Role,
    pub model: Rc<dyn Model>,
    /// The strategy's request.
    pub meant: Arc<Request>,
    /// The request that the model sees: the same, in the form that it needs for tools.
    pub request: Arc<Request>,
    pub evidence: Option<EvidenceId>,
    /// The text before the model's output, if a judge reads along.
    pub judged: Option<Rc<Before>>,
    /// The relay that is the model, if a watched agent makes the call.
    pub guest: Option<Rc<Relay>>,
}

/// A tool call.
pub struct ToolCall {
    pub step: u32,
    pub tool: ToolName,
    pub arguments: Value,
    pub evidence: Option<EvidenceId>,
    pub by: By,
    /// The line of the program that makes the call.
    pub line: Option<u32>,
    /// The watched agent's part, if it makes the call and runs its tool.
    pub guest: Option<GuestCall>,
}

/// A call that a watched agent runs.
#[derive(Clone)]
pub struct GuestCall {
    /// The id of the call on the wire.
    pub id: Arc<str>,
    /// The tool that waits for the result.
    pub tool: Rc<dyn Tool>,
    /// Whether a relay has the call: the tool then runs only when the call is sent on.
    pub is_relayed: bool,
    /// Whether its result reaches the model in a request that cannot change, so that no fault acts on it.
    pub is_fixed: bool,
}

/// A text to embed.
pub struct EmbeddingCall {
    /// A model that has an embedder.
    pub model: Rc<dyn Model>,
    pub text: String,
}

/// A text by which a reader ranks tools. The journal has it as an embedding whose end has a ranking.
pub struct ReadingCall {
    pub ranker: Rc<dyn Ranker>,
    pub text: String,
    pub sought: Sought,
}

/// The outcome of an effect.
#[derive(Clone, Debug)]
pub enum Outcome {
    Reply(Result<Arc<Reply>, ModelError>),
    Result(Result<ToolOutput, ToolError>),
    /// A tool call that did not run and cost nothing.
    Refused(Refusal, String),
    Embedded(Result<Embedded, ModelError>),
    Ranked(Result<Ranked, ModelError>),
}

/// The embedding of a text, with its usage.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// `None` if the vector has no direction.
    pub embedding: Option<Embedding>,
    pub usage: Usage,
}

/// How well tools fit a text, with the usage of its reading.
#[derive(Clone, Debug)]
pub struct Ranked {
    pub ranking: Arc<Ranking>,
    pub usage: Usage,
}

impl Effect {
    /// The actor that makes the effect.
    pub fn actor(&self) -> Actor {
        match self {
            Effect::Tool(ToolCall { guest: Some(_), .. })
            | Effect::Model(ModelCall { guest: Some(_), .. }) => Actor::Guest,
            Effect::Tool(call) if call.by == By::User => Actor::Person,
            Effect::Tool(_) | Effect::Model(_) | Effect::Embedding(_) | Effect::Reading(_) => {
                Actor::Run
            }
        }
    }

    /// Whether the effect is a call that a relay sends on to the tool's server.
    pub fn is_relayed(&self) -> bool {
        matches!(self, Effect::Tool(ToolCall { guest: Some(guest), .. }) if guest.is_relayed)
    }

    /// Whether the effect is a call whose result nobody can change.
    pub fn is_fixed(&self) -> bool {
        matches!(self, Effect::Tool(ToolCall { guest: Some(guest), .. }) if guest.is_fixed)
    }

    /// Whether a watched agent gets an already known answer, which costs nothing.
    pub fn is_known(&self) -> bool {
        matches!(self, Effect::Model(ModelCall { guest: Some(relay), .. }) if relay.known_from().is_some())
    }

    /// The boundary before it.
    pub fn before(&self) -> Boundary {
        match self {
            Effect::Model(_) => Boundary::BeforeModelCall,
            Effect::Tool(_) => Boundary::BeforeToolCall,
            Effect::Embedding(_) | Effect::Reading(_) => Boundary::BeforeEmbedding,
        }
    }

    /// The boundary after it.
    pub fn after(&self) -> Boundary {
        match self {
            Effect::Model(_) => Boundary::AfterModelCall,
            Effect::Tool(_) => Boundary::AfterToolCall,
            Effect::Embedding(_) | Effect::Reading(_) => Boundary::AfterEmbedding,
        }
    }

    /// The kind of effect.
    pub fn kind(&self) -> &'static str {
        match self {
            Effect::Model(_) => "model call",
            Effect::Tool(_) => "tool call",
            Effect::Embedding(_) => "embedding",
            Effect::Reading(_) => "reading",
        }
    }

    /// The model that it calls, with its prices; a tool call has none.
    pub fn spec(&self) -> Option<&ModelSpec> {
        match self {
            Effect::Model(call) => Some(call.model.spec()),
            Effect::Embedding(call) => Some(call.model.spec()),
            Effect::Reading(call) => Some(call.ranker.spec()),
            Effect::Tool(_) => None,
        }
    }

    /// The role, the tool, the embedding model, or the reader.
    pub fn name(&self) -> String {
        match self {
            Effect::Model(call) => call.role.to_string(),
            Effect::Tool(call) => call.tool.to_string(),
            Effect::Embedding(call) => call.model.spec().name.to_string(),
            Effect::Reading(call) => call.ranker.spec().name.to_string(),
        }
    }

    /// The outcome when the user cancels it.
    pub fn cancelled(&self) -> Outcome {
        if matches!(self, Effect::Tool(_)) {
            let text = "the call was cancelled by the user";
            return Outcome::Result(Err(ToolError::new(ToolErrorKind::Cancelled, text)));
        }
        self.failed(ModelError::new(ModelErrorKind::Cancelled, "cancelled by the user"))
    }

    /// The outcome with this failure of its model.
    pub fn failed(&self, error: ModelError) -> Outcome {
        match self {
            Effect::Model(_) => Outcome::Reply(Err(error)),
            Effect::Embedding(_) => Outcome::Embedded(Err(error)),
            Effect::Reading(_) => Outcome::Ranked(Err(error)),
            Effect::Tool(_) => {
                Outcome::Result(Err(ToolError::new(ToolErrorKind::Failed, error.text)))
            }
        }
    }
}

impl Outcome {
    /// The outcome in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Refused(..) => "refused",
            Outcome::Reply(Ok(_))
            | Outcome::Result(Ok(_))
            | Outcome::Embedded(Ok(_))
            | Outcome::Ranked(Ok(_)) => "ok",
            Outcome::Reply(Err(_))
            | Outcome::Result(Err(_))
            | Outcome::Embedded(Err(_))
            | Outcome::Ranked(Err(_)) => "failed",
        }
    }

    /// Whether the effect was cancelled before it had ended.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Outcome::Reply(Err(error)) => error.kind == ModelErrorKind::Cancelled,
            Outcome::Result(Err(error)) => error.kind == ToolErrorKind::Cancelled,
            _ => false,
        }
    }

    /// The usage of its model; `None` if no model has answered.
    pub fn usage(&self) -> Option<&Usage> {
        match self {
            Outcome::Reply(Ok(reply)) => Some(&reply.usage),
            Outcome::Embedded(Ok(embedded)) => Some(&embedded.usage),
            Outcome::Ranked(Ok(ranked)) => Some(&ranked.usage),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_names_an_effect_and_its_outcome() {
        let (tool, by) = ("echo".into(), By::Engine);
        let (arguments, evidence, line) = (Value::Null, None, None);
        let call =
            Effect::Tool(ToolCall { step: 1, tool, arguments, evidence, by, line, guest: None });
        assert_eq!((call.kind(), call.name().as_str()), ("tool call", "echo"));
        let failed = Outcome::Result(Err(ToolError::new(ToolErrorKind::Failed, "it broke")));
        let refused = Outcome::Refused(Refusal::Denied, "no".into());
        let done = Outcome::Result(Ok(ToolOutput::of("a")));
        assert_eq!([done, failed, refused].map(|it| it.name()), ["ok", "failed", "refused"]);
    }
}
