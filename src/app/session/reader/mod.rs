//! The reader of a session: a thread with a local model that ranks tools by their states, or an
//! endpoint of embeddings in its place.
//!
//! The thread opens the model, then answers queries at once, and encodes tools while nobody asks. So a
//! query waits for one tool at most, and the session never waits for the encoding.

mod endpoint;
mod judge;
mod means;
mod pool;
mod work;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt, future::LocalBoxFuture};
use tokio::sync::{mpsc as news, oneshot};

use self::endpoint::EndpointRanker;
use self::judge::ToJudge;
use self::work::Start;
use super::{SessionError, setup::embedding};
use crate::app::config::{self, ReaderSettings};
use crate::domain::{JudgedPiece, ModelError, ModelErrorKind, ReaderEvent, ToolSpec};
use crate::engine::{LocalReading, Query, Ranker, Scored};
use crate::model::Model;
use crate::store::states::StateCache;

pub use self::means::Memory;

/// The reader that the settings name; `None` if they name none. `domain` names the queries that belong
/// together, and have a mean of their own.
///
/// # Errors
/// The endpoint of embeddings, or the cache of their vectors, cannot be used.
pub fn of(
    settings: &ReaderSettings,
    domain: &str,
    memory: Memory,
) -> Result<Option<Rc<dyn Ranker>>, SessionError> {
    if let Some(file) = &settings.model {
        return Ok(Some(Rc::new(LocalRanker::new(file, &settings.heads, domain, memory))));
    }
    let Some(endpoint) = &settings.embeddings else { return Ok(None) };
    let cache = match config::default_states() {
        Some(path) => StateCache::open(&path),
        None => StateCache::in_memory(),
    };
    let cache = cache.map_err(SessionError::input)?;
    let model = embedding(endpoint)?;
    Ok(Some(Rc::new(EndpointRanker::new(model, cache.into(), domain, memory))))
}

/// A reader on a thread of its own, which ends with it.
struct LocalRanker {
    model: Rc<LocalReading>,
    asked: mpsc::Sender<Asked>,
    to_judge: mpsc::Sender<ToJudge>,
    news: News,
    cancelled: Arc<AtomicBool>,
}

enum Asked {
    Tools(Vec<Arc<ToolSpec>>),
    Rank { query: Asking, answer: oneshot::Sender<Result<Scored, String>> },
}

/// What a reader says beside the effects, until somebody listens.
struct News(RefCell<Option<news::UnboundedReceiver<ReaderEvent>>>);

impl From<news::UnboundedReceiver<ReaderEvent>> for News {
    fn from(news: news::UnboundedReceiver<ReaderEvent>) -> Self {
        Self(RefCell::new(Some(news)))
    }
}

impl News {
    /// The news from now on; nothing for a second listener.
    fn stream(&self) -> LocalBoxStream<'static, ReaderEvent> {
        let Some(news) = self.0.take() else { return stream::empty().boxed_local() };
        stream::unfold(news, |mut news| async move { Some((news.recv().await?, news)) })
            .boxed_local()
    }
}

/// A query that a thread can own.
struct Asking {
    question: String,
    answer: Option<String>,
    is_need: bool,
}

impl Asking {
    /// The domain of this query. Questions and thoughts are worded differently, and each kind has a
    /// mean of its own.
    fn domain(&self, workspace: &str) -> String {
        let kind = match self {
            Self { is_need: true, .. } => "needs",
            Self { answer: Some(_), .. } => "places",
            _ => "tasks",
        };
        format!("{workspace}: {kind}")
    }
}

impl From<Query<'_>> for Asking {
    fn from(query: Query<'_>) -> Self {
        let Query { question, answer, is_need } = query;
        Self { question: question.to_owned(), answer: answer.map(str::to_owned), is_need }
    }
}

impl LocalRanker {
    fn new(file: &Path, heads: &[PathBuf], domain: &str, memory: Memory) -> Self {
        let name = name(file);
        let (asked, orders) = mpsc::channel();
        let (to_judge, to_be_judged) = mpsc::channel();
        let (tell, news) = news::unbounded_channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let work = Start {
            file: file.to_owned(),
            heads: heads.to_owned(),
            name: name.clone(),
            domain: domain.to_owned(),
            memory,
            cancelled: Arc::clone(&cancelled),
        };
        std::thread::spawn(move || work.run(&orders, to_be_judged, &tell));
        let model = Rc::new(LocalReading::new(&name));
        Self { model, asked, to_judge, news: News::from(news), cancelled }
    }
}

/// The name of a model by its file.
fn name(file: &Path) -> String {
    file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

impl Drop for LocalRanker {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Ranker for LocalRanker {
    fn model(&self) -> Rc<dyn Model> {
        Rc::clone(&self.model) as Rc<dyn Model>
    }

    fn take_tools(&self, tools: Vec<Arc<ToolSpec>>) {
        // A thread that has ended has said why.
        let _ = self.asked.send(Asked::Tools(tools));
    }

    fn rank<'a>(&'a self, query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        let (answer, answered) = oneshot::channel();
        let _ = self.asked.send(Asked::Rank { query: query.into(), answer });
        async move {
            let gone = || "the reader has ended".to_owned();
            let answered = answered.await.unwrap_or_else(|_| Err(gone()));
            answered.map_err(|why| ModelError::new(ModelErrorKind::Refused, why))
        }
        .boxed_local()
    }

    fn judge<'a>(
        &'a self,
        query: Query<'a>,
        from: usize,
    ) -> LocalBoxFuture<'a, Option<Vec<JudgedPiece>>> {
        let (answer, answered) = oneshot::channel();
        // Without a judge, nobody takes it.
        let _ = self.to_judge.send(ToJudge { query: query.into(), from, answer });
        async move { answered.await.ok() }.boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        self.news.stream()
    }
}
