//! Candidates of a plan (BTP, section 2.2): the tools that may solve a task, and their estimated
//! values. A session and `toolyard plan --task` use this same code.

use super::{Estimate, Evidence};
use crate::domain::{Estimation, InTask, Knob, Knobs, Lexical, PastResults, ToolName};

/// A tool's results in one past query, in which it was used `helpful + unhelpful` times, at least once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryUses {
    /// sim(q_u, q) of eq. 3 and 4, from 0 to 1.
    pub similarity: f64,
    /// Uses with a helpful result: their score is 1.
    pub helpful: u32,
    /// Uses with an unhelpful result: their score is 0.
    pub unhelpful: u32,
}

/// A tool that helped.
#[derive(Clone, Debug, PartialEq)]
pub struct HelpfulTool {
    pub tool: ToolName,
    /// Similarity of the most similar past query in which it helped, 0.3 to 1.
    pub similarity: f64,
    /// The number of similar past queries in which it helped.
    pub queries: usize,
}

/// Most tools that can match a missing capability.
const MEANT: usize = 3;

/// The candidates of a plan, at most `candidates` (knob) of them: alternately a tool that helped with similar tasks and
/// one whose words match, but none that matches far worse than the best. The paper's candidates come with its queries;
/// here a cheap unrelated tool could displace the right one, since its past only shows how well it did other things. If
/// nothing matches, any tools are candidates.
pub fn candidates(
    state: InTask<'_>,
    index: &Lexical,
    text: &str,
    helped: Vec<HelpfulTool>,
) -> Vec<ToolName> {
    let (k, least) = (state.knobs.count(Knob::Candidates), state.knobs.get(Knob::Suits));
    // These tools come with the query, as in the paper.
    let own = state.current_task().map_or(&[][..], |task| &task.task.tools);
    if !own.is_empty() {
        return own.iter().filter(|tool| state.offers(tool.as_str())).take(k).cloned().collect();
    }
    let most = helped.first().map_or(0.0, |best| best.similarity);
    let mut helped = helped
        .into_iter()
        .take_while(|helped| helped.similarity >= least * most)
        .map(|helped| helped.tool);
    let mut suiting = best(matching(state, index, text), least as f32, k).into_iter();
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

/// The tools that match a missing capability named by the agent, at most three, the likeliest first. Tools that the
/// agent was offered are excluded, because they are not missing.
pub fn meant(
    state: InTask<'_>,
    index: &Lexical,
    said: &str,
    had: impl Fn(&ToolName) -> bool,
) -> Vec<ToolName> {
    let least = state.knobs.get(Knob::Suits) as f32;
    best(matching(state, index, said).filter(|(tool, _)| !had(tool)), least, MEANT)
}

/// Further candidates besides the best matches, at most `candidates` (knob) of each kind: tools whose words match the
/// agent's text or the task, then any others.
pub fn others(
    state: InTask<'_>,
    index: &Lexical,
    needs: &[&str],
    text: &str,
    known: impl Fn(&ToolName) -> bool,
) -> [Vec<ToolName>; 2] {
    let k = state.knobs.count(Knob::Candidates);
    let of = |text| matching(state, index, text).take(2 * k).filter(|(tool, _)| !known(tool));
    let mut suit: Vec<ToolName> = Vec::new();
    for (tool, _) in needs.iter().copied().chain([text]).flat_map(of) {
        if !suit.contains(tool) {
            suit.push(tool.clone());
        }
    }
    suit.truncate(k);
    let any = state.offered_tools().map(|tool| &tool.spec.name);
    let any = any.filter(|tool| !known(tool) && !suit.contains(tool)).take(k).cloned().collect();
    [suit, any]
}

/// The tools that match a text, by its words and by the reader's rankings in this task.
fn matching<'a>(
    state: InTask<'a>,
    index: &'a Lexical,
    text: &str,
) -> impl Iterator<Item = (&'a ToolName, f32)> {
    index.offered(state, text, state.ranking(text).map(|ranking| &**ranking))
}

/// The first `k` of these hits, without those that match far worse than the first.
fn best<'a>(
    hits: impl Iterator<Item = (&'a ToolName, f32)>,
    least: f32,
    k: usize,
) -> Vec<ToolName> {
    let mut hits = hits.peekable();
    let least = hits.peek().map_or(0.0, |(_, most)| most * least);
    let close = hits.filter(|(_, of_best)| *of_best >= least);
    close.take(k).map(|(tool, _)| tool.clone()).collect()
}

/// The value and limit of a tool with these past uses, in both modes of estimation.
pub fn past(past: &[QueryUses], sharpness: f64) -> PastResults {
    let of = |mode| {
        let mut evidence = Evidence::sharp(mode, sharpness);
        for past in past {
            evidence.add_uses(past.similarity, past.helpful, past.unhelpful);
            let uses = past.helpful.saturating_add(past.unhelpful);
            evidence.add_query(past.similarity, uses, past.helpful > 0);
        }
        evidence.estimate(0.0)
    };
    let (smoothed, paper) = (of(Estimation::Smoothed), of(Estimation::Paper));
    PastResults {
        uses: smoothed.experience,
        smoothed: (smoothed.value.into(), smoothed.limit),
        paper: (paper.value.into(), paper.limit),
    }
}

/// The estimate for a tool with this past, with the mode and tau from the knobs.
pub fn estimate(knobs: &Knobs, past: &PastResults) -> Estimate {
    if past.uses == 0 {
        return Estimate::UNKNOWN;
    }
    let (value, limit) = match knobs.choice() {
        Estimation::Smoothed => past.smoothed,
        Estimation::Paper => past.paper,
    };
    Estimate { value: *value, limit, experience: past.uses }.above(knobs.get(Knob::Tau))
}
