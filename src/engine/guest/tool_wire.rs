//! Calls on the wire of tools: a relay passes each one to the session before the tool's server gets it. A call is an
//! effect whose doer sends it on; the calls of one server are a run.

use std::collections::BTreeMap;
use std::future::pending;
use std::{rc::Rc, sync::Arc, time::Duration};

use super::calls::Returned;
use super::relay_doer::OnWire;
use crate::domain::{
    By, EffectId, FaultKind, Guest, Lane, MenuItem, MenuReason, Outcome as TaskOutcome, RunEvent,
    RunId, SessionEvent, Task, TaskEvent, TaskId, ToolCallEvent, ToolError, ToolErrorKind,
    ToolName, ToolOutput, ToolSpec,
};
use crate::effect::{self, Effect, GuestCall, Outcome, PendingEffect, perform};
use crate::handle::Handle;
use crate::session::{Session, lanes::Waits};
use crate::tool::foreign_calls::{CallSessionEnd, ForeignCall, RelayAnswer, RelayTurn};

/// Calls of a task. A session keeps the details of its last tasks only, and a server may be called for days.
const CALLS: u32 = 100;
/// Bytes of the texts of a task, after which the next one begins.
const TEXTS: u32 = 4 << 20;

/// The servers whose clients have called.
#[derive(Default)]
pub struct Wires(BTreeMap<Arc<str>, Wire>);

/// The calls and tools of a server.
#[derive(Default)]
struct Wire {
    run: Option<RunId>,
    task: Option<TaskId>,
    step: u32,
    /// The tool that was called last.
    at: Option<ToolName>,
    /// The tools by the server's own names.
    tools: BTreeMap<String, Arc<ToolSpec>>,
    menu: Arc<[MenuItem]>,
}

/// Takes the tools of a server. New and changed ones join the session.
pub fn offer(session: &mut Session, wires: &mut Wires, server: &Arc<str>, tools: Vec<ToolSpec>) {
    let wire = wires.0.entry(Arc::clone(server)).or_default();
    let mut joined = Vec::new();
    for mut spec in tools {
        let own = spec.name.to_string();
        spec.name = name_of(session, server, &own, &spec.source);
        let spec = Arc::new(spec);
        let known = wire.tools.insert(own, Arc::clone(&spec));
        if known.as_ref() == Some(&spec) {
            continue;
        }
        // A tool that was called before it was listed has no definition to differ from.
        let differs =
            |known: &ToolSpec| *known != unknown(known.name.clone(), known.source.clone());
        if known.is_some_and(|known| differs(&known)) {
            let text = format!("{server} defines its tool {} otherwise than before", spec.name);
            session.emit(SessionEvent::Noticed { text });
        }
        joined.push(spec);
    }
    let item = |spec: &Arc<ToolSpec>| MenuItem {
        tool: spec.name.clone(),
        weight: None,
        why: MenuReason::All,
    };
    wire.menu = wire.tools.values().map(item).collect();
    if !joined.is_empty() {
        session.emit(SessionEvent::ToolsAdded { tools: joined });
    }
}

/// The name of a tool in the session: the server's own name, unless another source has a tool with that name.
fn name_of(session: &Session, server: &str, own: &str, source: &str) -> ToolName {
    let is_taken = session.state().tools.get(own).is_some_and(|known| known.spec.source != source);
    ToolName::new(&if is_taken { format!("{server}_{own}") } else { own.to_owned() })
}

/// Ends the work of a server whose relay has ended.
pub fn end(session: &mut Session, wires: &mut Wires, server: &str) {
    let Some(wire) = wires.0.get_mut(server) else { return };
    wire.finish(session);
    session.settle();
}

/// Requests a call immediately, so that calls keep the order of their arrival.
pub fn begin(session: &mut Session, wires: &mut Wires, call: ForeignCall) -> Begun {
    let ForeignCall { server, id, tool, arguments, patience, way } = call;
    let wire = wires.0.entry(Arc::clone(&server)).or_default();
    let known = wire.tools.get(&tool).cloned();
    let spec = known.unwrap_or_else(|| {
        let source = format!("mcp:{server}");
        let spec = Arc::new(unknown(name_of(session, &server, &tool, &source), source));
        session.emit(SessionEvent::ToolsAdded { tools: vec![Arc::clone(&spec)] });
        wire.tools.insert(tool, Arc::clone(&spec));
        spec
    });
    let task = wire.task(session, &server, patience);
    wire.step += 1;
    let from = wire.at.replace(spec.name.clone()).unwrap_or_else(ToolName::start);
    let (step, menu) = (wire.step, Arc::clone(&wire.menu));
    session.emit(TaskEvent::StepStarted { task, step, from, menu });
    let way = Rc::new(way);
    let doer = Rc::new(OnWire::new(Arc::clone(&spec), arguments.clone(), Rc::clone(&way)));
    let effect = Effect::Tool(effect::ToolCall {
        step,
        tool: spec.name.clone(),
        arguments,
        evidence: None,
        by: By::Engine,
        line: None,
        guest: Some(GuestCall {
            id,
            tool: Rc::clone(&doer) as _,
            is_relayed: true,
            is_fixed: false,
        }),
    });
    let requested = effect::request(session, task, effect, None, Waits::Agent);
    Begun { requested, doer, way }
}

impl Wire {
    fn finish(&mut self, session: &mut Session) {
        let task = self.task.take().filter(|task| session.state().at_work.contains(*task));
        if let Some(task) = task {
            let (answer, correct, caveats) = (None, None, Vec::new());
            let outcome = TaskOutcome::Answered;
            session.emit(TaskEvent::TaskFinished { task, outcome, answer, correct, caveats });
            session.sync_beside();
        }
    }

    /// The task at work, of a run that is opened with the first call.
    fn task(&mut self, session: &mut Session, server: &str, patience: Option<Duration>) -> TaskId {
        if let Some(task) = self.task.filter(|task| session.state().at_work.contains(*task)) {
            let state = session.state();
            let is_busy = state.tool_calls_in_flight().any(|call| call.task == task);
            let is_large = state.task(task).is_some_and(|task| task.text_bytes > TEXTS);
            if is_busy || (self.step < CALLS && !is_large) {
                return task;
            }
            self.finish(session);
        }
        let run = *self.run.get_or_insert_with(|| {
            let run = next_run(session);
            let patience_ms = patience.and_then(|it| u64::try_from(it.as_millis()).ok());
            let (wire, endpoint) = (Guest::MCP.to_owned(), format!("mcp:{server}"));
            let guest = Guest { wire, endpoint, patience_ms, ..Guest::default() };
            let guest = Some(Arc::new(guest));
            session.emit(RunEvent::RunOpened { run, strategy: None, guest });
            run
        });
        let task = Task { run, ..Task::from_text(format!("calls of {server}")) };
        let first = session.next_task();
        session.emit(TaskEvent::TasksQueued { first, tasks: vec![task], by: By::Engine });
        session.emit(TaskEvent::TaskStarted { task: first });
        (self.task, self.step, self.at) = (Some(first), 0, None);
        first
    }
}

/// The number of the next run.
pub fn next_run(session: &Session) -> RunId {
    let last = session.state().runs.keys().next_back();
    RunId(last.map_or(0, |run| run.0).saturating_add(1))
}

/// A tool that its server has not described.
fn unknown(name: ToolName, source: String) -> ToolSpec {
    ToolSpec {
        name,
        description: String::new(),
        parameters: Arc::new(serde_json::json!({})),
        class: String::new(),
        cost: None,
        effect: Default::default(),
        timeout_ms: 0,
        source,
        examples: Vec::new(),
        disabled: None,
        proposed: None,
        served_as: None,
        returns: None,
        request: None,
    }
}

/// A call that was requested.
pub struct Begun {
    requested: PendingEffect,
    doer: Rc<OnWire>,
    way: Rc<CallSessionEnd>,
}

/// Makes the call, and tells the client its result.
pub async fn attend(handle: Handle, begun: Begun) {
    let Begun { requested, doer, way } = begun;
    let (id, cancel) = (requested.reference.id, requested.cancel.clone());
    let given_up = async {
        way.given_up().await;
        // A call that was sent on ends by itself, with its outcome or as unknown.
        if !doer.is_sent() {
            cancel.cancel();
        }
        pending::<(Outcome, bool)>().await
    };
    let (outcome, _) = tokio::select! {
        biased;
        performed = perform(&handle, requested) => performed,
        never = given_up => never,
        never = tell_holds(&handle, &way, id) => never,
    };
    let returned = match outcome {
        Outcome::Result(returned) => returned,
        Outcome::Refused(_, why) => Err(ToolError::new(ToolErrorKind::Failed, why)),
        _ => Err(ToolError::new(ToolErrorKind::Failed, "not the outcome of a tool call")),
    };
    give(&handle, &way, id, doer.came(), returned);
}

/// Reports each time that the call is held. Never ends.
pub async fn tell_holds<T>(handle: &Handle, way: &CallSessionEnd, id: EffectId) -> T {
    loop {
        handle.until(|session| is_waiting(session, id)).await;
        way.tell(RelayTurn::Held);
        handle.until(|session| !is_waiting(session, id)).await;
    }
}

/// Whether a call is held, or waits because of a fault.
fn is_waiting(session: &Session, id: EffectId) -> bool {
    let state = session.state();
    let Some(effect) = state.effect(id) else { return false };
    let is_faulted = effect.started.is_some() && !effect.is_over() && effect.injected.is_some();
    is_faulted || state.control.is_held(Lane::Effect(id))
}

/// Gives the client its answer: the server's result, unless the session has changed it.
pub fn give(
    handle: &Handle,
    way: &CallSessionEnd,
    id: EffectId,
    came: Option<Returned>,
    returned: Returned,
) {
    if let Some(change) = handle.read(|session| session.list_change(id)) {
        way.tell(RelayTurn::Relist(change));
    }
    let told = came.map(|came| effect::redacted(Outcome::Result(came)));
    if let Some(Outcome::Result(told)) = told {
        if told == returned {
            way.tell(RelayTurn::AsCame);
            return;
        }
        withhold(handle, id, told);
    }
    let ends_server = handle.read(|session| session.hit_by(id) == Some(&FaultKind::Crash));
    way.tell(RelayTurn::Instead(RelayAnswer { returned, ends_server }));
}

/// Notes the server's result if the client gets something else.
fn withhold(handle: &Handle, id: EffectId, told: Returned) {
    let text = told.map_or_else(|error| error.text, |output| output.text);
    let output = Arc::new(ToolOutput::of(text));
    handle.write(|session| {
        let effect = session.state().effect(id).map(|known| known.reference());
        let event = effect.map(|effect| ToolCallEvent::ResultWithheld { effect, output });
        event.into_iter().for_each(|event| session.emit(event));
    });
}
