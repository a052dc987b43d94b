//! ToT-DFS: depth-first search through a tree of thoughts (Yao et al. 2023), as a baseline of BTP.
//! At each node all decisions are made and carried out first; votes on pairs of them choose the
//! path to follow first, and the others are followed when that one fails.

use serde::Deserialize;

use super::search::{Limits, NodeResult, ROOT, SearchStop, TreeSearch};
use super::{Base, Context, Ending, Trajectory, json, prompt};
use crate::domain::{NodeEnd, Role, SearchEvent, Task};

/// As in BTP's experiments.
const LIMITS: Limits = Limits { children: 2, depth: 8, asks: 30 };

/// The remaining paths of a node, the best one last.
struct Ways {
    at: u32,
    left: Vec<u32>,
}

/// Makes one attempt at a task.
pub async fn search(
    ctx: &impl Context,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let mut search = TreeSearch::new(ctx, Base::TotDfs, task, reflections, LIMITS);
    match walk(&mut search).await {
        Ok((node, ending)) => search.answered(node, ending),
        // An answer that lost a vote is better than none.
        Err(stop) => match search.waiting_answer() {
            Some((node, ending)) => search.answered(node, ending),
            None => search.end(stop).await,
        },
    }
}

/// Follows the best paths first, until one ends in an answer.
async fn walk(search: &mut TreeSearch<'_, impl Context>) -> Result<(u32, Ending), SearchStop> {
    let mut open = Vec::new();
    let mut at = ROOT;
    loop {
        let candidates = candidates(search, at).await?;
        let mut left = ranked(search, at, candidates).await?;
        left.reverse();
        open.push(Ways { at, left });
        at = next(search, &mut open).ok_or(SearchStop::NoWay)?;
        search.ctx.say(|task| SearchEvent::NodeEntered { task, node: at });
        if let Some(NodeResult::Answered(ending)) = search.node(at).map(|node| &node.result) {
            return Ok((at, ending.clone()));
        }
    }
}

/// The decisions at a node from which the search can continue.
async fn candidates(
    search: &mut TreeSearch<'_, impl Context>,
    at: u32,
) -> Result<Vec<u32>, SearchStop> {
    let mut candidates = Vec::new();
    while search.children(at).count() < search.limits.children {
        let child = search.expand(at).await?;
        match search.node(child).map(|node| &node.result) {
            Some(NodeResult::Answered(_)) => candidates.push(child),
            Some(NodeResult::Called) if !search.is_too_deep(child) => candidates.push(child),
            Some(NodeResult::Called) => search.close(child, NodeEnd::TooDeep),
            Some(NodeResult::GaveUp | NodeResult::Lacked) => search.close(child, NodeEnd::GaveUp),
            Some(NodeResult::Nothing) | None => search.close(child, NodeEnd::Failed),
        }
    }
    Ok(candidates)
}

/// The candidates, the one with most votes first; of equal ones, the earlier first. Each pair is voted on in both
/// orders, so that a judge's preference for the first position cancels out.
async fn ranked(
    search: &mut TreeSearch<'_, impl Context>,
    at: u32,
    candidates: Vec<u32>,
) -> Result<Vec<u32>, SearchStop> {
    if candidates.len() < 2 {
        return Ok(candidates);
    }
    let mut votes: Vec<(u32, u32)> = candidates.into_iter().map(|node| (node, 0)).collect();
    for first in 0..votes.len() {
        for second in (0..votes.len()).filter(|second| *second != first) {
            match vote(search, at, [votes[first].0, votes[second].0]).await? {
                Some(Better::First) => votes[first].1 += 1,
                Some(Better::Second) => votes[second].1 += 1,
                None => {}
            }
        }
    }
    search.ctx.say(|task| SearchEvent::NodesRanked { task, votes: votes.clone() });
    votes.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
    Ok(votes.into_iter().map(|(node, _)| node).collect())
}

/// The judge's preference between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Better {
    First,
    Second,
}

/// Requests a vote on which of two decisions advances the task more. A failed or unreadable vote does not count: an
/// order is not worth a task.
async fn vote(
    search: &mut TreeSearch<'_, impl Context>,
    at: u32,
    rivals: [u32; 2],
) -> Result<Option<Better>, SearchStop> {
    search.may_ask()?;
    let [Some(first), Some(second)] = rivals.map(|rival| search.node(rival)) else {
        return Ok(None);
    };
    let path = search.path(at);
    let request = search
        .ctx
        .state(|state| prompt::search::compare(state, search.task, &path, [first, second]));
    let reply = search.ask(Role::Judge, request).await;
    Ok(reply.ok().and_then(|reply| read(&reply.text)))
}

fn read(text: &str) -> Option<Better> {
    #[derive(Deserialize)]
    struct Vote {
        better: u8,
    }
    let vote = json::objects(text).find_map(|json| serde_json::from_str::<Vote>(json).ok())?;
    match vote.better {
        1 => Some(Better::First),
        2 => Some(Better::Second),
        _ => None,
    }
}

/// The next path to follow: the best remaining one nearest to the current node.
fn next(search: &mut TreeSearch<'_, impl Context>, open: &mut Vec<Ways>) -> Option<u32> {
    while let Some(ways) = open.last_mut() {
        if let Some(best) = ways.left.pop() {
            return Some(best);
        }
        let at = ways.at;
        open.pop();
        search.leave(at);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn votes_are_read_wherever_they_stand() {
        for (text, better) in [
            ("{\"better\": 1}", Some(Better::First)),
            ("Well, {hm} ```json\n{\"better\": 2, \"reason\": \"x\"}```", Some(Better::Second)),
            ("{\"better\": 0}", None),
            ("{\"better\": 3}", None),
            ("{\"better\": \"1\"}", None),
            ("The first one.", None),
        ] {
            assert_eq!(read(text), better, "{text}");
        }
    }
}
