//! The ranker with a local model.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use futures::FutureExt;
use futures::{future::LocalBoxFuture, stream::LocalBoxStream};
use tokio::sync::{mpsc as news, oneshot};

use super::judge::ToJudge;
use super::means::Memory;
use super::news::ReaderNews;
use super::work::{ReaderRequest, ReaderStart};
use crate::domain::{JudgedPiece, ModelError, ModelErrorKind, ModelSpec, ReaderEvent, ToolSpec};
use crate::engine::{Query, Ranker, Scored, on_this_machine};

/// A reader on its own thread, which ends with the value.
pub(super) struct LocalRanker {
    spec: ModelSpec,
    asked: mpsc::Sender<ReaderRequest>,
    to_judge: mpsc::Sender<ToJudge>,
    news: ReaderNews,
    cancelled: Arc<AtomicBool>,
    /// The work of the thread; `None` once it has begun.
    start: RefCell<Option<Thread>>,
}

/// A thread that has not begun. The first request starts the thread, which opens the model.
type Thread = Box<dyn FnOnce() + Send>;

impl LocalRanker {
    pub fn new(file: &Path, heads: &[PathBuf], domain: &str, memory: Memory) -> Self {
        let name = name(file);
        let (asked, orders) = mpsc::channel();
        let (to_judge, to_be_judged) = mpsc::channel();
        let (tell, news) = news::unbounded_channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let work = ReaderStart {
            file: file.to_owned(),
            heads: heads.to_owned(),
            name: name.clone(),
            domain: domain.to_owned(),
            memory,
            cancelled: Arc::clone(&cancelled),
        };
        let start: Thread = Box::new(move || work.run(&orders, to_be_judged, &tell));
        let spec = on_this_machine(&name);
        let (news, start) = (ReaderNews::from(news), RefCell::new(Some(start)));
        Self { spec, asked, to_judge, news, cancelled, start }
    }

    fn begin(&self) {
        if let Some(start) = self.start.take() {
            std::thread::spawn(start);
        }
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
    fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    fn take_tools(&self, tools: Vec<Arc<ToolSpec>>) {
        self.begin();
        // An ended thread has already reported why.
        let _ = self.asked.send(ReaderRequest::Tools(tools));
    }

    fn rank<'a>(&'a self, query: Query<'a>) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        self.begin();
        let (answer, answered) = oneshot::channel();
        let _ = self.asked.send(ReaderRequest::Rank { query: query.into(), answer });
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
        self.begin();
        let (answer, answered) = oneshot::channel();
        // Without a judge, nobody receives this.
        let _ = self.to_judge.send(ToJudge { query: query.into(), from, answer });
        async move { answered.await.ok() }.boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        self.news.stream()
    }
}
