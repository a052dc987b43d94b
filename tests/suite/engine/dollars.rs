//! The limit of real money in sessions whose model costs 2 dollars a call.

use toolyard::domain::{
    Command, Event, Mode, ModelCallEvent, ModelName, Origin, Outcome, Record, Role, SessionEvent,
    State, TaskState,
};
use toolyard::engine::Beginning;

use super::yard::{Trial, Yard, on_paused_time, say};

fn limited(dollars: f64) -> Trial {
    Trial { strategy: "react", max_dollars: Some(dollars), ..Trial::default() }
}

/// The model calls that a session started, however it ended.
fn started(yard: &Yard) -> usize {
    let records = yard.records.borrow();
    let started =
        |event: &Event| matches!(event, Event::ModelCall(ModelCallEvent::ModelCallStarted { .. }));
    records.iter().filter(|record| started(&record.event)).count()
}

#[test]
fn a_session_ends_before_the_call_that_would_exceed_the_limit() {
    on_paused_time(async {
        // A first answer is assumed to be short, and the second call to cost as much as the first.
        for (dollars, calls) in [(0.0, 0), (2.5, 1), (3.9, 1), (4.0, 2)] {
            let mut yard = limited(dollars).start();
            let state = (&mut yard.session).await.unwrap();
            assert_eq!(started(&yard), calls, "{dollars}");
            assert_eq!(state.dollars_spent(), 2.0 * calls as f64);
            let records = yard.records.borrow();
            let Event::Session(SessionEvent::SessionEnded { why, .. }) =
                &records.last().unwrap().event
            else {
                panic!("{records:?}");
            };
            assert_eq!(why.contains("the limit of dollars is reached"), calls < 2, "{why}");
        }
    });
}

#[test]
fn a_person_may_allow_the_limit_once_more() {
    on_paused_time(async {
        let yard = Trial { stay: true, ..limited(2.5) }.start();
        let said = |text: &str| {
            let text = text.to_owned();
            move |state: &State| {
                let is_said = format!("{:?}", state.transcript).contains(&text);
                is_said && state.control.mode == Mode::Paused
            }
        };
        yard.until("the limit pauses it", said("continuing allows 2.50 more")).await;
        assert_eq!(started(&yard), 1);
        yard.wish(Command::Run);
        yard.until("it is done", |state| state.tasks_done == 1).await;
        assert_eq!(started(&yard), 2);
        assert_eq!(yard.state.borrow().dollars_spent(), 4.0);
    });
}

#[test]
fn a_simulated_model_costs_nothing_of_the_limit() {
    on_paused_time(async {
        let yard = Trial { stay: true, max_dollars: None, ..limited(0.0) }.start();
        yard.until("it is done", |state| state.tasks_done == 1).await;
        assert_eq!(yard.state.borrow().dollars_spent(), 0.0);
        assert_eq!(yard.mode(), Mode::Running);
    });
}

/// What a recorded answer had cost was paid in the session before.
#[test]
fn recorded_answers_leave_the_limit_to_new_calls() {
    on_paused_time(async {
        let first = limited(9.0).start();
        let Yard { session, records, commands: _commands, .. } = first;
        session.await.unwrap();
        let recorded: Vec<_> = records.borrow().iter().map(|record| (**record).clone()).collect();
        let mut again = Trial {
            beginning: Beginning::Over { of: recorded.into(), until: None },
            tasks: 2,
            ..limited(4.5)
        }
        .start();
        (&mut again.session).await.unwrap();
        let records = again.records.borrow();
        let live = records.iter().filter(|record| {
            matches!(&record.event, Event::ModelCall(ModelCallEvent::ModelCallStarted { effect })
                if effect.origin == Origin::Live)
        });
        assert_eq!(live.count(), 2, "the second task is new");
    });
}

/// A planner that costs 2 dollars a call, and a solver that costs nothing since it is simulated. Gives the records, and how
/// many tasks were answered.
async fn beside_a_simulated_model(
    dollars: f64,
    tasks: usize,
    recorded: Vec<Record>,
) -> (Vec<Record>, usize) {
    let written = || Ok(say("Plan: a\n#E1 = echo[x]"));
    let trial = Trial {
        strategy: "workers",
        replies: vec![written(), written()],
        second: vec![Ok(say("done")), Ok(say("done"))],
        tasks,
        paused: true,
        beginning: Beginning::Over { of: recorded.into(), until: None },
        ..limited(dollars)
    };
    let mut yard = trial.start();
    yard.settle().await;
    // A recorded session repeats them by itself.
    let solver = Command::BindRole { role: Role::Solver, model: ModelName::from("second") };
    _ = yard.commands.send(solver);
    _ = yard.commands.send(Command::Run);
    let state = (&mut yard.session).await.unwrap();
    let records = yard.records.borrow().iter().map(|record| (**record).clone()).collect();
    let answered = |task: &&TaskState| task.outcome() == Some(Outcome::Answered);
    (records, state.tasks.iter().map(|task| &**task).filter(answered).count())
}

#[test]
fn a_simulated_model_answers_where_nothing_is_left_for_others() {
    on_paused_time(async {
        let (records, answered) = beside_a_simulated_model(1.0, 1, vec![]).await;
        assert_eq!(answered, 1);
        // Nor does what it is recorded to have said leave more for them.
        let (_, answered) = beside_a_simulated_model(0.5, 2, records).await;
        assert_eq!(answered, 1);
    });
}
