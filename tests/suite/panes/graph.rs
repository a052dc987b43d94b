//! The three views of the graph.

use std::collections::HashMap;

use serde_json::json;
use toolyard::domain::{By, ChangeEvent, GraphEvent, Knob, SessionEvent, TaskEvent, ToolName};
use toolyard::papers::toolnet::Weights;
use toolyard::ui::needle::Needle;
use toolyard::ui::view::{GraphView, View};
use toolyard::ui::{hits::Target, panes, window::Find};
use toolyard::ui::{pane::PaneId, window::Move};

use super::{Shown, show, view};
use crate::story::{self, Story};

const FOCUS: GraphView = GraphView::Focus;

fn focus(story: &Story, view: &View) -> Shown {
    show(PaneId::Graph, story, view, 62, 26)
}

/// The same where there is room for lines.
fn joined(story: &Story, view: &View) -> Shown {
    show(PaneId::Graph, story, view, 100, 26)
}

/// The numbers of a row, as they are shown.
fn numbers(line: &str) -> Vec<i64> {
    line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

fn percent(weight: f64) -> i64 {
    format!("{:.0}", weight * 100.0).parse().unwrap()
}

#[test]
fn focus_shows_the_weights_of_the_present_node_and_what_taught_them() {
    let story = story::demo();
    let shown = focus(&story, &view(FOCUS));
    assert!(shown.line("start → wikipedia → calculator").starts_with("start"));
    assert!(shown.has("▶ wikipedia"));
    let state = story.state();
    for edge in Weights::of(&state.learning, &state.knobs).row("wikipedia") {
        let name = if edge.to == ToolName::end() { "Finish" } else { edge.to.as_str() };
        let row = shown.lines.iter().rev().find(|line| line.contains(name)).unwrap();
        let right = [edge.weight, edge.prior].map(percent);
        assert_eq!(numbers(row), right, "{row}");
    }
}

#[test]
fn focus_says_why_a_tool_is_offered_and_how_its_call_stands() {
    let story = story::demo();
    let shown = focus(&story, &view(FOCUS));
    assert!(shown.line("new edge").contains("search_web"), "it is no successor");
    assert!(shown.line("running").starts_with('▶'), "what was chosen is marked");
    assert!(shown.line("running").contains("calculator"));
    assert!(shown.line("always").contains("Finish"));
    assert!(shown.line("new edge").contains('↯'), "its fault is armed");
}

#[test]
fn what_moved_the_weights_last_is_named_and_measured() {
    let mut story = story::demo();
    assert!(focus(&story, &view(FOCUS)).has("▲▼ since task 4"));
    let state = story.state();
    let weight = |story: &Story| {
        let state = story.state();
        percent(
            Weights::of(&state.learning, &state.knobs).weight("wikipedia", "calculator").unwrap(),
        )
    };
    let (before, was) = (weight(&story), state.knobs.get(Knob::Beta));
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Beta,
        value: 1.0.into(),
        was: was.into(),
        by: By::User,
    });
    let after = weight(&story);
    assert!(after < before);
    let shown = focus(&story, &view(FOCUS));
    assert!(shown.has("▲▼ since β was 0.45"));
    assert!(shown.line("running").contains(&format!("▼{}", before - after)));
    // Undone: the evaluation is the last thing again.
    let n = story.state().n;
    let (value, was) = (0.45, 1.0);
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Beta,
        value: value.into(),
        was: was.into(),
        by: By::Undo(n),
    });
    assert!(focus(&story, &view(FOCUS)).has("▲▼ since task 4"));
}

#[test]
fn an_edited_score_and_a_pin_move_weights_until_the_next_evaluation() {
    let mut story = story::demo();
    let weights = |story: &Story| {
        let state = story.state();
        let weight = Weights::of(&state.learning, &state.knobs).weight("wikipedia", "calculator");
        percent(weight.unwrap())
    };
    let (tool, was) =
        (ToolName::from("calculator"), story.state().learning.score(&"calculator".into()));
    let before = weights(&story);
    story.tell(GraphEvent::ScoreSet {
        tool,
        score: (was - 9.0).into(),
        was: was.into(),
        by: By::User,
    });
    let shown = focus(&story, &view(FOCUS));
    assert!(joined(&story, &view(FOCUS)).has("▲▼ since score of calculator edited"));
    assert!(shown.line("running").contains(&format!("▼{}", before - weights(&story))));

    let before = weights(&story);
    let (from, to) = (ToolName::from("wikipedia"), ToolName::from("calculator"));
    story.tell(GraphEvent::WeightPinned { from, to, weight: 0.99.into(), was: None, by: By::User });
    let shown = focus(&story, &view(FOCUS));
    assert!(joined(&story, &view(FOCUS)).has("▲▼ since a weight pinned"));
    assert!(shown.line("running").contains(&format!("▲{}", weights(&story) - before)));

    story.evaluate(5, &[("wikipedia", 1, "helped")]);
    assert!(focus(&story, &view(FOCUS)).has("▲▼ since task 5"));
}

#[test]
fn what_was_chosen_is_known_however_much_was_said_since() {
    let mut story = story::demo();
    for _ in 0..5_000 {
        story.tell(SessionEvent::Noticed { text: "busy".into() });
    }
    assert!(focus(&story, &view(FOCUS)).line("running").starts_with('▶'));
}

#[test]
fn a_pinned_weight_is_marked_wherever_it_is_shown() {
    let story = story::demo();
    let mut at = view(FOCUS);
    at.centre = Some("read_page".into());
    let shown = focus(&story, &at);
    assert!(shown.has("  read_page  score"));
    let joined = joined(&story, &at);
    assert!(joined.has("the agent is at wikipedia") && joined.has("╴  read_page"));
    assert!(shown.line("summarize").contains("=5"), "{}", shown.line("summarize"));
    assert!(show(PaneId::Graph, &story, &view(GraphView::Map), 160, 46).has("=5>"));
    let matrix = show(PaneId::Graph, &story, &view(GraphView::Matrix), 120, 40);
    assert!(matrix.line(" read_page").contains("5="));
}

#[test]
fn one_walks_the_graph_with_the_arrows_and_home_again() {
    let story = story::demo();
    let mut view = view(FOCUS);
    let go = |view: &mut View, to| panes::go(PaneId::Graph, story.state(), view, to);
    go(&mut view, Move::Down);
    assert_eq!(view.edge, Some(("wikipedia".into(), "calculator".into())));
    assert_eq!(view.tool, Some("calculator".into()));
    go(&mut view, Move::Right);
    assert_eq!(view.centre, Some("calculator".into()));
    let shown = focus(&story, &view);
    assert!(shown.has("  calculator  score") && shown.has("unit_convert"));
    assert!(shown.row("population") < shown.row("  calculator  score"), "it leads there");
    go(&mut view, Move::Down);
    go(&mut view, Move::Left);
    assert_eq!(view.edge.as_ref().unwrap().1, "calculator".into(), "to what leads there");
    go(&mut view, Move::Top);
    assert_eq!((view.centre, view.edge), (None, None));
}

#[test]
fn a_tool_is_found_by_its_name() {
    let story = story::demo();
    // The focus finds what is around the node only.
    for graph in [GraphView::Map, GraphView::Matrix] {
        let mut view = view(graph);
        assert!(panes::find(
            PaneId::Graph,
            story.state(),
            &mut view,
            &Needle::new("currency"),
            Find::Here
        ));
        assert_eq!(view.tool, Some("currency".into()), "{graph:?}");
        assert!(!panes::find(
            PaneId::Graph,
            story.state(),
            &mut view,
            &Needle::new("no such"),
            Find::Here
        ));
    }
}

#[test]
fn every_cell_of_the_matrix_is_the_weight_of_its_edge() {
    let story = story::demo();
    let state = story.state();
    let shown = show(PaneId::Graph, &story, &view(GraphView::Matrix), 120, 40);
    let weights = Weights::of(&state.learning, &state.knobs);
    let mut cells = 0;
    for (rect, target) in shown.hits.targets() {
        let Target::Edge(from, to) = target else { continue };
        let cell = shown.text_at(*rect);
        let weight = weights.weight(from.as_str(), to.as_str()).unwrap();
        let number = cell.trim_matches(|c: char| !c.is_ascii_digit());
        assert_eq!(number.parse(), Ok(percent(weight)), "{from} → {to}: {cell:?}");
        cells += 1;
    }
    // Every tool leads to itself and to the end, start to every tool, and so on.
    assert_eq!(cells, weights_in(&story), "every edge has a cell, and nothing else has");
}

fn weights_in(story: &Story) -> usize {
    let state = story.state();
    let weights = Weights::of(&state.learning, &state.knobs);
    let rows = state.tools.keys().map(ToolName::as_str).chain(["start"]);
    rows.map(|from| weights.successors_len(from)).sum()
}

#[test]
fn the_selected_cell_of_the_matrix_is_told_in_full() {
    let story = story::demo();
    let mut view = view(GraphView::Matrix);
    view.edge = Some(("search_web".into(), "read_page".into()));
    let shown = show(PaneId::Graph, &story, &view, 120, 30);
    let foot = shown.lines.last().unwrap();
    for words in ["search_web → read_page", "weight 37", "prior 55", "seen 22×"] {
        assert!(foot.contains(words), "{words} in {foot}");
    }
}

#[test]
fn a_call_of_an_earlier_try_is_not_taken_for_the_choice_of_this_one() {
    let mut story = Story::open();
    story.join(["a", "b"].map(|name| story::tool(name, "", 1.0)));
    story.queue(&[("hard", Some("x"))]);
    story.start(1).step(1, 1, "start");
    story.call(1, 1, ("a", json!({}), Ok("nothing"), 5));
    assert!(focus(&story, &view(FOCUS)).line("start").contains("start → a"));
    let reflections = vec!["try b".to_owned()];
    story.tell(TaskEvent::TryStarted {
        task: toolyard::domain::id::TaskId(1),
        number: 2,
        reflections,
    });
    story.step(1, 1, "start");
    let shown = focus(&story, &view(FOCUS));
    assert_eq!(shown.lines[0].trim_end(), "start", "it has chosen nothing yet");
    assert!(!shown.has("▶  "), "only the node itself is marked");
}

/// What the map shows: the label of each edge, by its ends.
fn map_labels(shown: &Shown) -> HashMap<(String, String), String> {
    let mut labels: HashMap<_, String> = HashMap::new();
    for (rect, target) in shown.hits.targets() {
        let Target::Edge(from, to) = target else { continue };
        let label = labels.entry((from.to_string(), to.to_string())).or_default();
        label.push_str(&shown.text_at(*rect));
    }
    labels
}

#[test]
fn every_edge_of_the_map_has_its_weight_on_a_place_of_its_own() {
    let story = story::demo();
    let state = story.state();
    let shown = show(PaneId::Graph, &story, &view(GraphView::Map), 160, 46);
    let labels = map_labels(&shown);
    assert!(labels.len() > 12, "{labels:?}");
    let weights = Weights::of(&state.learning, &state.knobs);
    for ((from, to), label) in &labels {
        let weight = percent(weights.weight(from, to).unwrap());
        let number = label.trim_matches(|c: char| !c.is_ascii_digit());
        assert_eq!(number.parse(), Ok(weight), "{from} → {to}: {label}");
        assert!(label.contains('>') || label.contains('<'), "{label} says which way it goes");
    }
    for name in ["▶ wikipedia +1", "↯ search_web −1", "calculator +2", "start"] {
        assert!(shown.has(name), "{name}");
    }
    assert!(shown.has("━"), "the way of this try is heavy");
    assert!(shown.line("not drawn").contains("nothing_found"));
}

#[test]
fn on_a_small_screen_the_map_scrolls_to_the_agent() {
    let story = story::demo();
    // Whatever tool other panes have selected.
    let view = View { tool: Some("translate".into()), ..view(GraphView::Map) };
    let shown = show(PaneId::Graph, &story, &view, 60, 14);
    assert!(shown.has("[▶ wikipedia]"));
    assert!(shown.has("more"), "and says that there is more");
}

#[test]
fn on_the_map_the_arrows_go_where_they_point() {
    let story = story::demo();
    let mut view = view(GraphView::Map);
    let go = |view: &mut View, to| {
        panes::go(PaneId::Graph, story.state(), view, to);
        view.tool.clone().unwrap().to_string()
    };
    let right = go(&mut view, Move::Right);
    assert!(["calculator", "date_diff", "summarize"].contains(&right.as_str()), "{right}");
    assert_eq!(view.centre.as_ref().unwrap().as_str(), right, "it is looked at, not the agent");
    for _ in 0..8 {
        go(&mut view, Move::Left);
    }
    assert_eq!(view.tool, Some("start".into()), "nothing lies further to the left");
    go(&mut view, Move::Top);
    assert_eq!(view.centre, None, "back to the agent");
}

/// `a` leads to `b`, and back.
#[test]
fn an_edge_against_the_stream_points_back() {
    let mut story = Story::open();
    story.join(["a", "b", "c"].map(|name| story::tool(name, "", 1.0)));
    let edges = [("a", "b", 1.0, 3), ("b", "c", 0.5, 2), ("c", "a", 0.5, 1), ("c", "end", 0.5, 1)];
    story.load(&story::graph_json(["a", "b", "c"], &edges));
    story.queue(&[("go round", None)]);
    story.start(1).step(1, 1, "start");
    story.call(1, 1, ("a", json!({}), Ok("x"), 5));
    story.step(1, 2, "a");
    let shown = show(PaneId::Graph, &story, &view(GraphView::Map), 120, 24);
    let labels = map_labels(&shown);
    let back = labels.values().filter(|label| label.starts_with('<')).count();
    assert_eq!(back, 1, "a circle has one edge that goes back: {labels:?}");
}

#[test]
fn lines_join_what_leads_to_a_node_and_what_can_follow() {
    let story = story::demo();
    let mut at = view(FOCUS);
    let shown = joined(&story, &at);
    // The way of this try is heavy, all else is light.
    assert!(shown.line("  calculator ").contains("┏╸▶"), "{}", shown.line("  calculator "));
    assert!(shown.line("date_diff").contains("▶ wikipedia ╺"), "{}", shown.line("date_diff"));
    assert!(shown.line("start    6").contains("╺━╸▶ wikipedia"), "{}", shown.line("start    6"));
    // The heaviest edge that is shown has a full bar.
    assert!(!shown.line("  calculator ").contains('·'), "{}", shown.line("  calculator "));
    at.edge = Some(("wikipedia".into(), "date_diff".into()));
    let edge = joined(&story, &at);
    let said = edge.line("wikipedia → date_diff");
    assert!(said.contains("prior 25 · score −1 · weight 18"), "{said}");
    assert!(said.contains("- + score  p pin"), "{said}");
    // It stays where it is while weights change.
    let places = |shown: &Shown| -> Vec<usize> {
        ["calculator ", "date_diff ", "Finish "].map(|name| shown.row(name)).to_vec()
    };
    let mut later = story::demo();
    later.evaluate(5, &[("date_diff", 3, "helped")]);
    assert_eq!(places(&joined(&later, &view(FOCUS))), places(&shown));
}
