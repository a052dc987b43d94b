//! Selections. A call and a piece of evidence are never selected at the same time, so that a key always has one
//! meaning.

use super::panes::position::Here;
use super::panes::{budget::LEVERS, lanes};
use super::view::{LanesView, Lever, View};
use super::{hits::Target, pane::PaneId};
use crate::domain::{
    Command, EffectId, EffectState, EvidenceId, EvidenceState, Knob, Lane, State, TaskId,
    TaskState, ToolName,
    state::{EvidenceSource, What},
};

const IS_OVER: &str = "the selected call has ended";

impl View {
    /// Selects the thing that was pointed at. True if it was selected already, so that a second click opens it.
    pub fn select(&mut self, state: &State, target: &Target) -> bool {
        match target {
            Target::Tool(tool) => {
                let was = self.pull(None);
                self.strip = Some(tool.clone());
                self.tool.replace(tool.clone()).as_ref() == Some(tool) && was
            }
            Target::Edge(from, to) => {
                self.tool = Some(to.clone());
                let edge = (from.clone(), to.clone());
                self.edge.replace(edge.clone()) == Some(edge)
            }
            Target::Call(call) => self.choose_call(state, *call),
            Target::Evidence(task, evidence) => self.choose_evidence(state, *task, *evidence),
            // The strip of the budget pane only chooses whose budget is shown.
            Target::Task(task) => {
                self.task.replace(*task) == Some(*task) && self.focus != PaneId::Budget
            }
            Target::Knob(knob) => {
                let was = !LEVERS.contains(knob) || self.pull(Some(*knob));
                self.knob.replace(*knob) == Some(*knob) && was
            }
            Target::Node(task, node) => self.choose_node(state, *task, *node),
            Target::Role(role) => {
                let was = self.model.take().is_none();
                self.role.replace(*role) == Some(*role) && was
            }
            // A second click opens nothing: there is no more to see of a model.
            Target::Model(model) => {
                self.model = Some(model.clone());
                false
            }
            Target::Breakpoint(id) => self.breakpoint.replace(*id) == Some(*id),
            Target::Watch(at) => self.watch.replace(*at) == Some(*at),
            Target::ProgramLine(task, number, line) => {
                self.program = Some((*task, *number));
                self.program_line.replace(*line) == Some(*line)
            }
            Target::Program(task, number) => {
                self.program_line = None;
                self.program.replace((*task, *number)) == Some((*task, *number))
            }
            Target::Variable(name) => self.variable.replace(name.clone()).as_ref() == Some(name),
            Target::Line(n) => self.choose_line(state, *n),
            Target::Output(n) => {
                self.agent.as_mut().is_some_and(|agent| agent.selected.replace(*n) == Some(*n))
            }
            Target::Server(key) => self.server.replace(key.clone()).as_ref() == Some(key),
            Target::Pair(row) => {
                self.twin.as_mut().is_some_and(|twin| twin.row.replace(*row) == Some(*row))
            }
            Target::Problem(number) => self.choose_problem(state, *number),
            Target::Moment(_) => false,
            Target::Pane(_) | Target::Action(_) | Target::Popup | Target::PopupRow(_) => false,
        }
    }

    /// Selects a lever of the budget pane; false if that changes the selection there while the pane has the keyboard.
    fn pull(&mut self, lever: Option<Knob>) -> bool {
        let was = std::mem::replace(&mut self.lever, Lever(lever));
        was == self.lever || self.focus != PaneId::Budget
    }

    /// Selects a line of the transcript, and the model or tool call that it is about, so that keys about calls mean
    /// that one. True if the line was selected already.
    pub fn choose_line(&mut self, state: &State, n: u64) -> bool {
        match state.line(n).map(|line| &line.what) {
            Some(What::ModelCall { call }) => self.model_call = Some(*call),
            Some(What::ToolCall { call }) => {
                self.choose_call(state, *call);
            }
            _ => {}
        }
        self.line.replace(n) == Some(n)
    }

    /// Selects a problem, and its task and call, so that the other panes show them. True if it was selected already.
    pub fn choose_problem(&mut self, state: &State, number: u64) -> bool {
        let mut kept = state.problems.kept().iter();
        if let Some(problem) = kept.find(|problem| problem.number == number) {
            self.task = Some(problem.task).filter(|task| state.task(*task).is_some());
            match problem.call {
                Some(call) if state.model_call(call).is_some() => self.model_call = Some(call),
                Some(call) => {
                    self.choose_call(state, call);
                }
                None => {}
            }
        }
        self.problem.replace(number) == Some(number)
    }

    /// Selects a node of a search, and its model call, tool call and tool, so that keys about those mean the node's
    /// own. True if the node was selected already.
    pub fn choose_node(&mut self, state: &State, task: TaskId, node: u32) -> bool {
        if let Some(step) = state.task(task).and_then(|task| task.step_of(node)) {
            self.model_call = step.model_call.or(self.model_call);
            if let Some(call) = step.call {
                self.choose_call(state, call);
            }
        }
        self.node.replace((task, node)) == Some((task, node))
    }

    /// Chooses a call, and its tool or model with it. True if it was chosen already.
    pub fn choose_call(&mut self, state: &State, call: EffectId) -> bool {
        if let Some(call) = state.model_call(call) {
            self.model_call = Some(call.id);
        }
        if let Some(call) = state.tool_call(call) {
            self.tool = Some(call.tool.clone());
            // The prompt of a watched agent's call is the one that decided it.
            let decided = call.parent.filter(|it| state.model_call(*it).is_some());
            self.model_call = decided.filter(|_| state.watched.is_some()).or(self.model_call);
        }
        self.evidence = None;
        self.call.replace(call) == Some(call)
    }

    /// Chooses a piece of evidence, with its tool or model call and its tool. True if it was chosen already.
    pub fn choose_evidence(&mut self, state: &State, task: TaskId, evidence: EvidenceId) -> bool {
        self.call = None;
        let was = self.evidence.replace((task, evidence)) == Some((task, evidence));
        let Some(task) = state.task(task) else { return was };
        let written = task.work.plan.as_ref().and_then(|plan| plan.get(evidence));
        let tool = written.map(|written| ToolName::from(written.tool.as_str()));
        if let Some(tool) = tool.filter(|tool| state.tools.contains_key(tool)) {
            self.tool = Some(tool);
        }
        if let Some(call) = state.evidence_model_call(task, evidence) {
            self.model_call = Some(call.id);
        }
        was
    }

    /// The chosen evidence and its state, if its task has a plan that contains it.
    pub fn evidence<'s>(
        &self,
        state: &'s State,
    ) -> Option<(&'s TaskState, EvidenceId, Option<&'s EvidenceState>)> {
        let (task, evidence) = self.evidence?;
        let task = state.task(task)?;
        task.work.plan.as_ref()?.get(evidence)?;
        Some((task, evidence, task.work.evidence.get(&evidence)))
    }

    /// Returns the call that looks for the chosen evidence while its task is at work. Later it can be neither held nor
    /// cancelled, and the keys for that mean a running call. The error says why no call looks for it.
    fn live_evidence(&self, state: &State) -> Option<Result<EffectId, &'static str>> {
        let (task, _, begun) = self.evidence(state)?;
        let call =
            begun.ok_or("the selected call has not started").and_then(|begun| match begun.source {
                EvidenceSource::Call(call) | EvidenceSource::Model(call) => Ok(call),
                EvidenceSource::None => Err(IS_OVER),
            });
        task.outcome().is_none().then_some(call)
    }

    /// The call that call actions mean: the chosen one, else the newest in flight, else the newest. Also `None` for
    /// evidence that no call looks for.
    pub fn call(&self, state: &State) -> Option<EffectId> {
        if let Some((_, _, evidence)) = self.evidence(state) {
            return match evidence?.source {
                EvidenceSource::Call(call) => Some(call),
                EvidenceSource::Model(_) | EvidenceSource::None => None,
            };
        }
        let newest = || state.tool_calls_in_flight().next_back().or(state.tool_calls.last());
        self.call.or_else(|| newest().map(|call| call.id))
    }

    /// The call that the pane of calls marks: the chosen one if it belongs to the task shown, else a held one, else the
    /// last one of that task. Also `None` for evidence without a call.
    pub fn marked_call(&self, state: &State) -> Option<EffectId> {
        if self.lanes_of(state) == LanesView::All {
            return lanes::selected_call(state, self);
        }
        let task = self.worked_on(state)?;
        let is_shown =
            |call: &EffectId| state.tool_call(*call).is_some_and(|it| it.task == task.id);
        match self.evidence(state) {
            Some((of, ..)) if of.id == task.id => self.call(state),
            _ => {
                let held = || state.shown_held().map(|held| held.id).filter(is_shown);
                let last = || task.tool_calls.last().copied();
                self.call.filter(is_shown).or_else(held).or_else(last)
            }
        }
    }

    /// Whether no call is chosen, or a held one.
    pub fn marks_held(&self, state: &State) -> bool {
        let chosen = self.call.and_then(|call| state.effect(call));
        chosen.is_none_or(|call| state.control.is_held(call.lane))
    }

    /// The call that changes mean in the pane of calls: the marked one. In the past, [`View::choose_marked`] has chosen it.
    pub fn meant_call(&self, live: &State) -> Option<EffectId> {
        if self.moment.is_some() { self.call } else { self.marked_call(live) }
    }

    /// Chooses the call that is marked on the screen, so that the same key means the same call when there is a newer one.
    pub fn choose_marked(&mut self, shown: &State) {
        let marked = self.marked_call(shown).filter(|_| self.evidence(shown).is_none());
        if let (PaneId::Calls, Some(call)) = (self.focus, marked) {
            self.choose_call(shown, call);
        }
    }

    /// The lane that can be held or resumed.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn lane(&self, state: &State) -> Result<Lane, &'static str> {
        let chosen = self.live_evidence(state).transpose()?.or(self.call);
        let at_work = |call: &&EffectState| state.at_work.contains(call.task);
        let chosen = chosen.and_then(|call| state.effect(call)).filter(at_work);
        let newest = || state.tool_calls_in_flight().next_back().or(state.tool_calls.last());
        let newest = || newest().map(|call| &call.effect);
        let call = chosen.or_else(newest).ok_or("no tool has been called yet")?;
        let lane = call.lane;
        // An ended call can still be held before the agent learns of it.
        let held = state.control.is_held(lane) || state.control.paused_lanes.contains(&lane);
        if held || !call.is_over() { Ok(lane) } else { Err(IS_OVER) }
    }

    /// The edge to pin: in the pane of tools the one from the agent's node to the selected tool, elsewhere the selected
    /// one.
    pub fn edge_to_pin(&self, state: &State) -> Option<(ToolName, ToolName)> {
        if self.focus != PaneId::Tools {
            return self.edge.clone();
        }
        Some((ToolName::from(Here::of(state).node()), self.tool.clone()?))
    }

    /// Returns the command that cancels the chosen evidence, or the chosen call if it runs. Else it cancels the newest
    /// tool call that runs, else the newest effect.
    ///
    /// # Errors
    /// Why nothing can be cancelled, in words.
    pub fn cancels(&self, state: &State) -> Result<Command, &'static str> {
        let running = |call: EffectId| state.effect(call).filter(|call| !call.is_over());
        let cancel = |call: &EffectState| Command::Cancel(call.id);
        if let Some(call) = self.live_evidence(state) {
            return running(call?).map(cancel).ok_or(IS_OVER);
        }
        let newest = || state.tool_calls_in_flight().next_back().map(|call| &call.effect);
        let any = || state.effects_in_flight().next_back();
        let call = self.call.and_then(running).or_else(newest).or_else(any);
        call.map(cancel).ok_or("nothing is running")
    }
}
