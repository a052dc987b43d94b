//! The thread of a reader: it opens the model, ranks, and encodes tools while nobody asks.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc as news;

use super::judge::{ReadingAlong, ToJudge};
use super::{Asked, Asking};
use crate::app::config;
use crate::app::encoder::Encoder;
use crate::app::encoder::heads::LoadedHeads;
use crate::domain::{ReaderAbout, ReaderEvent, ToolMap, ToolName, ToolSpec, Usage};
use crate::engine::Scored;
use crate::papers::cotools::{
    HeadAbout, HeadFile, Layer, Map, Matrix, Pooling, Retrieval, Use, tool_text,
};

/// How often it says how many tools are encoded.
const SAID_EVERY: Duration = Duration::from_millis(500);

/// What the thread begins with.
pub(super) struct Start {
    pub file: PathBuf,
    pub heads: Vec<PathBuf>,
    pub name: String,
    pub domain: String,
    pub cancelled: Arc<AtomicBool>,
}

impl Start {
    pub fn run(
        self,
        orders: &mpsc::Receiver<Asked>,
        to_be_judged: mpsc::Receiver<ToJudge>,
        news: &news::UnboundedSender<ReaderEvent>,
    ) {
        let mut reading = match self.open() {
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
                // Requests that were made meanwhile, and later ones, fail with the same error.
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
                Ok(Asked::Rank { query, answer }) => {
                    let _ = answer.send(reading.rank(&query));
                }
                Err(TryRecvError::Empty) => reading.encode_one(news),
                Err(TryRecvError::Disconnected) => return,
            }
        }
    }

    fn open(&self) -> Result<(Reading, Option<ReadingAlong>, ReaderAbout), String> {
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
        let reading = Reading {
            encoder,
            question,
            here,
            domain: self.domain.clone(),
            cancelled: Arc::clone(&self.cancelled),
            map: None,
            known: HashMap::new(),
            open: Vec::new(),
            said: None,
        };
        Ok((reading, judge, about))
    }
}

/// What heads have learned from: `STQuestions, 2556 examples`. The licence is in the file.
fn lesson(about: &HeadAbout) -> String {
    let data = about.data.split(" (").next().unwrap_or_default();
    format!("{data}, {} examples", about.examples)
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

/// A map of fewer tools says nothing, and one of more has no room for its names.
const FEWEST_ON_MAP: usize = 3;
const MOST_ON_MAP: usize = 4_000;

fn spot(map: &Map, vector: &[f32]) -> Option<[f32; 2]> {
    Some(map.place(vector).ok()?.map(|x| x as f32))
}

/// The model at work.
struct Reading {
    encoder: Encoder,
    /// Which tools suit a question.
    question: Retrieval,
    /// Which one is called at a place of an answer; `None`: the same as for a question.
    here: Option<Retrieval>,
    domain: String,
    cancelled: Arc<AtomicBool>,
    /// The axes of the last map, and how many tools made them.
    map: Option<(Map, usize)>,
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
            self.uses().for_each(|retrieval| {
                retrieval.remove(tool.as_str());
            });
        }
        let is_new = |tool: &&Arc<ToolSpec>| {
            self.known.get(&tool.name).is_none_or(|known| *known != tool.description)
        };
        let new: Vec<_> = tools.iter().filter(is_new).collect();
        let texts: Vec<_> =
            new.iter().map(|tool| (tool.name.as_str(), tool.description.as_str())).collect();
        let Self { encoder, question, here, .. } = self;
        for retrieval in [question].into_iter().chain(here) {
            let states = encoder.known_tools(&texts, retrieval.at());
            let states = states.unwrap_or_else(|_| vec![None; new.len()]);
            for (tool, state) in new.iter().zip(states) {
                // The width is that of the model.
                let _ = retrieval.insert(tool.name.as_str(), state);
            }
        }
        for tool in new {
            self.known.insert(tool.name.clone(), tool.description.clone());
        }
        let mut open: Vec<_> = tools.iter().rev().map(|tool| tool.name.clone()).collect();
        open.retain(|tool| self.uses().any(|retrieval| !retrieval.has_state(tool.as_str())));
        self.open = open;
        self.uses().for_each(|retrieval| drop(retrieval.prepare()));
        self.said = None;
        self.say(news);
    }

    /// Encodes the next tool.
    fn encode_one(&mut self, news: &news::UnboundedSender<ReaderEvent>) {
        let Some(tool) = self.open.pop() else { return };
        let Some(description) = self.known.get(&tool) else { return };
        let text = [tool_text(tool.as_str(), description)];
        let Self { encoder, question, here, .. } = self;
        let mut uses: Vec<&mut Retrieval> = [question].into_iter().chain(here).collect();
        let at: Vec<_> = uses.iter().map(|retrieval| retrieval.at()).collect();
        match encoder.encode_with(&text, &at, &self.cancelled, &mut |_| {}) {
            Ok(states) => {
                for (retrieval, states) in uses.iter_mut().zip(states) {
                    let _ = retrieval.insert(tool.as_str(), Some(states.row(0).to_vec()));
                }
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
        if self.open.is_empty() {
            let map = self.draw().map(|map| ReaderEvent::ToolsMapped { map: Arc::new(map) });
            map.into_iter().for_each(|map| drop(news.send(map)));
        }
    }

    /// The map of the tools. Its axes are computed again if many tools came or went, so that a tool
    /// whose description changes moves, and the others stay.
    fn draw(&mut self) -> Option<ToolMap> {
        self.question.prepare().ok()?;
        let vectors: Vec<(&str, &[f32])> = self.question.vectors().collect();
        if vectors.len() < FEWEST_ON_MAP || vectors.len() > MOST_ON_MAP {
            return None;
        }
        let kept =
            self.map.take().filter(|(_, tools)| vectors.len().abs_diff(*tools) * 10 <= *tools);
        let (axes, made_by) = match kept {
            Some(kept) => kept,
            None => {
                let rows: Vec<_> = vectors.iter().map(|(_, vector)| *vector).collect();
                (Map::of(&Matrix::of_rows(&rows).ok()?), vectors.len())
            }
        };
        let place = |(tool, vector): (&str, &[f32])| Some((tool.into(), spot(&axes, vector)?));
        let tools = vectors.into_iter().filter_map(place).collect();
        let explained = axes.explained().map(|share| share as f32);
        self.map = Some((axes, made_by));
        Some(ToolMap { explained, tools })
    }

    fn uses(&mut self) -> impl Iterator<Item = &mut Retrieval> {
        [&mut self.question].into_iter().chain(&mut self.here)
    }

    /// The scores of the tools for a text, which counts as a query from now on.
    fn rank(&mut self, query: &Asking) -> Result<Scored, String> {
        let Self { encoder, question, here, domain, cancelled, map, .. } = self;
        let (retrieval, on_map) = match (&query.answer, here) {
            (Some(_), Some(here)) => (here, false),
            _ => (question, true),
        };
        // Questions and thoughts are worded differently, and each kind has a mean of its own.
        let kind = match query {
            Asking { is_need: true, .. } => "needs",
            Asking { answer: Some(_), .. } => "places",
            _ => "tasks",
        };
        let domain = format!("{domain}: {kind}");
        let at = retrieval.at();
        let answer = query.answer.as_deref().unwrap_or_default();
        let text = retrieval.query_text(&query.question, answer);
        let states = encoder.encode(std::slice::from_ref(&text), at, cancelled, &mut |_| {});
        let states = states.map_err(|why| why.to_string())?;
        let before = encoder.mean(&domain, at).map_err(|why| why.to_string())?;
        let scores = retrieval.scores(states.row(0), before.mean());
        let scores = scores.map_err(|why| why.to_string())?;
        let vector = retrieval.query_vector(states.row(0), before.mean()).ok();
        let vector = vector.filter(|_| on_map && scores.is_some());
        let place = map.as_ref().zip(vector).and_then(|((map, _), vector)| spot(map, &vector));
        let added = encoder.add_query(&domain, at, &text, states.row(0));
        added.map_err(|why| why.to_string())?;
        let named = retrieval.tools().zip(scores.into_iter().flatten());
        let states = named.filter_map(|(tool, score)| Some((tool.into(), score?))).collect();
        Ok(Scored { queries: before.count(), place, states, usage: Usage::default() })
    }
}
