//! Goes to the moment of the selected thing.

use super::past;
use crate::domain::State;
use crate::panes::{self, spec::Opened};
use crate::request::{Requests, World};
use crate::update::moments;
use crate::{pane::PaneId, program_moment, view::View};

/// Says why the selected thing has no moment; `None`: it has one.
pub fn why_not(state: &State, view: &View) -> Option<&'static str> {
    let none = "the selection has no moment: select a task (<key:tasks>), a call (<key:calls>) or a line (<key:transcript>)";
    let is_none = moments::line(state, view).is_none() && moment(state, view).is_none();
    is_none.then_some(none)
}

/// Looks at the moment of the selected thing.
pub fn to_selected(world: &World<'_>, view: &mut View) -> Requests {
    // Lines of a program and values have moments of the program.
    if let Some(line) = moments::line(world.shown, view) {
        program_moment::at_line(world.shown, view, line);
        return Vec::new();
    }
    // A thing that had not happened at the moment looked at may have happened since.
    let moment = moment(world.shown, view).or_else(|| moment(world.live, view));
    past::jump(world, view, moment);
    Vec::new()
}

/// The event at which the selected thing happened.
fn moment(state: &State, view: &View) -> Option<u64> {
    if view.focus == PaneId::Transcript {
        return view.line.or_else(|| state.transcript.last().map(|line| line.n));
    }
    if view.focus == PaneId::Problems {
        return panes::problems::selected(state, view).map(|problem| problem.n);
    }
    if view.focus == PaneId::Twin {
        return panes::twin::selected(view).map(|call| call.n);
    }
    match (panes::spec(view.focus).open)(state, view) {
        Opened::Subject(subject) => subject.moment(state),
        Opened::Nothing | Opened::Act(_) => None,
    }
}
