//! The plan, step by step: below each step its evidence, filled in as it arrives. Evidence kept from the solver is
//! struck out. The solver's answer is at the end.

mod draw;
mod rows;

use ratatui::text::Line;

use super::calls::track::{Track, evidence_of};
use super::earlier_tasks;
use super::spec::{Opened, PLAIN, PaneSpec};
use crate::domain::{Base, Decides, EvidenceId, State, TaskState, words::counted};
use crate::update::edits;
use crate::{action::Action, popups::Subject, view::View, vlist::List};
use crate::{cx::Cx, pane::PaneId, window::Move};

/// The most rows that are shown; longer plans scroll.
const MOST: usize = 40;

/// Whether there is a plan to show, now or later: by the task's own work first, then by its strategy.
pub fn shows(state: &State, view: &View) -> bool {
    let task = view.worked_on(state);
    if let Some(task) = task {
        let work = &task.work;
        if work.plan.is_some() || !work.refused.is_empty() {
            return true;
        }
        if !task.search.nodes.is_empty() || !task.programs.is_empty() {
            return false;
        }
    }
    let strategy = task.and_then(|task| task.strategy).unwrap_or(state.strategy);
    strategy.base.spec().decides == Decides::AtOnce && strategy.base != Base::Atc
}

pub const SPEC: PaneSpec = PaneSpec {
    id: PaneId::Plan,
    when: shows,
    most: |state, _| {
        let plans = || state.tasks.iter().filter_map(|task| task.work.plan.as_ref());
        // A result mostly takes one row, and so does the answer.
        let rows = || plans().map(|plan| plan.steps.len() + plan.evidence().count() * 2 + 1);
        let all = rows().map(|rows| rows + 1).sum();
        Some(earlier_tasks::most(rows().max().unwrap_or(1).min(MOST), all))
    },
    title,
    draw: draw::draw,
    list,
    go,
    open: |state, view| Opened::subject(subject(state, view)),
    leave: |view| (view.task, view.evidence) = (None, None),
    keys: &[Action::HoldLane, Action::Remove, Action::Prompt],
    why_not_adjust: edits::nothing_to_edit,
    edit: edits::edit,
    ..PLAIN
};

fn title(cx: &Cx<'_>) -> Line<'static> {
    let Some(task) = cx.view.worked_on(cx.state) else { return Line::default() };
    let work = &task.work;
    let mut title = format!(" · task {}", task.id);
    if let Some(plan) = &work.plan {
        let all = plan.evidence().count();
        let found = plan.evidence().filter(|evidence| work.is_found(evidence.id)).count();
        let steps = counted(plan.steps.len(), "plan");
        title.push_str(&format!(" · {steps} · {found}/{all} found"));
        if work.nulled() > 0 {
            title.push_str(&format!(" · {} null, {} tok saved", work.nulled(), work.saved()));
        }
    }
    if !work.refused.is_empty() {
        title.push_str(&format!(" · {} refused", work.refused.len()));
    }
    Line::from(title)
}

/// The evidence that is chosen in any pane, else that of the newest call.
fn selected(state: &State, view: &View, task: &TaskState) -> Option<EvidenceId> {
    if let Some((of, evidence, _)) = view.evidence(state) {
        return (of.id == task.id).then_some(evidence);
    }
    let call = state.tool_call(view.call(state)?).filter(|call| call.task == task.id)?;
    evidence_of(task, call)
}

/// The subject of a closer look: the selected evidence, else the task.
fn subject(state: &State, view: &View) -> Option<Subject> {
    let task = view.worked_on(state)?;
    let evidence = selected(state, view, task).map(|id| Subject::Evidence(task.id, id));
    Some(evidence.unwrap_or(Subject::Task(task.id)))
}

fn list<'a>(state: &'a State, view: &View) -> List<'a> {
    let Some(task) = view.worked_on(state) else { return List::none() };
    let evidence: Vec<_> = task.work.plan.iter().flat_map(|plan| plan.evidence()).collect();
    let selected = selected(state, view, task);
    let selected = selected.and_then(|id| evidence.iter().position(|evidence| evidence.id == id));
    List::new(
        (evidence.len(), selected),
        move |row| evidence.get(row).copied(),
        |evidence, view| {
            view.choose_evidence(state, task.id, evidence.id);
        },
        |evidence| {
            let plan = task.work.plan_of(evidence.id).map_or("", |plan| &plan.text);
            format!("{plan}\n{}", Track::of_evidence(state, task, evidence).text())
        },
    )
}

/// Moves the selection. A page has room for fewer pieces of evidence than rows.
fn go(state: &State, view: &mut View, to: Move) -> bool {
    list(state, view).go(view, to, view.page(SPEC.id) / 3);
    true
}
