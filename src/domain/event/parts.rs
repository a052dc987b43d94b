//! Building blocks of events.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::breakpoint::When;
use crate::chat::{Finish, Role, Usage};
use crate::finite::Finite;
use crate::id::{ModelName, ToolName};
use crate::role_settings::{FewShot, SamplingOfRoles};
use crate::{
    knob::Knobs, prompt::Prompts, rates::Rates, spec::ModelSpec, strategy::Strategy,
    worker_settings::WorkerSettings,
};

/// The author of an intervention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The user, on the screen or on the command line.
    User,
    /// The engine, following its own rules.
    Engine,
    /// An undo of the change that began with the event of this number.
    Undo(u64),
    /// A redo: it takes back the undo with this number.
    Redo(u64),
}

impl By {
    /// The author of an event that names none.
    pub(crate) fn engine() -> Self {
        By::Engine
    }

    pub(crate) fn is_engine(&self) -> bool {
        *self == By::Engine
    }
}

/// How a session starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    pub seed: u64,
    /// The source of tools, tasks and graph, for people.
    pub workspace: String,
    pub strategy: Strategy,
    pub knobs: Knobs,
    pub models: Vec<ModelSpec>,
    pub roles: BTreeMap<Role, ModelName>,
    /// The session waits for the user before the first task.
    pub paused: bool,
    /// Watched agents act in it, and toolyard watches.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watched: bool,
    /// The exchange rates to credits.
    #[serde(default)]
    pub rates: Rates,
    /// How many US dollars the session may cost; `None`: any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_dollars: Option<Finite>,
    /// The settings for calls of plans.
    #[serde(default)]
    pub workers: WorkerSettings,
    /// The prompts sent to models.
    #[serde(default)]
    pub prompts: Prompts,
    /// How the answers of roles are drawn, where that is configured.
    #[serde(default, skip_serializing_if = "SamplingOfRoles::is_empty")]
    pub sampling: SamplingOfRoles,
    /// Rules for the tool calls that need a person's consent.
    #[serde(default)]
    pub approval: Approval,
    /// Examples that roles see before their task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub few_shots: Vec<FewShot>,
}

/// The probable cost of a failed request, estimated locally because no endpoint reports it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bill {
    pub usage: Usage,
    /// `None` if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<Finite>,
}

/// A line of a menu, as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MenuItem {
    pub tool: ToolName,
    /// From 0 to 1; `None` for strategies without weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Finite>,
    pub why: MenuReason,
}

/// Why a tool is on a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MenuReason {
    /// Every tool is offered (ReAct).
    All,
    /// The tool matches the task's text (first menu).
    Retrieved,
    /// The first menu had room, and this tool has the highest remaining weight.
    Filled,
    /// The tool follows the last tool in the graph.
    Successor,
    /// The tool is not a successor but matches the last thought.
    Explore,
    /// No successor is in the plan, but this tool is (BTP).
    Planned,
    /// A probing calls it, or may use its results (ATC).
    Probed,
    /// Finishing is always offered.
    Finish,
}

/// The evaluator's verdict on one tool of a trajectory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolVerdict {
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
    /// A model failed, or no action was possible.
    Failed,
    /// The rest of the budget did not even pay for an answer.
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

    /// Whether a task ended without a right answer. An answer that was not judged is not wrong, nor is a task that a
    /// person stopped.
    pub fn is_wrong(self, correct: Option<bool>) -> bool {
        match self {
            Outcome::Answered => correct == Some(false),
            Outcome::Stopped => false,
            _ => correct != Some(true),
        }
    }
}

/// A request whose beginning differs from the one before, so that the endpoint's prompt cache does not
/// help.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheBreak {
    /// Tokens of the earlier request that are read again.
    pub tokens: u64,
    /// US dollars that these cost more than from the cache; `None`: a price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dollars: Option<Finite>,
}

/// Caveat about an answer, besides whether it is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caveat {
    /// A plan was made but found nothing: the answer is the model's own.
    WithoutEvidence,
    /// The limit of tokens ended the answer.
    CutOff,
    /// The answer is a text of a model that was offered tools and called none.
    WithoutCall,
    /// A content filter of the endpoint ended the answer.
    Filtered,
    /// The model refused to answer.
    Refused,
    /// The endpoint ended the answer, for a reason that is not known here.
    Ended,
}

impl Caveat {
    /// Returns the caveat about an answer whose model stopped for this reason, if any.
    pub fn of(finish: &Finish) -> Option<Self> {
        match finish {
            Finish::Length => Some(Caveat::CutOff),
            Finish::Filtered => Some(Caveat::Filtered),
            Finish::Refused => Some(Caveat::Refused),
            Finish::Other(_) => Some(Caveat::Ended),
            Finish::Stop | Finish::Calls | Finish::Judged => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Caveat::WithoutEvidence => "without evidence",
            Caveat::CutOff => "cut off by the limit of tokens",
            Caveat::WithoutCall => "without a tool call",
            Caveat::Filtered => "cut off by a content filter",
            Caveat::Refused => "refused by the model",
            Caveat::Ended => "ended by the endpoint for an unknown reason",
        }
    }
}

/// Whether a model's endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The endpoint answers and has the model.
    Yes,
    /// The endpoint answers, but does not confirm that it has the model.
    Unsure,
    No,
}

/// How far a resumed agent goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// Until the next command.
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
    /// Before a statement of a program.
    ProgramLine,
    /// After a program, before the agent acts on its end.
    AfterProgram,
}

impl Boundary {
    /// The side of the boundary: before the call, task, evaluation or program that it belongs to, or after.
    pub fn side(self) -> When {
        match self {
            Boundary::BeforeTask
            | Boundary::BeforeModelCall
            | Boundary::BeforeToolCall
            | Boundary::BeforeEmbedding
            | Boundary::ProgramLine => When::Before,
            Boundary::AfterModelCall
            | Boundary::AfterToolCall
            | Boundary::AfterEmbedding
            | Boundary::AfterEvaluation
            | Boundary::AfterProgram => When::After,
        }
    }

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
            Boundary::ProgramLine => "before a line of the program",
            Boundary::AfterProgram => "after a program",
        }
    }
}

/// Why no request of a watched agent has the result of a call as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnseenResult {
    /// The client forced the call, and its arguments are the answer of the task.
    Answer,
    /// The agent sends calls and results back in a text.
    InText,
}

/// Why a call was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// A result of this tool did not help in this task.
    Blacklisted,
    /// The plan has no uses of the tool left.
    NoUseLeft,
    /// The rest of the budget does not pay for it.
    TooDear,
    /// The arguments do not fit the tool.
    Arguments,
    /// The tool does not exist, or is not offered here.
    #[default]
    NotOffered,
    /// The reply made more calls than allowed.
    TooMany,
    /// The user cancelled it before it ran.
    Cancelled,
    /// A rule or a person did not consent to it.
    Denied,
}

impl Refusal {
    pub fn name(self) -> &'static str {
        match self {
            Refusal::Blacklisted => "blacklisted",
            Refusal::NoUseLeft => "no use left",
            Refusal::TooDear => "too expensive",
            Refusal::Arguments => "arguments",
            Refusal::NotOffered => "not offered",
            Refusal::TooMany => "too many calls",
            Refusal::Cancelled => "cancelled",
            Refusal::Denied => "no consent",
        }
    }

    /// Whether the budget was the reason.
    pub fn is_budget(self) -> bool {
        match self {
            Refusal::Blacklisted | Refusal::NoUseLeft | Refusal::TooDear => true,
            Refusal::Arguments
            | Refusal::NotOffered
            | Refusal::TooMany
            | Refusal::Cancelled
            | Refusal::Denied => false,
        }
    }
}

/// How a node of a search tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeEnd {
    /// The answer was found here.
    Answered,
    /// The agent reported that this path leads nowhere.
    GaveUp,
    /// No deeper than this.
    TooDeep,
    /// All of its children failed.
    Exhausted,
    /// The model failed, or returned nothing.
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
