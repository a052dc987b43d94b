//! The verdict on a fault of a watched agent: what the agent did after each call that the fault hit, and the price.
//! Nothing is compared with other tasks but the price, and that only with a task that began with the same question.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::words::counted;
use crate::domain::{
    Chance, FaultId, FaultKind, FaultState, Lap, Outcome, Reaction, ReactionExample, RunId, State,
    TaskId,
};
use crate::reaction::{self, FaultVerdict};

/// A reaction of an agent to a call that a fault hit, as people read it. Each call counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    Retried,
    Switched,
    Replanned,
    /// The agent went on and answered, and the answer does not tell of the failure.
    WentOn,
    /// The agent went on, and its answer seems to tell of the failure: `crate::domain::admits`.
    SaidSo,
    GaveUp,
    Obeyed,
    Answered,
    /// The agent has done nothing about the call so far, and its task has not ended.
    AtWork,
}

/// Deeds of an agent after the calls that a fault hit, in the tasks that are kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Deeds {
    /// The fault's target, and whether its calls failed or only changed.
    target: String,
    fails: bool,
    /// The kind of the target: a tool or a model.
    pub thing: &'static str,
    pub hits: usize,
    pub conversations: usize,
    each: BTreeMap<Deed, (usize, Option<Box<ReactionExample>>)>,
}

/// The cost of a task that a fault hit, less that of the latest one without a hit that began with the same question, at
/// the same place of a conversation with the same first question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitPrice {
    pub task: TaskId,
    pub against: TaskId,
    pub calls: i64,
    pub tokens: i64,
    /// In US dollars; `None` if a price is not known.
    pub dollars: Option<f64>,
    /// Whether any of `dollars` is by list prices.
    pub listed: bool,
}

impl Deed {
    /// The deeds that are told even if there are none.
    const ALWAYS: [Self; 5] =
        [Self::Retried, Self::Switched, Self::WentOn, Self::SaidSo, Self::GaveUp];

    fn of(reaction: Reaction, admits: bool, is_over: bool) -> Self {
        match reaction {
            Reaction::Retried => Self::Retried,
            Reaction::Switched => Self::Switched,
            Reaction::Replanned => Self::Replanned,
            Reaction::GaveUp => Self::GaveUp,
            Reaction::Obeyed => Self::Obeyed,
            Reaction::Answered => Self::Answered,
            Reaction::Ignored if !is_over => Self::AtWork,
            Reaction::Ignored if admits => Self::SaidSo,
            Reaction::Ignored => Self::WentOn,
        }
    }

    /// Words for it in a sentence; `thing`: what the fault's target is, a tool or a model.
    pub fn short(self, thing: &str) -> &'static str {
        match self {
            Self::Retried => "retried",
            Self::Switched if thing == "model" => "other model",
            Self::Switched => "other tool",
            Self::Replanned => "planned again",
            Self::WentOn => "went on without it",
            Self::SaidSo => "said so in the answer",
            Self::GaveUp => "gave up",
            Self::Obeyed => "obeyed it",
            Self::Answered => "got its answer",
            Self::AtWork => "still at work",
        }
    }
}

impl Deeds {
    /// The newest fault of a session, and what the agent did about it.
    pub fn newest<'a>(state: &'a State, laps: &[Lap]) -> Option<(FaultId, &'a FaultState, Self)> {
        let (id, fault) = state.faults.iter().max_by_key(|(id, fault)| (fault.from, **id))?;
        Some((*id, fault, Self::of(state, (*id, fault), laps)))
    }

    pub fn of(state: &State, (id, fault): (FaultId, &FaultState), laps: &[Lap]) -> Self {
        let (mut each, mut runs) = (BTreeMap::<_, (usize, _)>::new(), BTreeSet::new());
        for lap in laps {
            for hit in lap.hits.iter().filter(|hit| hit.fault == id) {
                let admits = hit.example.as_ref().is_some_and(|example| example.admits);
                let deed = Deed::of(hit.reaction, admits, lap.outcome.is_some());
                let known = each.entry(deed).or_default();
                *known = (known.0 + 1, hit.example.clone());
                runs.insert(state.run_of(lap.task));
            }
        }
        let (target, kind) = (&fault.spec.target, &fault.spec.kind);
        let fails = *kind == FaultKind::Timeout
            || matches!(kind.tool_outcome(Chance::new(0)), Some(Err(_)))
            || matches!(kind.model_outcome(Chance::new(0)), Some(Err(_)));
        Self {
            fails,
            hits: each.values().map(|(count, _)| count).sum(),
            conversations: runs.len(),
            each,
            thing: if target.sort().is_of_models() { "model" } else { "tool" },
            target: target.to_string(),
        }
    }

    /// The deeds with their counts and the last example of each: the usual ones, and those that occurred.
    pub fn rows(&self) -> impl Iterator<Item = (Deed, usize, Option<&ReactionExample>)> {
        let all: BTreeSet<Deed> =
            Deed::ALWAYS.into_iter().chain(self.each.keys().copied()).collect();
        all.into_iter().map(|deed| match self.each.get(&deed) {
            Some((count, example)) => (deed, *count, example.as_deref()),
            None => (deed, 0, None),
        })
    }

    /// The failure and how often it happened: `search_web failed 7 times`.
    pub fn happened(&self) -> String {
        let verb = if self.fails { "failed" } else { "was hit" };
        format!("{} {verb} {}", self.target, counted(self.hits, "time"))
    }

    /// The verdict in one line: `get_weather failed 7 times: retried 0 · other tool 0 · went on without it 3 · said so in
    /// the answer 4 · gave up 0`. `None` without a hit.
    pub fn sentence(&self) -> Option<String> {
        let words = |deed: Deed| deed.short(self.thing);
        let each = self.rows().map(|(deed, count, _)| format!("{} {count}", words(deed)));
        let each: Vec<String> = each.collect();
        (self.hits > 0).then(|| format!("{}: {}", self.happened(), each.join(" · ")))
    }
}

/// The verdict on a fault in one line: for a watched agent what it did, for others [`reaction::sentence`]. `None` without a
/// hit.
pub fn verdict(
    state: &State,
    (id, fault): (FaultId, &FaultState),
    laps: &[Lap],
    without: Option<&[Lap]>,
) -> Option<String> {
    match state.watched {
        Some(_) => Deeds::of(state, (id, fault), laps).sentence(),
        None => FaultVerdict::of(id, laps, without).as_ref().map(reaction::sentence),
    }
}

impl HitPrice {
    /// The price of the latest task that this fault hit, has ended, and can be compared.
    pub fn of(state: &State, fault: FaultId, laps: &[Lap]) -> Option<Self> {
        let is_hit = |lap: &&Lap| lap.hits.iter().any(|hit| hit.fault == fault);
        let hit: Vec<&Lap> =
            laps.iter().filter(is_hit).filter(|lap| lap.outcome.is_some()).collect();
        if hit.is_empty() {
            return None;
        }
        let asked = asked(state, laps.first()?.task);
        let others =
            laps.iter().filter(|lap| lap.hits.is_empty() && lap.outcome == Some(Outcome::Answered));
        let others = others.filter_map(|lap| Some((asked.get(&lap.task)?, lap)));
        // Of equal ones the latest stays.
        let others: HashMap<_, &Lap> = others.collect();
        hit.iter().rev().find_map(|lap| {
            let against = others.get(asked.get(&lap.task)?)?;
            Self::between(state, lap, against)
        })
    }

    fn between(state: &State, hit: &Lap, other: &Lap) -> Option<Self> {
        let (of, against) = (state.task(hit.task)?, state.task(other.task)?);
        let less = |more: u64, less: u64| {
            i64::try_from(more).unwrap_or(i64::MAX) - i64::try_from(less).unwrap_or(i64::MAX)
        };
        let is_priced = of.unpriced == 0 && against.unpriced == 0;
        Some(Self {
            task: hit.task,
            against: other.task,
            calls: less(hit.calls() as u64, other.calls() as u64),
            tokens: less(hit.tokens, other.tokens),
            dollars: is_priced.then_some(*hit.dollars - *other.dollars),
            listed: of.listed || against.listed,
        })
    }
}

/// The tasks of a session from one on: the first question of its conversation, the number of questions before it, and
/// its own.
fn asked(state: &State, from: TaskId) -> HashMap<TaskId, (&str, usize, &str)> {
    let (mut runs, mut asked) = (HashMap::<RunId, (&str, usize)>::new(), HashMap::new());
    for task in state.tasks.iter() {
        let text = task.task.text.trim();
        let (first, before) = runs.entry(task.task.run).or_insert((text, 0));
        if task.id >= from {
            asked.insert(task.id, (*first, *before, text));
        }
        *before += 1;
    }
    asked
}
