//! A session without the command line: from a spec that somebody wrote, through the library.

use toolyard::app::session::{
    JournalChoice, SessionError, SessionHandle, SessionSpec, SpecField, TaskSource,
};
use toolyard::app::workspace::Workspace;
use toolyard::domain::{
    Base, Command, ControlEvent, Event, Knob, Record, Role, SessionEvent, State, Task,
};
use toolyard::stage::sample::Sample;
use toolyard::store::journal;

use crate::program::Home;

/// A session on the demo that nothing of this machine's user reaches.
fn demo(home: &Home, toml: &str) -> SessionSpec {
    home.write("config.toml", "");
    let spec = toml::from_str(toml).unwrap();
    SessionSpec { config: Some(home.path("config.toml")), fresh: true, ..spec }
}

/// Every record of a session, and its last state.
pub fn ran(spec: &SessionSpec) -> (Vec<Record>, State) {
    let SessionHandle { mut records, commands, engine, .. } =
        spec.prepare().unwrap().spawn().unwrap();
    let mut seen = Vec::new();
    while let Some(record) = records.blocking_recv() {
        seen.push((*record).clone());
    }
    drop(commands);
    (seen, engine.join().unwrap())
}

#[test]
fn a_spec_that_was_written_runs_and_says_what_happens() {
    let home = Home::new();
    let text = "
        strategy = \"react\"
        seed = 7
        tasks_limit = 2
        faults = [\"search_web:latency:ms=1\"]
        costs = \"1..10\"
        knobs = { max_steps = 5 }
    ";
    let spec = demo(&home, text);
    let spec = SessionSpec { journal: JournalChoice::File(home.path("j.jsonl")), ..spec };
    let (records, state) = ran(&spec);
    assert_eq!(State::fold(&records), state);
    assert_eq!(journal::read(&home.path("j.jsonl")).unwrap().records, records);
    let Event::Session(SessionEvent::SessionOpened { opening }) = &records[0].event else {
        panic!("{:?}", records[0])
    };
    assert_eq!((opening.strategy, opening.seed, opening.paused), (Base::React.into(), 7, false));
    assert_eq!(opening.knobs.get(Knob::MaxSteps), 5.0);
    assert_eq!(state.faults.len(), 1);
    assert_eq!(state.tasks.len(), 2);
    assert!(state.tasks.iter().all(|task| task.outcome().is_some()));

    let elsewhere: SessionSpec =
        serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    let (again, _) = ran(&SessionSpec { journal: JournalChoice::None, ..elsewhere });
    let kinds = |records: &[Record]| -> Vec<_> {
        records.iter().map(|record| record.event.kind().to_owned()).collect()
    };
    assert_eq!(kinds(&again), kinds(&records), "the same spec makes the same session");
}

#[test]
fn a_session_that_is_paused_and_stays_waits_for_commands() {
    let home = Home::new();
    let spec = demo(&home, "paused = true\nstay = true\njournal = \"none\"\ntasks.list = []");
    let SessionHandle { mut records, commands, engine, journal, .. } =
        spec.prepare().unwrap().spawn().unwrap();
    assert_eq!(journal, None);
    commands.send(Command::QueueTask { text: "What is 2 + 2?".into() }).unwrap();
    let held = |event: &Event| matches!(event, Event::Control(ControlEvent::Held { .. }));
    while !held(&records.blocking_recv().unwrap().event) {}
    commands.send(Command::Stop).unwrap();
    let state = engine.join().unwrap();
    let outcomes: Vec<_> = state.tasks.iter().map(|task| task.outcome()).collect();
    assert_eq!(outcomes, [None], "no task was begun");
}

#[test]
fn a_task_that_is_only_a_text_is_the_one_that_the_workspace_knows() {
    let home = Home::new();
    let known = Workspace::open(None, Some(Sample::General), &[]).unwrap().tasks.swap_remove(1);
    let tasks = |task: &Task| {
        let tasks = TaskSource::List(vec![task.clone()]);
        SessionSpec { tasks, ..demo(&home, "") }.prepare().unwrap().tasks
    };
    let own = Task { gold: Some("mine".into()), ..Task::from_text(&known.text) };
    assert_eq!(tasks(&own).distinct(), [own]);
    assert_eq!(tasks(&Task::from_text(format!(" {} ", known.text))).distinct(), [known]);
}

#[test]
fn what_does_not_fit_is_said_with_the_field_of_the_spec() {
    let home = Home::new();
    let wrong = |change: &dyn Fn(&mut SessionSpec)| {
        let mut spec = demo(&home, "");
        change(&mut spec);
        spec.prepare().err().unwrap()
    };
    let fault: toolyard::domain::fault::FaultSpec = "serch_web:error".parse().unwrap();
    let cases: [(SpecField, &str, SessionError); 4] = [
        (
            SpecField::Model,
            "model: no model \"m\" in",
            wrong(&|spec| spec.model = Some("m".into())),
        ),
        (
            SpecField::Role(Role::Solver),
            "roles.solver: no model \"m\" in",
            wrong(&|spec| spec.roles = [(Role::Solver, "m".into())].into()),
        ),
        (
            SpecField::Knob(Knob::Tau),
            "knobs.tau: tau takes a number from 0 to 1",
            wrong(&|spec| spec.knobs = [(Knob::Tau, 2.0)].into()),
        ),
        (
            SpecField::Fault(fault.clone().into()),
            "faults: serch_web:error: there is no tool serch_web; did you mean `search_web`?",
            wrong(&|spec| spec.faults = vec![fault.clone()]),
        ),
    ];
    for (field, says, error) in cases {
        assert!(error.to_string().starts_with(says), "{error}");
        let SessionError::Spec { field: said, .. } = error else { panic!("{error:?}") };
        assert_eq!(said, field);
    }
    let empty = wrong(&|spec| spec.tasks = TaskSource::List(vec![Task::from_text(" ")]));
    assert!(matches!(empty, SessionError::Input(_)), "{empty:?}");
    assert_eq!(empty.to_string(), "the task is empty");
}
