//! A model call for a role: the bound model, the form of the request, and retries when an answer
//! breaks off.

use std::{rc::Rc, sync::Arc, time::Duration};

use super::{Effect, ModelCall, Outcome, perform, request};
use crate::domain::{
    EffectId, EvidenceId, ModelError, ModelErrorKind, ModelSpec, Reply, Request, Role,
    SessionEvent, State, TaskId, ToolMode, role_settings, tokens, window,
};
use crate::model::{Model, text};
use crate::strategy::Before;
use crate::{
    handle::Handle,
    session::{Session, lanes::Waits},
};

/// Most retries of a stream that broke off after some text.
const AGAIN: u32 = 2;

/// The wait before a retry, so that the endpoint notices the end of the first stream.
const BEFORE_AGAIN: Duration = Duration::from_millis(500);

/// The origin of a model call.
#[derive(Clone)]
pub struct Caller {
    pub task: TaskId,
    pub evidence: Option<EvidenceId>,
    /// The effect that causes it, if it is not the agent's own decision.
    pub parent: Option<EffectId>,
    /// Whether the agent waits for it.
    pub waits: Waits,
    /// The text before the model's output, if a judge reads along.
    pub judged: Option<Rc<Before>>,
}

/// Calls the model bound to this role. A stream that broke off after some text is retried as a new,
/// visible call: the client never restarts such a stream by itself, because the text was already
/// shown. Also returns the number of the call.
pub async fn ask(
    handle: &Handle,
    caller: Caller,
    role: Role,
    wanted: Request,
) -> (Option<EffectId>, Result<Arc<Reply>, ModelError>) {
    let meant =
        Arc::new(handle.read(|session| with_settings(session.state(), caller.task, wanted)));
    let mut parent = caller.parent;
    let mut again = 0;
    loop {
        let requested = handle.write(|session| {
            let model = bound(session, role)?;
            let meant = fitted(model.spec(), &meant);
            let bounded = session.policy(caller.task).bounded(role, model.spec(), &meant);
            let request = as_seen(model.spec(), &bounded);
            let evidence = caller.evidence;
            let judged = caller.judged.clone();
            let effect = Effect::Model(ModelCall {
                role,
                model,
                meant,
                request,
                evidence,
                judged,
                guest: None,
            });
            Some(request::request(session, caller.task, effect, parent, caller.waits))
        });
        let Some(requested) = requested else {
            let text = format!("no model is bound to the role {role}");
            // There is no call that could visibly fail.
            handle.emit(SessionEvent::Noticed { text: text.clone() });
            return (None, Err(ModelError::new(ModelErrorKind::Refused, text)));
        };
        let id = requested.reference.id;
        let (outcome, is_again) = perform(handle, requested).await;
        match outcome {
            Outcome::Reply(_) if is_again => parent = Some(id),
            Outcome::Reply(Err(error)) if again < AGAIN && broke_off(&error) => {
                parent = Some(id);
                again += 1;
                let text = format!("the answer broke off ({error}); retrying");
                handle.emit(SessionEvent::Noticed { text });
                tokio::time::sleep(BEFORE_AGAIN).await;
            }
            Outcome::Reply(reply) => return (Some(id), reply),
            Outcome::Result(_)
            | Outcome::Refused(..)
            | Outcome::Embedded(_)
            | Outcome::Ranked(_) => break,
        }
    }
    let text = "the model call ended with the result of another effect";
    (None, Err(ModelError::new(ModelErrorKind::BadAnswer, text)))
}

/// The request with the settings and the examples of its role.
fn with_settings(state: &State, task: TaskId, wanted: Request) -> Request {
    let strategy = state.task(task).and_then(|task| task.strategy).unwrap_or(state.strategy);
    role_settings::completed(wanted, strategy, &state.sampling, &state.few_shots)
}

/// Whether a stream failed after some text, so that a retry may succeed.
fn broke_off(error: &ModelError) -> bool {
    let passing = match error.kind {
        ModelErrorKind::Connection
        | ModelErrorKind::Timeout
        | ModelErrorKind::RateLimited
        | ModelErrorKind::Endpoint
        | ModelErrorKind::BadAnswer => true,
        ModelErrorKind::Auth
        | ModelErrorKind::Quota
        | ModelErrorKind::ContextOverflow
        | ModelErrorKind::Refused
        | ModelErrorKind::Filtered
        // The answer would become as long again.
        | ModelErrorKind::TooLong
        | ModelErrorKind::OverBudget
        | ModelErrorKind::Cancelled => false,
    };
    passing && !error.partial.is_empty()
}

/// The model currently bound to this role.
fn bound(session: &Session, role: Role) -> Option<Rc<dyn Model>> {
    let model = &session.state().models.roles.get(&role)?.model;
    session.model(model).cloned()
}

/// The request without the parts that do not fit the context window of this model.
fn fitted(model: &ModelSpec, meant: &Arc<Request>) -> Arc<Request> {
    let Some(context) = model.context else { return Arc::clone(meant) };
    let count = |request: &Request| match model.mode {
        ToolMode::Native => tokens::count_request(request),
        ToolMode::Text => tokens::count_request(&text::to_text(request)),
    };
    let fitted = window::fitted(meant, window::limit(context, meant), count);
    fitted.map_or_else(|| Arc::clone(meant), Arc::new)
}

/// The request in the form that this model needs for tools: the journal records what the model
/// sees.
fn as_seen(model: &ModelSpec, meant: &Arc<Request>) -> Arc<Request> {
    match model.mode {
        ToolMode::Native => Arc::clone(meant),
        ToolMode::Text => Arc::new(text::to_text(meant)),
    }
}
