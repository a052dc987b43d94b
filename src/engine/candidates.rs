//! What a plan is made of (BTP, section 2.2): the tools that a task may be done with, and what is
//! expected of each. A session and `toolyard plan --task` choose and value them in this one way.

use crate::{
    domain::{
        id::ToolName,
        knob::{Knob, Knobs},
        retrieve::Lexical,
        state::State,
    },
    papers::btp::{Estimate, Evidence, Mode},
    store::experience::{Experience, ExperienceError, Helped, History, Query, Same},
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

/// A tool that suits a text so much worse than the best one does is taken not to suit it at all.
const SUITS: f64 = 0.5;

/// Tools that may be what an agent lacks.
const MEANT: usize = 3;

/// The tools that a plan is made for, at most as many as the knob `candidates` says: in turn one that
/// helped with similar tasks and one whose words suit, but none that suits far worse than the best. The
/// paper's candidates come with its queries; a tool that has nothing to do with the task would only
/// crowd the right one out by being cheap, since its past says how well it did other things. Where
/// nothing is known to suit, any tools.
pub fn candidates(
    state: &State,
    index: &Lexical,
    text: &str,
    helped: Vec<Helped>,
) -> Vec<ToolName> {
    let k = state.knobs.count(Knob::Candidates);
    let most = helped.first().map_or(0.0, |best| best.similarity);
    let mut helped = helped
        .into_iter()
        .take_while(|helped| helped.similarity >= SUITS * most)
        .map(|helped| helped.tool);
    let mut suiting = suiting(state, index, text, k, SUITS as f32).into_iter();
    let mut found: Vec<ToolName> = Vec::new();
    while found.len() < k {
        let next: Vec<_> = [helped.next(), suiting.next()].into_iter().flatten().collect();
        if next.is_empty() {
            break;
        }
        for tool in next {
            if !found.contains(&tool) {
                found.push(tool);
            }
        }
    }
    if found.is_empty() {
        found.extend(state.offered_tools().take(k).map(|tool| tool.spec.name.clone()));
    }
    found.truncate(k);
    found
}

/// The tools that an agent may mean that says what it lacks, at most three, the likeliest first. What
/// its plan allows it has, and so lacks none of that.
pub fn meant(state: &State, index: &Lexical, said: &str) -> Vec<ToolName> {
    let planned = state.current_task().and_then(|task| task.budget.plan.as_ref());
    let passed_over = planned.map_or(0, |plan| plan.tools.len())
        + state.tools.values().filter(|tool| !tool.is_offered()).count();
    let hits = index.search(said, passed_over + MEANT);
    let mut lacking = hits
        .into_iter()
        .filter(|(tool, _)| is_offered(state, tool.as_str()) && !state.plan_allows(tool));
    let Some((best, most)) = lacking.next() else { return Vec::new() };
    let close = lacking.take_while(|(_, score)| *score >= most * SUITS as f32);
    [best].into_iter().chain(close.map(|(tool, _)| tool)).take(MEANT).collect()
}

/// Tools that a task may be done with besides those that suit it best, as many as the knob `candidates`
/// says of each kind: others whose words suit what the agent says or the task, then any.
pub fn others(
    state: &State,
    index: &Lexical,
    [said, text]: [&str; 2],
    known: impl Fn(&ToolName) -> bool,
) -> [Vec<ToolName>; 2] {
    let k = state.knobs.count(Knob::Candidates);
    let mut suit = suiting(state, index, said, 2 * k, 0.0);
    for tool in suiting(state, index, text, 2 * k, 0.0) {
        if !suit.contains(&tool) {
            suit.push(tool);
        }
    }
    suit.retain(|tool| !known(tool));
    suit.truncate(k);
    let any = state.offered_tools().map(|tool| &tool.spec.name);
    let any = any.filter(|tool| !known(tool) && !suit.contains(tool)).take(k).cloned().collect();
    [suit, any]
}

/// At most `k` tools whose words suit, the best first, none below this share of the best one's score.
fn suiting(state: &State, index: &Lexical, text: &str, k: usize, share: f32) -> Vec<ToolName> {
    // A tool that is switched off stays in the index, so more are asked for than are wanted.
    let off = state.tools.len() - state.offered_tools().count();
    let mut hits = index.search(text, k.saturating_add(off));
    hits.retain(|(tool, _)| is_offered(state, tool.as_str()));
    let least = hits.first().map_or(0.0, |(_, best)| best * share);
    hits.into_iter()
        .take_while(|(_, score)| *score >= least)
        .take(k)
        .map(|(tool, _)| tool)
        .collect()
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
