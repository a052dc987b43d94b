//! The workers' lanes, and the plan that they work on.

use toolyard::domain::{
    Boundary, ControlEvent, EffectId, EvidenceId, Lane, ModelCallEvent, State, TaskId,
    ToolCallEvent,
};
use toolyard::ui::needle::Needle;
use toolyard::ui::{pane::PaneId, window::Move};
use toolyard::ui::{panes, text, view::View, window::Find};

use super::{Shown, draw, show};
use crate::story::{self, effect};
use crate::working::{many, worked, working};

fn workers(width: u16) -> Shown {
    show(PaneId::Calls, &working(), &View::default(), width, 20)
}

/// The cells of a lane that these characters fill: from, to.
fn cells<const N: usize>(line: &str, of: [char; N]) -> (usize, usize) {
    let cell = |(i, _): (usize, &str)| text::width(&line[..i]);
    let mut cells = line.match_indices(of).map(cell);
    let first = cells.next().unwrap_or_else(|| panic!("no {of:?} in {line}"));
    (first, cells.next_back().unwrap_or(first))
}

const RUN: [char; 2] = ['▇', '▄'];

/// What is said of the selected lane: above what the plan saves.
fn detail(shown: &super::Shown) -> String {
    shown.lines.iter().rev().nth(1).cloned().unwrap_or_default()
}

#[test]
fn a_lane_says_how_it_stands_and_what_it_waits_for() {
    let shown = workers(78);
    let stands = |id: &str| shown.line(&format!("{id} ")).to_owned();
    assert!(stands("#E1").contains("230 ms ok"));
    assert!(stands("#E2").contains('↯') && stands("#E2").contains("30 ms failed"));
    assert!(stands("#E3").contains("80 ms null"));
    assert!(stands("#E4").contains("LLM") && stands("#E4").contains("240 ms ok"));
    assert!(stands("#E5").contains("needs #E4") && stands("#E5").contains("240 ms running"));
    assert!(stands("#E6").contains("240 ms stopped"));
    assert!(stands("#E7").contains("cancelled"));
    assert!(stands("#E8").contains("for #E5 ") && stands("#E8").contains("waits"));
    assert!(stands("#E9").contains("for #E6 #E8 "));
}

#[test]
fn lanes_stand_on_one_axis_under_their_times() {
    for width in [90, 120, 160] {
        let shown = workers(width);
        let run = |id: &str| cells(shown.line(&format!("{id} ")), RUN);
        let (first, second, third) = (run("#E1"), run("#E2"), run("#E3"));
        assert!(first.0 == second.0 && first.0 == third.0, "begun together");
        assert!(second.1 <= third.1 && third.1 < first.1, "ended one after the other");
        let (model, people) = (run("#E4"), run("#E5"));
        assert!(first.1 <= model.0 && model.1 <= people.0 + 1, "one needs the other");
        let held = cells(shown.line("#E6 "), ['‖']);
        assert_eq!(held, people, "held as long as the other runs, from the same moment to now");
        let (queued, slow) = (cells(shown.line("#E7 "), ['·']), run("#E7"));
        assert!(queued.0 == first.0 && queued.0 < slow.0, "it waited for room, then ran");
    }
    let shown = workers(160);
    let head: Vec<usize> =
        shown.lines[0].char_indices().filter(|(_, c)| *c == '┊').map(|(i, _)| i).collect();
    assert!(head.len() > 2, "{}", shown.lines[0]);
    assert!(shown.lines[0].contains("600 ms"), "{}", shown.lines[0]);
}

#[test]
fn the_chain_that_decides_is_marked_by_a_glyph_and_a_bar() {
    let shown = workers(78);
    for (id, decides) in [("#E1", true), ("#E4", true), ("#E5", true), ("#E2", false)] {
        let line = shown.line(&format!("{id} "));
        assert_eq!(line.starts_with('◆'), decides, "{line}");
        assert_eq!(line.contains('▇'), decides, "{line}");
    }
    let sum = shown.line("critical path");
    assert!(sum.contains("◆ critical path 710 ms + about 200 ms"), "{sum}");
    assert!(sum.contains("running at once saved 610 ms"), "{sum}");
    let over = show(PaneId::Calls, &worked(), &View::default(), 78, 20);
    assert!(over.line("#E6 ").starts_with("  "), "time held is none of its own");
    assert!(over.line("#E8 ").starts_with('◆') && over.line("#E9 ").starts_with('◆'));
}

#[test]
fn the_selected_lane_says_more() {
    let (story, mut view) = (working(), View::default());
    let mut said = |evidence| {
        view.choose_evidence(story.state(), TaskId(1), EvidenceId(evidence));
        let shown = show(PaneId::Calls, &story, &view, 100, 20);
        detail(&shown)
    };
    assert!(said(2).contains("↯ error injected (fault 1)"), "{}", said(2));
    assert!(said(3).contains("null: pattern \"nothing found\", 12 tokens saved"), "{}", said(3));
    assert!(said(6).contains("only this call, by you, before a tool call"), "{}", said(6));
    assert!(said(9).contains("for #E6 #E8 · #E6 #E8"), "{}", said(9));
    assert!(
        said(5).contains("running · timeout in 4.8 s · needs #E4 · query: \"Ostra\""),
        "{}",
        said(5)
    );
}

#[test]
fn what_waits_for_room_says_how_much_there_is() {
    let mut story = working();
    let calls = [story.want(8, "calculator", "2"), story.want(9, "weather", "2")];
    let call = story.want(9, "summarize", "2");
    let mut view = View::default();
    view.choose_call(story.state(), call);
    let said = |story: &crate::story::Story| detail(&show(PaneId::Calls, story, &view, 100, 20));
    assert!(said(&story).contains("queued · starting"), "{}", said(&story));
    story.starts(&calls);
    assert!(
        said(&story).contains("queued · limit of 3 calls at once is reached"),
        "{}",
        said(&story)
    );
}

#[test]
fn lanes_are_walked_from_evidence_to_call_and_keep_their_place() {
    let story = working();
    let mut view = View::default();
    panes::go(PaneId::Calls, story.state(), &mut view, Move::Bottom);
    assert_eq!(view.evidence, Some((TaskId(1), EvidenceId(9))));
    assert_eq!((view.call, view.call(story.state())), (None, None));
    panes::go(PaneId::Calls, story.state(), &mut view, Move::PageUp);
    panes::go(PaneId::Calls, story.state(), &mut view, Move::Top);
    assert_eq!((view.call, view.evidence), (Some(EffectId(3)), None));
    assert!(panes::find(
        PaneId::Calls,
        story.state(),
        &mut view,
        &Needle::new("history"),
        Find::Next
    ));
    assert_eq!(view.tool, Some("slow_lookup".into()));
    // What was chosen before it began is its call now.
    view.choose_evidence(story.state(), TaskId(1), EvidenceId(8));
    let mut later = working();
    let call = later.want(8, "calculator", "24100");
    assert_eq!(view.call(later.state()), Some(call));
    assert_eq!(view.lane(later.state()), Ok(Lane::Effect(call)));
}

#[test]
fn what_was_held_before_is_still_seen() {
    let mut story = story::demo();
    let call = story.request_call(5, 3, "weather", serde_json::json!({}));
    let lane = Lane::Effect(call);
    story.tell(ControlEvent::Held { lane, boundary: Boundary::BeforeToolCall }).wait(200);
    story
        .tell(ControlEvent::Released { lane })
        .tell(ToolCallEvent::ToolCallStarted { effect: effect(call) })
        .wait(200);
    let shown = show(PaneId::Calls, &story, &View::default(), 78, 12);
    let line = shown.line("weather");
    let (held, ran) = (cells(line, ['‖']), cells(line, RUN));
    assert_eq!(held.1 + 1, ran.0, "{line}");
    assert!((held.1 - held.0).abs_diff(ran.1 - ran.0) <= 1, "{line}");
    assert!(line.contains("200 ms running"));
}

#[test]
fn the_plan_fills_in_as_evidence_arrives() {
    let shown = show(PaneId::Plan, &working(), &View::default(), 78, 40);
    assert!(shown.lines[0].contains("refused: #E1: there is no tool oracle"));
    let row = |text: &str| shown.row(text);
    assert!(
        row("1     ") < row("#E1 =")
            && row("#E3 =") < row("2     ")
            && row("2     ") < row("#E4 =")
    );
    assert_eq!(row("Lyra is twinned with Ostra"), row("#E1 =") + 1);
    assert!(shown.lines[row("#E2 =") + 1].contains("null: the call failed, 12 tokens saved"));
    assert!(shown.lines[row("#E3 =") + 1].contains("null: pattern \"nothing found\""));
    assert!(shown.lines[row("#E8 =") + 1].contains("waits for #E5"));
    assert!(shown.has("the solver waits for all evidence"));
    let over = show(PaneId::Plan, &worked(), &View::default(), 78, 40);
    assert!(over.line("✓     answer").contains("answer: 24100"));
    // Line by line as long as it is told, nothing of it is missing.
    let story = worked();
    for n in 0..story.records.len() {
        let state = State::fold(&story.records[..n]);
        draw(PaneId::Plan, &state, &View::default(), state.at, 78, 24);
        draw(PaneId::Calls, &state, &View::default(), state.at, 48, 9);
    }
}

#[test]
fn nulls_are_struck_out() {
    use ratatui::style::Modifier;
    let shown = show(PaneId::Plan, &working(), &View::default(), 100, 40);
    let y = 2 + shown.row("nothing found for") as u16;
    let struck = |x: &u16| shown.buf[(*x, y)].modifier.contains(Modifier::CROSSED_OUT);
    assert!((2..100).filter(struck).count() > 20);
    let y = 2 + shown.row("Lyra is twinned") as u16;
    assert_eq!(
        (2..100).filter(|x| shown.buf[(*x, y)].modifier.contains(Modifier::CROSSED_OUT)).count(),
        0
    );
}

#[test]
fn a_plan_is_walked_with_its_plans_in_sight() {
    let story = many(200);
    let mut view = View::default();
    for to in [Move::Bottom, Move::Up, Move::PageUp, Move::Top] {
        panes::go(PaneId::Plan, story.state(), &mut view, to);
        let shown = show(PaneId::Plan, &story, &view, 60, 11);
        let (_, evidence) = view.evidence.unwrap();
        let row = shown.row(&format!("#{evidence} ="));
        assert!(shown.lines[row - 1].contains(&format!("number {}", evidence.0)), "{to:?}");
        view.settle(&shown.hits);
    }
    assert_eq!(view.evidence, Some((TaskId(1), EvidenceId(1))));
    assert!(panes::find(
        PaneId::Plan,
        story.state(),
        &mut view,
        &Needle::new("number 77"),
        Find::Next
    ));
    assert_eq!(view.evidence, Some((TaskId(1), EvidenceId(77))));
}

#[test]
fn a_model_is_held_before_it_is_asked_and_asked_again() {
    let mut story = working();
    let (task, evidence) = (TaskId(1), EvidenceId(8));
    let role = toolyard::domain::chat::Role::Actor;
    let ask = story.request_ask(1, role, Some(8));
    let lane = Lane::Effect(ask);
    story.tell(ControlEvent::Held { lane, boundary: Boundary::BeforeModelCall }).wait(200);
    let mut view = View::default();
    view.choose_evidence(story.state(), task, evidence);
    let shown = show(PaneId::Calls, &story, &view, 100, 20);
    let line = shown.line("#E8 ");
    assert!(line.contains("200 ms held") && !line.contains(RUN[0]), "{line}");
    story.tell(ControlEvent::Released { lane });
    story.tell(ModelCallEvent::ModelCallStarted { effect: effect(ask) });
    let (wait_ms, why) = (100, "429".to_owned());
    story
        .tell(ModelCallEvent::ModelCallRetried { effect: effect(ask), attempt: 1, wait_ms, why })
        .wait(100);
    let shown = show(PaneId::Calls, &story, &view, 100, 20);
    let line = shown.line("#E8 ");
    assert!(line.contains("100 ms asked") && cells(line, ['·']).1 < cells(line, RUN).0, "{line}");
    assert!(detail(&shown).contains("called 2 times"));
}
