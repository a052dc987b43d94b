//! A model call for a role: who is bound to it, in what form it takes the request, and what is done when its
//! answer breaks off.

use std::{rc::Rc, sync::Arc, time::Duration};

use super::{Effect, ModelCall, Outcome, perform, request};
use crate::domain::{
    EffectId, EvidenceId, ModelError, ModelErrorKind, ModelSpec, Reply, Request, Role,
    SessionEvent, TaskId, ToolMode,
};
use crate::engine::{handle::Handle, session::Session};
use crate::model::{Model, text};

/// A stream that broke after it had given text is asked for again at most so often.
const AGAIN: u32 = 2;

/// How long to wait before that, so that the endpoint notices that the first stream is gone.
const BEFORE_AGAIN: Duration = Duration::from_millis(500);

/// Who wants a model called, and why.
#[derive(Clone, Copy)]
pub struct Caller {
    pub task: TaskId,
    pub evidence: Option<EvidenceId>,
    /// The effect that causes it, where it is not the agent's own decision.
    pub parent: Option<EffectId>,
    /// Whether the agent waits for it.
    pub is_awaited: bool,
}

/// Calls the model that is bound to this role. A stream that broke after it had given text is asked for
/// again as a new call that everybody sees: the client never starts such a stream again by itself, since
/// the text was already shown. Answers with the number of the call, too.
pub async fn ask(
    handle: &Handle,
    caller: Caller,
    role: Role,
    wanted: Request,
) -> (Option<EffectId>, Result<Arc<Reply>, ModelError>) {
    let meant = Arc::new(wanted);
    let mut parent = caller.parent;
    for again in 0.. {
        let requested = handle.write(|session| {
            let model = bound(session, role)?;
            let bounded = session.policy().bounded(role, model.spec(), &meant);
            let request = as_seen(model.spec(), &bounded);
            let (meant, evidence) = (Arc::clone(&meant), caller.evidence);
            let effect = Effect::Model(ModelCall { role, model, meant, request, evidence });
            Some(request::request(session, caller.task, effect, parent, caller.is_awaited))
        });
        let Some(requested) = requested else {
            let text = format!("no model is bound to the role {role}");
            // There is no call that could fail for all to see.
            handle.emit(SessionEvent::Noticed { text: text.clone() });
            return (None, Err(ModelError::new(ModelErrorKind::Refused, text)));
        };
        let id = requested.reference.id;
        match perform(handle, requested).await {
            Outcome::Reply(Err(error)) if again < AGAIN && broke_off(&error) => {
                parent = Some(id);
                let text = format!("the answer broke off ({error}); asking again");
                handle.emit(SessionEvent::Noticed { text });
                tokio::time::sleep(BEFORE_AGAIN).await;
            }
            Outcome::Reply(reply) => return (Some(id), reply),
            Outcome::Result(_) | Outcome::Refused(..) | Outcome::Embedded(_) => break,
        }
    }
    let text = "the model call ended as no model call does";
    (None, Err(ModelError::new(ModelErrorKind::BadAnswer, text)))
}

/// Whether a stream failed after some of its text had come, in a way that another try may mend.
fn broke_off(error: &ModelError) -> bool {
    let passing = match error.kind {
        ModelErrorKind::Connection
        | ModelErrorKind::Timeout
        | ModelErrorKind::RateLimited
        | ModelErrorKind::Endpoint
        | ModelErrorKind::BadAnswer => true,
        ModelErrorKind::Auth
        | ModelErrorKind::ContextOverflow
        | ModelErrorKind::Refused
        | ModelErrorKind::OverBudget
        | ModelErrorKind::Cancelled => false,
    };
    passing && !error.partial.is_empty()
}

/// The model that plays this role now.
fn bound(session: &Session, role: Role) -> Option<Rc<dyn Model>> {
    let model = &session.state.models.roles.get(&role)?.model;
    session.models.get(model).cloned()
}

/// The request in the form in which this model takes tools: what is journaled is what it sees.
fn as_seen(model: &ModelSpec, meant: &Arc<Request>) -> Arc<Request> {
    match model.mode {
        ToolMode::Native => Arc::clone(meant),
        ToolMode::Text => Arc::new(text::to_text(meant)),
    }
}
