//! The state of a session, pure: events, commands, the state folded from them, and their
//! vocabulary. No I/O, no clock, no shared randomness.
//!
//! The other rooms import the nouns from here; the files of this room name each other.

pub mod admits;
pub mod agent_kind;
pub mod api_requests;
pub mod approval;
pub mod arguments;
pub mod blocks;
pub mod breakpoint;
mod call_places;
pub mod call_policy;
pub mod chance;
pub mod chat;
pub mod command;
pub mod difference;
pub mod edit;
pub mod embedding;
pub mod error;
pub mod event;
pub mod excerpt;
pub mod expression;
pub mod fault;
pub mod finite;
pub mod graph;
pub mod hidden_tools;
pub mod http_request;
pub mod id;
pub mod invisible;
pub mod json_place;
pub mod knob;
pub mod lenient;
pub mod markers;
pub mod messages;
pub mod misfit;
pub mod null_filter;
pub mod output;
pub mod pairs;
pub mod plan;
pub mod probe;
pub mod program;
pub mod prompt;
pub mod rates;
pub mod reading;
pub mod repair;
pub mod reply_source;
pub mod result_schema;
pub mod retrieve;
pub mod role_settings;
pub mod schema;
pub mod schema_repair;
pub mod schema_words;
pub mod seat;
pub mod sent_body;
pub mod spec;
pub mod state;
pub mod strategy;
pub mod take;
pub mod target;
pub mod task_list;
pub mod tokens;
pub mod tool_class;
pub mod unread_input;
pub mod window;
pub mod wire_answer;
pub mod words;
pub mod worker_settings;

pub use self::{
    agent_kind::{Acting, Matter},
    approval::Approval,
    breakpoint::BreakpointSpec,
    call_places::{CallPlace, ResultPlace},
    chance::Chance,
    chat::{Finish, Message, Reply, Request, Role, ToolCall, ToolDef, Usage},
    command::Command,
    embedding::Embedding,
    error::{ModelError, ModelErrorKind, ToolError, ToolErrorKind, WireFailure},
    event::*,
    expression::Expression,
    fault::{FaultKind, FaultSpec},
    finite::Finite,
    graph::{ListedEdge, Listing, Pins, Prior, Scores, Structure, ToolGraph, WeightFormat},
    http_request::HttpRequest,
    id::{BreakpointId, EffectId, FaultId, ModelName, RunId, TaskId, ToolName},
    knob::{
        Blacklist, CallJudge, Estimation, Judge, Knob, KnobChoice, KnobSpec, Knobs, ProbeSchema,
        Reflect, Retrieve, Schemas, Scorer, Speed,
    },
    messages::Messages,
    null_filter::{NullFilter, NullReason},
    output::{CallProgress, ToolOutput},
    pairs::{Pair, PairTally, Pairs, Player},
    plan::{Evidence, EvidenceId, Plan, PlanStep},
    prompt::{Prompt, PromptSpec, Prompts},
    rates::Rates,
    reading::{JudgedPiece, ReaderAbout},
    reply_source::ReplySource,
    retrieve::{Lexical, RankedTool, Ranking},
    role_settings::{FewShot, Sampling, SamplingOfRoles},
    spec::{
        ChainStep, EffectClass, Exchange, ModelSpec, Returns, Scoring, Task, ToolMode, ToolSpec,
    },
    state::models::Tally,
    state::{
        BreakpointState, BreakpointStop, ChangedDefinition, EffectState, EvidenceState, FaultState,
        FollowedEdge, Grading, Hold, InTask, Lap, Learning, Mode, ModelCallPhase, ModelCallState,
        ModelState, NodeState, Reachable, Reaction, ReactionExample, SearchTree, ServerStage,
        ServerState, Spent, State, StepState, TakenHit, TaskBudget, TaskPhase, TaskState,
        ToolCallPhase, ToolCallState, ToolLedger, ToolState, Tried, TriedEnd, Undoable,
    },
    strategy::{Base, Decides, Strategy, StrategySpec},
    take::{Take, TakePart},
    target::{Aim, NO_EMBEDDING, Target},
    task_list::TaskList,
    tool_class::{ToolClass, ToolClasses},
    unread_input::Unread,
    worker_settings::WorkerSettings,
};
