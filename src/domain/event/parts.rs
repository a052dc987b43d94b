//! What events are made of.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::chat::{Role, Usage};
use crate::domain::id::{ModelName, ToolName};
use crate::domain::{
    knob::Knobs, prompt::Prompts, rates::Rates, spec::ModelSpec, strategy::Strategy,
    worker_settings::WorkerSettings,
};

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

/// How a session starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub seed: u64,
    /// Where tools, tasks and graph come from, for people.
    pub workspace: String,
    pub strategy: Strategy,
    pub knobs: Knobs,
    pub models: Vec<ModelSpec>,
    pub roles: BTreeMap<Role, ModelName>,
    /// The session waits for the user before the first task.
    pub paused: bool,
    /// What things cost in credits.
    #[serde(default)]
    pub rates: Rates,
    /// How the calls of plans are made.
    #[serde(default)]
    pub workers: WorkerSettings,
    /// What models are told.
    #[serde(default)]
    pub prompts: Prompts,
}

/// What a request that failed has probably cost: counted here, as nobody says it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub usage: Usage,
    /// `None` where the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
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
    /// No successor is in the plan, and this one is (BTP).
    Planned,
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
    /// What was left of the budget did not even pay for an answer.
    OutOfBudget,
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
            Outcome::OutOfBudget => "out of budget",
            Outcome::Stopped => "stopped",
        }
    }
}

/// Whether a model's endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// It does, and has the model.
    Yes,
    /// It does, and does not say that it has the model.
    Unsure,
    No,
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

/// Where a lane can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    BeforeTask,
    BeforeModelCall,
    AfterModelCall,
    BeforeToolCall,
    AfterToolCall,
    BeforeEmbedding,
    AfterEmbedding,
    AfterEvaluation,
}

impl Boundary {
    pub fn name(self) -> &'static str {
        match self {
            Boundary::BeforeTask => "before a task",
            Boundary::BeforeModelCall => "before a model call",
            Boundary::AfterModelCall => "after a model call",
            Boundary::BeforeToolCall => "before a tool call",
            Boundary::AfterToolCall => "after a tool call",
            Boundary::BeforeEmbedding => "before an embedding",
            Boundary::AfterEmbedding => "after an embedding",
            Boundary::AfterEvaluation => "after an evaluation",
        }
    }
}

/// Why a call was refused.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A result of this tool did not help in this task.
    Blacklisted,
    /// The plan has no use of it left.
    NoUseLeft,
    /// What is left of the budget does not pay for it.
    TooDear,
    /// The arguments do not fit the tool.
    Arguments,
    /// There is no such tool, or it is not offered here.
    #[default]
    NotOffered,
    /// The user cancelled it before it ran.
    Cancelled,
}

impl Refusal {
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Blacklisted => "blacklisted",
            Refusal::NoUseLeft => "no use left",
            Refusal::TooDear => "too dear",
            Refusal::Arguments => "arguments",
            Refusal::NotOffered => "not offered",
            Refusal::Cancelled => "cancelled",
        }
    }

    /// Whether it was the budget's doing.
    pub fn is_budget(self) -> bool {
        match self {
            Refusal::Blacklisted | Refusal::NoUseLeft | Refusal::TooDear => true,
            Refusal::Arguments | Refusal::NotOffered | Refusal::Cancelled => false,
        }
    }
}

/// What became of a node of a search tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeEnd {
    /// The answer was found here.
    Answered,
    /// The agent said that this way leads nowhere.
    GaveUp,
    /// No deeper than this.
    TooDeep,
    /// All of its children led nowhere.
    Exhausted,
    /// The model failed, or said nothing.
    Failed,
}

impl NodeEnd {
    pub fn name(self) -> &'static str {
        match self {
            NodeEnd::Answered => "answered",
            NodeEnd::GaveUp => "gave up",
            NodeEnd::TooDeep => "too deep",
            NodeEnd::Exhausted => "exhausted",
            NodeEnd::Failed => "failed",
        }
    }
}
