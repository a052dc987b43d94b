//! Requests from the user. A command is plain data, may arrive at any time, and results in the
//! event named in its doc, or in `CommandRefused` with a reason.
//!
//! A lane is what runs by itself: the agent, or an effect beside others. A boundary is where a lane can be held, such as
//! before a tool call.
//!
//! The sender sees a state that lags behind. So a relative change carries its difference, which is
//! added when the command is applied: eight quick key presses are eight steps.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::Approval;
use crate::event::{ClassAssignment, Lane, Resume};
use crate::id::{BreakpointId, EffectId, FaultId, ModelName, RunId, TaskId, ToolName};
use crate::spec::Task;
use crate::{
    breakpoint::BreakpointSpec,
    chat::Role,
    edit::Edit,
    fault::FaultSpec,
    knob::Knob,
    program::{Back, ProgramQuestion},
    strategy::Strategy,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// Run until paused, stepped or stopped → `Resumed`.
    Run,
    /// Hold every lane at its next boundary → `PauseRequested`, then `Paused`.
    Pause,
    /// Let the lane that has been held longest run to its next boundary → `Resumed`, then `Held`. Not a step of the
    /// agent, which has several boundaries.
    Step,
    /// Run to the end of this task → `Resumed`, then `Held` before the next.
    StepTask,
    /// The same as `Run`, `Step` or `StepTask` for one run alone → `Resumed`.
    ResumeRun { run: RunId, how: Resume },
    /// Hold every lane of one run at its next boundary → `PauseRequested`, then `Paused`.
    PauseRun { run: RunId },
    /// End the session and cancel all running effects → `SessionEnded`.
    Stop,
    /// The same for this reason, which does not come from a person.
    StopBecause { why: String },
    /// Cancel an effect that runs or is held → `ToolCallFailed`, `ModelCallFailed` or
    /// `EmbeddingFailed`. The agent sees the failure.
    Cancel(EffectId),
    /// Hold one lane at its next boundary, independent of the others → `LanePaused`, then `Held`.
    PauseLane(Lane),
    /// → `LaneResumed`.
    ResumeLane(Lane),

    /// Add a task to the end of the queue → `TasksQueued`.
    QueueTask { text: String },
    /// Add a task to the front of the queue → `TasksQueued`.
    QueueNext { text: String },
    /// Add the tasks with which the session began to the end of the queue → `TasksQueued`.
    QueueAgain,
    /// Put tasks back where they were in the queue → `TasksQueued`.
    PutTasks { first: TaskId, tasks: Vec<Task> },
    /// Take these tasks off the queue, if they still wait there → `TasksRemoved`.
    RemoveTasks { first: TaskId, tasks: Vec<Task> },
    /// Move a task that waits to the place with this number → `TaskMoved`.
    MoveTask { task: TaskId, to: TaskId },
    /// Move a task that waits by this number of places, towards the front if negative → `TaskMoved`.
    MoveTaskBy { task: TaskId, by: i32 },
    /// Move a task that waits to the front of the queue → `TaskMoved`.
    RunNext { task: TaskId },
    /// End the current task without an answer, and cancel its effects → `TaskSkipped`, `TaskFinished`.
    SkipTask { task: TaskId },
    /// Ask a further question after the answer of a task; it comes next → `TasksQueued`.
    FollowUp { task: TaskId, text: String },
    /// Call a tool, beside the agent and without a budget → `ToolCallRequested`.
    CallTool { tool: ToolName, arguments: Value },
    /// From the next task on → `StrategyChosen`.
    UseStrategy { strategy: Strategy },
    /// For all randomness from here on → `SeedChosen`.
    UseSeed { seed: u64 },
    /// → `KnobTurned`.
    TurnKnob { knob: Knob, value: f64 },
    /// Turn a knob by this number of steps, down if negative; switches and choices wrap →
    /// `KnobTurned`.
    TurnKnobBy { knob: Knob, steps: i32 },
    /// From the next model call on → `RoleBound`.
    BindRole { role: Role, model: ModelName },

    /// Check whether the configured models can be reached, without disturbing the agent →
    /// `ModelsProbed`, then `ModelReached` for each.
    ProbeModels,

    /// → `ScoreSet`.
    SetScore { tool: ToolName, score: f64 },
    /// → `ScoreSet`.
    AddScore { tool: ToolName, by: f64 },
    /// Reset to 0, as if the tool had never been scored → `ScoreSet`.
    ForgetScore { tool: ToolName },
    /// Fix one weight at a value, regardless of scores and knobs → `WeightPinned`.
    PinWeight { from: ToolName, to: ToolName, weight: f64 },
    /// → `WeightUnpinned`.
    UnpinWeight { from: ToolName, to: ToolName },

    /// → `FaultArmed`.
    ArmFault { spec: FaultSpec },
    /// → `FaultDisarmed`.
    DisarmFault { fault: FaultId },
    /// Arm a disarmed fault again → `FaultArmed`.
    RearmFault { fault: FaultId },
    /// Change the input of a call before it starts, or its outcome while it is held after its end → `CallEdited`.
    EditCall { effect: EffectId, edit: Box<Edit>, shown: bool },
    /// Change a result that the model of a watched agent has read, from its next request on → `CallEdited`. The
    /// endpoint's cache does not help after the changed result.
    EditPast { effect: EffectId, text: String },
    /// Answer a call in place of its model or tool → `CallAnswered`, and its end.
    AnswerCall { effect: EffectId, text: String },
    /// Make a call again that is held after its end → `CallRepeated`, then its request.
    RepeatCall { effect: EffectId },
    /// Allow a call that waits for consent, or refuse it → `ConsentGiven`.
    Consent { effect: EffectId, allowed: bool },
    /// Allow this call and all later ones of its tool → `ApprovalSet`, `ConsentGiven`.
    AllowTool { effect: EffectId },
    /// Set which tool calls need consent → `ApprovalSet`.
    SetApproval { approval: Box<Approval> },
    /// Set a breakpoint, or change the one with this number → `BreakpointSet`.
    SetBreakpoint { breakpoint: Option<BreakpointId>, spec: Box<BreakpointSpec>, on: bool },
    /// → `BreakpointSwitched`.
    SwitchBreakpoint { breakpoint: BreakpointId, on: bool },
    /// → `BreakpointDeleted`.
    DeleteBreakpoint { breakpoint: BreakpointId },
    /// Evaluate an expression where the program of a task is held, or give its value to a variable → `ProgramAsked`,
    /// then `ProgramHeld` at the same place.
    AskProgram { task: TaskId, asked: ProgramQuestion },
    /// Go on with this program in place of the one that is held → `ProgramEdited`, then `ProgramWritten`.
    EditProgram { task: TaskId, text: String },
    /// Run the program that is held again, up to an earlier statement → `ProgramTakenBack`, then `ProgramHeld`.
    TakeProgramBack { task: TaskId, to: Back },
    /// Run until this breakpoint holds, and delete it then → `BreakpointSet`, `Resumed`.
    RunTo { spec: Box<BreakpointSpec> },
    /// Set how often a tool may still be used in the current task; the plan is made around it →
    /// `UsesSet`.
    SetUses { tool: ToolName, uses: u32 },
    /// Change the remaining uses by this number, down if negative → `UsesSet`.
    AddUses { tool: ToolName, by: i32 },
    /// Set a tool's class, with priority over any other source; `None`: no class → `ToolClassSet`.
    /// Only undo and redo name a source other than the user.
    SetClass { tool: ToolName, class: Option<ClassAssignment> },
    /// Take a tool off every menu, or put it back → `ToolSwitched`.
    SwitchTool { tool: ToolName, on: bool },
    /// Accept the definition with this hash, which is not the one that was seen before → `DefinitionAccepted`, then
    /// `ToolsAdded`.
    AcceptDefinition { tool: ToolName, hash: Arc<str> },
    /// Probe these tools next, or all that change nothing and are not learned yet → `TasksQueued`.
    Probe { tools: Vec<ToolName> },
    /// Ask every provider for its tools again → `ToolsAdded`, `ToolsRemoved`, `Noticed`.
    ReloadTools,

    /// Undo the latest change of the user that can be undone → its opposite, by `Undo`.
    Undo,
    /// Redo the change that was undone last → the opposite of the undo, by `Redo`.
    Redo,
}

impl Command {
    /// The name that a refusal shows.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Run => "run",
            Command::Pause => "pause",
            Command::ResumeRun { .. } => "resume the run",
            Command::PauseRun { .. } => "pause the run",
            Command::Step => "step",
            Command::StepTask => "step over the task",
            Command::Stop | Command::StopBecause { .. } => "stop",
            Command::Cancel(_) => "cancel the call",
            Command::PauseLane(_) => "pause the lane",
            Command::ResumeLane(_) => "resume the lane",
            Command::QueueTask { .. } | Command::QueueNext { .. } => "queue a task",
            Command::QueueAgain => "queue the tasks again",
            Command::PutTasks { .. } => "put the tasks back",
            Command::RemoveTasks { .. } => "remove from the queue",
            Command::MoveTask { .. } | Command::MoveTaskBy { .. } => "move the task",
            Command::RunNext { .. } => "run the task next",
            Command::SkipTask { .. } => "skip the task",
            Command::FollowUp { .. } => "ask a follow-up question",
            Command::CallTool { .. } => "call the tool",
            Command::UseStrategy { .. } => "use the strategy",
            Command::UseSeed { .. } => "use the seed",
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
            Command::EditCall { .. } => "edit the call",
            Command::EditPast { .. } => "change the past",
            Command::AnswerCall { .. } => "answer the call",
            Command::RepeatCall { .. } => "make the call again",
            Command::Consent { .. } | Command::AllowTool { .. } => "decide on the call",
            Command::SetApproval { .. } => "set the rules of approval",
            Command::SetBreakpoint { .. } => "set the breakpoint",
            Command::SwitchBreakpoint { .. } => "switch the breakpoint",
            Command::DeleteBreakpoint { .. } => "delete the breakpoint",
            Command::AskProgram { asked, .. } if asked.sets.is_some() => "set the variable",
            Command::AskProgram { .. } => "evaluate the expression",
            Command::EditProgram { .. } => "edit the program",
            Command::TakeProgramBack { .. } => "take the program back",
            Command::RunTo { .. } => "run to that place",
            Command::SetUses { .. } | Command::AddUses { .. } => "set the uses",
            Command::SetClass { .. } => "set the class",
            Command::SwitchTool { .. } => "switch the tool",
            Command::AcceptDefinition { .. } => "accept the definition",
            Command::Probe { .. } => "probe tools",
            Command::ReloadTools => "reload the tools",
            Command::Undo => "undo",
            Command::Redo => "redo",
        }
    }
}
