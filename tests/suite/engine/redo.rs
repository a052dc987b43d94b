//! What was undone is done again, and presses of one key are one change.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolyard::domain::state::undo::PRESSES;
use toolyard::domain::{
    Base, By, ChangeEvent, ClassAssignment, ClassedBy, Command, Event, GraphEvent, Knob, Record,
    Role, State, ToolName, ToolVerdict,
};

use super::yard::{Trial, Yard, on_paused_time};

fn echo() -> ToolName {
    "echo".into()
}

fn paused() -> Yard {
    Trial { paused: true, stay: true, ..Trial::default() }.start()
}

/// All that these commands change.
fn values(state: &State) -> Value {
    let tools = state.tools.values().map(|tool| {
        let name = &tool.spec.name;
        let weight = state.learning.pins.get("start", name.as_str());
        let class = tool.class.as_ref().map(ClassAssignment::name);
        json!([name, tool.switched_on, class, state.learning.score(name), weight])
    });
    let armed = state.faults.iter().filter(|(_, fault)| fault.armed);
    let roles: Vec<_> = state.models.roles.iter().map(|(role, use_)| (role, &use_.model)).collect();
    json!({
        "knobs": state.knobs,
        "tools": tools.collect::<Vec<_>>(),
        "armed": armed.map(|(id, fault)| (*id, fault.spec.to_string())).collect::<Vec<_>>(),
        "roles": roles,
        "strategy": state.strategy,
    })
}

/// Sends a command until it is refused; gives how often it was not.
async fn all(yard: &Yard, command: Command, refusal: &str) -> usize {
    let refused = yard.refusals().len();
    let mut times = 0;
    loop {
        yard.wish(command.clone());
        yard.settle().await;
        if let Some(why) = yard.refusals().get(refused) {
            assert_eq!(why, refusal);
            return times;
        }
        times += 1;
    }
}

async fn undo_all(yard: &Yard) -> usize {
    all(yard, Command::Undo, "nothing to undo").await
}

async fn redo_all(yard: &Yard) -> usize {
    all(yard, Command::Redo, "nothing to redo").await
}

fn change() -> impl Strategy<Value = Command> {
    let tool = || prop_oneof![Just(echo()), Just(ToolName::from("hang"))];
    let by = || prop_oneof![Just(1), Just(-1)];
    let knob = prop_oneof![Just(Knob::Alpha), Just(Knob::Budget), Just(Knob::Learn)];
    let class = prop_oneof![Just("Test"), Just("Web"), Just("Maths")];
    let weight = (tool(), 0u8..=4).prop_map(|(to, quarters)| Command::PinWeight {
        from: ToolName::start(),
        to,
        weight: f64::from(quarters) / 4.0,
    });
    let classed = |class: &str| {
        let (class, by) = (class.to_owned(), ClassedBy::User);
        Some(ClassAssignment { class, domain: None, by })
    };
    prop_oneof![
        4 => (knob, by()).prop_map(|(knob, steps)| Command::TurnKnobBy { knob, steps }),
        4 => (tool(), by()).prop_map(|(tool, by)| Command::AddScore { tool, by: f64::from(by) }),
        1 => tool().prop_map(|tool| Command::ForgetScore { tool }),
        1 => (tool(), any::<bool>()).prop_map(|(tool, on)| Command::SwitchTool { tool, on }),
        1 => weight,
        1 => tool().prop_map(|to| Command::UnpinWeight { from: ToolName::start(), to }),
        1 => Just(Command::ArmFault { spec: "echo:error".parse().unwrap() }),
        1 => Just(Command::DisarmFault { fault: toolyard::domain::FaultId(1) }),
        1 => Just(Command::RearmFault { fault: toolyard::domain::FaultId(1) }),
        1 => prop_oneof![Just(Base::React), Just(Base::Dfsdt)]
            .prop_map(|base| Command::UseStrategy { strategy: base.into() }),
        1 => prop_oneof![Just("script"), Just("second")]
            .prop_map(|name| Command::BindRole { role: Role::Actor, model: name.into() }),
        1 => (tool(), class)
            .prop_map(move |(tool, class)| Command::SetClass { tool, class: classed(class) }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn all_changes_are_undone_and_redone(
        changes in proptest::collection::vec((prop_oneof![Just(0), Just(2_000)], change()), 0..20),
    ) {
        on_paused_time(async {
            let yard = paused();
            yard.settle().await;
            let values = || values(&yard.state.borrow());
            let start = values();
            for (wait, change) in changes {
                tokio::time::sleep(Duration::from_millis(wait)).await;
                yard.wish(change);
            }
            yard.settle().await;
            let end = values();
            let undone = undo_all(&yard).await;
            assert_eq!(values(), start);
            assert_eq!(redo_all(&yard).await, undone);
            assert_eq!(values(), end);
            assert_eq!(undo_all(&yard).await, undone);
            assert_eq!(values(), start);
            // Who folds the events gets the same stacks.
            let records = yard.records.borrow();
            let folded = State::fold(records.iter().map(|record| &**record));
            assert_eq!(folded.control.changes, yard.state.borrow().control.changes);
            assert_eq!(folded.control.changes.redo.len(), undone);
        });
    }
}

#[test]
fn quick_presses_of_a_key_are_one_change_and_slow_ones_are_not() {
    on_paused_time(async {
        let yard = paused();
        let alpha = || yard.state.borrow().knobs.get(Knob::Alpha);
        let press = Command::TurnKnobBy { knob: Knob::Alpha, steps: 1 };
        let pause = |more| Duration::from_micros(PRESSES + more);
        let start = Knob::Alpha.spec().default;
        let step = Knob::Alpha.spec().step;
        for gap in [pause(0), pause(10_000), pause(0)] {
            yard.wish(press.clone());
            tokio::time::sleep(gap).await;
        }
        // The third press came too late after the second one.
        let close = |value: f64| assert!((alpha() - value).abs() < 1e-9, "{} {value}", alpha());
        close(start + 3.0 * step);
        yard.wish(Command::Undo);
        yard.settle().await;
        close(start + 2.0 * step);
        yard.wish(Command::Undo);
        yard.settle().await;
        close(start);
        yard.wish(Command::Redo);
        yard.settle().await;
        close(start + 2.0 * step);
        // A press after a redo is a change of its own, and nothing is left to redo.
        yard.wish(press.clone());
        yard.wish(Command::Redo);
        yard.wish(Command::Undo);
        yard.settle().await;
        close(start + 2.0 * step);
        assert_eq!(yard.refusals(), ["nothing to redo"]);
    });
}

#[test]
fn presses_with_another_change_between_them_are_two_changes() {
    on_paused_time(async {
        let yard = paused();
        let press = || Command::AddScore { tool: echo(), by: 1.0 };
        let turn = Command::TurnKnob { knob: Knob::Alpha, value: 2.0 };
        for command in [press(), press(), turn.clone(), press(), Command::Undo] {
            yard.wish(command);
        }
        yard.settle().await;
        assert_eq!(yard.state.borrow().learning.score(&echo()), 2.0);
        // The change between them may even be undone.
        for command in [Command::Undo, press(), Command::Undo] {
            yard.wish(command);
        }
        yard.settle().await;
        assert_eq!(yard.state.borrow().learning.score(&echo()), 2.0);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(yard.state.borrow().learning.score(&echo()), 0.0);
        assert_eq!(yard.refusals(), Vec::<String>::new());
    });
}

#[test]
fn presses_that_lead_back_leave_nothing_to_undo() {
    on_paused_time(async {
        let yard = paused();
        yard.wish(Command::SwitchTool { tool: echo(), on: false });
        for steps in [1, 1, -2] {
            yard.wish(Command::TurnKnobBy { knob: Knob::Alpha, steps });
        }
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(yard.state.borrow().in_shown().offered_tools().count(), 2);
        assert_eq!(undo_all(&yard).await, 0);
    });
}

#[test]
fn a_score_that_the_agent_moves_between_presses_keeps_what_was_learned() {
    on_paused_time(async {
        let yard = paused();
        let press = || Command::AddScore { tool: echo(), by: 1.0 };
        let score = || yard.state.borrow().learning.score(&echo());
        yard.wish(press());
        yard.wish(Command::Run);
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        yard.wish(press());
        yard.settle().await;
        assert_eq!(score(), 4.0, "the evaluator gave 2");
        assert_eq!(yard.state.borrow().control.changes.undo.len(), 1);
        yard.wish(Command::Undo);
        yard.settle().await;
        assert_eq!(score(), 2.0);
        yard.wish(Command::Redo);
        yard.settle().await;
        assert_eq!(score(), 4.0);
    });
}

#[test]
fn a_score_is_redone_with_what_was_learned_since_the_undo() {
    on_paused_time(async {
        let yard = paused();
        yard.wish(Command::SetScore { tool: echo(), score: 5.0 });
        yard.wish(Command::Undo);
        yard.wish(Command::Run);
        yard.until("the task is done", |state| state.tasks_done == 1).await;
        yard.wish(Command::Redo);
        yard.settle().await;
        assert_eq!(yard.state.borrow().learning.score(&echo()), 7.0);
    });
}

fn turned(n: u64, ms: u64, value: f64, was: f64, by: By) -> Record {
    Record::new(
        n,
        ms * 1000,
        ChangeEvent::KnobTurned { knob: Knob::Alpha, value: value.into(), was: was.into(), by },
    )
}

#[test]
fn journals_whose_presses_were_undone_one_by_one_still_read() {
    let records = [
        turned(1, 0, 0.55, 0.5, By::User),
        turned(2, 100, 0.6, 0.55, By::User),
        turned(3, 200, 0.55, 0.6, By::Undo(2)),
        turned(4, 300, 0.5, 0.55, By::Undo(1)),
    ];
    let back = |records: &[Record]| {
        let changes = State::fold(records).control.changes;
        changes.undo.iter().map(|change| change.back().unwrap()).collect::<Vec<_>>()
    };
    let knob = Knob::Alpha;
    assert_eq!(back(&records[..3]), [Command::TurnKnob { knob, value: 0.5 }]);
    assert_eq!(back(&records), []);
}

#[test]
fn one_change_that_a_slower_session_repeats_is_undone_as_one() {
    let records = [
        turned(1, 0, 0.55, 0.5, By::User),
        turned(2, 5_000, 0.6, 0.55, By::User),
        turned(3, 9_000, 0.5, 0.6, By::Undo(1)),
    ];
    let changes = State::fold(&records).control.changes;
    assert_eq!(changes.undo, []);
    assert_eq!(changes.redo[0].back(), Some(Command::TurnKnob { knob: Knob::Alpha, value: 0.6 }));
}

#[test]
fn a_redo_is_read_from_a_journal_and_says_what_it_is() {
    let line = r#"{"n":4,"at":9,"kind":"KnobTurned","data":{"knob":"alpha","value":0.6,"was":0.5,"by":{"redo":3}}}"#;
    let record = Record::read(line.as_bytes()).unwrap();
    assert_eq!(record.event.by(), Some(By::Redo(3)));
    assert_eq!(serde_json::to_string(&record).unwrap(), line);
    let mut records = vec![turned(1, 0, 0.6, 0.5, By::User), turned(2, 1, 0.5, 0.6, By::Undo(1))];
    records.push(Record { n: 3, ..turned(3, 2, 0.6, 0.5, By::Redo(2)) });
    let state = State::fold(&records);
    assert_eq!((state.control.changes.undo.len(), state.control.changes.redo.len()), (1, 0));
    assert_eq!(state.control.changes.undo[0].n, 3);
}

#[test]
fn weights_moved_last_by_what_was_not_undone() {
    let verdicts = vec![ToolVerdict { tool: echo(), score: 2, reason: "helped".into() }];
    let evaluated: Event =
        GraphEvent::Evaluated { task: toolyard::domain::TaskId(1), verdicts, learned: true }.into();
    let (first, second) = (turned(2, 0, 0.55, 0.5, By::User), turned(3, 100, 0.6, 0.55, By::User));
    let undone = turned(4, 200, 0.5, 0.6, By::Undo(2));
    let redone = turned(5, 300, 0.6, 0.5, By::Redo(4));
    let records = [Record::new(1, 0, evaluated), first, second, undone, redone];
    let moved = |most: usize| State::fold(&records[..most]).last_move();
    let by_evaluation = moved(1);
    let by_knob = Some(toolyard::domain::state::Cause::Knob { knob: Knob::Alpha, was: 0.5 });
    assert!(by_evaluation.is_some());
    assert_eq!(moved(3), by_knob, "both presses together");
    assert_eq!(moved(4), by_evaluation);
    assert_eq!(moved(5), by_knob);
}
