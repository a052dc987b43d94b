//! How a fault was taken, at the width that there is: few tasks, both verdicts, and the price.

use toolyard::app::session::SessionSpec;
use toolyard::domain::{Knob, Lap, Record, State};
use toolyard::ui::hits::Target;
use toolyard::ui::pane::PaneId;
use toolyard::ui::screen::Screen;
use toolyard::ui::twin::{Twin, TwinKind};

use crate::engine::effects::{demo, run};
use crate::engine::yard::on_paused_time;
use crate::stage::{Stage, setup};

/// A session of so many tasks, in which the usual search fails from a task on, if there is one.
pub fn session(tasks: usize, fails_from: Option<u32>, learns: bool) -> Vec<Record> {
    let mut records = Vec::new();
    on_paused_time(async {
        let fault = fails_from.map(|task| format!("search_web:error:from-task={task}"));
        let spec = SessionSpec {
            strategy: Some("toolnet".parse().unwrap()),
            tasks_limit: Some(tasks),
            seed: Some(5),
            faults: fault.into_iter().map(|fault| fault.parse().unwrap()).collect(),
            knobs: if learns { [].into() } else { [(Knob::Learn, 0.0)].into() },
            ..SessionSpec::default()
        };
        records = run(demo(spec), &[]).await.0;
    });
    records
}

fn twin(kind: TwinKind, records: &[Record]) -> Twin {
    let laps: Vec<Lap> = State::fold(records).laps_in_order();
    Twin::ended(kind, laps)
}

fn stage(records: &[Record], (width, height): (u16, u16)) -> Stage {
    let mut screen = Screen::new(setup());
    for record in records {
        screen.receive(std::sync::Arc::new(record.clone()));
    }
    screen.view.told = false;
    screen.view.focus = PaneId::Resilience;
    screen.view.zoom = Some(PaneId::Resilience);
    Stage::showing(screen).sized(width, height)
}

/// The columns of the axis, from the first to the last one of a task.
fn columns(stage: &Stage) -> (u16, u16) {
    let areas = stage.screen.hits().targets().filter_map(|(area, target)| match target {
        Target::Task(_) => Some(*area),
        _ => None,
    });
    let areas: Vec<_> = areas.collect();
    let start = areas.iter().map(|area| area.x).min().unwrap();
    (start, areas.iter().map(|area| area.right()).max().unwrap())
}

#[test]
fn few_tasks_use_the_whole_width() {
    for (tasks, width) in [(1, 120), (4, 120), (11, 120), (29, 120), (60, 200), (85, 320)] {
        let stage = stage(&session(tasks, Some(2), true), (width, 40));
        let (start, end) = columns(&stage);
        let axis = width - 2 - 22 - 12;
        assert_eq!(end - start, axis, "{tasks} at {width}: {}", stage.text());
    }
    // While tasks are to come there is room for some of them.
    let records = session(40, Some(2), true);
    let stage = stage(&records[..records.len() / 4], (120, 40));
    let (start, end) = columns(&stage);
    assert!((50..=84).contains(&(end - start)), "{}", stage.text());
}

#[test]
fn both_verdicts_and_the_price_are_side_by_side() {
    let own = session(29, Some(9), true);
    let frozen = twin(TwinKind::Frozen, &session(29, Some(9), false));
    let unbroken = twin(TwinKind::Unbroken, &session(29, None, true));
    for size in [(80, 24), (120, 40), (200, 60)] {
        let name = |what| format!("resilience-{what}-{}x{}", size.0, size.1);
        let mut stage = stage(&own, size);
        insta::assert_snapshot!(name("alone"), stage.text());
        let price = if size.0 < 100 { "vs " } else { "compared with the " };
        assert!(stage.shows("tasks before"), "{}", stage.text());
        assert!(stage.shows(price), "{}", stage.text());
        for twin in [&frozen, &unbroken] {
            stage.screen.view.twin = Some(twin.clone());
            stage.draw();
            let text = stage.text();
            let line = |what: &str| text.lines().position(|line| line.contains(what));
            let (own, other) = match twin.kind {
                TwinKind::Frozen => (line("Recovered after"), line(" twin ")),
                TwinKind::Unbroken | TwinKind::Origin => {
                    (line("Recovered after"), line(" twin without the fault: "))
                }
            };
            assert!(own.is_some() && other.is_some(), "{text}");
            assert_eq!(own == other, size.0 >= 100, "{text}");
            // A twin that has the fault too is no measure of its price.
            let by_twin = twin.kind == TwinKind::Unbroken;
            assert_eq!(text.contains("tasks before"), !by_twin, "{text}");
            let of_twin = text.contains("the same tasks of the twin") || text.contains("vs twin");
            assert_eq!(of_twin, by_twin, "{text}");
        }
        insta::assert_snapshot!(name("twin"), stage.text());
    }
}

#[test]
fn the_numbers_of_tasks_never_overlap() {
    for tasks in [1, 9, 24, 60] {
        let records = session(tasks, Some(3), true);
        for width in [60, 80, 100, 120, 200, 320] {
            let stage = stage(&records, (width, 30));
            let text = stage.text();
            let line = text.lines().find(|line| line.contains(" task  ")).unwrap();
            let numbers = line.split(" task  ").nth(1).unwrap().trim_matches(['┃', ' ']);
            let found: Vec<u32> = numbers
                .split_whitespace()
                .map(|number| number.trim_start_matches(['↯', '✓', '▸']).parse().unwrap())
                .collect();
            assert!(found.is_sorted() && found.iter().all(|task| *task <= tasks as u32), "{line}");
        }
    }
}
