//! The rows of the pane: their text, and its number of rows. Texts are wrapped into a few rows; a key opens the whole
//! text.

use crate::domain::{Evidence, EvidenceId, ModelCallPhase, ModelCallState, Role, State, TaskState};
use crate::panes::calls::{marks, track::Track};
use crate::text;

/// The most rows of a plan, a refusal or the answer; and those of a result, selected or not.
const TEXT: usize = 3;
const RESULT: usize = 2;
const SELECTED: usize = 8;
/// Cells before texts.
pub(super) const INDENT: usize = 6;

/// The item that a row belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum PlanItem<'a> {
    /// The reason why a reply of the planner was refused.
    Refused(&'a str),
    /// A step by its number, from 1.
    PlanStep(usize, &'a str),
    Evidence(&'a Evidence),
    Found(&'a Evidence),
    /// The status of the planner or the solver.
    Asked(Role),
}

/// A row: its item, its index among the item's rows, and its text.
pub(super) struct PlanRow<'a> {
    pub item: PlanItem<'a>,
    pub nth: usize,
    pub text: String,
}

/// The inputs for the rows of a task's plan.
pub(super) struct PlanRows<'a> {
    pub state: &'a State,
    pub task: &'a TaskState,
    pub now: u64,
    pub width: usize,
    pub selected: Option<EvidenceId>,
}

impl<'a> PlanRows<'a> {
    pub fn all(&self) -> Vec<PlanRow<'a>> {
        let work = &self.task.work;
        let mut items: Vec<_> = work.refused.iter().map(|why| PlanItem::Refused(why)).collect();
        for (n, step) in (1..).zip(work.plan.iter().flat_map(|plan| &plan.steps)) {
            items.push(PlanItem::PlanStep(n, &step.text));
            let evidence = step.evidence.iter();
            items.extend(evidence.flat_map(|it| [PlanItem::Evidence(it), PlanItem::Found(it)]));
        }
        items.push(PlanItem::Asked(if work.plan.is_some() { Role::Solver } else { Role::Planner }));
        let rows = items.into_iter().flat_map(|item| {
            let lines = self.lines(item).into_iter().enumerate();
            lines.map(move |(nth, text)| PlanRow { item, nth, text })
        });
        rows.collect()
    }

    fn lines(&self, item: PlanItem<'_>) -> Vec<String> {
        let room = self.width.saturating_sub(INDENT).max(1);
        let wrapped = |text: &str, most: usize| {
            // Text far beyond the rows is never looked at.
            let text = text::start(text, room * (most + 1) * 4);
            text::wrap_within(text.trim(), room, most)
        };
        match item {
            PlanItem::Refused(why) => wrapped(&format!("refused: {why}"), TEXT),
            PlanItem::PlanStep(_, "") => vec!["(no text)".to_owned()],
            PlanItem::PlanStep(_, text) => wrapped(text, TEXT),
            PlanItem::Evidence(evidence) => vec![evidence.to_string()],
            PlanItem::Found(evidence) => {
                let most = if self.selected == Some(evidence.id) { SELECTED } else { RESULT };
                self.found(evidence).map_or_else(Vec::new, |text| wrapped(&text, most))
            }
            PlanItem::Asked(role) => wrapped(&self.asked(role), TEXT),
        }
    }

    /// The evidence found, and why the solver does not see it; before that, the missing evidence.
    fn found(&self, evidence: &Evidence) -> Option<String> {
        let track = Track::of_evidence(self.state, self.task, evidence);
        let Some(begun) = track.begun else {
            let waits = track.waits_for();
            return (!waits.is_empty()).then(|| format!("waits for {}", marks(&waits)));
        };
        let text = self.state.evidence_found(begun).map(str::trim);
        match (track.nulled(), text) {
            (Some(why), None | Some("")) => Some(why),
            (Some(why), Some(text)) => Some(format!("{why} · {}", start(text))),
            (None, text) => begun.found.and(text).map(|text| match text {
                "" => "(nothing)".to_owned(),
                text => start(text),
            }),
        }
    }

    /// The status of the planner or the solver, or the answer.
    fn asked(&self, role: Role) -> String {
        if let (Role::Solver, Some(answer)) = (role, &self.task.answer) {
            return format!("answer: {}", answer.trim());
        }
        let Some(call) = self.last(role) else {
            return match role == Role::Solver && self.task.outcome().is_none() {
                true => "the solver waits for all evidence".to_owned(),
                false => format!("the {role} was not called"),
            };
        };
        match &call.phase {
            ModelCallPhase::Requested => format!("waiting to call the {role}"),
            ModelCallPhase::Running => {
                format!("the {role} is running, {}", text::span(call.elapsed(self.now)))
            }
            ModelCallPhase::Done { reply } => {
                format!("the {role} answered: {}", start(&reply.text))
            }
            ModelCallPhase::Failed { error } => {
                format!("the {role} failed: {}", start(&error.text))
            }
        }
    }

    /// The last model call of this role in this task.
    fn last(&self, role: Role) -> Option<&'a ModelCallState> {
        let calls =
            self.task.model_calls.iter().rev().filter_map(|call| self.state.model_call(*call));
        // The solver call of an earlier attempt is not shown.
        let drawn = self.task.work.evidence.values().map(|begun| begun.since).min();
        let since = if role == Role::Solver { drawn.unwrap_or(0) } else { 0 };
        calls.take_while(|call| call.requested >= since).find(|call| call.role == role)
    }
}

/// The first row of a piece of evidence, and the first row of its plan.
pub(super) fn place(rows: &[PlanRow<'_>], evidence: EvidenceId) -> Option<(usize, usize)> {
    let is_it = |row: &PlanRow<'_>| matches!(row.item, PlanItem::Evidence(it) if it.id == evidence);
    let row = rows.iter().position(is_it)?;
    let before = rows[..row].iter().rev();
    let above = before.take_while(|row| matches!(row.item, PlanItem::PlanStep(..))).count();
    Some((row, row - above))
}

fn start(said: &str) -> String {
    text::start(said, 4000).to_owned()
}
