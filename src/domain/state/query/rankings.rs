//! How well tools fit a text, as far as a reader was asked.

use crate::domain::id::ToolName;
use crate::domain::knob::Retrieve;
use crate::domain::retrieve::Ranking;
use crate::domain::state::{EmbeddingState, State};

impl State {
    /// The texts by which tools were looked for in this task, the newest first.
    pub fn rankings(&self) -> impl Iterator<Item = (&EmbeddingState, &Ranking)> {
        let task = self.shown_task().map(|task| task.id);
        let of_task =
            self.embeddings.iter().rev().take_while(move |read| Some(read.effect.task) == task);
        of_task.filter_map(|read| Some((read, read.ranking.as_deref()?)))
    }

    /// How well tools fit this text, if a reader said so in this task.
    pub fn ranking(&self, text: &str) -> Option<&Ranking> {
        self.rankings().find(|(read, _)| read.text == text).map(|(_, ranking)| ranking)
    }

    /// The tools that fit a text better than most by what the knobs say, best first, and whether
    /// a tool was compared at all. `None` where words alone decide.
    pub(in crate::domain) fn fitting(&self, text: &str) -> Option<Vec<(&ToolName, f32)>> {
        let (retrieve, mix) = self.knobs.retrieval();
        let ranking = self.ranking(text).filter(|ranking| ranking.has_states())?;
        if retrieve == Retrieve::Words {
            return None;
        }
        let ranked = ranking.ranked(retrieve, mix).into_iter();
        Some(ranked.map(|(tool, score)| (&tool.tool, score)).collect())
    }
}
