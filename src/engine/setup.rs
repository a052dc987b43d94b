//! The setup of a session.

use std::{collections::BTreeMap, rc::Rc, time::Duration};

use tokio::sync::watch;

use super::beginning::Beginning;
use super::guest::Inbox;
use super::memory::Memory;
use super::observer::{
    breakpoints::KeepBreakpoints, classes::ClassBook, learned::Keep, schemas::SchemaBook,
};
use super::ranker::Ranker;
use super::station::{PurseShare, Station};
use crate::domain::{
    BreakpointSpec, FaultSpec, Opening, Strategy, TaskList, ToolGraph, ToolName, state::Keeps,
};
use crate::model::Model;
use crate::store::journal::Journal;
use crate::tool::{ToolBox, provider::Provider};

/// The contents of a session.
pub struct Setup {
    pub opening: Opening,
    /// The access for watched agents. With it, their conversations are the runs, and the session works on no task of
    /// its own.
    pub inbox: Option<Inbox>,
    /// The runs beside the first, each with its own strategy or that of the session.
    pub runs: Vec<Option<Strategy>>,
    pub models: Vec<Rc<dyn Model>>,
    /// Tools that do not depend on a provider.
    pub tools: ToolBox,
    /// Sources of further tools. Of two tools with one name, that of the earlier provider is used.
    pub providers: Vec<Rc<dyn Provider>>,
    pub graph: ToolGraph,
    pub scores: BTreeMap<ToolName, f64>,
    /// The tasks, queued in parts, so that a list of any length costs no memory before it is worked on.
    pub tasks: TaskList,
    pub faults: Vec<FaultSpec>,
    /// The initial breakpoints, and whether each is on.
    pub breakpoints: Vec<(BreakpointSpec, bool)>,
    /// Without a limit of dollars, say once that this many are spent; `None`: say nothing.
    pub tells_dollars: Option<f64>,
    /// The part of a purse that several sessions have together.
    pub purse: Option<PurseShare>,
    /// Saves the breakpoints beyond the session; called when they change.
    pub keep_breakpoints: Option<KeepBreakpoints>,
    pub journal: Option<Journal>,
    /// Wait for more tasks when the queue is empty, instead of ending the session.
    pub stay: bool,
    /// Open only when all providers are ready.
    pub awaits_tools: bool,
    /// The time for which a breakpoint holds a call without a person; `None`: it only counts.
    pub hold: Option<Duration>,
    /// Whether an attached screen controls the session at the moment; `None`: no screen can attach.
    pub attached: Option<watch::Receiver<bool>>,
    /// Without a person, go on with the next task when a model cannot be used.
    pub keep_going: bool,
    /// The experience of earlier sessions, to which this one adds.
    pub memory: Option<Memory>,
    /// Ranks tools for texts by more than their words.
    pub ranker: Option<Rc<dyn Ranker>>,
    /// The tool classes of earlier sessions.
    pub classes: Option<ClassBook>,
    /// The learned schemas of earlier sessions.
    pub schemas: SchemaBook,
    /// Notices for the user at the start.
    pub notices: Vec<String>,
    /// Saves the learned knowledge beyond the session; called after every task and at the end.
    pub keep: Option<Keep>,
    /// Stations after the engine's own.
    pub stations: Vec<Rc<dyn Station>>,
    pub beginning: Beginning,
    /// The details that the state keeps of ended tasks.
    pub keeps: Keeps,
    /// The number of the last record that a screen has taken: no task begins while that is far behind.
    pub taken: Option<watch::Receiver<u64>>,
}
