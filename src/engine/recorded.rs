//! A session that runs again with the recorded results of models and tools, and then continues
//! live.
//!
//! An effect is answered from the recorded effect with the same request in the same run; of several, from the one with
//! its number, else from the first. Its events keep their order: each waits until the records before its own exist, so
//! that parallel effects end in the same order. A person's interventions are repeated at the same records. A recorded
//! answer is free, and takes no room.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use serde_json::Value;

use super::RecordSource;
use crate::domain::event::json_of;
use crate::domain::state::{Keeps, RECENT};
use crate::domain::{
    BreakpointEvent, By, ControlEvent, EffectId, Event, Lane, ProgramEvent, Record, RunId,
    SessionEvent, State, TaskId,
};

/// The fields of a request that number it.
const NUMBERS: [&str; 2] = ["effect", "task"];

/// How many records are read before they are due: so far away may be a person's edit of a result.
const AHEAD: u64 = 16_384;

/// The effects and interventions of an earlier session, and those still to come.
#[derive(Default)]
pub(super) struct Recorded {
    /// The records that were not read so far.
    source: Option<Box<dyn Iterator<Item = Record>>>,
    /// The number of the last record that was read.
    read: u64,
    runs: Runs,
    /// The last effect of each lane.
    lanes: HashMap<Lane, EffectId>,
    /// Whether an effect that has no end in the record runs live.
    is_fork: bool,
    /// The events of each effect, the request first.
    effects: HashMap<EffectId, Vec<Record>>,
    /// The effects with this request, by run and hash, in order.
    requests: HashMap<(RunId, u64), Vec<EffectId>>,
    /// The numbers here of the effects of the record, if they differ.
    renumbered: HashMap<EffectId, EffectId>,
    /// Interventions, by the number of their record.
    interventions: BTreeMap<u64, Event>,
    /// Effects that wait until the records before their next one exist.
    waiting: BTreeMap<EffectId, u64>,
    /// A person's edits of results, until those results exist again.
    edits: HashMap<EffectId, Event>,
    /// The times of day that programs received.
    clocks: VecDeque<i64>,
    /// Whether a request did not match: from here on the session runs live.
    has_parted: bool,
    /// Whether the record is of an interrupted task: it answers calls regardless of their numbers, and calls that it
    /// lacks run live.
    is_resumed: bool,
    /// Whether the session is held at the first call that runs live.
    holds_then: bool,
    /// Whether calls with an unknown outcome are made again without asking.
    pub repeats_unknown: bool,
}

impl Recorded {
    /// The record of a session.
    pub fn again(of: RecordSource) -> Self {
        let runs = Runs::of(of.facts(), &State::default());
        Self::over(of.into_iter(), runs, Self::default())
    }

    /// The record of a session up to the event with this number. An effect that had not ended by then runs live.
    pub fn forked(of: RecordSource, at: u64, holds_then: bool) -> Self {
        let runs = Runs::of(of.facts(), &State::default());
        let until = of.into_iter().take_while(move |record| record.n <= at);
        Self::over(until, runs, Self { is_fork: true, holds_then, ..Self::default() })
    }

    /// The record of the tasks that were at work. Their work begins again with record numbers that are `later` higher.
    pub fn resumed(mut records: Vec<Record>, before: &State, later: u64, holds_then: bool) -> Self {
        let runs = Runs::of(&records, before);
        records.iter_mut().for_each(|record| record.n += later);
        let resumed = Self { is_resumed: true, holds_then, ..Self::default() };
        let mut resumed = Self::over(records.into_iter(), runs, resumed);
        resumed.read_to(u64::MAX);
        resumed
    }

    fn over(source: impl Iterator<Item = Record> + 'static, runs: Runs, empty: Self) -> Self {
        let mut recorded = Self { source: Some(Box::new(source)), runs, ..empty };
        recorded.read_to(AHEAD);
        recorded
    }

    /// Reads the records up to this number.
    fn read_to(&mut self, n: u64) {
        while self.read < n && self.read_next() {}
    }

    /// Reads the next record; false at the end.
    fn read_next(&mut self) -> bool {
        let Some(source) = &mut self.source else { return false };
        let Some(record) = source.next() else {
            self.source = None;
            if self.is_fork {
                self.effects.retain(|_, events| events.iter().any(|it| it.event.is_end()));
            }
            return false;
        };
        self.read = record.n;
        self.runs.note(&record);
        if let Event::Program(ProgramEvent::ClockRead { millis, .. }) = record.event {
            self.clocks.push_back(millis);
        }
        if let Some(effect) = record.event.effect() {
            // A person's edit of a call is repeated with the call.
            if is_by_a_person(&record.event)
                && !matches!(record.event, Event::Edit(_) | Event::Consent(_))
            {
                self.interventions.insert(record.n, record.event.clone());
            }
            if let Some(task) = record.event.request_of() {
                let key = (self.runs.of_task(task), hash(&record.event));
                self.requests.entry(key).or_default().push(effect.id);
            } else if !self.effects.contains_key(&effect.id) {
                // The effect was answered already.
                return true;
            }
            if self.lanes.len() > AHEAD as usize {
                let effects = &self.effects;
                self.lanes.retain(|_, id| effects.contains_key(id));
            }
            self.lanes.insert(effect.lane(), effect.id);
            self.effects.entry(effect.id).or_default().push(record);
        } else if is_by_a_person(&record.event) {
            self.interventions.insert(record.n, record.event);
        } else if let Some(lane) = stopped(&record.event)
            && let Some(effect) = self.lanes.get(&lane)
            && let Some(events) = self.effects.get_mut(effect)
        {
            events.push(record);
        }
        true
    }

    /// The time of day that a program received next in the record.
    pub fn clock(&mut self) -> Option<i64> {
        self.clocks.pop_front().filter(|_| !self.has_parted)
    }

    /// Whether the session must be held now, at a call that runs live: true only once.
    pub fn holds_now(&mut self) -> bool {
        std::mem::take(&mut self.holds_then)
    }

    pub fn holds_later(&self) -> bool {
        self.holds_then
    }

    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The next intervention, if it is due before record number `n` is made.
    pub fn intervention(&mut self, n: u64) -> Option<Event> {
        if self.has_parted && !self.is_resumed {
            return None;
        }
        self.read_to(n + AHEAD);
        let first = self.interventions.first_entry().filter(|first| *first.key() <= n)?;
        Some(first.remove())
    }

    /// Takes a person's edit of an effect's outcome.
    pub fn edit(&mut self, id: EffectId) -> Option<Event> {
        self.edits.remove(&id)
    }

    /// Notes a person's edit of the outcome that is repeated next.
    pub fn note_edit(&mut self, id: EffectId, edit: Event) {
        self.edits.insert(id, edit);
    }

    /// Lets an effect wait until record `n` is due.
    pub fn wait(&mut self, id: EffectId, n: u64) {
        self.waiting.insert(id, n);
    }

    pub fn go_on(&mut self, id: EffectId) {
        self.waiting.remove(&id);
    }

    /// Whether an effect is the first one waiting and nothing else can happen: then a record that
    /// never comes must not block it.
    pub fn is_next(&self, id: EffectId, mut live: impl Iterator<Item = Lane>) -> bool {
        let first = self.waiting.iter().min_by_key(|(_, n)| **n).map(|(id, _)| *id);
        let waits = |lane: Lane| match lane {
            Lane::Run(_) => false,
            Lane::Effect(effect) => self.waiting.contains_key(&effect),
        };
        first == Some(id) && live.all(waits)
    }

    /// Whether the recorded session made this call again.
    pub fn repeats(&self, id: EffectId) -> bool {
        let was = self.renumbered.get(&id).copied().unwrap_or(id);
        let of_it = |events: &Vec<Record>| {
            let first = events.first().and_then(|record| record.event.effect());
            first.is_some_and(|effect| effect.parent == Some(was))
        };
        self.effects.values().any(of_it)
    }

    /// Whether the record may still answer effects.
    pub fn answers(&self) -> bool {
        !self.has_parted && (self.source.is_some() || !self.effects.is_empty())
    }

    /// The events of an effect of this run after its request, if the record has an equal one; `Err` names the recorded
    /// request, and the difference. `None` after the end of the record.
    pub fn take(
        &mut self,
        id: EffectId,
        run: RunId,
        request: &Event,
    ) -> Option<Result<Vec<Record>, String>> {
        if !self.answers() {
            return None;
        }
        if let Some(events) = self.take_equal(id, run, request) {
            return Some(Ok(events));
        }
        if self.is_resumed {
            return None;
        }
        (self.has_parted, self.source) = (true, None);
        let was = self.effects.remove(&id)?.into_iter().next()?;
        let place = difference(&was.event, request)?;
        Some(Err(format!(
            "the record does not match: expected {} {id}, but record {} has {}; the first \
             difference is {place}",
            request.kind(),
            was.n,
            was.event.kind(),
        )))
    }

    /// The events of the effect of this run with the same request: preferably with the same number, else the first one.
    fn take_equal(&mut self, id: EffectId, run: RunId, request: &Event) -> Option<Vec<Record>> {
        let (effects, key) = (&self.effects, (run, hash(request)));
        let equal = self.requests.get_mut(&key)?;
        equal.retain(|id| effects.contains_key(id));
        let is_equal = |id: &EffectId| {
            let first = effects.get(id).and_then(|events| events.first());
            first.is_some_and(|was| difference(&was.event, request).is_none())
        };
        let same = equal.iter().position(|other| *other == id && is_equal(other));
        let at = same.or_else(|| equal.iter().position(is_equal))?;
        let was = equal.remove(at);
        if equal.is_empty() {
            self.requests.remove(&key);
        }
        // It may have taken long.
        let has_end = |events: &Vec<Record>| events.iter().any(|it| it.event.is_end());
        while self.effects.get(&was).is_some_and(|events| !has_end(events)) && self.read_next() {}
        let events = self.effects.remove(&was)?;
        if was != id {
            self.renumbered.insert(id, was);
        }
        Some(events.into_iter().skip(1).collect())
    }
}

/// The runs of the tasks at each point of a record.
#[derive(Default)]
struct Runs(Option<State>);

impl Runs {
    /// With only one run, its records need not be folded.
    fn of(records: &[Record], before: &State) -> Self {
        let opens = |record: &Record| matches!(record.event, Event::Run(_));
        let are_several = !before.runs.is_empty() || records.iter().any(opens);
        let keeps = Keeps::Tasks(RECENT);
        let is_new = before.n == 0;
        Self(are_several.then(|| if is_new { State::keeping(keeps) } else { before.clone() }))
    }

    fn note(&mut self, record: &Record) {
        self.0.iter_mut().for_each(|state| state.apply(record));
    }

    fn of_task(&self, task: TaskId) -> RunId {
        self.0.as_ref().map_or(RunId::FIRST, |state| state.run_of(task))
    }
}

/// A request without its numbers.
fn unnumbered(event: &Event) -> Value {
    let mut value = json_of(event);
    if let Some(data) = value.get_mut("data").and_then(Value::as_object_mut) {
        data.retain(|key, _| !NUMBERS.contains(&key.as_str()));
    }
    value
}

fn hash(request: &Event) -> u64 {
    FixedState::default().hash_one(unnumbered(request).to_string())
}

/// The lane that an event holds or releases.
fn stopped(event: &Event) -> Option<Lane> {
    match event {
        Event::Control(ControlEvent::Held { lane, .. } | ControlEvent::Released { lane })
        | Event::Breakpoint(BreakpointEvent::BreakpointHit { lane: Some(lane), .. }) => Some(*lane),
        _ => None,
    }
}

fn is_by_a_person(event: &Event) -> bool {
    match event {
        // Only a person causes these events.
        Event::Session(
            SessionEvent::CommandRefused { .. }
            | SessionEvent::ModelsProbed { .. }
            | SessionEvent::ModelReached { .. },
        ) => true,
        event => event.by().is_some_and(|by| by != By::Engine),
    }
}

/// The first field in which two requests differ; times and origins do not count.
fn difference(one: &Event, other: &Event) -> Option<String> {
    let [one, other] = [one, other].map(unnumbered);
    first_difference("", &one, &other)
}

fn first_difference(at: &str, one: &Value, other: &Value) -> Option<String> {
    let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            keys.filter(|key| *key != "origin").find_map(|key| {
                let null = Value::Null;
                let sides = (one.get(key).unwrap_or(&null), other.get(key).unwrap_or(&null));
                first_difference(&below(key), sides.0, sides.1)
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other).enumerate();
            pairs
                .into_iter()
                .find_map(|(i, (one, other))| first_difference(&below(&i.to_string()), one, other))
        }
        _ => (one != other).then(|| at.to_owned()),
    }
}

#[cfg(test)]
mod tests;
