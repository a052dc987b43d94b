//! Breakpoints, watches and runs to a place.

use ratatui::layout::Margin;
use serde_json::json;
use toolyard::domain::edit::Edit;
use toolyard::domain::{
    Boundary, BreakpointEvent, BreakpointId, BreakpointSpec, By, Command, ConsentEvent,
    ControlEvent, EffectClass, EffectId, EffectRef, Lane, TaskId, ToolCallEvent,
};
use toolyard::ui::{pane::PaneId, request::ScreenRequest};

use super::{command, stage};
use crate::stage::Stage;
use crate::story::{self, Story};

fn set(id: u32, text: &str) -> BreakpointEvent {
    BreakpointEvent::BreakpointSet {
        breakpoint: BreakpointId(id),
        spec: Box::new(text.parse().unwrap()),
        was: None,
        on: true,
        temporary: false,
        by: By::User,
    }
}

/// A session that a breakpoint has stopped before a call.
pub fn stopped() -> Story {
    let mut story = story::demo();
    story.tell(set(1, "calculator:if=args.expression == \"2 + 2\""));
    story.tell(set(2, "error:log=failed {tool}"));
    story.tell(set(3, "score:search_web:crosses=0"));
    let (breakpoint, on, by) = (BreakpointId(2), false, By::User);
    story.tell(BreakpointEvent::BreakpointSwitched { breakpoint, on, by });
    let (lane, boundary) = (Lane::Effect(EffectId(30)), Boundary::AfterToolCall);
    let text = String::new();
    story.tell(BreakpointEvent::BreakpointHit {
        breakpoint: BreakpointId(1),
        lane: Some(lane),
        boundary: Some(boundary),
        holds: true,
        text,
    });
    story.tell(ControlEvent::Held { lane, boundary });
    story.tell(ControlEvent::Paused { run: None });
    story
}

/// The breakpoint that a command sets.
fn written(command: Command) -> String {
    match command {
        Command::SetBreakpoint { spec, .. } | Command::RunTo { spec } => spec.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_breakpoint_is_set_on_what_is_selected_and_deleted_there() {
    for (keys, place) in [
        ("3 b", "search_web"),
        ("5 home b", "role:actor"),
        ("5 end b", "model:local"),
        ("7 b", "task"),
        ("9 b", "plan"),
        ("4 home b", "value:knob[\"alpha\"]"),
        ("8 home b", "value:left"),
        ("6 end b", "calculator"),
        ("3 f9", "search_web"),
    ] {
        assert_eq!(written(command(&mut stage(), keys)), place, "{keys}");
    }
    let mut stage = Stage::of(&story::demo());
    stage.tell(set(1, "search_web"));
    assert!(stage.press("3 z").is_empty() && stage.shows("●"), "{}", stage.text());
    let breakpoint = BreakpointId(1);
    assert_eq!(command(&mut stage, "3 b"), Command::DeleteBreakpoint { breakpoint });
    stage.tell(BreakpointEvent::BreakpointSwitched { breakpoint, on: false, by: By::User });
    let on = Command::SwitchBreakpoint { breakpoint, on: true };
    assert_eq!(command(&mut stage, "b"), on);
}

#[test]
fn the_agent_runs_to_a_place_by_two_keys() {
    for (keys, place) in [
        ("c t", "tools"),
        ("c m", "models"),
        ("c p", "plan"),
        ("c e", "error"),
        ("c s", "step"),
        ("N", "step"),
        ("f10", "step"),
        ("3 c h", "search_web"),
    ] {
        assert_eq!(written(command(&mut stage(), keys)), place, "{keys}");
    }
    assert_eq!(command(&mut stage(), "c c"), Command::Run);
    assert_eq!(command(&mut stage(), "c k"), Command::StepTask);
    let mut stage = stage();
    stage.press("c x");
    stage.write("step >= 5");
    assert_eq!(written(command(&mut stage, "enter")), "value:step >= 5");
}

#[test]
fn the_list_switches_edits_deletes_and_counts() {
    let mut stage = Stage::of(&stopped()).sized(120, 40);
    stage.press("g b");
    insta::assert_snapshot!("breakpoints", stage.text());
    let breakpoint = BreakpointId(1);
    // The one that has stopped the agent is selected.
    assert_eq!(command(&mut stage, "d"), Command::SwitchBreakpoint { breakpoint, on: false });
    assert_eq!(command(&mut stage, "b"), Command::SwitchBreakpoint { breakpoint, on: false });
    assert_eq!(command(&mut stage, "x"), Command::DeleteBreakpoint { breakpoint });
    let more = command(&mut stage, "+");
    assert!(written(more).ends_with(":hits=2"));
    let off = Command::SwitchBreakpoint { breakpoint: BreakpointId(2), on: true };
    assert_eq!(command(&mut stage, "down d"), off);
    stage.press("home enter");
    assert!(stage.shows("╔ Change breakpoint 1 "), "{}", stage.text());
    // An argument that the tool does not list is doubted once.
    assert_eq!(stage.press("down > 3 enter"), []);
    assert!(stage.shows("takes the argument `expression`"), "{}", stage.text());
    let changed = match command(&mut stage, "enter") {
        Command::SetBreakpoint { breakpoint, spec, on } => (breakpoint, spec.to_string(), on),
        other => panic!("{other:?}"),
    };
    let text = "calculator:if=args.expression == \"2 + 2\":hits=>3".to_owned();
    assert_eq!(changed, (Some(breakpoint), text, true));
}

#[test]
fn what_is_wrong_with_an_expression_is_shown_below_it_when_it_is_entered() {
    let mut stage = stage().sized(120, 40);
    stage.press("3 B");
    stage.write("ok && tol == 3");
    assert_eq!(stage.press("enter"), []);
    insta::assert_snapshot!("breakpoint-wrong", stage.text());
    for _ in 0..8 {
        stage.press("backspace");
    }
    stage.write("ms > 3");
    assert_eq!(written(command(&mut stage, "enter")), "tools:if=ok && ms > 3");
}

#[test]
fn a_breakpoint_of_each_place_is_described_by_choosing() {
    let mut stage = stage();
    stage.press("3 home B up up up");
    let mut places = Vec::new();
    for _ in 0..17 {
        let shown = stage.text();
        let place = shown.lines().find(|line| line.contains("▸ place")).unwrap();
        let place = place.split(['<', '>']).nth(1).unwrap().trim().to_owned();
        places.push(place);
        stage.press("right");
    }
    places.sort();
    places.dedup();
    assert_eq!(places.len(), 17, "{places:?}");
    // A role has names to choose from, a side and a switch to be alone.
    let mut stage = super::stage();
    stage
        .press("3 home B up up up right right right right right right down right down right right");
    stage.press("down down down down right");
    let role: BreakpointSpec = written(command(&mut stage, "enter")).parse().unwrap();
    assert_eq!(role.to_string(), "role:evaluator:both:once");
}

#[test]
fn watches_show_values_and_how_they_went() {
    let mut stage = stage().sized(120, 40);
    for text in ["score.search_web", "spent / budget", "done > 3", "evidence.E1"] {
        stage.press("W");
        stage.write(text);
        assert_eq!(stage.press("enter"), [ScreenRequest::SaveWatches], "{}", stage.text());
    }
    stage.press("W");
    stage.write("ms > 3");
    assert_eq!(stage.press("enter"), [], "a call's field is no watch");
    assert!(stage.shows("belongs to a call"), "{}", stage.text());
    stage.press("esc g w");
    insta::assert_snapshot!("watches", stage.text());
    stage.press("home x");
    assert_eq!(stage.screen.view.watches.len(), 3);
    stage.press("home e");
    assert!(stage.shows("╔ Change a watch "), "{}", stage.text());
    stage.write(" * 100.0");
    stage.press("enter");
    assert_eq!(stage.screen.view.watches[0].expression.text(), "spent / budget * 100.0");
}

#[test]
fn calls_are_filtered_by_an_expression() {
    let mut stage = stage().sized(120, 40);
    stage.press("2 /");
    stage.write("=kind == \"tool\" && !ok");
    let found = stage.screen.view.find.as_ref().unwrap();
    let failed = stage.screen.live().tool_calls.iter().filter(|call| {
        matches!(call.phase, toolyard::domain::ToolCallPhase::Failed { .. })
            || matches!(call.phase, toolyard::domain::ToolCallPhase::Refused { .. })
            || !call.phase.is_over()
    });
    assert_eq!(found.rows.len(), failed.count());
    assert!(!found.rows.is_empty());
    stage.write(" && tol");
    assert!(stage.shows("there is no field `tol`; did you mean `tool`?"), "{}", stage.text());
}

#[test]
fn the_fields_of_expressions_are_listed() {
    let mut stage = stage().sized(120, 70);
    stage.press("g x");
    for field in toolyard::domain::expression::FIELDS {
        assert!(stage.shows(field.doc), "{}\n{}", field.name, stage.text());
    }
}

/// A session in which a call is held before it starts.
pub fn held_before() -> Stage {
    let mut stage = stage().sized(120, 40);
    let effect = EffectRef::new(stage.next_effect(), EffectClass::Read);
    stage.tell(ToolCallEvent::ToolCallRequested {
        effect,
        task: TaskId(5),
        step: 2,
        tool: "wikipedia".into(),
        arguments: json!({"query": "Port Sel"}),
        evidence: None,
        by: By::Engine,
        wire_id: None,
    });
    let (lane, boundary) = (effect.lane(), Boundary::BeforeToolCall);
    stage.tell(ControlEvent::PauseRequested { by: By::User, run: None });
    stage.tell(ControlEvent::Held { lane, boundary });
    stage.tell(ControlEvent::Paused { run: None });
    stage
}

#[test]
fn arguments_are_edited_with_their_schema_and_their_difference_in_sight() {
    let mut stage = held_before();
    stage.press("6 end e");
    assert!(stage.shows("╔ Edit the arguments of call 31 · wikipedia "), "{}", stage.text());
    stage.press("down end backspace");
    assert!(stage.shows("✗ not JSON"), "{}", stage.text());
    assert_eq!(stage.press("ctrl-s"), [], "what is wrong is not applied");
    stage.write(" lighthouse\"");
    insta::assert_snapshot!("edit-arguments", stage.text());
    stage.press("ctrl-t");
    assert!(stage.shows("the model remembers its own call"), "{}", stage.text());
    let edited = |shown| Command::EditCall {
        effect: EffectId(31),
        edit: Box::new(Edit::Arguments(json!({"query": "Port Sel lighthouse"}))),
        shown,
    };
    let requests = stage.press("ctrl-g");
    let [ScreenRequest::Send(edit), ScreenRequest::Send(Command::Run)] = &requests[..] else {
        panic!("{requests:?}");
    };
    assert_eq!(*edit, edited(false));
    // The text goes to the editor and comes back.
    stage.press("e");
    let requests = stage.press("f4");
    let [ScreenRequest::Rewrite(selection)] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(selection.text, "{\n  \"query\": \"Port Sel\"\n}");
    let popup = stage.screen.view.popups.last_mut().unwrap();
    popup.rewrite("{\"query\": \"Port Sel lighthouse\"}\n");
    assert_eq!(command(&mut stage, "ctrl-s"), edited(true));
    // What is not changed is not sent.
    assert_eq!(stage.press("e ctrl-s"), []);
}

#[test]
fn changes_mean_the_call_that_is_marked() {
    let mut stage = held_before();
    let second = EffectRef::new(stage.next_effect(), EffectClass::Read);
    stage.tell(ToolCallEvent::ToolCallRequested {
        effect: second,
        task: TaskId(5),
        step: 2,
        tool: "calculator".into(),
        arguments: json!({"expression": "1871 + 3"}),
        evidence: None,
        by: By::Engine,
        wire_id: None,
    });
    stage.tell(ControlEvent::Held { lane: second.lane(), boundary: Boundary::BeforeToolCall });
    let marked = |stage: &Stage| {
        let text = stage.text();
        let row = text.lines().find(|line| line.contains('▸') && line.contains('#')).unwrap();
        let words: Vec<_> = row.split_whitespace().map(str::to_owned).collect();
        let at = words.iter().position(|word| word.starts_with('#')).unwrap();
        (words[at].clone(), words[at + 1].clone())
    };
    stage.press("6 z e");
    assert!(stage.shows("╔ Edit the arguments of call 31 · wikipedia "), "{}", stage.text());
    stage.press("esc");
    assert_eq!(marked(&stage), ("#31".to_owned(), "wikipedia".to_owned()));
    // In the past, the last call of then is marked, and none is held.
    let live = marked(&stage);
    for _ in 0..12 {
        stage.press("<");
    }
    let past = marked(&stage);
    assert_ne!(past, live);
    let Command::SetBreakpoint { spec, .. } = command(&mut stage, "b") else { panic!() };
    assert_eq!(spec.to_string(), past.1);
}

#[test]
fn the_lanes_are_seen_beside_what_is_edited() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60)] {
        let mut stage = held_before().sized(columns, rows);
        stage.press("6");
        let lanes = stage.screen.view.placed.iter().find(|placed| placed.pane == PaneId::Calls);
        let lanes = lanes.unwrap().area.inner(Margin::new(1, 1));
        let cells = |stage: &Stage| -> Vec<String> {
            lanes.positions().map(|at| stage.buf[at].symbol().to_owned()).collect()
        };
        let before = cells(&stage);
        stage.press("e");
        assert!(stage.shows("╔ Edit the arguments of call 31 · wikipedia "), "{}", stage.text());
        assert!(stage.shows("cost 1 · effect read · from step 2"), "{}", stage.text());
        assert!(cells(&stage) == before, "{}", stage.text());
    }
}

#[test]
fn a_call_that_waits_for_consent_is_seen_and_decided() {
    let mut stage = held_before();
    let effect = EffectRef::new(EffectId(31), EffectClass::Unknown);
    assert_eq!(stage.press("Y"), []);
    assert!(stage.shows("no call waits for your consent"), "{}", stage.text());
    stage.tell(ConsentEvent::ConsentAsked { effect, rule: "effect:unknown".into() });
    assert!(stage.shows("wikipedia #31 asks: Y"), "{}", stage.text());
    stage.press("Y");
    insta::assert_snapshot!("consent", stage.text());
    assert_eq!(stage.press("enter"), [], "nothing is allowed by a slip");
    let (effect, allowed) = (EffectId(31), true);
    assert_eq!(command(&mut stage, "Y down enter"), Command::Consent { effect, allowed });
    assert_eq!(command(&mut stage, "Y down down enter"), Command::AllowTool { effect });
    let allowed = false;
    assert_eq!(command(&mut stage, "Y end enter"), Command::Consent { effect, allowed });
}

#[test]
fn a_write_with_an_unknown_outcome_is_told_and_asked_for() {
    let mut stage = held_before().sized(120, 40);
    let effect = EffectRef::new(EffectId(31), EffectClass::Write);
    stage.tell(ConsentEvent::OutcomeUnknown { effect });
    stage.tell(ConsentEvent::ConsentAsked { effect, rule: "its outcome is unknown".into() });
    stage.press("Y");
    insta::assert_snapshot!("outcome-unknown", stage.text());
    let allowed = false;
    let effect = EffectId(31);
    assert_eq!(command(&mut stage, "end enter"), Command::Consent { effect, allowed });
}

#[test]
fn lines_variables_and_programs_are_chosen_broken_at_asked_and_edited() {
    let stage = || Stage::of(&crate::panes::programs::revised()).sized(120, 40);
    for (keys, place) in [
        ("g p b", "line:3"),
        ("g p up c h", "line:2"),
        ("g v home b", "variable:m"),
        ("g v end b", "variable:c"),
        ("g n b", "error:program-error"),
        ("N", "frame:2"),
        ("o", "frame:1"),
    ] {
        let mut stage = stage();
        match keys {
            // The first row is an expression.
            "g v home b" => assert_eq!(written(command(&mut stage, "g v down b")), place),
            keys => assert_eq!(written(command(&mut stage, keys)), place, "{keys}"),
        }
    }
    let asked = |command| match command {
        Command::AskProgram { asked, .. } => (asked.expression, asked.sets),
        other => panic!("{other:?}"),
    };
    let mut asks = stage();
    asks.press(";");
    asks.write("len(");
    assert!(
        asks.press("enter").is_empty() && asks.shows("not a Python expression"),
        "{}",
        asks.text()
    );
    asks.write("c)");
    assert_eq!(asked(command(&mut asks, "enter")), ("len(c)".to_owned(), None));
    let mut sets = stage();
    sets.press("g v down e end");
    sets.write(" | {}");
    let set = (r#"{"id": 2, "name": "Bo"} | {}"#.to_owned(), Some("m".to_owned()));
    assert_eq!(asked(command(&mut sets, "enter")), set);
    let mut edits = stage();
    edits.press("g p e");
    assert!(edits.shows("╔ Edit program 2 of task 1 "), "{}", edits.text());
    edits.write("x = (");
    assert!(edits.press("ctrl-s").is_empty() && edits.shows("✗ "), "{}", edits.text());
    edits.write(")");
    edits.press("enter");
    match command(&mut edits, "ctrl-s") {
        Command::EditProgram { text, .. } => assert!(text.starts_with("x = ()"), "{text}"),
        other => panic!("{other:?}"),
    }
    let mut again = stage();
    match command(&mut again, "g n up r") {
        Command::EditProgram { text, .. } => assert!(text.contains("director"), "{text}"),
        other => panic!("{other:?}"),
    }
    let mut shows = stage();
    assert!(shows.press("g n up enter").is_empty());
    assert!(
        shows.shows("╔ Program 1 of task 1 ") && shows.shows("has: id, name"),
        "{}",
        shows.text()
    );
}
