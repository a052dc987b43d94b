//! No room is left empty while something is hidden: for the demo of every strategy, at two sizes or, without
//! modifiers, at eight.

use std::fmt::Write as _;
use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Rect};
use toolyard::app::session::SessionSpec;
use toolyard::domain::{Base, Record, Strategy};
use toolyard::ui::screen::Screen;
use toolyard::ui::{layout::Placed, pane::PaneId, panes};

use crate::engine::effects::{demo, run};
use crate::engine::yard::on_paused_time;
use crate::stage::{Stage, setup};
use crate::watching;

const SIZES: [(u16, u16); 8] =
    [(120, 40), (140, 44), (160, 50), (180, 55), (200, 60), (240, 70), (280, 80), (320, 90)];
/// So many blank rows have no room for another pane: with its line it takes three at least.
const FEW: usize = 2;
/// So many tasks are shown: the last of them is half done, or all are.
const TASKS: usize = 5;

fn is_blank(buf: &Buffer, row: Rect) -> bool {
    row.positions().all(|at| buf[at].symbol() == " ")
}

/// The blank rows of a pane, and all of them.
fn blank(stage: &Stage, placed: &Placed) -> (usize, usize) {
    let inside = placed.area.inner(Margin::new(1, 1));
    let blank = inside.rows().filter(|row| is_blank(&stage.buf, *row)).count();
    (blank, usize::from(inside.height))
}

/// The panes of which more than a third is blank, while others have something to show and are hidden.
fn wasted(stage: &Stage) -> Option<String> {
    let (state, view) = (stage.screen.live(), &stage.screen.view);
    let has = |pane: &&PaneId| (panes::spec(**pane).when)(state, view);
    let is_hidden = |pane: &&PaneId| view.placed.iter().all(|placed| placed.pane != **pane);
    let hidden: Vec<_> = PaneId::ALL.iter().filter(has).filter(is_hidden).collect();
    let empty = view.placed.iter().map(|placed| (placed.pane, blank(stage, placed)));
    let empty: Vec<_> =
        empty.filter(|(_, (blank, all))| *blank > FEW && blank * 3 > *all).collect();
    (!empty.is_empty() && !hidden.is_empty()).then(|| format!("{empty:?} with {hidden:?} hidden"))
}

/// What is wasted of the screen of this session at each of these sizes.
fn at_sizes(name: &str, mut stage: Stage, sizes: &[(u16, u16)], wrong: &mut String) {
    for (width, height) in sizes {
        stage = stage.sized(*width, *height);
        if let Some(wasted) = wasted(&stage) {
            let _ = writeln!(wrong, "{name} at {width}x{height}: {wasted}");
        }
    }
}

fn stage(records: &[Record]) -> Stage {
    let mut screen = Screen::new(setup());
    records.iter().for_each(|record| screen.receive(Arc::new(record.clone())));
    screen.view.told = false;
    Stage::showing(screen)
}

#[test]
fn no_pane_is_a_third_blank_while_another_is_hidden() {
    let mut wrong = String::new();
    for strategy in Strategy::all() {
        let mut records = Vec::new();
        on_paused_time(async {
            let spec = SessionSpec {
                strategy: Some(strategy),
                // A task with few calls is told in few lines.
                tasks_limit: Some(match strategy.base {
                    Base::Direct | Base::Cotools => 4 * TASKS,
                    _ => TASKS,
                }),
                ..SessionSpec::default()
            };
            records = run(demo(spec), &[]).await.0;
        });
        let late = records.len() * 7 / 8;
        let sizes = if strategy == strategy.base.into() { &SIZES[..] } else { &SIZES[3..5] };
        at_sizes(&format!("{strategy}, at work"), stage(&records[..late]), sizes, &mut wrong);
        at_sizes(&format!("{strategy}, done"), stage(&records), sizes, &mut wrong);
    }
    assert!(wrong.is_empty(), "{} lines:\n{wrong}", wrong.lines().count());
}

#[test]
fn nor_is_one_of_a_watched_agent() {
    let mut wrong = String::new();
    for (name, story) in [("watched", watching::watched()), ("held", watching::held())] {
        let mut stage = Stage::of(&story);
        stage.screen.view.agent = Some(watching::said(60));
        at_sizes(name, stage, &SIZES, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong}");
}
