//! What breaks by a key, and what is described field by field.

use toolyard::domain::{By, Command, Event, FaultEvent, FaultId, Target};
use toolyard::ui::request::ScreenRequest;

use super::{command, stage, tool};
use crate::stage::Stage;

#[test]
fn breaking_a_tool_again_rearms_the_same_fault() {
    let mut stage = stage();
    stage.tell(Event::Fault(FaultEvent::FaultDisarmed { fault: FaultId(1), by: By::User }));
    assert_eq!(command(&mut stage, "f"), Command::RearmFault { fault: FaultId(1) });
    let Command::ArmFault { spec } = command(&mut stage, "3 down f") else {
        panic!("a tool without faults gets a new one");
    };
    assert_ne!(spec.target, Target::Tool(tool("search_web")));
    assert_eq!(spec.to_string(), format!("{}:error", spec.target));
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
    assert_eq!(command(&mut stage, "3 f"), Command::DisarmFault { fault: FaultId(1) });
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
    assert!(stage.shows("fired 1 of 1"), "{}", stage.text());
    // Space disarms the one that is armed, and the list stays.
    assert_eq!(command(&mut stage, "space"), Command::DisarmFault { fault: FaultId(1) });
    stage.press("a right right down");
    stage.write("0.3");
    stage.press("down down down 2 down down 8 0 0");
    assert!(stage.shows("search_web:latency:p=0.3:from-task=2:ms=800"), "{}", stage.text());
    let Command::ArmFault { spec } = command(&mut stage, "enter") else { panic!() };
    assert_eq!(spec.to_string(), "search_web:latency:ms=800:p=0.3:from-task=2");
}

#[test]
fn a_fault_of_a_model_offers_what_can_happen_to_models() {
    let mut stage = stage();
    stage.press("5 g f a up up right right");
    assert!(stage.shows("< embedding >"), "{}", stage.text());
    assert!(!stage.shows("  name  "), "{}", stage.text());
    stage.press("left down right");
    assert!(stage.shows("model:local:error"), "{}", stage.text());
    stage.press("down down down down down down down");
    stage.write("529");
    stage.press("down");
    stage.write("over: loaded");
    let Command::ArmFault { spec } = command(&mut stage, "enter") else { panic!() };
    assert_eq!(spec.to_string(), "model:local:error:status=529:text=over: loaded");
    // What cannot happen to a tool is not kept for one.
    stage.press("5 g f a left");
    assert!(stage.shows("role:actor:broken-arguments"), "{}", stage.text());
    stage.press("up up left left");
    assert!(stage.shows("< tool >") && stage.shows("< error >"), "{}", stage.text());
    stage.press("down down left");
    assert!(stage.shows("< answer >"), "{}", stage.text());
}

#[test]
fn a_wrong_fault_says_why_and_an_armed_one_is_replaced() {
    let mut stage = stage();
    stage.press("g f a down");
    stage.write("3");
    stage.press("enter");
    assert!(stage.shows("p is 3"), "{}", stage.text());
    stage.press("backspace up up end x enter");
    assert!(stage.shows("did you mean `search_web`?"), "{}", stage.text());
    stage.press("esc");
    let effects = stage.press("e right enter");
    let disarm = ScreenRequest::Send(Command::DisarmFault { fault: FaultId(1) });
    assert_eq!(effects[0], disarm);
    assert!(matches!(&effects[1], ScreenRequest::Send(Command::ArmFault { spec })
        if spec.to_string() == "search_web:timeout"));
}
