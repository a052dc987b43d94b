//! Breakpoints and runs to a place.

use crate::domain::breakpoint::{BreakpointPlace, BreakpointSpec, Trouble};
use crate::domain::expression::{Expression, Scope};
use crate::domain::state::{ProgramState, What};
use crate::domain::{Command, EffectId, Knob, State, Target};
use crate::panes::{breakpoints, program, variables};
use crate::popups::{AskProgram, BreakpointForm, WatchEntry};
use crate::request::{Requests, World, send};
use crate::{change, pane::PaneId, program_moment, view::View};

/// Sets a breakpoint on the selected thing, or deletes it; in the list of breakpoints, switches the selected one.
pub fn toggle(world: &World<'_>, view: &mut View) -> Requests {
    let live = world.live;
    if view.focus == PaneId::Breakpoints {
        return switch(world, view);
    }
    let Some(place) = place(live, view) else { return Vec::new() };
    send(match live.breakpoint_of(&place) {
        Some((breakpoint, known)) if known.on => Command::DeleteBreakpoint { breakpoint },
        Some((breakpoint, _)) => Command::SwitchBreakpoint { breakpoint, on: true },
        None => {
            let spec = Box::new(BreakpointSpec::at(place));
            Command::SetBreakpoint { breakpoint: None, spec, on: true }
        }
    })
}

/// Switches the selected tool off or on; in the list of breakpoints, the selected one.
pub fn switch(world: &World<'_>, view: &mut View) -> Requests {
    if view.focus != PaneId::Breakpoints {
        return change::switch_tool(world, view);
    }
    let chosen = breakpoints::selected(world.live, view);
    chosen.map_or_else(Vec::new, |(breakpoint, known)| {
        send(Command::SwitchBreakpoint { breakpoint, on: !known.on })
    })
}

pub fn nothing_to_switch(state: &State, view: &View) -> Option<&'static str> {
    match view.focus {
        PaneId::Breakpoints => nothing_to_break_at(state, view),
        _ => change::no_tool(state, view),
    }
}

/// Opens the form of a new breakpoint. Its place is the selected thing, or any tool call until a person selects a tool.
pub fn add(world: &World<'_>, view: &mut View) -> Requests {
    let is_chosen = |place: &BreakpointPlace| match place {
        BreakpointPlace::Call(Target::Tool(_)) => view.has_chosen_tool(),
        _ => true,
    };
    let place = place(world.live, view).filter(is_chosen);
    view.open(BreakpointForm::new(world.live, place))
}

pub fn nothing_to_break_at(state: &State, view: &View) -> Option<&'static str> {
    match view.focus {
        PaneId::Breakpoints => {
            let none = breakpoints::selected(state, view).is_none();
            none.then_some("no breakpoints: <key:add-breakpoint> adds one")
        }
        _ => place(state, view)
            .is_none()
            .then_some("nothing selected here: <key:add-breakpoint> adds a breakpoint"),
    }
}

/// The place of a breakpoint that is set from here.
fn place(state: &State, view: &View) -> Option<BreakpointPlace> {
    let tool = || {
        change::fault_target(state, view).and_then(|_| view.tool.clone()).map(BreakpointPlace::tool)
    };
    let value = |text: String| {
        let of = Expression::read(&text, Scope::Session).ok()?;
        Some(BreakpointPlace::Value { of, crosses: None })
    };
    let of_knob = |knob: Knob| match knob {
        Knob::Budget => value("left".to_owned()),
        knob => value(format!("knob[\"{knob}\"]")),
    };
    match view.focus {
        PaneId::Models => match &view.model {
            Some(model) => Some(BreakpointPlace::Call(Target::Model(model.clone()))),
            None => Some(BreakpointPlace::Call(Target::Role(view.role()))),
        },
        PaneId::Tasks => Some(BreakpointPlace::Task),
        PaneId::Program => {
            let (_, program) = view.program_of(state)?;
            program::line(program, view).map(BreakpointPlace::Line)
        }
        PaneId::Variables => {
            let (_, program) = view.program_of(state)?;
            variables::selected_name(program, view).map(BreakpointPlace::Variable)
        }
        PaneId::Revisions => Some(BreakpointPlace::Trouble(Some(Trouble::ProgramError))),
        PaneId::Probing => Some(BreakpointPlace::Trouble(Some(Trouble::Drift))),
        PaneId::Plan => match view.evidence(state) {
            Some((_, evidence, _)) => value(format!("evidence[\"{evidence}\"]")),
            None => Some(BreakpointPlace::Plan),
        },
        PaneId::Knobs => of_knob(view.knob()),
        PaneId::Budget => view.lever.0.map_or_else(tool, of_knob),
        PaneId::Transcript => match view.line.and_then(|n| state.line(n)).map(|line| &line.what) {
            Some(What::ModelCall { call } | What::ToolCall { call }) => of_call(state, *call),
            Some(What::Plan { .. } | What::BudgetPlanned { .. }) => Some(BreakpointPlace::Plan),
            Some(What::Evaluated { .. }) => Some(BreakpointPlace::Evaluation),
            _ => tool(),
        },
        PaneId::Calls => view.meant_call(state).and_then(|call| of_call(state, call)).or_else(tool),
        PaneId::Resilience => change::fault_target(state, view).map(BreakpointPlace::Call),
        _ => tool(),
    }
}

fn of_call(state: &State, call: EffectId) -> Option<BreakpointPlace> {
    let tool = state.tool_call(call).map(|call| BreakpointPlace::tool(call.tool.clone()));
    tool.or_else(|| {
        state.model_call(call).map(|call| BreakpointPlace::Call(Target::Role(call.role)))
    })
}

fn run_to_place(place: BreakpointPlace) -> Requests {
    send(Command::RunTo { spec: Box::new(BreakpointSpec::at(place)) })
}

pub fn run_to_call(_: &World<'_>, _: &mut View) -> Requests {
    run_to_place(BreakpointPlace::Call(Target::Tools))
}

pub fn run_to_model(_: &World<'_>, _: &mut View) -> Requests {
    run_to_place(BreakpointPlace::Call(Target::Models))
}

pub fn run_to_plan(_: &World<'_>, _: &mut View) -> Requests {
    run_to_place(BreakpointPlace::Plan)
}

pub fn run_to_error(_: &World<'_>, _: &mut View) -> Requests {
    run_to_place(BreakpointPlace::Trouble(None))
}

/// Goes to the next step of the agent, or the next task; in a program to the next statement of this function or its
/// caller.
pub fn step_over(world: &World<'_>, _: &mut View) -> Requests {
    run_to_place(depth(world.live).map_or(BreakpointPlace::Step, BreakpointPlace::Frame))
}

/// Goes to the end of this task; in a program out of this function, or to the end of the program.
pub fn step_out(world: &World<'_>, _: &mut View) -> Requests {
    match depth(world.live) {
        Some(depth) => run_to_place(BreakpointPlace::Frame(depth.saturating_sub(1))),
        None => send(Command::StepTask),
    }
}

/// The number of frames of the running program where it was last held; any number before that.
fn depth(live: &State) -> Option<usize> {
    let program = live.task_at_work()?.programs.last()?;
    let is_over = program.how.is_some() || !program.refused.is_empty();
    let depth = program.held.as_ref().map_or(usize::MAX, |held| held.frames.len());
    Some(depth).filter(|_| !is_over)
}

/// Evaluates an expression where the program is held.
pub fn ask(world: &World<'_>, view: &mut View) -> Requests {
    let looks = !program_moment::is_present(world.shown, view);
    view.open(AskProgram::ask("", looks))
}

pub fn nothing_to_ask(state: &State, view: &View) -> Option<&'static str> {
    let has_run = |program: &ProgramState| {
        !program.text.is_empty() && program.refused.is_empty() && program.how.is_some()
    };
    let shown = view.recorded_program(state);
    let looks = view.looked.chosen.is_some() || view.moment.is_some();
    let can = state.is_held_at_line() || shown.is_some_and(|(_, it)| looks || has_run(it));
    (!can).then_some("no program is held at a line, or ended: pause it, or step to a line")
}

pub fn run_to_here(world: &World<'_>, view: &mut View) -> Requests {
    place(world.live, view).map_or_else(Vec::new, run_to_place)
}

pub fn run_to_value(_: &World<'_>, view: &mut View) -> Requests {
    view.open(WatchEntry::run())
}
