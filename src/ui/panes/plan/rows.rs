//! The rows of the pane: what stands in each, and how many a text takes. Texts are wrapped into a few
//! rows; all of one is a key away.

use crate::domain::{
    Evidence, EvidenceId, EvidenceState, ModelCallPhase, ModelCallState, Role, State, TaskState,
    state::Source,
};
use crate::ui::panes::calls::{marks, track::Track};
use crate::ui::panes::format;
use crate::ui::text;

/// Rows of a plan, of why one was refused, of the answer; and of a result, selected or not.
const TEXT: usize = 3;
const RESULT: usize = 2;
const SELECTED: usize = 8;
/// Cells before texts.
pub(super) const INDENT: usize = 6;

/// What a row is of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Item<'a> {
    /// Why an answer of the planner could not be used.
    Refused(&'a str),
    /// From 1.
    PlanStep(usize, &'a str),
    Evidence(&'a Evidence),
    Found(&'a Evidence),
    /// How the planner stands, or the solver.
    Asked(Role),
}

/// A row: of what, and which one of its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row<'a> {
    pub item: Item<'a>,
    pub nth: usize,
}

/// All rows of a task's plan at one width.
pub(super) struct Rows<'a> {
    state: &'a State,
    task: &'a TaskState,
    now: u64,
    width: usize,
    selected: Option<EvidenceId>,
    pub rows: Vec<Row<'a>>,
}

impl<'a> Rows<'a> {
    /// The evidence of a task, in writing order.
    pub fn evidence(task: &TaskState) -> Vec<&Evidence> {
        task.work.plan.iter().flat_map(|plan| plan.evidence()).collect()
    }

    pub fn of(
        state: &'a State,
        task: &'a TaskState,
        (now, width): (u64, usize),
        selected: Option<EvidenceId>,
    ) -> Self {
        let mut rows = Self { state, task, now, width, selected, rows: Vec::new() };
        for why in &task.work.refused {
            rows.add(Item::Refused(why));
        }
        let Some(plan) = &task.work.plan else {
            rows.add(Item::Asked(Role::Planner));
            return rows;
        };
        for (i, plan) in plan.steps.iter().enumerate() {
            rows.add(Item::PlanStep(i + 1, &plan.text));
            for evidence in &plan.evidence {
                rows.add(Item::Evidence(evidence));
                rows.add(Item::Found(evidence));
            }
        }
        rows.add(Item::Asked(Role::Solver));
        rows
    }

    fn add(&mut self, item: Item<'a>) {
        let lines = self.lines(item).len();
        self.rows.extend((0..lines).map(|nth| Row { item, nth }));
    }

    /// The text of an item in rows.
    pub fn lines(&self, item: Item<'a>) -> Vec<String> {
        let room = self.width.saturating_sub(INDENT).max(1);
        let wrapped = |text: &str, most: usize| {
            // What is far beyond the rows is never looked at.
            let text = text::start(text, room * (most + 1) * 4);
            text::wrap_within(text.trim(), room, most)
        };
        match item {
            Item::Refused(why) => wrapped(&format!("refused: {why}"), TEXT),
            Item::PlanStep(_, "") => vec!["(no plan in words)".to_owned()],
            Item::PlanStep(_, text) => wrapped(text, TEXT),
            Item::Evidence(evidence) => vec![evidence.to_string()],
            Item::Found(evidence) => {
                let most = if self.selected == Some(evidence.id) { SELECTED } else { RESULT };
                self.found(evidence).map_or_else(Vec::new, |text| wrapped(&text, most))
            }
            Item::Asked(role) => wrapped(&self.asked(role), TEXT),
        }
    }

    /// What was found, and why the solver does not see it; before that, what it waits for.
    fn found(&self, evidence: &Evidence) -> Option<String> {
        let track = Track::of_evidence(self.state, self.task, evidence);
        let Some(begun) = track.begun else {
            let waits = track.waits_for();
            return (!waits.is_empty()).then(|| format!("waits for {}", marks(&waits)));
        };
        let text = said(self.state, begun);
        let Some(nulled) = &begun.nulled else {
            return begun.found.and(text).map(|text| match text.trim() {
                "" => "(nothing)".to_owned(),
                text => start(text),
            });
        };
        let saved = usize::try_from(begun.saved).unwrap_or(usize::MAX);
        let why = format!("null: {nulled}, {} saved", format::plural(saved, "token"));
        Some(match text.map(str::trim) {
            None | Some("") => why,
            Some(text) => format!("{why} · {}", start(text)),
        })
    }

    /// How the planner or the solver stands.
    fn asked(&self, role: Role) -> String {
        if let (Role::Solver, Some(answer)) = (role, &self.task.answer) {
            return format!("answer: {}", answer.trim());
        }
        match (self.last(role), role) {
            (Some(call), _) => match &call.phase {
                ModelCallPhase::Requested => format!("waiting to call the {role}"),
                ModelCallPhase::Running => {
                    format!("the {role} is running, {}", text::span(call.elapsed(self.now)))
                }
                ModelCallPhase::Done { reply } => {
                    format!("the {role} said: {}", start(&reply.text))
                }
                ModelCallPhase::Failed { error } => {
                    format!("the {role} failed: {}", start(&error.text))
                }
            },
            (None, Role::Solver) if self.task.outcome().is_none() => {
                "the solver waits for all evidence".to_owned()
            }
            (None, _) => format!("the {role} was not asked"),
        }
    }

    /// The last request of this role, in this task.
    fn last(&self, role: Role) -> Option<&'a ModelCallState> {
        let calls =
            self.task.model_calls.iter().rev().filter_map(|call| self.state.model_call(*call));
        // Of an earlier try's solver nothing is left to be said.
        let drawn = self.task.work.evidence.values().map(|begun| begun.since).min();
        let since = if role == Role::Solver { drawn.unwrap_or(0) } else { 0 };
        calls.take_while(|call| call.requested >= since).find(|call| call.role == role)
    }

    /// The first row of a piece of evidence, and the one from which all of its plan is seen.
    pub fn place(&self, evidence: EvidenceId) -> Option<(usize, usize)> {
        let is_it = |row: &Row<'_>| matches!(row.item, Item::Evidence(it) if it.id == evidence);
        let row = self.rows.iter().position(is_it)?;
        let before = self.rows[..row].iter().rev();
        let above = before.take_while(|row| matches!(row.item, Item::PlanStep(..))).count();
        Some((row, row - above))
    }
}

fn start(said: &str) -> String {
    text::start(said, 4000).to_owned()
}

fn said<'s>(state: &'s State, begun: &'s EvidenceState) -> Option<&'s str> {
    match begun.source {
        Source::None => None,
        Source::Model(_) => begun.text.as_deref(),
        Source::Call(call) => state.tool_call(call)?.observation(),
    }
}
