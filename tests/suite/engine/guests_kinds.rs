//! Calls and conversations of other kinds than functions: items that a client runs, calls before tools, pauses, threads
//! at the endpoint, a summarised past, answers that cannot be read.

use serde_json::{Value, json};
use toolyard::domain::{
    Event, Finish, ModelError, ModelErrorKind, Outcome, Reply, RunEvent, SessionEvent, State,
};
use toolyard::model::relay::{
    self, Arrival, Caller, Heard, ListenerNews, Release, RequestListenerEnd, UNREAD,
};
use toolyard::wire::{Feed, Report, WireFormat};

use super::guests::{Watch, pass, sent, watch};
use super::yard::{Trial, on_paused_time};

fn send(watch: &Watch, format: WireFormat, body: &Value) -> RequestListenerEnd {
    send_fixed(watch, format, body, None)
}

/// The same. `fixed`: why the request must stay as it came.
fn send_fixed(
    watch: &Watch,
    format: WireFormat,
    body: &Value,
    fixed: Option<&'static str>,
) -> RequestListenerEnd {
    let body = body.to_string();
    let (way, line) = relay::way();
    let asked = format.read_request(body.as_bytes()).unwrap();
    let caller = Caller { endpoint: "api.example.com/v1".into(), fixed, ..Caller::default() };
    let arrival = Arrival { format, asked, body: body.into(), caller, way };
    watch.news.send(ListenerNews::Arrived(Box::new(arrival))).unwrap();
    line
}

/// The reply that a session reads in an answer to this request.
fn read(format: WireFormat, request: &Value, answer: &Value) -> Reply {
    let asked = format.read_request(request.to_string().as_bytes()).unwrap();
    let begun = format.begin(&Default::default(), Report::default());
    let mut feed = Feed::new(begun);
    feed.feed(answer.to_string().as_bytes(), &mut |_| {}).unwrap();
    feed.end(&mut |_| {}).unwrap().reply(&asked.request, "e").0
}

/// Asks, and gets this answer as it came. Returns what the endpoint got.
async fn ask(watch: &Watch, format: WireFormat, body: &Value, answer: &Value) -> Value {
    let mut line = send(watch, format, body);
    let sent = sent(&mut line).await;
    pass(line, &read(format, body, answer)).await;
    serde_json::from_str(&sent).unwrap()
}

fn faulty(fault: &'static str) -> Watch {
    watch(Trial { faults: vec![fault], ..Trial::default() })
}

#[test]
fn a_request_that_is_fixed_goes_on_as_it_came_and_a_person_is_told() {
    on_paused_time(async {
        let watch = faulty("look:error");
        let (format, why) = (WireFormat::Messages, Some("it is signed"));
        let user = json!({"role": "user", "content": "Look."});
        let call = json!({"type": "tool_use", "id": "c", "name": "look", "input": {}});
        let said = json!({"role": "assistant", "content": [call]});
        let body = json!({"model": "m", "tools": [{"name": "look", "input_schema": {}}], "messages": [user]});
        let mut line = send_fixed(&watch, format, &body, why);
        assert_eq!(sent(&mut line).await, body.to_string());
        let answer = json!({"type": "message", "content": [call], "stop_reason": "tool_use"});
        pass(line, &read(format, &body, &answer)).await;
        let result = json!({"type": "tool_result", "tool_use_id": "c", "content": "seen"});
        let result = json!({"role": "user", "content": [result]});
        let next = json!({"model": "m", "messages": [user, said, result]});
        let mut line = send_fixed(&watch, format, &next, why);
        assert_eq!(sent(&mut line).await, next.to_string());
        pass(line, &Reply::of_text("Seen.")).await;
        watch.yard.until("the task has ended", |state| state.tasks_done == 1).await;
        let records = watch.yard.records.borrow();
        let told = records.iter().filter(|record| match &record.event {
            Event::Session(SessionEvent::Noticed { text }) => text.contains("do not act here"),
            _ => false,
        });
        assert_eq!(told.count(), 1);
        // The verdict of a fault that cannot act must not count it.
        let state =
            State::fold(&records.iter().map(|record| (**record).clone()).collect::<Vec<_>>());
        assert!(state.tool_calls.iter().all(|call| call.injected.is_none()));
        assert!(!records.iter().any(|record| record.event.kind() == "FaultMatched"));
    });
}

#[test]
fn a_request_for_no_answer_is_a_task_of_its_own() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let format = WireFormat::Responses;
        let item = |role: &str, text: &str| json!({"role": role, "content": text});
        let body =
            json!({"model": "m", "generate": false, "input": [item("developer", "You code.")]});
        let empty = json!({"object": "response", "id": "r1", "status": "completed", "output": []});
        let mut line = send(&watch, format, &body);
        sent(&mut line).await;
        line.heard.send(Heard::Named("r1".to_owned())).unwrap();
        pass(line, &read(format, &body, &empty)).await;
        watch.yard.until("it is prepared", |state| state.tasks_done == 1).await;
        let next =
            json!({"model": "m", "previous_response_id": "r1", "input": [item("user", "Fix it")]});
        let said = json!({"type": "message", "role": "assistant", "content": "Done."});
        let done =
            json!({"object": "response", "id": "r2", "status": "completed", "output": [said]});
        ask(&watch, format, &next, &done).await;
        watch.yard.until("both tasks have ended", |state| state.tasks_done == 2).await;
        let state = watch.yard.state.borrow();
        let texts: Vec<&str> = state.tasks.iter().map(|task| task.task.text.as_str()).collect();
        assert_eq!(texts, ["(prepares the next answer)", "Fix it"]);
        assert_eq!(state.runs.len(), 1);
    });
}

#[test]
fn a_patch_that_fails_here_has_failed_for_its_model() {
    on_paused_time(async {
        let watch = faulty("apply_patch:error");
        let (format, user) = (WireFormat::Responses, json!({"role": "user", "content": "Fix it"}));
        let call = json!({"type": "apply_patch_call", "id": "i", "call_id": "c", "status": "completed",
            "operation": {"type": "delete_file", "path": "a"}});
        let body = json!({"model": "m", "tools": [{"type": "apply_patch"}], "input": [user]});
        let answered = json!({"object": "response", "status": "completed", "output": [call]});
        assert_eq!(ask(&watch, format, &body, &answered).await, body);
        let done =
            json!({"type": "apply_patch_call_output", "call_id": "c", "status": "completed"});
        let next = json!({"model": "m", "input": [user, call, done]});
        let said = json!({"type": "message", "role": "assistant", "content": "No."});
        let said = json!({"object": "response", "status": "completed", "output": [said]});
        let read = ask(&watch, format, &next, &said).await;
        assert_eq!(read["input"][2]["status"], "failed");
        assert!(read["input"][2]["output"].as_str().unwrap().contains("503"), "{read}");
        watch.yard.until("it has ended", |state| state.tasks_done == 1).await;
        let state = watch.yard.state.borrow();
        assert_eq!(state.tool_calls.iter().next().unwrap().tool.as_str(), "apply_patch");
    });
}

#[test]
fn each_call_before_tools_has_its_own_result() {
    on_paused_time(async {
        let watch = faulty("weather:error:nth=2");
        let format = WireFormat::Chat;
        let mut messages = vec![json!({"role": "user", "content": "Oslo and Bergen?"})];
        let functions = json!([{"name": "weather", "parameters": {"type": "object"}}]);
        let answered = |message: &Value| json!({"choices": [{"message": message}]});
        for city in ["Oslo", "Bergen"] {
            let arguments = json!({"city": city}).to_string();
            let function = json!({"name": "weather", "arguments": arguments});
            let call = json!({"role": "assistant", "content": null, "function_call": function});
            let body = json!({"model": "m", "functions": functions, "messages": messages});
            let read = ask(&watch, format, &body, &answered(&call)).await;
            assert_eq!(read, body);
            messages.push(call);
            messages.push(json!({"role": "function", "name": "weather", "content": "sunny"}));
        }
        let body = json!({"model": "m", "functions": functions, "messages": messages});
        let said = answered(&json!({"role": "assistant", "content": "Hm."}));
        let read = ask(&watch, format, &body, &said).await;
        assert_eq!(read["messages"][2]["content"], "sunny");
        assert!(read["messages"][4]["content"].as_str().unwrap().contains("503"), "{read}");
    });
}

fn said(text: &str, reason: &str, id: &str) -> Value {
    json!({"id": id, "type": "message", "role": "assistant", "stop_reason": reason,
        "content": [{"type": "text", "text": text}]})
}

#[test]
fn a_pause_ends_no_task() {
    for goes_on in [true, false] {
        on_paused_time(async {
            let (watch, format) = (watch(Trial::default()), WireFormat::Messages);
            let mut messages = vec![json!({"role": "user", "content": "How is Oslo?"})];
            let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
            ask(&watch, format, &body, &said("I search.", "pause_turn", "msg_1")).await;
            messages.push(json!({"role": "assistant", "content": "I search."}));
            if !goes_on {
                // This client does not know pauses.
                messages.push(json!({"role": "user", "content": "And in Bergen?"}));
            }
            let body = json!({"model": "m", "max_tokens": 9, "messages": messages});
            ask(&watch, format, &body, &said("Sunny.", "end_turn", "msg_2")).await;
            let tasks = if goes_on { 1 } else { 2 };
            watch.yard.until("all is done", |state| state.tasks_done == tasks).await;
            let state = watch.yard.state.borrow();
            let outcomes: Vec<_> = state.tasks.iter().map(|task| task.outcome()).collect();
            assert_eq!(outcomes, vec![Some(Outcome::Answered); tasks]);
            assert_eq!(state.runs.len(), 1);
        });
    }
}

/// Events that tell a person that something may be wrong.
fn alarms(watch: &Watch) -> Vec<String> {
    let records = watch.yard.records.borrow();
    let alarm = records.iter().filter_map(|record| match &record.event {
        Event::Run(RunEvent::HistoryRewritten { .. } | RunEvent::PrefixLost { .. }) => {
            Some(format!("{:?}", record.event))
        }
        Event::Session(SessionEvent::Noticed { text }) => Some(text.clone()),
        _ => None,
    });
    alarm.collect()
}

#[test]
fn a_thread_at_the_endpoint_is_one_conversation_without_alarms() {
    on_paused_time(async {
        let (watch, format) = (watch(Trial::default()), WireFormat::Messages);
        let tools = json!([{"name": "weather", "input_schema": {"type": "object"}}]);
        let thread = |id: &str| json!({"type": "continue", "previous_message_id": id});
        let mut body = json!({"model": "m", "max_tokens": 9, "system": "You help.", "tools": tools,
            "thread": {"type": "create"}, "messages": [{"role": "user", "content": "How is Oslo?"}]});
        // Only the first names its tools, and only the id of the last answer says where the others belong.
        for (n, text) in ["Sunny.", "Rain.", "Fog."].iter().enumerate() {
            let id = format!("msg_{n}");
            let mut line = send(&watch, format, &body);
            sent(&mut line).await;
            line.heard.send(Heard::Named(id.clone())).unwrap();
            pass(line, &read(format, &body, &said(text, "end_turn", &id))).await;
            watch.yard.until("it is done", |state| state.tasks_done == n + 1).await;
            body = json!({"model": "m", "max_tokens": 9, "thread": thread(&id),
                "messages": [{"role": "user", "content": "And now?"}]});
        }
        assert_eq!(watch.yard.state.borrow().runs.len(), 1);
        assert_eq!(alarms(&watch), [""; 0]);
    });
}

#[test]
fn a_summarised_past_is_told_and_stays_in_its_conversation() {
    on_paused_time(async {
        let (watch, format) = (watch(Trial::default()), WireFormat::Chat);
        let system = json!({"role": "system", "content": "You help."});
        let mut messages = vec![system.clone()];
        for (n, city) in ["Oslo", "Bergen", "Rome"].iter().enumerate() {
            if n == 2 {
                let summary =
                    json!({"role": "user", "content": "Summary of the conversation so far: sun."});
                messages = [&[system.clone(), summary], &messages[3..]].concat();
            }
            messages.push(json!({"role": "user", "content": format!("How is {city}?")}));
            let answer = json!({"role": "assistant", "content": format!("{city} is sunny today.")});
            let body = json!({"model": "m", "messages": messages});
            ask(&watch, format, &body, &json!({"choices": [{"message": answer}]})).await;
            messages.push(answer);
            watch.yard.until("it is done", |state| state.tasks_done == n + 1).await;
        }
        assert_eq!(watch.yard.state.borrow().runs.len(), 1);
        let alarms = alarms(&watch);
        let rewritten = alarms.iter().filter(|alarm| alarm.contains("HistoryRewritten"));
        assert_eq!(rewritten.count(), 1, "{alarms:?}");
    });
}

#[test]
fn an_answer_that_only_the_agent_could_read_is_said_once_and_gone_on_from() {
    on_paused_time(async {
        let (watch, format) = (watch(Trial::default()), WireFormat::Chat);
        let mut messages = vec![json!({"role": "user", "content": "How is Oslo?"})];
        for _ in 0..2 {
            let mut line = send(&watch, format, &json!({"model": "m", "messages": messages}));
            sent(&mut line).await;
            let text = format!("{UNREAD}: not understood: br.");
            let error = ModelError::new(ModelErrorKind::BadAnswer, text);
            line.heard.send(Heard::Ended(Err(error))).unwrap();
            assert!(matches!(line.release.await.unwrap(), Release::AsCame));
            messages.push(json!({"role": "assistant", "content": "Sunny."}));
            messages.push(json!({"role": "user", "content": "And now?"}));
        }
        let body = json!({"model": "m", "messages": messages});
        let answer = json!({"role": "assistant", "content": "Rain."});
        ask(&watch, format, &body, &json!({"choices": [{"message": answer}]})).await;
        watch.yard.until("it is done", |state| state.tasks_done > 0).await;
        assert_eq!(watch.yard.state.borrow().runs.len(), 1);
        assert_eq!(alarms(&watch), [format!("{UNREAD}: not understood: br.")]);
    });
}

#[test]
fn nobody_waits_for_an_answer_in_the_background_after_the_agents_end() {
    on_paused_time(async {
        let watch = watch(Trial::default());
        let body = json!({"model": "m", "background": true, "input": "How is Oslo?"});
        let mut line = send(&watch, WireFormat::Responses, &body);
        sent(&mut line).await;
        line.heard.send(Heard::Detached).unwrap();
        watch.yard.until("it runs", |state| state.model_calls_in_flight().count() == 1).await;
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        assert_eq!(watch.yard.state.borrow().model_calls_in_flight().count(), 1);
        watch.news.send(ListenerNews::Ended { code: Some(0) }).unwrap();
        watch.yard.until("it has ended", |state| state.tasks_done == 1).await;
        assert_eq!(watch.yard.state.borrow().model_calls_in_flight().count(), 0);
    });
}

#[test]
fn a_pause_is_a_reason_of_its_own() {
    for (reason, is_pause) in [("pause_turn", true), ("compaction", true), ("other", false)] {
        assert_eq!(Finish::Other(reason.into()).is_pause(), is_pause);
    }
    assert!(!Finish::Stop.is_pause());
}
