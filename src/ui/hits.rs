//! Owners of cells. Drawing notes here what it put where; the mouse is answered from these notes, and a list that is
//! scrolled next starts from the rows that were really on the screen.

use std::sync::Arc;

use ratatui::layout::{Position, Rect};

use super::{action::Action, layout::Placed, pane::PaneId, window::Window};
use crate::domain::{BreakpointId, EffectId, EvidenceId, Knob, ModelName, Role, TaskId, ToolName};

/// Owner of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The inside of a pane, its frame, or its tab.
    Pane(PaneId),
    Tool(ToolName),
    /// An edge of the graph: from, to.
    Edge(ToolName, ToolName),
    Call(EffectId),
    /// A piece of evidence of a task's plan.
    Evidence(TaskId, EvidenceId),
    Task(TaskId),
    Knob(Knob),
    Role(Role),
    Model(ModelName),
    Breakpoint(BreakpointId),
    /// A watch, by its place in the list.
    Watch(usize),
    /// A node of a task's search tree.
    Node(TaskId, u32),
    /// A line of a program of a task.
    ProgramLine(TaskId, u32, u32),
    /// A program of a task.
    Program(TaskId, u32),
    /// A variable of the program that is shown, by its name.
    Variable(String),
    /// A line of the transcript, by the number of the event that made it.
    Line(u64),
    /// A line of the agent's process, by its number.
    Output(u64),
    /// A server of tools, by its key.
    Server(Arc<str>),
    /// A problem, by its number.
    Problem(u64),
    /// A pair of calls of this session and its twin, by its row.
    Pair(usize),
    /// An event to look at.
    Moment(u64),
    /// A key of the footer, a button, or a tab: a click runs the action.
    Action(Action),
    /// The inside of the topmost popup.
    Popup,
    /// A row of the topmost popup's list.
    PopupRow(usize),
}

/// Things that a frame put on the screen and that can be pointed at.
#[derive(Debug, Default)]
pub struct Hits {
    targets: Vec<(Rect, Target)>,
    /// Rows that the panes show of their lists.
    pub windows: Vec<(PaneId, Window)>,
    /// Where the panes are.
    pub placed: Vec<Placed>,
}

impl Hits {
    /// Notes that these cells belong to this target; what is noted later lies on top.
    pub fn add(&mut self, area: Rect, target: Target) {
        if !area.is_empty() {
            self.targets.push((area, target));
        }
    }

    /// Notes which rows of a pane's list are shown.
    pub fn window(&mut self, pane: PaneId, window: Window) {
        self.windows.push((pane, window));
    }

    /// Forgets what lies below; called before a popup is drawn, which takes the mouse whole.
    pub fn cover(&mut self) {
        self.targets.clear();
    }

    /// Returns the owner of this cell.
    pub fn at(&self, x: u16, y: u16) -> Option<&Target> {
        let here = Position { x, y };
        self.targets.iter().rev().find(|(area, _)| area.contains(here)).map(|(_, target)| target)
    }

    /// The pane below this cell.
    pub fn pane_at(&self, x: u16, y: u16) -> Option<PaneId> {
        let here = Position { x, y };
        let mut below = self.targets.iter().rev().filter(|(area, _)| area.contains(here));
        below.find_map(
            |(_, target)| if let Target::Pane(pane) = target { Some(*pane) } else { None },
        )
    }

    /// Returns all targets, from the bottom up.
    pub fn targets(&self) -> impl Iterator<Item = &(Rect, Target)> {
        self.targets.iter()
    }
}
