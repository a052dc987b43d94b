//! What a plan is made of (BTP, section 2.2): the tools that a task may be done with, and what is
//! expected of each. A session and `toolyard plan --task` choose and value them in this one way.

use crate::{
    budget::{Estimate, Evidence, Mode},
    experience::{Experience, ExperienceError, Helped, History, Query, Same},
    id::ToolName,
    knob::{Knob, Knobs},
    retrieve::Lexical,
    state::State,
};

/// Where the past of a task is looked up.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    pub store: &'a Experience,
    pub query: &'a Query,
    /// Whether the past of the very task counts.
    pub same: Same,
}

impl Past<'_> {
    /// At most `k` of the tools that helped with tasks like this, and that are offered; the best first.
    ///
    /// # Errors
    /// What the store says.
    pub fn helped(&self, state: &State, k: usize) -> Result<Vec<Helped>, ExperienceError> {
        self.store.helped(self.query, k, self.same, |tool| is_offered(state, tool))
    }

    /// What is known of each of these tools, in their order.
    ///
    /// # Errors
    /// What the store says.
    pub fn history(&self, tools: &[ToolName]) -> Result<Vec<History>, ExperienceError> {
        self.store.history(self.query, tools, self.same)
    }
}

/// The tools that a plan is made for, as many as the knob `candidates` says: in turn one that helped
/// with similar tasks and one whose words suit; where these are few, others until there are enough.
pub fn candidates(
    state: &State,
    index: &Lexical,
    text: &str,
    helped: Vec<Helped>,
) -> Vec<ToolName> {
    let k = state.knobs.count(Knob::Candidates);
    // A tool that is switched off stays in the index, so more are asked for than are wanted.
    let off = state.tools.len() - state.offered_tools().count();
    let hits = index.search(text, k.saturating_add(off));
    let mut helped = helped.into_iter().map(|helped| helped.tool);
    let mut suiting = hits.into_iter().map(|(tool, _)| tool);
    let mut others = state.offered_tools().map(|tool| tool.spec.name.clone());
    let mut found: Vec<ToolName> = Vec::new();
    while found.len() < k {
        let mut next: Vec<_> = [helped.next(), suiting.next()].into_iter().flatten().collect();
        if next.is_empty() {
            let Some(other) = others.next() else { break };
            next.push(other);
        }
        for tool in next {
            if is_offered(state, tool.as_str()) && !found.contains(&tool) {
                found.push(tool);
            }
        }
    }
    found.truncate(k);
    found
}

/// What is expected of a tool with this past, in the mode and above the value that the knobs say.
pub fn estimate(knobs: &Knobs, history: Option<&History>) -> Estimate {
    let mode = match knobs.count(Knob::Estimate) {
        0 => Mode::Smoothed,
        _ => Mode::Paper,
    };
    let mut evidence = Evidence::new(mode);
    for past in history.into_iter().flat_map(|history| &history.past) {
        evidence.add_uses(past.similarity, past.helpful, past.unhelpful);
        let uses = past.helpful.saturating_add(past.unhelpful);
        evidence.add_query(past.similarity, uses, past.helpful > 0);
    }
    evidence.estimate(knobs.get(Knob::Tau))
}

fn is_offered(state: &State, tool: &str) -> bool {
    state.tools.get(tool).is_some_and(|tool| tool.is_offered())
}
