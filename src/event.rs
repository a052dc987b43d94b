//! What happened. Only the engine makes events; it numbers and dates them, and they are the truth of
//! a session: everything on the screen, in a replay or in a report is a fold of them.
//!
//! Past tense, and true when written. All times are in [`Record::at`], nowhere else, so that two runs
//! with one seed give the same events. An intervention says who made it ([`By`]).

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    chat::{Reply, Request, Role},
    fault::FaultSpec,
    graph::ToolGraph,
    id::{AskId, CallId, FaultId, ModelName, TaskId, ToolName},
    knob::{Knob, Knobs},
    outcome::{ModelError, ToolError, ToolOutput},
    spec::{ModelSpec, Task, ToolSpec},
};

/// One line of a journal after the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Counted from 1, without gaps.
    pub n: u64,
    /// Microseconds since the session was opened.
    pub at: u64,
    #[serde(flatten)]
    pub event: Event,
}

/// Who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The person at the keyboard, or their command line.
    User,
    /// The engine, following its own rules.
    Engine,
    /// An undo of the event with this number.
    Undo(u64),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data")]
pub enum Event {
    /// First event of every session.
    SessionOpened(Box<Opening>),
    /// Nothing follows.
    SessionEnded {
        why: String,
    },

    /// These tools can be used from now on (all of them at the start, later ones live). A tool of a
    /// known name replaces the old one.
    ToolsJoined {
        tools: Vec<Arc<ToolSpec>>,
    },
    /// These tools are gone.
    ToolsLeft {
        tools: Vec<ToolName>,
    },
    /// A tool was taken off every menu, or put back.
    ToolSwitched {
        tool: ToolName,
        on: bool,
        by: By,
    },
    /// The graph, and what was learned of it in earlier sessions.
    GraphLoaded {
        graph: ToolGraph,
        scores: BTreeMap<ToolName, f64>,
    },

    TasksQueued {
        first: TaskId,
        tasks: Vec<Task>,
        by: By,
    },
    TaskStarted {
        task: TaskId,
    },
    /// A further try at the same task, with what was learned from the ones before.
    TryStarted {
        task: TaskId,
        number: u32,
        reflections: Vec<String>,
    },
    /// A decision of the agent begins: where it is, and what it may choose from.
    StepStarted {
        task: TaskId,
        step: u32,
        from: ToolName,
        menu: Vec<MenuItem>,
    },
    TaskFinished {
        task: TaskId,
        outcome: Outcome,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// Against the gold answer, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correct: Option<bool>,
    },

    /// The agent wants a model asked: exactly what it will see. Nothing was sent yet.
    AskRequested {
        ask: AskId,
        task: TaskId,
        role: Role,
        model: ModelName,
        request: Arc<Request>,
    },
    AskStarted {
        ask: AskId,
    },
    /// More of the answer came. Many small pieces are one event.
    AskProgressed {
        ask: AskId,
        text: String,
        reasoning: String,
    },
    AskRetried {
        ask: AskId,
        attempt: u32,
        wait_ms: u64,
        why: String,
    },
    AskFinished {
        ask: AskId,
        reply: Arc<Reply>,
        /// What it cost; `None` where the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dollars: Option<f64>,
    },
    AskFailed {
        ask: AskId,
        error: ModelError,
    },

    /// The agent wants a tool called. Nothing has run yet.
    CallRequested {
        call: CallId,
        task: TaskId,
        step: u32,
        tool: ToolName,
        arguments: Value,
    },
    /// It was not run, and cost nothing.
    CallRefused {
        call: CallId,
        why: String,
    },
    CallStarted {
        call: CallId,
    },
    FaultFired {
        fault: FaultId,
        call: CallId,
    },
    CallFinished {
        call: CallId,
        output: ToolOutput,
    },
    CallFailed {
        call: CallId,
        error: ToolError,
    },

    /// The evaluator's verdict on a finished trajectory (ToolNet, section 3.3).
    Evaluated {
        task: TaskId,
        verdicts: Vec<Verdict>,
        /// Whether the scores changed; false while learning is frozen.
        learned: bool,
    },
    /// The evaluator's answer could not be used.
    EvaluationRefused {
        task: TaskId,
        why: String,
    },
    /// A successor that was offered to explore was used: it has an edge now, with prior 0.
    EdgeExplored {
        from: ToolName,
        to: ToolName,
    },
    ScoreSet {
        tool: ToolName,
        score: f64,
        was: f64,
        by: By,
    },
    WeightPinned {
        from: ToolName,
        to: ToolName,
        weight: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<f64>,
        by: By,
    },
    WeightUnpinned {
        from: ToolName,
        to: ToolName,
        was: f64,
        by: By,
    },

    KnobTurned {
        knob: Knob,
        value: f64,
        was: f64,
        by: By,
    },
    RoleBound {
        role: Role,
        model: ModelName,
        was: ModelName,
        by: By,
    },
    StrategyChosen {
        strategy: String,
        was: String,
        by: By,
    },
    FaultArmed {
        fault: FaultId,
        spec: FaultSpec,
        by: By,
    },
    FaultDisarmed {
        fault: FaultId,
        by: By,
    },

    /// The agent goes on.
    Resumed {
        how: Resume,
        by: By,
    },
    /// It will hold at the next boundary of every lane; what runs is not killed.
    PauseRequested {
        by: By,
    },
    /// Every lane holds.
    Paused,
    /// A lane came to a boundary and waits.
    Held {
        lane: Lane,
        boundary: Boundary,
    },
    Released {
        lane: Lane,
    },
    /// A wish could not be granted.
    CommandRefused {
        command: String,
        why: String,
    },
    /// Something that a person should know and that changes nothing.
    Noticed {
        text: String,
    },
    /// A kind that this version does not know, from a newer journal: kept and shown, not understood.
    #[serde(skip)]
    Unknown {
        kind: String,
        data: Value,
    },
}

/// How a session starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub seed: u64,
    /// Where tools, tasks and graph come from, for people.
    pub workspace: String,
    pub strategy: String,
    pub knobs: Knobs,
    pub models: Vec<ModelSpec>,
    pub roles: BTreeMap<Role, ModelName>,
    /// The session waits for the user before the first task.
    pub paused: bool,
}

/// A line of a menu, as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MenuItem {
    pub tool: ToolName,
    /// From 0 to 1; `None` where the strategy knows no weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    pub why: Offered,
}

/// Why a tool is on a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Offered {
    /// Every tool is offered (ReAct).
    All,
    /// It suits the task's text (first menu).
    Retrieved,
    /// The first menu had room, and it weighs the most of those left.
    Filled,
    /// It follows the last tool in the graph.
    Successor,
    /// It is no successor but suits the last thought.
    Explore,
    /// To finish is always offered.
    Finish,
}

/// What the evaluator says of one tool of a trajectory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub tool: ToolName,
    /// An integer from −3 to 3.
    pub score: i8,
    pub reason: String,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent gave an answer, right or wrong.
    Answered,
    /// The agent said that it cannot answer.
    GaveUp,
    /// The steps ran out.
    OutOfSteps,
    /// A model failed, or nothing could be done.
    Failed,
    /// The user stopped it.
    Stopped,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Answered => "answered",
            Outcome::GaveUp => "gave up",
            Outcome::OutOfSteps => "out of steps",
            Outcome::Failed => "failed",
            Outcome::Stopped => "stopped",
        }
    }
}

/// How far a resumed agent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// Until somebody says otherwise.
    Run,
    /// To the next boundary of the lane that was held first.
    Step,
    /// To the end of this task.
    Task,
}

/// A line of work that can be held on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// The strategy itself.
    Agent,
    /// One of its calls.
    Call(CallId),
}

/// Where a lane can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    BeforeTask,
    BeforeAsk,
    AfterAsk,
    BeforeCall,
    AfterCall,
    AfterEvaluation,
}

impl Boundary {
    pub fn name(self) -> &'static str {
        match self {
            Boundary::BeforeTask => "before a task",
            Boundary::BeforeAsk => "before an ask",
            Boundary::AfterAsk => "after an ask",
            Boundary::BeforeCall => "before a call",
            Boundary::AfterCall => "after a call",
            Boundary::AfterEvaluation => "after an evaluation",
        }
    }
}

impl Event {
    /// The event's kind, as in the journal.
    pub fn kind(&self) -> &str {
        match self {
            Event::SessionOpened(_) => "SessionOpened",
            Event::SessionEnded { .. } => "SessionEnded",
            Event::ToolsJoined { .. } => "ToolsJoined",
            Event::ToolsLeft { .. } => "ToolsLeft",
            Event::ToolSwitched { .. } => "ToolSwitched",
            Event::GraphLoaded { .. } => "GraphLoaded",
            Event::TasksQueued { .. } => "TasksQueued",
            Event::TaskStarted { .. } => "TaskStarted",
            Event::TryStarted { .. } => "TryStarted",
            Event::StepStarted { .. } => "StepStarted",
            Event::TaskFinished { .. } => "TaskFinished",
            Event::AskRequested { .. } => "AskRequested",
            Event::AskStarted { .. } => "AskStarted",
            Event::AskProgressed { .. } => "AskProgressed",
            Event::AskRetried { .. } => "AskRetried",
            Event::AskFinished { .. } => "AskFinished",
            Event::AskFailed { .. } => "AskFailed",
            Event::CallRequested { .. } => "CallRequested",
            Event::CallRefused { .. } => "CallRefused",
            Event::CallStarted { .. } => "CallStarted",
            Event::FaultFired { .. } => "FaultFired",
            Event::CallFinished { .. } => "CallFinished",
            Event::CallFailed { .. } => "CallFailed",
            Event::Evaluated { .. } => "Evaluated",
            Event::EvaluationRefused { .. } => "EvaluationRefused",
            Event::EdgeExplored { .. } => "EdgeExplored",
            Event::ScoreSet { .. } => "ScoreSet",
            Event::WeightPinned { .. } => "WeightPinned",
            Event::WeightUnpinned { .. } => "WeightUnpinned",
            Event::KnobTurned { .. } => "KnobTurned",
            Event::RoleBound { .. } => "RoleBound",
            Event::StrategyChosen { .. } => "StrategyChosen",
            Event::FaultArmed { .. } => "FaultArmed",
            Event::FaultDisarmed { .. } => "FaultDisarmed",
            Event::Resumed { .. } => "Resumed",
            Event::PauseRequested { .. } => "PauseRequested",
            Event::Paused => "Paused",
            Event::Held { .. } => "Held",
            Event::Released { .. } => "Released",
            Event::CommandRefused { .. } => "CommandRefused",
            Event::Noticed { .. } => "Noticed",
            Event::Unknown { kind, .. } => kind,
        }
    }
}
