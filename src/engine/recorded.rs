//! A session that runs again with the recorded results of models and tools, and then continues
//! live.
//!
//! An effect is answered from the record with its number, as long as both requests are the same.
//! Its events keep their order: each waits until the records before its own exist, so that parallel
//! effects end in the same order. A person's interventions are repeated at the same records. A
//! recorded answer is free, and takes no room.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde_json::Value;

use crate::domain::{
    BreakpointEvent, By, ControlEvent, EffectId, Event, Lane, ProgramEvent, Record, SessionEvent,
};

/// The effects and interventions of an earlier session, and those still to come.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// The events of each effect, the request first.
    effects: HashMap<EffectId, Vec<Record>>,
    /// Interventions, by the number of their record.
    interventions: BTreeMap<u64, Event>,
    /// Effects that wait until the records before their next one exist.
    waiting: BTreeMap<EffectId, u64>,
    /// What a person did to results, until those are there again.
    edits: HashMap<EffectId, Event>,
    /// The times of day that programs were told.
    clocks: VecDeque<i64>,
    /// A request did not match: from here on the session runs live.
    has_parted: bool,
    /// This is what an interrupted task has done: a call is answered from it whatever its number, and what it does not
    /// have runs live.
    is_resumed: bool,
    /// The session is held at the first call that runs live.
    holds_then: bool,
    /// Calls of which nobody knows what they have done are made again without asking.
    pub repeats_unknown: bool,
}

impl Recorded {
    pub fn new(records: Vec<Record>) -> Self {
        let mut recorded = Self::default();
        let mut lanes = HashMap::new();
        for record in records {
            if let Event::Program(ProgramEvent::ClockRead { millis, .. }) = record.event {
                recorded.clocks.push_back(millis);
            }
            if let Some(effect) = record.event.effect() {
                // What a person does to a call comes with the call.
                if is_by_a_person(&record.event)
                    && !matches!(record.event, Event::Edit(_) | Event::Consent(_))
                {
                    recorded.interventions.insert(record.n, record.event.clone());
                }
                lanes.insert(effect.lane(), effect.id);
                recorded.effects.entry(effect.id).or_default().push(record);
            } else if is_by_a_person(&record.event) {
                recorded.interventions.insert(record.n, record.event);
            } else if let Some(lane) = stopped(&record.event)
                && let Some(effect) = lanes.get(&lane)
            {
                recorded.effects.entry(*effect).or_default().push(record);
            }
        }
        recorded
    }

    /// What an interrupted task has done so far, which is worked on again so many records later.
    pub fn resumed(mut records: Vec<Record>, later: u64, holds_then: bool) -> Self {
        records.iter_mut().for_each(|record| record.n += later);
        Self { is_resumed: true, holds_then, ..Self::new(records) }
    }

    /// The time of day that the record told a program next.
    pub fn clock(&mut self) -> Option<i64> {
        self.clocks.pop_front().filter(|_| !self.has_parted)
    }

    /// Whether the session is to be held now, at a call that runs live: once.
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
        let first = self.interventions.first_entry().filter(|first| *first.key() <= n)?;
        Some(first.remove())
    }

    /// What a person did to the outcome of an effect.
    pub fn edit(&mut self, id: EffectId) -> Option<Event> {
        self.edits.remove(&id)
    }

    /// Notes what a person did to an outcome that is there again next.
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
        let of_it = |events: &Vec<Record>| {
            let first = events.first().and_then(|record| record.event.effect());
            first.is_some_and(|effect| effect.parent == Some(id))
        };
        self.effects.values().any(of_it)
    }

    /// Whether effects may still be answered from the record.
    pub fn answers(&self) -> bool {
        !self.has_parted && !self.effects.is_empty()
    }

    /// The events of an effect after its request, if the recorded request is equal; `Err` names the
    /// recorded request, and the difference. `None` after the end of the record.
    pub fn take(&mut self, id: EffectId, request: &Event) -> Option<Result<Vec<Record>, String>> {
        if !self.answers() {
            return None;
        }
        if self.is_resumed {
            return self.take_equal(id, request).map(Ok);
        }
        let Some(events) = self.effects.remove(&id) else {
            self.has_parted = true;
            return None;
        };
        let mut events = events.into_iter();
        let was = events.next()?;
        match difference(&was.event, request) {
            None => Some(Ok(events.collect())),
            Some(place) => {
                self.has_parted = true;
                Some(Err(format!(
                    "the record does not match: expected {} {id}, but record {} has {}; the first \
                     difference is {place}",
                    request.kind(),
                    was.n,
                    was.event.kind(),
                )))
            }
        }
    }

    /// The events of the effect that made the same request: of the same number, else the first one.
    fn take_equal(&mut self, id: EffectId, request: &Event) -> Option<Vec<Record>> {
        let is_equal = |id: &EffectId| {
            let first = self.effects.get(id).and_then(|events| events.first());
            first.is_some_and(|was| is_same_request(&was.event, request))
        };
        let equal = Some(id).filter(is_equal).or_else(|| {
            let mut others: Vec<EffectId> = self.effects.keys().copied().filter(is_equal).collect();
            others.sort_unstable();
            others.first().copied()
        })?;
        Some(self.effects.remove(&equal)?.split_off(1))
    }
}

/// Whether two requests are equal but for their numbers.
fn is_same_request(one: &Event, other: &Event) -> bool {
    let [one, other] = [one, other].map(|event| {
        let mut value = serde_json::to_value(event).unwrap_or_default();
        let data = value.get_mut("data").and_then(Value::as_object_mut);
        data.map(|fields| fields.shift_remove("effect"));
        value
    });
    one == other
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
        // Only a person requests these.
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
    let [one, other] = [one, other].map(|event| serde_json::to_value(event).unwrap_or_default());
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
