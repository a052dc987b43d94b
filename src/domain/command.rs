//! What is wished. A command is data, may come at any moment, and ends as the event that its doc
//! names, or as `CommandRefused` with a reason.
//!
//! Whoever wishes sees a state that lags behind. So what moves a number from where it is says by how
//! much, and is added up where it is granted: eight quick key presses are eight steps.

use serde::{Deserialize, Serialize};

use crate::domain::event::{ClassAssignment, Lane};
use crate::domain::id::{EffectId, FaultId, ModelName, ToolName};
use crate::domain::{chat::Role, fault::FaultSpec, knob::Knob, strategy::Strategy};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Go on until somebody says otherwise → `Resumed`.
    Run,
    /// Hold every lane at its next boundary → `PauseRequested`, then `Paused`.
    Pause,
    /// Go on to the next boundary of the lane that was held first → `Resumed`, then `Held`.
    Step,
    /// Go on to the end of this task → `Resumed`, then `Held` before the next.
    StepTask,
    /// End the session; what runs is cancelled → `SessionEnded`.
    Stop,
    /// Cancel an effect that runs or is held → `ToolCallFailed`, `ModelCallFailed` or `EmbeddingFailed`. The
    /// agent is told.
    Cancel(EffectId),
    /// Hold one lane at its next boundary, whatever the others do → `LanePaused`, then `Held`.
    PauseLane(Lane),
    /// → `LaneResumed`.
    ResumeLane(Lane),

    /// Another task, after those queued → `TasksQueued`.
    QueueTask { text: String },
    /// From the next task on → `StrategyChosen`.
    UseStrategy { strategy: Strategy },
    /// → `KnobTurned`.
    TurnKnob { knob: Knob, value: f64 },
    /// So many steps up, or down where negative; switches and choices go round → `KnobTurned`.
    TurnKnobBy { knob: Knob, steps: i32 },
    /// From the next ask on → `RoleBound`.
    BindRole { role: Role, model: ModelName },

    /// Look whether the configured models can be reached, beside whatever runs → `ModelsProbed`, then
    /// `ModelReached` for each.
    ProbeModels,

    /// → `ScoreSet`.
    SetScore { tool: ToolName, score: f64 },
    /// → `ScoreSet`.
    AddScore { tool: ToolName, by: f64 },
    /// Back to 0, as if the tool had never been scored → `ScoreSet`.
    ForgetScore { tool: ToolName },
    /// Hold one weight at a value, whatever scores and knobs say → `WeightPinned`.
    PinWeight { from: ToolName, to: ToolName, weight: f64 },
    /// → `WeightUnpinned`.
    UnpinWeight { from: ToolName, to: ToolName },

    /// → `FaultArmed`.
    ArmFault { spec: FaultSpec },
    /// → `FaultDisarmed`.
    DisarmFault { fault: FaultId },
    /// Arm a fault again that was disarmed → `FaultArmed`.
    RearmFault { fault: FaultId },
    /// How often a tool may still be used in the task at work; the plan is made around it → `UsesSet`.
    SetUses { tool: ToolName, uses: u32 },
    /// So many uses more than it may still have, or fewer where negative → `UsesSet`.
    AddUses { tool: ToolName, by: i32 },
    /// Of which class a tool is, whoever said otherwise; `None`: of none → `ToolClassSet`. Only an undo
    /// says that somebody else than the user says so.
    SetClass { tool: ToolName, class: Option<ClassAssignment> },
    /// Take a tool off every menu, or put it back → `ToolSwitched`.
    SwitchTool { tool: ToolName, on: bool },
    /// Have every provider list its tools again → `ToolsAdded`, `ToolsRemoved`, `Noticed`.
    ReloadTools,

    /// Take back the latest intervention that can be taken back → its opposite, by `Undo`.
    Undo,
}

impl Command {
    /// What it is called where it is refused.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Run => "run",
            Command::Pause => "pause",
            Command::Step => "step",
            Command::StepTask => "step over the task",
            Command::Stop => "stop",
            Command::Cancel(_) => "cancel the call",
            Command::PauseLane(_) => "pause the lane",
            Command::ResumeLane(_) => "resume the lane",
            Command::QueueTask { .. } => "queue a task",
            Command::UseStrategy { .. } => "use the strategy",
            Command::TurnKnob { .. } | Command::TurnKnobBy { .. } => "turn the knob",
            Command::BindRole { .. } => "bind the role",
            Command::ProbeModels => "probe the models",
            Command::SetScore { .. } | Command::AddScore { .. } => "set the score",
            Command::ForgetScore { .. } => "forget the score",
            Command::PinWeight { .. } => "pin the weight",
            Command::UnpinWeight { .. } => "unpin the weight",
            Command::ArmFault { .. } => "arm the fault",
            Command::DisarmFault { .. } => "disarm the fault",
            Command::RearmFault { .. } => "arm the fault again",
            Command::SetUses { .. } | Command::AddUses { .. } => "set the uses",
            Command::SetClass { .. } => "set the class",
            Command::SwitchTool { .. } => "switch the tool",
            Command::ReloadTools => "reload the tools",
            Command::Undo => "undo",
        }
    }
}
