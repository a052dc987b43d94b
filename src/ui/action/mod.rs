//! Everything a person can do, declared once: name, doc, default keys, and why it cannot be done now. The
//! footer, the help, the palette, popups, `toolyard keys` and the README's table all read this table.

mod layer;
mod layer_keys;
mod table;
mod why;

use super::pane::PaneId;

pub use layer::Layer;
pub use layer_keys::LAYER_KEYS;
pub use table::{ACTIONS, ActionSpec};

/// Something a person can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    RunOrPause,
    Step,
    StepOut,
    Remove,
    CancelAll,
    HoldLane,
    Stop,
    NewTask,

    Fail,
    AddFault,
    Edit,
    Less,
    More,
    Switch,
    Learning,
    Strategy,
    Model,
    Pin,
    SetClass,
    ReloadTools,
    CheckModels,
    Undo,
    Redo,

    Open,
    InspectTool,
    Prompt,
    NextView,
    Sort,
    Pairs,

    EventBack,
    EventForward,
    StepBack,
    StepForward,
    PastStart,
    Live,

    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Top,
    Bottom,
    NextPane,
    PreviousPane,
    Pane(PaneId),
    Faults,
    Messages,
    Find,
    NextMatch,
    PreviousMatch,
    Leave,

    Zoom,
    Taller,
    Shorter,
    Wider,
    Narrower,
    Equal,
    HidePane,
    AddPane,
    OnlyPane,
    SaveLayout,
    ResetLayout,
    Help,
    Palette,
    Screenshot,
    NextTheme,
    Redraw,
    Suspend,
    Quit,

    /// In popups only, as are those below.
    Accept,
    Toggle,
    NextSection,
    Add,
    NewLine,
}

/// What kind of thing it is: the sections of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Run,
    Change,
    Look,
    Past,
    Move,
    Screen,
    /// What only popups know.
    Popup,
}

impl Group {
    pub const ALL: [Group; 7] = [
        Group::Run,
        Group::Change,
        Group::Look,
        Group::Past,
        Group::Move,
        Group::Screen,
        Group::Popup,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Group::Run => "Run",
            Group::Change => "Change",
            Group::Look => "Look closer",
            Group::Past => "Time",
            Group::Move => "Move",
            Group::Screen => "Screen",
            Group::Popup => "In popups",
        }
    }
}
