//! Tool calls that need a person's consent.

use serde_json::json;
use toolyard::domain::{
    Approval, Command, EffectId, Event, Mode, Refusal, SessionEvent, ToolCallPhase,
};

use super::yard::{Trial, Yard, calls, observed, on_paused_time};

fn rules(deny: &[&str], allow: &[&str], ask: &[&str]) -> Command {
    let read = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    let approval = Approval { deny: read(deny), allow: read(allow), ask: read(ask) };
    Command::SetApproval { approval: Box::new(approval) }
}

fn echo(text: &str) -> (&'static str, serde_json::Value) {
    ("echo", json!({"text": text}))
}

fn trial(texts: &[&str], stay: bool) -> Trial {
    let replies = vec![Ok(calls(&texts.iter().map(|text| echo(text)).collect::<Vec<_>>()))];
    Trial { paused: true, stay, replies, ..Trial::default() }
}

/// Which calls wait for consent.
fn asks(yard: &Yard) -> Vec<u32> {
    yard.state.borrow().control.asks.iter().map(|id| id.0).collect()
}

/// What became of each call: its text, or why it was refused.
fn ends(yard: &Yard) -> Vec<String> {
    let state = yard.state.borrow();
    let said = |phase: &ToolCallPhase| match phase {
        ToolCallPhase::Done { output } => output.text.clone(),
        ToolCallPhase::Refused { reason: Refusal::Denied, .. } => "denied".to_owned(),
        other => format!("{other:?}"),
    };
    state.tool_calls.iter().map(|call| said(&call.phase)).collect()
}

async fn started(trial: Trial, rules: Command) -> Yard {
    let yard = trial.start();
    yard.settle().await;
    yard.wish(rules);
    yard.wish(Command::Run);
    yard.settle().await;
    yard
}

#[test]
fn a_person_allows_a_call_or_refuses_it_while_the_others_run() {
    on_paused_time(async {
        let ask = rules(&[], &[], &["echo:if=args.text != \"free\""]);
        let yard = started(trial(&["one", "free", "two"], true), ask).await;
        yard.until("the free call is done", |state| state.tool_calls[1].is_over()).await;
        assert_eq!((asks(&yard), yard.mode()), (vec![2, 4], Mode::Running));
        assert_eq!(yard.held(), ["before a tool call", "before a tool call"]);
        yard.wish(Command::Consent { effect: EffectId(2), allowed: true });
        yard.wish(Command::Consent { effect: EffectId(4), allowed: false });
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(ends(&yard), ["one", "free", "denied"]);
        let state = yard.state.borrow();
        let request = &state.model_calls[1].request;
        assert!(observed(request).contains("a person refused this call of echo"));
        assert!(state.control.asks.is_empty());
    });
}

#[test]
fn without_a_person_it_is_refused_unless_a_rule_allows_it() {
    for (allow, end) in [(&[][..], "denied"), (&["echo"], "x"), (&["hang"], "denied")] {
        on_paused_time(async {
            let yard = started(trial(&["x"], false), rules(&[], allow, &["effect:read"])).await;
            yard.until("the task is done", |state| state.tasks_done == 1).await;
            assert_eq!(ends(&yard), [end]);
            let told = yard.records.borrow().iter().any(|record| {
                matches!(&record.event, Event::Session(SessionEvent::Noticed { text })
                    if text.contains("`--allow echo` allows them"))
            });
            assert_eq!(told, end == "denied");
            assert!(!yard.kinds().iter().any(|kind| kind == "ConsentAsked"));
        });
    }
}

#[test]
fn what_is_denied_is_never_asked_for() {
    on_paused_time(async {
        let deny = rules(&["tools:if=args.text.startsWith(\"rm\")"], &["echo"], &["tools"]);
        let yard = started(trial(&["rm -rf", "ls"], true), deny).await;
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(ends(&yard), ["denied", "ls"]);
    });
}

#[test]
fn a_tool_is_allowed_for_the_rest_of_the_session_and_that_is_undone() {
    on_paused_time(async {
        let yard = started(trial(&["one", "two"], true), rules(&[], &[], &["tools"])).await;
        assert_eq!(asks(&yard), [2, 3]);
        yard.wish(Command::AllowTool { effect: EffectId(2) });
        yard.settle().await;
        assert_eq!(asks(&yard), [3], "what asked already still asks");
        yard.wish(Command::Consent { effect: EffectId(3), allowed: true });
        yard.wish(Command::Consent { effect: EffectId(3), allowed: true });
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(yard.refusals(), ["call 3 is not waiting for consent"]);
        assert_eq!(yard.state.borrow().approval.allow.len(), 1);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert!(yard.state.borrow().approval.allow.is_empty());
    });
}

#[test]
fn a_pause_a_step_and_a_cancel_come_to_rest_while_a_call_waits_for_consent() {
    on_paused_time(async {
        let yard = started(trial(&["one", "two"], true), rules(&[], &[], &["tools"])).await;
        yard.wish(Command::Pause);
        yard.settle().await;
        assert_eq!(yard.mode(), Mode::Paused);
        yard.wish(Command::Step);
        yard.settle().await;
        assert_eq!((yard.mode(), asks(&yard)), (Mode::Paused, vec![2, 3]), "{:?}", yard.kinds());
        yard.wish(Command::Cancel(EffectId(2)));
        yard.settle().await;
        assert_eq!(asks(&yard), [3]);
        // Allowed while the agent is paused: it is held like any other call.
        yard.wish(Command::Consent { effect: EffectId(3), allowed: true });
        yard.settle().await;
        assert_eq!(yard.mode(), Mode::Paused);
        assert_eq!(yard.held(), ["after a tool call", "before a tool call"]);
        yard.wish(Command::Run);
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        assert_eq!(ends(&yard)[1], "two");
    });
}

#[test]
fn a_persons_own_call_needs_no_other_consent() {
    on_paused_time(async {
        let yard = Trial { paused: true, stay: true, ..Trial::default() }.start();
        yard.settle().await;
        yard.wish(rules(&[], &[], &["echo"]));
        yard.wish(Command::CallTool { tool: "echo".into(), arguments: json!({"text": "own"}) });
        yard.until("it ends", |state| state.tool_calls.iter().any(|call| call.is_over())).await;
        assert_eq!((ends(&yard), asks(&yard)), (vec!["own".to_owned()], vec![]));
    });
}
