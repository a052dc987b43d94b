//! The parts of a session's data.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::{rc::Rc, sync::Arc};

use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::breakpoints::AskedOf;
use crate::domain::{Embedding, KnownTool, Lexical, ModelName, Record, TaskList, ToolName};
use crate::effect::PendingEffect;
use crate::model::Model;
use crate::observer::{Observer, journal::Writer};
use crate::program::Child;
use crate::ranker::Ranker;
use crate::tool::{ToolBox, provider::Provider};

/// Called with every record, in order.
pub type Listener = Box<dyn FnMut(&Arc<Record>)>;

/// The tools of a session, and the means to find them.
pub struct Toolkit {
    pub tools: ToolBox,
    /// The words of the tools, once somebody has searched.
    pub index: OnceCell<Lexical>,
    /// Ranks tools for a text by more than its words.
    pub ranker: Option<Rc<dyn Ranker>>,
    /// The providers, each with the signal that makes it list its tools again.
    pub providers: Vec<(Rc<dyn Provider>, Rc<Notify>)>,
}

impl Toolkit {
    /// The index of the tools by their words. Most strategies never search, and many tools have many words.
    pub fn index(&self) -> &Lexical {
        self.index.get_or_init(|| Lexical::of_session(self.tools.specs().map(|spec| &**spec)))
    }
}

/// The models of a session.
pub struct Models {
    pub by_name: HashMap<ModelName, Rc<dyn Model>>,
    /// Set once the keys of all models are known, and thus hidden in the output of tools.
    pub keys_known: Rc<tokio::sync::OnceCell<()>>,
}

/// Where records go, and their times.
pub struct Log {
    pub journal: Writer,
    pub observers: Vec<Box<dyn Observer>>,
    pub listener: Listener,
    /// Records that are not shown yet; they are journaled before they are shown.
    pub unshown: Vec<Arc<Record>>,
    /// Watched agents get their answers at any time, so no record waits.
    pub is_watched: bool,
    pub opened: Instant,
    /// Microseconds that the session had lasted before it was continued.
    pub resumed_at: u64,
}

/// The work that is still to be done.
#[derive(Default)]
pub struct Queue {
    /// The tasks that the session began with, and how many of them were queued.
    pub tasks: TaskList,
    pub queued: usize,
    /// Calls by hand that have not begun, and the signal that there are some.
    pub by_hand: Vec<PendingEffect>,
    pub called: Rc<Notify>,
}

/// An agent at work.
#[derive(Default)]
pub struct AgentRun {
    /// Ends the current task of the run.
    pub skip: CancellationToken,
    /// The interpreter for the run's programs: warm once a program was run, and lent to the program at work.
    pub interpreter: Option<Child>,
    /// A person's requests to the program, as far as the program knows of them.
    pub asked: Option<AskedOf>,
    /// The embedding of the task, if it is known.
    pub meaning: Option<Embedding>,
    /// The known facts about the candidates of the task.
    pub known: Vec<KnownTool>,
    /// The reason why a model cannot be used, if no person can repair it.
    pub unusable: Option<String>,
}

impl AgentRun {
    pub fn is_known(&self, tool: &ToolName) -> bool {
        self.known.iter().any(|known| known.tool == *tool)
    }
}
