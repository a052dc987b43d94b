//! What an action does: it changes the view and returns requests. Nothing here has an effect outside of the
//! screen, so every key is tested without a terminal or an engine.

mod control;
pub mod mouse;
mod past;
mod popup;
mod press;

use super::panes::spec::Opened;
use super::popups::{
    Actions, Choose, Confirm, Faults, Find, Inspect, PairTable, Subject, TaskEntry,
};
use super::request::{ScreenRequest, World, send};
use super::view::{Round, Tone, View};
use super::window::{self, Move};
use super::{action::Action, change, pane::PaneId, panes};
use crate::domain::{Command, Knob, State};

pub use press::{layers, press};

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
        Action::Remove => (panes::spec(view.focus).remove)(live, view),
        Action::CancelAll => control::cancel_all(live),
        Action::HoldLane => control::hold_lane(live, view),
        Action::Stop => view.open(Confirm::stop()),
        Action::NewTask => view.open(TaskEntry::new()),

        Action::Fail => change::toggle_fault(live, view),
        Action::AddFault => change::add_fault(view),
        Action::Edit => (panes::spec(view.focus).edit)(world, view),
        Action::Less => (panes::spec(view.focus).turn)(world, view, false),
        Action::More => (panes::spec(view.focus).turn)(world, view, true),
        Action::Switch => change::switch_tool(live, view),
        Action::Learning => change::turn(Knob::Learn, 1),
        Action::Strategy => view.open(Choose::strategy(live)),
        Action::Model => change::bind_model(live, view),
        Action::Pin => change::pin(live, view),
        Action::SetClass => change::set_class(live, view),
        Action::ReloadTools => send(Command::ReloadTools),
        Action::CheckModels => send(Command::ProbeModels),
        Action::Undo => send(Command::Undo),

        Action::Open => match (panes::spec(view.focus).open)(world.shown, view) {
            Opened::Nothing => Vec::new(),
            Opened::Subject(subject) => inspect(view, Some(subject)),
            Opened::Act(action) => act(world, view, action),
        },
        Action::InspectTool => inspect(view, view.tool.clone().map(Subject::Tool)),
        Action::Prompt => inspect(view, view.model_call(world.shown).map(Subject::Prompt)),
        Action::NextView => to_next(&mut view.graph),
        Action::Sort if view.focus == PaneId::Models => to_next(&mut view.pair_sort),
        Action::Sort => {
            view.follow(PaneId::Tools);
            to_next(&mut view.sort)
        }
        Action::Pairs => view.open(PairTable::default()),

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
        Action::Faults => view.open(Faults::new(live, view)),
        Action::Messages => inspect(view, Some(Subject::Messages)),
        Action::Find => view.open(Find::in_pane(view.focus)),
        Action::NextMatch => find_next(world.shown, view, window::Find::Next),
        Action::PreviousMatch => find_next(world.shown, view, window::Find::Previous),
        Action::Leave => leave(view),

        Action::Zoom => {
            view.zoom = if view.zoom.is_some() { None } else { Some(view.focus) };
            Vec::new()
        }
        Action::Help => view.open(Actions::help(world, view)),
        Action::Palette => view.open(Actions::palette(world, view)),
        Action::Screenshot => vec![ScreenRequest::Shoot],
        Action::NextTheme => vec![ScreenRequest::NextTheme],
        Action::Redraw => vec![ScreenRequest::Redraw],
        Action::Suspend => vec![ScreenRequest::Suspend],
        Action::Quit => control::quit(world, view),

        // Only popups do these; here `why_not` refuses them before.
        Action::Accept | Action::Toggle | Action::Add | Action::NewLine => Vec::new(),
    }
}

fn to_next<T: Round>(value: &mut T) -> Vec<ScreenRequest> {
    *value = value.next();
    Vec::new()
}

fn inspect(view: &mut View, subject: Option<Subject>) -> Vec<ScreenRequest> {
    subject.map_or_else(Vec::new, |subject| view.open(Inspect::new(subject)))
}

/// Selects the next or previous thing that holds what was searched for last.
fn find_next(shown: &State, view: &mut View, how: window::Find) -> Vec<ScreenRequest> {
    if let Some((pane, needle)) = view.find.clone() {
        view.follow(pane);
        panes::find(pane, shown, view, &needle, how);
    }
    Vec::new()
}

fn walk(world: &World<'_>, view: &mut View, to: Move) -> Vec<ScreenRequest> {
    panes::go(view.focus, world.shown, view, to);
    Vec::new()
}

/// The next pane in steps of `by` that has something to show.
fn to_next_pane(shown: &State, view: &mut View, by: usize) -> Vec<ScreenRequest> {
    let after = std::iter::successors(Some(view.focus.after(by)), |pane| Some(pane.after(by)));
    let wanted = after.take(PaneId::ALL.len()).find(|pane| (panes::spec(*pane).when)(shown, view));
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
    (panes::spec(view.focus).leave)(view);
    Vec::new()
}
