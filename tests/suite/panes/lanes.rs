//! The lanes of a watched agent: model calls and tool calls in the order of the wire.

use serde_json::{Value, json};
use toolyard::ui::pane::PaneId;
use toolyard::ui::view::{LanesView, View};

use super::{Shown, show};
use crate::stage::Stage;
use crate::story::Story;
use crate::watching::{calling, held, holding, listening, watched};

fn calls(story: &Story, width: u16, height: u16) -> Shown {
    let view = View { focus: PaneId::Calls, ..View::default() };
    show(PaneId::Calls, story, &view, width, height)
}

fn flight() -> Value {
    json!({"from": "LIS", "to": "OSL", "date": "2026-12-05"})
}

#[test]
fn lanes_stand_in_the_order_of_the_wire_with_sub_agents_below_their_call() {
    let shown = calls(&watched(), 118, 18);
    let text = shown.lines.join("\n");
    let order = ["model ", "get_weather", "get_forecast", "gpt-5.2  2310", "research", "│ model"];
    let rows = order.map(|name| shown.row(name));
    assert!(rows[..3].windows(2).all(|two| two[0] < two[1]), "{text}");
    assert!(rows[3] < rows[4] && rows[4] < rows[5], "{text}");
    assert!(shown.line("get_forecast").contains("↯ error injected"), "{text}");
    assert!(shown.line("  model").contains("4.2 s ✓ 2 calls"), "{text}");
    assert!(shown.line("research").contains("▶ with the agent"), "{text}");
    assert!(shown.line("│ model").contains("▶ answers 1.2 s"), "{text}");
    assert!(!text.contains("cr") && !text.contains("step"), "{text}");
}

#[test]
fn calls_of_one_answer_that_come_back_together_say_once_how_long_it_took() {
    let mut story = listening();
    let weather = json!({"city": "Oslo"});
    calling(&mut story, &[("get_weather", weather), ("get_forecast", flight())], 1800);
    let shown = calls(&story, 118, 18);
    assert!(shown.line("get_weather").contains("✓ both back"), "{}", shown.lines.join("\n"));
    assert!(shown.line("get_forecast").contains("after 1.8 s"), "{}", shown.lines.join("\n"));
    assert!(shown.line("get_weather").contains('━') && shown.line("model").contains('▄'));
}

#[test]
fn a_held_call_has_not_left_and_its_siblings_wait_for_it() {
    let story = holding(&[("get_weather", json!({"city": "Oslo"})), ("research", flight())]);
    let shown = calls(&story, 78, 14);
    let text = shown.lines.join("\n");
    assert!(shown.line("get_weather").contains("waits for #3"), "{text}");
    assert!(shown.line("research ").contains("‖ held #3"), "{text}");
    assert!(shown.has("research has not left toolyard"), "{text}");
    for pair in ["from  \"LIS\"", "to    \"OSL\"", "date  \"2026-12-05\""] {
        assert!(shown.has(pair), "{pair}: {text}");
    }
    for key in ["e edit these arguments", "a answer in the tool's place", "space let it go"] {
        assert!(shown.has(key), "{key}: {text}");
    }
    assert!(!shown.has("3.2 s ") || shown.has("‖3.2 s"), "the clock of a lane stands: {text}");
    let mut stage = Stage::of(&story).sized(80, 24);
    assert!(stage.shows("‖ HELD before research #3"), "{}", stage.text());
    stage.press("6 up");
    assert_eq!(stage.screen.view.call.map(|call| call.0), Some(2), "{}", stage.text());
    assert!(stage.shows("waits for #3: its agent gets all calls"), "{}", stage.text());
}

#[test]
fn a_key_leaves_the_lanes_of_tools_alone() {
    let mut stage = Stage::of(&watched()).sized(120, 40);
    assert!(stage.shows("gpt-5.2  2310→148 tok"), "{}", stage.text());
    stage.press("6 V");
    assert_eq!(stage.screen.view.lanes, Some(LanesView::Tools));
    assert!(!stage.shows("gpt-5.2  2310→148 tok"), "{}", stage.text());
    assert!(stage.shows("get_forecast"), "{}", stage.text());
    stage.press("V");
    assert!(stage.shows("gpt-5.2  2310→148 tok"), "{}", stage.text());
}

#[test]
fn keys_mean_the_selected_lane_of_a_model() {
    let mut stage = Stage::of(&held()).sized(120, 40);
    stage.press("6 home enter");
    assert!(stage.shows("╔ Prompt of model call 1"), "{}", stage.text());
    stage.press("q");
    let armed = stage.press("f");
    assert!(format!("{armed:?}").contains("Model"), "{armed:?}");
}

#[test]
fn arguments_wrap_before_they_are_cut() {
    let mut story = listening();
    let long =
        json!({"question": "What are the baggage rules of the airline for sports equipment?"});
    calling(&mut story, &[("research", long)], 300);
    let shown = calls(&story, 118, 20);
    let at = shown.row("research ");
    assert!(shown.lines[at].contains("What are the baggage rules"), "{}", shown.lines.join("\n"));
    assert!(shown.lines[at + 1].contains("equipment?"), "{}", shown.lines.join("\n"));
}

#[test]
fn earlier_tasks_of_the_conversation_have_a_line_each() {
    let mut story = listening();
    for _ in 0..3 {
        calling(&mut story, &[("get_weather", json!({"city": "Oslo"}))], 400);
    }
    let shown = calls(&story, 118, 24);
    let text = shown.lines.join("\n");
    let lines: Vec<&String> =
        shown.lines.iter().filter(|line| line.contains("✓ answered")).collect();
    assert_eq!(lines.len(), 3, "the task that is shown, and two before it: {text}");
    let shown = calls(&story, 118, 13);
    assert!(shown.has("earlier tasks: ") || shown.has("✓ answered"), "{}", shown.lines.join("\n"));
}

#[test]
fn hostile_calls_never_push_a_state_out() {
    let name = format!("mcp__\u{1b}[31m{}_end", "x".repeat(200));
    let names: Vec<String> = (0..1000).map(|n| format!("{name}{n}")).collect();
    let huge = json!({"text": "y".repeat(1 << 20), "\u{7}": [1, 2, {"deep": "\n\n"}]});
    let mut all: Vec<(&str, Value)> = names.iter().map(|name| (name.as_str(), json!({}))).collect();
    all.push((&names[0], huge));
    let story = holding(&all);
    for (width, height) in [(58, 9), (78, 14), (118, 20), (198, 40), (20, 4), (3, 2)] {
        let shown = calls(&story, width, height);
        let text = shown.lines.join("\n");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
        if width >= 58 {
            assert!(shown.has("‖ held #1002"), "{width}x{height}: {text}");
            assert!(shown.has("waits for #1002"), "{width}x{height}: {text}");
        }
    }
}
