//! DFSDT, ToolLLM's search (Qin et al. 2023): depth-first through a tree of decisions. The agent
//! continues while it finds a path promising, and gives up a point that is not. Then the search
//! backtracks to the nearest open node and makes a new, different decision. The first answer
//! counts.

use super::search::{Limits, NodeResult, ROOT, SearchStop, TreeSearch};
use super::{Base, Context, Ending, Trajectory};
use crate::domain::{NodeEnd, SearchEvent, Task};

/// As in BTP's experiments.
const LIMITS: Limits = Limits { children: 2, depth: 12, asks: 200 };

/// Makes one attempt at a task.
pub async fn search(
    ctx: &impl Context,
    task: &Task,
    reflections: &[String],
) -> (Trajectory, Ending) {
    let mut search = TreeSearch::new(ctx, Base::Dfsdt, task, reflections, LIMITS);
    let mut at = ROOT;
    loop {
        let child = match search.expand(at).await {
            Ok(child) => child,
            Err(stop) => return search.end(stop).await,
        };
        let back = match search.node(child).map(|node| &node.result) {
            Some(NodeResult::Answered(ending)) => {
                let ending = ending.clone();
                return search.answered(child, ending);
            }
            Some(NodeResult::Called) if !search.is_too_deep(child) => {
                at = child;
                continue;
            }
            Some(NodeResult::Called) => {
                search.close(child, NodeEnd::TooDeep);
                Some(at)
            }
            // The agent has judged its current point, so no further call is made there.
            Some(NodeResult::GaveUp) => {
                search.close(child, NodeEnd::GaveUp);
                search.leave(at)
            }
            Some(NodeResult::Lacked) => {
                search.close(child, NodeEnd::GaveUp);
                Some(at)
            }
            Some(NodeResult::Nothing) | None => {
                search.close(child, NodeEnd::Failed);
                Some(at)
            }
        };
        match back.and_then(|at| open(&mut search, at)) {
            Some(open) => at = open,
            None => return search.end(SearchStop::NoWay).await,
        }
        ctx.say(|task| SearchEvent::NodeEntered { task, node: at });
    }
}

/// The nearest open node from here upwards.
fn open(search: &mut TreeSearch<'_, impl Context>, mut at: u32) -> Option<u32> {
    while search.children(at).count() >= search.limits.children {
        at = search.leave(at)?;
    }
    Some(at)
}
