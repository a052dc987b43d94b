//! Calls in flight: editing them, answering for them, repeating them.

use crate::domain::state::{EvidenceSource, What};
use crate::domain::{Command, EffectId, EffectState, State};
use crate::panes::program;
use crate::popups::{AskEntry, Choose, Confirm, EditForm};
use crate::request::{Requests, World, send};
use crate::{change, pane::PaneId, update::moments, view::View};

/// The call that keys mean: the selected one in the panes of calls and lines, else the held one.
fn target<'a>(state: &'a State, view: &View) -> Option<&'a EffectState> {
    let selected = match view.focus {
        PaneId::Transcript => match view.line.and_then(|n| state.line(n)).map(|line| &line.what) {
            Some(What::ModelCall { call } | What::ToolCall { call }) => Some(*call),
            _ => None,
        },
        PaneId::Calls | PaneId::Plan => match view.evidence(state) {
            Some((_, _, Some(begun))) => match begun.source {
                EvidenceSource::Call(call) | EvidenceSource::Model(call) => Some(call),
                EvidenceSource::None => None,
            },
            _ => view.meant_call(state),
        },
        _ => None,
    };
    selected.and_then(|call| state.effect(call)).or_else(|| state.shown_held())
}

/// Panes whose own rows are edited even while a call is held: those of the debugger and of programs.
const OWN: [PaneId; 5] =
    [PaneId::Watches, PaneId::Breakpoints, PaneId::Program, PaneId::Variables, PaneId::Revisions];

/// Panes in which keys mean the held call even if only a pause holds it.
const OF_CALLS: [PaneId; 4] =
    [PaneId::Calls, PaneId::Transcript, PaneId::Plan, PaneId::Conversations];

/// The held call that keys mean here. A call that stopped the agent, or waits for consent, is meant in almost any pane;
/// one that a pause happens to hold only where calls are shown, since elsewhere a person means the row.
pub fn held_here<'a>(state: &'a State, view: &View) -> Option<&'a EffectState> {
    let is_stop = state.control.stop.is_some() || !state.control.asks.is_empty();
    let is_meant = match is_stop {
        true => !OWN.contains(&view.focus),
        false => OF_CALLS.contains(&view.focus),
    };
    state.shown_held().filter(|_| is_meant)
}

/// The call that `e` edits here while one is held.
pub fn edited(state: &State, view: &View) -> Option<EffectId> {
    held_here(state, view).and_then(|_| editable(state, view))
}

/// The command that cancels the held call, if it has not ended. Where calls are listed, the selected one is meant.
pub fn cancels_held(state: &State, view: &View) -> Option<Command> {
    let is_listed = matches!(view.focus, PaneId::Calls | PaneId::Plan | PaneId::Transcript);
    let held = held_here(state, view).filter(|call| !is_listed && !call.is_over());
    held.map(|call| Command::Cancel(call.id))
}

/// The call whose arguments, prompt, result or reply can be edited now.
fn editable(state: &State, view: &View) -> Option<EffectId> {
    let can = |effect: &EffectState| {
        let waits = effect.started.is_none() && !effect.is_over();
        let is_held = effect.is_over() && state.control.is_held(effect.lane);
        let is_past = state.cost_of_past(effect.id).is_some();
        (waits || is_held || is_past) && state.embedding(effect.id).is_none()
    };
    meant(state, view, can).map(|effect| effect.id)
}

/// The call that keys mean, if the action is possible for it; else the held one.
fn meant<'a>(
    state: &'a State,
    view: &View,
    can: impl Fn(&EffectState) -> bool,
) -> Option<&'a EffectState> {
    let selected = target(state, view).filter(|effect| can(effect));
    selected.or_else(|| held_here(state, view).filter(|effect| can(effect)))
}

/// The call that can be answered by hand.
fn answerable<'a>(state: &'a State, view: &View) -> Option<&'a EffectState> {
    meant(state, view, |call| !call.is_over() && state.embedding(call.id).is_none())
}

/// The call that can be repeated: it has ended, and is held.
fn repeatable<'a>(state: &'a State, view: &View) -> Option<&'a EffectState> {
    let can = |call: &EffectState| call.is_over() && state.control.is_held(call.lane);
    meant(state, view, |call| can(call) && !state.is_of_guest(call.id))
}

/// Edits the call in flight that keys mean; if none can be edited, the score of the selected tool.
pub fn edit(world: &World<'_>, view: &mut View) -> Requests {
    let form = editable(world.live, view).and_then(|call| EditForm::edit(world.live, call));
    match form {
        Some(form) => view.open(form),
        None => change::edit_score(world, view),
    }
}

pub fn nothing_to_edit(state: &State, view: &View) -> Option<&'static str> {
    if editable(state, view).is_some() { None } else { change::no_tool(state, view) }
}

pub fn answer(world: &World<'_>, view: &mut View) -> Requests {
    let call = answerable(world.live, view).map(|effect| effect.id);
    let form = call.and_then(|call| EditForm::answer(world.live, call));
    form.map_or_else(Vec::new, |form| view.open(form))
}

pub fn nothing_to_answer(state: &State, view: &View) -> Option<&'static str> {
    if answerable(state, view).is_some() {
        return None;
    }
    match target(state, view) {
        None => Some("no call is selected or held"),
        Some(call) if call.is_over() && state.control.is_held(call.lane) => {
            Some("the call has ended, and is held: <key:edit> edits its result")
        }
        Some(call) if call.is_over() => {
            Some("the call has ended: its result can be edited only while it is held")
        }
        Some(_) => Some("an embedding cannot be answered by hand"),
    }
}

pub fn run_again(world: &World<'_>, view: &mut View) -> Requests {
    if view.focus == PaneId::Revisions {
        return go_on_with(world, view);
    }
    if let Some((task, to)) = moments::looked_at(world.live, view) {
        view.looked.leave();
        return send(Command::TakeProgramBack { task, to });
    }
    let call = repeatable(world.live, view).map(|effect| effect.id);
    call.map_or_else(Vec::new, |effect| send(Command::RepeatCall { effect }))
}

/// Replaces the held program with the chosen one.
fn go_on_with(world: &World<'_>, view: &mut View) -> Requests {
    let chosen = view.recorded_program(world.live);
    chosen.map_or_else(Vec::new, |(task, program)| {
        let (task, text) = (task.id, program.text.to_string());
        view.program = None;
        view.looked.leave();
        send(Command::EditProgram { task, text })
    })
}

pub fn nothing_to_repeat(state: &State, view: &View) -> Option<&'static str> {
    if view.focus == PaneId::Revisions {
        return program::nothing_to_edit(state, view);
    }
    if view.focus == PaneId::Program && view.looked.chosen.is_some() {
        return moments::not_held(state, view);
    }
    if repeatable(state, view).is_some() {
        return None;
    }
    match target(state, view) {
        None => Some("no call is selected or held"),
        Some(call) if state.is_of_guest(call.id) => {
            Some("a watched agent makes this call, and only it can repeat it")
        }
        Some(_) => {
            Some("only a call held after its end can be repeated: H or a breakpoint holds it")
        }
    }
}

/// Goes on from the moment on the screen in a new session: with the call that keys mean changed, if there is one.
pub fn fork(world: &World<'_>, view: &mut View) -> Requests {
    let shown = world.shown;
    let call = target(shown, view).filter(|call| shown.embedding(call.id).is_none());
    match call.and_then(|call| EditForm::fork(shown, call.id)) {
        Some(form) => view.open(form),
        None => view.open(Confirm::fork(shown)),
    }
}

/// Asks the model call that keys mean again.
pub fn ask_model(world: &World<'_>, view: &mut View) -> Requests {
    let call = target(world.shown, view).and_then(|call| world.shown.model_call(call.id));
    call.map_or_else(Vec::new, |call| view.open(AskEntry::of(call)))
}

pub fn nothing_to_ask(state: &State, view: &View) -> Option<&'static str> {
    let call = target(state, view).and_then(|call| state.model_call(call.id));
    call.is_none().then_some("select a call of a model first")
}

/// Decides on the call that waits for consent: the selected one, else the first.
pub fn consent(world: &World<'_>, view: &mut View) -> Requests {
    let asks = &world.live.control.asks;
    let chosen = view.call.filter(|call| asks.contains(call)).or_else(|| asks.first().copied());
    let question = chosen.and_then(|call| Choose::consent(world.live, call));
    question.map_or_else(Vec::new, |question| view.open(question))
}

pub fn nothing_asks(state: &State, _: &View) -> Option<&'static str> {
    state.control.asks.is_empty().then_some("no call waits for your consent")
}
