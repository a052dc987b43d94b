//! The declaration of a pane.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use crate::domain::State;
use crate::request::{ScreenRequest, World};
use crate::window::Move;
use crate::{action::Action, change, cx::Cx, hits::Hits, pane::PaneId};
use crate::{popups::Subject, view::View, vlist::List};

/// The declaration of a pane.
pub struct PaneSpec {
    pub id: PaneId,
    /// The pane's name while agents are watched, if it shows something else then.
    pub watched: Option<&'static str>,
    /// Whether the pane has something to show, now or later.
    pub when: fn(&State, &View) -> bool,
    /// The most rows that the pane can use, constant for a session as far as possible; `None`: any number.
    pub most: fn(&State, &View) -> Option<usize>,
    /// The words after the pane's name in the frame.
    pub title: fn(&Cx<'_>) -> Line<'static>,
    /// Draws the pane's inside, which is never empty.
    pub draw: fn(&Cx<'_>, Rect, &mut Buffer, &mut Hits),
    /// The rows that can be selected in the pane.
    pub list: for<'a> fn(&'a State, &View) -> List<'a>,
    /// The noun for a row of the list, if a search shows only the rows that match. `None` if all rows are shown and the
    /// search goes from match to match.
    pub filters: fn(&View) -> Option<&'static str>,
    /// Handles a movement that does not follow the list; false: this movement does.
    pub go: fn(&State, &mut View, Move) -> bool,
    /// Opens the selected thing.
    pub open: fn(&State, &View) -> Opened,
    /// The reason why the selected thing cannot be removed; `None` if it can.
    pub why_not_remove: fn(&State, &View) -> Option<&'static str>,
    /// Removes the selected thing.
    pub remove: fn(&State, &mut View) -> Vec<ScreenRequest>,
    /// The reason why the selected thing cannot be edited or turned; `None` if it can.
    pub why_not_adjust: fn(&State, &View) -> Option<&'static str>,
    /// Opens an entry for a new value of the selected thing.
    pub edit: fn(&World<'_>, &mut View) -> Vec<ScreenRequest>,
    /// Turns the selected thing by one step, up or down.
    pub turn: fn(&World<'_>, &mut View, up: bool) -> Vec<ScreenRequest>,
    /// Clears the selection that keeps the pane still.
    pub leave: fn(&mut View),
    /// Actions for the footer, the most useful first.
    pub keys: &'static [Action],
}

/// The result of opening the selected thing.
#[derive(Clone, Debug)]
pub enum Opened {
    Nothing,
    /// The page of this subject.
    Subject(Subject),
    /// The effect of this action.
    Act(Action),
}

impl Opened {
    pub fn subject(subject: Option<Subject>) -> Self {
        subject.map_or(Opened::Nothing, Opened::Subject)
    }
}

/// The defaults of a pane: it edits and turns the selected tool's score, and removes the selected call.
pub const PLAIN: PaneSpec = PaneSpec {
    id: PaneId::Graph,
    watched: None,
    when: |_, _| true,
    most: |_, _| None,
    title: |_| Line::default(),
    draw: |_, _, _, _| {},
    list: |_, _| List::none(),
    filters: |_| None,
    go: |_, _, _| false,
    open: |_, _| Opened::Nothing,
    why_not_remove: |state, view| view.cancels(state).err(),
    remove: change::cancel,
    why_not_adjust: change::no_tool,
    edit: change::edit_score,
    turn: change::turn_score,
    leave: |_| {},
    keys: &[],
};
