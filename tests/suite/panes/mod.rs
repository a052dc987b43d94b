//! The panes, drawn into a buffer over states told by hand.

mod filters;
mod graph;
mod graph_map;
mod lanes;
mod lists;
mod made_of;
pub mod probing;
pub mod problems;
pub mod programs;
mod reading;
mod requests;
mod resilience;
pub mod servers;
mod spending;
mod transcript;
mod twin;
mod watched;
mod workers;

use crate::story::effect;
use proptest::prelude::*;
use ratatui::{buffer::Buffer, layout::Rect};
use toolyard::domain::State;
use toolyard::domain::expression::{Expression, Scope};
use toolyard::ui::hits::{Hits, Target};
use toolyard::ui::needle::Needle;
use toolyard::ui::twin::{Twin, TwinKind};
use toolyard::ui::view::{GraphView, View};
use toolyard::ui::watch::Watch;
use toolyard::ui::{cx::Cx, pane::PaneId, window::Move};
use toolyard::ui::{keymap::Keymap, panes, theme::Theme, window::Find};

use crate::story::{self, Story};

/// What a pane shows, and who owns its cells.
struct Shown {
    lines: Vec<String>,
    hits: Hits,
    buf: Buffer,
}

impl Shown {
    fn has(&self, text: &str) -> bool {
        self.lines.iter().any(|line| line.contains(text))
    }

    /// The text in these cells, which are one row of the pane.
    fn text_at(&self, cells: Rect) -> String {
        text_of(&self.buf, cells)
    }

    /// The first line that holds this text.
    fn line(&self, text: &str) -> &str {
        let line = self.lines.iter().find(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("no {text:?} in\n{}", self.lines.join("\n")))
    }

    /// The place of the first line that holds this text.
    fn row(&self, text: &str) -> usize {
        let row = self.lines.iter().position(|line| line.contains(text));
        row.unwrap_or_else(|| panic!("no {text:?} in\n{}", self.lines.join("\n")))
    }
}

/// What every cell around a pane holds before and must hold after.
const OUTSIDE: &str = "☠";

/// Draws a pane in the middle of a larger buffer and makes sure that it stays inside.
fn draw(pane: PaneId, state: &State, view: &View, now: u64, width: u16, height: u16) -> Shown {
    let (theme, keymap) = (Theme::default(), Keymap::default());
    let cx = Cx {
        state,
        live: state,
        view,
        theme: &theme,
        now,
        keymap: &keymap,
        focused: true,
        frame: Rect::ZERO,
    };
    let whole = Rect::new(0, 0, width + 4, height + 4);
    let area = Rect::new(2, 2, width, height);
    let mut buf = Buffer::empty(whole);
    for position in whole.positions() {
        buf[position].set_symbol(if area.contains(position) { " " } else { OUTSIDE });
    }
    let mut hits = Hits::default();
    panes::draw(pane, &cx, area, &mut buf, &mut hits);
    for position in whole.positions() {
        let symbol = buf[position].symbol();
        if area.contains(position) {
            assert!(!symbol.chars().any(char::is_control), "{pane:?} at {position}: {symbol:?}");
        } else {
            assert_eq!(symbol, OUTSIDE, "{pane:?} wrote at {position}");
        }
    }
    for (rect, target) in hits.targets() {
        assert_eq!(rect.intersection(area), *rect, "{target:?} lies outside of {pane:?}");
    }
    let lines = (area.y..area.bottom()).map(|y| text_of(&buf, Rect { y, height: 1, ..area }));
    Shown { lines: lines.collect(), hits, buf }
}

/// The text in one row of cells; a wide character stands in two of them.
fn text_of(buf: &Buffer, row: Rect) -> String {
    let mut text = String::new();
    let mut x = row.x;
    while x < row.right() {
        let symbol = buf[(x, row.y)].symbol();
        text.push_str(symbol);
        x += toolyard::ui::text::width(symbol).max(1) as u16;
    }
    text
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
        width in 0u16..140, height in 0u16..50,
        moves in prop::collection::vec(0..MOVES.len(), 0..12), works: bool,
    ) {
        let story = if works { crate::working::worked() } else { story::demo() };
        let pane = PaneId::ALL[pane];
        let mut view = view(GRAPH_VIEWS[graph]);
        for to in moves {
            panes::go(pane, story.state(), &mut view, MOVES[to]);
            let shown = draw(pane, story.state(), &view, story.now(), width, height);
            view.settle(&shown.hits);
        }
        panes::find(pane, story.state(), &mut view, &Needle::new("search"), Find::Next);
        // What is selected may not be there yet, or no longer.
        let n = (story.records.len() as f64 * moment) as usize;
        let past = State::fold(&story.records[..n]);
        draw(pane, &past, &view, past.at, width, height);
    }
}

#[test]
fn everything_selected_by_moving_can_be_pointed_at() {
    for pane in PaneId::ALL.iter().copied() {
        let story = match pane {
            PaneId::Search => crate::spending::search(),
            PaneId::Plan => crate::working::working(),
            PaneId::Breakpoints => crate::keys::debug::stopped(),
            PaneId::Program | PaneId::Variables | PaneId::Revisions => programs::revised(),
            PaneId::Probing => probing::probed(),
            PaneId::Reading => reading::read(),
            PaneId::Conversations => crate::watching::watched(),
            PaneId::Servers => servers::served(),
            PaneId::Problems => problems::troubled(),
            _ => story::demo(),
        };
        let mut view = View::default();
        for text in ["spent", "left"] {
            let watched = Expression::read(text, Scope::Session).unwrap();
            view.watches.push(Watch::new(watched, story.state()));
        }
        view.agent = Some(crate::watching::said(20));
        let mut twin = Twin::beside(TwinKind::Frozen, story.state());
        twin.settle(story.state(), true);
        view.twin = Some(twin);
        panes::go(pane, story.state(), &mut view, Move::Down);
        let shown = show(pane, &story, &view, 100, 24);
        let things = shown.hits.targets().filter(|(_, target)| !matches!(target, Target::Pane(_)));
        assert!(things.count() > 1, "{pane:?} has nothing to point at");
    }
}

/// A session in which everything that comes from a model, a tool or a task tries to take the terminal.
fn hostile() -> Story {
    const ATTACK: &str = "\x1b[2J\x1b]0;owned\x07\r\n\u{202e}evil\u{200b}\u{9b}31m\u{0}";
    let name = format!("t\x1b[31m{}", "x".repeat(300));
    let mut story = Story::open();
    story.join([story::tool(&name, ATTACK, 1.0), story::tool("\u{202e}tool", ATTACK, 0.0)]);
    story.queue(&[(ATTACK, Some(ATTACK)), (ATTACK, None)]);
    let arguments = serde_json::json!({ATTACK: ATTACK, "list": [ATTACK]});
    let call = (name.as_str(), arguments.clone(), Ok(ATTACK), 20);
    let failed = ("\u{202e}tool", arguments, Err(ATTACK), 20);
    story.task(1, &[(ATTACK, call), (ATTACK, failed)], (ATTACK, false), &[(&name, -2, ATTACK)]);
    story.start(2).step(2, 1, "start");
    let ask = story.ask(2, toolyard::domain::chat::Role::Actor);
    let (text, reasoning) = (ATTACK.to_owned(), ATTACK.to_owned());
    story.tell(toolyard::domain::event::ModelCallEvent::ModelCallProgressed {
        effect: effect(ask),
        text,
        reasoning,
    });
    story
}

#[test]
fn hostile_text_is_shown_and_does_nothing() {
    let story = hostile();
    for pane in PaneId::ALL.iter().copied() {
        for graph in GRAPH_VIEWS {
            for width in [20, 80, 160] {
                let shown = show(pane, &story, &view(graph), width, 40);
                assert!(!shown.has("\u{202e}"), "{pane:?}");
            }
        }
    }
    assert!(show(PaneId::Transcript, &story, &View::default(), 80, 40).has("␛[2J␛]0;owned␇"));
}

#[test]
fn before_anything_happened_every_pane_says_so() {
    let state = State::default();
    for pane in PaneId::ALL.iter().copied() {
        for graph in GRAPH_VIEWS {
            let shown = draw(pane, &state, &view(graph), 0, 60, 10);
            let words = ["no ", "No ", "not started: press space", "waiting for", "alpha"];
            assert!(words.iter().any(|word| shown.has(word)), "{pane:?}: {:?}", shown.lines);
        }
    }
}

#[test]
fn sixteen_thousand_tools_are_shown_by_their_best() {
    let mut story = Story::open();
    story.join((0..16_000).map(|i| story::tool(&format!("tool_{i}"), "many", 1.0)));
    story.queue(&[("one", Some("x")), ("two", None)]);
    let arguments = serde_json::json!({});
    let call = ("tool_12345", arguments, Ok("x"), 30);
    story.task(1, &[("try it", call)], ("x", true), &[("tool_12345", 3, "found it")]);
    story.start(2).step(2, 1, "start");
    for graph in GRAPH_VIEWS {
        let shown = show(PaneId::Graph, &story, &view(graph), 100, 24);
        let upright = graph == GraphView::Matrix;
        assert!(shown.has("tool_12345") || upright, "{graph:?}");
    }
    let shown = show(PaneId::Tools, &story, &View::default(), 100, 24);
    assert!(shown.lines[1].contains("tool_12345") && shown.lines[2].contains("tool_0"));
    // The last of them can be reached.
    let mut view = View::default();
    panes::go(PaneId::Tools, story.state(), &mut view, Move::Bottom);
    let shown = show(PaneId::Tools, &story, &view, 100, 24);
    assert!(shown.has("tool_15999"));
}
