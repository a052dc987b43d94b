//! What an action does: it changes the view, and asks for effects. Nothing is done here that anybody
//! outside of the screen could notice, so every key can be tested without a terminal or an engine.

mod change;
mod control;
mod look;
pub mod mouse;
mod past;

use std::sync::Arc;

use super::pane::{Move, PaneId};
use super::popups::{
    Actions, Choose, Confirm, Faults, Find, Inspect, PairTable, Popup, Subject, TaskEntry,
};
use super::view::{Round, Tone, View};
use super::{action::Action, keymap::Keymap, panes};
use crate::domain::{Command, Knob, Record, State};

pub use look::select;

/// What an action may read.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// What is true now: commands mean this.
    pub live: &'a State,
    /// What is on the screen: the same, unless the past is looked at.
    pub shown: &'a State,
    /// All that happened, in order.
    pub records: &'a [Arc<Record>],
    pub keymap: &'a Keymap,
}

/// What is to be done outside of the view.
#[derive(Clone, Debug, PartialEq)]
pub enum ScreenRequest {
    /// A wish for the engine.
    Send(Command),
    Quit,
    /// Back to the shell until `fg`.
    Suspend,
    /// Write the screen to files.
    Shoot,
    NextTheme,
    /// Draw every cell anew.
    Redraw,
}

/// Does what the action says, or tells why not.
pub fn act(world: &World<'_>, view: &mut View, action: Action) -> Vec<ScreenRequest> {
    if let Some(why) = action.spec().why_not(world.live, view) {
        let text = format!("{}: {why}", action.spec().name);
        view.tell(world.live.at, Tone::Bad, text);
        return Vec::new();
    }
    perform(world, view, action)
}

fn perform(world: &World<'_>, view: &mut View, action: Action) -> Vec<ScreenRequest> {
    let live = world.live;
    match action {
        Action::RunOrPause => control::run_or_pause(live),
        Action::Step => send(Command::Step),
        Action::StepTask => send(Command::StepTask),
        Action::Cancel => control::cancel(live, view),
        Action::PauseLane => control::stop_lane(live, view),
        Action::Stop => open(view, Confirm::stop()),
        Action::NewTask => open(view, TaskEntry::new()),

        Action::Break => change::toggle_fault(live, view),
        Action::Faults => open(view, Faults::new(live, view)),
        Action::EditScore => change::edit_score(live, view),
        Action::RaiseScore => change::tool(view, |tool| Command::AddScore { tool, by: 1.0 }),
        Action::LowerScore => change::tool(view, |tool| Command::AddScore { tool, by: -1.0 }),
        Action::ForgetScore => change::tool(view, |tool| Command::ForgetScore { tool }),
        Action::Pin => change::pin(live, view),
        Action::Freeze => change::turn(Knob::Learn, 1),
        Action::TurnUp => change::turn(view.knob(), 1),
        Action::TurnDown => change::turn(view.knob(), -1),
        Action::BudgetUp => change::turn(Knob::Budget, 1),
        Action::BudgetDown => change::turn(Knob::Budget, -1),
        Action::TauUp => change::turn(Knob::Tau, 1),
        Action::TauDown => change::turn(Knob::Tau, -1),
        Action::UsesUp => change::tool(view, |tool| Command::AddUses { tool, by: 1 }),
        Action::UsesDown => change::tool(view, |tool| Command::AddUses { tool, by: -1 }),
        Action::SetUses => change::set_uses(live, view),
        Action::SetKnob => change::set_knob(live, view),
        Action::Strategy => open(view, Choose::strategy(live)),
        Action::BindModel => change::bind_model(live, view),
        Action::SetClass => change::set_class(live, view),
        Action::SwitchTool => change::switch_tool(live, view),
        Action::ReloadTools => send(Command::ReloadTools),
        Action::Undo => send(Command::Undo),

        Action::Open => look::open_selected(world, view),
        Action::InspectTool => inspect(view, view.tool.clone().map(Subject::Tool)),
        Action::InspectPrompt => inspect(view, view.model_call(world.shown).map(Subject::Prompt)),
        Action::InspectCall => inspect(view, look::lane(world.shown, view)),
        Action::InspectPlan => {
            inspect(view, view.task_of(world.shown).map(|task| Subject::Plan(task.id)))
        }
        Action::Messages => inspect(view, Some(Subject::Messages)),
        Action::GraphView => to_next(&mut view.graph),
        Action::SortTools => {
            view.follow(PaneId::Tools);
            to_next(&mut view.sort)
        }

        Action::Pairs => open(view, PairTable::default()),
        Action::SortPairs => to_next(&mut view.pair_sort),

        Action::EventBack => past::to(world, view, past::Way::Event(-1)),
        Action::EventForward => past::to(world, view, past::Way::Event(1)),
        Action::StepBack => past::to(world, view, past::Way::StepBack),
        Action::StepForward => past::to(world, view, past::Way::StepForward),
        Action::PastStart => past::to(world, view, past::Way::Start),
        Action::Live => past::to(world, view, past::Way::Live),

        Action::Up => walk(world, view, Move::Up),
        Action::Down => walk(world, view, Move::Down),
        Action::Left => walk(world, view, Move::Left),
        Action::Right => walk(world, view, Move::Right),
        Action::PageUp => walk(world, view, Move::PageUp),
        Action::PageDown => walk(world, view, Move::PageDown),
        Action::Top => walk(world, view, Move::Top),
        Action::Bottom => walk(world, view, Move::Bottom),
        Action::NextPane => to_pane(view, view.focus.after(1)),
        Action::PreviousPane => to_pane(view, view.focus.after(PaneId::ALL.len() - 1)),
        Action::Pane(pane) => to_pane(view, pane),
        Action::Zoom => {
            view.zoom = if view.zoom.is_some() { None } else { Some(view.focus) };
            Vec::new()
        }
        Action::Find => open(view, Find::in_pane(view.focus)),
        Action::Leave => leave(view),

        Action::Help => open(view, Actions::help(world, view)),
        Action::Palette => open(view, Actions::palette(world, view)),
        Action::Screenshot => vec![ScreenRequest::Shoot],
        Action::NextTheme => vec![ScreenRequest::NextTheme],
        Action::Redraw => vec![ScreenRequest::Redraw],
        Action::Suspend => vec![ScreenRequest::Suspend],
        Action::Quit => control::quit(world, view),
    }
}

fn send(command: Command) -> Vec<ScreenRequest> {
    vec![ScreenRequest::Send(command)]
}

fn to_next<T: Round>(value: &mut T) -> Vec<ScreenRequest> {
    *value = value.next();
    Vec::new()
}

fn open(view: &mut View, popup: impl Popup + 'static) -> Vec<ScreenRequest> {
    view.popups.push(Box::new(popup));
    Vec::new()
}

pub(super) fn inspect(view: &mut View, subject: Option<Subject>) -> Vec<ScreenRequest> {
    subject.map_or_else(Vec::new, |subject| open(view, Inspect::new(subject)))
}

fn walk(world: &World<'_>, view: &mut View, to: Move) -> Vec<ScreenRequest> {
    let pane = view.focus;
    match (pane.spec().turn, to) {
        // What is turned lies like a knob: down to the left, up to the right.
        (Some(turn), Move::Left | Move::Right) => turn(world, view, to == Move::Right),
        _ => {
            panes::go(pane, world.shown, view, to);
            Vec::new()
        }
    }
}

/// Gives a pane the keyboard. While one is zoomed, the other takes its place.
pub fn to_pane(view: &mut View, pane: PaneId) -> Vec<ScreenRequest> {
    view.focus = pane;
    if view.zoom.is_some() {
        view.zoom = Some(pane);
    }
    Vec::new()
}

/// Leaves one thing: the search, the past, the zoom, or the selection that holds a list still.
fn leave(view: &mut View) -> Vec<ScreenRequest> {
    let left =
        view.find.take().is_some() || view.moment.take().is_some() || view.zoom.take().is_some();
    if left {
        return Vec::new();
    }
    (view.focus.spec().leave)(view);
    Vec::new()
}
