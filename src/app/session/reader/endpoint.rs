//! An endpoint of embeddings in place of the reader.
//!
//! It is called only while a query is ranked, which is an effect with a price: the request embeds the query, and some
//! tools without an embedding. So each tool is paid for once, and a query waits for at most one request. A tool without
//! an embedding is ranked by words.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use futures::stream::LocalBoxStream;
use futures::{FutureExt, future::LocalBoxFuture};
use tokio::sync::mpsc as news;

use super::means::{Means, Memory};
use super::news::ReaderNews;
use super::pool::Pool;
use super::reader_query::Asking;
use crate::domain::{
    Embedding, ModelError, ModelErrorKind, ModelSpec, ReaderAbout, ReaderEvent, ToolName, ToolSpec,
    Usage,
};
use crate::engine::{Query, Ranker, Scored};
use crate::model::{Embedder, Model};
use crate::papers::cotools::{ModelSize, Pooling, RecipeLayer, Retrieval, Use, tool_text};
use crate::store::states::{SharedStates, StatePlace, TextKey};

/// The most texts in a request; some servers accept no more.
const AT_ONCE: usize = 32;

/// Ranks tools by the embeddings of an endpoint.
pub(super) struct EndpointRanker {
    model: Rc<dyn Model>,
    cache: SharedStates,
    means: RefCell<Means>,
    /// Whether all tools are embedded before the first ranking.
    is_fresh: bool,
    domain: String,
    tools: RefCell<Vec<Arc<ToolSpec>>>,
    /// `None` until the width of the embeddings is known.
    pool: RefCell<Option<Pool>>,
    tell: news::UnboundedSender<ReaderEvent>,
    news: ReaderNews,
}

impl EndpointRanker {
    /// A ranker with this model, which can embed. `domain` names the queries that belong together.
    pub fn new(model: Rc<dyn Model>, cache: SharedStates, domain: &str, memory: Memory) -> Self {
        let (tell, news) = news::unbounded_channel();
        let spec = model.spec();
        let reader = ReaderAbout {
            model: spec.source.clone(),
            states: "embeddings".to_owned(),
            heads: Vec::new(),
            judge: None,
        };
        let _ = tell.send(ReaderEvent::HeadsLoaded { reader });
        let (domain, news) = (domain.to_owned(), ReaderNews::from(news));
        let (tools, pool) = (RefCell::default(), RefCell::default());
        let means = RefCell::new(Means::new(cache.clone(), memory));
        let is_fresh = memory == Memory::Fresh;
        Self { model, cache, means, is_fresh, domain, tools, pool, tell, news }
    }

    fn embedder(&self) -> Result<&dyn Embedder, ModelError> {
        let name = &self.model.spec().name;
        let text = || format!("{name} does not support embeddings");
        self.model.embedder().ok_or_else(|| ModelError::new(ModelErrorKind::Refused, text()))
    }

    /// The place of its vectors in the cache.
    fn place(&self) -> StatePlace {
        let model = self.embedder().map_or("", Embedder::model);
        StatePlace {
            model: format!("embeddings: {model}"),
            layer: RecipeLayer::Final,
            pooling: Pooling::Mean,
        }
    }

    /// The cached vectors of these texts.
    fn cached(&self, texts: &[String]) -> Vec<Option<Vec<f32>>> {
        let keys: Vec<_> = texts.iter().map(|text| TextKey::of(text)).collect();
        let found = self.cache.lock().get(&self.place(), &keys);
        // Vectors that cannot be read are computed again.
        found.unwrap_or_else(|_| vec![None; texts.len()])
    }

    /// Makes the pool of the present tools for vectors of this width, if there is none.
    fn ensure_pool(&self, width: usize) {
        if self.pool.borrow().is_some() {
            return;
        }
        let size = ModelSize { layers: 1, width, feed_forward: None };
        let retrieval = Retrieval::untrained(Use::Question, size);
        let mut pool = Pool::new(retrieval, None, self.tell.clone());
        pool.take(&self.tools.borrow(), |texts, _| self.cached(texts));
        self.pool.replace(Some(pool));
    }

    /// The next tools to embed, with their texts.
    fn next(&self) -> Vec<(ToolName, String)> {
        const MOST: usize = AT_ONCE - 1;
        match &*self.pool.borrow() {
            Some(pool) => pool.next(MOST),
            None => named(self.tools.borrow().iter().take(MOST)),
        }
    }

    async fn ranked(&self, query: Asking) -> Result<Scored, ModelError> {
        let text = format!("{}{}", query.question, query.answer.as_deref().unwrap_or_default());
        let known = || self.cached(std::slice::from_ref(&text)).pop().flatten();
        let (mut usage, mut notice, mut has_asked) = (Usage::default(), None, false);
        let state = loop {
            let query = match (known(), self.next()) {
                (Some(state), tools) if tools.is_empty() || has_asked && !self.is_fresh => {
                    break state;
                }
                (None, _) if has_asked => return Err(bad_answer(&"the cache lost them")),
                (state, tools) => self.embed(state.is_none().then_some(&text), tools),
            };
            let (more, said) = query.await?;
            add(&mut usage, &more);
            notice = notice.or(said);
            has_asked = true;
        };
        let scored = self.score(&query, &text, &state);
        Ok(Scored { usage, notice, ..scored.map_err(|why| bad_answer(&why))? })
    }

    /// Embeds a query, if it is not known, and these tools, and stores the vectors.
    async fn embed(
        &self,
        query: Option<&String>,
        tools: Vec<(ToolName, String)>,
    ) -> Result<(Usage, Option<String>), ModelError> {
        let (tools, mut texts): (Vec<_>, Vec<_>) = tools.into_iter().unzip();
        texts.extend(query.cloned());
        let answer = self.embedder()?.embed(&texts).await?;
        let vectors: Vec<_> = answer.embeddings.iter().map(direction).collect();
        let keys = texts.iter().map(|text| TextKey::of(text));
        let states: Vec<_> = keys.zip(vectors.iter().map(Vec::as_slice)).collect();
        self.cache.lock().put(&self.place(), &states).map_err(|why| bad_answer(&why))?;
        self.ensure_pool(vectors.first().map_or(0, Vec::len));
        if let Some(pool) = &mut *self.pool.borrow_mut() {
            for ((tool, text), vector) in tools.iter().zip(&texts).zip(&vectors) {
                // The tool may have changed or been removed in the meantime.
                if pool.is_text_of(text, tool) {
                    pool.insert(tool, [vector.as_slice()]).map_err(|why| bad_answer(&why))?;
                }
            }
            pool.say();
        }
        Ok((answer.usage, answer.notice))
    }

    /// The scores of the tools for a text, which counts as a query from now on.
    fn score(&self, query: &Asking, text: &str, state: &[f32]) -> Result<Scored, String> {
        self.ensure_pool(state.len());
        let domain = query.domain(&self.domain);
        let before = self.means.borrow_mut().ask(&domain, &self.place(), text, state);
        let before = before.map_err(|why| why.to_string())?;
        match &mut *self.pool.borrow_mut() {
            Some(pool) => pool.score(query, state, &before).map_err(|why| why.to_string()),
            None => Ok(Scored::default()),
        }
    }
}

fn add(sum: &mut Usage, more: &Usage) {
    sum.tokens_in = sum.tokens_in.saturating_add(more.tokens_in);
    sum.cached = sum.cached.saturating_add(more.cached);
    sum.estimated |= more.estimated;
    sum.dollars = match (sum.dollars, more.dollars) {
        (Some(one), Some(other)) => Some((one + other).into()),
        (one, other) => one.or(other),
    };
}

fn bad_answer(why: &dyn std::fmt::Display) -> ModelError {
    ModelError::new(ModelErrorKind::BadAnswer, format!("the embeddings are of no use: {why}"))
}

fn named<'a>(tools: impl Iterator<Item = &'a Arc<ToolSpec>>) -> Vec<(ToolName, String)> {
    tools
        .map(|tool| (tool.name.clone(), tool_text(tool.name.as_str(), &tool.description)))
        .collect()
}

/// The embedding as a vector of length 1.
fn direction(embedding: &Embedding) -> Vec<f32> {
    let numbers: Vec<f32> = embedding.vector().iter().map(|x| f32::from(*x)).collect();
    let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
    numbers.iter().map(|x| x / length).collect()
}

impl Ranker for EndpointRanker {
    fn spec(&self) -> &ModelSpec {
        self.model.spec()
    }

    fn endpoint(&self) -> Option<Rc<dyn Model>> {
        Some(Rc::clone(&self.model))
    }

    fn take_tools(&self, tools: Vec<Arc<ToolSpec>>) {
        self.tools.replace(tools);
        if let Some(pool) = &mut *self.pool.borrow_mut() {
            return pool.take(&self.tools.borrow(), |texts, _| self.cached(texts));
        }
        let texts: Vec<_> =
            named(self.tools.borrow().iter()).into_iter().map(|(_, text)| text).collect();
        // Another session may have embedded some of these texts.
        if let Some(state) = self.cached(&texts).into_iter().flatten().next() {
            self.ensure_pool(state.len());
        }
    }

    fn rank<'a>(&'a self, query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        self.ranked(query.into()).boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        self.news.stream()
    }
}
