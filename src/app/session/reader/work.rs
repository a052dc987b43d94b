//! The thread of a reader: it opens the model, ranks, and encodes tools while there is no query.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use tokio::sync::{mpsc as news, oneshot};

use super::judge::{ReadingAlong, ToJudge};
use super::means::{Means, Memory};
use super::pool::Pool;
use super::reader_query::Asking;
use crate::config;
use crate::domain::{ReaderAbout, ReaderEvent, ToolSpec};
use crate::encoder::Encoder;
use crate::encoder::heads::LoadedHeads;
use crate::engine::Scored;
use crate::papers::cotools::{HeadAbout, HeadFile, Pooling, RecipeLayer, Retrieval, Use};

/// A request to the thread.
pub(super) enum ReaderRequest {
    Tools(Vec<Arc<ToolSpec>>),
    Rank { query: Asking, answer: oneshot::Sender<Result<Scored, String>> },
}

/// The settings with which the thread begins.
pub(super) struct ReaderStart {
    pub file: PathBuf,
    pub heads: Vec<PathBuf>,
    pub name: String,
    pub domain: String,
    pub memory: Memory,
    pub cancelled: Arc<AtomicBool>,
}

impl ReaderStart {
    pub fn run(
        self,
        orders: &mpsc::Receiver<ReaderRequest>,
        to_be_judged: mpsc::Receiver<ToJudge>,
        news: &news::UnboundedSender<ReaderEvent>,
    ) {
        let mut reading = match self.open(news) {
            Ok((reading, judge, reader)) => {
                match judge {
                    Some(judge) => drop(std::thread::spawn(move || judge.run(&to_be_judged))),
                    // A request then fails at once, instead of waiting for an answer.
                    None => drop(to_be_judged),
                }
                let _ = news.send(ReaderEvent::HeadsLoaded { reader });
                reading
            }
            Err(error) => {
                drop(to_be_judged);
                let _ = news.send(ReaderEvent::ReaderFailed { error: error.clone() });
                // Requests from meanwhile and later fail with the same error.
                while let Ok(asked) = orders.recv() {
                    if let ReaderRequest::Rank { answer, .. } = asked {
                        let _ = answer.send(Err(error.clone()));
                    }
                }
                return;
            }
        };
        while !self.cancelled.load(Ordering::Relaxed) {
            let asked = match reading.pool.has_next() {
                false => orders.recv_timeout(Duration::from_secs(1)).map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
                true => orders.try_recv(),
            };
            match asked {
                Ok(ReaderRequest::Tools(tools)) => reading.take(&tools),
                Ok(ReaderRequest::Rank { query, answer }) => {
                    let _ = answer.send(reading.rank(&query));
                }
                Err(TryRecvError::Empty) => reading.encode_one(),
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn open(
        &self,
        news: &news::UnboundedSender<ReaderEvent>,
    ) -> Result<(ReaderWorker, Option<ReadingAlong>, ReaderAbout), String> {
        let cache = config::default_states();
        let encoder = Encoder::open(&self.file, cache.as_deref()).map_err(|why| why.to_string())?;
        let heads = LoadedHeads::load(&self.heads, &encoder).map_err(|why| why.to_string())?;
        let from = |heads: &Arc<HeadFile>| lesson(&heads.about);
        let learned = heads.question.iter().chain(&heads.here).map(from).collect();
        let judged = heads.judge.as_ref().map(from);
        let trained = |heads| Retrieval::trained(heads).map_err(|why| why.to_string());
        let question = match heads.question {
            Some(heads) => trained(heads)?,
            None => Retrieval::untrained(Use::Question, encoder.size()),
        };
        let here = heads.here.map(trained).transpose()?;
        let judge = heads
            .judge
            .map(|heads| ReadingAlong::new(encoder.clone(), heads, Arc::clone(&self.cancelled)));
        let about = ReaderAbout {
            model: self.name.clone(),
            states: place(question.at()),
            heads: learned,
            judge: judged,
        };
        let reading = ReaderWorker {
            means: Means::new(encoder.cache().clone(), self.memory),
            is_fresh: self.memory == Memory::Fresh,
            encoder,
            pool: Pool::new(question, here, news.clone()),
            domain: self.domain.clone(),
            cancelled: Arc::clone(&self.cancelled),
            news: news.clone(),
        };
        Ok((reading, judge, about))
    }
}

/// Describes the training data of heads: `STQuestions, 2556 examples`. The licence is in the file.
fn lesson(about: &HeadAbout) -> String {
    let data = about.data.split(" (").next().unwrap_or_default();
    format!("{data}, {} examples", about.examples)
}

/// The place of states, in words.
fn place((layer, pooling): (RecipeLayer, Pooling)) -> String {
    let layer = match layer {
        RecipeLayer::After(layer) => format!("layer {layer}"),
        RecipeLayer::Final => "final layer".to_owned(),
    };
    let pooling = match pooling {
        Pooling::Mean => "mean",
        Pooling::End => "end",
        Pooling::Token => "tokens",
    };
    format!("{layer} {pooling}")
}

/// The worker with the model.
struct ReaderWorker {
    encoder: Encoder,
    pool: Pool,
    means: Means,
    /// Whether all tools are encoded before the first ranking.
    is_fresh: bool,
    domain: String,
    cancelled: Arc<AtomicBool>,
    news: news::UnboundedSender<ReaderEvent>,
}

impl ReaderWorker {
    /// Takes over the present tools. Cached states are available at once.
    fn take(&mut self, tools: &[Arc<ToolSpec>]) {
        let Self { encoder, pool, .. } = self;
        pool.take(tools, |texts, at| {
            encoder.cached(texts, at).unwrap_or_else(|_| vec![None; texts.len()])
        });
    }

    /// Encodes the next tool.
    fn encode_one(&mut self) {
        let Some((tool, text)) = self.pool.next(1).pop() else { return };
        let at = self.pool.at();
        match self.encoder.encode_with(&[text], &at, &self.cancelled, &mut |_| {}) {
            Ok(states) => {
                // The width is always that of the model.
                let _ = self.pool.insert(&tool, states.iter().map(|states| states.row(0)));
                self.pool.say();
            }
            Err(why) if why.is_cancelled() => {}
            Err(why) => {
                self.pool.give_up();
                let _ = self.news.send(ReaderEvent::ReaderFailed { error: why.to_string() });
            }
        }
    }

    /// The scores of the tools for a text, which counts as a query from now on.
    fn rank(&mut self, query: &Asking) -> Result<Scored, String> {
        while self.is_fresh && self.pool.has_next() && !self.cancelled.load(Ordering::Relaxed) {
            self.encode_one();
        }
        let Self { encoder, pool, means, domain, cancelled, .. } = self;
        let (retrieval, domain) = (pool.retrieval(query), query.domain(domain));
        let at = retrieval.at();
        let answer = query.answer.as_deref().unwrap_or_default();
        let text = retrieval.query_text(&query.question, answer);
        let states = encoder.encode(std::slice::from_ref(&text), at, cancelled, &mut |_| {});
        let states = states.map_err(|why| why.to_string())?;
        let before = means.ask(&domain, &encoder.place(at), &text, states.row(0));
        let before = before.map_err(|why| why.to_string())?;
        pool.score(query, states.row(0), &before).map_err(|why| why.to_string())
    }
}
