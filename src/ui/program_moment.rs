//! The moment of a program that is looked at, and the ways to others.

use crate::domain::program::Until;
use crate::domain::state::{ProgramState, State, TaskState};
use crate::domain::{EffectId, ToolCallPhase};
use crate::moment_run::{ProgramPosition, ProgramQuery};
use crate::pane::PaneId;
use crate::view::View;

/// Returns the query for the shown program: at the chosen moment, else, in the past, at that time. Values that the
/// session has already reported are not queried again.
pub fn wanted(state: &State, view: &View) -> Option<ProgramQuery> {
    if ![PaneId::Program, PaneId::Variables].iter().any(|pane| view.sees(*pane)) {
        return None;
    }
    let (task, program) = view.recorded_program(state)?;
    let chosen = view.looked.chosen.filter(|it| (it.task, it.number) == (task.id, program.number));
    let is_over = program.how.is_some();
    let until = match chosen {
        Some(chosen) => chosen.until,
        None if is_held(state, task, program) => return None,
        None if view.moment.is_some() || is_over && program.values.is_empty() => Until::Record,
        None => return None,
    };
    if program.text.is_empty() || !program.refused.is_empty() {
        return None;
    }
    let is_answered = |call: &EffectId| {
        let phase = state.tool_call(*call).map(|call| &call.phase);
        phase.is_some_and(ToolCallPhase::is_over)
    };
    let answered = || program.calls.iter().copied().filter(is_answered);
    let changes = program.extras.len() + program.left.len() + program.clocks.len();
    let record = (answered().next_back(), answered().count(), changes);
    let asks = view.looked.asks.clone();
    Some(ProgramQuery { task: task.id, number: program.number, until, asks, record })
}

/// Whether the program is held before a line in the shown state.
fn is_held(state: &State, task: &TaskState, program: &ProgramState) -> bool {
    let held = state.held_program().filter(|_| state.is_held_at_line());
    held.is_some_and(|(of, held)| (of.id, held.number) == (task.id, program.number))
}

/// Whether the present of the program is shown, and the program is held there before a line.
pub fn is_present(state: &State, view: &View) -> bool {
    let shown = view.recorded_program(state);
    view.moment.is_none()
        && view.looked.chosen.is_none()
        && shown.is_some_and(|(task, program)| is_held(state, task, program))
}

/// Goes to the statement before, or to the next one. False if no program is shown.
pub fn step(state: &State, view: &mut View, is_forward: bool) -> bool {
    let Some((task, program)) = view.recorded_program(state) else { return false };
    let (task, number) = (task.id, program.number);
    let here = program.held.as_ref().filter(|_| is_present(state, view)).map(|at| at.nth);
    let seen = view.looked.seen(task, number).filter(|_| here.is_none());
    let (at, last) = match (here, seen) {
        (Some(nth), _) => (Some(nth).filter(|nth| *nth > 0), nth),
        // The program is before its first statement, or has none.
        (None, Some(seen)) if seen.statement == 0 => (None, 0),
        (None, Some(seen)) if seen.goes_on => (Some(seen.statement), seen.statements),
        (None, Some(seen)) => (Some(seen.statement + 1), seen.statements),
        (None, None) => (None, 0),
    };
    let until = match (at, is_forward) {
        (Some(at), false) => Until::Statement(at.saturating_sub(1).max(1)),
        (Some(at), true) if at < last => Until::Statement(at + 1),
        (None, false) => Until::Last,
        // After the last statement comes the present.
        (_, true) => {
            view.looked.chosen = None;
            return true;
        }
    };
    view.looked.chosen = Some(ProgramPosition { task, number, until });
    view.program_line = None;
    true
}

/// Looks at the moment when the program last came to a line.
pub fn at_line(state: &State, view: &mut View, line: u32) {
    let shown = view.recorded_program(state).map(|(task, program)| (task.id, program.number));
    if let Some((task, number)) = shown {
        view.looked.chosen = Some(ProgramPosition { task, number, until: Until::Line(line) });
        view.program_line = None;
    }
}
