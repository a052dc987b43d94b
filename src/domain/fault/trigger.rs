//! The conditions under which a fault fires, and under which it is over.

use serde::{Deserialize, Serialize};

use crate::chance::Chance;
use crate::expression::Expression;
use crate::finite::Finite;

/// The conditions under which a fault fires; all that are set must hold. None set: always.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// Only calls for which this is true. Others do not count.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
    /// With this probability, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<Finite>,
    /// Only at the nth call that matches since the fault was armed, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// Only at the first n calls that match since the fault was armed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u32>,
    /// Only from this call on, counted in the same way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u32>,
    /// Only up to this call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u32>,
    /// Only at every kth call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u32>,
    /// At most this many times since the fault was armed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
    /// Only for this many seconds after the fault was armed.
    #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// Only from this task on, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_task: Option<u32>,
    /// Only up to this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_task: Option<u32>,
}

/// Progress of a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultProgress {
    /// The task's number, from 1.
    pub task: u32,
    /// Number of calls that have matched since the fault was armed.
    pub seen: u32,
    /// Number of those calls that were selected.
    pub chosen: u32,
    /// Microseconds since it was armed.
    pub elapsed: u64,
    /// Microseconds since the first selected call.
    pub since_first: Option<u64>,
}

/// The data by which a fault decides about a call.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// `seen` includes this call, and `chosen` does not.
    pub progress: FaultProgress,
    /// A draw that depends on the seed, the fault, the call, its arguments and their nth
    /// occurrence, never on a shared stream: concurrency must not change which calls fail.
    pub chance: Chance,
}

pub(super) const MICROS: u64 = 1_000_000;

impl Trigger {
    /// Whether the trigger holds for a call that meets its condition.
    pub(super) fn holds(&self, occasion: &Occasion) -> bool {
        let FaultProgress { task, seen, chosen, elapsed, .. } = occasion.progress;
        self.nth.is_none_or(|nth| nth == seen)
            && self.first.is_none_or(|first| seen <= first)
            && self.from.is_none_or(|from| seen >= from)
            && self.to.is_none_or(|to| seen <= to)
            && self.every.is_none_or(|every| seen.is_multiple_of(every.max(1)))
            && self.most.is_none_or(|most| chosen < most)
            && self.seconds.is_none_or(|seconds| elapsed < u64::from(seconds) * MICROS)
            && self.from_task.is_none_or(|from| task >= from)
            && self.to_task.is_none_or(|to| task <= to)
            && self.probability.is_none_or(|p| occasion.chance.unit() < p)
    }

    /// Whether the trigger can never hold again.
    pub(super) fn is_over(&self, progress: &FaultProgress) -> bool {
        let FaultProgress { task, seen, chosen, elapsed, .. } = *progress;
        let last = [self.nth, self.first, self.to].into_iter().flatten().min();
        last.is_some_and(|last| seen >= last)
            || self.most.is_some_and(|most| chosen >= most)
            || self.seconds.is_some_and(|seconds| elapsed >= u64::from(seconds) * MICROS)
            || self.to_task.is_some_and(|to| task > to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::FaultSpec;

    fn at(task: u32, seen: u32) -> Occasion {
        let chance = Chance::new(7).with(&seen.to_le_bytes());
        Occasion { progress: FaultProgress { task, seen, ..FaultProgress::default() }, chance }
    }

    fn spec(text: &str) -> FaultSpec {
        format!("a:error:{text}").parse().unwrap()
    }

    #[test]
    fn fires_when_everything_holds() {
        let is = |text: &str, nths: &[u32]| {
            let fires = (1..=9).filter(|nth| spec(text).fires(&at(1, *nth)));
            assert_eq!(fires.collect::<Vec<u32>>(), nths, "{text}");
        };
        is("nth=2", &[2]);
        is("first=2", &[1, 2]);
        is("from=3:to=5", &[3, 4, 5]);
        is("every=4", &[4, 8]);
        is("every=2:from=5", &[6, 8]);
        let is = |text: &str, tasks: &[u32]| {
            let fires = (1..=9).filter(|task| spec(text).fires(&at(*task, 1)));
            assert_eq!(fires.collect::<Vec<u32>>(), tasks, "{text}");
        };
        is("from-task=8", &[8, 9]);
        is("from-task=2:to-task=3", &[2, 3]);
        let some = spec("p=0.3");
        let fired = (0..10_000).filter(|n| some.fires(&at(1, *n))).count();
        assert!((2_700..3_300).contains(&fired), "{fired}");
    }

    #[test]
    fn time_and_number_of_times_end_it() {
        let after = |elapsed, chosen| {
            let progress = FaultProgress { task: 1, seen: 5, chosen, elapsed, since_first: None };
            Occasion { progress, chance: Chance::new(1) }
        };
        let short = spec("for=2");
        assert!(short.fires(&after(1_999_999, 0)) && !short.fires(&after(2 * MICROS, 0)));
        let few = spec("most=3");
        assert!(few.fires(&after(0, 2)) && !few.fires(&after(0, 3)));
        for (text, elapsed, chosen, over) in [
            ("for=2", 2 * MICROS, 0, true),
            ("for=2", MICROS, 9, false),
            ("most=3", 0, 3, true),
            ("most=3", 0, 2, false),
            ("nth=5", 0, 0, true),
            ("to=6", 0, 0, false),
            ("first=5", 0, 0, true),
            ("to-task=1", 0, 0, false),
            ("to-task=0", 0, 0, true),
            ("p=0.5", 9 * MICROS, 9, false),
        ] {
            // A form refuses 0, but a twin can set it.
            let spec = match text {
                "to-task=0" => {
                    let trigger = Trigger { to_task: Some(0), ..Trigger::default() };
                    FaultSpec { trigger, ..spec("p=1") }
                }
                text => spec(text),
            };
            assert_eq!(spec.is_over(&after(elapsed, chosen).progress), over, "{text}");
        }
    }
}
