use serde_json::{Value, json};

use super::*;
use crate::domain::edit::Edit;
use crate::domain::{
    By, EditEvent, EffectClass, EffectRef, FaultEvent, FaultId, Finish, Guest, ModelError, Reply,
    Role, RunEvent, Task, TaskEvent, TaskId, ToolCall, ToolCallEvent,
};
use crate::net::kept_body::packed;

fn side(messages: &Value) -> ComparedRequest {
    let body = json!({"model": "m", "messages": messages});
    let read = WireFormat::Chat.read_request(body.to_string().as_bytes()).unwrap();
    ComparedRequest { model: read.model, request: read.request, body: Some(body) }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// A journal that grows.
#[derive(Default)]
struct Story {
    records: Vec<Record>,
    effects: u32,
}

impl Story {
    fn add(&mut self, event: impl Into<Event>) {
        let n = self.records.len() as u64 + 1;
        self.records.push(Record::new(n, n * 1000, event));
    }

    /// A conversation with one task, which has the number of its run.
    fn open(&mut self, run: u32) {
        let guest = Guest { wire: WireFormat::Chat.to_string(), ..Guest::default() };
        let (strategy, guest) = (None, Some(guest.into()));
        self.add(RunEvent::RunOpened { run: RunId(run), strategy, guest });
        let task = Task { run: RunId(run), ..Task::from_text("t") };
        self.add(TaskEvent::TasksQueued { first: TaskId(run), tasks: vec![task], by: By::Engine });
        self.add(TaskEvent::TaskStarted { task: TaskId(run) });
    }

    fn effect(&mut self) -> EffectRef {
        self.effects += 1;
        EffectRef::new(EffectId(self.effects), EffectClass::Read)
    }

    /// A request with these messages, and its answer.
    fn add_request(&mut self, run: u32, messages: &Value, said: Result<Reply, ModelError>) {
        let (effect, side) = (self.effect(), side(messages));
        self.add(ModelCallEvent::ModelCallRequested {
            effect,
            task: TaskId(run),
            role: Role::Actor,
            model: "m".into(),
            request: side.request.into(),
            evidence: None,
        });
        self.add(ModelCallEvent::ModelCallStarted { effect });
        self.add(ModelCallEvent::ModelCallSent { effect, body: (&side.body.unwrap()).into() });
        self.add(match said {
            Ok(reply) => {
                ModelCallEvent::ModelCallFinished { effect, reply: reply.into(), dollars: None }
            }
            Err(error) => ModelCallEvent::ModelCallFailed { effect, error, billed: None },
        });
    }

    fn past(&self) -> RecordedPast {
        RecordedPast::new(std::slice::from_ref(&self.records), Varies::default())
    }
}

/// Two conversations that begin with the same words, and one that does not.
fn story() -> Story {
    let mut story = Story::default();
    for (run, first) in [(1, "hello"), (2, "hello"), (3, "good day")] {
        story.open(run);
        let said = format!("answer {run}");
        story.add_request(run, &json!([user(first)]), Ok(Reply::of_text(&said)));
        let more = json!([user(first), assistant(&said), user("more")]);
        story.add_request(run, &more, Ok(Reply::of_text(format!("last {run}"))));
    }
    story
}

fn said(known: Result<Option<KnownReply>, Parting>) -> String {
    known.unwrap().unwrap().said.unwrap().text.clone()
}

fn parted(known: Result<Option<KnownReply>, Parting>) -> (String, String, String, Option<u64>) {
    let Parting { difference: Difference { field, asked, recorded }, nearest } = known.unwrap_err();
    (field, asked, recorded, nearest.map(|it| it.n))
}

#[test]
fn equal_conversations_are_taken_in_order_and_each_goes_its_own_way() {
    let mut past = story().past();
    let first = side(&json!([user("hello")]));
    for talk in [7, 8] {
        past.open(talk, WireFormat::Chat, &first);
    }
    assert_eq!(said(past.answer(7, WireFormat::Chat, &first, false)), "answer 1");
    assert_eq!(said(past.answer(8, WireFormat::Chat, &first, false)), "answer 2");
    let more =
        |run| side(&json!([user("hello"), assistant(&format!("answer {run}")), user("more")]));
    let known = past.answer(8, WireFormat::Chat, &more(2), false).unwrap().unwrap();
    assert_eq!((known.origin, known.after), (Origin::Recorded, Duration::from_millis(2)));
    let sent: Value = serde_json::from_str(known.sent.unwrap().text()).unwrap();
    assert_eq!(sent["messages"][1]["content"], "answer 2");
    // The other one says something else than then.
    let other = side(&json!([user("hello"), assistant("answer 1"), user("less")]));
    let found = parted(past.answer(7, WireFormat::Chat, &other, false));
    let field = "messages[2].content".to_owned();
    assert_eq!(found, (field, "less".to_owned(), "more".to_owned(), Some(8)));
    assert!(past.answer(7, WireFormat::Chat, &more(1), false).unwrap().is_none(), "it is live now");
    assert_eq!(past.summary(), ["3 of 6 model calls answered from the record"]);
}

#[test]
fn what_no_record_begins_like_is_told_beside_the_nearest() {
    let mut past = story().past();
    let other = side(&json!([user("good evening")]));
    past.open(1, WireFormat::Chat, &other);
    let found = parted(past.answer(1, WireFormat::Chat, &other, false));
    let field = "messages[0].content".to_owned();
    assert_eq!(found, (field, "good evening".to_owned(), "hello".to_owned(), Some(4)));
    // The same words with something before them.
    let prompted = side(&json!([{"role": "system", "content": "s"}, user("good day")]));
    past.open(2, WireFormat::Chat, &prompted);
    let found = parted(past.answer(2, WireFormat::Chat, &prompted, false));
    assert_eq!((found.0, found.3), ("messages[0].role".to_owned(), Some(26)));
    // Another wire.
    past.open(3, WireFormat::Responses, &other);
    let found = parted(past.answer(3, WireFormat::Responses, &other, false));
    let wires = ("OpenAI Responses".to_owned(), "OpenAI chat".to_owned());
    assert_eq!(found, ("the wire".to_owned(), wires.0, wires.1, Some(4)));
}

#[test]
fn a_whole_first_request_counts_more_than_its_beginning() {
    let mut story = story();
    story.open(4);
    let history = json!([user("hello"), assistant("so"), user("and?")]);
    story.add_request(4, &history, Ok(Reply::of_text("answer 4")));
    let mut past = story.past();
    let asked = side(&history);
    past.open(1, WireFormat::Chat, &asked);
    assert_eq!(said(past.answer(1, WireFormat::Chat, &asked, false)), "answer 4");
    let next = side(&json!([user("hello"), assistant("so"), user("and?"), user("then?")]));
    let found = parted(past.answer(1, WireFormat::Chat, &next, false));
    let field = "messages[3]".to_owned();
    assert_eq!(found, (field, "then?".to_owned(), String::new(), Some(37)), "the record ends");
}

#[test]
fn failures_come_again_and_who_gave_up_is_no_part_of_it() {
    let mut story = Story::default();
    story.open(1);
    let asked = json!([user("hello")]);
    let error = |kind| Err(ModelError::new(kind, "no"));
    story.add_request(1, &asked, error(ModelErrorKind::Cancelled));
    story.add_request(1, &asked, error(ModelErrorKind::RateLimited));
    story.add_request(1, &asked, Ok(Reply::of_text("hi")));
    let mut past = story.past();
    let side = side(&asked);
    past.open(1, WireFormat::Chat, &side);
    let first = past.answer(1, WireFormat::Chat, &side, false).unwrap().unwrap();
    assert_eq!(first.said.unwrap_err().kind, ModelErrorKind::RateLimited);
    assert_eq!(said(past.answer(1, WireFormat::Chat, &side, true)), "hi");
    // A client that did not wait asks once more.
    assert_eq!(said(past.answer(1, WireFormat::Chat, &side, true)), "hi");
    assert_eq!(past.summary(), ["2 of 2 model calls answered from the record"]);
}

/// A call of the model call with this number.
fn add_call(story: &mut Story, of: u32, id: &str, text: &str) -> EffectRef {
    let effect = story.effect().caused_by(Some(EffectId(of)));
    let (task, tool, arguments) = (TaskId(1), "t".into(), json!({}));
    let (step, evidence, by, wire_id) = (1, None, By::Engine, Some(id.into()));
    let requested = ToolCallEvent::ToolCallRequested {
        effect,
        task,
        step,
        tool,
        arguments,
        evidence,
        by,
        wire_id,
    };
    story.add(requested);
    story.add(ToolCallEvent::ToolCallFinished { effect, output: output(text) });
    effect
}

fn output(text: &str) -> Arc<ToolOutput> {
    Arc::new(ToolOutput::of(text))
}

/// An answer with calls of these ids.
fn calling(ids: &[&str]) -> Reply {
    let call = |id: &&str| ToolCall { id: (*id).into(), tool: "t".into(), arguments: json!({}) };
    Reply { calls: ids.iter().map(call).collect(), finish: Finish::Calls, ..Reply::of_text("") }
}

#[test]
fn results_are_those_of_the_record_where_that_is_wanted_or_was_decided() {
    let mut story = Story::default();
    story.open(1);
    let asked = json!([user("hello")]);
    story.add_request(1, &asked, Ok(calling(&["c"])));
    let effect = add_call(&mut story, 1, "c", "read");
    let text = |result: Option<Returned>| result.map(|it| it.unwrap().text);
    let begun = |story: &Story| {
        let (mut past, side) = (story.past(), side(&asked));
        past.open(1, WireFormat::Chat, &side);
        past.answer(1, WireFormat::Chat, &side, false).unwrap().unwrap();
        past
    };
    let past = begun(&story);
    let call = past.recorded_call(1, 0).unwrap();
    let same = past.result(1, call).unwrap();
    assert_eq!(text(same.instead_of("own", true)).as_deref(), Some("read"));
    assert_eq!(same.instead_of("own", false), None);
    assert_eq!(same.instead_of("read", true), None);
    assert_eq!(
        (past.recorded_call(2, 0), past.result(2, call)),
        (None, None),
        "another conversation"
    );
    // A person has replaced it then.
    story.add(ToolCallEvent::ResultWithheld { effect, output: output("own") });
    let past = begun(&story);
    let decided = past.result(1, call).unwrap();
    assert_eq!(text(decided.instead_of("own", false)).as_deref(), Some("read"));
    assert_eq!(decided.instead_of("other", false), None, "it was decided of another result");
    let by_fault = Recalled { by_fault: true, ..decided.clone() };
    assert_eq!(by_fault.instead_of("own", true), None, "the fault does it again");
    assert_eq!(text(by_fault.instead_of("other", true)).as_deref(), Some("own"));
}

#[test]
fn of_calls_with_one_id_each_has_its_own_result() {
    let mut story = Story::default();
    story.open(1);
    let asked = [json!([user("1")]), json!([user("1"), user("2")])];
    story.add_request(1, &asked[0], Ok(calling(&["c", "c"])));
    add_call(&mut story, 1, "c", "first");
    add_call(&mut story, 1, "c", "second");
    story.add_request(1, &asked[1], Ok(calling(&["c"])));
    add_call(&mut story, 4, "c", "third");
    let mut past = story.past();
    past.open(1, WireFormat::Chat, &side(&asked[0]));
    let mut read = Vec::new();
    for (asked, calls) in [(&asked[0], 2), (&asked[1], 1)] {
        assert_eq!(past.recorded_call(1, 0).is_none(), read.is_empty());
        past.answer(1, WireFormat::Chat, &side(asked), false).unwrap().unwrap();
        let results =
            (0..calls).map(|at| past.result(1, past.recorded_call(1, at)?)?.read.clone().ok());
        read.extend(results.map(|it| it.unwrap().text));
    }
    assert_eq!(read, ["first", "second", "third"]);
    assert_eq!(past.result(1, past.recorded_call(1, 5).unwrap()), None);
}

#[test]
fn an_answer_comes_back_as_it_came_unless_it_was_changed() {
    let body = r#"{"id":"chatcmpl-7","system_fingerprint":"fp","choices":[]}"#;
    let answer = WireAnswer {
        status: 200,
        headers: vec![("x-request-id".into(), "req_1".into())],
        body: packed(body.to_owned()),
        is_cut: false,
    };
    for (what, is_kept) in
        [("as it came", true), ("edited", false), ("failed", false), ("old", false)]
    {
        let mut story = Story::default();
        story.open(1);
        let asked = json!([user("hello")]);
        story.add_request(1, &asked, Ok(Reply::of_text("hi")));
        let effect = EffectRef::new(EffectId(1), EffectClass::Read);
        let finished = story.records.pop().unwrap();
        if what != "old" {
            let answer = Arc::new(answer.clone());
            story.add(ModelCallEvent::ModelCallAnswered { effect, answer });
        }
        if what == "failed" {
            let spec = "role:actor:rate-limit".parse().unwrap();
            let fault = FaultId(1);
            story.add(FaultEvent::FaultArmed { fault, spec, by: By::User });
            story.add(FaultEvent::FaultFired { fault, effect });
        }
        story.add(finished.event);
        if what == "edited" {
            let said = |text: &str| {
                let (text, calls) = (text.to_owned(), Vec::new());
                Box::new(Edit::Reply { text, calls })
            };
            let (edit, was) = (said("ho"), said("hi"));
            let (shown, past, by) = (true, false, By::User);
            story.add(EditEvent::CallEdited { effect, edit, was, shown, past, by });
        }
        // A journal is read as it was written.
        let read = story.records.iter().map(|record| {
            let line = serde_json::to_vec(record).unwrap();
            Record::read(&line).unwrap()
        });
        let read = read.collect();
        let mut past = RecordedPast::new(&[read], Varies::default());
        past.open(1, WireFormat::Chat, &side(&asked));
        let known = past.answer(1, WireFormat::Chat, &side(&asked), false).unwrap().unwrap();
        let kept = is_kept.then(|| (Arc::new(answer.clone()), Some("chatcmpl-7".to_owned())));
        assert_eq!(known.answer, kept, "{what}");
        assert_eq!(known.is_spoiled, what == "failed");
    }
}
