//! A session that runs again with the recorded results of models and tools, and then continues
//! live.
//!
//! An effect is answered from the recorded effect with the same request in the same run; of several, from the one with
//! its number, else from the first. Its events keep their order: each waits until the records before its own exist, so
//! that parallel effects end in the same order. A person's interventions are repeated at the same records. A recorded
//! answer is free, and takes no room.
//!
//! A request that differs lets its own run part from the record, and no other one. From there on the run's effects pass
//! all stations like live ones. Equal calls that change nothing are still answered from what is left of the run.
//!
//! Behind the point of a fork all runs have parted. A call that had started by then still ends as recorded.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

mod meaning;
mod record_runs;

use self::meaning::{difference, has_end, hash, is_alike, is_by_a_person, is_own_outcome, stopped};
use self::record_runs::Runs;
use super::RecordSource;
use crate::domain::call_policy::CallPolicy;
use crate::domain::{EffectClass, EffectId, Event, Lane, ProgramEvent, Record, RunId, State};

/// How many records are read before they are due: so far away may be a person's edit of a result.
const AHEAD: u64 = 16_384;
/// The microseconds within which two calls end in the same moment, as timers have it.
const MOMENT: u64 = 1_000;
/// The most effects that are kept of a run that has parted.
const MOST: usize = 32_768;

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
    how: How,
    /// The events of each effect, the request first.
    effects: HashMap<EffectId, Vec<Record>>,
    /// The effects with this request wherever it was made, by run and hash, in order.
    requests: HashMap<(RunId, u64), Vec<EffectId>>,
    /// The effects of each run that were not requested again so far.
    left: BTreeMap<RunId, BTreeSet<EffectId>>,
    /// The numbers here of the effects of the record, if they differ.
    renumbered: HashMap<EffectId, EffectId>,
    /// Interventions, by the number of their record.
    interventions: BTreeMap<u64, Event>,
    /// Effects that wait until the records before their next one exist.
    waiting: BTreeMap<EffectId, u64>,
    /// A person's edits of results, until those results exist again.
    edits: HashMap<EffectId, Event>,
    /// The times of day that programs of each run received.
    clocks: HashMap<RunId, VecDeque<i64>>,
    /// The runs of which a request did not match: from there on they run live.
    parted: BTreeSet<RunId>,
    /// The effects that had started by the point of a fork and had not ended, once that is read.
    in_flight: Option<BTreeSet<EffectId>>,
    /// Whether the session has come to that point.
    is_past: bool,
    /// The time of that point: in the record, and in this session. In microseconds since their beginnings.
    times: (u64, u64),
}

/// The reason why a record is not due yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordWait {
    Over,
    /// Other records come before it.
    ForOthers,
    /// The time that passed before it behind the point of a fork.
    For(Duration),
}

/// The part of a record that a session repeats, and how.
#[derive(Clone, Copy, Default)]
pub(super) struct How {
    /// How much higher its records are numbered here.
    pub later: u64,
    /// The number of the last record that is repeated, if the session forks there.
    pub until: Option<u64>,
    /// The source of the answers to calls behind that record.
    pub calls: CallPolicy,
    /// Whether the record is of interrupted tasks: it answers calls regardless of their numbers, and calls that it
    /// lacks run live.
    pub is_resumed: bool,
    /// Whether the session is held at the first call that runs live.
    pub holds_then: bool,
    /// Whether calls with an unknown outcome are made again without asking.
    pub repeats_unknown: bool,
}

impl Recorded {
    /// A record behind this state, or of a whole session.
    pub fn new(of: RecordSource, before: Option<&State>, how: How) -> Self {
        let runs = Runs::of(of.facts(), before);
        let records = of.into_iter().map(move |mut record| {
            record.n += how.later;
            record
        });
        let how = How { until: how.until.map(|until| until + how.later), ..how };
        let mut recorded = Self { source: Some(Box::new(records)), runs, how, ..Self::default() };
        recorded.read_to(if how.is_resumed { u64::MAX } else { AHEAD });
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
            return false;
        };
        self.read = record.n;
        if self.how.until == Some(record.n) {
            self.times.0 = record.at;
        }
        if self.is_later(record.n) && !self.takes_later(&record) {
            return true;
        }
        self.runs.note(&record);
        if let Event::Program(ProgramEvent::ClockRead { task, millis }) = record.event {
            self.clocks.entry(self.runs.of_task(task)).or_default().push_back(millis);
        }
        if let Some(effect) = record.event.effect() {
            // A person's edit of a call is repeated with the call.
            if is_by_a_person(&record.event)
                && !matches!(record.event, Event::Edit(_) | Event::Consent(_))
            {
                self.interventions.insert(record.n, record.event.clone());
            }
            if let Some(task) = record.event.request_of() {
                let run = self.runs.of_task(task);
                self.forget_old(run);
                let key = (run, hash(&record.event));
                self.requests.entry(key).or_default().push(effect.id);
                self.left.entry(run).or_default().insert(effect.id);
            } else if !self.effects.contains_key(&effect.id) {
                // The effect was answered already.
                return true;
            }
            if self.lanes.len() > AHEAD as usize {
                // Of effects that have ended, only an edit is still to come.
                let effects = &self.effects;
                self.lanes.retain(|_, id| effects.get(id).is_some_and(|events| !has_end(events)));
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

    /// Whether a record comes behind the point of a fork.
    fn is_later(&self, n: u64) -> bool {
        self.how.until.is_some_and(|until| n > until)
    }

    /// Whether a record behind the point is used: those of calls that had started by then, and of calls that the record
    /// may answer. If there can be no more of them, nothing more is read.
    fn takes_later(&mut self, record: &Record) -> bool {
        let effects = &self.effects;
        let is_open =
            |events: &[Record]| !has_end(events) && events.iter().any(|it| it.event.is_start());
        let in_flight = self.in_flight.get_or_insert_with(|| {
            effects.iter().filter(|(_, events)| is_open(events)).map(|(id, _)| *id).collect()
        });
        let has_recorded = self.how.calls.has_recorded();
        if in_flight.is_empty() && !has_recorded {
            self.source = None;
        }
        let Some(effect) = record.event.effect() else { return false };
        if record.event.is_end() && in_flight.remove(&effect.id) {
            return true;
        }
        match record.event.request_of() {
            Some(_) => self.how.calls.is_recorded(effect.class),
            None => {
                let is_recorded = self.how.calls.is_recorded(effect.class);
                let is_in_flight = in_flight.contains(&effect.id);
                let first = self.effects.get(&effect.id).and_then(|events| events.first());
                is_in_flight || (is_recorded && first.is_some())
            }
        }
    }

    /// Forgets the oldest effects of a run that has parted from the record.
    fn forget_old(&mut self, run: RunId) {
        let has_parted = self.has_parted(run);
        let left = self.left.get_mut(&run).filter(|left| has_parted && left.len() >= MOST);
        let Some(left) = left else { return };
        for id in left.iter().take(MOST / 2) {
            self.effects.remove(id);
        }
        self.forget_gone();
    }

    /// Whether the record may have more events of an effect.
    fn goes_on(&self, events: &[Record]) -> bool {
        let has_started = events.iter().any(|record| record.event.is_start());
        !has_end(events) && (has_started || !self.is_later(self.read))
    }

    /// Forgets the numbers of effects that are forgotten.
    fn forget_gone(&mut self) {
        let effects = &self.effects;
        self.left.values_mut().for_each(|ids| ids.retain(|id| effects.contains_key(id)));
        self.requests.retain(|_, ids| {
            ids.retain(|id| effects.contains_key(id));
            !ids.is_empty()
        });
    }

    /// The time of day that a program of this run received next in the record.
    pub fn clock(&mut self, run: RunId) -> Option<i64> {
        if self.has_parted(run) { None } else { self.clocks.get_mut(&run)?.pop_front() }
    }

    /// Whether the session must be held now, at a call that runs live: true only once.
    pub fn holds_now(&mut self) -> bool {
        std::mem::take(&mut self.how.holds_then)
    }

    pub fn how(&self) -> How {
        self.how
    }

    /// Whether a request of this run did not match.
    pub fn has_parted(&self, run: RunId) -> bool {
        self.is_past || self.parted.contains(&run)
    }

    /// Whether the numbers of records are those of the record, since no run has parted from it.
    pub fn keeps_numbers(&self) -> bool {
        self.parted.is_empty()
    }

    /// Whether runs have parted from the record, and no other run has anything left in it up to the point of a fork.
    fn is_over(&self) -> bool {
        let is_early = |id: &EffectId| {
            let first = self.effects.get(id).and_then(|events| events.first());
            first.is_some_and(|first| !self.is_later(first.n))
        };
        let mut left = self.left.iter().filter(|(run, _)| !self.parted.contains(run));
        !self.keeps_numbers() && left.all(|(_, ids)| !ids.iter().any(is_early))
    }

    /// Whether the session forks here, where `n` records are made: true only once. A session that has left its record
    /// before the point is live already.
    pub fn forks_now(&mut self, n: u64, now: u64) -> bool {
        let Some(until) = self.how.until.filter(|_| !self.is_past) else { return false };
        self.is_past = if self.keeps_numbers() { n >= until } else { self.is_over() };
        self.times.1 = now;
        self.is_past
    }

    /// The wait for the record with this number and time, where `last` records are made by now.
    pub fn wait_of(&self, (n, at): (u64, u64), (last, now): (u64, u64)) -> RecordWait {
        let is_due = self.keeps_numbers() && last + 1 >= n;
        if !self.is_later(n) {
            return if is_due { RecordWait::Over } else { RecordWait::ForOthers };
        }
        match self.left(at, now) {
            _ if !self.is_past => RecordWait::ForOthers,
            0 => RecordWait::Over,
            // What ends in the same moment ends in the order of the record.
            left if left <= MOMENT && is_due => RecordWait::Over,
            left if left <= MOMENT => RecordWait::For(Duration::from_micros(left)),
            left => RecordWait::For(Duration::from_micros(left - MOMENT)),
        }
    }

    /// Lets the time pass at once until this record, since nothing else happens before it.
    pub fn skip_to(&mut self, (n, at): (u64, u64), now: u64) {
        if self.is_later(n) && self.is_past {
            self.times.0 += self.left(at, now);
        }
    }

    /// The microseconds up to a record behind the point of a fork.
    fn left(&self, at: u64, now: u64) -> u64 {
        let (there, here) = self.times;
        at.saturating_sub(there).saturating_sub(now.saturating_sub(here))
    }

    /// The next intervention, if it is due before record number `n` is made. Once a run has parted, nobody can say when
    /// one is due.
    pub fn intervention(&mut self, n: u64) -> Option<Event> {
        self.read_to(n + AHEAD);
        if self.is_past || !self.keeps_numbers() {
            return None;
        }
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

    /// Whether an effect is the first one waiting and nothing else can happen in these lanes: then a record that never
    /// comes must not block it.
    pub fn is_next(&self, id: EffectId, mut live: impl Iterator<Item = Lane>) -> bool {
        let first = self.waiting.iter().min_by_key(|(_, n)| **n).map(|(id, _)| *id);
        let waits = |lane: Lane| match lane {
            Lane::Run(_) => false,
            Lane::Effect(effect) => self.waiting.contains_key(&effect),
        };
        first == Some(id) && live.all(waits)
    }

    /// Whether the record has what stopped the session at the end of these events.
    pub fn has_stops(&self, events: &[Record]) -> bool {
        events.last().is_some_and(|last| !self.is_later(last.n))
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
        self.source.is_some() || !self.effects.is_empty()
    }

    /// The events of an effect of this run after its request, if the record has an equal one; `Err` names the recorded
    /// request, and the difference. `None` after the end of the record, and after the run has parted from it.
    pub fn take(
        &mut self,
        id: EffectId,
        run: RunId,
        request: &Event,
    ) -> Option<Result<Vec<Record>, String>> {
        if self.has_parted(run) || !self.answers() {
            return None;
        }
        let until = self.how.until.unwrap_or(u64::MAX);
        let is_equal = |events: &[Record]| {
            let first = events.first().filter(|was| was.n <= until);
            first.is_some_and(|was| difference(&was.event, request).is_none())
        };
        let is_due = |events: &[Record]| had_begun(events, until) && is_equal(events);
        if let Some(events) = self.take_where(id, run, request, is_due) {
            return Some(Ok(events));
        }
        let equal = self.requests.get(&(run, hash(request))).into_iter().flatten();
        let mut equal = equal.filter_map(|id| self.effects.get(id));
        if self.how.is_resumed || equal.any(|events| is_equal(events)) {
            return None;
        }
        self.parted.insert(run);
        let left = self.left.get(&run)?;
        let nearest = left.get(&id).or_else(|| left.first())?;
        let was = self.effects.get(nearest)?.first().filter(|was| was.n <= until)?;
        // A text may look like the value that it replaces.
        let place = difference(&was.event, request).unwrap_or_else(|| "data".to_owned());
        Some(Err(format!(
            "the record does not match: expected {} {id}, but record {} has {}; the first \
             difference is {place}",
            request.kind(),
            was.n,
            was.event.kind(),
        )))
    }

    /// The events of an equal call after its request, in what is left of a run that has parted from the record. None of
    /// them has an outcome that a person, a fault or a limit gave, and none changes something unless the session's own
    /// policy says so.
    pub fn take_left(&mut self, id: EffectId, run: RunId, request: &Event) -> Option<Vec<Record>> {
        if !self.has_parted(run) || !self.answers() {
            return None;
        }
        self.take_where(id, run, request, is_left(self.how, request))
    }

    /// Whether [`Self::take_left`] has such a call.
    pub fn has_left(&self, run: RunId, request: &Event) -> bool {
        if !self.has_parted(run) || !self.answers() {
            return false;
        }
        let ids = self.requests.get(&(run, hash(request))).into_iter().flatten();
        let is_left = is_left(self.how, request);
        ids.filter_map(|id| self.effects.get(id)).any(|events| is_left(events))
    }

    /// The events of an effect of this run with such a request: preferably with the same number, else the first one.
    fn take_where(
        &mut self,
        id: EffectId,
        run: RunId,
        request: &Event,
        is_equal: impl Fn(&[Record]) -> bool,
    ) -> Option<Vec<Record>> {
        let (effects, key) = (&self.effects, (run, hash(request)));
        let equal = self.requests.get_mut(&key)?;
        equal.retain(|id| effects.contains_key(id));
        let is_equal = |id: &EffectId| effects.get(id).is_some_and(|events| is_equal(events));
        let same = equal.iter().position(|other| *other == id && is_equal(other));
        let at = same.or_else(|| equal.iter().position(is_equal))?;
        let was = equal.remove(at);
        if equal.is_empty() {
            self.requests.remove(&key);
        }
        // It may have taken long.
        while self.effects.get(&was).is_some_and(|events| self.goes_on(events)) && self.read_next()
        {
        }
        self.left.get_mut(&run)?.remove(&was);
        let events = self.effects.remove(&was)?;
        if was != id {
            self.renumbered.insert(id, was);
        }
        Some(events.into_iter().skip(1).collect())
    }
}

/// Whether a call had started by this record, or had ended without that.
fn had_begun(events: &[Record], until: u64) -> bool {
    let mut by_then = events.iter().take_while(|record| record.n <= until);
    until == u64::MAX || by_then.any(|record| record.event.is_start() || record.event.is_end())
}

/// Whether these are the events of an equal call that may answer this request.
fn is_left(how: How, request: &Event) -> impl Fn(&[Record]) -> bool {
    let class = request.effect().map(|effect| effect.class);
    move |events| {
        let first = events.first();
        let may_be = |class: EffectClass, was: &Record| {
            let is_later = how.until.is_some_and(|until| was.n > until);
            how.calls.is_recorded(class) || (!is_later && class.is_repeatable())
        };
        let is_equal = |was: &Record| {
            class.is_some_and(|class| may_be(class, was)) && is_alike(&was.event, request)
        };
        is_own_outcome(events) && first.is_some_and(is_equal)
    }
}

#[cfg(test)]
mod tests;
