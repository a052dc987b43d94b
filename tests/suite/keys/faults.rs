//! What breaks by a key, and what is described field by field.

use serde_json::json;
use toolyard::domain::target::Sort;
use toolyard::domain::{
    By, Command, Event, FaultEvent, FaultId, FaultKind, Target, Task, TaskEvent, TaskId,
};
use toolyard::ui::request::ScreenRequest;

use super::{command, stage, tool};
use crate::stage::Stage;
use crate::story;

#[test]
fn breaking_a_tool_again_rearms_the_same_fault() {
    let mut stage = stage();
    stage.tell(Event::Fault(FaultEvent::FaultDisarmed { fault: FaultId(1), by: By::User }));
    let again = command(&mut stage, "3 down up f");
    assert_eq!(again, Command::RearmFault { fault: FaultId(1) });
    let Command::ArmFault { spec } = command(&mut stage, "down f") else {
        panic!("a tool without faults gets a new one");
    };
    assert_ne!(spec.target, Target::Tool(tool("search_web")));
    assert_eq!(spec.to_string(), format!("{}:error", spec.target));
}

#[test]
fn a_key_breaks_the_most_used_tool_if_none_is_chosen() {
    let mut stage = stage();
    let Command::ArmFault { spec } = command(&mut stage, "f") else { panic!("it has no fault") };
    assert_eq!(spec.to_string(), "calculator:error");
    let (fault, by) = (FaultId(2), By::User);
    stage.tell(Event::Fault(FaultEvent::FaultArmed { fault, spec, by }));
    assert!(stage.shows("calculator (most used) now fails"), "{}", stage.text());
    // It is the selected one from now on.
    assert_eq!(command(&mut stage, "f"), Command::DisarmFault { fault });
}

#[test]
fn a_fault_before_the_sixth_of_many_tasks_begins_with_that_task() {
    let mut stage = stage();
    let task = |n: usize| Task::from_text(format!("question {n}"));
    let first = TaskId(stage.screen.live().tasks.len() as u32 + 1);
    let (tasks, by) = ((0..20).map(task).collect(), By::User);
    stage.tell(TaskEvent::TasksQueued { first, tasks, by });
    let Command::ArmFault { spec } = command(&mut stage, "f") else { panic!("it has no fault") };
    assert_eq!(spec.to_string(), "calculator:error:from-task=6");
    let (fault, by) = (FaultId(2), By::User);
    stage.tell(Event::Fault(FaultEvent::FaultArmed { fault, spec, by }));
    assert!(stage.shows("calculator (most used) fails from task 6 · f again: at once"));
    let asked = stage.press("f");
    let again = [
        Command::DisarmFault { fault },
        Command::ArmFault { spec: "calculator:error".parse().unwrap() },
    ];
    assert_eq!(asked, again.map(ScreenRequest::Send));
    // The verdict is on the fault that acts, not on the one that was taken back.
    stage.tell(Event::Fault(FaultEvent::FaultDisarmed { fault, by }));
    let (fault, spec) = (FaultId(3), "calculator:error".parse().unwrap());
    stage.tell(Event::Fault(FaultEvent::FaultArmed { fault, spec, by }));
    stage.press("0");
    assert!(stage.shows("Resilience · calculator") && !stage.shows("repaired"), "{}", stage.text());
}

#[test]
fn the_call_that_happens_to_be_the_last_one_is_not_meant() {
    let mut story = story::demo();
    story.call(5, 2, ("date_diff", json!({}), Ok("1 year"), 10));
    let mut stage = Stage::of(&story);
    stage.press("6");
    assert!(stage.shows("date_diff"), "{}", stage.text());
    let Command::ArmFault { spec } = command(&mut stage, "f") else { panic!("it has no fault") };
    assert_eq!(spec.to_string(), "calculator:error");
    let (fault, by) = (FaultId(2), By::User);
    stage.tell(Event::Fault(FaultEvent::FaultArmed { fault, spec, by }));
    assert_eq!(command(&mut stage, "f"), Command::DisarmFault { fault }, "the same tool again");
}

#[test]
fn a_role_or_a_model_is_broken_as_a_tool_is() {
    let mut stage = stage();
    let armed = |stage: &mut Stage, keys: &str| match command(stage, keys) {
        Command::ArmFault { spec } => spec.to_string(),
        other => panic!("{keys}: {other:?}"),
    };
    assert_eq!(armed(&mut stage, "5 f"), "role:actor:error");
    assert_eq!(armed(&mut stage, "down f"), "role:evaluator:error");
    assert_eq!(armed(&mut stage, "end f"), "model:local:error");
    let (fault, by) = (FaultId(2), By::User);
    let spec = "model:local:error".parse().unwrap();
    stage.tell(Event::Fault(FaultEvent::FaultArmed { fault, spec, by }));
    assert!(stage.shows("↯ local"), "{}", stage.text());
    assert_eq!(command(&mut stage, "f"), Command::DisarmFault { fault });
    stage.tell(Event::Fault(FaultEvent::FaultDisarmed { fault, by }));
    assert!(!stage.shows("↯ local"), "{}", stage.text());
    assert_eq!(command(&mut stage, "f"), Command::RearmFault { fault });
    // Back among the roles, and in another pane, something else is meant.
    assert_eq!(armed(&mut stage, "up up f"), "role:reflector:error");
    assert_eq!(command(&mut stage, "3 down up f"), Command::DisarmFault { fault: FaultId(1) });
}

#[test]
fn a_key_among_the_calls_breaks_the_tool_of_the_marked_one() {
    let mut stage = stage();
    let armed = |stage: &mut Stage, keys: &str| match command(stage, keys) {
        Command::ArmFault { spec } => spec.to_string(),
        other => panic!("{keys}: {other:?}"),
    };
    // Whichever tool is selected elsewhere.
    stage.press("3 home 6");
    assert!(stage.shows("▸ 2 #30 calculator"), "{}", stage.text());
    assert_eq!(armed(&mut stage, "f"), "calculator:error");
    assert_eq!(armed(&mut stage, "up f"), "wikipedia:error");
}

#[test]
fn a_fault_of_a_class_marks_its_tools() {
    let mut stage = stage();
    let marked = |stage: &Stage| stage.text().matches('↯').count();
    stage.press("3 z");
    let before = marked(&stage);
    let spec = "class:information retrieval:empty".parse().unwrap();
    stage.tell(Event::Fault(FaultEvent::FaultArmed { fault: FaultId(2), spec, by: By::User }));
    assert!(marked(&stage) > before + 1, "{}", stage.text());
}

#[test]
fn a_fault_is_described_field_by_field() {
    let mut stage = stage();
    stage.press("g f");
    assert!(stage.shows("search_web:error"), "{}", stage.text());
    assert!(stage.shows("hit 1 of 1"), "{}", stage.text());
    // Space disarms the one that is armed, and the list stays.
    assert_eq!(command(&mut stage, "space"), Command::DisarmFault { fault: FaultId(1) });
    stage.press("a right right down 8 0 0 down down down");
    stage.write("0.3");
    stage.press("down down down down down down down down 2");
    assert!(stage.shows("search_web:latency:ms=800:p=0.3:from-task=2"), "{}", stage.text());
    let Command::ArmFault { spec } = command(&mut stage, "enter") else { panic!() };
    assert_eq!(spec.to_string(), "search_web:latency:ms=800:p=0.3:from-task=2");
}

#[test]
fn a_fault_of_a_model_offers_what_can_happen_to_models() {
    let mut stage = stage();
    stage.press("5 g f a up up right right right right");
    assert!(stage.shows("< embedding >"), "{}", stage.text());
    assert!(!stage.shows("  name  "), "{}", stage.text());
    stage.press("left left left down right");
    assert!(stage.shows("model:local:error"), "{}", stage.text());
    stage.press("down down");
    stage.write("529");
    stage.press("down");
    stage.write("over: loaded");
    let Command::ArmFault { spec } = command(&mut stage, "enter") else { panic!() };
    assert_eq!(spec.to_string(), "model:local:error:status=529:text=over: loaded");
    // What cannot happen to a tool is not kept for one.
    stage.press("5 g f a left");
    assert!(stage.shows("role:actor:wrong-usage"), "{}", stage.text());
    stage.press("up up left left left left left left");
    assert!(stage.shows("< tool >") && stage.shows("kind       error"), "{}", stage.text());
    stage.press("down down left");
    assert!(stage.shows("< injection >"), "{}", stage.text());
}

#[test]
fn a_wrong_fault_says_why_and_an_armed_one_is_replaced() {
    let mut stage = stage();
    stage.press("g f a down down down");
    stage.write("3");
    stage.press("enter");
    assert!(stage.shows("p is 3"), "{}", stage.text());
    stage.press("backspace up up up up end x enter");
    assert!(stage.shows("did you mean `search_web`?"), "{}", stage.text());
    stage.press("esc");
    let effects = stage.press("e right enter");
    let disarm = ScreenRequest::Send(Command::DisarmFault { fault: FaultId(1) });
    assert_eq!(effects[0], disarm);
    assert!(matches!(&effects[1], ScreenRequest::Send(Command::ArmFault { spec })
        if spec.to_string() == "search_web:timeout"));
}

#[test]
fn the_rows_below_the_faults_arm_those_for_demonstrations() {
    let mut stage = stage().sized(120, 40);
    stage.press("g f end");
    insta::assert_snapshot!("faults", stage.text());
    let Command::ArmFault { spec } = command(&mut stage, "enter") else { panic!() };
    assert_eq!(spec.to_string(), "wikipedia:wrong");
    let Command::ArmFault { spec } = command(&mut stage, "up up enter") else { panic!() };
    assert_eq!(spec.to_string(), "any:latency:ms=1500:spread=tail");
}

#[test]
fn every_target_and_kind_is_described_by_choosing() {
    let mut stage = stage().sized(120, 40);
    stage.press("3 home F");
    let chosen = |stage: &Stage, field: &str| {
        let text = stage.text();
        let line = text.lines().find(|line| line.contains(&format!("▸ {field}"))).unwrap();
        line.split(['<', '>']).nth(1).unwrap().trim().to_owned()
    };
    let mut all = Vec::new();
    stage.press("up up");
    for _ in Sort::all() {
        let sort = chosen(&stage, "target");
        // The kind is one or two fields below, and its field keeps the keyboard.
        let ways = if Sort::all().any(|it| it.name() == sort && it.takes_name()) { 2 } else { 1 };
        (0..ways).for_each(|_| _ = stage.press("down"));
        let fitting = FaultKind::ALL.iter().filter(|kind| kind.fits(sort_named(&sort))).count();
        for _ in 0..fitting {
            all.push(format!("{sort} {}", chosen(&stage, "kind")));
            stage.press("right");
        }
        (0..ways).for_each(|_| _ = stage.press("up"));
        stage.press("right");
    }
    let each = Sort::all().flat_map(|sort| {
        let kinds = FaultKind::ALL.iter().filter(move |kind| kind.fits(sort));
        kinds.map(move |kind| format!("{} {}", sort.name(), kind.name()))
    });
    assert_eq!(all, each.collect::<Vec<_>>());
    stage.press("esc F right right down");
    insta::assert_snapshot!("fault-form", stage.text());
}

fn sort_named(name: &str) -> Sort {
    Sort::all().find(|sort| sort.name() == name).unwrap()
}
