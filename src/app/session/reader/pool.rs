//! The tools of a session with their states.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::reader_query::Asking;
use crate::domain::{ReaderEvent, ToolName, ToolSpec};
use crate::engine::Scored;
use crate::papers::cotools::{BadShape, Pooling, RecipeLayer, Retrieval, RunningMean, tool_text};

/// Time between two reports of the number of encoded tools.
const SAID_EVERY: Duration = Duration::from_millis(500);

/// The tools of the session, and the retrievals that rank them.
pub(super) struct Pool {
    /// Retrieval of the tools that match a question.
    question: Retrieval,
    /// Retrieval of the tool to call at a place of an answer; `None`: the one for questions.
    here: Option<Retrieval>,
    news: UnboundedSender<ReaderEvent>,
    /// The description of each tool.
    known: HashMap<ToolName, String>,
    /// Tools without a state, the next one last.
    open: Vec<ToolName>,
    said: Option<Instant>,
}

impl Pool {
    pub fn new(
        question: Retrieval,
        here: Option<Retrieval>,
        news: UnboundedSender<ReaderEvent>,
    ) -> Self {
        Self { question, here, news, known: HashMap::new(), open: Vec::new(), said: None }
    }

    /// The states that a tool needs.
    pub fn at(&self) -> Vec<(RecipeLayer, Pooling)> {
        self.uses().map(Retrieval::at).collect()
    }

    fn uses(&self) -> impl Iterator<Item = &Retrieval> {
        [&self.question].into_iter().chain(&self.here)
    }

    fn uses_mut(&mut self) -> impl Iterator<Item = &mut Retrieval> {
        [&mut self.question].into_iter().chain(&mut self.here)
    }

    /// Takes over the present tools. `cached` has the known states of texts.
    pub fn take(
        &mut self,
        tools: &[Arc<ToolSpec>],
        cached: impl Fn(&[String], (RecipeLayer, Pooling)) -> Vec<Option<Vec<f32>>>,
    ) {
        let now: HashMap<&ToolName, &str> =
            tools.iter().map(|tool| (&tool.name, tool.description.as_str())).collect();
        let gone = self.known.keys().filter(|tool| !now.contains_key(tool));
        for tool in gone.cloned().collect::<Vec<_>>() {
            self.known.remove(&tool);
            self.uses_mut().for_each(|retrieval| {
                retrieval.remove(tool.as_str());
            });
        }
        let is_new = |tool: &&Arc<ToolSpec>| {
            self.known.get(&tool.name).is_none_or(|known| *known != tool.description)
        };
        let new: Vec<_> = tools.iter().filter(is_new).collect();
        let text = |tool: &&Arc<ToolSpec>| tool_text(tool.name.as_str(), &tool.description);
        let texts: Vec<_> = new.iter().map(text).collect();
        for retrieval in self.uses_mut() {
            for (tool, state) in new.iter().zip(cached(&texts, retrieval.at())) {
                // A state of another width does not count.
                if retrieval.insert(tool.name.as_str(), state).is_err() {
                    let _ = retrieval.insert(tool.name.as_str(), None);
                }
            }
        }
        for tool in new {
            self.known.insert(tool.name.clone(), tool.description.clone());
        }
        let mut open: Vec<_> = tools.iter().rev().map(|tool| tool.name.clone()).collect();
        open.retain(|tool| self.uses().any(|retrieval| !retrieval.has_state(tool.as_str())));
        self.open = open;
        self.uses_mut().for_each(|retrieval| drop(retrieval.prepare()));
        self.said = None;
        self.say();
    }

    /// Whether a tool lacks states.
    pub fn has_next(&self) -> bool {
        !self.open.is_empty()
    }

    /// The next tools without states, this many at most, with the texts that stand for them.
    pub fn next(&self, most: usize) -> Vec<(ToolName, String)> {
        let text =
            |tool: &ToolName| Some((tool.clone(), tool_text(tool.as_str(), self.known.get(tool)?)));
        self.open.iter().rev().take(most).filter_map(text).collect()
    }

    /// Whether this text still stands for the tool.
    pub fn is_text_of(&self, text: &str, tool: &ToolName) -> bool {
        self.known.get(tool).is_some_and(|known| tool_text(tool.as_str(), known) == text)
    }

    /// Leaves the tools without states to words.
    pub fn give_up(&mut self) {
        self.open.clear();
    }

    /// Takes the states of a tool, one for each use.
    ///
    /// # Errors
    /// A state has another width.
    pub fn insert<'a>(
        &mut self,
        tool: &ToolName,
        states: impl IntoIterator<Item = &'a [f32]>,
    ) -> Result<(), BadShape> {
        for (retrieval, state) in self.uses_mut().zip(states) {
            retrieval.insert(tool.as_str(), Some(state.to_vec()))?;
        }
        self.open.retain(|open| open != tool);
        Ok(())
    }

    /// Reports how many tools are encoded: now and then, and at the end.
    pub fn say(&mut self) {
        let is_due = self.said.is_none_or(|said| said.elapsed() >= SAID_EVERY);
        if is_due || self.open.is_empty() {
            let tools = self.known.len();
            let encoded = tools - self.open.len();
            let _ = self.news.send(ReaderEvent::ToolEncoded { encoded, tools });
            self.said = Some(Instant::now());
        }
    }

    /// Returns the retrieval that ranks tools for this query.
    pub fn retrieval(&self, query: &Asking) -> &Retrieval {
        match (&query.answer, &self.here) {
            (Some(_), Some(here)) => here,
            _ => &self.question,
        }
    }

    /// The scores of the tools for a query with this state, in a domain with this mean. They do not include the usage
    /// of reading the query.
    ///
    /// # Errors
    /// The state or the mean has another width.
    pub fn score(
        &mut self,
        query: &Asking,
        state: &[f32],
        mean: &RunningMean,
    ) -> Result<Scored, BadShape> {
        let retrieval = match (&query.answer, &mut self.here) {
            (Some(_), Some(here)) => here,
            _ => &mut self.question,
        };
        let scores = retrieval.scores(state, mean.mean())?;
        let named = retrieval.tools().zip(scores.into_iter().flatten());
        let states = named.filter_map(|(tool, score)| Some((tool.into(), score?))).collect();
        Ok(Scored { queries: mean.count(), states, ..Scored::default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use crate::papers::cotools::{ModelSize, Use};

    const SIZE: ModelSize = ModelSize { layers: 1, width: 2, feed_forward: None };

    fn pool() -> (Pool, UnboundedReceiver<ReaderEvent>) {
        let (tell, told) = unbounded_channel();
        (Pool::new(Retrieval::untrained(Use::Question, SIZE), None, tell), told)
    }

    fn tools(all: &[(&str, &str)]) -> Vec<Arc<ToolSpec>> {
        let tool = |(name, description): &(&str, &str)| {
            let about = json!({
                "name": name, "description": description, "parameters": {}, "effect": "read",
                "class": "", "timeout_ms": 1_000, "source": "test",
            });
            Arc::new(serde_json::from_value(about).unwrap())
        };
        all.iter().map(tool).collect()
    }

    fn nothing(texts: &[String], _: (RecipeLayer, Pooling)) -> Vec<Option<Vec<f32>>> {
        vec![None; texts.len()]
    }

    fn open(pool: &Pool) -> Vec<String> {
        pool.next(9).into_iter().map(|(tool, _)| tool.to_string()).collect()
    }

    #[test]
    fn tools_are_encoded_in_their_order_and_again_when_their_description_changes() {
        let (mut pool, _told) = pool();
        pool.take(&tools(&[("a", "A."), ("b", "B."), ("c", "C.")]), nothing);
        assert_eq!(
            (open(&pool), pool.next(1).len()),
            (vec!["a".into(), "b".into(), "c".into()], 1)
        );
        let (tool, text) = pool.next(1).remove(0);
        assert!(pool.is_text_of(&text, &tool));
        pool.insert(&tool, [&[1.0, 0.0][..]]).unwrap();
        assert_eq!(open(&pool), ["b", "c"]);
        pool.take(&tools(&[("a", "Another."), ("c", "C.")]), nothing);
        assert_eq!(open(&pool), ["a", "c"]);
        assert!(!pool.is_text_of(&text, &tool), "it is the text of the old description");
        assert!(!pool.is_text_of("tool name: b, tool description: B.", &"b".into()), "it has left");
        assert!(pool.insert(&"c".into(), [&[1.0][..]]).is_err(), "of another width");
    }

    #[test]
    fn states_from_the_cache_are_there_at_once_if_they_have_the_width() {
        let (mut pool, mut told) = pool();
        let cached = |texts: &[String], _: (RecipeLayer, Pooling)| {
            let state = |text: &String| match text.contains("wide") {
                true => Some(vec![1.0, 2.0, 3.0]),
                false => Some(vec![text.len() as f32, 1.0]),
            };
            texts.iter().map(state).collect::<Vec<_>>()
        };
        pool.take(&tools(&[("a", "A."), ("wide", "W."), ("long", "Long.")]), cached);
        assert_eq!(open(&pool), ["wide"]);
        let encoded = |event: Option<ReaderEvent>| match event {
            Some(ReaderEvent::ToolEncoded { encoded, tools }) => Some((encoded, tools)),
            _ => None,
        };
        assert_eq!(encoded(told.try_recv().ok()), Some((2, 3)));
        pool.insert(&"wide".into(), [&[3.0, 1.0][..]]).unwrap();
        pool.say();
        assert_eq!(encoded(told.try_recv().ok()), Some((3, 3)));
    }
}
