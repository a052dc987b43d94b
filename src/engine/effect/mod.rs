//! Effects: everything that reaches a model, a tool or an embedding model, with one number, on one
//! path (see [`perform`]). Only files of this folder touch a model or a tool.

mod ask;
mod ended;
mod judging;
mod lively;
mod perform;
mod probe;
mod real;
mod request;
mod stream;

use std::{rc::Rc, sync::Arc};

use serde_json::Value;

pub(super) use self::{
    ask::{Caller, ask},
    perform::perform,
    probe::probe_models,
    request::{PendingEffect, occurrence, request, requested},
};
use super::{actor::Actor, ranker::Ranker};
use crate::domain::{
    Boundary, By, Embedding, EvidenceId, ModelError, ModelErrorKind, Ranking, Refusal, Reply,
    Request, Role, ToolError, ToolErrorKind, ToolName, ToolOutput, Usage,
};
use crate::model::Model;
use crate::strategy::{Before, Sought};

/// The action of an effect.
pub enum Effect {
    Model(ModelCall),
    Tool(ToolCall),
    Embedding(EmbeddingCall),
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
    /// A judge reads along: the text before what the model writes.
    pub judged: Option<Rc<Before>>,
}

/// A tool call.
pub struct ToolCall {
    pub step: u32,
    pub tool: ToolName,
    pub arguments: Value,
    pub evidence: Option<EvidenceId>,
    pub by: By,
    /// The line of the program that makes it.
    pub line: Option<u32>,
}

/// A text to embed.
pub struct EmbeddingCall {
    /// A model that has an embedder, or that of a reader.
    pub model: Rc<dyn Model>,
    pub text: String,
    /// Where the text is to find tools: who ranks them, and what the text is.
    pub ranker: Option<(Rc<dyn Ranker>, Sought)>,
}

/// The outcome of an effect.
#[derive(Clone, Debug)]
pub enum Outcome {
    Reply(Result<Arc<Reply>, ModelError>),
    Result(Result<ToolOutput, ToolError>),
    /// A tool call that did not run and cost nothing.
    Refused(Refusal, String),
    Embedded(Result<EmbeddingResult, ModelError>),
}

/// The embedding of a text, with its usage.
#[derive(Clone, Debug)]
pub struct EmbeddingResult {
    /// `None` if the vector has no direction, or if the text is to find tools.
    pub embedding: Option<Embedding>,
    /// How well tools fit the text, if that was asked.
    pub ranking: Option<Arc<Ranking>>,
    pub usage: Usage,
}

impl EmbeddingCall {
    /// The model, as its endpoint calls it.
    pub fn name(&self) -> String {
        let name = self.model.embedder().map(|model| model.model().to_owned());
        name.unwrap_or_else(|| self.model.spec().name.to_string())
    }
}

impl Effect {
    /// Who makes it: models are asked by runs only.
    pub fn actor(&self) -> Actor {
        match self {
            Effect::Tool(call) if call.by == By::User => Actor::Person,
            Effect::Tool(_) | Effect::Model(_) | Effect::Embedding(_) => Actor::Run,
        }
    }

    /// The boundary before it.
    pub fn before(&self) -> Boundary {
        match self {
            Effect::Model(_) => Boundary::BeforeModelCall,
            Effect::Tool(_) => Boundary::BeforeToolCall,
            Effect::Embedding(_) => Boundary::BeforeEmbedding,
        }
    }

    /// The boundary after it.
    pub fn after(&self) -> Boundary {
        match self {
            Effect::Model(_) => Boundary::AfterModelCall,
            Effect::Tool(_) => Boundary::AfterToolCall,
            Effect::Embedding(_) => Boundary::AfterEmbedding,
        }
    }

    /// The kind of effect.
    pub fn kind(&self) -> &'static str {
        match self {
            Effect::Model(_) => "model call",
            Effect::Tool(_) => "tool call",
            Effect::Embedding(_) => "embedding",
        }
    }

    /// The role, the tool, or the embedding model.
    pub fn name(&self) -> String {
        match self {
            Effect::Model(call) => call.role.to_string(),
            Effect::Tool(call) => call.tool.to_string(),
            Effect::Embedding(call) => call.model.spec().name.to_string(),
        }
    }

    /// The outcome when the user cancels it.
    pub fn cancelled(&self) -> Outcome {
        let error = || ModelError::new(ModelErrorKind::Cancelled, "cancelled by the user");
        match self {
            Effect::Model(_) => Outcome::Reply(Err(error())),
            Effect::Embedding(_) => Outcome::Embedded(Err(error())),
            Effect::Tool(_) => {
                let text = "the call was cancelled by the user";
                Outcome::Result(Err(ToolError::new(ToolErrorKind::Cancelled, text)))
            }
        }
    }
}

impl Outcome {
    /// The outcome in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Reply(Ok(_)) | Outcome::Result(Ok(_)) | Outcome::Embedded(Ok(_)) => "ok",
            Outcome::Reply(Err(_)) | Outcome::Result(Err(_)) | Outcome::Embedded(Err(_)) => {
                "failed"
            }
            Outcome::Refused(..) => "refused",
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
        let call = Effect::Tool(ToolCall { step: 1, tool, arguments, evidence, by, line });
        assert_eq!((call.kind(), call.name().as_str()), ("tool call", "echo"));
        let failed = Outcome::Result(Err(ToolError::new(ToolErrorKind::Failed, "it broke")));
        let refused = Outcome::Refused(Refusal::Denied, "no".into());
        let done = Outcome::Result(Ok(ToolOutput { text: "a".into(), cut_from: None }));
        assert_eq!([done, failed, refused].map(|it| it.name()), ["ok", "failed", "refused"]);
    }
}
