//! Breakpoints at work: which ones a call, an event or a program hits, and how a person sets them.

use std::collections::BTreeMap;

use super::seats::Seats;
use crate::domain::breakpoint::{BreakpointPlace, BreakpointSpec, Trouble};
use crate::domain::expression::{Evaluator, ExpressionValue, Resolver};
use crate::domain::program::LineStop;
use crate::domain::{
    Boundary, BreakpointEvent, BreakpointId, BreakpointState, BudgetEvent, Event, GraphEvent, Lane,
    ModelCallEvent, PlanEvent, ProbeEvent, ProgramEvent, ProgramVerdict, ServerEvent, State,
    TaskEvent, TaskId, ToolCallEvent,
};
use crate::papers::facts::Facts;

/// The engine's data on breakpoints besides the state.
#[derive(Debug, Default)]
pub struct Breakpoints {
    /// The seats of people who can resume after a stop; without one, hits are only counted.
    pub seats: Seats,
    /// The last value of each breakpoint on a value; `None` if there was none.
    values: BTreeMap<BreakpointId, Option<ExpressionValue>>,
}

/// A program, and the number of a person's requests to it and edits of it.
pub type AskedOf = (TaskId, u32, usize);

/// A change by an event: the place between calls at which it happened, and perhaps values.
#[derive(Debug)]
pub struct BreakpointChange {
    place: Option<BreakpointPlace>,
    /// A program has ended.
    ends_program: bool,
}

/// A breakpoint that matched.
pub struct Hit {
    pub breakpoint: BreakpointId,
    pub text: String,
    pub holds: bool,
    /// Whether the hit holds only its own lane.
    pub alone: bool,
}

impl Breakpoints {
    /// The hits at a boundary that a lane has reached.
    pub fn hits_at(&self, state: &State, lane: Lane, boundary: Boundary) -> Vec<Hit> {
        let (facts, matched) = match lane {
            Lane::Effect(call) => {
                let when = boundary.side();
                (Facts::of_call(state, call, when), state.breakpoints_at(call, when))
            }
            Lane::Run(run) => {
                let place = match boundary {
                    Boundary::BeforeTask => BreakpointPlace::Task,
                    Boundary::AfterEvaluation => BreakpointPlace::Evaluation,
                    _ => return Vec::new(),
                };
                (Facts::of_run(state, run), state.breakpoints_on(&place))
            }
        };
        self.met(facts, matched)
    }

    /// The hits of those breakpoints whose conditions hold.
    fn met(&self, facts: Facts<'_>, matched: Vec<(BreakpointId, &BreakpointState)>) -> Vec<Hit> {
        if matched.is_empty() {
            return Vec::new();
        }
        let resolver = Resolver(&facts);
        let evaluator = Evaluator::new(&resolver);
        let holds = |known: &BreakpointState| {
            let condition = known.spec.condition.as_ref();
            condition.is_none_or(|condition| evaluator.holds(condition))
        };
        let hits = matched.into_iter().filter(|(_, known)| holds(known));
        hits.map(|(id, known)| {
            self.hit(id, known, |it| {
                it.log.as_ref().map_or(String::new(), |log| log.filled(&evaluator))
            })
        })
        .collect()
    }

    fn hit(
        &self,
        breakpoint: BreakpointId,
        known: &BreakpointState,
        text: impl FnOnce(&BreakpointSpec) -> String,
    ) -> Hit {
        let nth = known.hits.saturating_add(1);
        let holds = self.seats.holds() && known.spec.holds_at(nth);
        let text = if known.spec.is_due(nth) { text(&known.spec) } else { String::new() };
        Hit { breakpoint, text, holds, alone: known.spec.alone }
    }

    /// A change by an event that a breakpoint may be set on.
    pub fn change_of(&self, state: &State, event: &Event) -> Option<BreakpointChange> {
        let is_looked_at = !state.breakpoints.is_empty() && !is_of_control(event);
        let ends_program = matches!(event, Event::Program(ProgramEvent::ProgramEnded { .. }));
        is_looked_at.then(|| BreakpointChange { place: place_of(event), ends_program })
    }

    /// The hits caused by this change.
    pub fn hits_of(&mut self, state: &State, change: &BreakpointChange) -> Vec<Hit> {
        let mut hits = Vec::new();
        if let Some(place) = &change.place {
            let mut matched = state.breakpoints_on(place);
            if matches!(place, BreakpointPlace::Trouble(Some(trouble)) if trouble.is_failure()) {
                matched.extend(state.breakpoints_on(&BreakpointPlace::Trouble(None)));
            }
            hits.extend(self.met(Facts::of_session(state), matched));
        }
        if change.ends_program {
            // A run to a frame that is over stops at the end of the program at the latest.
            let known = state.breakpoints.iter().filter(|(_, it)| it.on);
            let frames = known.filter(|(_, it)| matches!(it.spec.place, BreakpointPlace::Frame(_)));
            hits.extend(frames.map(|(id, known)| self.hit(*id, known, |_| String::new())));
        }
        hits.extend(self.changed_values(state));
        hits
    }

    /// The breakpoints on values that changed with this event.
    fn changed_values(&mut self, state: &State) -> Vec<Hit> {
        let known = std::mem::take(&mut self.values);
        let facts = Facts::of_session(state);
        let resolver = Resolver(&facts);
        let evaluator = Evaluator::new(&resolver);
        let (mut values, mut hits) = (BTreeMap::new(), Vec::new());
        for (id, breakpoint) in state.breakpoints.iter().filter(|(_, it)| it.on) {
            let BreakpointPlace::Value { of, crosses } = &breakpoint.spec.place else { continue };
            let now = evaluator.value(of).ok();
            let condition = breakpoint.spec.condition.as_ref();
            if let Some(was) = known.get(id)
                && has_changed(was.as_ref(), now.as_ref(), crosses.map(f64::from))
                && condition.is_none_or(|condition| evaluator.holds(condition))
            {
                let shown = |value: &Option<ExpressionValue>| {
                    value.as_ref().map_or_else(|| "nothing".to_owned(), ExpressionValue::shown)
                };
                hits.push(self.hit(*id, breakpoint, |spec| match &spec.log {
                    Some(log) => log.filled(&evaluator),
                    None => format!("{of}: {} → {}", shown(was), shown(&now)),
                }));
            }
            values.insert(*id, now);
        }
        self.values = values;
        hits
    }

    /// The breakpoints that a stopped program hits.
    pub fn hits_in_program(&self, state: &State, at: &LineStop) -> Vec<Hit> {
        let known = state.breakpoints.iter().filter(|(_, it)| it.on && it.spec.is_hit(at));
        known.map(|(id, known)| self.hit(*id, known, |spec| spec.said(at))).collect()
    }
}

/// Whether a value counts as changed: a boolean that became true, a number that crossed the given one, or any other
/// change.
fn has_changed(
    was: Option<&ExpressionValue>,
    now: Option<&ExpressionValue>,
    crosses: Option<f64>,
) -> bool {
    if let Some(border) = crosses {
        let below = |value: Option<&ExpressionValue>| Some(value?.number()? < border);
        return below(was).zip(below(now)).is_some_and(|(was, now)| was != now);
    }
    match now.and_then(ExpressionValue::flag) {
        Some(is) => is && was.and_then(ExpressionValue::flag) != Some(true),
        None => was != now,
    }
}

/// The place between calls at which this event happens.
fn place_of(event: &Event) -> Option<BreakpointPlace> {
    match event {
        Event::Plan(PlanEvent::PlanWritten { .. })
        | Event::Budget(BudgetEvent::BudgetPlanned { .. }) => Some(BreakpointPlace::Plan),
        Event::Task(TaskEvent::StepStarted { .. } | TaskEvent::TaskStarted { .. }) => {
            Some(BreakpointPlace::Step)
        }
        Event::Plan(PlanEvent::PlanRefused { .. })
        | Event::Graph(GraphEvent::EvaluationRefused { .. }) => {
            Some(BreakpointPlace::Trouble(Some(Trouble::Unparsable)))
        }
        Event::Task(TaskEvent::ToolArraySet { lost: Some(_), .. }) => {
            Some(BreakpointPlace::Trouble(Some(Trouble::CacheBreak)))
        }
        Event::Program(
            ProgramEvent::ProgramRefused { .. }
            | ProgramEvent::ProgramEnded { how: ProgramVerdict::Failed, .. },
        ) => Some(BreakpointPlace::Trouble(Some(Trouble::ProgramError))),
        Event::Program(ProgramEvent::ProgramEnded { how: ProgramVerdict::Doubtful, .. }) => {
            Some(BreakpointPlace::Trouble(Some(Trouble::Doubtful)))
        }
        Event::Probe(ProbeEvent::SchemaDrifted { .. }) => {
            Some(BreakpointPlace::Trouble(Some(Trouble::Drift)))
        }
        _ => None,
    }
}

/// Whether an event changes nothing that an expression can read.
fn is_of_control(event: &Event) -> bool {
    matches!(
        event,
        Event::Breakpoint(BreakpointEvent::BreakpointHit { .. })
            | Event::Control(_)
            | Event::ModelCall(ModelCallEvent::ModelCallProgressed { .. })
            | Event::ToolCall(ToolCallEvent::ToolCallProgressed { .. })
            | Event::Server(ServerEvent::ServerSaid { .. })
    )
}
