//! What can be found in a line of the transcript.

use super::{TIME, WITH_TIME, entry};
use crate::domain::State;
use crate::domain::state::Line;
use crate::ui::{pane::PaneId, theme::Theme, view::View};

/// For a pane that was not drawn yet.
const WIDTH: u16 = 80;

/// How wide entries were in the last frame.
pub fn width(view: &View) -> usize {
    let placed = view.placed.iter().find(|placed| placed.pane == PaneId::Transcript);
    let width = placed.map_or(WIDTH, |placed| placed.area.width.saturating_sub(2));
    usize::from(if width >= WITH_TIME { width - TIME } else { width })
}

/// The text of a line's entry as it is drawn while it is selected: nothing is found that cannot be seen.
pub fn text(state: &State, line: &Line, width: usize) -> String {
    let from = entry::From { state, theme: Theme::of_words(), now: state.at };
    let rows = entry::rows(from, line, width, true);
    rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
