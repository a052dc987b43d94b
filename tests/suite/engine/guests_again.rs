//! Watched agents that run again over the record of a session: the record answers what they asked then.

use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot::error::TryRecvError;
use tokio::time::{Instant, sleep};
use toolyard::domain::state::ProblemKind;
use toolyard::domain::{
    Command, Event, ModelErrorKind, Origin, Record, Reply, RunEvent, ToolCallEvent,
};
use toolyard::engine::{Again, Varies};
use toolyard::model::relay::{
    self, Arrival, Caller, Heard, ListenerNews, RequestListenerEnd, Sending,
};
use toolyard::wire::WireFormat;

use super::guests::{Agent, Watch, answer, calling, pass, sent, watch, watch_again};
use super::yard::{Trial, on_paused_time};

const QUESTION: &str = "How is the weather in Oslo?";
const ANSWER: &str = "Rain in Oslo.";

fn call() -> Reply {
    calling(&[("a", "weather", json!({"at": "Oslo"}))])
}

/// The record of one question, whose answer took three seconds, and a further one.
async fn recorded(trial: Trial) -> Vec<Record> {
    let watch = watch(trial);
    let mut agent = Agent::asking(QUESTION);
    answer(agent.send(&watch), &call()).await;
    agent.go_on(&call(), &["rain at 11:02"]);
    let mut line = agent.send(&watch);
    sent(&mut line).await;
    line.heard.send(Heard::Sent((&body(&agent)).into())).unwrap();
    sleep(Duration::from_secs(3)).await;
    pass(line, &Reply::of_text(ANSWER)).await;
    agent.go_on(&Reply::of_text(ANSWER), &[]);
    agent.messages.push(json!({"role": "user", "content": "Thanks."}));
    answer(agent.send(&watch), &Reply::of_text("Bye.")).await;
    watch.yard.until("both tasks have ended", |state| state.tasks_done == 2).await;
    records(&watch)
}

pub fn records(watch: &Watch) -> Vec<Record> {
    watch.yard.records.borrow().iter().map(|record| (**record).clone()).collect()
}

fn body(agent: &Agent) -> serde_json::Value {
    serde_json::from_str(&agent.body()).unwrap()
}

pub fn again(records: &[Record]) -> Again {
    Again {
        records: vec![records.to_vec()],
        names: Vec::new(),
        varies: Varies::default(),
        is_strict: false,
        keeps_results: false,
        keeps_time: false,
        fork: None,
    }
}

/// The text of an answer that nobody was asked for, or why there is none.
pub async fn known(line: RequestListenerEnd) -> Result<String, ModelErrorKind> {
    match line.sending.await.unwrap() {
        Sending::Instead(said) | Sending::Recorded { said, .. } => {
            said.map(|reply| reply.text.clone()).map_err(|it| it.kind)
        }
        other => panic!("{other:?}"),
    }
}

/// The first question, with this result of its call.
async fn first(watch: &Watch, result: &str) -> Agent {
    let mut agent = Agent::asking(QUESTION);
    assert_eq!(known(agent.send(watch)).await.as_deref(), Ok(""));
    agent.go_on(&call(), &[result]);
    agent
}

/// Where the conversation left the record.
fn parting(watch: &Watch) -> Option<(String, String, String, bool)> {
    let records = watch.yard.records.borrow();
    let mut all = records.iter().filter_map(|record| match &record.event {
        Event::Run(RunEvent::RunParted { field, asked, recorded, refused, nearest, .. }) => {
            let nearest = nearest.is_some();
            assert!(nearest, "{field}");
            Some((field.clone(), asked.clone(), recorded.clone(), *refused))
        }
        _ => None,
    });
    let found = all.next();
    assert!(all.next().is_none(), "it leaves once");
    found
}

#[test]
fn the_same_agent_is_answered_from_the_record_and_pays_nothing() {
    on_paused_time(async {
        let records = recorded(Trial::default()).await;
        let watch = watch_again(Trial::default(), Some(again(&records)));
        let began = Instant::now();
        let mut agent = first(&watch, "rain at 11:02").await;
        assert_eq!(known(agent.send(&watch)).await.as_deref(), Ok(ANSWER));
        assert!(began.elapsed() < Duration::from_secs(1), "at once");
        agent.go_on(&Reply::of_text(ANSWER), &[]);
        agent.messages.push(json!({"role": "user", "content": "Thanks."}));
        assert_eq!(known(agent.send(&watch)).await.as_deref(), Ok("Bye."));
        watch.yard.until("both tasks have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        assert!(state.model_calls.iter().all(|call| call.origin == Origin::Recorded));
        assert_eq!(state.dollars_spent(), 0.0);
        assert_eq!(state.tool_calls.get(0).unwrap().origin, Origin::Live, "its tools run again");
        assert_eq!(parting(&watch), None);
    });
}

#[test]
fn another_result_goes_live_or_is_refused() {
    on_paused_time(async {
        let records = recorded(Trial::default()).await;
        for is_strict in [false, true] {
            let over = Again { is_strict, ..again(&records) };
            let watch = watch_again(Trial::default(), Some(over));
            let mut agent = first(&watch, "rain at 11:05").await;
            let found = parting(&watch);
            assert_eq!(found, None);
            if is_strict {
                let refused = Err(ModelErrorKind::Refused);
                assert_eq!(known(agent.send(&watch)).await, refused);
                assert_eq!(known(agent.send(&watch)).await, refused, "and all that follows");
            } else {
                let mut line = agent.send(&watch);
                assert_eq!(sent(&mut line).await, agent.body());
                pass(line, &Reply::of_text("Still rain.")).await;
                agent.go_on(&Reply::of_text("Still rain."), &[]);
                agent.messages.push(json!({"role": "user", "content": "Thanks."}));
                answer(agent.send(&watch), &Reply::of_text("Bye.")).await;
            }
            let at = "messages[3].content".to_owned();
            let texts = ("rain at 11:05".to_owned(), "rain at 11:02".to_owned());
            assert_eq!(parting(&watch), Some((at.clone(), texts.0, texts.1, is_strict)));
            // It stays in sight among the problems.
            let state = watch.yard.state.borrow();
            let mut problems = state.problems.kept().iter();
            let problem = problems.find(|it| it.kind == ProblemKind::Parted).unwrap();
            assert_eq!(*problem.about, *at);
            assert_eq!(*problem.said, *"rain at 11:05 instead of rain at 11:02");
        }
    });
}

/// A question whose answer has two calls with these ids, and the results in this order.
async fn parallel(watch: &Watch, ids: [&str; 2], swaps: bool, is_live: bool) -> Agent {
    let calls =
        calling(&[(ids[0], "weather", json!({"at": 1})), (ids[1], "weather", json!({"at": 2}))]);
    let mut agent = Agent::asking(QUESTION);
    let line = agent.send(watch);
    match is_live {
        true => answer(line, &calls).await,
        false => assert_eq!(known(line).await.as_deref(), Ok("")),
    }
    agent.go_on(&calls, &["rain", "sun"]);
    let last = agent.messages.len() - 1;
    if swaps {
        agent.messages.swap(last, last - 1);
    }
    agent
}

#[test]
fn the_results_of_one_answer_may_come_in_another_order() {
    on_paused_time(async {
        // Of calls with one id, only the order tells the results apart.
        for (ids, is_same) in [(["a", "b"], true), (["a", "a"], false)] {
            let then = watch(Trial::default());
            let agent = parallel(&then, ids, false, true).await;
            answer(agent.send(&then), &Reply::of_text(ANSWER)).await;
            then.yard.until("the task has ended", |state| state.tasks_done == 1).await;
            for swaps in [false, true] {
                let over = Again { is_strict: true, ..again(&records(&then)) };
                let watch = watch_again(Trial::default(), Some(over));
                let agent = parallel(&watch, ids, swaps, false).await;
                let said = known(agent.send(&watch)).await;
                assert_eq!(said.is_ok(), is_same || !swaps, "{ids:?} {swaps}");
                assert_eq!(parting(&watch).is_none(), said.is_ok());
            }
        }
    });
}

#[test]
fn the_recorded_result_is_read_where_that_is_wanted_and_stays_so_when_it_goes_live() {
    on_paused_time(async {
        let records = recorded(Trial::default()).await;
        let over = Again { keeps_results: true, ..again(&records) };
        let watch = watch_again(Trial::default(), Some(over));
        let mut agent = first(&watch, "rain at 11:05").await;
        assert_eq!(known(agent.send(&watch)).await.as_deref(), Ok(ANSWER));
        agent.go_on(&Reply::of_text(ANSWER), &[]);
        agent.messages.push(json!({"role": "user", "content": "Something else."}));
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body().replace("11:05", "11:02"));
        pass(line, &Reply::of_text("Yes.")).await;
        watch.yard.until("both tasks have ended", |state| state.tasks_done == 2).await;
        let call = watch.yard.state.borrow().tool_calls.get(0).unwrap().clone();
        assert_eq!(call.observation(), Some("rain at 11:02"));
        assert_eq!(call.withheld.unwrap().text, "rain at 11:05");
    });
}

#[test]
fn a_fault_on_top_is_where_it_parts_and_one_of_the_record_is_no_difference() {
    on_paused_time(async {
        let faults = || Trial { faults: vec!["weather:error:text=out"], ..Trial::default() };
        let records = recorded(Trial::default()).await;
        let watch = watch_again(faults(), Some(again(&records)));
        let agent = first(&watch, "rain at 11:02").await;
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body().replace("rain at 11:02", "out"));
        let (field, asked, ..) = parting(&watch).unwrap();
        assert_eq!((&*field, &*asked), ("messages[3].content", "out"));
        pass(line, &Reply::of_text("No idea.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        // Of what failed then, the model has read the failure.
        let mut records = recorded(faults()).await;
        for record in &mut records {
            if let Event::ModelCall(toolyard::domain::ModelCallEvent::ModelCallSent {
                body, ..
            }) = &mut record.event
            {
                let text = body.text().replace("rain at 11:02", "out");
                *body = toolyard::domain::sent_body::SentBody::of(&text).unwrap();
            }
        }
        let watch = watch_again(faults(), Some(again(&records)));
        let agent = first(&watch, "rain at 11:02").await;
        assert_eq!(known(agent.send(&watch)).await.as_deref(), Ok(ANSWER));
        assert_eq!(parting(&watch), None);
        let failed = watch.yard.records.borrow().iter().any(|record| {
            matches!(record.event, Event::ToolCall(ToolCallEvent::ToolCallFailed { .. }))
        });
        assert!(failed);
    });
}

#[test]
fn recorded_answers_are_held_and_failed_like_others_and_may_take_their_time() {
    on_paused_time(async {
        let records = recorded(Trial::default()).await;
        let trial =
            Trial { paused: true, faults: vec!["role:actor:rate-limit:nth=1"], ..Trial::default() };
        let over = Again { keeps_time: true, ..again(&records) };
        let watch = watch_again(trial, Some(over));
        let agent = Agent::asking(QUESTION);
        let mut line = agent.send(&watch);
        watch.yard.until("it is held", |state| state.control.held.len() == 1).await;
        assert_eq!(line.sending.try_recv().unwrap_err(), TryRecvError::Empty);
        watch.yard.wish(Command::Run);
        assert_eq!(known(line).await, Err(ModelErrorKind::RateLimited));
        // The client asks once more.
        let agent = first(&watch, "rain at 11:02").await;
        let began = Instant::now();
        assert_eq!(known(agent.send(&watch)).await.as_deref(), Ok(ANSWER));
        let took = began.elapsed().as_secs_f64();
        assert!((2.9..3.1).contains(&took), "{took} s");
        assert_eq!(parting(&watch), None);
    });
}

/// Sends a request of Responses, whose answer in the endpoint's place would have this id.
fn send(watch: &Watch, body: &serde_json::Value, own_id: &str) -> RequestListenerEnd {
    let (mut way, line) = relay::way();
    way.name_own(own_id.to_owned());
    let (format, body) = (WireFormat::Responses, body.to_string());
    let asked = format.read_request(body.as_bytes()).unwrap();
    let arrival = Arrival { format, asked, body: body.into(), caller: Caller::default(), way };
    watch.news.send(ListenerNews::Arrived(Box::new(arrival))).unwrap();
    line
}

#[test]
fn an_agent_that_names_the_answer_before_goes_on_from_the_recorded_one() {
    on_paused_time(async {
        let first = json!({"model": "m", "input": "hello"});
        let next = |id: &str| json!({"model": "m", "previous_response_id": id, "input": "more"});
        let then = watch(Trial::default());
        let line = send(&then, &first, "resp_own");
        line.heard.send(Heard::Named("resp_1".into())).unwrap();
        answer(line, &Reply::of_text("hi")).await;
        answer(send(&then, &next("resp_1"), "resp_own"), &Reply::of_text("bye")).await;
        then.yard.until("both tasks have ended", |state| state.tasks_done == 2).await;
        let watch = watch_again(Trial::default(), Some(again(&records(&then))));
        assert_eq!(known(send(&watch, &first, "resp_toolyard1")).await.as_deref(), Ok("hi"));
        let line = send(&watch, &next("resp_toolyard1"), "resp_toolyard2");
        assert_eq!(known(line).await.as_deref(), Ok("bye"));
        assert_eq!(parting(&watch), None);
        assert_eq!(watch.yard.state.borrow().runs.len(), 1);
    });
}
