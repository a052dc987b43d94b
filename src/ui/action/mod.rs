//! Actions of the user, each declared once: name, doc, default keys, and why it cannot be done now. The footer, the
//! help, the palette, popups, `toolyard keys` and the page of keys all read this table.

mod layer;
mod layer_keys;
mod refusals;
mod table;

use strum::{IntoStaticStr, VariantArray};

use super::pane::PaneId;

pub use layer::KeyLayer;
pub use layer_keys::LAYER_KEYS;
pub use refusals::no_copy;
pub use table::{ACTIONS, ActionHandler, ActionSpec};

/// An action of the user. Its name in the configuration is that of the variant: `run-or-pause`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Action {
    RunOrPause,
    Step,
    StepOver,
    StepOut,
    Continue,
    RunToCall,
    RunToModel,
    RunToPlan,
    RunToError,
    RunToHere,
    RunToValue,
    BackToLine,
    BackToCall,
    Remove,
    CancelAll,
    HoldLane,
    Stop,
    NewTask,
    RunNext,
    MoveDown,
    MoveUp,
    FollowUp,
    CallTool,

    Breakpoint,
    AddBreakpoint,
    AddWatch,
    Evaluate,
    Answer,
    RunAgain,
    Consent,
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
    Probe,
    ProbeAll,
    CheckModels,
    Undo,
    Redo,
    Twin,
    Sweep,
    UseBest,
    Demo,
    Slower,
    Faster,

    Open,
    InspectTool,
    Prompt,
    NextView,
    Sort,
    Pairs,
    Why,
    Compare,
    Copy,
    CopyValue,
    CopyPath,
    CopyCommand,
    CopyToFile,
    SaveScenario,
    Editor,
    OwnCommand,
    /// The user's own command at this place of the list.
    #[strum(disabled)]
    Own(u8),

    EventBack,
    EventForward,
    StepBack,
    StepForward,
    TaskBack,
    TaskForward,
    FirstEvent,
    Live,
    GoToMoment,
    Play,
    PlayFaster,
    PlaySlower,
    Fork,
    AskModel,
    PreviousWrong,
    NextWrong,
    PreviousOver,
    NextOver,
    PreviousFailure,
    NextFailure,
    PreviousTaskEnd,
    NextTaskEnd,
    PreviousChange,
    NextChange,
    PreviousEdit,
    NextEdit,
    PreviousFault,
    NextFault,
    PreviousProblem,
    NextProblem,
    PreviousStop,
    NextStop,
    Goto,
    Back,

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
    Sessions,
    Control,
    Messages,
    Fields,
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

    /// Only in popups, like all variants below.
    Accept,
    AcceptAndRun,
    Toggle,
    NextSection,
    Mark,
    Add,
    NewLine,
}

/// Kind of an action: a section of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray, IntoStaticStr)]
pub enum Group {
    Run,
    Change,
    #[strum(serialize = "Look closer")]
    Look,
    #[strum(serialize = "Time")]
    Past,
    Move,
    Screen,
    /// Actions that exist only in popups.
    #[strum(serialize = "In popups")]
    Popup,
}

impl Group {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
