//! The conditions under which a fault fires.

use serde::{Deserialize, Serialize};

use crate::domain::chance::Chance;

/// The conditions under which a fault fires; all that are set must hold. None set: always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trigger {
    /// With this probability, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Only at the nth effect that the target matches since the fault was armed, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u32>,
    /// Only at the first n effects that the target matches since the fault was armed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<u32>,
    /// Only from this task on, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_task: Option<u32>,
    /// Only up to this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_task: Option<u32>,
}

/// The data by which a fault decides.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// The task's number, from 1.
    pub task: u32,
    /// How many effects the target has matched since the fault was armed, including this one.
    pub nth: u32,
    /// A draw that depends on the seed, the fault, the effect, its arguments and their nth
    /// occurrence, never on a shared stream: concurrency must not change which calls fail.
    pub chance: Chance,
}

impl Trigger {
    pub(super) fn holds(self, occasion: Occasion) -> bool {
        let Trigger { probability, nth, first, from_task, to_task } = self;
        nth.is_none_or(|nth| nth == occasion.nth)
            && first.is_none_or(|first| occasion.nth <= first)
            && from_task.is_none_or(|task| occasion.task >= task)
            && to_task.is_none_or(|task| occasion.task <= task)
            && probability.is_none_or(|p| occasion.chance.unit() < p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fault::FaultSpec;

    fn at(task: u32, nth: u32) -> Occasion {
        Occasion { task, nth, chance: Chance::new(7).with(&nth.to_le_bytes()) }
    }

    #[test]
    fn fires_when_everything_holds() {
        let spec: FaultSpec = "a:error:from-task=50".parse().unwrap();
        assert!(!spec.fires(at(49, 1)) && spec.fires(at(50, 1)) && spec.fires(at(51, 9)));
        let spec: FaultSpec = "a:error:from-task=50:to-task=51".parse().unwrap();
        assert!(spec.fires(at(51, 1)) && !spec.fires(at(52, 1)) && !spec.fires(at(49, 1)));
        let spec: FaultSpec = "a:error:nth=2".parse().unwrap();
        assert!(!spec.fires(at(1, 1)) && spec.fires(at(1, 2)) && !spec.fires(at(1, 3)));
        let spec: FaultSpec = "a:error:first=2".parse().unwrap();
        assert!(spec.fires(at(1, 1)) && spec.fires(at(1, 2)) && !spec.fires(at(1, 3)));
        let spec: FaultSpec = "a:error:p=0.3".parse().unwrap();
        let fired = (0..10_000).filter(|n| spec.fires(at(1, *n))).count();
        assert!((2_700..3_300).contains(&fired), "{fired}");
    }
}
