//! Tools ranked for a text by the states of a language model that reads, in addition to their words.

use std::collections::HashMap;

use crate::finite::Finite;
use serde::{Deserialize, Serialize};

use super::union::union;
use crate::{
    id::ToolName,
    knob::{Knob, Knobs, Retrieve},
};

/// How well tools fit a text, for a table of tools and for menus. It holds what the knobs `retrieve` and `mix` need, so
/// that turning them needs no new reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Earlier queries in the mean that is subtracted from this one.
    pub queries: u64,
    /// How many tools were compared, and how many of them had a state.
    pub pool: usize,
    pub encoded: usize,
    /// Correlation of the z-scores by words with those by states, 0 to 1. Tools without a state are estimated by it.
    pub slope: Finite<f32>,
    /// The best tools by states, and the best by words.
    pub tools: Vec<RankedTool>,
}

/// A tool of a ranking. Both scores are z-scores over all tools that were compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedTool {
    pub tool: ToolName,
    /// `None` for a tool without a state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub states: Option<Finite<f32>>,
    pub words: Finite<f32>,
}

/// How many of the best tools of each kind a ranking holds.
const HELD: usize = 32;

impl Ranking {
    /// From the scores of all tools: z-scores by states, where they are known, and by words.
    pub fn of(
        queries: u64,
        slope: f32,
        scored: impl IntoIterator<Item = (ToolName, Option<f32>, f32)>,
    ) -> Self {
        let tool = |(tool, states, words): (_, Option<f32>, f32)| RankedTool {
            tool,
            states: states.map(Finite::from),
            words: words.into(),
        };
        let mut tools: Vec<RankedTool> = scored.into_iter().map(tool).collect();
        let encoded = tools.iter().filter(|tool| tool.states.is_some()).count();
        let mut ranking =
            Self { queries, pool: tools.len(), encoded, slope: slope.into(), ..Self::default() };
        let mut held = Vec::new();
        for retrieve in [Retrieve::Words, Retrieve::States] {
            let score = |tool: &RankedTool| ranking.score(tool, retrieve);
            tools.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| a.tool.cmp(&b.tool)));
            held.extend(tools.drain(..tools.len().min(HELD)));
        }
        ranking.tools = held;
        ranking
    }

    /// The score of a tool by words, or else by states.
    fn score(&self, tool: &RankedTool, retrieve: Retrieve) -> f32 {
        match retrieve {
            Retrieve::Words => *tool.words,
            Retrieve::States | Retrieve::Both => {
                tool.states.map_or(self.slope * tool.words, f32::from)
            }
        }
    }

    /// The tools that fit better than most by their states, with their z-scores, best first, equal ones by name.
    pub fn by_states(&self) -> Vec<(&RankedTool, f32)> {
        let mut ranked = self.sorted(Retrieve::States);
        ranked.retain(|(_, score)| *score > 0.0);
        ranked
    }

    /// The same by words: the tools that share more words with the text than the worst tool.
    pub fn by_words(&self) -> Vec<(&RankedTool, f32)> {
        let mut ranked = self.sorted(Retrieve::Words);
        let worst = ranked.last().map_or(0.0, |(_, words)| *words);
        ranked.retain(|(_, words)| *words > worst);
        ranked
    }

    fn sorted(&self, retrieve: Retrieve) -> Vec<(&RankedTool, f32)> {
        let scored = self.tools.iter().map(|tool| (tool, self.score(tool, retrieve)));
        let mut scored: Vec<_> = scored.collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.tool.cmp(&b.0.tool)));
        scored
    }

    /// All tools, in the order in which a menu takes them.
    pub fn ranked(&self, retrieve: Retrieve, share: f32) -> Vec<&RankedTool> {
        let share = retrieve.share_of_words(share);
        let menu = union(named(self.by_words()), named(self.by_states()), share);
        let all = union(menu, named(self.sorted(retrieve)), 1.0);
        let tools: HashMap<_, _> = self.tools.iter().map(|tool| (&tool.tool, tool)).collect();
        all.filter_map(|(tool, _)| tools.get(tool).copied()).collect()
    }

    /// Whether states are usable: before enough queries were seen, or without encoded tools, words alone rank.
    pub fn has_states(&self) -> bool {
        self.encoded > 0
    }
}

fn named(ranked: Vec<(&RankedTool, f32)>) -> impl Iterator<Item = (&ToolName, f32)> {
    ranked.into_iter().map(|(tool, score)| (&tool.tool, score))
}

impl Retrieve {
    /// The share of a menu that words find; `share` where states find the rest.
    pub fn share_of_words(self, share: f32) -> f32 {
        match self {
            Retrieve::Words => 1.0,
            Retrieve::States => 0.0,
            Retrieve::Both => share,
        }
    }
}

impl Knobs {
    /// The method by which tools are found, and the share that words find.
    pub fn retrieval(&self) -> (Retrieve, f32) {
        (self.choice(), self.get(Knob::Mix) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ranking: &Ranking, retrieve: Retrieve, share: f32) -> Vec<&str> {
        ranking.ranked(retrieve, share).iter().map(|tool| tool.tool.as_str()).collect()
    }

    #[test]
    fn the_knobs_decide_on_the_order() {
        let ranking = Ranking::of(
            7,
            0.5,
            [
                ("a".into(), Some(2.0), -1.0),
                ("b".into(), Some(1.0), 3.0),
                ("c".into(), Some(-1.0), 2.5),
                ("new".into(), None, 2.0),
            ],
        );
        assert_eq!(names(&ranking, Retrieve::Words, 0.0), ["b", "c", "new", "a"]);
        // The new tool counts as 0.5 · 2 by states, and equal ones come by name.
        assert_eq!(names(&ranking, Retrieve::States, 0.0), ["a", "b", "new", "c"]);
        assert_eq!(names(&ranking, Retrieve::Both, 0.5), ["b", "a", "c", "new"]);
        assert_eq!(names(&ranking, Retrieve::Both, 1.0), ["b", "c", "new", "a"]);
        assert_eq!((ranking.pool, ranking.encoded), (4, 3));
        let only = |ranked: Vec<(&RankedTool, f32)>| -> Vec<String> {
            ranked.into_iter().map(|(tool, _)| tool.tool.to_string()).collect()
        };
        assert_eq!(only(ranking.by_words()), ["b", "c", "new"]);
        assert_eq!(only(ranking.by_states()), ["a", "b", "new"]);
    }

    #[test]
    fn the_best_of_both_kinds_are_held_once_each() {
        let all = (0..500).map(|i| {
            let (states, words) = (i as f32, (500 - i) as f32);
            (ToolName::from(format!("t{i:03}")), Some(states), words)
        });
        let ranking = Ranking::of(5, 0.0, all);
        assert_eq!((ranking.tools.len(), ranking.pool), (2 * HELD, 500));
        assert_eq!(names(&ranking, Retrieve::Words, 0.0)[0], "t000");
        assert_eq!(names(&ranking, Retrieve::States, 0.0)[0], "t499");
        assert_eq!(names(&ranking, Retrieve::Both, 0.5)[..3], ["t000", "t499", "t001"]);
        let few = Ranking::of(5, 0.0, [("a".into(), Some(1.0), 0.0)]);
        assert_eq!(few.tools.len(), 1);
    }
}
