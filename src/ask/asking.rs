//! Sends the calls: a given number to each model, a few at once, within a limit of dollars.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::{pin::pin, time::Instant};

use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt};

use crate::candidate::Candidate;
use crate::domain::{ModelError, ModelErrorKind, Reply};
use crate::model::ModelProgress;
use crate::tally::AskedReply;

/// How often, and how much at once.
#[derive(Clone, Copy, Debug)]
pub struct AskPlan {
    /// Calls of each model.
    pub times: u32,
    /// Most calls under way.
    pub at_once: usize,
    /// Most dollars that all calls may cost.
    pub max_dollars: f64,
}

/// The outcome of all calls.
#[derive(Debug, Default)]
pub struct AskOutcome {
    /// The replies in the order in which they came; a call that never began is not among them.
    pub replies: Vec<AskedReply>,
    /// Notices of clients beside the replies, and the reasons why calls did not begin.
    pub notices: BTreeSet<String>,
    /// The signal that ended it early.
    pub signal: Option<i32>,
}

/// A call under way.
struct Flight {
    since: Instant,
    /// The probable cost, if it is known.
    cost: Option<f64>,
    /// The text that has arrived.
    partial: String,
}

/// Asks each model this often, and gives each reply to `came`. Where `stop` ends first, the calls under way are cut off and
/// no other begins.
pub async fn ask(
    candidates: &[Candidate],
    plan: AskPlan,
    stop: impl Future<Output = i32>,
    came: &mut dyn FnMut(&AskedReply),
) -> AskOutcome {
    // All models are asked once before any is asked again.
    let turns = (1..=plan.times).flat_map(|time| (0..candidates.len()).map(move |at| (time, at)));
    let mut turns = turns.peekable();
    let (flights, notices) = (RefCell::new(BTreeMap::new()), RefCell::new(BTreeSet::new()));
    let mut asked = AskOutcome::default();
    let (mut calls, mut stop) = (FuturesUnordered::new(), pin!(stop));
    let call = async |(time, at): (u32, usize)| {
        let candidate = &candidates[at];
        let mut progress = |news| match news {
            ModelProgress::Text(text) => {
                let flight = |flight: &mut Flight| flight.partial.push_str(&text);
                flights.borrow_mut().entry((time, at)).and_modify(flight);
            }
            ModelProgress::Noticed(text) => {
                notices.borrow_mut().insert(format!("{}: {text}", candidate.name()));
            }
            _ => {}
        };
        let outcome = candidate.model.ask(&candidate.request, &mut progress).await;
        (time, at, outcome)
    };
    loop {
        while calls.len() < plan.at_once.max(1)
            && let Some(turn) = turns.peek().copied()
        {
            let candidate = &candidates[turn.1];
            let cost = candidate.dearest(&asked.replies);
            let pending = flights.borrow().values().filter_map(|it: &Flight| it.cost).sum::<f64>();
            let spent =
                asked.replies.iter().filter_map(|it| it.dollars).map(f64::from).sum::<f64>();
            match allowed(plan.max_dollars, spent + pending, cost) {
                Ok(()) => {
                    let (since, partial) = (Instant::now(), String::new());
                    flights.borrow_mut().insert(turn, Flight { since, cost, partial });
                    calls.push(call(turn));
                }
                // What they really cost may leave enough.
                Err(_) if !calls.is_empty() => break,
                Err(why) => {
                    notices.borrow_mut().insert(format!("{}: {why}", candidate.name()));
                }
            }
            turns.next();
        }
        let Some(next) = (!calls.is_empty()).then(|| calls.next()) else { break };
        let ended: Vec<(u32, usize, Result<Reply, ModelError>)> =
            match select(next, &mut stop).await {
                Either::Left((ended, _)) => ended.into_iter().collect(),
                Either::Right((signal, _)) => {
                    asked.signal = Some(signal);
                    let text = "cut off before its end; its endpoint may charge it";
                    let error = |flight: &Flight| ModelError {
                        partial: flight.partial.clone(),
                        ..ModelError::new(ModelErrorKind::Cancelled, text)
                    };
                    flights
                        .borrow()
                        .iter()
                        .map(|((time, at), it)| (*time, *at, Err(error(it))))
                        .collect()
                }
            };
        for (time, at, outcome) in ended {
            let flight = flights.borrow_mut().remove(&(time, at));
            let ms = flight.map_or(0, |flight| flight.since.elapsed().as_millis());
            let reply = candidates[at].asked(time, u64::try_from(ms).unwrap_or(u64::MAX), outcome);
            came(&reply);
            asked.replies.push(reply);
        }
        if asked.signal.is_some() {
            break;
        }
    }
    drop(calls);
    AskOutcome { notices: notices.into_inner(), ..asked }
}

/// Whether a limit of dollars, of which so much is spent or under way, allows a call. One of unknown price begins until the
/// limit is spent.
fn allowed(limit: f64, used: f64, cost: Option<f64>) -> Result<(), String> {
    if cost.map_or(used < limit, |cost| cost == 0.0 || used + cost <= limit) {
        return Ok(());
    }
    let next = cost.map_or("of unknown price".to_owned(), |cost| format!("of about {cost:.4}"));
    Err(format!(
        "the limit of dollars is reached: {used:.4} of {limit:.4} are spent, and the next call is {next}; --max-dollars \
         sets the limit"
    ))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;
    use std::sync::Arc;

    use futures::future::{self, FutureExt, LocalBoxFuture};
    use tokio::time::{Duration, sleep};

    use super::*;
    use crate::domain::{EffectId, Message, ModelSpec, Reply, Request, Role, Usage};
    use crate::model::Model;
    use crate::recorded_call::RecordedCall;

    /// A model that answers after its time, and fails each third call.
    struct Slow {
        spec: Arc<ModelSpec>,
        millis: u64,
        asked: Cell<u64>,
        running: Rc<Cell<[u64; 2]>>,
    }

    impl Model for Slow {
        fn spec(&self) -> &Arc<ModelSpec> {
            &self.spec
        }

        fn ask<'a>(
            &'a self,
            _request: &'a Request,
            progress: &'a mut dyn FnMut(ModelProgress),
        ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
            async move {
                let asked = self.asked.get() + 1;
                self.asked.set(asked);
                let [now, most] = self.running.get();
                self.running.set([now + 1, most.max(now + 1)]);
                progress(ModelProgress::Text("It is ".to_owned()));
                sleep(Duration::from_millis(self.millis)).await;
                let [now, most] = self.running.get();
                self.running.set([now - 1, most]);
                match asked % 3 {
                    0 => Err(ModelError::new(ModelErrorKind::Endpoint, "HTTP 500")),
                    _ => {
                        let usage = Usage { tokens_in: 1000, tokens_out: 100, ..Usage::default() };
                        Ok(Reply { usage, ..Reply::of_text("It is sunny.") })
                    }
                }
            }
            .boxed_local()
        }
    }

    fn candidates(millis: &[u64], price: Option<f64>) -> (Vec<Candidate>, Rc<Cell<[u64; 2]>>) {
        let running = Rc::new(Cell::new([0; 2]));
        let request = Request::new(Role::Actor, vec![Message::user("How is the weather?")]);
        let call = RecordedCall::sought(EffectId(1));
        let candidate = |(at, millis): (usize, &u64)| {
            let mut spec = ModelSpec::new(format!("m{at}"), format!("m{at} at host"));
            (spec.price_in, spec.price_out) = (price.map(Into::into), price.map(Into::into));
            let (asked, running) = (Cell::new(0), Rc::clone(&running));
            let model = Slow { spec: Arc::new(spec), millis: *millis, asked, running };
            Candidate::new(Rc::new(model), &call, &request)
        };
        (millis.iter().enumerate().map(candidate).collect(), running)
    }

    fn plan(times: u32, max_dollars: f64) -> AskPlan {
        AskPlan { times, at_once: 3, max_dollars }
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(future)
    }

    #[test]
    fn each_model_is_asked_as_often_and_no_more_at_once_than_told() {
        let (candidates, running) = candidates(&[30, 5], Some(1.0));
        let mut came = Vec::new();
        let mut note = |reply: &AskedReply| came.push((reply.model.clone(), reply.time));
        let asked = run(ask(&candidates, plan(6, 5.0), future::pending(), &mut note));
        assert_eq!(running.get(), [0, 3]);
        let places: BTreeSet<_> = came.iter().cloned().collect();
        assert_eq!((came.len(), places.len(), asked.replies.len()), (12, 12, 12));
        assert_ne!(came, places.into_iter().collect::<Vec<_>>(), "they come as they are ready");
        let failed = asked.replies.iter().filter(|reply| reply.error.is_some()).count();
        assert_eq!((failed, asked.signal, asked.notices.len()), (4, None, 0));
    }

    #[test]
    fn a_stop_keeps_what_has_come_and_prices_what_was_cut() {
        let (candidates, _) = candidates(&[10, 500], Some(1.0));
        let asked = run(async {
            let stop = sleep(Duration::from_millis(105)).map(|()| 2);
            ask(&candidates, plan(1000, 5.0), stop, &mut |_| {}).await
        });
        assert_eq!(asked.signal, Some(2));
        let cut: Vec<_> = asked
            .replies
            .iter()
            .filter(|it| it.error.as_ref().is_some_and(|e| e.kind == ModelErrorKind::Cancelled))
            .collect();
        assert_eq!(cut.len(), 3);
        assert!(cut.iter().all(|it| it.dollars.is_some_and(|dollars| *dollars > 0.0)), "{cut:?}");
        assert!(asked.replies.len() > 3, "{asked:?}");
    }

    #[test]
    fn the_limit_is_for_what_is_spent_and_under_way() {
        assert_eq!(allowed(1.0, 0.6, Some(0.4)), Ok(()), "the limit may be spent");
        let why = allowed(1.0, 0.6, Some(0.5)).unwrap_err();
        assert!(why.contains("0.6000 of 1.0000") && why.contains("about 0.5000"), "{why}");
        assert_eq!(allowed(0.0, 0.0, Some(0.0)), Ok(()), "what is free always starts");
        assert_eq!((allowed(0.1, 0.0, None), allowed(0.0, 0.0, None).is_err()), (Ok(()), true));
    }

    #[test]
    fn the_limit_of_dollars_ends_calls_but_not_the_others() {
        // A reply costs 0.0011, and half of it is assumed before the first.
        let (candidates, running) = candidates(&[10], Some(1.0));
        let asked = run(ask(&candidates, plan(50, 0.006), future::pending(), &mut |_| {}));
        let paid: f64 = asked.replies.iter().filter_map(|it| it.dollars).map(f64::from).sum();
        assert!(paid <= 0.006 && asked.replies.len() > 2 && running.get()[0] == 0, "{asked:?}");
        let told: Vec<_> = asked.notices.iter().collect();
        assert!(told.len() == 1 && told[0].starts_with("m0: the limit of dollars"), "{told:?}");
    }
}
