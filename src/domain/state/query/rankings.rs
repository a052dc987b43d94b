//! Rankings of tools by their fit to a text, as far as a reader has made them.

use std::sync::Arc;

use crate::id::{TaskId, ToolName};
use crate::knob::{Knob, Retrieve};
use crate::retrieve::Ranking;
use crate::state::{EmbeddingState, InTask, State};
use crate::strategy::Base;

impl State {
    /// The texts by which tools were searched in the task that is shown, newest first.
    pub fn rankings(&self) -> impl Iterator<Item = (&EmbeddingState, &Arc<Ranking>)> {
        self.rankings_of(self.shown_task().map(|task| task.id))
    }

    fn rankings_of(
        &self,
        task: Option<TaskId>,
    ) -> impl Iterator<Item = (&EmbeddingState, &Arc<Ranking>)> {
        let of_task =
            self.embeddings.iter().rev().filter(move |read| Some(read.effect.task) == task);
        of_task.filter_map(|read| Some((read, read.ranking.as_ref()?)))
    }

    /// The tools of a ranking that fit its text better than most by their states, best first, and the share of a menu
    /// that words find. That is the whole menu if no reader has ranked the tools, or if the knobs say so.
    pub(crate) fn fitting<'a>(
        &self,
        ranking: Option<&'a Ranking>,
    ) -> (Vec<(&'a ToolName, f32)>, f32) {
        let (retrieve, share) = self.knobs.retrieval();
        let ranking = ranking.filter(|ranking| ranking.has_states());
        let ranking = ranking.filter(|_| retrieve != Retrieve::Words);
        let Some(ranking) = ranking else { return (Vec::new(), 1.0) };
        let ranked = ranking.by_states().into_iter().map(|(tool, score)| (&tool.tool, score));
        // Words find only tools that share a word. Every tool has a state, so beside words only the closest states
        // count. CoTools calls a tool at a place in an answer that has no words of its own.
        let is_beside = retrieve == Retrieve::Both && self.strategy.base != Base::Cotools;
        let near = if is_beside { self.knobs.get(Knob::Near) as f32 } else { 0.0 };
        let best = ranked.clone().next().map_or(0.0, |(_, best)| best);
        let least = best * near;
        let close = ranked.take_while(|(_, score)| *score >= least).collect();
        // Untrained states find less than words, so they are used only where words find nothing.
        let is_trained = self.reader.as_ref().is_some_and(|reader| !reader.about.heads.is_empty());
        let share = if is_beside && !is_trained { 1.0 } else { retrieve.share_of_words(share) };
        (close, share)
    }
}

impl<'a> InTask<'a> {
    /// How well tools fit this text, if a reader said so in the task.
    pub fn ranking(&self, text: &str) -> Option<&'a Arc<Ranking>> {
        let task = self.current_task().or_else(|| self.state().shown_task());
        let mut rankings = self.state().rankings_of(task.map(|task| task.id));
        rankings.find(|(read, _)| read.text == text).map(|(_, ranking)| ranking)
    }
}
