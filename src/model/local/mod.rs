//! A language model in a local file (GGUF). It shows real streaming and real probabilities of tokens without a
//! network. The models that it can read are too small to act, and every place that shows one says so.
//!
//! It answers one request after another, on a thread for blocking work. What a request has in common with the one
//! before is not read again. All uses of a file in a process share its weights.

mod answer;
mod chat;
mod draw;
mod stops;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::LocalBoxFuture;
use tokio::sync::{Mutex, mpsc};
use tokio::task::spawn_blocking;

use self::answer::{Open, failed};
pub use self::chat::ChatMl;
use super::{About, Model, Progress, Reachability};
use crate::domain::spec::TOO_SMALL;
use crate::domain::{
    Chance, ModelError, ModelErrorKind, ModelName, ModelSpec, Reply, Request, ToolMode,
};
use crate::reader::{Facts, LocalReader, Reader};

/// The longest answer in tokens, where nothing else is set.
const ANSWER_LIMIT: u32 = 512;

/// The file, and the limits and prices of its answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub path: PathBuf,
    /// The longest answer in tokens, unless a request says it: a small model that repeats itself does not stop.
    pub answer_limit: u32,
    /// US dollars per million tokens, in and out. It is free; a price is for demonstrations.
    pub price_in: f64,
    pub price_out: f64,
    /// The same for input that it has read before; `None`: as any other.
    pub price_cached: Option<f64>,
}

impl Settings {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            answer_limit: ANSWER_LIMIT,
            price_in: 0.0,
            price_out: 0.0,
            price_cached: None,
        }
    }
}

/// A model in a local file.
pub struct Local {
    spec: Arc<ModelSpec>,
    settings: Settings,
    seed: u64,
    /// Empty until it is needed. Who answers has it.
    open: Arc<Mutex<Option<Open>>>,
}

impl Local {
    /// A model whose file is opened at its first request.
    pub fn new(name: ModelName, settings: Settings, seed: u64) -> Self {
        let source = format!("{TOO_SMALL}: local file {}", settings.path.display());
        let spec = ModelSpec {
            small: true,
            mode: ToolMode::Text,
            price_in: Some(settings.price_in.into()),
            price_out: Some(settings.price_out.into()),
            price_cached: settings.price_cached.map(Into::into),
            price_written: None,
            price_from: Some("configuration".to_owned()),
            ..ModelSpec::new(name, source)
        };
        Self { spec: Arc::new(spec), settings, seed, open: Arc::default() }
    }

    /// The same model with its file opened now. Its context window is known, so that requests are made to fit.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has a model that is not supported.
    pub fn opened(self) -> Result<Self, ModelError> {
        let open = open(&self.settings.path)?;
        let context = u64::try_from(open.reader.facts().context).ok();
        let spec = Arc::new(ModelSpec { context, ..(*self.spec).clone() });
        Ok(Self { spec, open: Arc::new(Mutex::new(Some(open))), ..self })
    }

    /// A draw for this request: the same request has the same answer.
    fn chance(&self, request: &Request) -> Chance {
        let seed = request.seed.map_or(self.seed, i64::cast_unsigned);
        let mut chance = Chance::new(seed).with(request.role.name().as_bytes());
        for message in &request.messages {
            chance = chance.with(message.text().as_bytes());
        }
        chance
    }

    async fn run(
        &self,
        request: &Request,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Reply, ModelError> {
        let mut file = Arc::clone(&self.open).lock_owned().await;
        let (say, mut said) = mpsc::unbounded_channel();
        let (stop, request) = (StopWhenDropped::default(), request.clone());
        let (cancelled, chance) = (Arc::clone(&stop.0), self.chance(&request));
        let Settings { path, answer_limit, .. } = self.settings.clone();
        let answer = spawn_blocking(move || {
            let open = match &mut *file {
                Some(open) => open,
                none => none.insert(open(&path)?),
            };
            // Who no longer listens has also cancelled.
            let said = |text: &str| drop(say.send(text.to_owned()));
            let answer = open.answer(&request, answer_limit, chance, &cancelled, said);
            answer.map_err(|error| ModelError {
                text: format!("{}: {}", path.display(), error.text),
                ..error
            })
        });
        while let Some(text) = said.recv().await {
            progress(Progress::Text(text));
        }
        answer.await.unwrap_or_else(|_| Err(broke_off()))
    }
}

impl Model for Local {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.spec
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(Progress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(self.run(request, progress))
    }

    /// Opens the file, and keeps nothing of it.
    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reachability, ModelError>> {
        let path = self.settings.path.clone();
        Box::pin(async move {
            let opened =
                spawn_blocking(move || open(&path).map(|open| measures(open.reader.facts())));
            let measures = opened.await.unwrap_or_else(|_| Err(broke_off()))?;
            Ok(Reachability {
                is_sure: true,
                text: format!("{TOO_SMALL}; {measures}"),
                about: About::default(),
            })
        })
    }
}

/// The sizes of a model, for people.
pub fn measures(facts: &Facts) -> String {
    let Facts { layers, width, context, .. } = facts;
    format!("{layers} layers of width {width}, reads {context} tokens")
}

fn open(path: &Path) -> Result<Open, ModelError> {
    let reader = LocalReader::shared(path).map_err(failed)?;
    let chat = ChatMl::of(&reader).map_err(|why| {
        ModelError::new(ModelErrorKind::Refused, format!("{}: {why}", path.display()))
    })?;
    Ok(Open { reader, chat })
}

fn broke_off() -> ModelError {
    let text = "the thread of the local model ended early; ask again";
    ModelError::new(ModelErrorKind::BadAnswer, text)
}

/// Tells the thread that answers to end, once nobody waits for the answer.
#[derive(Default)]
struct StopWhenDropped(Arc<AtomicBool>);

impl Drop for StopWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
