//! The interface of the ranker, which ranks tools for a text by more than its words (CoTools, eq. 3 to 10).

use std::{collections::HashMap, rc::Rc, sync::Arc};

use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt, future, future::LocalBoxFuture};

use crate::domain::{
    JudgedPiece, ModelError, ModelErrorKind, ModelSpec, ReaderEvent, ToolName, ToolSpec, Usage,
};
use crate::model::Model;
use crate::strategy::Sought;

/// Ranks tools for texts. It belongs to one session, and works in parallel with it.
pub trait Ranker {
    /// The model that reads, with its name and its prices.
    fn spec(&self) -> &ModelSpec;

    /// The endpoint that it calls, if it has one: its key stays hidden in the output of tools.
    fn endpoint(&self) -> Option<Rc<dyn Model>> {
        None
    }

    /// Reports the current tools. The ranker encodes those that it does not know, in parallel with the session.
    fn take_tools(&self, tools: Vec<Arc<ToolSpec>>);

    /// How well the tools with a state fit this text, which then counts as a query. Never waits for tools to be
    /// encoded.
    ///
    /// # Errors
    /// The text cannot be read.
    fn rank<'a>(&'a self, query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>>;

    /// The probability of a call after each piece of an answer that ends after byte `from`, with ends relative to that
    /// byte (CoTools, eq. 3 and 4); `None` without a trained judge.
    fn judge<'a>(
        &'a self,
        _query: Query<'a>,
        _from: usize,
    ) -> LocalBoxFuture<'a, Option<Vec<JudgedPiece>>> {
        future::ready(None).boxed_local()
    }

    /// Events of the ranker besides its effects, until it is dropped. Called once.
    fn news(&self) -> LocalBoxStream<'static, ReaderEvent>;
}

/// A query for tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    pub question: &'a str,
    /// For a place in an answer: the answer so far.
    pub answer: Option<&'a str>,
    /// Whether the query is a thought or a need of an agent, not a question.
    pub is_need: bool,
}

impl<'a> Query<'a> {
    pub fn of(text: &'a str, sought: Sought) -> Self {
        let (question, answer) = match sought {
            Sought::Here { answer_at } => {
                let (question, answer) = text.split_at(answer_at);
                (question, Some(answer))
            }
            Sought::Task | Sought::Need | Sought::Tool => (text, None),
        };
        Self { question, answer, is_need: sought == Sought::Need }
    }
}

/// The scores of tools for a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// Number of earlier queries in the mean that was subtracted.
    pub queries: u64,
    /// A message about the endpoint for the user.
    pub notice: Option<String>,
    /// Scores by tool, in any unit; empty before enough queries were seen.
    pub states: HashMap<ToolName, f64>,
    pub usage: Usage,
}

/// A model with this name that reads on this machine: it costs nothing.
pub fn on_this_machine(name: &str) -> ModelSpec {
    let free = Some(0.0.into());
    ModelSpec { price_in: free, price_out: free, ..ModelSpec::new(name, "this machine") }
}

/// Replaces the reader of a recorded session if there is none: only recorded readings are answered.
pub(super) struct Absent(pub ModelSpec);

impl Ranker for Absent {
    fn spec(&self) -> &ModelSpec {
        &self.0
    }

    fn take_tools(&self, _tools: Vec<Arc<ToolSpec>>) {}

    fn rank<'a>(&'a self, _query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        let text = format!("the reader {} of the recorded session is not configured", self.0.name);
        future::ready(Err(ModelError::new(ModelErrorKind::Refused, text))).boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        stream::empty().boxed_local()
    }
}
