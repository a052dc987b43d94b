//! Landmarks: the events that a person wants to go to, by kind. The number of events kept is bounded, for sessions of
//! any length.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::{
    BreakpointEvent, BudgetEvent, By, EmbeddingEvent, Event, FaultEvent, GraphEvent,
    ModelCallEvent, Origin, TaskEvent, ToolCallEvent,
};

/// The most event numbers that are kept of each kind.
const MOST: usize = 2048;

/// Why an event is worth going to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Landmark {
    /// A task ended with a wrong answer, or with none.
    Wrong,
    /// A call failed by itself.
    Failed,
    /// A call failed by an injected fault.
    FailedByFault,
    /// An injected fault fired.
    Fired,
    /// A task ended.
    TaskEnded,
    /// A score, a weight, a plan, a knob or another setting changed.
    Changed,
    /// A person changed something.
    Edited,
    /// A breakpoint has stopped the agent.
    Stopped,
    /// The spending of a task went beyond its budget.
    Over,
    /// A problem was noted.
    Problem,
}

impl Landmark {
    /// The kinds of an event that follow from the event alone: all but [`Landmark::Over`] and [`Landmark::Problem`].
    pub fn of(event: &Event) -> impl Iterator<Item = Landmark> {
        let by_person = matches!(event.by(), Some(By::User | By::Undo(_) | By::Redo(_)));
        // Running, pausing and breaking change nothing.
        let edited = by_person && !matches!(event, Event::Control(_) | Event::Breakpoint(_));
        [Self::end_of(event), Self::change_of(event), edited.then_some(Landmark::Edited)]
            .into_iter()
            .chain([is_wrong(event).then_some(Landmark::Wrong)])
            .flatten()
    }

    fn end_of(event: &Event) -> Option<Self> {
        let failed = |origin| match origin {
            Origin::Injected => Landmark::FailedByFault,
            _ => Landmark::Failed,
        };
        Some(match event {
            Event::Task(TaskEvent::TaskFinished { .. }) => Landmark::TaskEnded,
            Event::ToolCall(ToolCallEvent::ToolCallFailed { effect, .. })
            | Event::ModelCall(ModelCallEvent::ModelCallFailed { effect, .. })
            | Event::Embedding(EmbeddingEvent::EmbeddingFailed { effect, .. }) => {
                failed(effect.origin)
            }
            Event::Fault(FaultEvent::FaultFired { .. }) => Landmark::Fired,
            Event::Breakpoint(BreakpointEvent::BreakpointHit { holds: true, .. }) => {
                Landmark::Stopped
            }
            _ => return None,
        })
    }

    fn change_of(event: &Event) -> Option<Self> {
        let is_change = match event {
            Event::Change(_) => true,
            Event::Graph(GraphEvent::Evaluated { verdicts, learned, .. }) => {
                *learned && verdicts.iter().any(|verdict| verdict.score != 0)
            }
            Event::Graph(GraphEvent::GraphLoaded { .. }) => false,
            Event::Graph(GraphEvent::EvaluationRefused { .. }) => false,
            Event::Graph(_) => true,
            Event::Budget(BudgetEvent::BudgetPlanned { .. } | BudgetEvent::UsesSet { .. }) => true,
            _ => false,
        };
        is_change.then_some(Landmark::Changed)
    }
}

fn is_wrong(event: &Event) -> bool {
    match event {
        Event::Task(TaskEvent::TaskFinished { outcome, correct, .. }) => outcome.is_wrong(*correct),
        _ => false,
    }
}

/// The landmarks of a session so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Landmarks(BTreeMap<Landmark, EventNumbers>);

/// The numbers of the events of one kind. If there are more than [`MOST`], only the last one in each range of
/// `every` numbers is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct EventNumbers {
    /// Number of such events, kept or not.
    count: u64,
    every: u64,
    events: Vec<u64>,
}

impl Landmarks {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `is_edit`: a change of a person counts.
    pub(super) fn remember(&mut self, n: u64, event: &Event, is_edit: bool) {
        for kind in Landmark::of(event).filter(|kind| is_edit || *kind != Landmark::Edited) {
            self.add(kind, n);
        }
    }

    pub(super) fn add(&mut self, kind: Landmark, n: u64) {
        let new = || EventNumbers { count: 0, every: 1, events: Vec::new() };
        self.0.entry(kind).or_insert_with(new).push(n);
    }

    /// The number of events of a kind so far.
    pub fn count(&self, kind: Landmark) -> u64 {
        self.0.get(&kind).map_or(0, |numbers| numbers.count)
    }

    /// Whether all events of a kind are kept.
    pub fn is_whole(&self, kind: Landmark) -> bool {
        self.0.get(&kind).is_none_or(|numbers| numbers.every == 1)
    }

    /// The first kept event of a kind after this one. The last event of a kind is always kept.
    pub fn after(&self, kind: Landmark, n: u64) -> Option<u64> {
        let events = &self.0.get(&kind)?.events;
        events.get(events.partition_point(|event| *event <= n)).copied()
    }

    /// The last kept event of a kind before this one.
    pub fn before(&self, kind: Landmark, n: u64) -> Option<u64> {
        let events = &self.0.get(&kind)?.events;
        let at = events.partition_point(|event| *event < n);
        at.checked_sub(1).and_then(|at| events.get(at)).copied()
    }

    /// The first event of a kind, or a lower bound for it if not all events are kept.
    pub fn first(&self, kind: Landmark) -> Option<u64> {
        let numbers = self.0.get(&kind)?;
        let first = numbers.events.first()?;
        Some(if numbers.every == 1 {
            *first
        } else {
            (first / numbers.every * numbers.every).max(1)
        })
    }
}

impl EventNumbers {
    fn push(&mut self, n: u64) {
        match self.events.last_mut() {
            // A damaged journal may count backwards.
            Some(last) if *last >= n => return,
            Some(last) if *last / self.every == n / self.every => *last = n,
            _ => self.events.push(n),
        }
        self.count += 1;
        while self.events.len() > MOST {
            self.every *= 2;
            let every = self.every;
            // The last event of each range stays.
            self.events.reverse();
            self.events.dedup_by_key(|event| *event / every);
            self.events.reverse();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_spread_over_the_session() {
        let mut numbers = EventNumbers { count: 0, every: 1, events: Vec::new() };
        let events: Vec<u64> = (0..1_000_000).map(|i| 7 * i + 3).collect();
        for n in &events {
            numbers.push(*n);
            assert!(numbers.events.len() <= MOST);
        }
        assert_eq!((numbers.events.last(), numbers.count), (events.last(), 1_000_000));
        assert!(numbers.events.len() > MOST / 2);
        assert!(numbers.events.windows(2).all(|two| two[1] - two[0] <= 2 * numbers.every));
        assert!(numbers.events.iter().all(|n| events.binary_search(n).is_ok()));
        let landmarks = Landmarks([(Landmark::Wrong, numbers)].into());
        assert!(serde_json::to_string(&landmarks).unwrap().len() < 20_000);
        assert_eq!(landmarks.after(Landmark::Wrong, *events.last().unwrap()), None);
        assert!(landmarks.first(Landmark::Wrong).unwrap() <= 3);
    }
}
