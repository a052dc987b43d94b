//! The map stays where it is while an agent learns.

use std::collections::BTreeMap;

use toolyard::app::session::SessionSpec;
use toolyard::domain::{Event, State, TaskEvent};
use toolyard::ui::hits::Target;
use toolyard::ui::pane::PaneId;
use toolyard::ui::view::GraphView;

use super::{Shown, draw, view};
use crate::engine::effects::{demo, run};
use crate::engine::yard::on_paused_time;

/// Where the tools stand that trajectories contain: the left end of each, and its row.
fn places(shown: &Shown, learned: &[String]) -> BTreeMap<String, (u16, u16)> {
    let nodes = shown.hits.targets().filter_map(|(area, target)| match target {
        Target::Tool(tool) => Some((tool.to_string(), (area.x, area.y))),
        _ => None,
    });
    nodes.filter(|(tool, _)| learned.contains(tool)).collect()
}

#[test]
fn what_was_learned_before_stays_where_it_is_while_weights_change() {
    let mut records = Vec::new();
    on_paused_time(async {
        let strategy = Some("toolnet".parse().unwrap());
        let spec = SessionSpec { strategy, tasks_limit: Some(40), ..SessionSpec::default() };
        records = run(demo(spec), &[]).await.0;
    });
    let (mut state, mut before, mut scores) = (State::default(), None::<BTreeMap<_, _>>, 0);
    for record in &records {
        state.apply(record);
        if !matches!(record.event, Event::Task(TaskEvent::TaskFinished { .. })) {
            continue;
        }
        let shown = draw(PaneId::Graph, &state, &view(GraphView::Map), record.at, 200, 90);
        let edges = state.learning.whole().edges();
        let known = edges
            .iter()
            .filter(|edge| edge.count > 0 && !edge.from.is_special() && !edge.to.is_special());
        let known: Vec<String> = known.map(|edge| edge.from.to_string()).collect();
        let places = places(&shown, &known);
        assert!(places.len() > 4, "{places:?}");
        for (tool, place) in before.get_or_insert_with(|| places.clone()) {
            assert_eq!(places.get(tool), Some(&*place), "{tool} after {:?}", record.event);
        }
        scores = scores.max(state.learning.scores.iter().filter(|(_, score)| *score > 3.0).count());
    }
    assert!(scores > 1, "it has learned something");
}
