//! The result of a scenario.

use serde::Serialize;

use super::check::Checked;
use crate::domain::State;
use crate::domain::words::counted;

/// The case of a session that ended early.
const ENDS: &str = "the session runs to its end";

/// Whether a scenario passed, and why not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioVerdict {
    pub name: String,
    pub file: String,
    pub passed: bool,
    /// Why the session ended early, if it did; then the scenario has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
    pub expectations: Vec<Checked>,
    /// The faults that hit no call, each with the reason; they are no failures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<Checked>,
    /// Duration of the session.
    pub seconds: f64,
}

/// The result of one case: a printed line, and a case of JUnit XML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseEnd {
    Met,
    Failed,
    /// The session ended early.
    EndedEarly,
    /// A fault that hit nothing.
    Skipped,
}

impl CaseEnd {
    /// The word before a printed case.
    pub fn word(self) -> &'static str {
        match self {
            Self::Met => "ok",
            Self::Failed | Self::EndedEarly => "FAILED",
            Self::Skipped => "skipped",
        }
    }
}

impl ScenarioVerdict {
    pub fn new(
        (name, file): (String, String),
        ended_early: Option<String>,
        expectations: Vec<Checked>,
        seconds: f64,
    ) -> Self {
        let passed = ended_early.is_none() && expectations.iter().all(|one| one.held);
        Self { name, file, passed, ended_early, expectations, idle: Vec::new(), seconds }
    }

    /// Adds the faults of a session that hit no call.
    pub fn with_idle_faults(mut self, state: &State) -> Self {
        for fault in state.faults.values() {
            let expected = format!("the fault {} hits a call", fault.spec);
            let Some(found) = fault.idle(state) else { continue };
            let checked = Checked { expected, held: false, found };
            // A misspelt name tests nothing.
            match state.unknown_tool(&fault.spec.target).filter(|_| fault.seen == 0) {
                Some(_) => self.expectations.push(checked),
                None => self.idle.push(checked),
            }
        }
        self.passed &= self.expectations.iter().all(|one| one.held);
        self
    }

    /// Adds the results that differ from those of the record over which a watched agent ran.
    pub fn with_drift(mut self, state: &State) -> Self {
        let drifts = state.watched.as_ref().map_or(&[][..], |watched| &watched.drifts);
        self.expectations.extend(drifts.iter().map(|drift| Checked {
            expected: format!("{}, call {}, returns what is recorded", drift.tool, drift.call),
            held: false,
            found: drift.difference(),
        }));
        if drifts.is_empty() {
            let (expected, found) = ("all results are as recorded", "no result differs");
            let (expected, found) = (expected.to_owned(), found.to_owned());
            self.expectations.push(Checked { expected, held: true, found });
        }
        self.passed &= drifts.is_empty();
        self
    }

    /// Each expectation, each fault that hit nothing, and an early end, with what was found. This one list is printed,
    /// and is written as JUnit XML.
    pub fn cases(&self) -> impl Iterator<Item = (CaseEnd, &str, &str)> {
        let case = |one, end| {
            let Checked { expected, found, .. }: &Checked = one;
            (end, expected.as_str(), found.as_str())
        };
        let met = |one: &Checked| if one.held { CaseEnd::Met } else { CaseEnd::Failed };
        let expected = self.expectations.iter().map(move |one| case(one, met(one)));
        let idle = self.idle.iter().map(move |one| case(one, CaseEnd::Skipped));
        let early = self.ended_early.iter().map(|why| (CaseEnd::EndedEarly, ENDS, why.as_str()));
        expected.chain(idle).chain(early)
    }

    /// The number of cases with this end.
    pub fn count(&self, end: CaseEnd) -> usize {
        self.cases().filter(|case| case.0 == end).count()
    }

    /// The summary of the cases: `2 of 3 expectations met`.
    pub fn counts(&self) -> String {
        let (all, skipped) = (self.cases().count(), self.count(CaseEnd::Skipped));
        let met = format!("{} of {} met", self.count(CaseEnd::Met), counted(all, "expectation"));
        if skipped == 0 { met } else { format!("{met}, {skipped} skipped") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_end_and_an_idle_fault_are_cases_of_their_own() {
        let one = |held| Checked { expected: "e".into(), held, found: "f".into() };
        let name = || ("s".to_owned(), "s.toml".to_owned());
        let plain = ScenarioVerdict::new(name(), None, vec![one(true), one(false)], 0.0);
        assert_eq!(plain.counts(), "1 of 2 expectations met");
        let early = ScenarioVerdict::new(name(), Some("why".into()), vec![one(true)], 0.0);
        let early = ScenarioVerdict { idle: vec![one(false)], ..early };
        assert_eq!(early.counts(), "1 of 3 expectations met, 1 skipped");
        let said =
            early.cases().map(|(end, expected, found)| [end.word(), expected, found].join(": "));
        let said: Vec<_> = said.collect();
        assert_eq!(said, ["ok: e: f", "skipped: e: f", &format!("FAILED: {ENDS}: why")]);
    }
}
