//! What a person makes of the requests, answers and calls of a watched agent.

use serde_json::{Value, json};
use toolyard::domain::edit::Edit;
use toolyard::domain::state::Keeps;
use toolyard::domain::{
    Chance, Command, EffectId, Event, Message, Reply, SessionEvent, ToolCall, Usage,
};
use toolyard::engine::{Beginning, Rest, without_end};
use toolyard::model::relay::{Heard, Release, RequestListenerEnd, Sending};

use super::guests::{Agent, Watch, answer, calling, held_at, messages, pass, sent, watch};
use super::yard::{Trial, on_paused_time};

/// Waits until a command is refused with this reason.
async fn refused(watch: &Watch, why: &str) {
    for _ in 0..1000 {
        if watch.yard.refusals().iter().any(|it| it.contains(why)) {
            return;
        }
        watch.yard.settle().await;
    }
    panic!("{why}: {:?}", watch.yard.refusals());
}

/// Waits until a call is held, and returns it.
async fn held(watch: &Watch) -> EffectId {
    watch.yard.until("it is held", |state| !state.control.held.is_empty()).await;
    let state = watch.yard.state.borrow();
    let lane = state.control.held[0].lane;
    state
        .effects_in_flight()
        .chain(state.tool_calls.iter().map(|it| &it.effect))
        .chain(state.model_calls.iter().map(|it| &it.effect))
        .find(|effect| effect.lane == lane)
        .unwrap()
        .id
}

fn edit(watch: &Watch, effect: EffectId, edit: Edit, shown: bool) {
    watch.yard.wish(Command::EditCall { effect, edit: Box::new(edit), shown });
}

/// The endpoint answers; what becomes of the answer.
async fn released(mut line: RequestListenerEnd, reply: &Reply) -> Release {
    sent(&mut line).await;
    line.heard.send(Heard::Ended(Ok(reply.clone()))).unwrap();
    line.release.await.unwrap()
}

fn calls(release: Release) -> Vec<ToolCall> {
    match release {
        Release::Calls(calls) => calls,
        other => panic!("{other:?}"),
    }
}

fn oslo_and_rome() -> Reply {
    calling(&[("a", "weather", json!({"at": "Oslo"})), ("b", "ask_expert", json!({"at": "Rome"}))])
}

#[test]
fn edited_arguments_reach_the_agent_and_the_other_call_stays() {
    for shown in [true, false] {
        on_paused_time(async {
            let watch = held_at("weather:before").await;
            let mut agent = Agent::asking("How is the weather in Oslo?");
            let line = agent.send(&watch);
            let both = oslo_and_rome();
            let (release, ()) = tokio::join!(released(line, &both), async {
                let call = held(&watch).await;
                edit(&watch, call, Edit::Arguments(json!({"at": "Bonn"})), shown);
                watch
                    .yard
                    .until("it is edited", |state| {
                        state.tool_call(call).is_some_and(|call| call.edits == 1)
                    })
                    .await;
                watch.yard.wish(Command::Run);
            });
            let calls = calls(release);
            assert_eq!(calls[0].arguments, json!({"at": "Bonn"}));
            assert_eq!(calls[1], both.calls[1]);
            let edited = Reply { calls, ..both.clone() };
            agent.go_on(&edited, &["fog", "sun"]);
            let mut line = agent.send(&watch);
            let own = agent.body().replace(r#"{\"at\":\"Bonn\"}"#, r#"{\"at\":\"Oslo\"}"#);
            assert_ne!(own, agent.body());
            let expected = if shown { agent.body() } else { own };
            assert_eq!(sent(&mut line).await, expected, "what the model remembers");
            pass(line, &Reply::of_text("Fog.")).await;
            watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
            assert_eq!(watch.yard.state.borrow().runs.len(), 1, "the edited call is its past");
        });
    }
}

#[test]
fn arguments_that_break_the_declared_schema_are_refused() {
    on_paused_time(async {
        let watch = held_at("weather:before").await;
        let agent = Agent::asking("How is the weather in Oslo?");
        let line = agent.send(&watch);
        let both = oslo_and_rome();
        let (release, ()) = tokio::join!(released(line, &both), async {
            let call = held(&watch).await;
            edit(&watch, call, Edit::Arguments(json!({"at": 3})), true);
            refused(&watch, "at:").await;
            watch.yard.wish(Command::Run);
        });
        assert!(matches!(release, Release::AsCame));
    });
}

#[test]
fn an_edited_prompt_reaches_the_endpoint_and_stays_in_the_past() {
    on_paused_time(async {
        let watch = watch(Trial { paused: true, ..Trial::default() });
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let mut line = agent.send(&watch);
        let call = held(&watch).await;
        let mut messages =
            watch.yard.state.borrow().model_call(call).unwrap().request.messages.clone();
        messages[1] = Message::user("How is the weather in Bonn?");
        edit(&watch, call, Edit::Messages(messages), true);
        watch
            .yard
            .until("it is edited", |state| {
                state.model_call(call).is_some_and(|call| call.edits == 1)
            })
            .await;
        watch.yard.wish(Command::Run);
        assert_eq!(sent(&mut line).await, agent.body().replace("Oslo", "Bonn"));
        let reply = calling(&[("a", "weather", json!({"at": "Bonn"}))]);
        pass(line, &reply).await;
        agent.go_on(&reply, &["fog"]);
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body().replace("Oslo", "Bonn"));
        pass(line, &Reply::of_text("Fog.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        assert_eq!(watch.yard.state.borrow().runs.len(), 1);
    });
}

#[test]
fn a_change_stays_in_the_past_when_the_session_has_forgotten_its_task() {
    on_paused_time(async {
        let keeps = Keeps::Tasks(1);
        let watch = watch(Trial { faults: vec!["weather:error"], keeps, ..Trial::default() });
        let ended = |n: usize| watch.yard.until("it has ended", move |it| it.tasks_done == n);
        let reply = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        let mut changed = Agent::asking("How is the weather in Oslo?");
        answer(changed.send(&watch), &reply).await;
        changed.go_on(&reply, &["rain"]);
        let mut line = changed.send(&watch);
        let read = messages(&sent(&mut line).await);
        assert_ne!(read[3]["content"], "rain", "the fault hits");
        pass(line, &Reply::of_text("Rain.")).await;
        ended(1).await;
        let asked = calling(&[("a", "ask_expert", json!({"at": "Oslo"}))]);
        let mut plain = Agent::asking("Whom do I ask in Oslo?");
        answer(plain.send(&watch), &asked).await;
        plain.go_on(&asked, &["Ada"]);
        answer(plain.send(&watch), &Reply::of_text("Ada.")).await;
        for other in 3..6 {
            answer(Agent::asking(&format!("{other}?")).send(&watch), &Reply::of_text("x")).await;
            ended(other).await;
        }
        for (agent, said) in [(&mut changed, "Rain."), (&mut plain, "Ada.")] {
            agent.go_on(&Reply::of_text(said), &[]);
            agent.messages.push(json!({"role": "user", "content": "And now?"}));
        }
        let mut line = changed.send(&watch);
        assert_eq!(messages(&sent(&mut line).await)[..4], read);
        pass(line, &Reply::of_text("Still rain.")).await;
        let mut line = plain.send(&watch);
        assert_eq!(sent(&mut line).await, plain.body());
        pass(line, &Reply::of_text("Still Ada.")).await;
        ended(7).await;
        assert_eq!(watch.yard.state.borrow().runs.len(), 5, "both went on");
    });
}

#[test]
fn messages_of_a_foreign_prompt_cannot_be_dropped() {
    on_paused_time(async {
        let watch = watch(Trial { paused: true, ..Trial::default() });
        let agent = Agent::asking("hello");
        let line = agent.send(&watch);
        let call = held(&watch).await;
        edit(&watch, call, Edit::Messages(vec![Message::user("hello")].into()), true);
        refused(&watch, "the texts can be changed").await;
        watch.yard.wish(Command::Run);
        answer(line, &Reply::of_text("hi")).await;
    });
}

#[test]
fn an_answer_without_calls_is_held_at_its_end_and_its_text_is_read() {
    on_paused_time(async {
        let watch = held_at("role:actor:after").await;
        let agent = Agent::asking("hello");
        let mut line = agent.send(&watch);
        match (&mut line.sending).await.unwrap() {
            Sending::On { holds, .. } => assert_eq!(format!("{holds:?}"), "End"),
            other => panic!("{other:?}"),
        }
        line.heard.send(Heard::Ended(Ok(Reply::of_text("hi")))).unwrap();
        let call = held(&watch).await;
        edit(&watch, call, Edit::Reply { text: "ho".into(), calls: Vec::new() }, true);
        refused(&watch, "has read the text").await;
        let more = vec![ToolCall { id: "x".into(), tool: "weather".into(), arguments: json!({}) }];
        edit(&watch, call, Edit::Reply { text: "hi".into(), calls: more.clone() }, true);
        watch
            .yard
            .until("it is edited", |state| {
                state.model_call(call).is_some_and(|call| call.edits == 1)
            })
            .await;
        watch.yard.wish(Command::Run);
        assert_eq!(calls(line.release.await.unwrap()), more);
    });
}

#[test]
fn a_client_that_asks_again_while_its_request_is_held_gets_its_answer() {
    for retries in [0, 1] {
        on_paused_time(async {
            let watch = watch(Trial { paused: true, ..Trial::default() });
            let agent = Agent::asking("hello");
            drop(agent.send(&watch));
            held(&watch).await;
            let line = agent.try_again(&watch, retries);
            let other = Agent::asking("another").send(&watch);
            watch.yard.until("the other is held", |state| state.control.held.len() == 2).await;
            watch.yard.wish(Command::Run);
            answer(line, &Reply::of_text("hi")).await;
            answer(other, &Reply::of_text("hi")).await;
            watch.yard.until("both have ended", |state| state.tasks_done == 2).await;
            let state = watch.yard.state.borrow();
            assert_eq!(state.model_calls.iter().count(), 2, "one effect, one answer");
        });
    }
}

#[test]
fn a_client_that_asks_again_while_its_answer_is_held_gets_that_answer() {
    on_paused_time(async {
        let watch = held_at("weather:before").await;
        let agent = Agent::asking("hello");
        let mut line = agent.send(&watch);
        sent(&mut line).await;
        let reply = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        line.heard.send(Heard::Ended(Ok(reply.clone()))).unwrap();
        held(&watch).await;
        drop(line);
        let line = agent.try_again(&watch, 1);
        watch.yard.wish(Command::Run);
        match line.sending.await.unwrap() {
            Sending::Instead(Ok(given)) => assert_eq!(given.calls, reply.calls),
            other => panic!("{other:?}"),
        }
        let noticed = watch.yard.records.borrow().iter().any(|record| {
            matches!(&record.event, Event::Session(SessionEvent::Noticed { text }) if text.contains("not"))
        });
        assert!(!noticed);
        assert_eq!(watch.yard.state.borrow().model_calls.iter().count(), 1);
    });
}

/// Arms or disarms a fault, or sets a breakpoint, as the chance says.
fn turn(watch: &Watch, chance: Chance) {
    let specs = [
        "weather:error:text=down",
        "ask_expert:empty",
        "weather:truncated",
        "tools:answer:text=42",
    ];
    let places = ["weather:before", "weather:after", "ask_expert:after", "role:actor:before"];
    let one_of = |all: [&'static str; 4]| all[(chance.with(b"spec").bits() % 4) as usize];
    match chance.bits() % 6 {
        0 | 1 => watch.yard.wish(Command::ArmFault { spec: one_of(specs).parse().unwrap() }),
        2 => {
            let armed = watch.yard.state.borrow();
            let armed = armed.faults.iter().find(|(_, fault)| fault.armed).map(|(id, _)| *id);
            armed.into_iter().for_each(|fault| watch.yard.wish(Command::DisarmFault { fault }));
        }
        3 | 4 => {
            let spec = Box::new(one_of(places).parse().unwrap());
            watch.yard.wish(Command::SetBreakpoint { breakpoint: None, spec, on: true });
        }
        _ => {}
    }
}

/// Edits what is held, as the chance says, and lets it go on, until nothing is held; the number of edits.
async fn edit_what_is_held(watch: &Watch, chance: Chance) -> usize {
    let mut edits = 0;
    for round in 0..20u8 {
        watch.yard.settle().await;
        let held: Vec<EffectId> = {
            let state = watch.yard.state.borrow();
            let lanes: Vec<_> = state.control.held.iter().map(|hold| hold.lane).collect();
            let all = state.tool_calls.iter().map(|call| &call.effect);
            let all = all.chain(state.model_calls.iter().map(|call| &call.effect));
            all.filter(|effect| lanes.contains(&effect.lane)).map(|effect| effect.id).collect()
        };
        if held.is_empty() {
            break;
        }
        for id in held {
            let chance = chance.with(&[round]).with(&id.0.to_le_bytes());
            if chance.bits().is_multiple_of(3) {
                continue;
            }
            let text = format!("edited {}", chance.bits() % 100);
            let edit = {
                let state = watch.yard.state.borrow();
                match (state.tool_call(id), state.model_call(id)) {
                    (Some(call), _) if call.is_over() => Edit::Result(text),
                    (Some(_), _) => Edit::Arguments(json!({ "at": text })),
                    (_, Some(call)) => {
                        let mut messages = call.request.messages.clone();
                        let last = messages.len() - 1;
                        if let Message::User { text: said, .. } = &mut messages[last] {
                            *said = text;
                        }
                        Edit::Messages(messages)
                    }
                    (None, None) => continue,
                }
            };
            let shown = chance.with(b"shown").bits().is_multiple_of(2);
            watch.yard.wish(Command::EditCall { effect: id, edit: Box::new(edit), shown });
            edits += 1;
        }
        watch.yard.wish(Command::Run);
    }
    edits
}

#[test]
fn no_schedule_of_faults_and_edits_changes_what_the_model_has_read() {
    let (mut differing, mut edits) = (0, 0);
    for seed in 0..200 {
        on_paused_time(async {
            let watch = watch(Trial::default());
            let mut agent = Agent::asking("How is the weather in Oslo?");
            let mut read: Vec<Value> = Vec::new();
            for step in 0..6u8 {
                let chance = Chance::new(seed).with(&[step]);
                turn(&watch, chance);
                watch.yard.settle().await;
                let mut line = agent.send(&watch);
                edits += edit_what_is_held(&watch, chance.with(b"request")).await;
                let now = messages(&sent(&mut line).await);
                assert_eq!(now[..read.len()], read, "seed {seed}, step {step}");
                differing += usize::from(now != agent.messages);
                read = now;
                // Ids and arguments may be those of an earlier answer.
                let of_ids = chance.with(b"ids").bits() % 3;
                let id = |name: &str| match seed % 4 {
                    0 => format!("{name}{step}"),
                    1 => format!("{name}:0"),
                    _ => format!("{name}{of_ids}"),
                };
                let at = json!({"at": (u64::from(step) % (1 + seed % 3)).to_string()});
                let calls =
                    calling(&[(&id("a"), "weather", at.clone()), (&id("b"), "ask_expert", at)]);
                line.heard.send(Heard::Ended(Ok(calls.clone()))).unwrap();
                edits += edit_what_is_held(&watch, chance.with(b"answer")).await;
                let given = match line.release.await.unwrap() {
                    Release::AsCame => calls,
                    Release::Calls(changed) => Reply { calls: changed, ..calls },
                    other => panic!("{other:?}"),
                };
                // The agent has one id for both calls, or sends the results in another order.
                let mut own = given.clone();
                if seed % 5 == 4 {
                    own.calls.iter_mut().for_each(|call| call.id = "same".into());
                }
                agent.go_on(&own, &["a long text about rain", "ask somebody else"]);
                if seed % 5 == 3 && given.calls.len() == 2 {
                    let last = agent.messages.len();
                    agent.messages.swap(last - 2, last - 1);
                }
            }
            assert_eq!(watch.yard.state.borrow().runs.len(), 1, "seed {seed}");
            let state = watch.yard.state.borrow();
            let lost = state.tool_calls.iter().filter(|call| call.has_no_result()).count();
            assert_eq!(lost, 0, "seed {seed}");
        });
    }
    assert!(differing > 200 && edits > 200, "they do something: {differing}, {edits}");
}

#[test]
fn the_past_changes_only_on_purpose_and_says_what_that_costs() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let mut agent = Agent::asking("How is the weather in Oslo?");
        let call = calling(&[("a", "weather", json!({"at": "Oslo"}))]);
        answer(agent.send(&watch), &call).await;
        agent.go_on(&call, &["rain"]);
        let more = Reply {
            usage: Usage { tokens_in: 1000, ..Usage::default() },
            ..calling(&[("b", "weather", json!({"at": "Rome"}))])
        };
        answer(agent.send(&watch), &more).await;
        agent.go_on(&more, &["sun"]);
        let id = watch.yard.state.borrow().tool_calls.get(0).unwrap().id;
        edit(&watch, id, Edit::Result("snow".into()), true);
        refused(&watch, "the agent has seen it").await;
        let cost = watch.yard.state.borrow().cost_of_past(id).unwrap();
        assert!((1..1000).contains(&cost.tokens), "{cost:?}");
        watch.yard.wish(Command::EditPast { effect: id, text: "snow".into() });
        watch.yard.until("it is edited", |state| state.tool_call(id).unwrap().edits == 1).await;
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body().replace("\"rain\"", "\"snow\""));
        pass(line, &Reply::of_text("Snow.")).await;
        agent.go_on(&Reply::of_text("Snow."), &[]);
        agent.messages.push(json!({"role": "user", "content": "Sure?"}));
        assert_eq!(
            watch.yard.state.borrow().tool_call(id).unwrap().withheld.as_ref().unwrap().text,
            "rain"
        );
        let past: Vec<_> = watch.yard.records.borrow().iter().map(|it| (**it).clone()).collect();
        // Taken back: it asks no second time.
        watch.yard.wish(Command::Undo);
        watch.yard.until("it is taken back", |state| state.tool_call(id).unwrap().edits == 0).await;
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body());
        // A session that goes on knows it.
        let (past, rest) = (without_end(past), Some(Rest::default()));
        let beginning = Beginning::Continued { past: past.into(), rest };
        let watch = super::guests::watch(Trial { beginning, ..Trial::default() });
        let mut line = agent.send(&watch);
        assert_eq!(sent(&mut line).await, agent.body().replace("\"rain\"", "\"snow\""));
        watch.yard.wish(Command::EditPast { effect: EffectId(99), text: "x".into() });
        refused(&watch, "no call").await;
    });
}
