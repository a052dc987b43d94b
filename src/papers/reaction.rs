//! Reactions of an agent to the calls that a fault hit, and their cost: the verdict on each fault of a session.

use std::fmt::Write;

use serde::Serialize;

use crate::domain::words::counted;
use crate::domain::{FaultId, Lap, Reaction, TaskId};

/// The reactions of an agent to a fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FaultVerdict {
    /// Calls that the fault hit, in the tasks that are kept.
    pub hits: usize,
    pub retried: usize,
    pub switched: usize,
    pub replanned: usize,
    pub gave_up: usize,
    pub obeyed: usize,
    pub ignored: usize,
    /// Calls that were only late or expensive.
    pub answered: usize,
    /// Tasks in which the fault hit a call; of those, the number that is graded and the number that is right.
    pub tasks: usize,
    pub graded: usize,
    pub right: usize,
    /// The mean difference in cost between these tasks and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more: Option<More>,
}

/// The mean additional cost of a task that the fault hit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct More {
    pub against: Against,
    pub calls: f64,
    pub tokens: f64,
    pub credits: f64,
    pub dollars: f64,
    pub seconds: f64,
}

/// The tasks that serve as the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Against {
    /// The same tasks of a session without the fault.
    Twin,
    /// The tasks of this session that no fault has hit.
    Others,
}

impl FaultVerdict {
    /// The verdict on a fault by the tasks of its session; `without`: the tasks of the same session without the fault,
    /// if there is one. `None` if it has hit no call in them.
    pub fn of(fault: FaultId, laps: &[Lap], without: Option<&[Lap]>) -> Option<Self> {
        let is_hit = |lap: &&Lap| lap.hits.iter().any(|hit| hit.fault == fault);
        let hit: Vec<&Lap> = laps.iter().filter(is_hit).collect();
        if hit.is_empty() {
            return None;
        }
        let mut verdict = Self { tasks: hit.len(), ..Self::default() };
        for reaction in hit.iter().flat_map(|lap| &lap.hits).filter(|hit| hit.fault == fault) {
            verdict.hits += 1;
            *match reaction.reaction {
                Reaction::Retried => &mut verdict.retried,
                Reaction::Switched => &mut verdict.switched,
                Reaction::Replanned => &mut verdict.replanned,
                Reaction::GaveUp => &mut verdict.gave_up,
                Reaction::Obeyed => &mut verdict.obeyed,
                Reaction::Ignored => &mut verdict.ignored,
                Reaction::Answered => &mut verdict.answered,
            } += 1;
        }
        verdict.graded = hit.iter().filter(|lap| lap.correct.is_some()).count();
        verdict.right = hit.iter().filter(|lap| lap.is_right()).count();
        verdict.more = match without {
            Some(without) => More::than_twin(&hit, without),
            None => More::than_others(&hit, laps),
        };
        Some(verdict)
    }

    /// The number of hit calls to which the agent reacted.
    pub fn noticed(&self) -> usize {
        self.hits - self.ignored - self.obeyed - self.answered
    }
}

impl More {
    fn than_twin(hit: &[&Lap], without: &[Lap]) -> Option<Self> {
        let same = |task: TaskId| without.iter().find(|lap| lap.task == task);
        let (hit, same): (Vec<&Lap>, Vec<&Lap>) =
            hit.iter().filter_map(|lap| Some((*lap, same(lap.task)?))).unzip();
        Self::between(&hit, &same, Against::Twin)
    }

    fn than_others(hit: &[&Lap], laps: &[Lap]) -> Option<Self> {
        let others: Vec<&Lap> = laps.iter().filter(|lap| lap.hits.is_empty()).collect();
        Self::between(hit, &others, Against::Others)
    }

    fn between(hit: &[&Lap], others: &[&Lap], against: Against) -> Option<Self> {
        if hit.is_empty() || others.is_empty() {
            return None;
        }
        let mean = |laps: &[&Lap], of: &dyn Fn(&Lap) -> f64| {
            laps.iter().map(|lap| of(lap)).sum::<f64>() / laps.len() as f64
        };
        let more = |of: &dyn Fn(&Lap) -> f64| mean(hit, of) - mean(others, of);
        Some(Self {
            against,
            calls: more(&|lap| lap.calls() as f64),
            tokens: more(&|lap| lap.tokens as f64),
            credits: more(&|lap| *lap.credits),
            dollars: more(&|lap| *lap.dollars),
            seconds: more(&|lap| lap.micros as f64 / 1e6),
        })
    }
}

/// The verdict in one line: `hit 7 calls in 5 tasks, 5 noticed: retried 3, switched tool 2, ignored 2; 4 of 5 right; +1.4 calls,
/// +320 tokens, +0.3 credits, +0.4 s per task vs. the twin`.
pub fn sentence(verdict: &FaultVerdict) -> String {
    let FaultVerdict { hits, tasks, graded, right, .. } = *verdict;
    let counts = [
        ("retried", verdict.retried),
        ("switched tool", verdict.switched),
        ("replanned", verdict.replanned),
        ("gave up", verdict.gave_up),
        ("obeyed", verdict.obeyed),
        ("ignored", verdict.ignored),
        ("answered anyway", verdict.answered),
    ];
    let counts = counts.iter().filter(|(_, n)| *n > 0);
    let counts: Vec<String> = counts.map(|(what, n)| format!("{what} {n}")).collect();
    let (calls, of) = (counted(hits, "call"), counted(tasks, "task"));
    let noticed = match verdict.noticed() {
        0 if verdict.answered == hits => String::new(),
        noticed => format!(", {noticed} noticed"),
    };
    let mut said = format!("hit {calls} in {of}{noticed}: {}", counts.join(", "));
    if graded > 0 {
        _ = write!(said, "; {right} of {graded} right");
    }
    if let Some(more) = verdict.more {
        let signed = |value: f64, digits: usize| format!("{value:+.digits$}").replace('-', "−");
        _ = write!(
            said,
            "; {} calls, {} tokens, {} credits",
            signed(more.calls, 1),
            signed(more.tokens, 0),
            signed(more.credits, 2),
        );
        if more.dollars != 0.0 {
            _ = write!(said, ", {} dollars", signed(more.dollars, 4));
        }
        let than = match more.against {
            Against::Twin => "vs. the twin",
            Against::Others => "vs. tasks without a fault",
        };
        _ = write!(said, ", {} s per task {than}", signed(more.seconds, 2));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Outcome, TakenHit, Tried, TriedEnd};

    fn lap(task: u32, calls: usize, hits: &[(u32, Reaction)], correct: Option<bool>) -> Lap {
        let tried = Tried { tool: "a".into(), end: TriedEnd::Ok, instead_of: None };
        let hits = hits.iter().map(|&(fault, reaction)| TakenHit {
            fault: FaultId(fault),
            reaction,
            example: None,
        });
        Lap {
            task: TaskId(task),
            outcome: Some(Outcome::Answered),
            correct,
            tried: vec![tried; calls],
            hits: hits.collect(),
            tokens: 100 * calls as u64,
            credits: (calls as f64).into(),
            dollars: 0.0.into(),
            micros: 500_000 * calls as u64,
        }
    }

    #[test]
    fn reactions_are_counted_and_compared_with_tasks_without_a_fault() {
        let laps = [
            lap(1, 2, &[], Some(true)),
            lap(2, 4, &[(1, Reaction::Retried), (1, Reaction::Switched)], Some(true)),
            lap(3, 3, &[(1, Reaction::Ignored), (2, Reaction::GaveUp)], Some(false)),
            lap(4, 9, &[(2, Reaction::Obeyed)], None),
        ];
        let verdict = FaultVerdict::of(FaultId(1), &laps, None).unwrap();
        assert_eq!((verdict.hits, verdict.tasks, verdict.noticed()), (3, 2, 2));
        assert_eq!(
            sentence(&verdict),
            "hit 3 calls in 2 tasks, 2 noticed: retried 1, switched tool 1, ignored 1; 1 of 2 right; +1.5 calls, +150 tokens, \
             +1.50 credits, +0.75 s per task vs. tasks without a fault"
        );
        let other = FaultVerdict::of(FaultId(2), &laps, None).unwrap();
        assert_eq!((other.gave_up, other.obeyed, other.graded, other.noticed()), (1, 1, 1, 1));
        assert_eq!(FaultVerdict::of(FaultId(3), &laps, None), None);
        let late = [lap(1, 1, &[(1, Reaction::Answered)], None)];
        let late = FaultVerdict::of(FaultId(1), &late, None).unwrap();
        assert_eq!(sentence(&late), "hit 1 call in 1 task: answered anyway 1");
    }

    #[test]
    fn the_same_tasks_of_the_twin_count_where_there_is_one() {
        let laps = [lap(1, 2, &[], None), lap(2, 4, &[(1, Reaction::Retried)], None)];
        let twin = [lap(1, 1, &[], None), lap(2, 5, &[], None)];
        let verdict = FaultVerdict::of(FaultId(1), &laps, Some(&twin)).unwrap();
        let more = verdict.more.unwrap();
        assert_eq!((more.against, more.calls, more.seconds), (Against::Twin, -1.0, -0.5));
        assert!(sentence(&verdict).ends_with("−0.50 s per task vs. the twin"));
        // The twin has not reached this task yet.
        assert_eq!(FaultVerdict::of(FaultId(1), &laps, Some(&twin[..1])).unwrap().more, None);
    }
}
