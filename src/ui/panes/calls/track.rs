//! The lanes of the pane: the calls of a task. A task with a plan also has a lane for evidence whose call is not
//! requested yet.

use std::{borrow::Cow, rc::Rc};

use super::status::{self, CallStatus};

use crate::domain::{
    EffectId, EffectState, Evidence, EvidenceId, EvidenceState, Hold, Lane, ModelCallState, Role,
    State, TaskState, ToolCallPhase, ToolCallState, plan::references, state::EvidenceSource,
    words::counted,
};
use crate::papers::plan::critical_path;
use crate::{hits::Target, theme::Theme, view::View, vlist::List};

/// A lane of the pane.
#[derive(Clone, Copy, Debug)]
pub struct Track<'a> {
    pub state: &'a State,
    pub task: &'a TaskState,
    /// The evidence to find, as the planner wrote it.
    pub evidence: Option<&'a Evidence>,
    /// The state of the evidence; `None` before its call is requested.
    pub begun: Option<&'a EvidenceState>,
    pub call: Option<&'a ToolCallState>,
    /// The model call that finds the evidence, if a model does.
    pub model_call: Option<&'a ModelCallState>,
}

impl<'a> Track<'a> {
    pub fn of_call(state: &'a State, task: &'a TaskState, call: EffectId) -> Option<Self> {
        let call = state.tool_call(call)?;
        Some(Self { state, task, evidence: None, begun: None, call: Some(call), model_call: None })
    }

    pub fn of_evidence(state: &'a State, task: &'a TaskState, evidence: &'a Evidence) -> Self {
        let begun = task.work.evidence.get(&evidence.id);
        let source = begun.map(|begun| begun.source);
        let call = if let Some(EvidenceSource::Call(call)) = source {
            state.tool_call(call)
        } else {
            None
        };
        let model_call = state.evidence_model_call(task, evidence.id);
        Self { state, task, evidence: Some(evidence), begun, call, model_call }
    }

    /// The target that selects the lane.
    pub fn target(&self) -> Target {
        match (self.call, self.evidence) {
            (Some(call), _) => Target::Call(call.id),
            (None, Some(evidence)) => Target::Evidence(self.task.id, evidence.id),
            (None, None) => Target::Task(self.task.id),
        }
    }

    /// The tool of the call, else the tool that the plan names.
    pub fn tool(&self) -> &'a str {
        match (self.call, self.evidence) {
            (Some(call), _) => call.tool.as_str(),
            (None, Some(evidence)) => &evidence.tool,
            (None, None) => "",
        }
    }

    /// The effect of the lane: its tool call, else its model call.
    fn effect(&self) -> Option<&'a EffectState> {
        self.call.map(|call| &**call).or(self.model_call.map(|call| &**call))
    }

    /// The evidence that the input of this one names.
    pub fn needs(&self) -> Vec<EvidenceId> {
        self.evidence.map_or_else(Vec::new, |evidence| references(&evidence.input))
    }

    /// The evidence that the lane waits for.
    pub fn waits_for(&self) -> Vec<EvidenceId> {
        if self.begun.is_some() {
            return Vec::new();
        }
        let needs = self.needs().into_iter();
        needs.filter(|need| !self.task.work.is_found(*need)).collect()
    }

    /// Whether the lane cannot begin yet, since evidence that it needs is missing.
    pub fn is_waiting(&self) -> bool {
        let is_open = self.wanted().is_none() && self.task.outcome().is_none();
        is_open && !self.waits_for().is_empty()
    }

    /// The lane that the user can hold; `None` before it has begun and after it is over.
    pub fn lane(&self) -> Option<Lane> {
        let asked = self.model_call.filter(|call| !call.is_over()).map(|call| call.lane);
        self.call.map(|call| call.lane).or(asked)
    }

    pub fn hold(&self) -> Option<&'a Hold> {
        self.state.control.hold_of(self.lane()?)
    }

    /// Whether the user holds this lane alone.
    pub fn is_stopped(&self) -> bool {
        self.lane().is_some_and(|lane| self.state.control.paused_lanes.contains(&lane))
    }

    /// When the lane was requested; `None` before that.
    pub fn wanted(&self) -> Option<u64> {
        self.call.map(|call| call.requested).or(self.begun.map(|begun| begun.since))
    }

    /// When the lane started and ended; the end is `None` while it runs.
    pub fn ran(&self) -> Option<(u64, Option<u64>)> {
        let effect = self.effect()?;
        Some((effect.started?, effect.ended))
    }

    /// When the lane was over; `None` before that.
    pub fn over(&self) -> Option<u64> {
        match self.call {
            _ if self.hold().is_some() => None,
            Some(call) => {
                let last = call.holds.last().map_or(0, |(_, until)| *until);
                call.ended.map(|ended| ended.max(last))
            }
            None => self.begun?.found,
        }
    }

    /// The time to show: how long the lane ran, waited for room, or has been held.
    pub fn time(&self, now: u64) -> Option<u64> {
        if let Some(hold) = self.hold() {
            return Some(now.saturating_sub(hold.since));
        }
        let queued = || self.wanted().filter(|_| self.over().is_none());
        self.own(now).or_else(|| queued().map(|since| now.saturating_sub(since)))
    }

    /// How long the lane ran so far, without the time it was held. `None` before it starts.
    pub fn own(&self, now: u64) -> Option<u64> {
        self.effect().filter(|effect| effect.started.is_some()).map(|effect| effect.elapsed(now))
    }

    /// The timeout of the lane's call, in microseconds; `None` if none runs.
    pub fn limit(&self) -> Option<u64> {
        let call = self.call.filter(|call| call.phase == ToolCallPhase::Running)?;
        let own = Some(self.state.tools.get(&call.tool)?.spec.timeout_ms).filter(|ms| *ms > 0)?;
        let most = call.evidence.map_or(own, |_| own.min(self.state.workers.timeout_ms));
        Some(most.saturating_mul(1000))
    }

    /// The expected rest of the lane's time; `None` once it has ended.
    pub fn ahead(&self, now: u64) -> Option<u64> {
        let is_open = self.over().is_none() && self.task.outcome().is_none();
        let took = self.own(now).unwrap_or(0);
        is_open.then(|| expected(self).saturating_sub(took))
    }

    /// The reason why the evidence does not reach the solver, and the tokens that this saves.
    pub fn nulled(&self) -> Option<String> {
        let begun = self.begun?;
        let saved = counted(begun.saved, "token");
        begun.nulled.as_ref().map(|nulled| format!("null: {nulled}, {saved} saved"))
    }

    pub fn standing(&self, theme: &Theme) -> CallStatus {
        status::of(self, theme)
    }

    /// The text that a search looks in: tool, written evidence, arguments, result and status.
    pub fn text(&self) -> String {
        let written = self.evidence.map(ToString::to_string).unwrap_or_default();
        let arguments = self.call.map(|call| call.arguments.to_string()).unwrap_or_default();
        let found = self.call.and_then(ToolCallState::observation);
        let found = found.or(self.begun.and_then(|begun| begun.text.as_deref())).unwrap_or("");
        let stands = self.standing(Theme::of_words()).word;
        [self.tool(), &written, &arguments, found, stands].join("\n")
    }
}

/// The lanes of a task, from the top: the calls of its earlier attempts, then its plan's evidence in the
/// order of the plan. Without a plan: its calls in order.
#[derive(Debug)]
pub struct Tracks<'a> {
    state: &'a State,
    task: &'a TaskState,
    /// Calls that are not for evidence of the plan; without a plan, all calls.
    others: Cow<'a, [EffectId]>,
    evidence: Vec<&'a Evidence>,
}

impl<'a> Tracks<'a> {
    pub fn of(state: &'a State, task: &'a TaskState) -> Self {
        let work = &task.work;
        let by_hand: Vec<EffectId> = state.calls_by_hand(task.id).collect();
        let Some(plan) = &work.plan else {
            let mut others = Cow::Borrowed(task.tool_calls.as_slice());
            if !by_hand.is_empty() {
                others.to_mut().extend(by_hand);
                others.to_mut().sort_unstable();
            }
            return Self { state, task, others, evidence: Vec::new() };
        };
        let calls = task.tool_calls.iter().copied().chain(by_hand);
        let others = calls.filter(|call| {
            let call = state.tool_call(*call);
            call.and_then(|call| evidence_of(task, call)).is_none()
        });
        let mut others: Vec<EffectId> = others.collect();
        others.sort_unstable();
        Self { state, task, others: others.into(), evidence: plan.evidence().collect() }
    }

    pub fn len(&self) -> usize {
        self.others.len() + self.evidence.len()
    }

    pub fn get(&self, row: usize) -> Option<Track<'a>> {
        match self.others.get(row) {
            Some(call) => Track::of_call(self.state, self.task, *call),
            None => {
                let evidence = self.evidence.get(row - self.others.len())?;
                Some(Track::of_evidence(self.state, self.task, evidence))
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Track<'a>> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// When something of the task was held and nothing of the task ran: start and end, in order, without overlaps.
    pub fn held(&self, now: u64) -> Vec<(u64, u64)> {
        let (state, task) = (self.state, self.task);
        let tool_calls = task.tool_calls.iter().copied().chain(state.calls_by_hand(task.id));
        let tool_calls = tool_calls.filter_map(|id| state.tool_call(id)).map(|call| &call.effect);
        let model_calls = task.model_calls.iter().filter_map(|id| state.model_call(*id));
        let effects: Vec<_> = tool_calls.chain(model_calls.map(|call| &call.effect)).collect();
        let is_of_task = |lane: Lane| match lane {
            Lane::Run(run) => state.at_work.of(run) == Some(task.id),
            Lane::Effect(id) => effects.iter().any(|effect| effect.id == id),
        };
        let holds = state.control.held.iter().filter(|hold| is_of_task(hold.lane));
        let mut held = task.held.clone();
        held.extend(holds.map(|hold| (hold.since, now)));
        let mut ran = Vec::new();
        for effect in effects {
            let own = state.control.hold_of(effect.lane).map(|hold| (hold.since, now));
            let own: Vec<_> = effect.holds.iter().copied().chain(own).collect();
            if let Some(started) = effect.started {
                ran.extend(without(vec![(started, effect.ended.unwrap_or(now))], own.clone()));
            }
            held.extend(own);
        }
        without(held, ran)
    }

    /// The row of the chosen lane; without a choice, of the lane that keys mean anyway.
    pub fn selected(&self, view: &View) -> Option<usize> {
        let row = |id: EvidenceId| {
            let at = self.evidence.iter().position(|evidence| evidence.id == id)?;
            Some(self.others.len() + at)
        };
        let chosen = view.evidence(self.state).filter(|(task, ..)| task.id == self.task.id);
        if let Some((_, evidence, _)) = chosen {
            return row(evidence);
        }
        let own = |call: &&ToolCallState| call.task == self.task.id;
        let chosen = view.call(self.state).and_then(|call| self.state.tool_call(call)).filter(own);
        let call = chosen.or_else(|| self.state.tool_call(*self.task.tool_calls.last()?))?;
        // Calls are numbered in the order of their requests.
        let own = || row(evidence_of(self.task, call)?);
        self.others.binary_search(&call.id).ok().or_else(own)
    }

    /// The lanes as a list.
    pub fn list(self, view: &View) -> List<'a> {
        let (state, place) = (self.state, (self.len(), self.selected(view)));
        let tracks = Rc::new(self);
        let calls = Rc::clone(&tracks);
        List::new(
            place,
            move |row| tracks.get(row),
            |track, view| {
                view.select(state, &track.target());
            },
            |track| track.text(),
        )
        .of_calls(state, move |row| calls.get(row)?.call.map(|call| call.id))
    }

    /// The evidence on the plan's critical path. Durations are in microseconds: as measured, or the mean of the tool if
    /// not known yet.
    pub fn critical_path(&self, now: u64) -> Vec<EvidenceId> {
        let Some(plan) = &self.task.work.plan else { return Vec::new() };
        critical_path(plan, |id| {
            let evidence = self.evidence.iter().find(|evidence| evidence.id == id);
            evidence.map_or(0, |evidence| {
                duration(&Track::of_evidence(self.state, self.task, evidence), now)
            })
        })
    }
}

/// The times of the first list that are in none of the second, in order, without overlaps.
pub fn without(mut times: Vec<(u64, u64)>, mut others: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    times.sort_unstable();
    others.sort_unstable();
    let mut left: Vec<(u64, u64)> = Vec::new();
    let mut others = others.into_iter().peekable();
    // The latest end of the others that have begun.
    let (mut over, mut done) = (0, 0);
    for (from, to) in times {
        let mut from = from.max(done);
        while from < to {
            while let Some((_, until)) = others.next_if(|(begin, _)| *begin <= from) {
                over = over.max(until);
            }
            from = from.max(over);
            let next = others.peek().map_or(to, |(begin, _)| to.min(*begin));
            match left.last_mut() {
                Some(last) if from < next && last.1 == from => last.1 = next,
                _ if from < next => left.push((from, next)),
                _ => {}
            }
            from = from.max(next);
        }
        done = done.max(to);
    }
    left
}

/// The evidence of a task's plan that a call looks for.
pub fn evidence_of(task: &TaskState, call: &ToolCallState) -> Option<EvidenceId> {
    let begun = task.work.evidence.get(&call.evidence?)?;
    call.evidence.filter(|_| begun.source == EvidenceSource::Call(call.id))
}

/// Microseconds assumed for a call of unknown duration: all such calls count the same.
const UNKNOWN: u64 = 100_000;

fn duration(track: &Track<'_>, now: u64) -> u64 {
    let ended = track.call.map_or(track.begun.and_then(|begun| begun.found), |call| call.ended);
    match (track.own(now), ended.is_some()) {
        (Some(took), true) => took,
        (Some(took), false) => took.max(expected(track)),
        // The call was refused or cancelled before it ran.
        (None, true) => 0,
        (None, false) => expected(track),
    }
}

/// The mean duration of the lane's tool, or of the model that is called.
fn expected(track: &Track<'_>) -> u64 {
    let mean = match track.state.tools.get(track.tool()) {
        Some(tool) => tool.mean_micros(),
        None => {
            let actor = track.state.models.of(Role::Actor);
            actor.and_then(|model| model.tally.average()).map(|(_, micros)| micros)
        }
    };
    mean.unwrap_or(UNKNOWN)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_are_subtracted_moment_by_moment(
            times in prop::collection::vec((0u64..60, 0u64..20), 0..8),
            others in prop::collection::vec((0u64..60, 0u64..20), 0..8),
        ) {
            let of = |list: Vec<(u64, u64)>| -> Vec<_> {
                list.into_iter().map(|(from, length)| (from, from + length)).collect()
            };
            let (times, others) = (of(times), of(others));
            let is_in = |list: &[(u64, u64)], at| list.iter().any(|(from, to)| (*from..*to).contains(&at));
            let left = without(times.clone(), others.clone());
            for at in 0..100 {
                prop_assert_eq!(is_in(&left, at), is_in(&times, at) && !is_in(&others, at), "{}", at);
            }
            prop_assert!(left.windows(2).all(|two| two[0].1 < two[1].0), "{left:?}");
        }
    }
}
