//! What a pane declares.

use ratatui::{buffer::Buffer, layout::Rect, text::Line};

use crate::domain::State;
use crate::request::{ScreenRequest, World};
use crate::window::Move;
use crate::{action::Action, change, cx::Cx, hits::Hits, pane::PaneId};
use crate::{popups::Subject, view::View, vlist::List};

/// What is declared about a pane.
pub struct PaneSpec {
    pub id: PaneId,
    /// Whether it has something to show, or will have.
    pub when: fn(&State, &View) -> bool,
    /// The most rows that it can use, the same for all of a session as far as possible; `None`: any number.
    pub most: fn(&State, &View) -> Option<usize>,
    /// The words behind its name in the frame.
    pub title: fn(&Cx<'_>) -> Line<'static>,
    /// Draws its inside, which is never empty.
    pub draw: fn(&Cx<'_>, Rect, &mut Buffer, &mut Hits),
    /// What can be selected in it.
    pub list: for<'a> fn(&'a State, &View) -> List<'a>,
    /// What a row of the list is called, where a search shows only the rows that match; `None`: all are shown,
    /// and it goes from match to match.
    pub filters: fn(&View) -> Option<&'static str>,
    /// A movement that leads elsewhere than along the list; false: this one does not.
    pub go: fn(&State, &mut View, Move) -> bool,
    /// Looks closer at what is selected.
    pub open: fn(&State, &View) -> Opened,
    /// Why what is selected cannot be removed; `None`: it can.
    pub why_not_remove: fn(&State, &View) -> Option<&'static str>,
    /// Takes away what is selected.
    pub remove: fn(&State, &mut View) -> Vec<ScreenRequest>,
    /// Why what is selected cannot be edited or turned; `None`: it can.
    pub why_not_adjust: fn(&State, &View) -> Option<&'static str>,
    /// Types a new value for what is selected.
    pub edit: fn(&World<'_>, &mut View) -> Vec<ScreenRequest>,
    /// Turns what is selected by one step, up or down.
    pub turn: fn(&World<'_>, &mut View, up: bool) -> Vec<ScreenRequest>,
    /// Lets go of what holds the pane still.
    pub leave: fn(&mut View),
    /// What is worth a place in the footer, the most useful first.
    pub keys: &'static [Action],
}

/// What a closer look at the selected thing is.
#[derive(Clone, Debug)]
pub enum Opened {
    Nothing,
    /// Its own page.
    Subject(Subject),
    /// What this action does.
    Act(Action),
}

impl Opened {
    pub fn subject(subject: Option<Subject>) -> Self {
        subject.map_or(Opened::Nothing, Opened::Subject)
    }
}

/// What holds for a pane that declares nothing else: the selected tool's score is edited and turned, and the
/// selected call is removed.
pub const PLAIN: PaneSpec = PaneSpec {
    id: PaneId::Graph,
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
