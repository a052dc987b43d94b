//! Copies the selected thing.

use crate::domain::State;
use crate::own::Selection;
use crate::panes::{self, spec::Opened};
use crate::popups::{CopyForm, Subject, copy};
use crate::request::{Requests, World};
use crate::{pane::PaneId, view::View};

/// Why nothing can be copied; `None`: something is selected.
pub fn why_not(state: &State, view: &View) -> Option<&'static str> {
    let none = "nothing to copy: select a tool, a call, a task or a line";
    selected(state, view).is_none().then_some(none)
}

/// Copies the selected thing.
pub fn selected_as(form: CopyForm, world: &World<'_>, view: &mut View) -> Requests {
    let subject = selected(world.shown, view).or_else(|| selected(world.live, view));
    match subject {
        Some(subject) => copy(&subject, form, world, view),
        None => Vec::new(),
    }
}

/// Returns the selected thing, for a program outside of the screen.
pub fn selection(world: &World<'_>, view: &View) -> Option<Selection> {
    let subject = selected(world.shown, view).or_else(|| selected(world.live, view))?;
    Some(subject.selection(world, view))
}

fn selected(state: &State, view: &View) -> Option<Subject> {
    match (panes::spec(view.focus).open)(state, view) {
        Opened::Subject(subject) => Some(subject),
        Opened::Act(_) | Opened::Nothing => {
            let of_tools = matches!(view.focus, PaneId::Graph | PaneId::Tools);
            view.tool.clone().filter(|_| of_tools).map(Subject::Tool)
        }
    }
}
