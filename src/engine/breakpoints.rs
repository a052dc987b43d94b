//! Breakpoints at work: which ones a call or an event hits, and the stop that follows.

use std::collections::BTreeMap;

use super::session::Session;
use super::watched::Change;
use crate::domain::breakpoint::{BreakpointSpec, Place, Trouble};
use crate::domain::expression::{Answer, Evaluator, Resolver};
use crate::domain::program::LineStop;
use crate::domain::{
    Boundary, BreakpointEvent, BreakpointId, BreakpointState, BudgetEvent, By, ControlEvent, Event,
    GraphEvent, Lane, ModelCallEvent, PlanEvent, ProbeEvent, ProgramEvent, ProgramVerdict, Resume,
    SessionEvent, TaskEvent,
};
use crate::papers::facts::Facts;

/// A breakpoint that matched.
struct Hit {
    breakpoint: BreakpointId,
    text: String,
    holds: bool,
    alone: bool,
}

impl Session {
    /// Looks for breakpoints at a boundary that a lane has reached, and stops there if one holds.
    pub fn meet(&mut self, lane: Lane, boundary: Boundary) {
        if self.state.breakpoints.is_empty() || self.lanes.is_by_hand(lane) {
            return;
        }
        let hits = self.hits_at(lane, boundary);
        self.stop_at(hits, Some((lane, boundary)));
    }

    fn hits_at(&self, lane: Lane, boundary: Boundary) -> Vec<Hit> {
        let state = &self.state;
        let (facts, matched) = match lane {
            Lane::Effect(call) => {
                let when = boundary.side();
                (Facts::of_call(state, call, when), state.breakpoints_at(call, when))
            }
            Lane::Agent => {
                let place = match boundary {
                    Boundary::BeforeTask => Place::Task,
                    Boundary::AfterEvaluation => Place::Evaluation,
                    _ => return Vec::new(),
                };
                (Facts::of_session(state), state.breakpoints_on(&place))
            }
        };
        self.met(facts, matched)
    }

    /// Those of these breakpoints whose conditions hold.
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
        let holds = self.breakpoints.has_user && known.spec.holds_at(nth);
        let text = if known.spec.is_due(nth) { text(&known.spec) } else { String::new() };
        Hit { breakpoint, text, holds, alone: known.spec.alone }
    }

    fn stop_at(&mut self, hits: Vec<Hit>, at: Option<(Lane, Boundary)>) {
        let (lane, boundary) = at.unzip();
        for hit in hits {
            let Hit { breakpoint, text, holds, alone } = hit;
            self.emit(BreakpointEvent::BreakpointHit { breakpoint, lane, boundary, holds, text });
            match lane {
                _ if !holds => {}
                Some(lane) if alone && !self.state.control.paused_lanes.contains(&lane) => {
                    self.emit(ControlEvent::LanePaused { lane, by: By::Engine });
                }
                _ => self.revoke_step(),
            }
        }
        self.settle();
    }

    /// What an event may change that a breakpoint is set on; `None`: nothing.
    pub fn change_of(&self, event: &Event) -> Option<Change> {
        let is_looked_at = !self.state.breakpoints.is_empty() && !is_of_control(event);
        let ends_program = matches!(event, Event::Program(ProgramEvent::ProgramEnded { .. }));
        is_looked_at.then(|| Change { place: place_of(event), ends_program })
    }

    /// Looks for breakpoints on what an event has changed.
    pub fn watch(&mut self, change: &Change) {
        let mut hits = Vec::new();
        if let Some(place) = &change.place {
            let mut matched = self.state.breakpoints_on(place);
            if matches!(place, Place::Trouble(Some(trouble)) if trouble.is_failure()) {
                matched.extend(self.state.breakpoints_on(&Place::Trouble(None)));
            }
            hits.extend(self.met(Facts::of_session(&self.state), matched));
        }
        if change.ends_program {
            // Who runs to a frame that is over stops with the program at the latest.
            let known = self.state.breakpoints.iter().filter(|(_, it)| it.on);
            let frames = known.filter(|(_, it)| matches!(it.spec.place, Place::Frame(_)));
            let over: Vec<Hit> =
                frames.map(|(id, known)| self.hit(*id, known, |_| String::new())).collect();
            hits.extend(over);
        }
        hits.extend(self.changed_values());
        if !hits.is_empty() {
            self.stop_at(hits, None);
        }
    }

    /// The breakpoints on values that changed since the event before.
    fn changed_values(&mut self) -> Vec<Hit> {
        let known = std::mem::take(&mut self.breakpoints.values);
        let facts = Facts::of_session(&self.state);
        let resolver = Resolver(&facts);
        let evaluator = Evaluator::new(&resolver);
        let (mut values, mut hits) = (BTreeMap::new(), Vec::new());
        for (id, breakpoint) in self.state.breakpoints.iter().filter(|(_, it)| it.on) {
            let Place::Value { of, crosses } = &breakpoint.spec.place else { continue };
            let now = evaluator.value(of).ok();
            let condition = breakpoint.spec.condition.as_ref();
            if let Some(was) = known.get(id)
                && has_changed(was.as_ref(), now.as_ref(), crosses.map(f64::from))
                && condition.is_none_or(|condition| evaluator.holds(condition))
            {
                let shown = |value: &Option<Answer>| {
                    value.as_ref().map_or_else(|| "nothing".to_owned(), Answer::shown)
                };
                hits.push(self.hit(*id, breakpoint, |spec| match &spec.log {
                    Some(log) => log.filled(&evaluator),
                    None => format!("{of}: {} → {}", shown(was), shown(&now)),
                }));
            }
            values.insert(*id, now);
        }
        self.breakpoints.values = values;
        hits
    }

    /// Sets a breakpoint, or changes one.
    pub fn set_breakpoint(
        &mut self,
        breakpoint: Option<BreakpointId>,
        spec: BreakpointSpec,
        on: bool,
        by: By,
    ) -> Result<(), String> {
        self.check_place(&spec.place)?;
        self.check_python(&spec)?;
        let known = breakpoint.and_then(|id| self.state.breakpoints.get(&id));
        if known.is_some_and(|known| known.spec == spec && known.on == on) {
            return Err("it already has these settings".to_owned());
        }
        let was = known.map(|known| Box::new(known.spec.clone()));
        let breakpoint = breakpoint.unwrap_or_else(|| self.next_breakpoint());
        let (spec, temporary) = (Box::new(spec), false);
        self.intervene(BreakpointEvent::BreakpointSet { breakpoint, spec, was, on, temporary, by });
        Ok(())
    }

    /// Sets a breakpoint with which the session begins. What it names may be another workspace's, and is told
    /// then.
    pub fn begin_with(&mut self, spec: BreakpointSpec, on: bool) {
        let written = spec.to_string();
        if let Err(why) = self.set_breakpoint(None, spec, on, By::User) {
            let text = format!("breakpoint {written} is left out: {why}");
            self.emit(SessionEvent::Noticed { text });
        }
    }

    pub fn switch_breakpoint(
        &mut self,
        breakpoint: BreakpointId,
        on: bool,
        by: By,
    ) -> Result<(), String> {
        if self.breakpoint(breakpoint)?.on == on {
            let how = if on { "on" } else { "off" };
            return Err(format!("breakpoint {breakpoint} is {how} already"));
        }
        self.intervene(BreakpointEvent::BreakpointSwitched { breakpoint, on, by });
        Ok(())
    }

    pub fn delete_breakpoint(&mut self, breakpoint: BreakpointId, by: By) -> Result<(), String> {
        let known = self.breakpoint(breakpoint)?;
        let (spec, on) = (Box::new(known.spec.clone()), known.on);
        self.intervene(BreakpointEvent::BreakpointDeleted { breakpoint, spec, on, by });
        Ok(())
    }

    /// Runs on until a breakpoint of its own holds.
    pub fn run_to(&mut self, spec: BreakpointSpec, by: By) -> Result<(), String> {
        if !self.breakpoints.has_user {
            return Err("without a screen nobody could resume from there".to_owned());
        }
        self.check_place(&spec.place)?;
        self.check_python(&spec)?;
        let breakpoint = self.next_breakpoint();
        let (spec, was, on, temporary) = (Box::new(spec), None, true, true);
        self.intervene(BreakpointEvent::BreakpointSet { breakpoint, spec, was, on, temporary, by });
        self.intervene(ControlEvent::Resumed { how: Resume::Run, by });
        Ok(())
    }

    fn breakpoint(&self, id: BreakpointId) -> Result<&BreakpointState, String> {
        self.state.breakpoints.get(&id).ok_or_else(|| format!("there is no breakpoint {id}"))
    }

    fn next_breakpoint(&self) -> BreakpointId {
        BreakpointId(self.state.breakpoints_set.saturating_add(1))
    }

    /// Whether what a place names exists.
    fn check_place(&self, place: &Place) -> Result<(), String> {
        match place {
            Place::Call(target) => target.among(&self.state.fault_targets()),
            _ => Ok(()),
        }
    }

    /// Whether its expressions are Python and call nothing.
    fn check_python(&self, spec: &BreakpointSpec) -> Result<(), String> {
        spec.python.expressions().try_for_each(|expression| self.check_expression(&expression))
    }

    /// Looks for breakpoints in a program where it has stopped.
    pub fn meet_in_program(&mut self, at: &LineStop) {
        let known = self.state.breakpoints.iter().filter(|(_, it)| it.on && it.spec.is_hit(at));
        let hits: Vec<Hit> =
            known.map(|(id, known)| self.hit(*id, known, |spec| spec.said(at))).collect();
        if !hits.is_empty() {
            self.stop_at(hits, Some((Lane::Agent, Boundary::ProgramLine)));
        }
    }

    /// Whether one of these breakpoints would hold where a program has stopped, or say something.
    pub fn is_hit_in_program(&self, at: &LineStop) -> bool {
        let mut known = self.state.breakpoints.values().filter(|known| known.on);
        known.any(|known| known.spec.is_hit(at))
    }
}

/// Whether a value counts as changed: a truth that became true, a number that passed another one, or
/// anything else.
fn has_changed(was: Option<&Answer>, now: Option<&Answer>, crosses: Option<f64>) -> bool {
    if let Some(border) = crosses {
        let below = |value: Option<&Answer>| Some(value?.number()? < border);
        return below(was).zip(below(now)).is_some_and(|(was, now)| was != now);
    }
    match now.and_then(Answer::flag) {
        Some(is) => is && was.and_then(Answer::flag) != Some(true),
        None => was != now,
    }
}

/// The place between calls at which this event happens.
fn place_of(event: &Event) -> Option<Place> {
    match event {
        Event::Plan(PlanEvent::PlanWritten { .. })
        | Event::Budget(BudgetEvent::BudgetPlanned { .. }) => Some(Place::Plan),
        Event::Task(TaskEvent::StepStarted { .. } | TaskEvent::TaskStarted { .. }) => {
            Some(Place::Step)
        }
        Event::Plan(PlanEvent::PlanRefused { .. })
        | Event::Graph(GraphEvent::EvaluationRefused { .. }) => {
            Some(Place::Trouble(Some(Trouble::Unparsable)))
        }
        Event::Task(TaskEvent::ToolArraySet { lost: Some(_), .. }) => {
            Some(Place::Trouble(Some(Trouble::CacheBreak)))
        }
        Event::Program(
            ProgramEvent::ProgramRefused { .. }
            | ProgramEvent::ProgramEnded { how: ProgramVerdict::Failed, .. },
        ) => Some(Place::Trouble(Some(Trouble::ProgramError))),
        Event::Program(ProgramEvent::ProgramEnded { how: ProgramVerdict::Doubtful, .. }) => {
            Some(Place::Trouble(Some(Trouble::Doubtful)))
        }
        Event::Probe(ProbeEvent::SchemaDrifted { .. }) => {
            Some(Place::Trouble(Some(Trouble::Drift)))
        }
        _ => None,
    }
}

/// Whether an event changes nothing that a value could be of.
fn is_of_control(event: &Event) -> bool {
    matches!(
        event,
        Event::Breakpoint(BreakpointEvent::BreakpointHit { .. })
            | Event::Control(_)
            | Event::ModelCall(ModelCallEvent::ModelCallProgressed { .. })
    )
}
