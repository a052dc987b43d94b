//! The budget and the search tree.

use toolyard::domain::{By, ChainStep, ChangeEvent, Knob, NodeEnd, State, Task, TaskEvent, TaskId};
use toolyard::ui::panes;
use toolyard::ui::view::{Lever, View};
use toolyard::ui::{pane::PaneId, window::Move};

use super::{draw, show};
use crate::spending::{self, plan};
use crate::story::{self, Story};

#[test]
fn a_tool_shows_what_was_planned_spent_refused_and_banned() {
    let shown = show(PaneId::Budget, &spending::btp(), &View::default(), 150, 30);
    let banned = shown.line("wikipedia");
    assert!(banned.starts_with('⊘'), "{banned}");
    assert!(banned.contains("blacklisted: nothing found · refused: blacklisted"), "{banned}");
    assert!(shown.line("weather").contains("refused: too expensive"));
    let set = shown.line("✎ calculator");
    assert!(set.contains('✎') && set.contains("1→2") && set.contains("set by you"), "{set}");
    assert!(shown.line("search_web  ").contains("2→1"), "the plan before is beside the new one");
    assert!(shown.line("search_web  ").contains("helped 1 of 1"));
    assert!(shown.line("mystery").contains("2?"), "an undeclared cost is marked");
    assert!(shown.has("no experience"), "in words");
    assert!(shown.has("plan 3: 6.70 of") && shown.has("tau: 0.15 → 0.30"));
    assert!(shown.has("with 1.50 more credits: value +0.12 (search_web +1, calculator −1)"));
    assert!(
        shown.has("4 model calls without a price, counted as 0.75 each"),
        "unpriced calls say what they count as"
    );
    for part in
        ["▇ spent 7", "(tools ", "models ", "time ", "━ still planned ", "(reserved ", "· free"]
    {
        assert!(shown.has(part), "{part}");
    }
    assert!(shown.has("4 tasks: ━") && shown.has("1 over"));
}

#[test]
fn spare_uses_have_a_sign_of_their_own() {
    let mut story = Story::opened("react+btp", toolyard::domain::rates::Rates::default());
    story.join([story::tool("a", "", 2.0), story::tool("b", "", 1.0)]);
    story.queue(&[("task", None)]).start(1);
    // Within its limits the plan needs one use of each: 3 credits. The rest is spare: 3 and 4.
    let candidates = [("a", 2.0, 0.5, 1, 3, 1, ""), ("b", 1.0, 0.5, 1, 4, 1, "")];
    story.planned(1, "begins", plan(0.0, &candidates));
    let shown = show(PaneId::Budget, &story, &View::default(), 120, 20);
    assert!(shown.has("plan 1: 3 of 19 credits, +7 spare, value 3.50"), "{:?}", shown.lines);
    assert!(
        shown.has("━ still planned 4 (reserved 1)") && shown.has("┄ spare 7"),
        "{:?}",
        shown.lines
    );
    assert!(shown.line("  a  ").contains("━┄"), "{:?}", shown.lines);
    assert!(shown.has("1 task: ━ 3 planned"), "{:?}", shown.lines);
}

#[test]
fn a_task_that_no_plan_can_pay_for_is_said_before_its_first_call() {
    let mut story = Story::opened("react+btp", toolyard::domain::rates::Rates::default());
    story.join([story::tool("a", "", 12.0), story::tool("b", "", 11.0)]);
    let step = || ChainStep {
        tools: vec!["a".into(), "b".into()],
        arguments: serde_json::json!({}),
        finds: None,
        takes: None,
    };
    for (steps, is_said) in [(1, false), (2, true)] {
        let chain = (0..steps).map(|_| step()).collect();
        let task = Task { chain, ..Task::from_text("task") };
        let first = TaskId(story.state().tasks.len() as u32 + 1);
        story.tell(TaskEvent::TasksQueued { first, tasks: vec![task], by: By::Engine });
        let n = first.0;
        story.start(n).planned(n, "begins", plan(0.0, &[("b", 11.0, 0.5, 1, 1, 1, "")]));
        let why = "no plan can pay: the cheapest known way costs 22 of 20 credits";
        for pane in [PaneId::Budget, PaneId::Transcript] {
            let shown = show(pane, &story, &View::default(), 120, 20);
            assert_eq!(shown.has(why), is_said, "{steps} steps, {pane:?}: {:?}", shown.lines);
        }
    }
}

#[test]
fn what_is_planned_comes_first_and_the_levers_are_walked_like_tools() {
    let story = spending::btp();
    let mut view = View::default();
    let mut seen = Vec::new();
    for _ in 0..5 {
        panes::go(PaneId::Budget, story.state(), &mut view, Move::Down);
        seen.push((view.lever, view.tool.clone().map(|tool| tool.to_string())));
    }
    assert_eq!(seen[0], (Lever(Some(Knob::Tau)), None));
    let tools: Vec<_> = seen[1..].iter().filter_map(|(_, tool)| tool.as_deref()).collect();
    assert_eq!(tools, ["search_web", "population", "calculator", "wikipedia"]);
    assert_eq!(view.knob, Some(Knob::Tau));
}

#[test]
fn without_a_plan_the_ledger_is_measured() {
    let shown = show(PaneId::Budget, &story::demo(), &View::default(), 100, 20);
    assert!(shown.has("no budget plan, B is only reported: choose a strategy with +btp (A)"));
    assert!(!shown.has("planned"));
    assert!(shown.line("wikipedia").contains('▇'));
}

#[test]
fn before_the_first_task_nobody_is_told_to_choose_what_is_chosen() {
    let story = Story::opened("react+btp", toolyard::domain::rates::Rates::default());
    let shown = show(PaneId::Budget, &story, &View::default(), 80, 20);
    assert!(shown.has("no budget plan yet: the next task begins with one"));
}

#[test]
fn what_is_said_of_a_tool_gets_room_before_its_bar() {
    let shown = show(PaneId::Budget, &spending::btp(), &View::default(), 98, 24);
    // Beside a bar of a third of the room it would be cut.
    assert!(shown.line("translate").contains("value 0.05 is below tau 0.15"));
}

#[test]
fn odd_numbers_and_names_are_drawn_at_any_size() {
    let mut story = Story::opened("react+btp", toolyard::domain::rates::Rates::default());
    let names: Vec<_> = (0..16_000).map(|i| format!("tool_{i}\u{202e}\x1b[31m")).collect();
    let candidates: Vec<_> = names
        .iter()
        .enumerate()
        .map(|(i, name)| (name.as_str(), [0.0, 1e300, f64::NAN, 2.5][i % 4], 0.5, 3, 2, 0, "why"))
        .collect();
    story.queue(&[("many", None)]).start(1);
    let mut odd = plan(f64::INFINITY, &candidates);
    odd.budget = 0.0.into();
    story.planned(1, "\x1b[2J", odd);
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Budget,
        value: 0.0.into(),
        was: 20.0.into(),
        by: toolyard::domain::event::By::User,
    });
    for (width, height) in [(1, 1), (9, 3), (40, 7), (78, 20), (160, 50)] {
        let shown = draw(PaneId::Budget, story.state(), &View::default(), 0, width, height);
        assert!(!shown.has("\u{202e}") && !shown.has("NaN") && !shown.has("inf"));
    }
    let mut view = View::default();
    panes::go(PaneId::Budget, story.state(), &mut view, Move::Bottom);
    assert!(view.tool.is_some_and(|tool| tool.as_str().starts_with("tool_15999")));
}

#[test]
fn hundreds_of_tasks_share_the_columns_of_the_strip() {
    let mut story = Story::opened("react+btp", toolyard::domain::rates::Rates::default());
    story.join([story::tool("a", "", 1.0)]);
    let tasks: Vec<_> = (0..400).map(|_| ("task", None)).collect();
    story.queue(&tasks);
    for task in 1..=400 {
        story.start(task).planned(task, "begins", plan(0.0, &[("a", 1.0, 0.5, 3, 3, 1, "")]));
        story.call(task, 1, ("a", serde_json::json!({}), Ok("x"), 1));
        story.tell(TaskEvent::TaskFinished {
            task: TaskId(task),
            outcome: toolyard::domain::event::Outcome::GaveUp,
            answer: None,
            correct: None,
            caveats: Vec::new(),
        });
    }
    let shown = show(PaneId::Budget, &story, &View::default(), 78, 24);
    assert!(shown.has("400 tasks: ━ 1200 planned, ▇ 400 spent, 0 over"));
    assert!(shown.lines.last().is_some_and(|line| line.contains('^')));
}

#[test]
fn a_tree_shows_what_was_tried_where_it_ended_and_where_it_is() {
    let shown = show(PaneId::Search, &spending::search(), &View::default(), 78, 12);
    assert!(shown.line("├ 1").contains("search_web(query:"));
    assert!(shown.line("├ 1").contains("2 votes"));
    assert!(shown.line("404").contains("gave up"));
    assert!(shown.line("├ 3").contains("exhausted"));
    assert!(shown.line("1871 - 1830").starts_with('▶'));
    let shown = show(PaneId::Search, &spending::searched(), &View::default(), 78, 12);
    assert!(shown.line("1871 - 1830").contains('✓') && shown.has("answered"));
    assert!(
        show(PaneId::Search, &story::demo(), &View::default(), 78, 12).has("dfsdt and tot-dfs")
    );
}

#[test]
fn a_deep_tree_is_walked_and_followed() {
    let mut story = Story::opened("dfsdt", toolyard::domain::rates::Rates::default());
    story.queue(&[("deep", None)]).start(1);
    for node in 1..=250 {
        story.node(1, (node, node - 1, "deeper", None));
        story.close(1, node, NodeEnd::TooDeep);
    }
    let shown = show(PaneId::Search, &story, &View::default(), 80, 20);
    assert!(shown.line("▶").contains("250"), "it keeps up with the search");
    let mut view = View::default();
    panes::go(PaneId::Search, story.state(), &mut view, Move::Top);
    panes::go(PaneId::Search, story.state(), &mut view, Move::Right);
    assert_eq!(view.node, Some((TaskId(1), 2)));
    panes::go(PaneId::Search, story.state(), &mut view, Move::Left);
    assert_eq!(view.node, Some((TaskId(1), 1)));
    draw(PaneId::Search, &State::default(), &view, 0, 80, 20);
}

#[test]
fn the_cheapest_known_way_is_a_bound_that_no_plan_can_pass() {
    let mut story = Story::opened("react+btp", toolyard::domain::rates::Rates::default());
    story.join([story::tool("search_web", "", 3.0), story::tool("wikipedia", "", 2.0)]);
    let step = |tools: &[&str]| ChainStep {
        tools: tools.iter().map(|tool| (*tool).into()).collect(),
        arguments: serde_json::json!({}),
        finds: None,
        takes: None,
    };
    let way = |steps: &[&[&str]]| {
        let chain = steps.iter().map(|tools| step(tools)).collect();
        story.state().cheapest_way(&Task { chain, ..Task::from_text("How high?") })
    };
    assert_eq!(way(&[&["search_web", "wikipedia"], &["search_web"]]), Some(5.0));
    assert_eq!(way(&[&["gone", "wikipedia"]]), Some(2.0), "a tool that is not here does not count");
    assert_eq!(way(&[&["gone"], &["wikipedia"]]), None);
    assert_eq!(way(&[]), None, "nobody knows a way");
}
