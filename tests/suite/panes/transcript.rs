//! The transcript.

use std::sync::Arc;

use toolyard::domain::{
    Boundary, By, ControlEvent, EffectId, FaultEvent, FaultId, FaultSpec, GraphEvent, Lane,
    Message, ModelCallEvent, ModelError, ModelErrorKind, Origin, Reply, Request, Role,
    SessionEvent, State, Target, TaskEvent, TaskId, window::LeftOut,
};
use toolyard::ui::needle::Needle;
use toolyard::ui::popups::{Inspect, Subject};
use toolyard::ui::{pane::PaneId, window::Move};
use toolyard::ui::{panes, view::View, window::Find};

use super::{Shown, draw, show};
use crate::stage::Stage;
use crate::story::{self, Story, effect};

fn transcript(story: &Story, view: &View) -> Shown {
    show(PaneId::Transcript, story, view, 90, 30)
}

/// A model call, looked at closer.
fn closer(story: &Story, ask: EffectId) -> Stage {
    let mut stage = Stage::of(story);
    let inspect = Inspect::new(Subject::Prompt(ask));
    stage.screen.view.popups.push(Box::new(inspect));
    stage.sized(120, 40)
}

/// All of it, with nothing left out.
fn whole(story: &Story) -> Shown {
    show(PaneId::Transcript, story, &View::default(), 90, 150)
}

#[test]
fn what_matters_first_is_on_its_own_row() {
    let shown = whole(&story::demo());
    assert!(shown.has("task 1  How many people live in the twin city of Lyra?"));
    assert!(shown.has("actor I need the twin city first."));
    let call = shown.line("→ search_web(query: \"twin city of Lyra\")");
    assert!(call.contains("ok 420 ms"), "{call}");
    assert!(shown.has("= Lyra is twinned with Ostra."));
    assert!(shown.line("✓ right: 48200").contains("3 steps · 2 calls"));
    assert!(shown.line("score population").contains("+3  gave the answer itself"));
    assert!(shown.line("✗ wrong: 65").contains("expected: 66"));
}

#[test]
fn interventions_and_injected_failures_are_marked() {
    let shown = whole(&story::demo());
    assert!(shown.has("✎ you: search_web now fails: 503 Service Unavailable, on every call"));
    assert!(shown.has("✎ you: beta: 0.50 → 0.45"));
    let failure = shown.row("✗ 503 Service Unavailable");
    assert!(shown.lines[failure + 1].contains("↯"));
    assert!(shown.lines[failure + 1].contains("injected error (fault 1)"));
    let menu = shown.line("2 at wikipedia  menu calculator 35");
    assert!(menu.contains("+search_w"), "what is offered to explore has a plus: {menu}");
}

#[test]
fn an_injected_model_call_is_marked_and_an_answer_from_elsewhere_says_so() {
    let mut story = story::demo();
    let (fault, target) = (FaultId(9), Target::Role(Role::Actor));
    story.tell(FaultEvent::FaultArmed { fault, spec: FaultSpec::outage(target), by: By::User });
    let ask = story.ask(5, Role::Actor);
    story.tell(FaultEvent::FaultFired { fault, effect: effect(ask) });
    let (effect, error) = (effect(ask), ModelError::new(ModelErrorKind::Endpoint, "no answer"));
    let effect = effect.from(Origin::Injected);
    story.tell(ModelCallEvent::ModelCallFailed { effect, error, billed: None });
    let shown = transcript(&story, &View::default());
    let failure = shown.row("sim failed: no answer");
    assert!(shown.lines[failure + 1].contains("↯ injected error (fault 9)"));
    assert!(closer(&story, ask).shows("↯ by fault 9: role:actor:error"));

    let ask = story.ask(5, Role::Actor);
    let reply = Reply::of_text("as before");
    let (effect, reply) = (story::effect(ask).from(Origin::Recorded), Arc::new(reply));
    story.tell(ModelCallEvent::ModelCallFinished { effect, reply, dollars: None });
    assert!(transcript(&story, &View::default()).line("actor as before").contains("recorded, sim"));
    assert!(closer(&story, ask).shows("origin         recorded"));
}

#[test]
fn a_request_says_what_was_left_out_of_it() {
    let mut story = story::demo();
    let left_out = Some(LeftOut { results: 2, steps: 1 });
    let request =
        Request { left_out, ..Request::new(Role::Actor, vec![Message::user("Task: Say hello.")]) };
    let ask = EffectId(story.state().effects_requested() as u32 + 1);
    story.tell(ModelCallEvent::ModelCallRequested {
        effect: effect(ask),
        task: TaskId(5),
        role: Role::Actor,
        model: story.state().models.roles[&Role::Actor].model.clone(),
        request: Arc::new(request),
        evidence: None,
    });
    story.tell(ModelCallEvent::ModelCallStarted { effect: effect(ask) });
    let told = "2 results shortened, 1 step dropped";
    assert!(closer(&story, ask).shows(&format!("left out       {told}, to fit")));
    story.answer(ask, "done", 10);
    let shown = transcript(&story, &View::default());
    let line = shown.line("actor done");
    assert!(line.contains(&format!("{told}, sim")), "{line}");
}

#[test]
fn an_answer_is_shown_while_it_comes() {
    let mut story = story::demo();
    let ask = story.ask(5, Role::Actor);
    story.wait(200);
    assert!(transcript(&story, &View::default()).has("actor sim is running  200 ms"));
    for text in ["The founder was ", "born in 1830", &" very long".repeat(100), " and so"] {
        let (text, reasoning) = (text.to_owned(), String::new());
        story.tell(ModelCallEvent::ModelCallProgressed { effect: effect(ask), text, reasoning });
    }
    let shown = transcript(&story, &View::default());
    assert!(shown.lines.last().unwrap().trim_end_matches(['│', '┃', ' ']).ends_with("so▏"));
}

#[test]
fn what_is_held_says_where_and_for_how_long() {
    let mut story = story::demo();
    let call = story.request_call(5, 2, "weather", serde_json::json!({}));
    story.tell(ControlEvent::Held { lane: Lane::Effect(call), boundary: Boundary::BeforeToolCall });
    story.wait(3_200);
    let shown = transcript(&story, &View::default());
    assert!(shown.line("→ weather()").contains("held 3.2 s, before a tool call"));
}

#[test]
fn it_keeps_up_until_somebody_looks_back() {
    let mut story = story::demo();
    let mut view = View::default();
    assert!(transcript(&story, &view).lines.last().unwrap().contains("→ calculator("));
    panes::go(PaneId::Transcript, story.state(), &mut view, Move::Up);
    panes::go(PaneId::Transcript, story.state(), &mut view, Move::Up);
    let selected = view.line.unwrap();
    let before = transcript(&story, &view);
    view.settle(&before.hits);
    story.tell(SessionEvent::Noticed { text: "something new".into() });
    let after = transcript(&story, &view);
    assert_eq!(before.lines[..20], after.lines[..20], "it stays where one looks");
    assert_eq!(view.line, Some(selected));
    panes::go(PaneId::Transcript, story.state(), &mut view, Move::Bottom);
    assert!(transcript(&story, &view).lines.last().unwrap().contains("something new"));
}

#[test]
fn the_selected_line_is_always_seen() {
    let story = story::demo();
    let mut view = View::default();
    for to in [Move::Top, Move::PageDown, Move::PageDown, Move::Down, Move::PageUp, Move::Up] {
        panes::go(PaneId::Transcript, story.state(), &mut view, to);
        let shown = transcript(&story, &view);
        view.settle(&shown.hits);
        let n = view.line.expect("not at the end");
        let target = toolyard::ui::hits::Target::Line(n);
        assert!(shown.hits.targets().any(|(_, seen)| *seen == target), "{to:?}");
        assert!(shown.lines.iter().all(|line| !line.trim().is_empty()), "no room is wasted");
    }
}

#[test]
fn the_wheel_moves_it_and_the_end_holds_it_again() {
    let story = story::demo();
    let mut view = View::default();
    let first = transcript(&story, &view);
    view.settle(&first.hits);
    let wheel = |view: &mut View, by| {
        let window = view.windows[PaneId::Transcript as usize].wheeled(by);
        view.windows[PaneId::Transcript as usize] = window;
        let shown = transcript(&story, view);
        view.settle(&shown.hits);
        shown
    };
    let up = wheel(&mut view, -6);
    assert_ne!(up.lines, first.lines);
    assert_eq!(wheel(&mut view, 60).lines, first.lines);
}

#[test]
fn text_is_found_where_it_can_be_seen() {
    let mut story = story::demo();
    let long = format!("{} needle {} unseen", "hay ".repeat(100), "hay ".repeat(400));
    story.call(5, 2, ("wikipedia", serde_json::json!({}), Ok(&long), 5));
    let mut view = View::default();
    let find = |view: &mut View, needle: &str| {
        panes::find(PaneId::Transcript, story.state(), view, &Needle::new(needle), Find::Here)
    };
    // The selected entry shows more rows, and the call's tool is selected with it.
    assert!(find(&mut view, "needle"));
    assert_eq!(view.tool, Some("wikipedia".into()));
    assert!(transcript(&story, &view).has("needle"));
    assert!(!find(&mut view, "unseen") && !find(&mut view, "no such"));
}

#[test]
fn a_verdict_is_found_by_what_the_line_says() {
    let mut story = story::demo();
    let ask = story.ask(5, toolyard::domain::Role::Evaluator);
    story.answer(ask, r#"{"reason": "it is hidden_in_json"}"#, 10);
    let mut view = View::default();
    let needle = Needle::new("hidden_in_json");
    assert!(!panes::find(PaneId::Transcript, story.state(), &mut view, &needle, Find::Here));
    let needle = Needle::new("judged");
    assert!(panes::find(PaneId::Transcript, story.state(), &mut view, &needle, Find::Previous));
    assert!(transcript(&story, &view).has("judged"));
}

#[test]
fn a_line_without_its_task_is_no_panic() {
    let mut story = Story::open();
    story.tell(TaskEvent::TaskStarted { task: toolyard::domain::id::TaskId(99) });
    story.tell(GraphEvent::ScoreSet {
        tool: "x".into(),
        score: 1.0.into(),
        was: 0.0.into(),
        by: By::Undo(1),
    });
    let shown = draw(PaneId::Transcript, story.state(), &View::default(), 0, 40, 5);
    assert!(shown.has("note  of an unknown task") && shown.has("✎ undone:"));
    draw(PaneId::Transcript, &State::default(), &View::default(), 0, 1, 1);
}
