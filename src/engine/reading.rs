//! Reading: a small model ranks the tools for a text by its states, beside the words (CoTools, eq. 6
//! to 10). What a text is read for is an embedding, on the path of every effect; the ranking is in its
//! end, so that a replay needs no model. Without a reader, or if it fails, words alone rank.

use std::{collections::HashMap, rc::Rc, sync::Arc};

use futures::stream::LocalBoxStream;
use futures::{FutureExt, StreamExt, future, future::LocalBoxFuture, stream};

use super::effect::{self, Effect, EmbeddingCall};
use super::lanes::Waits;
use super::{handle::Handle, session::Session};
use crate::domain::{
    Event, JudgedPiece, ModelError, ModelErrorKind, ModelSpec, Ranking, ReaderEvent, Record, Reply,
    Request, Retrieve, TaskId, ToolMode, ToolName, ToolSpec, Usage,
};
use crate::model::{Model, Progress};
use crate::papers::cotools;
use crate::strategy::Sought;

/// Ranks tools for texts. It belongs to one session, and works beside it.
pub trait Ranker {
    /// The model that reads: its name, and what reading costs.
    fn model(&self) -> Rc<dyn Model>;

    /// Says which tools there are now. It encodes those that it does not know, beside the session.
    fn take_tools(&self, tools: Vec<Arc<ToolSpec>>);

    /// How well the tools with a state fit this text, which counts as a query from then on. Never
    /// waits for tools to be encoded.
    ///
    /// # Errors
    /// The text cannot be read.
    fn rank<'a>(&'a self, query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>>;

    /// The probability of a call after each piece of an answer that ends behind byte `from`, with ends
    /// from there (CoTools, eq. 3 and 4); `None` without a trained judge.
    fn judge<'a>(
        &'a self,
        query: Query<'a>,
        from: usize,
    ) -> LocalBoxFuture<'a, Option<Vec<JudgedPiece>>>;

    /// What it has to say beside the effects, until it is dropped. Asked for once.
    fn news(&self) -> LocalBoxStream<'static, ReaderEvent>;
}

/// What tools are looked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<'a> {
    pub question: &'a str,
    /// For a place in an answer: the answer so far.
    pub answer: Option<&'a str>,
    /// Whether it is what an agent thinks or needs, and no question.
    pub is_need: bool,
}

impl<'a> Query<'a> {
    pub fn of(text: &'a str, sought: Sought) -> Self {
        let (question, answer) = match sought {
            Sought::Here { answer_at } => {
                let (question, answer) = text.split_at(answer_at);
                (question, Some(answer))
            }
            Sought::Task | Sought::Need => (text, None),
        };
        Self { question, answer, is_need: sought == Sought::Need }
    }
}

/// The scores of tools for a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scored {
    /// How many earlier queries are in the mean that was subtracted.
    pub queries: u64,
    /// Where the text is on the last map.
    pub place: Option<[f32; 2]>,
    /// By tool, in any unit; empty before enough queries were seen.
    pub states: HashMap<ToolName, f64>,
    pub usage: Usage,
}

/// A model that reads on this machine, for its name and its price: it costs nothing, and writes nothing.
pub struct LocalReading(Arc<ModelSpec>);

impl LocalReading {
    pub fn new(name: &str) -> Self {
        Self(Arc::new(ModelSpec {
            name: name.into(),
            source: "this machine".to_owned(),
            simulated: false,
            mode: ToolMode::default(),
            structured: false,
            price_in: Some(0.0),
            price_out: Some(0.0),
            price_cached: None,
            price_from: None,
            context: None,
        }))
    }

    fn error(&self) -> ModelError {
        ModelError::new(ModelErrorKind::Refused, format!("{} only reads", self.0.name))
    }
}

impl Model for LocalReading {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.0
    }

    fn ask<'a>(
        &'a self,
        _request: &'a Request,
        _progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        future::ready(Err(self.error())).boxed_local()
    }
}

/// Stands in for the reader of a recorded session where there is none: what it said is answered from
/// the record, and nothing else.
pub(super) struct Absent(pub String);

impl Ranker for Absent {
    fn model(&self) -> Rc<dyn Model> {
        Rc::new(LocalReading::new(&self.0))
    }

    fn take_tools(&self, _tools: Vec<Arc<ToolSpec>>) {}

    fn rank<'a>(&'a self, _query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        let text = format!("the reader {} of the recorded session is not configured", self.0);
        future::ready(Err(ModelError::new(ModelErrorKind::Refused, text))).boxed_local()
    }

    fn judge<'a>(
        &'a self,
        _query: Query<'a>,
        _from: usize,
    ) -> LocalBoxFuture<'a, Option<Vec<JudgedPiece>>> {
        future::ready(None).boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        stream::empty().boxed_local()
    }
}

/// What stands in for the reader of these records; `None` if nothing was read.
pub(super) fn of_record<'a>(
    records: impl IntoIterator<Item = &'a Record>,
) -> Option<Rc<dyn Ranker>> {
    records.into_iter().find_map(|record| match &record.event {
        Event::Reader(ReaderEvent::HeadsLoaded { reader }) => {
            let absent: Rc<dyn Ranker> = Rc::new(Absent(reader.model.clone()));
            Some(absent)
        }
        _ => None,
    })
}

/// Has a text read, if that is of use and was not done in this task.
pub(super) async fn read(handle: &Handle, task: TaskId, text: &str, sought: Sought) {
    let Some(call) = handle.read(|session| session.unread(task, text, sought)) else { return };
    let requested = handle.write(|session| {
        effect::request(session, task, Effect::Embedding(call), None, Waits::Agent)
    });
    effect::perform(handle, requested).await;
}

/// Records what the reader says beside the effects.
pub(super) fn watch(handle: &Handle) {
    let Some(ranker) = handle.read(|session| session.ranker.clone()) else { return };
    let mut news = ranker.news();
    let watched = handle.clone();
    handle.spawn(async move {
        while let Some(event) = news.next().await {
            watched.emit(event);
        }
    });
}

/// The scores as a ranking of the tools that are offered now, beside those by words.
pub(super) fn ranking(session: &Session, text: &str, scored: &Scored) -> Ranking {
    let words: HashMap<&ToolName, f32> = session.index.search(text).collect();
    let tools = session.state.offered_tools().map(|tool| {
        let name = &tool.spec.name;
        let words = words.get(name).copied().unwrap_or_default();
        (name.clone(), scored.states.get(name).copied(), f64::from(words))
    });
    let ranking = cotools::rank_tools(scored.queries, tools.collect());
    Ranking { place: scored.place, ..ranking }
}

impl Session {
    /// The call that reads this text; `None` where words alone rank, or if it was read in this task.
    fn unread(&self, task: TaskId, text: &str, sought: Sought) -> Option<EmbeddingCall> {
        let ranker = self.ranker.clone()?;
        let by_words = self.state.knobs.choice::<Retrieve>() == Retrieve::Words;
        let has_failed = self.state.reader.as_ref().is_some_and(|reader| reader.failed.is_some());
        if by_words || has_failed || text.trim().is_empty() {
            return None;
        }
        let model = ranker.model();
        let name = model.spec().name.as_str();
        let of_task = self.state.embeddings.iter().rev().take_while(|read| read.task == task);
        let is_known = of_task.into_iter().any(|read| read.text == text && read.model == name);
        (!is_known).then(|| EmbeddingCall {
            model,
            text: text.to_owned(),
            ranker: Some((ranker, sought)),
        })
    }

    /// Tells the reader which tools there are.
    pub fn tell_reader(&self) {
        if let Some(ranker) = &self.ranker {
            ranker.take_tools(self.tools.specs().cloned().collect());
        }
    }
}
