//! The reader of a session: a thread with a local model that ranks tools by their states.
//!
//! It opens the model, then answers queries at once, and encodes tools while nobody asks. So a query
//! waits for one tool at most, and the session never waits for the encoding.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt, future::LocalBoxFuture};
use tokio::sync::{mpsc as news, oneshot};

use crate::app::config::{self, ReaderSettings};
use crate::app::encoder::Encoder;
use crate::app::encoder::heads::LoadedHeads;
use crate::domain::{
    ModelError, ModelErrorKind, ReaderAbout, ReaderEvent, ToolName, ToolSpec, Usage,
};
use crate::engine::{LocalReading, Ranker, Scored};
use crate::model::Model;
use crate::papers::cotools::{Layer, Pooling, Retrieval, Use};

/// How often it says how many tools are encoded.
const SAID_EVERY: Duration = Duration::from_millis(500);

/// A reader on a thread of its own, which ends with it.
pub struct LocalRanker {
    model: Rc<LocalReading>,
    asked: mpsc::Sender<Asked>,
    news: Mutex<Option<news::UnboundedReceiver<ReaderEvent>>>,
    cancelled: Arc<AtomicBool>,
}

enum Asked {
    Tools(Vec<Arc<ToolSpec>>),
    Rank { text: String, answer: oneshot::Sender<Result<Scored, String>> },
}

impl LocalRanker {
    /// The reader that the settings name; `None` if they name none. `domain` names the queries that
    /// belong together, and have a mean of their own.
    pub fn new(settings: &ReaderSettings, domain: &str) -> Option<Self> {
        let file = settings.model.clone()?;
        let name = name(&file);
        let (asked, orders) = mpsc::channel();
        let (tell, news) = news::unbounded_channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let work = Start {
            file,
            heads: settings.heads.clone(),
            name: name.clone(),
            domain: domain.to_owned(),
            cancelled: Arc::clone(&cancelled),
        };
        std::thread::spawn(move || work.run(&orders, &tell));
        let model = Rc::new(LocalReading::new(&name));
        Some(Self { model, asked, news: Mutex::new(Some(news)), cancelled })
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

    fn rank<'a>(&'a self, text: &'a str) -> LocalBoxFuture<'a, Result<Scored, ModelError>> {
        let (answer, answered) = oneshot::channel();
        let _ = self.asked.send(Asked::Rank { text: text.to_owned(), answer });
        async move {
            let gone = || "the reader has ended".to_owned();
            let answered = answered.await.unwrap_or_else(|_| Err(gone()));
            answered.map_err(|why| ModelError::new(ModelErrorKind::Refused, why))
        }
        .boxed_local()
    }

    fn news(&self) -> LocalBoxStream<'static, ReaderEvent> {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(news) = news else { return stream::empty().boxed_local() };
        stream::unfold(news, |mut news| async move { Some((news.recv().await?, news)) })
            .boxed_local()
    }
}

/// What the thread begins with.
struct Start {
    file: PathBuf,
    heads: Vec<PathBuf>,
    name: String,
    domain: String,
    cancelled: Arc<AtomicBool>,
}

impl Start {
    fn run(self, orders: &mpsc::Receiver<Asked>, news: &news::UnboundedSender<ReaderEvent>) {
        let mut reading = match self.open() {
            Ok((reading, reader)) => {
                let _ = news.send(ReaderEvent::HeadsLoaded { reader });
                reading
            }
            Err(error) => {
                let _ = news.send(ReaderEvent::ReaderFailed { error: error.clone() });
                // Whoever asked meanwhile is told too.
                while let Ok(asked) = orders.recv() {
                    if let Asked::Rank { answer, .. } = asked {
                        let _ = answer.send(Err(error.clone()));
                    }
                }
                return;
            }
        };
        while !self.cancelled.load(Ordering::Relaxed) {
            let asked = match reading.open.is_empty() {
                true => orders.recv_timeout(Duration::from_secs(1)).map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
                false => orders.try_recv(),
            };
            match asked {
                Ok(Asked::Tools(tools)) => reading.take(&tools, news),
                Ok(Asked::Rank { text, answer }) => {
                    let _ = answer.send(reading.rank(&text));
                }
                Err(TryRecvError::Empty) => reading.encode_one(news),
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn open(&self) -> Result<(Reading, ReaderAbout), String> {
        let cache = config::default_states();
        let encoder = Encoder::open(&self.file, cache.as_deref()).map_err(|why| why.to_string())?;
        let heads = LoadedHeads::load(&self.heads, &encoder).map_err(|why| why.to_string())?;
        let retrieval = match heads.question {
            Some(heads) => Retrieval::trained(heads).map_err(|why| why.to_string())?,
            None => Retrieval::untrained(Use::Question, encoder.size()),
        };
        let about = ReaderAbout {
            model: self.name.clone(),
            states: place(retrieval.at()),
            heads: self.heads.iter().map(|file| name(file)).collect(),
            judges: heads.judge.is_some(),
        };
        let reading = Reading {
            encoder,
            retrieval,
            domain: self.domain.clone(),
            cancelled: Arc::clone(&self.cancelled),
            known: HashMap::new(),
            open: Vec::new(),
            said: None,
        };
        Ok((reading, about))
    }
}

/// Where states are taken, in words.
fn place((layer, pooling): (Layer, Pooling)) -> String {
    let layer = match layer {
        Layer::After(layer) => format!("layer {layer}"),
        Layer::Final => "final layer".to_owned(),
    };
    let pooling = match pooling {
        Pooling::Mean => "mean",
        Pooling::End => "end",
        Pooling::Token => "tokens",
    };
    format!("{layer} {pooling}")
}

/// The model at work.
struct Reading {
    encoder: Encoder,
    retrieval: Retrieval,
    domain: String,
    cancelled: Arc<AtomicBool>,
    /// The description of each tool.
    known: HashMap<ToolName, String>,
    /// Tools without a state, the next one last.
    open: Vec<ToolName>,
    said: Option<Instant>,
}

impl Reading {
    /// Takes over the tools that there are now. States from the cache are there at once.
    fn take(&mut self, tools: &[Arc<ToolSpec>], news: &news::UnboundedSender<ReaderEvent>) {
        let now: HashMap<&ToolName, &str> =
            tools.iter().map(|tool| (&tool.name, tool.description.as_str())).collect();
        let gone = self.known.keys().filter(|tool| !now.contains_key(tool));
        for tool in gone.cloned().collect::<Vec<_>>() {
            self.known.remove(&tool);
            self.retrieval.remove(tool.as_str());
        }
        let is_new = |tool: &&Arc<ToolSpec>| {
            self.known.get(&tool.name).is_none_or(|known| *known != tool.description)
        };
        let new: Vec<_> = tools.iter().filter(is_new).collect();
        let texts: Vec<_> =
            new.iter().map(|tool| (tool.name.as_str(), tool.description.as_str())).collect();
        let states = self.encoder.known_tools(&texts, self.retrieval.at());
        let states = states.unwrap_or_else(|_| vec![None; new.len()]);
        for (tool, state) in new.iter().zip(states) {
            self.known.insert(tool.name.clone(), tool.description.clone());
            let _ = self.retrieval.insert(tool.name.as_str(), state);
        }
        self.open = tools.iter().rev().map(|tool| tool.name.clone()).collect();
        self.open.retain(|tool| !self.retrieval.has_state(tool.as_str()));
        let _ = self.retrieval.prepare();
        self.said = None;
        self.say(news);
    }

    /// Encodes the next tool.
    fn encode_one(&mut self, news: &news::UnboundedSender<ReaderEvent>) {
        let Some(tool) = self.open.pop() else { return };
        let Some(description) = self.known.get(&tool) else { return };
        let text = [(tool.as_str(), description.as_str())];
        let at = self.retrieval.at();
        let states = self.encoder.tools(&text, at, &self.cancelled, &mut |_| {});
        match states {
            Ok(states) => {
                let _ = self.retrieval.insert(tool.as_str(), Some(states.row(0).to_vec()));
                self.say(news);
            }
            Err(why) if why.is_cancelled() => {}
            Err(why) => {
                self.open.clear();
                let _ = news.send(ReaderEvent::ReaderFailed { error: why.to_string() });
            }
        }
    }

    /// Says how many tools are encoded: now and then, and at the end.
    fn say(&mut self, news: &news::UnboundedSender<ReaderEvent>) {
        let is_due = self.said.is_none_or(|said| said.elapsed() >= SAID_EVERY);
        if is_due || self.open.is_empty() {
            let tools = self.known.len();
            let encoded = tools - self.open.len();
            let _ = news.send(ReaderEvent::ToolEncoded { encoded, tools });
            self.said = Some(Instant::now());
        }
    }

    /// The scores of the tools for a text, which counts as a query from now on.
    fn rank(&mut self, text: &str) -> Result<Scored, String> {
        let at = self.retrieval.at();
        let query = self.retrieval.query_text(text, "");
        let states =
            self.encoder.encode(std::slice::from_ref(&query), at, &self.cancelled, &mut |_| {});
        let states = states.map_err(|why| why.to_string())?;
        let before = self.encoder.mean(&self.domain, at).map_err(|why| why.to_string())?;
        let scores = self.retrieval.scores(states.row(0), before.mean());
        let scores = scores.map_err(|why| why.to_string())?;
        let added = self.encoder.add_query(&self.domain, at, &query, states.row(0));
        added.map_err(|why| why.to_string())?;
        let named = self.retrieval.tools().zip(scores.into_iter().flatten());
        let states = named.filter_map(|(tool, score)| Some((tool.into(), score?))).collect();
        Ok(Scored { queries: before.count(), states, usage: Usage::default() })
    }
}
