//! One model request, through its stations.

use std::{rc::Rc, sync::Arc, time::Duration};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::core::{Core, Effect, Shared};
use crate::{
    domain::{
        chat::{Reply, Request, Role, Usage},
        error::{ModelError, ModelErrorKind},
        event::{Billed, Boundary, Event, Lane},
        id::{EffectId, TaskId},
        spec::{ModelSpec, ToolMode},
        tokens,
    },
    model::{Model, Progress, text},
};

/// Streamed text is an event at most this often: a screen needs no more, and a journal wants less.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// A stream that broke after it had given text is asked again at most so often.
const ASKED_AGAIN: u32 = 2;

/// How long to wait before that, so that the endpoint notices that the first stream is gone.
const BEFORE_ASKING_AGAIN: Duration = Duration::from_millis(500);

/// Asks. A stream that broke after it had given text is asked again as a new ask that everybody
/// sees: the client never starts such a stream again by itself, since the text was already shown.
pub(super) async fn ask(
    shared: &Shared,
    task: TaskId,
    role: Role,
    request: Request,
) -> Result<Arc<Reply>, ModelError> {
    let meant = Arc::new(request);
    let mut again = 0;
    loop {
        match ask_once(shared, task, role, &meant).await {
            Err(error) if again < ASKED_AGAIN && broke_off(&error) => {
                again += 1;
                let text = format!("the answer broke off ({error}); asking again");
                shared.emit(Event::Noticed { text });
                tokio::time::sleep(BEFORE_ASKING_AGAIN).await;
            }
            outcome => return outcome,
        }
    }
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

async fn ask_once(
    shared: &Shared,
    task: TaskId,
    role: Role,
    meant: &Arc<Request>,
) -> Result<Arc<Reply>, ModelError> {
    let Some(model) = shared.read(|core| bound(core, role)) else {
        let text = format!("no model is bound to the role {role}");
        // There is no ask that could fail for all to see.
        shared.emit(Event::Noticed { text: text.clone() });
        return Err(ModelError::new(ModelErrorKind::Refused, text));
    };
    let bounded = shared.read(|core| core.bounded(role, model.spec(), meant));
    let request = as_seen(model.spec(), &bounded);
    let cancel = CancellationToken::new();
    let ask = shared.write(|core| {
        let ask = core.next_ask();
        core.cancels.insert(Effect::Ask(ask), cancel.clone());
        let (model, request) = (model.spec().name.clone(), Arc::clone(&request));
        core.emit(Event::ModelCallRequested { ask, task, role, model, request });
        ask
    });
    let held_and_asked = async {
        shared.pass(Lane::Agent, Boundary::BeforeModelCall).await;
        if let Err(why) = shared.read(|core| core.affords_ask(role)) {
            return Err(ModelError::new(ModelErrorKind::OverBudget, why));
        }
        shared.emit(Event::ModelCallStarted { ask });
        shared.stays_sound().await;
        let limit = shared.read(|core| core.ask_time(role, model.spec(), &request));
        shared.within_budget(limit, stream(shared, ask, &*model, &request)).await
    };
    let outcome = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            Err(ModelError::new(ModelErrorKind::Cancelled, "cancelled by the user"))
        }
        outcome = held_and_asked => outcome,
    };
    let outcome = outcome.map(|reply| Arc::new(understood(model.spec(), meant, reply)));
    shared.write(|core| {
        core.cancels.remove(&Effect::Ask(ask));
        core.let_go(Lane::Agent);
        core.emit(match &outcome {
            Ok(reply) => {
                let dollars = dollars(model.spec(), reply.usage);
                Event::ModelCallFinished { ask, reply: Arc::clone(reply), dollars }
            }
            Err(error) => failed(core, ask, error.clone()),
        });
        core.check_plan();
    });
    shared.pass(Lane::Agent, Boundary::AfterModelCall).await;
    outcome
}

/// The model that plays this role now.
fn bound(core: &Core, role: Role) -> Option<Rc<dyn Model>> {
    let model = &core.state.models.roles.get(&role)?.model;
    core.models.get(model).cloned()
}

/// The request in the form in which this model takes tools: what is journaled is what it sees.
fn as_seen(model: &ModelSpec, meant: &Arc<Request>) -> Arc<Request> {
    match model.mode {
        ToolMode::Native => Arc::clone(meant),
        ToolMode::Text => Arc::new(text::to_text(meant)),
    }
}

/// The reply, read with the menu in mind that a text request no longer has.
fn understood(model: &ModelSpec, request: &Request, reply: Reply) -> Reply {
    match model.mode {
        ToolMode::Native => reply,
        ToolMode::Text => text::from_text(request, reply),
    }
}

/// That an ask failed. Where some of its answer had come, it was most likely billed: nobody says how
/// much, so that is counted here.
pub(super) fn failed(core: &Core, ask: EffectId, error: ModelError) -> Event {
    let billed = core.state.ask(ask).and_then(|ask| {
        let told =
            if ask.partial.len() > error.partial.len() { &ask.partial } else { &error.partial };
        let model = &core.state.models.known.get(&ask.model)?.spec;
        (!told.is_empty()).then(|| {
            let tokens_in = tokens::count_request(&ask.request);
            let tokens_out = tokens::count(told);
            let usage = Usage { tokens_in, tokens_out, estimated: true, ..Usage::default() };
            Billed { usage, dollars: dollars(model, usage) }
        })
    });
    Event::ModelCallFailed { ask, error, billed }
}

/// What a request cost in US dollars: as the endpoint says, else by price; `None` where unknown. Cached
/// tokens without a price of their own are paid in full, which is never too little.
pub(super) fn dollars(model: &ModelSpec, usage: Usage) -> Option<f64> {
    usage.dollars.or_else(|| {
        let (price_in, price_out) = (model.price_in?, model.price_out?);
        let cached = usage.cached.min(usage.tokens_in);
        let new = (usage.tokens_in - cached) as f64;
        let paid_in = new * price_in + cached as f64 * model.price_cached.unwrap_or(price_in);
        Some((paid_in + usage.tokens_out as f64 * price_out) / 1e6)
    })
}

/// Asks, and turns what streams in into events.
async fn stream(
    shared: &Shared,
    ask: EffectId,
    model: &dyn Model,
    request: &Request,
) -> Result<Reply, ModelError> {
    let mut piece = Piece::default();
    let mut report = |progress: Progress| {
        match progress {
            Progress::Text(text) => piece.text.push_str(&text),
            Progress::Reasoning(text) => piece.reasoning.push_str(&text),
            Progress::Retrying { attempt, wait, why } => {
                piece.tell(shared, ask);
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                shared.emit(Event::ModelCallRetried { ask, attempt, wait_ms, why });
            }
        }
        if piece.since.is_none_or(|since| since.elapsed() >= PROGRESS_EVERY) {
            piece.tell(shared, ask);
        }
    };
    model.ask(request, &mut report).await
}

/// What streamed in and was not told yet.
#[derive(Default)]
struct Piece {
    text: String,
    reasoning: String,
    since: Option<Instant>,
}

impl Piece {
    fn tell(&mut self, shared: &Shared, ask: EffectId) {
        self.since = Some(Instant::now());
        let text = std::mem::take(&mut self.text);
        let reasoning = std::mem::take(&mut self.reasoning);
        if !(text.is_empty() && reasoning.is_empty()) {
            shared.emit(Event::ModelCallProgressed { ask, text, reasoning });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(price_cached: Option<f64>) -> ModelSpec {
        ModelSpec {
            name: "m".into(),
            source: String::new(),
            simulated: false,
            mode: ToolMode::Native,
            structured: false,
            price_in: Some(2.0),
            price_out: Some(8.0),
            price_cached,
            price_from: None,
            context: None,
        }
    }

    #[test]
    fn cached_tokens_are_paid_at_their_own_price_or_in_full() {
        let usage = Usage { tokens_in: 3000, tokens_out: 500, cached: 1000, ..Usage::default() };
        assert_eq!(dollars(&model(Some(0.5)), usage), Some(0.0085));
        assert_eq!(dollars(&model(None), usage), Some(0.01));
        // No endpoint should say so, but one might.
        let usage = Usage { cached: 9000, ..usage };
        assert_eq!(dollars(&model(Some(0.5)), usage), Some(0.0055));
    }

    #[test]
    fn an_ask_is_unpriced_unless_both_prices_are_known_or_the_endpoint_says_what_it_charged() {
        let usage = Usage { tokens_in: 3000, tokens_out: 0, ..Usage::default() };
        for unpriced in [
            ModelSpec { price_in: None, ..model(Some(0.5)) },
            ModelSpec { price_out: None, ..model(Some(0.5)) },
        ] {
            assert_eq!(dollars(&unpriced, usage), None);
            let charged = Usage { dollars: Some(0.25), ..usage };
            assert_eq!(dollars(&unpriced, charged), Some(0.25));
        }
    }
}
