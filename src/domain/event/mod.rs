//! What happened. Only the engine makes events; it numbers and dates them, and they are the truth of
//! a session: everything on the screen, in a replay or in a report is a fold of them.
//!
//! Past tense, and true when written. All times are in [`Record::at`], nowhere else, so that two runs
//! with one seed give the same events. An intervention says who made it ([`By`]).

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::{
    chat::{Reply, Request, Role, Usage},
    error::{ModelError, ToolError},
    fault::FaultSpec,
    graph::ToolGraph,
    id::{EffectId, FaultId, ModelName, TaskId, ToolName},
    knob::Knob,
    null_filter::Nulled,
    output::ToolOutput,
    pairs::PairTally,
    plan::{EvidenceId, Plan},
    spec::{Task, ToolSpec},
};

mod classed;
mod kind;
mod parts;
mod plan;

pub use self::{
    classed::{Classed, ClassedBy},
    parts::{
        Billed, Boundary, By, Lane, MenuItem, NodeEnd, Offered, Opening, Outcome, Reach, Refusal,
        Resume, Verdict,
    },
    plan::{BudgetPlan, Marginal, PlannedTool},
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
    ToolsAdded {
        tools: Vec<Arc<ToolSpec>>,
    },
    /// These tools are gone.
    ToolsRemoved {
        tools: Vec<ToolName>,
    },
    /// What came of whose tasks in earlier sessions of this workspace.
    PairsLoaded {
        pairs: Vec<PairTally>,
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
    ModelCallRequested {
        ask: EffectId,
        task: TaskId,
        role: Role,
        model: ModelName,
        request: Arc<Request>,
    },
    ModelCallStarted {
        ask: EffectId,
    },
    /// More of the answer came. Many small pieces are one event.
    ModelCallProgressed {
        ask: EffectId,
        text: String,
        reasoning: String,
    },
    ModelCallRetried {
        ask: EffectId,
        attempt: u32,
        wait_ms: u64,
        why: String,
    },
    ModelCallFinished {
        ask: EffectId,
        reply: Arc<Reply>,
        /// What it cost; `None` where the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dollars: Option<f64>,
    },
    ModelCallFailed {
        ask: EffectId,
        error: ModelError,
        /// What it will have cost all the same; `None` where nothing of an answer had come.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        billed: Option<Billed>,
    },

    /// An embedding model is asked what a task means, before its first plan (BTP, section 2.2).
    EmbeddingStarted {
        task: TaskId,
        model: String,
    },
    EmbeddingFinished {
        task: TaskId,
        model: String,
        usage: Usage,
        /// What it cost; `None` where the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dollars: Option<f64>,
        /// How long it took.
        micros: u64,
        /// What past tasks were compared with; only its direction counts.
        vector: Vec<i8>,
    },
    /// Past tasks are compared by their words instead.
    EmbeddingFailed {
        task: TaskId,
        model: String,
        error: ModelError,
        micros: u64,
    },

    /// The agent wants a tool called. Nothing has run yet.
    ToolCallRequested {
        call: EffectId,
        task: TaskId,
        step: u32,
        tool: ToolName,
        arguments: Value,
        /// What of a plan it is to find.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        evidence: Option<EvidenceId>,
    },
    /// It was not run, and cost nothing.
    ToolCallRefused {
        call: EffectId,
        why: String,
        #[serde(default)]
        reason: Refusal,
    },
    ToolCallStarted {
        call: EffectId,
    },
    FaultFired {
        fault: FaultId,
        call: EffectId,
    },
    ToolCallFinished {
        call: EffectId,
        output: ToolOutput,
    },
    ToolCallFailed {
        call: EffectId,
        error: ToolError,
    },

    /// Whether a call's result helped (BTP, section 2.4); becomes experience.
    Judged {
        call: EffectId,
        helpful: bool,
        why: String,
    },
    /// The tool must not be used again in this task: a result of it did not help.
    ToolBlacklisted {
        task: TaskId,
        tool: ToolName,
        why: String,
    },
    /// How often each tool may be used within what is left of the budget (BTP, algorithm 1): at the
    /// start of a task, and again whenever that changes.
    BudgetPlanned {
        task: TaskId,
        why: String,
        plan: Arc<BudgetPlan>,
    },
    /// The user set how often a tool may still be used in this task, whatever the plan says.
    UsesSet {
        task: TaskId,
        tool: ToolName,
        uses: u32,
        was: u32,
        by: By,
    },
    /// Nothing more will be done about this task: what was found is summed up.
    SummaryStarted {
        task: TaskId,
        why: String,
    },

    /// The classifier has sorted tools, or had in an earlier session.
    ToolsClassified {
        tools: Vec<(ToolName, Classed)>,
    },
    /// The user said of which class a tool is.
    ToolClassSet {
        tool: ToolName,
        /// `None`: of no class any more.
        class: Option<Classed>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        was: Option<Classed>,
        by: By,
    },
    /// The planner's answer was read: everything that is to be called, and for which plan.
    PlanWritten {
        task: TaskId,
        plan: Arc<Plan>,
    },
    /// The planner's answer could not be used.
    PlanRefused {
        task: TaskId,
        why: String,
    },
    /// A model is asked for a piece of evidence.
    EvidenceAsked {
        task: TaskId,
        evidence: EvidenceId,
    },
    /// A piece of evidence is there; what a call found is that call's.
    EvidenceFound {
        task: TaskId,
        evidence: EvidenceId,
        /// What a model said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// Why it reaches the solver as null, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nulled: Option<Nulled>,
        /// Tokens of what the solver is spared.
        #[serde(default)]
        saved: u64,
    },

    /// A search goes down: the step of this number is a child of the step of that number (0: the root).
    NodeOpened {
        task: TaskId,
        node: u32,
        parent: u32,
    },
    /// A search went on from here: down to a child, or back to a node that has more.
    NodeEntered {
        task: TaskId,
        node: u32,
    },
    /// The children of a node were compared two by two, in both orders: how often each was preferred.
    NodesRanked {
        task: TaskId,
        votes: Vec<(u32, u32)>,
    },
    /// Nothing more comes of this node.
    NodeClosed {
        task: TaskId,
        node: u32,
        how: NodeEnd,
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
    /// It is being looked whether these models can be reached; that costs no tokens.
    ModelsProbed {
        models: Vec<ModelName>,
    },
    ModelReached {
        model: ModelName,
        how: Reach,
        /// For a person.
        text: String,
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
    /// The user holds one lane back: it waits at its next boundary whatever the others do.
    LanePaused {
        lane: Lane,
        by: By,
    },
    /// It may go on with the others.
    LaneResumed {
        lane: Lane,
        by: By,
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
