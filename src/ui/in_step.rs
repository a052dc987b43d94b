//! The calls of two sessions in step: which stands beside which, and the first difference. Pure.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use strum::{IntoStaticStr, VariantArray};

use super::round::Round;
use super::twin_call::TwinCall;
use crate::domain::TaskId;

/// More calls of one task than this are paired by their number alone.
const MOST: usize = 2000;

/// The order that keeps two sessions in step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum InStep {
    /// In each task, calls that ask the same beside each other.
    #[default]
    Task,
    /// The first call beside the first, the second beside the second.
    Call,
    /// The times since the sessions were opened.
    Time,
}

impl Round for InStep {}

/// Two calls beside each other, by their places in their lists; one of them may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub own: Option<usize>,
    pub other: Option<usize>,
}

/// The calls of two sessions, each in the order of the requests.
#[derive(Clone, Copy, Debug)]
pub struct Both<'a> {
    pub own: &'a [TwinCall],
    pub other: &'a [TwinCall],
}

impl Both<'_> {
    /// Pairs every call of either list.
    pub fn in_step(self, by: InStep) -> Vec<Pair> {
        match by {
            InStep::Task => self.by_task(),
            InStep::Call => zipped(0..self.own.len(), 0..self.other.len()).collect(),
            InStep::Time => self.by_time(),
        }
    }

    /// For each pair whether one call is not as the other. A missing call counts only if its task is done in its session, or
    /// if a later call of that task is there.
    pub fn differences(
        self,
        pairs: &[Pair],
        (own_done, other_done): (impl Fn(TaskId) -> bool, impl Fn(TaskId) -> bool),
    ) -> Vec<bool> {
        let last = |at: fn(&Pair) -> Option<usize>, calls: &[TwinCall]| {
            let places = pairs.iter().enumerate();
            let of_tasks = places.filter_map(|(row, pair)| Some((calls.get(at(pair)?)?.task, row)));
            of_tasks.collect::<HashMap<TaskId, usize>>()
        };
        let own_last = last(|pair| pair.own, self.own);
        let other_last = last(|pair| pair.other, self.other);
        let is_later = |last: &HashMap<TaskId, usize>, task, row| {
            last.get(&task).is_some_and(|last| *last > row)
        };
        let differs = |(row, pair): (usize, &Pair)| match (pair.own, pair.other) {
            (Some(own), Some(other)) => self.own[own].content != self.other[other].content,
            (Some(own), None) => {
                let task = self.own[own].task;
                other_done(task) || is_later(&other_last, task, row)
            }
            (None, Some(other)) => {
                let task = self.other[other].task;
                own_done(task) || is_later(&own_last, task, row)
            }
            (None, None) => false,
        };
        pairs.iter().enumerate().map(differs).collect()
    }

    fn by_time(self) -> Vec<Pair> {
        let (mut own, mut other) = (0, 0);
        let mut pairs = Vec::with_capacity(self.own.len() + self.other.len());
        loop {
            let (left, right) = (self.own.get(own), self.other.get(other));
            let takes = match (left, right) {
                (None, None) => return pairs,
                (Some(_), None) => (true, false),
                (None, Some(_)) => (false, true),
                // What a fork has copied has the same time on both sides.
                (Some(left), Some(right)) => (left.at <= right.at, right.at <= left.at),
            };
            pairs.push(Pair { own: takes.0.then_some(own), other: takes.1.then_some(other) });
            own += usize::from(takes.0);
            other += usize::from(takes.1);
        }
    }

    fn by_task(self) -> Vec<Pair> {
        let (own, other) = (tasks(self.own), tasks(self.other));
        let same = self.same_tasks(&own, &other);
        let taken: HashSet<TaskId> = same.values().copied().collect();
        let none = Vec::new();
        let mut blocks: Vec<(TaskId, &[usize], &[usize])> = own
            .iter()
            .map(|(task, calls)| {
                let beside = same.get(task).and_then(|task| other.get(task)).unwrap_or(&none);
                (*task, &**calls, &**beside)
            })
            .collect();
        let alone = other.iter().filter(|(task, _)| !taken.contains(task));
        blocks.extend(alone.map(|(task, calls)| (*task, &[][..], &**calls)));
        blocks.sort_by_key(|(task, ..)| *task);
        let mut pairs = Vec::with_capacity(self.own.len().max(self.other.len()));
        for (_, own, other) in blocks {
            self.aligned(own, other, &KEYS, &mut pairs);
        }
        pairs
    }

    /// The task of the other session for each own task. The conversations of a watched agent may come in another order.
    fn same_tasks(
        self,
        own: &BTreeMap<TaskId, Vec<usize>>,
        other: &BTreeMap<TaskId, Vec<usize>>,
    ) -> HashMap<TaskId, TaskId> {
        let asks = |calls: &[TwinCall], of: &[usize]| of.first().map(|at| calls[*at].question);
        let is_same = |task: &TaskId| {
            let (left, right) = (own.get(task), other.get(task));
            let left = left.and_then(|of| asks(self.own, of));
            left.is_some() && left == right.and_then(|of| asks(self.other, of))
        };
        let mut same: HashMap<TaskId, TaskId> =
            own.keys().filter(|task| is_same(task)).map(|task| (*task, *task)).collect();
        let mut free: HashMap<Option<u64>, VecDeque<TaskId>> = HashMap::new();
        for (task, of) in other.iter().filter(|(task, _)| !is_same(task)) {
            free.entry(asks(self.other, of)).or_default().push_back(*task);
        }
        for (task, of) in own.iter().filter(|(task, _)| !is_same(task)) {
            let found = free.get_mut(&asks(self.own, of)).and_then(VecDeque::pop_front);
            same.extend(found.map(|found| (*task, found)));
        }
        // What is left asks something else, which may be the difference.
        let left: HashSet<TaskId> = free.into_values().flatten().collect();
        let alone = own.keys().filter(|task| left.contains(task)).copied().collect::<Vec<_>>();
        for task in alone {
            same.entry(task).or_insert(task);
        }
        same
    }

    /// Pairs the calls of one task that have the same first key; those between them by the next one, and the rest by number.
    fn aligned(self, own: &[usize], other: &[usize], keys: &[Key], pairs: &mut Vec<Pair>) {
        let key = keys.split_first().filter(|_| own.len().max(other.len()) <= MOST);
        let Some((key, rest)) = key else {
            let lead = |pair: Pair| Pair {
                own: pair.own.map(|at| own[at]),
                other: pair.other.map(|at| other[at]),
            };
            return pairs.extend(zipped(0..own.len(), 0..other.len()).map(lead));
        };
        let of = |calls: &[TwinCall], at: &[usize]| -> Vec<u64> {
            at.iter().map(|at| key(&calls[*at])).collect()
        };
        for op in capture_diff_slices(Algorithm::Myers, &of(self.own, own), &of(self.other, other))
        {
            let rest = if matches!(op, DiffOp::Equal { .. }) { &[] } else { rest };
            self.aligned(&own[op.old_range()], &other[op.new_range()], rest, pairs);
        }
    }
}

type Key = fn(&TwinCall) -> u64;

/// Keys by which calls are alike: what they ask, else their name. An outcome may differ.
const KEYS: [Key; 2] = [
    |call| call.question,
    |call| {
        let mut hasher = DefaultHasher::new();
        call.name.hash(&mut hasher);
        hasher.finish()
    },
];

/// The places of the calls of each task.
fn tasks(calls: &[TwinCall]) -> BTreeMap<TaskId, Vec<usize>> {
    let mut tasks: BTreeMap<TaskId, Vec<usize>> = BTreeMap::new();
    for (at, call) in calls.iter().enumerate() {
        tasks.entry(call.task).or_default().push(at);
    }
    tasks
}

/// Pairs two ranges from their beginnings.
fn zipped(own: Range<usize>, other: Range<usize>) -> impl Iterator<Item = Pair> {
    let rows = own.len().max(other.len());
    let at = |range: &Range<usize>, row: usize| (row < range.len()).then(|| range.start + row);
    (0..rows).map(move |row| Pair { own: at(&own, row), other: at(&other, row) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::EffectId;
    use proptest::prelude::*;

    /// Calls such as `1a` (task 1, call `a` with result `-`) or `2b!` (its result is `!`).
    fn calls(text: &str) -> Vec<TwinCall> {
        let call = |(at, word): (usize, &str)| {
            let (task, rest) = word.split_at(1);
            let (name, outcome) = rest.split_at(1);
            TwinCall {
                id: EffectId(at as u32 + 1),
                n: at as u64 + 1,
                at: 10 * at as u64,
                task: TaskId(task.parse().unwrap()),
                name: name.to_owned(),
                is_of_model: false,
                input: String::new(),
                outcome: outcome.to_owned(),
                content: u64::from_le_bytes(
                    format!("{rest:8}").as_bytes()[..8].try_into().unwrap(),
                ),
                question: u64::from(name.as_bytes()[0]),
            }
        };
        text.split_whitespace().enumerate().map(call).collect()
    }

    /// The pairs in words: `a=a`, `b~b!`, `c|`, `|d`.
    fn said(own: &str, other: &str, by: InStep) -> String {
        let (own, other) = (calls(own), calls(other));
        let name = |call: &TwinCall| format!("{}{}", call.name, call.outcome);
        let pairs = Both { own: &own, other: &other }.in_step(by);
        let words = pairs.iter().map(|pair| match (pair.own, pair.other) {
            (Some(a), Some(b)) if own[a].content == other[b].content => {
                format!("{0}={0}", name(&own[a]))
            }
            (a, b) => {
                let side = |calls: &[TwinCall], at: Option<usize>| {
                    at.map(|at| name(&calls[at])).unwrap_or_default()
                };
                let sign = if a.is_some() && b.is_some() { "~" } else { "|" };
                format!("{}{sign}{}", side(&own, a), side(&other, b))
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn equal_calls_of_a_task_stand_beside_each_other() {
        let by_task = |own, other| said(own, other, InStep::Task);
        assert_eq!(by_task("1a 1b 1c", "1a 1b 1c"), "a=a b=b c=c");
        assert_eq!(by_task("1a 1b! 1c", "1a 1b 1c"), "a=a b!~b c=c");
        assert_eq!(by_task("1a! 1a 1a", "1a 1a 1a"), "a!~a a=a a=a");
        // One more call moves nothing behind it.
        assert_eq!(by_task("1a 1x 1b 1c", "1a 1b 1c"), "a=a x| b=b c=c");
        assert_eq!(by_task("1a 1c 2a 2b", "1a 1b 1c 2a 2b"), "a=a |b c=c a=a b=b");
        assert_eq!(by_task("1a 1b! 1x 1c!", "1a 1b 1c"), "a=a b!~b x| c!~c");
        assert_eq!(by_task("", "1a"), "|a");
    }

    #[test]
    fn conversations_that_came_in_another_order_are_found() {
        assert_eq!(said("1a 2b 1c", "1b 2a 2c", InStep::Task), "a=a c=c b=b");
        // The same question thrice, and one that was changed.
        assert_eq!(said("1a 2a 3x", "1a 2a 3a", InStep::Task), "a=a a=a x~a");
    }

    #[test]
    fn calls_stand_beside_each_other_by_number_or_by_time() {
        assert_eq!(said("1a 1x 1b", "1a 1b", InStep::Call), "a=a x~b b|");
        assert_eq!(said("1a 1b", "1a 1b 1c", InStep::Time), "a=a b=b |c");
        let (own, mut other) = (calls("1a 1b"), calls("1a 1b"));
        other[1].at = 15;
        let pairs = Both { own: &own, other: &other }.in_step(InStep::Time);
        let places: Vec<_> = pairs.iter().map(|pair| (pair.own, pair.other)).collect();
        assert_eq!(places, [(Some(0), Some(0)), (Some(1), None), (None, Some(1))]);
    }

    /// The row of the first difference; the tasks of `done` have ended in both.
    fn first(own: &str, other: &str, done: &[u32]) -> Option<usize> {
        let (own, other) = (calls(own), calls(other));
        let both = Both { own: &own, other: &other };
        let is_done = |task: TaskId| done.contains(&task.0);
        let differences = both.differences(&both.in_step(InStep::Task), (is_done, is_done));
        differences.into_iter().position(|differs| differs)
    }

    #[test]
    fn the_first_difference_waits_for_calls_that_may_still_come() {
        assert_eq!(first("1a 1b", "1a 1b", &[1]), None);
        assert_eq!(first("1a 1b!", "1a 1b", &[]), Some(1));
        assert_eq!(first("1a", "1a 1b", &[]), None);
        assert_eq!(first("1a", "1a 1b", &[1]), Some(1));
        assert_eq!(first("1a 1c", "1a 1b 1c", &[]), Some(1));
        // Another conversation that is further says nothing about this one.
        assert_eq!(first("1a 2a 2b", "1a 1b 2a 2b", &[2]), None);
    }

    proptest! {
        /// Every call is in exactly one pair, and the calls of a session keep their order within a task.
        #[test]
        fn every_call_stands_in_one_pair(
            own in prop::collection::vec((1u32..4, 0usize..3, 0usize..2), 0..24),
            other in prop::collection::vec((1u32..4, 0usize..3, 0usize..2), 0..24),
            by in 0usize..3,
        ) {
            let text = |calls: &[(u32, usize, usize)]| {
                let word = |(task, name, end): &(u32, usize, usize)| {
                    format!("{task}{}{}", ["a", "b", "c"][*name], ["", "!"][*end])
                };
                calls.iter().map(word).collect::<Vec<_>>().join(" ")
            };
            let (own, other) = (calls(&text(&own)), calls(&text(&other)));
            let pairs = Both { own: &own, other: &other }.in_step(InStep::VARIANTS[by]);
            let sides: [(Vec<usize>, &[TwinCall]); 2] = [
                (pairs.iter().filter_map(|pair| pair.own).collect(), &own),
                (pairs.iter().filter_map(|pair| pair.other).collect(), &other),
            ];
            for (places, calls) in sides {
                let mut sorted = places.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..calls.len()).collect::<Vec<_>>());
                for task in 1..4 {
                    let of = |at: &&usize| calls[**at].task == TaskId(task);
                    prop_assert!(places.iter().filter(of).is_sorted());
                }
            }
        }
    }
}
