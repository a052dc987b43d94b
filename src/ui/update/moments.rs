//! Moments of programs: taking a program back, the origin of a value, and comparing the calls of two programs.

use crate::domain::program::{Back, Until};
use crate::domain::state::What;
use crate::domain::{Command, State, TaskId};
use crate::moment_run::ProgramPosition;
use crate::panes::{program, variables};
use crate::popups::{Inspect, Subject, Why};
use crate::request::{Requests, World, send};
use crate::{pane::PaneId, view::View};

/// Why no program can be taken back; `None`: one is held.
pub fn not_held(state: &State, _: &View) -> Option<&'static str> {
    state.reversible_program().is_none().then_some(
        "only a held program can step back: pause it, or step to a line or the end of a call",
    )
}

pub fn nothing_before(state: &State, view: &View) -> Option<&'static str> {
    let held = state.held_program().and_then(|(_, program)| program.held.as_ref());
    let is_first = held.is_some_and(|at| state.is_held_at_line() && at.nth == 1);
    let first = is_first.then_some("this is the first statement of the program");
    not_held(state, view).or(first)
}

pub fn no_call_before(state: &State, view: &View) -> Option<&'static str> {
    let calls = state.reversible_program().map(|(_, program)| {
        let held = program.held.as_ref().filter(|_| state.is_held_at_line());
        held.map_or(program.calls.len(), |at| at.calls)
    });
    let none = (calls == Some(0)).then_some("the program has no call before this place");
    not_held(state, view).or(none)
}

pub fn back_to_line(world: &World<'_>, view: &mut View) -> Requests {
    back(world, view, Back::Line)
}

pub fn back_to_call(world: &World<'_>, view: &mut View) -> Requests {
    back(world, view, Back::Call)
}

fn back(world: &World<'_>, view: &mut View, to: Back) -> Requests {
    let Some((task, _)) = world.live.reversible_program() else { return Vec::new() };
    view.looked.leave();
    (view.program, view.program_line) = (None, None);
    send(Command::TakeProgramBack { task: task.id, to })
}

/// The moment looked at, if the shown program is held and can be taken back to that.
pub fn looked_at(live: &State, view: &View) -> Option<(TaskId, Back)> {
    let chosen = view.looked.chosen.filter(|_| view.focus == PaneId::Program)?;
    let (task, program) = live.reversible_program()?;
    let is_it = (chosen.task, chosen.number) == (task.id, program.number);
    let seen = view.looked.seen(task.id, program.number)?;
    is_it.then_some((task.id, Back::Statement(seen.statement.max(1))))
}

/// The selected line in a pane of programs, or the line that set the selected variable.
pub fn line(state: &State, view: &View) -> Option<u32> {
    let (_, shown) = view.program_of(state)?;
    if shown.text.is_empty() || !shown.refused.is_empty() {
        return None;
    }
    match view.focus {
        PaneId::Program => program::line(shown, view),
        PaneId::Variables => variables::selected_line(shown, view),
        _ => None,
    }
}

/// Evaluates an expression at the moment looked at; in a finished program, before its last statement.
pub fn ask(state: &State, view: &mut View, expression: String) {
    let shown = view.recorded_program(state).map(|(task, program)| (task.id, program.number));
    if let Some((task, number)) = shown
        && view.looked.chosen.is_none()
        && view.moment.is_none()
    {
        view.looked.chosen = Some(ProgramPosition { task, number, until: Until::Last });
    }
    view.variable = Some(expression.clone());
    view.looked.ask(expression);
}

/// The program and line of the value that is meant: from a pane of programs, or from the selected call.
fn value(state: &State, view: &View) -> Option<(TaskId, u32, u32)> {
    if let Some(line) = line(state, view) {
        let (task, program) = view.recorded_program(state)?;
        return Some((task.id, program.number, line));
    }
    let call = match view.focus {
        PaneId::Calls => view.call(state),
        PaneId::Transcript => match state.line(view.line?)?.what {
            What::ToolCall { call } => Some(call),
            _ => None,
        },
        _ => None,
    };
    let call = state.tool_call(call?)?;
    Some((call.task, call.step, call.line?))
}

pub fn no_value(state: &State, view: &View) -> Option<&'static str> {
    let none = value(state, view).is_none();
    none.then_some(
        "only for programs: select a line (<key:program>), a variable (<key:variables>) or a call; \
         for a call press <key:open>",
    )
}

pub fn why(world: &World<'_>, view: &mut View) -> Requests {
    let Some((task, number, line)) = value(world.shown, view) else { return Vec::new() };
    let shown = view.program_of(world.shown).map(|(task, program)| (task.id, program));
    let shown = shown.filter(|(of, program)| (*of, program.number) == (task, number));
    let why = Why::of(world.shown, (task, number), shown.map(|(_, program)| program), line);
    view.open(why)
}

pub fn nothing_to_compare(state: &State, view: &View) -> Option<&'static str> {
    match pair(state, view) {
        _ if view.focus != PaneId::Revisions => {
            Some("compare works in Revisions (<key:revisions>)")
        }
        None => Some("the task has one program only"),
        Some(_) => None,
    }
}

/// The selected program and the one before; for the first program, it and the next one.
fn pair(state: &State, view: &View) -> Option<(TaskId, u32, u32)> {
    let (task, shown) = view.recorded_program(state)?;
    let at = task.programs.iter().position(|program| program.number == shown.number)?;
    let first = at.saturating_sub(1);
    let second = task.programs.get(first + 1)?;
    Some((task.id, task.programs.get(first)?.number, second.number))
}

pub fn compare(world: &World<'_>, view: &mut View) -> Requests {
    let pair = pair(world.shown, view);
    pair.map_or_else(Vec::new, |(task, first, second)| {
        view.open(Inspect::new(Subject::Compared(task, first, second)))
    })
}
