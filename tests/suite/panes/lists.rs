//! Tools, tasks, models, calls and knobs.

use serde_json::json;
use toolyard::domain::{
    Boundary, ChangeEvent, ControlEvent, Lane, Mode, ModelCallEvent, ModelError, ModelErrorKind,
    Outcome, Role, TaskEvent, TaskId, ToolCallEvent, ToolError, ToolErrorKind, ToolSpec,
};
use toolyard::ui::needle::Needle;
use toolyard::ui::view::{ToolSort, View};
use toolyard::ui::{cx::Cx, pane::PaneId, window::Move};
use toolyard::ui::{hits::Target, panes, window::Find};

use super::show;
use crate::story::{self, Story, effect};

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn a_tool_shows_its_score_how_it_came_to_it_and_its_calls() {
    let story = story::demo();
    let shown = show(PaneId::Tools, &story, &View::default(), 110, 20);
    let line = words(shown.line("search_backup"));
    // Edited to 4, then +3, then +2; no edge leads there from where the agent is.
    let right = ["search_backup", "+9", "▂▅▇█", "–", "2", "0", "545", "ms", "2"];
    assert_eq!(line[..9], right);
    let broken = words(shown.line("search_web"));
    assert_eq!(broken[..3], ["↯", "search_web", "−1"]);
    assert!(shown.line("random_calc").starts_with('⊘'), "it is switched off");
    assert_eq!(words(shown.line("calculator"))[3], "35", "its weight from wikipedia");
}

#[test]
fn a_cost_that_is_not_declared_does_not_look_free() {
    let mut story = Story::open();
    let undeclared = ToolSpec { cost: None, ..story::tool("undeclared", "", 0.0) };
    story.join([story::tool("free", "", 0.0), story::tool("dear", "", 2.5), undeclared]);
    let shown = show(PaneId::Tools, &story, &View::default(), 110, 10);
    for (tool, cost) in [("free", "free"), ("dear", "2.5"), ("undeclared", "?")] {
        assert_eq!(words(shown.line(tool)).last(), Some(&cost), "{tool}");
    }
}

#[test]
fn tools_are_sorted_as_one_wishes_and_unused_ones_come_last() {
    let story = story::demo();
    let first = |sort| {
        let view = View { sort, ..View::default() };
        let shown = show(PaneId::Tools, &story, &view, 80, 24);
        let name = |line: &str| {
            let words = words(line);
            words[usize::from(words[0] == "↯" || words[0] == "⊘")].to_owned()
        };
        shown.lines[1..].iter().take(16).map(|line| name(line)).collect::<Vec<_>>()
    };
    assert_eq!(first(ToolSort::Score)[..3], ["search_backup", "population", "calculator"]);
    assert_eq!(first(ToolSort::Calls)[..2], ["wikipedia", "search_web"]);
    assert_eq!(first(ToolSort::Weight)[..3], ["calculator", "wikipedia", "date_diff"]);
    let by_name = first(ToolSort::Name);
    assert!(by_name.is_sorted(), "{by_name:?}");
    // Never used, never scored: in the order in which they joined.
    assert_eq!(first(ToolSort::Score)[7..9], ["weather", "nothing_found"]);
}

#[test]
fn moving_through_the_tools_follows_what_is_seen() {
    let story = story::demo();
    let mut view = View::default();
    let mut seen = Vec::new();
    for _ in 0..16 {
        panes::go(PaneId::Tools, story.state(), &mut view, Move::Down);
        seen.push(view.tool.clone().unwrap());
    }
    let shown = show(PaneId::Tools, &story, &View::default(), 80, 24);
    let rows: Vec<_> = shown
        .hits
        .targets()
        .filter_map(|(_, target)| match target {
            Target::Tool(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(seen, rows);
    assert!(panes::find(PaneId::Tools, story.state(), &mut view, &Needle::new("unit"), Find::Here));
    assert_eq!(view.tool, Some("unit_convert".into()));
}

#[test]
fn a_task_says_in_words_whether_it_was_right() {
    let mut story = story::demo();
    for (task, outcome) in [(5, Outcome::OutOfSteps), (6, Outcome::GaveUp), (7, Outcome::Stopped)] {
        story.start(task).wait(10);
        let (task, correct) = (TaskId(task), Some(false));
        story.tell(TaskEvent::TaskFinished {
            task,
            outcome,
            answer: None,
            correct,
            caveats: Vec::new(),
        });
    }
    let shown = show(PaneId::Tasks, &story, &View::default(), 140, 10);
    for (row, words) in
        [(0, "✓ right"), (1, "✗ wrong"), (4, "✗ out of steps"), (5, "✗ gave up"), (6, "⊘ stopped")]
    {
        assert!(shown.lines[row].contains(words), "{}", shown.lines[row]);
    }
    assert!(shown.lines[1].contains("65, expected 66"), "the answer beside the right one");
    for words in ["3 steps", "2 calls", "2724 tok", "$0"] {
        assert!(shown.lines[0].contains(words), "{}", shown.lines[0]);
    }
}

#[test]
fn the_tasks_title_counts_what_is_done_and_right() {
    let story = story::demo();
    let theme = toolyard::ui::theme::Theme::default();
    let (state, view) = (story.state(), View::default());
    let cx = Cx {
        state,
        live: state,
        view: &view,
        theme: &theme,
        now: story.now(),
        keymap: &toolyard::ui::keymap::Keymap::default(),
        focused: true,
        frame: ratatui::layout::Rect::ZERO,
    };
    let title = panes::title(PaneId::Tasks, &cx).to_string();
    assert_eq!(title, "Tasks 4/7 · 3 of 4 right (75 %)");
}

#[test]
fn models_say_when_they_are_simulated_and_when_their_price_is_unknown() {
    let mut story = story::demo();
    let ask = story.ask(5, Role::Reflector);
    story.tell(ModelCallEvent::ModelCallRetried {
        effect: effect(ask),
        attempt: 1,
        wait_ms: 100,
        why: "429".into(),
    });
    story.answer(ask, "Look before you leap.", 900);
    let ask = story.ask(5, Role::Reflector);
    let error = ModelError::new(ModelErrorKind::Timeout, "silence for 30 s");
    story.wait(10).tell(ModelCallEvent::ModelCallFailed {
        effect: effect(ask),
        error,
        billed: None,
    });
    let shown = show(PaneId::Models, &story, &View::default(), 120, 12);
    assert!(shown.line("actor").contains("sim SIMULATED"));
    assert!(shown.line("actor").contains(" 9600") && !shown.line("actor").contains('≈'));
    let reflector = words(shown.line("reflector"));
    let right = ["reflector", "local", "2", "640", "41", "$", "unknown", "900", "ms"];
    assert_eq!(reflector[..9], right);
    assert_eq!(reflector[reflector.len() - 2..], ["1", "1"], "one failed, one asked again");
    assert!(shown.line("127.0.0.1").contains(" unknown  unknown "));
    // While it is asked, the time runs.
    story.ask(5, Role::Actor);
    story.wait(310);
    let shown = show(PaneId::Models, &story, &View::default(), 120, 12);
    assert!(shown.line("actor").contains("▶310 ms"));
}

#[test]
fn a_cost_is_unknown_if_only_free_calls_have_a_price() {
    let mut story = story::demo();
    let (model, was) = ("local".into(), "sim".into());
    let by = toolyard::domain::event::By::User;
    story.tell(ChangeEvent::RoleBound { role: Role::Actor, model, was, by });
    let ask = story.ask(5, Role::Actor);
    story.answer(ask, "hm", 5);
    let shown = show(PaneId::Models, &story, &View::default(), 120, 12);
    assert!(shown.line("actor").contains("$ unknown"), "{}", shown.line("actor"));
}

/// Three calls at once: one runs, one waits for the user, one is over.
fn lanes() -> Story {
    let mut story = story::demo();
    let arguments = json!({"query": "x"});
    let held = story.request_call(5, 2, "weather", arguments.clone());
    story.tell(ControlEvent::Held { lane: Lane::Effect(held), boundary: Boundary::BeforeToolCall });
    let failed = story.request_call(5, 2, "currency", arguments);
    story.tell(ToolCallEvent::ToolCallStarted { effect: effect(failed) }).wait(100);
    let error = ToolError::new(ToolErrorKind::Timeout, "no answer in 100 ms");
    story.tell(ToolCallEvent::ToolCallFailed { effect: effect(failed), error }).wait(900);
    story
}

#[test]
fn calls_say_their_step_and_what_they_wait_for() {
    let story = lanes();
    let shown = show(PaneId::Calls, &story, &View::default(), 150, 14);
    let line = shown.line("#31");
    assert_eq!(words(line)[..4], ["▸", "2", "#31", "weather"]);
    assert!(line.contains("1.0 s held") && line.contains("with the agent, before a tool call"));
    let line = shown.line("#30");
    assert_eq!(words(line)[..3], ["2", "#30", "calculator"]);
    assert!(line.contains("1.3 s running") && line.contains("expression: \"1871 - 1830\""));
    assert!(shown.line("#32").contains("100 ms timed out"));
    assert!(shown.row("#28") < shown.row("#30"), "in the order in which they were wanted");
    let view = View { task: Some(TaskId(3)), ..View::default() };
    let earlier = show(PaneId::Calls, &story, &view, 120, 14);
    assert!(earlier.line("#16").contains('↯'), "an injected failure is marked");
}

#[test]
fn lanes_of_one_task_share_their_time_axis() {
    let story = lanes();
    let shown = show(PaneId::Calls, &story, &View::default(), 80, 14);
    let lane = |id: &str, of: char| {
        let cells = shown.line(id).chars().enumerate().filter(|(_, c)| *c == of);
        let cells: Vec<_> = cells.map(|(i, _)| i).collect();
        (cells[0], cells[cells.len() - 1])
    };
    let (running, held, over) = (lane("#30", '▇'), lane("#31", '‖'), lane("#32", '▇'));
    assert!(!shown.line("#31").contains('▇'), "it has never run");
    assert_eq!(held.0, over.0, "they were wanted at the same time");
    assert_eq!(running.1, held.1, "both go on");
    assert!(running.0 < held.0 && over.1 < held.1);
}

#[test]
fn moving_through_the_calls_selects_their_tools() {
    let story = lanes();
    let mut view = View::default();
    let mut seen = Vec::new();
    for _ in 0..4 {
        panes::go(PaneId::Calls, story.state(), &mut view, Move::Up);
        seen.push((view.call.unwrap().0, view.tool.clone().unwrap().to_string()));
    }
    // From the newest in flight, which keys mean while nothing is selected.
    let right = [(30, "calculator"), (28, "wikipedia"), (28, "wikipedia"), (28, "wikipedia")];
    assert_eq!(seen, right.map(|(call, tool)| (call, tool.to_owned())));
}

#[test]
fn a_knob_shows_where_it_stands_and_what_it_does() {
    let story = story::demo();
    let mut view = View::default();
    panes::go(PaneId::Knobs, story.state(), &mut view, Move::Down);
    let usual = show(PaneId::Knobs, &story, &view, 90, 20);
    assert!(usual.line("alpha").starts_with(" learn") && !usual.has("weight_format"));
    assert!(usual.has("40 more: V lists all"));
    view.all_knobs = true;
    let shown = show(PaneId::Knobs, &story, &view, 90, 60);
    let beta = shown.line("beta");
    assert!(beta.starts_with("*") && beta.contains("0.45") && beta.contains("at once"));
    assert!(shown.line("weight_format").contains("[integer]"));
    assert!(shown.line("tries").contains("next task"));
    assert!(shown.has("beta: trust in the prior"), "the selected one is explained");
    assert!(shown.has("default 0.50"));
    assert!(story.state().control.mode == Mode::Running);
}

#[test]
fn tools_with_nearly_the_same_name_can_be_told_apart() {
    let names = [
        "everything__get_resource_links",
        "everything__get_resource_reference",
        "everything__get_structured_content",
        "everything__get_tiny_image",
    ];
    let mut story = Story::open();
    story.join(names.map(|name| story::tool(name, "", 1.0)));
    story.queue(&[("Why?", None)]);
    story.start(1).step(1, 1, "start");
    for (pane, width) in [(PaneId::Tools, 52), (PaneId::Graph, 66), (PaneId::Graph, 52)] {
        let shown = show(pane, &story, &View::default(), width, 20);
        let is_name = |word: &&str| word.starts_with("every");
        let rows = shown.lines.iter().filter_map(|line| line.split_whitespace().find(is_name));
        let rows: Vec<_> = rows.collect();
        let distinct: std::collections::BTreeSet<_> = rows.iter().collect();
        assert!(rows.len() >= names.len(), "{pane:?}: {:?}", shown.lines);
        assert_eq!(distinct.len(), rows.len(), "{pane:?}: {:?}", shown.lines);
    }
}
