//! Calls that never reach a watched agent: its model is asked on, and the agent gets the answer after that.

use serde_json::{Value, json};
use toolyard::domain::{Command, Event, Knob, Message, Record, Reply, SessionEvent};
use toolyard::engine::{Beginning, Rest, without_end};
use toolyard::model::relay::{Heard, Holds, Release, RequestListenerEnd, Sending};

use super::guests::{Agent, Watch, answer, calling, messages, pass, sent, watch, watch_again};
use super::guests_again::{again, known, records};
use super::yard::{Trial, on_paused_time};

const QUESTION: &str = "How is the weather in Oslo?";

fn skipping(faults: &[&'static str]) -> Trial {
    Trial { faults: faults.to_vec(), knobs: vec![(Knob::Skip, 1.0)], ..Trial::default() }
}

/// The endpoint answers with a call that is skipped; the way of the request that follows.
async fn skipped(mut line: RequestListenerEnd, reply: &Reply) -> RequestListenerEnd {
    match (&mut line.sending).await.unwrap() {
        Sending::On { holds, .. } => assert_eq!(holds, Holds::All),
        other => panic!("{other:?}"),
    }
    line.heard.send(Heard::Ended(Ok(reply.clone()))).unwrap();
    match line.release.await.unwrap() {
        Release::Again(line) => line,
        other => panic!("{other:?}"),
    }
}

fn oslo(id: &str) -> Reply {
    Reply { text: "I look.".into(), ..calling(&[(id, "weather", json!({"at": "Oslo"}))]) }
}

fn notices(watch: &Watch) -> Vec<String> {
    let records = watch.yard.records.borrow();
    let notice = |record: &std::sync::Arc<Record>| match &record.event {
        Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
        _ => None,
    };
    records.iter().filter_map(notice).collect()
}

/// The texts of some messages of a body.
fn texts(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

#[test]
fn a_skipped_call_stays_in_the_past_of_its_model_and_the_agent_never_sees_it() {
    on_paused_time(async {
        let watch = watch(skipping(&["weather:error:first=2:text=out of order"]));
        let mut agent = Agent::asking(QUESTION);
        let line = skipped(agent.send(&watch), &oslo("a")).await;
        let mut line = skipped(line, &oslo("b")).await;
        let asked = messages(&sent(&mut line).await);
        let expected =
            ["You help.", QUESTION, "I look.", "out of order", "I look.", "out of order"];
        assert_eq!(texts(&asked), expected);
        assert_eq!(
            (&asked[2]["tool_calls"][0]["id"], &asked[3]["tool_call_id"]),
            (&json!("a"), &json!("a"))
        );
        let last = calling(&[("c", "ask_expert", json!({"at": "Oslo"}))]);
        pass(line, &last).await;
        agent.go_on(&last, &["rain"]);
        for fault in watch.yard.state.borrow().faults.keys() {
            watch.yard.wish(Command::DisarmFault { fault: *fault });
        }
        let mut line = agent.send(&watch);
        let read = messages(&sent(&mut line).await);
        assert_eq!(read[..6], asked[..], "the turns stay before the answer that followed");
        assert_eq!(read[6..], agent.messages[2..], "the agent's own messages as they came");
        pass(line, &Reply::of_text("Rain.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        let skipped: Vec<_> =
            state.tool_calls.iter().map(|it| (it.is_skipped, it.withheld.is_some())).collect();
        assert_eq!(skipped, [(true, false), (true, false), (false, false)]);
        assert_eq!((state.runs.len(), state.tasks.len()), (1, 1));
        assert_eq!(state.model_calls.iter().count(), 4);
        assert_eq!(notices(&watch), [""; 0]);
    });
}

#[test]
fn what_a_person_answers_is_skipped_too_and_edited_before_it_is_read() {
    on_paused_time(async {
        let watch = watch(skipping(&[]));
        let spec = Box::new("weather:before".parse().unwrap());
        watch.yard.wish(Command::SetBreakpoint { breakpoint: None, spec, on: true });
        watch.yard.until("it is set", |state| !state.breakpoints.is_empty()).await;
        let mut agent = Agent::asking(QUESTION);
        let call = oslo("a");
        let (line, ()) = tokio::join!(skipped(agent.send(&watch), &call), async {
            watch.yard.until("it is held", |state| !state.control.held.is_empty()).await;
            let effect = watch.yard.state.borrow().tool_calls.get(0).unwrap().id;
            watch.yard.wish(Command::AnswerCall { effect, text: "sunny".into() });
            watch
                .yard
                .until("it is over", |state| state.tool_calls.get(0).unwrap().is_over())
                .await;
            watch.yard.wish(Command::Run);
        });
        let mut line = line;
        assert_eq!(texts(&messages(&sent(&mut line).await))[2..], ["I look.", "sunny"]);
        let last = Reply::of_text("Sun.");
        pass(line, &last).await;
        agent.go_on(&last, &[]);
        agent.messages.push(json!({"role": "user", "content": "And in Rome?"}));
        let mut line = agent.send(&watch);
        let read = messages(&sent(&mut line).await);
        assert_eq!(texts(&read)[2..], ["I look.", "sunny", "Sun.", "And in Rome?"]);
        pass(line, &last).await;
    });
}

#[test]
fn calls_that_run_beside_it_and_an_answer_that_is_read_are_told() {
    on_paused_time(async {
        let watch = watch(skipping(&["weather:error:text=out of order"]));
        let mut agent = Agent::asking(QUESTION);
        let both = calling(&[
            ("a", "weather", json!({"at": "Oslo"})),
            ("b", "ask_expert", json!({"at": "Rome"})),
        ]);
        answer(agent.send(&watch), &both).await;
        assert!(
            notices(&watch)[0].ends_with("other calls of the same answer run"),
            "{:?}",
            notices(&watch)
        );
        agent.go_on(&both, &["rain", "sun"]);
        let mut line = agent.send(&watch);
        assert_eq!(texts(&messages(&sent(&mut line).await)[3..]), ["out of order", "sun"]);
        // The knob is turned off, and on again while the answer is on its way.
        watch.yard.wish(Command::TurnKnob { knob: Knob::Skip, value: 0.0 });
        watch.yard.until("it is off", |state| !state.knobs.is_on(Knob::Skip)).await;
        pass(line, &Reply::of_text("Done.")).await;
        let agent = Agent::asking("And tomorrow?");
        let mut line = agent.send(&watch);
        sent(&mut line).await;
        watch.yard.wish(Command::TurnKnob { knob: Knob::Skip, value: 1.0 });
        watch.yard.until("it is on", |state| state.knobs.is_on(Knob::Skip)).await;
        pass(line, &oslo("c")).await;
        assert!(
            notices(&watch)[1].ends_with("it has read a part of the answer"),
            "{:?}",
            notices(&watch)
        );
    });
}

#[test]
fn a_model_that_calls_it_for_ever_is_not_asked_on_for_ever() {
    on_paused_time(async {
        let watch = watch(skipping(&["weather:error"]));
        let mut line = Agent::asking(QUESTION).send(&watch);
        for round in 0..16 {
            line = skipped(line, &oslo(&format!("c{round}"))).await;
        }
        answer(line, &oslo("last")).await;
        assert!(
            notices(&watch)[0].ends_with("the model was asked on 16 times"),
            "{:?}",
            notices(&watch)
        );
    });
}

/// A session with one skipped call, and what its agent has.
async fn with_one() -> (Watch, Agent) {
    let watch = watch(skipping(&["weather:error:nth=1:text=out of order"]));
    let mut agent = Agent::asking(QUESTION);
    let mut line = skipped(agent.send(&watch), &oslo("a")).await;
    sent(&mut line).await;
    let last = Reply::of_text("No idea.");
    pass(line, &last).await;
    agent.go_on(&last, &[]);
    agent.messages.push(json!({"role": "user", "content": "Sure?"}));
    watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
    (watch, agent)
}

#[test]
fn a_session_that_goes_on_repeats_what_was_skipped() {
    on_paused_time(async {
        let (before, agent) = with_one().await;
        let (past, rest) = (without_end(records(&before)), Some(Rest::default()));
        let beginning = Beginning::Continued { past: past.into(), rest };
        let watch = watch(Trial { beginning, ..Trial::default() });
        let mut line = agent.send(&watch);
        let read = messages(&sent(&mut line).await);
        assert_eq!(texts(&read)[2..], ["I look.", "out of order", "No idea.", "Sure?"]);
        pass(line, &Reply::of_text("Yes.")).await;
        assert_eq!(watch.yard.state.borrow().runs.len(), 1);
    });
}

#[test]
fn an_agent_that_runs_again_is_kept_from_the_call_again() {
    on_paused_time(async {
        let (before, mut agent) = with_one().await;
        let records = records(&before);
        let faults = vec!["weather:error:nth=1:text=out of order"];
        let trial = Trial { faults, ..skipping(&[]) };
        let watch = watch_again(trial, Some(again(&records)));
        agent.messages.truncate(2);
        assert_eq!(known(agent.send(&watch)).await.as_deref(), Ok("No idea."));
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        assert!(state.tool_calls.get(0).unwrap().is_skipped);
        let asked = &state.model_calls.iter().nth(1).unwrap().request.messages;
        assert!(matches!(asked.last(), Some(Message::Tool { text, .. }) if text == "out of order"));
    });
}
