//! A model that cannot be used: a person repairs it while the session waits; without one the session ends. One that says
//! nothing is not asked for ever.

use serde_json::json;
use toolyard::domain::{
    Command, Event, Mode, ModelError, ModelErrorKind, Origin, Outcome, Record, Reply, SessionEvent,
    State,
};
use toolyard::engine::Beginning;

use super::yard::{Trial, Yard, calls, on_paused_time, say};

fn refused(kind: ModelErrorKind, text: &str) -> Result<Reply, ModelError> {
    Err(ModelError::new(kind, text))
}

/// Two tasks of which the first call fails so.
fn trial(first: Result<Reply, ModelError>) -> Trial {
    let replies = vec![first, Ok(say("done"))];
    Trial { replies, strategy: "react", tasks: 2, ..Trial::default() }
}

fn records(yard: &Yard) -> Vec<Record> {
    yard.records.borrow().iter().map(|record| (**record).clone()).collect()
}

/// Why the session ended.
fn why(records: &[Record]) -> String {
    match &records.last().unwrap().event {
        Event::Session(SessionEvent::SessionEnded { why, .. }) => why.clone(),
        other => panic!("{other:?}"),
    }
}

fn is_told(state: &State, text: &str) -> bool {
    format!("{:?}", state.transcript).contains(text)
}

#[test]
fn without_a_person_the_session_ends_after_the_task_that_failed_so() {
    on_paused_time(async {
        let mut yard = trial(refused(ModelErrorKind::Auth, "the key is wrong.")).start();
        let state = (&mut yard.session).await.unwrap();
        assert_eq!(why(&records(&yard)), "a model is unusable: script: the key is wrong");
        let outcomes: Vec<_> = state.tasks.iter().map(|task| task.outcome()).collect();
        assert_eq!(outcomes, [Some(Outcome::Failed), None]);
        // A failure that passes ends no session.
        let mut yard = trial(refused(ModelErrorKind::Endpoint, "busy")).start();
        let state = (&mut yard.session).await.unwrap();
        assert_eq!(state.tasks_done, 2);
        assert!(!why(&records(&yard)).contains("cannot be used"));
    });
}

#[test]
fn with_a_person_the_session_waits_and_makes_the_call_again() {
    on_paused_time(async {
        let trial = trial(refused(ModelErrorKind::Auth, "the key is wrong."));
        let yard = Trial { stay: true, ..trial }.start();
        yard.until("it waits", |state| state.control.mode == Mode::Paused).await;
        assert!(is_told(&yard.state.borrow(), "script cannot be used: the key is wrong. Fix"));
        assert_eq!(yard.state.borrow().tasks_done, 0);
        yard.wish(Command::Run);
        yard.until("both are done", |state| state.tasks_done == 2).await;
        let state = yard.state.borrow();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        let [first, again, _] = &state.model_calls.iter().collect::<Vec<_>>()[..] else {
            panic!("{:?}", state.model_calls)
        };
        assert_eq!((first.parent, again.parent), (None, Some(first.id)));
        assert_eq!(first.request, again.request);
    });
}

/// The person repaired it then, and the record has what came of it.
#[test]
fn a_recorded_call_is_made_again_as_it_was() {
    on_paused_time(async {
        let first = trial(refused(ModelErrorKind::Auth, "the key is wrong."));
        let yard = Trial { stay: true, ..first }.start();
        yard.until("it waits", |state| state.control.mode == Mode::Paused).await;
        yard.wish(Command::Run);
        yard.until("both are done", |state| state.tasks_done == 2).await;
        let recorded = records(&yard);
        let asked = yard.state.borrow().model_calls.len();
        let replies = vec![];
        let mut again = Trial {
            beginning: Beginning::Over { of: recorded.into(), until: None },
            replies,
            strategy: "react",
            tasks: 2,
            ..Trial::default()
        }
        .start();
        let state = (&mut again.session).await.unwrap();
        assert_eq!((state.tasks_done, state.model_calls.len()), (2, asked));
        assert!(state.model_calls.iter().all(|call| call.origin == Origin::Recorded));
        assert!(!why(&records(&again)).contains("cannot be used"));
    });
}

#[test]
fn three_empty_replies_in_a_row_end_a_task_with_a_reason() {
    for strategy in ["react", "toolnet", "dfsdt", "tot-dfs", "react+reflexion"] {
        on_paused_time(async {
            let replies = (0..9).map(|_| Ok(say(" "))).collect();
            let mut yard = Trial { replies, strategy, ..Trial::default() }.start();
            let state = (&mut yard.session).await.unwrap();
            assert!(state.model_calls.len() <= 3, "{strategy}: {}", state.model_calls.len());
            assert_ne!(state.tasks[0].outcome(), Some(Outcome::Answered));
            let records = yard.records.borrow();
            let is_said = records.iter().any(|record| match &record.event {
                Event::Session(SessionEvent::Noticed { text }) => text.contains("3 times in a row"),
                _ => false,
            });
            // A search leaves a place after two of them.
            assert!(is_said || state.model_calls.len() < 3, "{strategy}");
        });
    }
}

#[test]
fn empty_replies_with_something_between_them_end_nothing() {
    on_paused_time(async {
        let call = || Ok(calls(&[("echo", json!({"text": "hello"}))]));
        let empty = || Ok(say(""));
        let replies = vec![empty(), empty(), call(), empty(), empty(), Ok(say("done"))];
        let state = Trial { replies, strategy: "react", ..Trial::default() }.start();
        let state = state.session.await.unwrap();
        assert_eq!(state.tasks[0].outcome(), Some(Outcome::Answered));
        assert_eq!(state.model_calls.len(), 6);
    });
}
