//! The panes, drawn into a buffer over states told by hand.

use proptest::prelude::*;
use ratatui::{buffer::Buffer, layout::Rect};
use toolyard::{
    state::State,
    ui::{
        hits::{Hits, Target},
        pane::{self, Cx, Move, PaneId},
        theme::Theme,
        view::{GraphView, View},
        vlist::Find,
    },
};

use crate::story::{self, Story};

/// What a pane shows, and who owns its cells.
struct Shown {
    lines: Vec<String>,
    hits: Hits,
}

/// What every cell around a pane holds before and must hold after.
const OUTSIDE: &str = "☠";

/// Draws a pane in the middle of a larger buffer and makes sure that it stays inside.
fn draw(pane: PaneId, state: &State, view: &View, now: u64, width: u16, height: u16) -> Shown {
    let theme = Theme::default();
    let cx = Cx { state, live: state, view, theme: &theme, now, focused: true };
    let whole = Rect::new(0, 0, width + 4, height + 4);
    let area = Rect::new(2, 2, width, height);
    let mut buf = Buffer::empty(whole);
    for position in whole.positions() {
        buf[position].set_symbol(if area.contains(position) { " " } else { OUTSIDE });
    }
    let mut hits = Hits::default();
    pane::draw(pane, &cx, area, &mut buf, &mut hits);
    for position in whole.positions().filter(|position| !area.contains(*position)) {
        assert_eq!(buf[position].symbol(), OUTSIDE, "{pane:?} wrote at {position}");
    }
    for (rect, target) in hits.targets() {
        assert_eq!(rect.intersection(area), *rect, "{target:?} lies outside of {pane:?}");
    }
    let line = |y| (area.x..area.right()).map(|x| buf[(x, y)].symbol()).collect::<String>();
    Shown { lines: (area.y..area.bottom()).map(line).collect(), hits }
}

fn show(pane: PaneId, story: &Story, view: &View, width: u16, height: u16) -> Shown {
    let shown = draw(pane, story.state(), view, story.now(), width, height);
    // Read with `cargo test panes -- --nocapture`.
    println!("{pane:?} {width}x{height}\n{}", shown.lines.join("\n"));
    shown
}

fn view(graph: GraphView) -> View {
    View { graph, ..View::default() }
}

const GRAPH_VIEWS: [GraphView; 3] = [GraphView::Focus, GraphView::Map, GraphView::Matrix];
const MOVES: [Move; 8] = [
    Move::Up,
    Move::Down,
    Move::Left,
    Move::Right,
    Move::PageUp,
    Move::PageDown,
    Move::Top,
    Move::Bottom,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Any pane, any size, any moment, whatever was selected before: no panic, no cell outside.
    #[test]
    fn panes_stay_inside_at_any_size_and_moment(
        pane in 0..PaneId::ALL.len(), graph in 0usize..3, moment in 0.0..=1.0f64,
        width in 1u16..140, height in 1u16..50,
        moves in prop::collection::vec(0..MOVES.len(), 0..12),
    ) {
        let story = story::demo();
        let pane = PaneId::ALL[pane];
        let mut view = view(GRAPH_VIEWS[graph]);
        for to in moves {
            pane::go(pane, story.state(), &mut view, MOVES[to]);
            let shown = draw(pane, story.state(), &view, story.now(), width, height);
            view.settle(&shown.hits);
        }
        pane::find(pane, story.state(), &mut view, "search", Find::Next);
        // What is selected may not be there yet, or no longer.
        let n = (story.records.len() as f64 * moment) as usize;
        let past = State::fold(&story.records[..n]);
        draw(pane, &past, &view, past.at, width, height);
    }
}

#[test]
fn everything_selected_by_moving_can_be_pointed_at() {
    let story = story::demo();
    for pane in PaneId::ALL {
        let mut view = View::default();
        pane::go(pane, story.state(), &mut view, Move::Down);
        let shown = show(pane, &story, &view, 100, 24);
        let things = shown.hits.targets().filter(|(_, target)| !matches!(target, Target::Pane(_)));
        assert!(things.count() > 1, "{pane:?} has nothing to point at");
    }
}
