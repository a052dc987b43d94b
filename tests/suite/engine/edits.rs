//! Calls that a person edits, answers or makes again while they are in flight.

use serde_json::json;
use toolyard::domain::edit::Edit;
use toolyard::domain::{
    Command, EffectId, Message, Messages, Mode, Origin, Reply, Role, ToolCallPhase, ToolCallState,
};
use toolyard::engine::Beginning;

use super::yard::{Trial, Yard, calls, observed, on_paused_time, say};

fn set(text: &str) -> Command {
    Command::SetBreakpoint { breakpoint: None, spec: Box::new(text.parse().unwrap()), on: true }
}

fn echo(text: &str) -> (&'static str, serde_json::Value) {
    ("echo", json!({"text": text}))
}

fn edit(effect: u32, edit: Edit, shown: bool) -> Command {
    Command::EditCall { effect: EffectId(effect), edit: Box::new(edit), shown }
}

fn arguments(effect: u32, text: &str, shown: bool) -> Command {
    edit(effect, Edit::Arguments(json!({ "text": text })), shown)
}

/// A session that is held at the first place of this kind.
async fn held_at(place: &str, replies: Vec<Reply>) -> Yard {
    let replies = replies.into_iter().map(Ok).collect();
    let yard = Trial { paused: true, stay: true, replies, ..Trial::default() }.start();
    yard.settle().await;
    yard.wish(set(place));
    yard.wish(Command::Run);
    yard.settle().await;
    yard.until("it stops", |state| state.control.mode == Mode::Paused).await;
    yard
}

async fn run_on(yard: &Yard) {
    yard.wish(Command::Run);
    yard.until("the task is done", |state| state.tasks_done == 1).await;
}

fn call(yard: &Yard, at: usize) -> ToolCallState {
    yard.state.borrow().tool_calls[at].clone()
}

fn result(call: &ToolCallState) -> String {
    match &call.phase {
        ToolCallPhase::Done { output } => output.text.clone(),
        other => panic!("{other:?}"),
    }
}

/// What the agent sees of its last call and of the result.
fn seen(yard: &Yard) -> (String, String) {
    let state = yard.state.borrow();
    let mut actor = state.model_calls.iter().filter(|call| call.role == Role::Actor);
    let request = &actor.next_back().unwrap().request;
    let own = request.messages.iter().rev().find_map(|message| match message {
        Message::Assistant { calls, .. } => Some(calls[0].arguments["text"].clone()),
        _ => None,
    });
    (own.unwrap().as_str().unwrap().to_owned(), observed(request))
}

#[test]
fn edited_arguments_go_out_and_the_agent_sees_what_the_person_chose() {
    for (shown, sees) in [(true, "new"), (false, "old")] {
        on_paused_time(async {
            let yard = held_at("echo", vec![calls(&[echo("old")])]).await;
            yard.wish(arguments(2, "new", shown));
            run_on(&yard).await;
            let made = call(&yard, 0);
            assert_eq!((result(&made).as_str(), made.own.is_some(), made.edits), ("new", true, 1));
            assert_eq!(seen(&yard), (sees.to_owned(), "new".to_owned()));
            assert!(yard.refusals().is_empty());
        });
    }
}

#[test]
fn an_edit_that_does_not_fit_is_refused_with_the_reason() {
    on_paused_time(async {
        let yard = held_at("echo", vec![calls(&[echo("old")])]).await;
        yard.wish(edit(2, Edit::Arguments(json!({"text": 3})), true));
        yard.wish(edit(2, Edit::Arguments(json!({"ms": 3})), true));
        yard.wish(arguments(2, "old", true));
        yard.wish(edit(2, Edit::Messages(vec![Message::system("x")].into()), true));
        yard.wish(edit(2, Edit::Result("x".into()), true));
        yard.wish(arguments(9, "x", true));
        yard.wish(Command::RepeatCall { effect: EffectId(2) });
        yard.settle().await;
        let refusals = yard.refusals();
        for (said, expected) in refusals.iter().zip([
            "text",
            "text",
            "the edit changes nothing",
            "call 2 has no prompt",
            "the agent has seen it",
            "there is no call 9",
            "the agent has seen it",
        ]) {
            assert!(said.contains(expected), "{said} / {expected}");
        }
        assert_eq!(refusals.len(), 7, "{refusals:?}");
        run_on(&yard).await;
        assert_eq!(result(&call(&yard, 0)), "old");
        yard.wish(arguments(2, "late", true));
        yard.wish(Command::AnswerCall { effect: EffectId(2), text: "late".into() });
        yard.settle().await;
        assert_eq!(yard.refusals().len(), 9);
    });
}

#[test]
fn what_was_edited_passes_the_stations_before_again() {
    on_paused_time(async {
        let yard = held_at("echo", vec![calls(&[echo("old")])]).await;
        yard.wish(arguments(2, "new", true));
        // Meanwhile the tool is taken off the menu.
        yard.wish(Command::SwitchTool { tool: "echo".into(), on: false });
        run_on(&yard).await;
        assert!(matches!(call(&yard, 0).phase, ToolCallPhase::Refused { .. }));
    });
}

#[test]
fn an_edited_result_is_what_the_agent_sees_and_is_judged_again() {
    on_paused_time(async {
        let yard = held_at("echo:after", vec![calls(&[echo("old")])]).await;
        assert_eq!(call(&yard, 0).helpful, Some(true));
        yard.wish(edit(2, Edit::Result("nothing found".into()), true));
        run_on(&yard).await;
        assert_eq!(seen(&yard), ("old".to_owned(), "nothing found".to_owned()));
        let judged = yard.kinds().iter().filter(|kind| *kind == "Judged").count();
        assert_eq!((judged, call(&yard, 0).helpful), (2, Some(false)));
        assert_eq!(yard.most_at_once.borrow().1, 1, "the tool ran once");
    });
}

#[test]
fn an_edited_reply_and_an_edited_prompt_take_the_place_of_the_model_s() {
    on_paused_time(async {
        let yard = held_at("models:after", vec![calls(&[echo("old")])]).await;
        let edited = calls(&[echo("mine")]);
        let (text, calls) = ("I call this.".to_owned(), edited.calls);
        yard.wish(edit(1, Edit::Reply { text, calls }, true));
        yard.wish(Command::DeleteBreakpoint { breakpoint: toolyard::domain::BreakpointId(1) });
        run_on(&yard).await;
        assert_eq!(result(&call(&yard, 0)), "mine");
    });
    on_paused_time(async {
        let yard = held_at("models:hits=1", vec![say("the end")]).await;
        let messages = Messages::from([Message::user("another question")]);
        yard.wish(edit(1, Edit::Messages(messages.clone()), true));
        run_on(&yard).await;
        let state = yard.state.borrow();
        assert_eq!(state.model_calls[0].request.messages, messages);
        assert_eq!(state.model_calls[0].edits, 1);
    });
}

#[test]
fn a_call_is_answered_in_place_of_its_tool_or_model_while_it_is_held_or_runs() {
    on_paused_time(async {
        let yard = held_at("echo", vec![calls(&[echo("old")])]).await;
        yard.wish(Command::AnswerCall { effect: EffectId(2), text: "by hand".into() });
        run_on(&yard).await;
        let made = call(&yard, 0);
        assert_eq!((result(&made).as_str(), made.origin), ("by hand", Origin::Person));
        assert!(made.started.is_none(), "it never ran");
        assert_eq!(yard.most_at_once.borrow().1, 0);
    });
    on_paused_time(async {
        let hang = vec![Ok(calls(&[("hang", json!({"text": "x"}))]))];
        let yard = Trial { replies: hang, ..Trial::default() }.start();
        yard.until("it hangs", |state| state.tool_calls_in_flight().count() == 1).await;
        yard.wish(Command::AnswerCall { effect: EffectId(2), text: "enough".into() });
        let state = yard.session.await.unwrap();
        assert_eq!(result(&state.tool_calls[0]), "enough");
        assert_eq!(state.tasks_done, 1);
    });
}

#[test]
fn a_call_is_made_again_and_the_agent_sees_only_the_last_outcome() {
    on_paused_time(async {
        let replies = vec![calls(&[echo("one")])];
        let yard = held_at("echo:after:hits=1", replies).await;
        yard.wish(Command::RepeatCall { effect: EffectId(2) });
        yard.settle().await;
        // The session is still paused: the call that is made again is held before it starts.
        assert_eq!(yard.held(), ["before a tool call"]);
        yard.wish(arguments(3, "two", false));
        run_on(&yard).await;
        let (first, second) = (call(&yard, 0), call(&yard, 1));
        assert_eq!((result(&first).as_str(), result(&second).as_str()), ("one", "two"));
        assert_eq!(second.parent, Some(first.id));
        assert_eq!(seen(&yard), ("one".to_owned(), "two".to_owned()));
    });
    on_paused_time(async {
        let replies = vec![say("wrong"), say("right")];
        let yard = held_at("models:after:hits=1", replies).await;
        yard.wish(Command::RepeatCall { effect: EffectId(1) });
        run_on(&yard).await;
        assert_eq!(yard.state.borrow().tasks[0].answer.as_deref(), Some("right"));
    });
}

#[test]
fn an_edit_is_undone_while_the_call_waits() {
    on_paused_time(async {
        let yard = held_at("echo", vec![calls(&[echo("old")])]).await;
        yard.wish(arguments(2, "new", true));
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(call(&yard, 0).arguments["text"], "old");
        yard.wish(Command::Redo);
        yard.settle().await;
        assert_eq!(call(&yard, 0).arguments["text"], "new");
        run_on(&yard).await;
        assert_eq!(result(&call(&yard, 0)), "new");
    });
}

#[test]
fn a_session_with_edits_runs_again_from_its_record() {
    on_paused_time(async {
        let replies = || vec![Ok(calls(&[echo("old")])), Ok(say("the end"))];
        let yard =
            Trial { paused: true, stay: true, replies: replies(), ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(set("echo:both"));
        yard.wish(Command::Run);
        yard.settle().await;
        yard.wish(arguments(2, "new", false));
        yard.wish(Command::Run);
        yard.settle().await;
        yard.wish(edit(2, Edit::Result("by hand".into()), true));
        run_on(&yard).await;
        let recorded: Vec<_> =
            yard.records.borrow().iter().map(|record| (**record).clone()).collect();
        let live = yard.state.borrow().clone();
        let again = Trial {
            beginning: Beginning::Over { of: recorded.into(), until: None },
            stay: true,
            replies: vec![],
            ..Trial::default()
        }
        .start();
        again.until("the task is done again", |state| state.tasks_done == 1).await;
        let state = again.state.borrow();
        assert_eq!(state.tasks[0].answer, live.tasks[0].answer);
        assert_eq!(state.tool_calls[0].arguments, live.tool_calls[0].arguments);
        assert_eq!(state.tool_calls[0].phase, live.tool_calls[0].phase);
        assert_eq!(state.tool_calls[0].own, live.tool_calls[0].own);
        assert_eq!(again.most_at_once.borrow().1, 0, "no tool ran");
        let same = |state: &toolyard::domain::State| {
            state.model_calls.iter().map(|call| call.request.clone()).collect::<Vec<_>>()
        };
        assert_eq!(same(&state), same(&live));
    });
}

#[test]
fn an_edit_that_a_call_no_longer_takes_changes_nothing_after_its_end() {
    on_paused_time(async {
        let yard = held_at("echo", vec![calls(&[echo("old")])]).await;
        yard.wish(arguments(2, "new", true));
        yard.wish(Command::AnswerCall { effect: EffectId(2), text: "by hand".into() });
        run_on(&yard).await;
        assert_eq!(result(&call(&yard, 0)), "by hand");
        let judged = yard.kinds().iter().filter(|kind| *kind == "Judged").count();
        assert_eq!(judged, 1, "it passed the stations after it once");
    });
}
