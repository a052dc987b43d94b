//! Events: the facts of a session. Only the engine makes them; it numbers and dates them.
//! Everything on the screen, in a replay or in a report is a fold of them.
//!
//! Events use the past tense, and are true when written. All times are in [`Record::at`], nowhere
//! else, so that two runs with one seed give the same events. An intervention names its author
//! ([`By`]), and every event of an effect names the effect ([`EffectRef`]).
//!
//! Events come in families, one per file. In a journal they are flat: a line has a number, a time,
//! a kind and its data.

mod breakpoint;
mod budget;
mod budget_plan;
mod change;
mod class_source;
mod consent;
mod control;
mod edit;
mod effect;
mod embedding;
mod family;
mod fault;
mod graph;
mod known_tool;
mod model_call;
mod parts;
mod plan;
mod probe;
mod program;
mod reader;
mod record;
mod run;
mod search;
mod server;
mod session;
mod task;
mod text_bytes;
mod tool_call;
mod totals;

pub use self::{
    breakpoint::BreakpointEvent,
    budget::BudgetEvent,
    budget_plan::{BudgetPlan, Marginal, PlannedTool},
    change::ChangeEvent,
    class_source::{ClassAssignment, ClassedBy},
    consent::ConsentEvent,
    control::ControlEvent,
    edit::EditEvent,
    effect::{EffectRef, Lane, Origin},
    embedding::EmbeddingEvent,
    fault::FaultEvent,
    graph::GraphEvent,
    known_tool::{KnownTool, Lack, PastResults},
    model_call::ModelCallEvent,
    parts::{
        Bill, Boundary, By, CacheBreak, Caveat, MenuItem, MenuReason, NodeEnd, Opening, Outcome,
        Reach, Refusal, Resume, ToolVerdict, UnseenResult,
    },
    plan::PlanEvent,
    probe::ProbeEvent,
    program::{BlamedBy, ProgramEvent, ProgramSource, ProgramVerdict},
    reader::ReaderEvent,
    record::{Record, json_of, read_json, read_known},
    run::{Drift, Gone, GoneMessage, Guest, LostPrefix, RunEvent},
    search::SearchEvent,
    server::ServerEvent,
    session::SessionEvent,
    task::TaskEvent,
    text_bytes::value_bytes,
    tool_call::ToolCallEvent,
    totals::Totals,
};

use self::family::events;
use crate::id::TaskId;

// Adds `Unknown`, for kinds of newer versions.
events! {
    /// An event.
    pub enum Event {
        Session(SessionEvent),
        Task(TaskEvent),
        Run(RunEvent),
        ModelCall(ModelCallEvent),
        ToolCall(ToolCallEvent),
        Embedding(EmbeddingEvent),
        Fault(FaultEvent),
        Budget(BudgetEvent),
        Plan(PlanEvent),
        Program(ProgramEvent),
        Probe(ProbeEvent),
        Reader(ReaderEvent),
        Search(SearchEvent),
        Graph(GraphEvent),
        Change(ChangeEvent),
        Control(ControlEvent),
        Breakpoint(BreakpointEvent),
        Edit(EditEvent),
        Consent(ConsentEvent),
        Server(ServerEvent),
    }
}

impl Event {
    /// The task of the effect that the event requests.
    pub fn request_of(&self) -> Option<TaskId> {
        match self {
            Event::ModelCall(ModelCallEvent::ModelCallRequested { task, .. })
            | Event::ToolCall(ToolCallEvent::ToolCallRequested { task, .. })
            | Event::Embedding(EmbeddingEvent::EmbeddingRequested { task, .. }) => Some(*task),
            _ => None,
        }
    }

    /// Whether an effect starts with it.
    pub fn is_start(&self) -> bool {
        matches!(
            self,
            Event::ToolCall(ToolCallEvent::ToolCallStarted { .. })
                | Event::ModelCall(ModelCallEvent::ModelCallStarted { .. })
                | Event::Embedding(EmbeddingEvent::EmbeddingStarted { .. })
        )
    }

    /// Whether an effect ends with it.
    pub fn is_end(&self) -> bool {
        matches!(
            self,
            Event::ModelCall(
                ModelCallEvent::ModelCallFinished { .. } | ModelCallEvent::ModelCallFailed { .. }
            ) | Event::ToolCall(
                ToolCallEvent::ToolCallFinished { .. }
                    | ToolCallEvent::ToolCallFailed { .. }
                    | ToolCallEvent::ToolCallRefused { .. }
            ) | Event::Embedding(
                EmbeddingEvent::EmbeddingFinished { .. } | EmbeddingEvent::EmbeddingFailed { .. }
            )
        )
    }
}
