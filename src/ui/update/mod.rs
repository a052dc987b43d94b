//! What an action does: it changes the view and returns requests. Nothing here has an effect outside of the
//! screen, so every key is tested without a terminal or an engine.

pub(super) mod change;
mod control;
mod look;
pub mod mouse;
mod past;
mod press;

use std::sync::Arc;

use super::pane::{Move, PaneId};
use super::popups::{
    Actions, Choose, Confirm, Faults, Find, Inspect, PairTable, Popup, Subject, TaskEntry,
};
use super::view::{Round, Tone, View};
use super::{action::Action, keymap::Keymap, panes, vlist};
use crate::domain::{Command, Knob, Record, State};

pub use look::{lane, select};
pub use press::{layers, press};

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

/// What an action requests outside of the view.
#[derive(Clone, Debug, PartialEq)]
pub enum ScreenRequest {
    /// A command for the engine.
    Send(Command),
    Quit,
    /// Back to the shell until `fg`.
    Suspend,
    /// Write the screen to files.
    Shoot,
    NextTheme,
    /// Draw every cell again.
    Redraw,
}

/// Does what the action says, or says why not.
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
        Action::StepOut => send(Command::StepTask),
        Action::Remove => (view.focus.spec().remove)(live, view),
        Action::CancelAll => control::cancel_all(live),
        Action::HoldLane => control::hold_lane(live, view),
        Action::Stop => open(view, Confirm::stop()),
        Action::NewTask => open(view, TaskEntry::new()),

        Action::Fail => change::toggle_fault(live, view),
        Action::AddFault => change::add_fault(view),
        Action::Edit => (view.focus.spec().edit)(world, view),
        Action::Less => (view.focus.spec().turn)(world, view, false),
        Action::More => (view.focus.spec().turn)(world, view, true),
        Action::Switch => change::switch_tool(live, view),
        Action::Learning => change::turn(Knob::Learn, 1),
        Action::Strategy => open(view, Choose::strategy(live)),
        Action::Model => change::bind_model(live, view),
        Action::Pin => change::pin(live, view),
        Action::SetClass => change::set_class(live, view),
        Action::ReloadTools => send(Command::ReloadTools),
        Action::CheckModels => send(Command::ProbeModels),
        Action::Undo => send(Command::Undo),
        Action::Redo => send(Command::Redo),

        Action::Open => (view.focus.spec().open)(world, view),
        Action::InspectTool => inspect(view, view.tool.clone().map(Subject::Tool)),
        Action::Prompt => inspect(view, view.model_call(world.shown).map(Subject::Prompt)),
        Action::NextView => to_next(&mut view.graph),
        Action::Sort if view.focus == PaneId::Models => to_next(&mut view.pair_sort),
        Action::Sort => {
            view.follow(PaneId::Tools);
            to_next(&mut view.sort)
        }
        Action::Pairs => open(view, PairTable::default()),

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
        Action::NextPane => to_next_pane(world.shown, view, 1),
        Action::PreviousPane => to_next_pane(world.shown, view, PaneId::ALL.len() - 1),
        Action::Pane(pane) => visit(view, pane),
        Action::Faults => open(view, Faults::new(live, view)),
        Action::Messages => inspect(view, Some(Subject::Messages)),
        Action::Find => open(view, Find::in_pane(view.focus)),
        Action::NextMatch => look::find_next(world.shown, view, vlist::Find::Next),
        Action::PreviousMatch => look::find_next(world.shown, view, vlist::Find::Previous),
        Action::Leave => leave(view),

        Action::Zoom => {
            view.zoom = if view.zoom.is_some() { None } else { Some(view.focus) };
            Vec::new()
        }
        Action::Help => open(view, Actions::help(world, view)),
        Action::Palette => open(view, Actions::palette(world, view)),
        Action::Screenshot => vec![ScreenRequest::Shoot],
        Action::NextTheme => vec![ScreenRequest::NextTheme],
        Action::Redraw => vec![ScreenRequest::Redraw],
        Action::Suspend => vec![ScreenRequest::Suspend],
        Action::Quit => control::quit(world, view),

        // Only popups do these; here `why_not` refuses them before.
        Action::Accept | Action::Toggle | Action::Add | Action::NewLine => Vec::new(),
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
    panes::go(view.focus, world.shown, view, to);
    Vec::new()
}

/// The next pane in steps of `by` that has something to show.
fn to_next_pane(shown: &State, view: &mut View, by: usize) -> Vec<ScreenRequest> {
    let after = std::iter::successors(Some(view.focus.after(by)), |pane| Some(pane.after(by)));
    let wanted = after.take(PaneId::ALL.len()).find(|pane| (pane.spec().when)(shown, view));
    to_pane(view, wanted.unwrap_or(view.focus))
}

/// A pane's own key: goes there, and zooms the pane that has the keyboard already.
fn visit(view: &mut View, pane: PaneId) -> Vec<ScreenRequest> {
    if view.focus == pane {
        view.zoom = if view.zoom.is_some() { None } else { Some(pane) };
    }
    to_pane(view, pane)
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
