//! The progress of a program, and the record over which it can be run again.

use crate::CallResult;
use crate::domain::EffectId;
use crate::domain::ToolCall;
use crate::domain::program::{
    Again, CallAnswer, Extra, Heard, HeardCall, ProgramCall, ProgramEnd, ProgramStart, StopRequest,
    Until,
};

/// A place in a record, as the numbers of answers before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordPlace {
    pub calls: usize,
    pub clocks: usize,
}

/// The progress of a program.
#[derive(Default)]
pub struct Ran {
    pub calls: Vec<ToolCall>,
    pub called: Vec<CallResult>,
    pub end: ProgramEnd,
    /// The parameters of the last start.
    pub start: ProgramStart,
    /// The answers that the program received. Programs are deterministic, so running one again over these reproduces
    /// the run.
    pub heard: Heard,
    /// The effects of these calls.
    ids: Vec<EffectId>,
    /// The program's place in the record; before the end if a person has taken the program back.
    pub place: RecordPlace,
    /// The variables that a person has set.
    pub sets: Vec<Extra>,
    /// The number of a person's requests that the program knows of.
    pub asked: usize,
    /// The number of times that a person has taken the program back.
    pub backs: u32,
}

impl Ran {
    pub fn new(start: ProgramStart) -> Self {
        Self { start, ..Self::default() }
    }

    /// The end of its record.
    pub fn whole(&self) -> RecordPlace {
        RecordPlace { calls: self.heard.calls.len(), clocks: self.heard.clocks.len() }
    }

    /// Whether the request needs reports that the program does not give in its present form.
    pub fn lacks(&self, wanted: &StopRequest) -> bool {
        let is_new = |extra: &Extra| !self.start.extras.contains(extra);
        self.asked < wanted.asked.len()
            || !self.start.stoppable && !wanted.is_none()
            || wanted.extras.iter().any(is_new)
    }

    /// Makes the next start report what the request needs.
    pub fn tells(&mut self, wanted: &StopRequest) {
        self.start.stoppable = true;
        self.start.extras = wanted.extras.iter().chain(&self.sets).cloned().collect();
    }

    /// Builds the parameters to run it again over its record, or over the record up to a place.
    pub fn again(&self, until: Until, record: RecordPlace, asked: Vec<String>) -> Again {
        let first = |all: &[HeardCall]| all.get(..record.calls).unwrap_or(all).to_vec();
        let clocks = self.heard.clocks.iter().take(record.clocks).copied().collect();
        let heard = Heard { calls: first(&self.heard.calls), clocks };
        let start = ProgramStart { stoppable: true, ..self.start.clone() };
        Again { start, heard, until, asked, counts: false }
    }

    /// The time of day: from the record, or else from the clock.
    pub fn time(&mut self, clock: impl FnOnce() -> i64) -> i64 {
        let known = self.heard.clocks.get(self.place.clocks).copied();
        self.place.clocks += 1;
        known.unwrap_or_else(|| {
            let now = clock();
            self.heard.clocks.push(now);
            now
        })
    }

    /// The recorded answers to these calls; `None` if the record has other calls here, or not all of them.
    pub fn recorded(&mut self, made: &[ProgramCall]) -> Option<Vec<CallAnswer>> {
        let ahead = self.heard.calls.get(self.place.calls..)?;
        let is_same = |(was, now): (&HeardCall, &ProgramCall)| {
            was.tool == now.tool && was.arguments == now.arguments
        };
        if ahead.len() < made.len() || !ahead.iter().zip(made).all(is_same) {
            return None;
        }
        let answers = ahead.iter().take(made.len()).map(|call| call.answer.clone()).collect();
        self.place.calls += made.len();
        Some(answers)
    }

    /// Records calls and their answers.
    pub fn note(&mut self, made: &[ProgramCall], called: &[CallResult], answers: &[CallAnswer]) {
        let heard = made.iter().zip(answers).map(|(call, answer)| {
            let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
            HeardCall { tool, arguments, answer: answer.clone() }
        });
        self.heard.calls.extend(heard);
        self.ids.extend(called.iter().map(|called| called.id));
        self.place.calls = self.heard.calls.len();
    }

    /// Forgets the record after the program's present place. Returns the effects of the forgotten calls.
    pub fn part(&mut self) -> Vec<EffectId> {
        self.heard.calls.truncate(self.place.calls);
        self.heard.clocks.truncate(self.place.clocks);
        self.ids.split_off(self.place.calls.min(self.ids.len()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn call(id: u32) -> ProgramCall {
        let arguments: Map<_, _> = [("id".to_owned(), json!(id))].into_iter().collect();
        ProgramCall { tool: "film".to_owned(), arguments, line: id }
    }

    fn called(id: u32) -> CallResult {
        let observation = crate::Observation::Result(id.to_string());
        let (id, tool, arguments) = (EffectId(id), "film".into(), json!({}));
        CallResult { id, tool, arguments, observation, injected: false }
    }

    #[test]
    fn the_record_answers_as_long_as_the_calls_are_the_same() {
        let mut ran = Ran::default();
        let answer = |id: u32| CallAnswer::Result(id.to_string());
        for id in 1..=3 {
            assert_eq!(ran.recorded(&[call(id)]), None);
            assert!(ran.part().is_empty());
            ran.note(&[call(id)], &[called(id)], &[answer(id)]);
        }
        assert_eq!((ran.time(|| 7), ran.time(|| 8)), (7, 8));
        ran.place = RecordPlace::default();
        assert_eq!(ran.recorded(&[call(1), call(2)]), Some(vec![answer(1), answer(2)]));
        assert_eq!(ran.time(|| 9), 7);
        assert_eq!(ran.recorded(&[call(3), call(4)]), None, "it does not have all of them");
        assert_eq!(ran.recorded(&[call(4)]), None, "it has another one");
        assert_eq!(ran.part(), [EffectId(3)]);
        assert_eq!(ran.whole(), RecordPlace { calls: 2, clocks: 1 });
    }
}
