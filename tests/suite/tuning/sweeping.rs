//! Trying a knob at several values: copies of a session, what the screen makes of them, and the keys.

use toolyard::app::session::{JournalChoice, SessionHandle, SessionSpec};
use toolyard::domain::state::Keeps;
use toolyard::domain::{
    Command, ControlEvent, Event, Knob, Lap, State, Task, TaskEvent, TaskId, Tried, TriedEnd,
};
use toolyard::papers::sweep::{SEEDS, Scope};
use toolyard::ui::request::ScreenRequest;
use toolyard::ui::sweep::{Sweep, SweepNews};

use crate::program::Home;
use crate::sitting::Sitting;
use crate::stage::Stage;
use crate::story;

/// Runs a prepared session with these commands; its first event's state, and its last.
fn ran(session: SessionHandle, first: Vec<Command>) -> (State, State) {
    let SessionHandle { mut records, commands, engine, .. } = session;
    first.into_iter().for_each(|command| commands.send(command).unwrap());
    let (mut opened, mut state) = (None, State::default());
    while let Some(record) = records.blocking_recv() {
        state.apply(&record);
        if matches!(record.event, Event::Task(TaskEvent::TaskStarted { .. })) && opened.is_none() {
            opened = Some(state.clone());
        }
    }
    drop(engine.join().unwrap());
    (opened.unwrap(), state)
}

#[test]
fn a_copy_goes_on_from_where_the_session_stands_and_saves_nothing() {
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    let home = Home::new();
    home.write("config.toml", "");
    let text = "strategy = \"toolnet\"\nseed = 3\ntasks_limit = 12\n\
                faults = [\"search_web:error:from-task=4:to-task=9\"]";
    let spec: SessionSpec = toml::from_str(text).unwrap();
    let spec = SessionSpec {
        config: Some(home.path("config.toml")),
        learned: Some(home.path("learned.json")),
        experience: Some(home.path("past.sqlite")),
        journal: JournalChoice::None,
        paused: true,
        ..spec
    };
    let mut prepared = spec.prepare().unwrap();
    let origin = prepared.origin().unwrap();
    let SessionHandle { mut records, commands, engine, .. } = prepared.spawn().unwrap();
    let mut live = State::keeping(Keeps::All);
    let mut until = |is_it: &dyn Fn(&State, &Event) -> bool| {
        while let Some(record) = records.blocking_recv() {
            live.apply(&record);
            if is_it(&live, &record.event) {
                return live.clone();
            }
        }
        panic!("the session ended");
    };
    let held = |event: &Event| matches!(event, Event::Control(ControlEvent::Held { .. }));
    until(&|_, event| held(event));
    // What a person sets by hand.
    for command in [
        Command::TurnKnob { knob: Knob::Beta, value: 0.2 },
        Command::SetScore { tool: "search_backup".into(), score: 7.0 },
        Command::SwitchTool { tool: "phrasebook".into(), on: false },
        Command::PinWeight { from: "start".into(), to: "timetable".into(), weight: 0.9 },
    ] {
        commands.send(command).unwrap();
    }
    for _ in 0..5 {
        commands.send(Command::StepTask).unwrap();
        until(&|state, event| held(event) && state.task_at_work().is_none());
    }
    let live = until(&|_, _| true);
    assert_eq!(live.tasks_done, 5);
    let saved = home.read("learned.json");
    let scope = Scope::of(&live, Knob::Alpha).unwrap();
    assert_eq!((scope.tasks.len(), scope.again, scope.left_out), (7, false, 0));
    assert_eq!(scope.tasks[0].text, live.tasks.get(5).unwrap().task.text);

    let standing = origin.standing(&live, live.tasks_done).unwrap();
    let (copy, first) = standing.with(scope.tasks.clone(), (Knob::Alpha, 2.0), 0, 0.0).unwrap();
    let (opened, ended) = ran(copy.spawn().unwrap(), first);
    assert_eq!(opened.knobs.get(Knob::Alpha), 2.0);
    assert_eq!((opened.knobs.get(Knob::Beta), opened.knobs.get(Knob::Speed)), (0.2, 0.0));
    assert_eq!(opened.learning.scores, live.learning.scores);
    assert_eq!(opened.learning.pins, live.learning.pins);
    assert_eq!(opened.learning.graph.edges(), live.learning.graph.edges());
    assert!(!opened.tools["phrasebook"].switched_on);
    assert_eq!((opened.strategy, opened.seed), (live.strategy, live.seed));
    let faults: Vec<String> = opened.faults.values().map(|fault| fault.spec.to_string()).collect();
    assert_eq!(faults, ["search_web:error:to-task=4"], "tasks count from here");
    assert_eq!(ended.tasks_done, 7);
    assert_eq!(home.read("learned.json"), saved, "it saves nothing");

    // The value of now does what the session itself does with the rest of its tasks.
    let (copy, first) = standing.with(scope.tasks, (Knob::Alpha, 0.5), 0, 0.0).unwrap();
    let (_, same) = ran(copy.spawn().unwrap(), first);
    commands.send(Command::Run).unwrap();
    while records.blocking_recv().is_some() {}
    drop(commands);
    let whole = engine.join().unwrap();
    let tools = |state: &State, from: usize| -> Vec<Vec<String>> {
        let laps = state.laps.iter().skip(from);
        laps.map(|lap| lap.tried.iter().map(|tried| tried.tool.to_string()).collect()).collect()
    };
    assert_eq!(tools(&same, 0), tools(&whole, 5));
}

#[test]
fn a_copy_knows_the_past_uses_of_a_session_that_keeps_none() {
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    let home = Home::new();
    home.write("config.toml", "");
    let spec: SessionSpec =
        toml::from_str("strategy = \"react+btp\"\nseed = 3\ntasks_limit = 9").unwrap();
    let config = Some(home.path("config.toml"));
    let spec =
        SessionSpec { config, fresh: true, journal: JournalChoice::None, paused: true, ..spec };
    let mut prepared = spec.prepare().unwrap();
    let origin = prepared.origin().unwrap();
    let (_, live) = ran(prepared.spawn().unwrap(), vec![Command::Run]);
    let experience = |state: &State, task: u32| -> u32 {
        let plan = state.task(TaskId(task)).unwrap().budget.first.clone().unwrap();
        plan.tools.iter().map(|tool| tool.experience).sum()
    };
    assert_eq!(experience(&live, 1), 0, "nothing was known");
    let scope = Scope::of(&live, Knob::Tau).unwrap();
    assert!(scope.again && scope.tasks.len() == 9, "all are done again");
    let standing = origin.standing(&live, live.tasks_done).unwrap();
    let (mut copy, first) = standing.with(scope.tasks, (Knob::Tau, 0.3), 0, 0.0).unwrap();
    copy.keeps = Keeps::All;
    let (_, again) = ran(copy.spawn().unwrap(), first);
    assert!(experience(&again, 1) > 0);
}

#[test]
fn speed_is_not_tried_and_nothing_without_a_task() {
    let story = story::demo();
    assert!(!Scope::of(story.state(), Knob::MaxSteps).unwrap().again);
    // Nothing reads it in a session without a budget plan.
    assert_eq!(Scope::of(story.state(), Knob::Tau), Err("only +btp plans a budget"));
    assert!(Scope::of(story.state(), Knob::Speed).unwrap_err().contains("speed has no effect"));
    let none = State::default();
    assert_eq!(Scope::of(&none, Knob::MaxSteps), Err("no task to try it on"));
}

/// A task of so many calls.
fn lap(task: u32, calls: usize) -> Lap {
    let tried = Tried { tool: "search_web".into(), end: TriedEnd::Ok, instead_of: None };
    Lap {
        task: TaskId(task),
        outcome: None,
        correct: Some(true),
        tried: vec![tried; calls],
        tokens: 1000 * calls as u64,
        credits: (calls as f64).into(),
        dollars: 0.0.into(),
        ..Lap::default()
    }
}

/// A screen on which `alpha` was tried at five values: all, or as far as `values` with the first seed.
fn tried(values: usize) -> Stage {
    let mut stage = Stage::of(&story::demo());
    stage.press("4 z");
    let scope = Scope {
        knob: Knob::Alpha,
        now: 0.5,
        values: vec![0.0, 0.25, 0.5, 1.0, 2.0],
        tasks: vec![Task::from_text("x"); 4],
        again: false,
        left_out: 0,
    };
    stage.screen.begin_sweep(Sweep::new(scope));
    let seeds = if values == 5 { SEEDS } else { 1 };
    for seed in 0..seeds {
        for (place, calls) in [3, 1, 2, 2, 4].into_iter().enumerate().take(values) {
            for task in 1..=4 {
                // One call more in one task of each seed but the first.
                let calls = calls + usize::from(task as usize == seed);
                stage.screen.hear_of_sweep(SweepNews::Lap(place, lap(task, calls)));
            }
        }
    }
    stage.draw();
    stage
}

#[test]
fn the_curve_of_a_sweep_at_two_sizes() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut stage = tried(5).sized(width, height);
        stage.screen.hear_of_sweep(SweepNews::Ended);
        stage.screen.view.told = false;
        stage.draw();
        insta::assert_snapshot!(format!("sweep-{width}x{height}"), stage.text());
    }
    let mut narrow = tried(5);
    narrow.press("z");
    assert!(narrow.shows("0.00 0.25 0.50 1.00 2.00"), "{}", narrow.text());
    assert!(
        narrow.shows("preview alpha 0.50 → 0.55") && narrow.shows("best: 0.25 (−1.00 ± 0.00 calls")
    );
}

#[test]
fn keys_start_end_judge_and_use_a_sweep() {
    let mut stage = Stage::of(&story::demo());
    stage.press("3");
    assert!(stage.press("&").is_empty() && stage.shows("select a knob first"));
    let mut stage = tried(3);
    assert!(stage.shows("seed 1/5 · value 4/5 · 0/4") && stage.shows("x: end the sweep"));
    assert!(stage.press("&").is_empty() && stage.shows("a sweep is running already"));
    assert_eq!(stage.press("x"), [ScreenRequest::EndSweep]);
    stage.screen.end_sweep();
    assert!(stage.press("esc").is_empty());
    let mut stage = tried(5);
    stage.screen.hear_of_sweep(SweepNews::Ended);
    stage.draw();
    assert!(
        stage.shows("best: 0.25 (−1.00 ± 0.00 calls per task against 0.50, now)"),
        "{}",
        stage.text()
    );
    assert!(stage.shows("enter: use 0.25"), "{}", stage.text());
    let use_it = Command::TurnKnob { knob: Knob::Alpha, value: 0.25 };
    assert_eq!(stage.press("enter"), [ScreenRequest::Send(use_it)]);
    stage.press("V V V V");
    assert!(
        stage.shows("right answers: no clear difference (100 %); 0.50 stays"),
        "{}",
        stage.text()
    );
    assert!(!stage.shows("enter: use"), "nothing is better");
    stage.press("down");
    assert!(stage.shows("beta"), "the preview is of another knob, and the sweep stays");
    assert!(stage.shows("sweep alpha"));
    assert!(stage.press("&").is_empty() && stage.shows("Try 6 values of beta?"));
    assert!(
        stage.shows("the models again, for 2 tasks, 30 times: 6 values, 5 seeds"),
        "{}",
        stage.text()
    );
    let [ScreenRequest::StartSweep(scope)] = &stage.press("y")[..] else { panic!() };
    assert_eq!((scope.knob, scope.now), (Knob::Beta, 0.45));
}

#[test]
fn a_person_looks_ahead_tries_a_knob_uses_the_best_value_and_takes_it_back() {
    let home = Home::new();
    let arguments =
        ["--strategy", "toolnet", "--knob", "max_steps=1", "--tasks-limit", "6", "--no-journal"];
    let mut sitting = Sitting::start(&home, 120, 40, &arguments);
    sitting.wait_header("PAUSED");
    sitting.press("44");
    sitting.wait("preview alpha 0.50 → 0.55");
    sitting.press("/max_steps\r");
    sitting.wait("max_steps: it does not change the order or the plan");
    sitting.press("&");
    sitting.wait("fewer right answers at 1");
    sitting.wait("on the remaining tasks (6)");
    sitting.wait("enter: use ");
    let text = sitting.text();
    let best = text.split("enter: use ").nth(1).unwrap().split_whitespace().next().unwrap();
    sitting.press("\r");
    sitting.wait(&format!("max_steps: 1 → {best}"));
    sitting.press("u");
    sitting.wait("undone");
    sitting.press("q");
    let (status, _) = sitting.end();
    assert_eq!(status.exit_code(), 0);
}
