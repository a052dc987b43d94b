//! The one that acts. It alone makes events; it obeys commands at any moment, works through the
//! queue of tasks, and takes every model request and tool call through the same stations.
//!
//! Everything here runs on one thread: the loop, the strategy and its calls are futures that take
//! turns, so state needs no locks and nothing changes between two awaits.

use std::{collections::BTreeMap, rc::Rc};

use futures::{StreamExt, stream::FuturesUnordered};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{
    domain::{
        command::Command,
        error::{ModelError, ModelErrorKind, ToolError, ToolErrorKind},
        event::{Boundary, By, Event, Lane, Opening, Outcome, Record},
        fault::FaultSpec,
        graph::ToolGraph,
        id::{TaskId, ToolName},
        spec::Task,
        state::State,
        strategy::Strategy,
    },
    model::Model,
    store::journal::{Journal, JournalError},
    strategy::{self, Ending},
    tool::ToolBox,
};

mod asking;
mod budget;
mod calling;
pub mod candidates;
mod classes;
mod commands;
mod context;
mod core;
mod faults;
mod gate;
mod lanes;
mod meaning;
mod planning;
mod probing;
mod remembering;
mod resuming;
mod time;
mod tools;
mod widening;

pub use self::{
    classes::{ClassBook, Kept, KeptClass, SaveClasses},
    core::{Keep, Listener, Reload},
    planning::Memory,
    resuming::resumable,
};
use self::{
    context::Context,
    core::{Core, Shared},
};

/// What a session is made of.
pub struct Setup {
    pub opening: Opening,
    pub models: Vec<Rc<dyn Model>>,
    pub tools: ToolBox,
    pub graph: ToolGraph,
    pub scores: BTreeMap<ToolName, f64>,
    pub tasks: Vec<Task>,
    pub faults: Vec<FaultSpec>,
    pub journal: Option<Journal>,
    /// Wait for more tasks when the queue is empty, instead of ending the session.
    pub stay: bool,
    /// What earlier sessions are remembered by, and this one will be.
    pub memory: Option<Memory>,
    /// How tools were sorted in earlier sessions.
    pub classes: Option<ClassBook>,
    /// What a person should know from the start.
    pub notices: Vec<String>,
    /// Keeps what was learned beyond the session; called after every task and at the end.
    pub keep: Option<Keep>,
    /// Reads the tools again.
    pub reload: Option<Reload>,
    /// The beginning of this very session, which was cut short and goes on behind it (see [`resumable`]);
    /// empty for a new one.
    pub past: Vec<Record>,
}

/// Runs a session to its end and gives its last state.
///
/// # Errors
/// If the journal could not be written: the session ends then, since a screen must not show what a
/// crash would lose.
pub async fn run(
    setup: Setup,
    mut commands: UnboundedReceiver<Command>,
    listener: Listener,
) -> Result<State, JournalError> {
    let stay = setup.stay;
    let shared = open(setup, listener);
    let why = {
        let mut work = std::pin::pin!(work(&shared, stay));
        // Whatever is not answered when the session ends is dropped with it.
        let mut probes = FuturesUnordered::new();
        loop {
            tokio::select! {
                biased;
                () = shared.until(Core::is_broken) => break "the journal cannot be written",
                command = commands.recv() => match command {
                    Some(Command::Stop) => break "stopped by the user",
                    Some(Command::ProbeModels) => probing::start(&shared, &mut probes),
                    Some(command) => commands::obey(&shared, command),
                    None => break "nobody is there to give commands",
                },
                Some(()) = probes.next() => {}
                () = &mut work => break "all tasks are done",
            }
        }
    };
    close(&shared, why);
    match shared.write(Core::take_broken) {
        Some(error) => Err(error),
        None => Ok(shared.read(|core| core.state.clone())),
    }
}

/// Makes the events that every session begins with, or takes up those of a session that goes on.
fn open(setup: Setup, listener: Listener) -> Shared {
    let mut core = Core::new(setup.tools, setup.models, setup.journal, listener);
    core.memory = setup.memory;
    core.classes = setup.classes;
    core.keep = setup.keep;
    core.reload = setup.reload;
    core.index_all();
    if setup.past.is_empty() {
        core.emit(Event::SessionOpened(Box::new(setup.opening)));
        core.emit(Event::GraphLoaded { graph: setup.graph, scores: setup.scores });
        core.load_pairs();
        core.join_all();
        for text in setup.notices {
            core.emit(Event::Noticed { text });
        }
        if !setup.tasks.is_empty() {
            core.emit(Event::TasksQueued { first: TaskId(1), tasks: setup.tasks, by: By::Engine });
        }
        for spec in setup.faults {
            let fault = core.next_fault();
            core.emit(Event::FaultArmed { fault, spec, by: By::User });
        }
    } else {
        core.take_up(setup.past);
    }
    core.sync();
    Shared::new(core)
}

/// Works through the queue.
async fn work(shared: &Shared, stay: bool) {
    loop {
        if stay {
            shared.until(|core| core.state.next_task().is_some()).await;
        }
        let next = shared.read(|core| core.state.next_task().map(|task| task.id));
        let Some(task) = next else { return };
        shared.write(|core| core.lanes.open());
        shared.pass(Lane::Agent, Boundary::BeforeTask).await;
        work_on(shared, task).await;
        shared.write(|core| {
            core.lanes.close();
            core.settle();
        });
    }
}

/// Works on one task, from `TaskStarted` to `TaskFinished`.
async fn work_on(shared: &Shared, id: TaskId) {
    let found = shared.write(|core| {
        core.emit(Event::TaskStarted { task: id });
        let strategy = core.state.strategy.parse::<Strategy>();
        let task = core.state.task(id).map(|task| task.task.clone());
        task.zip(strategy.ok())
    });
    if found.as_ref().is_some_and(|(_, strategy)| strategy.btp) {
        meaning::read(shared, id).await;
        shared.write(|core| core.plan_task(id));
    }
    // Both were checked before they became events; a task without them has nothing to run.
    let ending = match &found {
        Some((task, strategy)) => {
            let context = Context { shared: shared.clone(), task: id };
            strategy::perform(&context, *strategy, task).await
        }
        None => Ending::without_answer(Outcome::Failed),
    };
    let correct = found.and_then(|(task, _)| ending.is_correct(&task));
    shared.write(|core| {
        let Ending { outcome, answer } = ending;
        core.emit(Event::TaskFinished { task: id, outcome, answer, correct });
        core.remember();
        core.keep_learned();
        core.sync();
    });
}

/// Ends the session: what was in flight is gone by now, and is said to be.
fn close(shared: &Shared, why: &str) {
    shared.write(|core| {
        core.let_all_go();
        let calls: Vec<_> = core.state.calls_in_flight().map(|call| call.id).collect();
        for call in calls {
            let error = ToolError::new(ToolErrorKind::Cancelled, "the session was stopped");
            core.emit(Event::ToolCallFailed { call, error });
        }
        if let Some(ask) = core.state.ask_in_flight().map(|ask| ask.id) {
            let error = ModelError::new(ModelErrorKind::Cancelled, "the session was stopped");
            core.emit(asking::failed(core, ask, error));
        }
        core.stop_reading();
        if let Some(task) = core.state.current_task().map(|task| task.id) {
            let (outcome, answer, correct) = (Outcome::Stopped, None, None);
            core.emit(Event::TaskFinished { task, outcome, answer, correct });
        }
        core.remember();
        // Scores that the user set after the last task count as well.
        core.keep_learned();
        core.emit(Event::SessionEnded { why: why.to_owned() });
        core.sync();
    });
}
