//! The common part of the searches: a tree of decisions, the limits, and the ending of a search
//! without an answer. Each decision sees only the path that leads to it.
//!
//! A node is one decision: a model call and its tool calls. Its number is that of its step, counted over all attempts
//! of a task, so that every call names its node. Backtracking undoes nothing: side effects of a call remain, and a use
//! of the plan stays used (BTP, algorithm 2).

use std::sync::Arc;

use serde_json::{Value, json};

use super::act::{self, Decision};
use super::{
    Base, CallSpec, Context, Ending, Trajectory, TrajectoryTurn, array, close, menu, prompt,
};
use crate::domain::{
    ModelError, ModelErrorKind, NodeEnd, Outcome, Reply, Request, Role, SearchEvent, Task,
    TaskEvent, ToolName, markers, state::next_number,
};

/// The start of a search, before any decision.
pub(super) const ROOT: u32 = 0;

/// The limits of a search.
pub(super) struct Limits {
    /// Most decisions at a node.
    pub children: usize,
    /// Most decisions in a row.
    pub depth: u32,
    /// Most model calls for decisions and votes in one attempt. Calls of a judge of results and the closing summary are
    /// additional.
    pub asks: u32,
}

/// A decision and its result.
pub(super) struct SearchNode {
    pub parent: u32,
    /// 1 for a decision at the root.
    pub depth: u32,
    pub turn: TrajectoryTurn,
    pub result: NodeResult,
}

/// The result of a decision.
pub(super) enum NodeResult {
    /// Calls were made, and the path may continue.
    Called,
    Answered(Ending),
    /// The agent reports that the current point leads nowhere.
    GaveUp,
    /// The agent reported a missing tool, and others are offered now.
    Lacked,
    /// Neither a call nor an answer.
    Nothing,
}

/// Why a search ends without an answer of its own.
pub(super) enum SearchStop {
    /// Every path was tried to its end.
    NoWay,
    /// The limit of model calls is reached.
    Asks,
    /// The plan has no uses left.
    UsedUp,
    /// The model failed, or the budget does not pay for it.
    Ask(ModelError),
}

/// A search for the answer to one task.
pub(super) struct TreeSearch<'a, C> {
    pub ctx: &'a C,
    base: Base,
    pub task: &'a Task,
    reflections: &'a [String],
    pub limits: Limits,
    /// The last step of the earlier attempts.
    before: u32,
    /// The nodes in the order of their numbers, without gaps.
    nodes: Vec<SearchNode>,
    asks: u32,
    /// Whether a path ended only because it was too deep.
    was_cut: bool,
}

impl<'a, C: Context> TreeSearch<'a, C> {
    pub fn new(
        ctx: &'a C,
        base: Base,
        task: &'a Task,
        reflections: &'a [String],
        limits: Limits,
    ) -> Self {
        let before = ctx.state(|state| {
            let last = state.current_task().and_then(|task| task.steps.last());
            last.map_or(0, |step| step.step)
        });
        let (nodes, asks, was_cut) = (Vec::new(), 0, false);
        Self { ctx, base, task, reflections, limits, before, nodes, asks, was_cut }
    }

    /// The decision of this number; `None` for the root.
    pub fn node(&self, number: u32) -> Option<&SearchNode> {
        let place = number.checked_sub(self.before)?.checked_sub(1)?;
        self.nodes.get(place as usize)
    }

    /// The decisions made at a node so far. Reporting a missing tool is not a decision.
    pub fn children(&self, at: u32) -> impl Iterator<Item = &SearchNode> {
        let decided = |node: &&SearchNode| !matches!(node.result, NodeResult::Lacked);
        self.nodes.iter().filter(move |node| node.parent == at).filter(decided)
    }

    pub fn is_too_deep(&self, node: u32) -> bool {
        self.node(node).is_some_and(|node| node.depth >= self.limits.depth)
    }

    /// Makes one more decision at a node, with its calls. Returns its number.
    pub async fn expand(&mut self, at: u32) -> Result<u32, SearchStop> {
        let path = self.path(at);
        let from = path.calls().last().map_or_else(ToolName::start, |called| called.tool.clone());
        let mut menu = menu::next(self.ctx, self.base, self.task, &from, &path).await;
        if self.ctx.state(|state| menu::is_used_up(state, &menu)) {
            if !self.ctx.widen(&[path.last_thought().unwrap_or(&self.task.text)], None).await {
                return Err(SearchStop::UsedUp);
            }
            menu = menu::next(self.ctx, self.base, self.task, &from, &path).await;
        }
        array::cover(self.ctx, self.base, &menu);
        let node = self.before.saturating_add(next_number(self.nodes.len()));
        let note = self.note(at);
        let request = self.ctx.state(|state| {
            let (task, reflections) = (self.task, self.reflections);
            let (trajectory, note) = (&path, note.as_str());
            let (menu, is_last) = (&*menu, false);
            let asked = prompt::ActorInput { task, menu, trajectory, reflections, note, is_last };
            prompt::actor(state, &asked)
        });
        self.may_ask()?;
        self.ctx.say(|task| SearchEvent::NodeOpened { task, node, parent: at });
        self.ctx.say(|task| TaskEvent::StepStarted { task, step: node, from, menu });
        let reply = match self.ask(Role::Actor, request).await {
            Ok(reply) => reply,
            Err(error) => {
                self.close(node, NodeEnd::Failed);
                return Err(SearchStop::Ask(error));
            }
        };
        // A model that must decide differently may find no other path; then no tool is missing.
        let is_first = self.children(at).next().is_none();
        let (turn, result) = self.carry_out(node, &reply, is_first).await;
        let depth = self.node(at).map_or(0, |node| node.depth) + 1;
        self.nodes.push(SearchNode { parent: at, depth, turn, result });
        Ok(node)
    }

    async fn carry_out(
        &self,
        node: u32,
        reply: &Reply,
        is_first: bool,
    ) -> (TrajectoryTurn, NodeResult) {
        let (calls, called, result) = match act::decide(reply) {
            Decision::Call(calls) => {
                let called = self.ctx.call(CallSpec::Step(node), &calls).await;
                (calls, called, NodeResult::Called)
            }
            Decision::Finish(ending) if ending.outcome == Outcome::Answered => {
                let has_called = self.nodes.iter().any(|node| !node.turn.called.is_empty());
                let ending = ending.marked(reply, has_called);
                (Vec::new(), Vec::new(), NodeResult::Answered(ending))
            }
            Decision::Finish(_) if is_first && self.ctx.widen(&[&reply.text], Some(&[])).await => {
                (Vec::new(), Vec::new(), NodeResult::Lacked)
            }
            Decision::Finish(_) => (Vec::new(), Vec::new(), NodeResult::GaveUp),
            Decision::Nothing => (Vec::new(), Vec::new(), NodeResult::Nothing),
        };
        (TrajectoryTurn::of(reply, calls, called), result)
    }

    /// The note about earlier decisions at a node for the next one; empty for the first.
    fn note(&self, at: u32) -> String {
        if self.children(at).next().is_none() {
            return String::new();
        }
        let chosen = self.children(at).flat_map(SearchNode::chosen);
        self.ctx.state(|state| prompt::search::something_else(state, chosen))
    }

    /// Checks that the search may make one more model call.
    pub fn may_ask(&self) -> Result<(), SearchStop> {
        if self.asks < self.limits.asks { Ok(()) } else { Err(SearchStop::Asks) }
    }

    pub async fn ask(&mut self, role: Role, request: Request) -> Result<Arc<Reply>, ModelError> {
        self.asks += 1;
        self.ctx.ask(role, request).await
    }

    /// Closes a node.
    pub fn close(&mut self, node: u32, how: NodeEnd) {
        self.was_cut |= how == NodeEnd::TooDeep;
        self.ctx.say(|task| SearchEvent::NodeClosed { task, node, how });
    }

    /// Closes a node whose children all failed. Returns its parent; the root has none.
    pub fn leave(&mut self, at: u32) -> Option<u32> {
        let parent = self.node(at)?.parent;
        self.close(at, NodeEnd::Exhausted);
        Some(parent)
    }

    /// The calls on the path from the root to a node.
    pub fn path(&self, at: u32) -> Trajectory {
        let mut nodes: Vec<_> =
            std::iter::successors(self.node(at), |node| self.node(node.parent)).collect();
        nodes.reverse();
        Trajectory { turns: nodes.into_iter().map(|node| node.turn.clone()).collect() }
    }

    /// Ends the search with this answer.
    pub fn answered(mut self, node: u32, ending: Ending) -> (Trajectory, Ending) {
        self.close(node, NodeEnd::Answered);
        (self.whole(), ending)
    }

    /// Ends the search without an answer of its own. With a plan, all results are summed up.
    pub async fn end(self, stop: SearchStop) -> (Trajectory, Ending) {
        let (why, outcome) = match stop {
            SearchStop::NoWay if self.was_cut => ("every path was tried", Outcome::OutOfSteps),
            SearchStop::NoWay => ("every path was tried", Outcome::GaveUp),
            SearchStop::Asks => ("the search used up its model calls", Outcome::OutOfSteps),
            SearchStop::UsedUp => ("the plan has nothing left to use", Outcome::OutOfBudget),
            SearchStop::Ask(error) if error.kind == ModelErrorKind::OverBudget => {
                ("the rest of the budget does not pay for another step", Outcome::OutOfBudget)
            }
            SearchStop::Ask(error) => return (self.whole(), close::failed(&error)),
        };
        if !self.ctx.state(|state| state.has_plan()) {
            return (self.whole(), Ending::without_answer(outcome));
        }
        let found = self.found();
        let ending = close::close(self.ctx, self.task, &found, self.reflections, why).await;
        (self.whole(), ending)
    }

    /// An unused answer, if there is one.
    pub fn waiting_answer(&self) -> Option<(u32, Ending)> {
        (self.before + 1..).zip(&self.nodes).find_map(|(number, node)| match &node.result {
            NodeResult::Answered(ending) => Some((number, ending.clone())),
            NodeResult::Called | NodeResult::GaveUp | NodeResult::Lacked | NodeResult::Nothing => {
                None
            }
        })
    }

    /// All calls, in order.
    fn whole(&self) -> Trajectory {
        let turns = self.nodes.iter().map(|node| &node.turn).filter(|turn| !turn.calls.is_empty());
        Trajectory { turns: turns.cloned().collect() }
    }

    /// The helpful results of any path; if there are none, all results. A summary must fit its
    /// reserved credits, and should not consist of errors.
    fn found(&self) -> Trajectory {
        let whole = self.whole();
        let helped = |turn: &&TrajectoryTurn| {
            turn.called.iter().any(|called| {
                self.ctx.state(|state| {
                    state.tool_call(called.id).is_some_and(|call| call.helpful == Some(true))
                })
            })
        };
        let turns: Vec<_> = whole.turns.iter().filter(helped).cloned().collect();
        if turns.is_empty() { whole } else { Trajectory { turns } }
    }
}

impl SearchNode {
    /// The chosen actions, including `Finish`.
    pub fn chosen(&self) -> Vec<(ToolName, Value)> {
        let finish = |arguments: Value| vec![(ToolName::from(markers::FINISH), arguments)];
        match &self.result {
            NodeResult::Called => {
                let calls = self.turn.calls.iter();
                calls.map(|call| (call.tool.clone(), call.arguments.clone())).collect()
            }
            NodeResult::Answered(ending) => finish(json!({ "answer": ending.answer })),
            NodeResult::GaveUp => finish(json!({ "gave_up": true })),
            NodeResult::Lacked | NodeResult::Nothing => Vec::new(),
        }
    }
}
