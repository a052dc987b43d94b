//! Tasks that an embedding model reads before they are planned: what it is asked and paid, and that a
//! session goes on without it.

use std::rc::Rc;

use serde_json::{Value, json};
use toolyard::domain::{
    Embedding, EmbeddingEvent, Event, Knob, ModelErrorKind, Outcome, Rates, Record, State,
};
use toolyard::engine::{Beginning, Memory};
use toolyard::model::{Model, hosted::Hosted, http::Endpoint, secret::KeySource};
use toolyard::store::experience::{Experience, Same, Use};

use super::yard::{Trial, Yard};
use crate::fake_endpoint::{Fake, Script, json as answer};

/// A key that must not be seen anywhere.
const KEY: &str = "hunter22-is-the-key";

fn read(vector: &[f32]) -> Script {
    let usage = json!({ "prompt_tokens": 1000, "total_tokens": 1000 });
    let body = json!({ "data": [{ "embedding": vector }], "usage": usage });
    answer("200 OK", &body.to_string())
}

/// `echo` helped with a task in other words that means the same, `other` in vain with one that does not.
fn store() -> Experience {
    let past = |query: &str, tool: &str, helpful| Use {
        query: query.to_owned(),
        tool: tool.into(),
        parameters: Value::Null,
        result: "hello".into(),
        helpful,
        at: jiff::Timestamp::UNIX_EPOCH,
        source: "test".into(),
    };
    let mut store = Experience::private().unwrap();
    let uses = [past("Greet us!", "echo", true), past("Euros in dollars?", "echo", false)];
    store.add_all(&uses).unwrap();
    let near = Embedding::new("small", &[1.0, 0.0]).unwrap();
    let far = Embedding::new("small", &[0.0, 1.0]).unwrap();
    store.keep_embeddings(&[("Greet us!", near), ("Euros in dollars?", far)]).unwrap();
    store
}

fn plan(fake: &Fake, price_in: Option<f64>, budget: f64) -> Trial {
    let mut endpoint = Endpoint::new("embeddings", &fake.url, "small");
    endpoint.key = KeySource::Command(vec!["echo".into(), KEY.into()]);
    endpoint.max_retries = 0;
    endpoint.price_in = price_in;
    let embedder: Rc<dyn Model> = Rc::new(Hosted::embedding(endpoint).unwrap());
    Trial {
        replies: vec![],
        strategy: "react+btp",
        names: &["echo", "other"],
        tasks: 2,
        knobs: vec![(Knob::Budget, budget)],
        memory: Some(Memory {
            is_kept: true,
            store: store().into(),
            same: Same::LeftOut,
            embedder: Some(embedder),
        }),
        ..Trial::default()
    }
}

async fn run(plan: Trial) -> (State, Vec<Event>, String) {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            // Without its commands it would end.
            let Yard { session, records, commands: _commands, .. } = plan.start();
            let state = session.await.unwrap();
            let records = records.borrow();
            let journal = records.iter().map(|record| serde_json::to_string(&**record).unwrap());
            let journal: Vec<String> = journal.collect();
            let again = State::fold(&records.iter().map(|r| (**r).clone()).collect::<Vec<_>>());
            assert_eq!(again, state, "a replay needs no endpoint");
            (state, records.iter().map(|record| record.event.clone()).collect(), journal.concat())
        })
        .await
}

/// Expected value of one use of `echo`, as first planned.
fn value(state: &State, task: usize) -> f64 {
    let plan = state.tasks[task].budget.first.clone().unwrap();
    f64::from(plan.tool("echo").unwrap().value)
}

#[tokio::test]
async fn a_task_is_read_once_paid_for_and_compared_by_meaning() {
    let fake = Fake::start(vec![read(&[3.0, 0.0])]).await;
    let (state, events, journal) = run(plan(&fake, Some(1.0), 1_000.0)).await;
    assert_eq!(fake.bodies(), [json!({ "model": "small", "input": ["Say hello."] })]);
    // e^0 for what means the same, e^-1 for what means something else, and one use of 0.1.
    let expected = (1.0 + 0.1) / (1.0 + (-1.0_f64).exp() + 1.0);
    for task in 0..2 {
        assert!((value(&state, task) - expected).abs() < 1e-9, "{}", value(&state, task));
    }
    let asks = state.tasks[0].model_calls.len() as f64;
    let models = state.tasks[0].budget.spent.models;
    assert!((models - asks * 200.0 - 0.1).abs() < 1e-9, "{models} for {asks} asks");
    assert_eq!(state.tasks[0].tokens_in % 1_000_000, 1_000);
    let read = events.iter().find_map(|event| match event {
        Event::Embedding(EmbeddingEvent::EmbeddingFinished { dollars, vector, .. }) => {
            Some((*dollars, vector.clone()))
        }
        _ => None,
    });
    assert_eq!(read, Some((Some(0.001.into()), vec![127, 0])));
    assert!(!journal.contains(KEY));
}

#[tokio::test]
async fn what_nobody_knows_the_price_of_counts_as_any_request() {
    let fake = Fake::start(vec![read(&[1.0, 0.0])]).await;
    let rates = Rates { unknown_ask: 3.0.into(), ..Rates::default() };
    let (state, _, _) = run(Trial { rates, ..plan(&fake, None, 1_000.0) }).await;
    assert_eq!(state.tasks[0].budget.spent.models.rem_euclid(200.0), 3.0);
    assert_eq!((state.tasks[0].unpriced, state.tasks[1].unpriced), (1, 0));
}

#[tokio::test]
async fn an_endpoint_that_fails_is_told_of_and_words_are_compared() {
    let refused = format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}");
    let scripts = vec![answer("403 Forbidden", &refused), answer("200 OK", "nonsense")];
    let fake = Fake::start(scripts).await;
    let (state, events, journal) = run(plan(&fake, Some(1.0), 1_000.0)).await;
    let expected = (0.1 + (-1.0_f64).exp()) / (2.0 * (-1.0_f64).exp() + 1.0);
    for task in 0..2 {
        assert!((value(&state, task) - expected).abs() < 1e-9, "{}", value(&state, task));
        assert_eq!(state.tasks[task].outcome(), Some(Outcome::Answered));
    }
    let failed = events
        .iter()
        .filter(|event| matches!(event, Event::Embedding(EmbeddingEvent::EmbeddingFailed { .. })));
    assert_eq!(failed.count(), 2);
    let told = format!("{:?}", state.transcript);
    assert!(told.contains("403") && told.contains("is not JSON"), "{told}");
    assert!(!journal.contains(KEY) && !told.contains(KEY), "{told}");
}

/// The endpoint is not asked again, though it would answer now.
#[tokio::test]
async fn a_recorded_failure_of_an_embedding_stays_one() {
    let fake =
        Fake::start(vec![answer("403 Forbidden", "{}"), answer("403 Forbidden", "{}")]).await;
    let (_, events, _) = run(plan(&fake, Some(1.0), 1_000.0)).await;
    let failed =
        |events: &[Event]| events.iter().filter(|event| event.kind() == "EmbeddingFailed").count();
    assert_eq!(failed(&events), 2);
    let recorded: Vec<_> = (1..).zip(events).map(|(n, event)| Record::new(n, 0, event)).collect();
    let fake = Fake::start(vec![read(&[1.0, 0.0]), read(&[1.0, 0.0])]).await;
    let (_, events, _) = run(Trial {
        beginning: Beginning::Over { of: recorded.into(), until: None },
        ..plan(&fake, Some(1.0), 1_000.0)
    })
    .await;
    assert_eq!((failed(&events), fake.bodies().len()), (2, 0));
}

#[tokio::test]
async fn where_the_model_makes_no_embeddings_words_are_compared() {
    let fake = Fake::start(vec![]).await;
    let chat: Rc<dyn Model> =
        Rc::new(Hosted::new(Endpoint::new("chat", &fake.url, "small")).unwrap());
    let memory =
        Memory { store: store().into(), is_kept: true, same: Same::LeftOut, embedder: Some(chat) };
    let (state, events, _) =
        run(Trial { memory: Some(memory), ..plan(&fake, None, 1_000.0) }).await;
    assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
    assert!(!events.iter().any(|event| event.kind().starts_with("Embedding")));
    assert!(fake.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_budget_that_does_not_pay_for_it_is_not_spent_on_it() {
    let fake = Fake::start(vec![read(&[1.0, 0.0])]).await;
    let (state, events, _) = run(plan(&fake, None, 1.1)).await;
    assert!(fake.seen.lock().unwrap().is_empty());
    assert!(!events.iter().any(|event| event.kind() == "EmbeddingStarted"));
    let told = format!("{:?}", state.transcript);
    assert!(told.contains("calling the embedding model costs about 1.00 credits"), "{told}");
}

#[tokio::test]
async fn a_fault_on_the_embedding_is_marked_and_words_are_compared() {
    let fake = Fake::start(vec![]).await;
    let faults = vec!["embedding:rate-limit"];
    let (state, events, _) = run(Trial { faults, ..plan(&fake, None, 1_000.0) }).await;
    assert!(fake.seen.lock().unwrap().is_empty(), "nothing is sent");
    assert_eq!(state.embeddings.len(), 2);
    for embedding in &state.embeddings {
        assert_eq!(embedding.injected, Some(toolyard::domain::id::FaultId(1)));
        assert_eq!(embedding.error.as_ref().unwrap().kind, ModelErrorKind::RateLimited);
    }
    assert!(events.iter().any(|event| event.kind() == "FaultFired"));
    assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
}

/// A limit of real money of one dollar, which the reading of one task costs.
#[tokio::test]
async fn what_an_embedding_cost_counts_for_the_limit_of_dollars() {
    let asked =
        |events: &[Event]| events.iter().filter(|event| event.kind() == "ModelCallStarted").count();
    let limited = |fake: &Fake, dollars| Trial {
        max_dollars: Some(dollars),
        tasks: 1,
        ..plan(fake, Some(1_000.0), 1e6)
    };
    let fake = Fake::start(vec![read(&[3.0, 0.0])]).await;
    let (_, events, _) = run(limited(&fake, 1.0)).await;
    assert_eq!((fake.bodies().len(), asked(&events)), (1, 0), "nothing is left for a model");
    // What is answered from a record costs nothing.
    let read_it = events.iter().position(|event| event.kind() == "EmbeddingFinished").unwrap();
    let events = (1..).zip(events).take(read_it + 1);
    let recorded: Vec<_> = events.map(|(n, event)| Record::new(n, 0, event)).collect();
    let fake = Fake::start(vec![]).await;
    let (_, events, _) = run(Trial {
        beginning: Beginning::Over { of: recorded.into(), until: None },
        ..limited(&fake, 1.0)
    })
    .await;
    assert_eq!((fake.bodies().len(), asked(&events)), (0, 1));
    let fake = Fake::start(vec![read(&[3.0, 0.0])]).await;
    let (_, events, _) = run(limited(&fake, 0.001)).await;
    assert_eq!((fake.bodies().len(), asked(&events)), (0, 0), "it would cost more");
}
