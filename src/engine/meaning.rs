//! The one request that an embedding model gets for a planned task: what the task's text means, so that
//! past tasks are compared with it by more than their words (sim of BTP, eq. 3 and 4).
//!
//! It is an effect like any other: held at the gate, paid from the task's budget, journaled with what
//! came of it. What was read is kept with the past uses, so that no text is paid for twice; thereby the
//! uses that the task leaves have their embedding too. Tasks that are not planned are read by
//! `toolyard experience embed`. Where there is no embedding, words are compared.

use std::{rc::Rc, time::Duration};

use tokio::time::Instant;

use super::{
    asking::dollars,
    core::{Core, Shared},
    planning::Memory,
};
use crate::{
    domain::{
        chat::Usage,
        embedding::Embedding,
        error::{ModelError, ModelErrorKind},
        event::{Boundary, Event, Lane},
        id::TaskId,
        spec::ModelSpec,
        state::budget::CENT,
        tokens,
    },
    model::{Model, openai::OpenAi},
    store::experience::Query,
};

/// A request in flight.
pub(super) struct Reading {
    task: TaskId,
    model: String,
    since: Instant,
}

/// Makes sure that the engine knows what the task's text means, if it can be known.
pub(super) async fn read(shared: &Shared, task: TaskId) {
    let Some((model, query)) = shared.write(|core| core.unread(task)) else { return };
    shared.pass(Lane::Agent, Boundary::BeforeModelCall).await;
    let limit = match shared.read(|core| core.affords_reading(task, model.spec(), &query)) {
        Ok(limit) => limit,
        Err(text) => return shared.emit(Event::Noticed { text }),
    };
    shared.write(|core| core.start_reading(task, model.model()));
    shared.stays_sound().await;
    let texts = [query.text().to_owned()];
    let outcome = shared.within_budget(limit, model.read(&texts)).await;
    shared.write(|core| match outcome {
        Ok(read) => {
            let dollars = dollars(&unasked_price(model.spec()), read.usage);
            let embedding = read.embeddings.into_iter().next();
            core.keep_reading(&query, embedding, read.usage, dollars);
        }
        Err(error) => core.fail_reading(error),
    });
    shared.pass(Lane::Agent, Boundary::AfterModelCall).await;
}

/// Nothing comes out of an embedding model that could have a price.
fn unasked_price(model: &ModelSpec) -> ModelSpec {
    ModelSpec { price_out: model.price_out.or(Some(0.0)), ..model.clone() }
}

impl Core {
    /// Who has to be asked what this task means; `None` where nobody is, or where it is known.
    fn unread(&mut self, task: TaskId) -> Option<(Rc<OpenAi>, Query)> {
        self.meaning = None;
        if !self.has_candidates(task) {
            return None;
        }
        let Memory { store, embedder, .. } = self.memory.as_ref()?;
        let model = Rc::clone(embedder.as_ref()?);
        let query = store.query(&self.state.task(task)?.task.text);
        // A store that cannot be read is said when it is planned from.
        self.meaning = store.embedding(query.text(), model.model()).ok().flatten();
        (self.meaning.is_none() && !query.text().is_empty()).then_some((model, query))
    }

    /// Whether the budget pays for it and for finishing behind it. A price that is not known counts as
    /// that of any request. How long it may take, where seconds cost something.
    fn affords_reading(
        &self,
        task: TaskId,
        model: &ModelSpec,
        query: &Query,
    ) -> Result<Option<Duration>, String> {
        let tokens = tokens::count(query.text()) as f64;
        let cost = self.state.rates.ask(model.price_in.map(|price| tokens * price / 1e6));
        let (reserve, left) = (self.beside_uses(task), self.state.credits_left());
        if cost + reserve + self.least_time() > left + CENT {
            return Err(format!(
                "asking the embedding model costs about {cost:.2} credits, {reserve:.2} are kept to \
                 finish, and {left:.2} are left; past tasks are compared by their words"
            ));
        }
        Ok(self.reading_time(task, cost))
    }

    fn start_reading(&mut self, task: TaskId, model: &str) {
        let model = model.to_owned();
        self.emit(Event::EmbeddingStarted { task, model: model.clone() });
        self.reading = Some(Reading { task, model, since: Instant::now() });
    }

    /// Says what was read, and keeps it for later tasks too.
    fn keep_reading(
        &mut self,
        query: &Query,
        embedding: Option<Embedding>,
        usage: Usage,
        dollars: Option<f64>,
    ) {
        let Some(Reading { task, model, since }) = self.reading.take() else { return };
        let vector = embedding.as_ref().map(|read| read.vector().to_vec()).unwrap_or_default();
        let micros = micros(since);
        self.emit(Event::EmbeddingFinished { task, model, usage, dollars, micros, vector });
        if let Some((memory, read)) = self.memory.as_mut().zip(embedding.as_ref())
            && let Err(error) = memory.store.keep_embeddings(&[(query.text(), read.clone())])
        {
            let text = format!("what the embedding model read was not kept: {error}");
            self.emit(Event::Noticed { text });
        }
        self.meaning = embedding;
    }

    fn fail_reading(&mut self, error: ModelError) {
        let Some(Reading { task, model, since }) = self.reading.take() else { return };
        self.emit(Event::EmbeddingFailed { task, model, error, micros: micros(since) });
    }

    /// The session ends while the model reads.
    pub fn stop_reading(&mut self) {
        self.fail_reading(ModelError::new(ModelErrorKind::Cancelled, "the session was stopped"));
    }
}

fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
