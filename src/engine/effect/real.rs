//! The real call of a model, a tool, an embedding model or a reader, or a fault instead, within its
//! time and budget.

use std::{collections::HashMap, rc::Rc, sync::Arc, time::Duration};

use futures::future::join_all;
use tokio::time::timeout;

use super::{
    Effect, Embedded, EmbeddingCall, GuestCall, ModelCall, Outcome, Ranked, ReadingCall, ToolCall,
};
use super::{call_judge, lively, progress, stream::stream};
use crate::actor::Actor;
use crate::domain::{
    CallProgress, Chance, FaultKind, Knob, ModelError, ModelErrorKind, Ranking, Reply,
    SessionEvent, State, TaskId, ToolError, ToolErrorKind, ToolName, ToolOutput,
};
use crate::model::relay::{Holds, Relay};
use crate::model::understood;
use crate::papers::cotools;
use crate::ranker::{Query, Scored};
use crate::strategy::Sought;
use crate::tool::{Invocation, Tool};
use crate::{handle::Handle, session::Session, station::Passage};

/// How long a client waits for a silent model.
const SILENCE: Duration = Duration::from_secs(60);

/// Runs the effect, which has just started.
pub async fn run(handle: &Handle, passage: &Passage) -> Outcome {
    match &passage.effect {
        Effect::Model(call) => Outcome::Reply(ask(handle, passage, call).await),
        Effect::Tool(call) => Outcome::Result(call_tool(handle, passage, call).await),
        Effect::Embedding(call) => {
            let embedded = embed(handle, call);
            Outcome::Embedded(of_text(handle, passage, &call.text, embedded).await)
        }
        Effect::Reading(call) => {
            let ranked = rank(handle, passage.task, call);
            Outcome::Ranked(of_text(handle, passage, &call.text, ranked).await)
        }
    }
}

async fn ask(
    handle: &Handle,
    passage: &Passage,
    call: &ModelCall,
) -> Result<Arc<Reply>, ModelError> {
    let ModelCall { role, model, meant, request, judged, guest, .. } = call;
    let limit = match guest {
        Some(_) => None,
        None => handle.read(|session| {
            session.policy(passage.task).model_call_seconds(*role, model.spec(), request)
        }),
    };
    let fault = passage.fault.as_ref().map(|(_, kind)| kind);
    if let Some(relay) = guest {
        relay.hold(holds(handle, passage));
        fault.into_iter().for_each(|kind| prepare(relay, kind));
    }
    let answer = async {
        if model.spec().simulated {
            lively::model(handle, passage.chance).await;
        }
        if let Some(kind) = fault {
            if let Some(error) = silence(kind).await {
                return Err(error);
            }
            delay(kind, passage.chance).await;
            if let Some(outcome) = kind.model_outcome(passage.chance) {
                return outcome;
            }
        }
        match judged {
            Some(before) => {
                Box::pin(call_judge::stream(handle, passage.reference, call, before)).await
            }
            None => stream(handle, passage.reference, &**model, request, &mut |_| {}).await,
        }
    };
    let reply = within_budget(limit, answer).await?;
    if let Some(ms) = fault.and_then(|kind| kind.pause_ms(&reply.text)) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    // A watched agent reads its answers itself.
    let reply = match guest {
        Some(_) => reply,
        None => understood(model.spec().mode, meant, reply),
    };
    let reply = match fault {
        Some(kind) if !guest.as_ref().is_some_and(|relay| relay.is_spoiled()) => {
            let dollars = model.spec().price(&reply.usage);
            kind.spoil_reply(reply, dollars.map(Into::into), passage.chance)?
        }
        _ => reply,
    };
    Ok(Arc::new(reply))
}

/// The part of a watched agent's answer that is held back, besides its calls: the end if the lane may stop there, or
/// all of it if it may never reach the agent.
fn holds(handle: &Handle, passage: &Passage) -> Holds {
    let (lane, boundary) = (passage.reference.lane(), passage.effect.after());
    let holds = |session: &Session| match session.state() {
        state if state.knobs.is_on(Knob::Skip) => Holds::All,
        state if !state.breakpoints.is_empty() => Holds::End,
        _ if !session.is_open(lane, boundary) => Holds::End,
        _ => Holds::Calls,
    };
    handle.read(holds)
}

/// Prepares the relay of a watched agent's answer so that the fault can act on it.
fn prepare(relay: &Relay, kind: &FaultKind) {
    match kind {
        FaultKind::SlowTokens { ms } => relay.slow_down(Duration::from_millis(*ms)),
        // The fault may change the part that has arrived, so nothing is sent on before.
        _ => relay.hold(Holds::All),
    }
    if kind.is_silent() {
        relay.stay_silent();
    }
}

/// A model's answer, if it arrives within this many seconds. The part that had arrived is in its
/// call.
async fn within_budget<T>(
    limit: Option<f64>,
    answer: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    let Some(limit) = limit.map(Duration::from_secs_f64) else { return answer.await };
    timeout(limit, answer).await.unwrap_or_else(|_| {
        let text = format!(
            "time budget exceeded: no answer within {} ms, the most that the remaining budget allows",
            limit.as_millis()
        );
        Err(ModelError::new(ModelErrorKind::OverBudget, text))
    })
}

/// The answer about a text, from a model that writes nothing, or the fault in its place.
async fn of_text<T>(
    handle: &Handle,
    passage: &Passage,
    text: &str,
    answer: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    let limit = handle.read(|session| {
        let spec = passage.effect.spec()?;
        session.policy(passage.task).embedding_seconds(passage.task, spec, text)
    });
    let answer = async {
        if let Some((_, kind)) = &passage.fault {
            if let Some(error) = silence(kind).await.or_else(|| kind.model_error()) {
                return Err(error);
            }
            delay(kind, passage.chance).await;
        }
        let answer = answer.await?;
        let lost = passage.fault.as_ref().and_then(|(_, kind)| kind.spoil_embedding());
        lost.map_or(Ok(answer), Err)
    };
    within_budget(limit, answer).await
}

/// Ranks the tools for the text.
async fn rank(handle: &Handle, task: TaskId, call: &ReadingCall) -> Result<Ranked, ModelError> {
    let ReadingCall { ranker, text, sought } = call;
    let text = handle.read(|session| in_context(session, task, text, *sought));
    let mut scored = ranker.rank(Query::of(&text, *sought)).await?;
    say(handle, scored.notice.take());
    let ranking = handle.read(|session| ranking(session, task, &text, &scored));
    Ok(Ranked { ranking: Arc::new(ranking), usage: scored.usage })
}

/// Embeds the text.
async fn embed(handle: &Handle, call: &EmbeddingCall) -> Result<Embedded, ModelError> {
    let EmbeddingCall { model, text } = call;
    let Some(embedder) = model.embedder() else {
        let text = format!("{} does not support embeddings", model.spec().name);
        return Err(ModelError::new(ModelErrorKind::Refused, text));
    };
    let read = embedder.embed(std::slice::from_ref(text)).await?;
    say(handle, read.notice);
    let embedding = read.embeddings.into_iter().next();
    Ok(Embedded { embedding, usage: read.usage })
}

fn say(handle: &Handle, notice: Option<String>) {
    notice.into_iter().for_each(|text| handle.emit(SessionEvent::Noticed { text }));
}

/// The text to read. A need is prefixed with its task, since alone it has too little context.
fn in_context(session: &Session, task: TaskId, text: &str, sought: Sought) -> String {
    let task = session.state().task(task).filter(|_| sought == Sought::Need);
    task.map_or_else(|| text.to_owned(), |of| format!("{}\n{text}", of.task.text))
}

/// The scores as a ranking of the tools that are offered now, beside those by words.
fn ranking(session: &Session, task: TaskId, text: &str, scored: &Scored) -> Ranking {
    let words: HashMap<&ToolName, f32> = session.kit().index().search(text).collect();
    let tools = session.state().in_task(task).offered_tools().map(|tool| {
        let name = &tool.spec.name;
        let words = words.get(name).copied().unwrap_or_default();
        (name.clone(), scored.states.get(name).copied(), f64::from(words))
    });
    cotools::rank_tools(scored.queries, tools.collect())
}

async fn call_tool(
    handle: &Handle,
    passage: &Passage,
    call: &ToolCall,
) -> Result<ToolOutput, ToolError> {
    let id = passage.reference.id;
    if let Some(more) = handle.read(|session| read_on(session.state(), passage.task, call)) {
        return more;
    }
    if let Some(GuestCall { tool, .. }) = &call.guest {
        return elsewhere(handle, passage, call, &**tool).await;
    }
    let Some(tool) = handle.read(|session| session.kit().tools.get(call.tool.as_str())) else {
        let text = format!("there is no tool {}; choose one of those offered", call.tool);
        return Err(ToolError::new(ToolErrorKind::Unavailable, text));
    };
    if !tool.is_sample() {
        learn_keys(handle).await;
    }
    let paid = match passage.actor() {
        Actor::Run => handle.write(|session| session.allot_time(id)),
        Actor::Person | Actor::Guest => None,
    };
    let paid = paid.map(Duration::from_secs_f64);
    let allowed = handle.read(|session| allowed(session.state().workers.timeout_ms, call, &*tool));
    let seed = passage.chance.bits();
    let invocation = Invocation { arguments: call.arguments.clone(), seed };
    let fault = passage.fault.as_ref().map(|(_, kind)| kind);
    let run = async {
        if tool.is_sample() {
            lively::tool(handle, call.tool.as_str(), passage.chance).await;
        }
        let told = progress::told(handle, passage.reference);
        faulted(fault, (&*tool, &told), &invocation, || earlier(handle, call)).await
    };
    let outcome = within(&*tool, allowed, paid, run).await;
    handle.read(|session| session.relist(id, &call.tool));
    outcome
}

/// The last result of the same tool.
fn earlier(handle: &Handle, call: &ToolCall) -> Option<String> {
    handle.read(|session| session.state().last_result(&call.tool).map(str::to_owned))
}

/// A call that a watched agent runs, without a time limit. A silent tool would keep the agent waiting for ever, so the
/// fault `timeout` ends the call at once.
async fn elsewhere(
    handle: &Handle,
    passage: &Passage,
    call: &ToolCall,
    tool: &dyn Tool,
) -> Result<ToolOutput, ToolError> {
    let fault = passage.fault.as_ref().map(|(_, kind)| kind);
    if fault == Some(&FaultKind::Timeout) {
        let text = format!("{} did not answer", call.tool);
        return Err(ToolError::new(ToolErrorKind::Timeout, text));
    }
    let invocation = Invocation { arguments: call.arguments.clone(), seed: passage.chance.bits() };
    let told = progress::told(handle, passage.reference);
    faulted(fault, (tool, &told), &invocation, || earlier(handle, call)).await
}

/// Waits until the keys of all models are known, since a tool may print one before its model is called. Tools that run
/// at the same time wait together.
async fn learn_keys(handle: &Handle) {
    let (known, models) =
        handle.read(|session| (Rc::clone(session.keys_known()), session.all_models()));
    let learn = async || drop(join_all(models.iter().map(|model| model.learn_key())).await);
    known.get_or_init(learn).await;
}

/// More of an earlier result, if the call requests that: nothing outside is touched.
fn read_on(state: &State, task: TaskId, call: &ToolCall) -> Option<Result<ToolOutput, ToolError>> {
    let task = state.task(task).filter(|_| state.reads_on(&call.tool))?;
    let part = state.read_on(task, &call.arguments);
    Some(match part {
        Ok(text) => Ok(ToolOutput::of(text)),
        Err(why) => Err(ToolError::new(ToolErrorKind::Arguments, why)),
    })
}

/// The time limit of a call: its tool's limit, and for a call of a plan at most the one configured
/// for workers.
fn allowed(worker_ms: u64, call: &ToolCall, tool: &dyn Tool) -> Duration {
    let own = tool.spec().timeout_ms;
    Duration::from_millis(call.evidence.map_or(own, |_| own.min(worker_ms)))
}

/// Runs a call for as long as its tool allows and the budget pays for. Time held does not count.
async fn within(
    tool: &dyn Tool,
    allowed: Duration,
    paid: Option<Duration>,
    run: impl Future<Output = Result<ToolOutput, ToolError>>,
) -> Result<ToolOutput, ToolError> {
    let spec = tool.spec();
    let limit = paid.map_or(allowed, |paid| paid.min(allowed));
    timeout(limit, run).await.unwrap_or_else(|_| {
        let text = format!("{} did not answer within {} ms", spec.name, limit.as_millis());
        Err(if limit < allowed {
            let text =
                format!("time budget exceeded: {text}, the most that the remaining budget allows");
            ToolError::new(ToolErrorKind::OverBudget, text)
        } else {
            ToolError::new(ToolErrorKind::Timeout, text)
        })
    })
}

/// Runs the call with the fault, or normally. To the agent both look alike. `earlier`: the tool's previous answer.
async fn faulted(
    fault: Option<&FaultKind>,
    (tool, told): (&dyn Tool, &dyn Fn(CallProgress)),
    invocation: &Invocation,
    earlier: impl Fn() -> Option<String>,
) -> Result<ToolOutput, ToolError> {
    let Some(kind) = fault else { return tool.call_telling(invocation, told).await };
    if *kind == FaultKind::Timeout {
        return std::future::pending().await;
    }
    let chance = Chance::new(invocation.seed);
    delay(kind, chance).await;
    if let Some(outcome) = kind.tool_outcome(chance) {
        return outcome;
    }
    let earlier = earlier();
    kind.spoil_result(tool.call_telling(invocation, told).await, earlier.as_deref(), chance)
}

async fn delay(kind: &FaultKind, chance: Chance) {
    if let Some(ms) = kind.delay_ms(chance) {
        tokio::time::sleep(Duration::from_secs_f64(ms / 1e3)).await;
    }
}

/// A model with an injected timeout stays silent until its client gives up.
async fn silence(kind: &FaultKind) -> Option<ModelError> {
    if *kind != FaultKind::Timeout {
        return None;
    }
    tokio::time::sleep(SILENCE).await;
    let text = format!("silence for {} s", SILENCE.as_secs());
    Some(ModelError::new(ModelErrorKind::Timeout, text))
}
