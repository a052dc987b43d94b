//! Odd terminals and odd sessions: the smallest and the largest screens, few colours, long and wide names, and more
//! of everything than anybody has.

use proptest::prelude::*;
use ratatui::layout::Rect;
use serde_json::json;
use toolyard::domain::Role;
use toolyard::ui::layout::{MIN, Size};
use toolyard::ui::pane::PaneId;
use toolyard::ui::screen::Setup;
use toolyard::ui::symbols::Charset;
use toolyard::ui::theme::Theme;

use crate::stage::{Stage, setup};
use crate::story::{self, Story, graph_json, tool};
use crate::{spending, watching};

/// Names of about 200 characters.
fn long_names() -> Vec<String> {
    let of = |unit: &str| unit.repeat(200 / unit.chars().count());
    let units = [
        "x",
        "long name ",
        "日本語",
        "e\u{301}",
        "ก\u{e49}",
        "👩\u{200d}👩\u{200d}👧",
        "🇩🇪",
        "❤\u{fe0f}",
        "한글",
        "ﷺ",
        "a日",
    ];
    units.into_iter().map(of).collect()
}

/// The least columns and rows of each class of sizes.
const CLASSES: [(u16, u16); 6] = [MIN, (80, 24), (100, 30), (120, 30), (200, 45), (260, 75)];

/// Around the least size of each class, and the ends.
fn sizes() -> Vec<(u16, u16)> {
    let around = |at: u16| [at - 1, at, at + 1];
    let mut sizes = vec![(1, 1), (500, 1), (1, 200), (500, 200)];
    for (width, height) in CLASSES {
        sizes.extend(around(width).into_iter().flat_map(|x| around(height).map(|y| (x, y))));
    }
    sizes
}

#[test]
fn the_sizes_around_each_class_are_known() {
    for (at, (width, height)) in CLASSES.into_iter().enumerate() {
        let class = |width, height| Size::of(width, height).map(|size| size as usize);
        assert_eq!(class(width, height), Some(at));
        assert!(class(width - 1, height) < Some(at) && class(width, height - 1) < Some(at));
    }
}

/// A session in which everything that has a name has this one, with a number before it.
fn named(name: &str) -> Story {
    let names: Vec<String> = (0..12).map(|i| format!("{i}{name}")).collect();
    let refs: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut story = Story::open();
    story.join(refs.iter().map(|name| tool(name, name, 1.0)));
    let edges: Vec<_> = refs.windows(2).map(|two| (two[0], two[1], 0.4, 3)).collect();
    story.load(&graph_json(refs.iter().copied(), &edges));
    story.queue(&refs.iter().map(|name| (*name, Some(*name))).collect::<Vec<_>>());
    for task in 1..=4 {
        let call = |at: usize, ok: bool| {
            let end = if ok { Ok(refs[at]) } else { Err(refs[at]) };
            (refs[0], (refs[at], json!({ "query": refs[at], refs[at]: refs[at] }), end, 40))
        };
        let at = task as usize;
        let calls = [call(at, true), call(at + 1, false), call(at + 2, true)];
        let verdicts = [(refs[at], 2, refs[0]), (refs[at + 1], -2, refs[0])];
        story.task(task, &calls, (refs[0], task != 2), &verdicts);
    }
    story.break_tool(refs[1]);
    story.start(5).step(5, 1, "start");
    let ask = story.ask(5, Role::Actor);
    story.answer(ask, refs[0], 80);
    story.request_call(5, 1, refs[2], json!({ "query": refs[2] }));
    story
}

/// A wide character that lost its second half, or a frame that lost a cell, shifts what comes after it.
fn assert_aligned(stage: &Stage, what: &str) {
    let buf = &stage.buf;
    for y in buf.area.y..buf.area.bottom() {
        for x in buf.area.x..buf.area.right() {
            let symbol = buf[(x, y)].symbol();
            let width = toolyard::ui::text::width(symbol);
            assert!(width <= 2, "{what} at {x},{y}: {symbol:?}");
            if width == 2 {
                let next = buf.cell((x + 1, y)).map(|cell| cell.symbol());
                assert!(
                    matches!(next, Some(" " | "")),
                    "{what} at {x},{y}: {symbol:?} before {next:?}\n{}",
                    stage.text()
                );
            }
        }
    }
    if !stage.screen.view.popups.is_empty() {
        return;
    }
    let is_frame = |x: u16, y: u16| {
        let symbol = buf[(x, y)].symbol();
        symbol.chars().all(|c| ('\u{2500}'..='\u{257f}').contains(&c) || "█+|-=#".contains(c))
    };
    for Rect { x, y, width, height } in stage.screen.view.placed.iter().map(|it| it.area) {
        for row in y..y + height {
            for column in [x, x + width - 1] {
                assert!(is_frame(column, row), "{what}: frame at {column},{row}\n{}", stage.text());
            }
        }
    }
}

fn look_at_all(stage: &mut Stage, what: &str) {
    assert_aligned(stage, what);
    for pane in PaneId::ALL.iter().copied() {
        stage.screen.view.zoom = Some(pane);
        stage.screen.view.focus = pane;
        stage.draw();
        assert_aligned(stage, &format!("{what}, {pane:?}"));
        stage.press("down");
        assert_aligned(stage, &format!("{what}, {pane:?} down"));
        stage.press("enter");
        assert_aligned(stage, &format!("{what}, {pane:?} enter"));
        stage.press("esc esc");
        stage.screen.view.zoom = None;
    }
    stage.draw();
}

#[test]
fn long_and_wide_names_shift_no_column() {
    for name in long_names() {
        let story = named(&name);
        for (width, height) in [(60, 16), (80, 24), (200, 60)] {
            let mut stage = Stage::of(&story).sized(width, height);
            let begin: String = name.chars().take(6).collect();
            look_at_all(&mut stage, &format!("{begin} at {width}x{height}"));
            if height != 24 {
                continue;
            }
            for keys in ["?", ":", "g f", "A", "m", "e", "g m", "i", "v", "g f a", "B a"] {
                stage.press(keys);
                assert_aligned(&stage, &format!("{begin} at {width}x{height}, {keys}"));
                stage.press("esc esc esc");
            }
        }
    }
}

/// The rows of a list have their columns where those of short names have them.
#[test]
fn columns_are_where_they_are_for_short_names() {
    let column = |story: &Story, pane: PaneId, what: &str| {
        let mut stage = Stage::of(story);
        stage.screen.view.zoom = Some(pane);
        stage.screen.view.focus = pane;
        stage.draw();
        let rows = stage.area.rows().filter_map(|row| {
            let mut cells = row.positions().map(|at| stage.buf[at].symbol()).collect::<Vec<_>>();
            cells.reverse();
            let text: String = cells.iter().rev().copied().collect();
            text.contains(what).then(|| {
                let of = |x: usize| cells[..x].iter().rev().copied().collect::<String>();
                (0..cells.len()).find(|x| of(*x).contains(what)).unwrap_or(0)
            })
        });
        rows.collect::<Vec<_>>()
    };
    let short = named("name");
    for name in long_names() {
        let story = named(&name);
        for (pane, what) in
            [(PaneId::Tasks, "✓ right"), (PaneId::Tasks, "3 steps"), (PaneId::Models, "simulated")]
        {
            let (expected, found) = (column(&short, pane, what), column(&story, pane, what));
            assert_eq!(found, expected, "{what} of {pane:?} with {name}");
        }
    }
}

#[test]
fn every_size_shows_the_demo_and_a_watched_agent() {
    for story in [story::demo(), watching::watched(), watching::held(), spending::btp()] {
        let mut stage = Stage::of(&story);
        stage.screen.view.agent = Some(watching::said(40));
        for (width, height) in sizes() {
            stage = stage.sized(width, height);
            assert_aligned(&stage, &format!("{width}x{height}"));
            for keys in ["?", "tab", "z"] {
                stage.press(keys);
                stage.press("esc");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn so_does_any_other(
        width in 1u16..=500, height in 1u16..=200, watched: bool, ascii: bool, colour: bool,
        pane in 0..PaneId::ALL.len(),
    ) {
        let theme = if colour { Theme::default() } else { Theme::default().without_colour() };
        let charset = if ascii { Charset::Ascii } else { Charset::Unicode };
        let setup = Setup { themes: vec![theme], charset, ..setup() };
        let story = if watched { watching::watched() } else { story::demo() };
        let mut stage = Stage::with(&story, setup).sized(width, height);
        stage.screen.view.focus = PaneId::ALL[pane];
        stage.draw();
        assert_aligned(&stage, &format!("{width}x{height}"));
        if ascii {
            let text = stage.text();
            let others = |c: char| !c.is_ascii() && toolyard::ui::symbols::fallback(c).is_some();
            prop_assert!(!text.contains(others), "{text}");
        }
    }
}

#[test]
fn names_that_are_not_ascii_keep_their_places_in_ascii() {
    for name in long_names() {
        let setup = Setup { charset: Charset::Ascii, ..setup() };
        let mut stage = Stage::with(&named(&name), setup).sized(80, 24);
        look_at_all(&mut stage, "ascii");
    }
}

#[test]
fn a_thousand_lanes_a_thousand_tools_and_ten_thousand_steps() {
    let mut tools = Story::open();
    let names: Vec<String> = (0..1000).map(|i| format!("tool_{i}")).collect();
    tools.join(names.iter().map(|name| tool(name, "many", 1.0)));
    let edges: Vec<_> =
        names.windows(2).map(|two| (two[0].as_str(), two[1].as_str(), 0.1, 1)).collect();
    tools.load(&graph_json(names.iter().map(String::as_str), &edges));
    tools.queue(&[("one", Some("x")), ("two", None)]);
    let call = |tool| (tool, json!({"query": "x"}), Ok("x"), 30);
    tools.task(1, &[("try", call("tool_1")), ("try", call("tool_2"))], ("x", true), &[]);
    tools.start(2).step(2, 1, "start");

    let mut lanes = Story::of_workers();
    lanes.start(1);
    let calls: Vec<_> =
        (0..1000).map(|i| lanes.request_call(1, 1, "calculator", json!({ "query": i }))).collect();
    for (at, call) in calls.iter().enumerate() {
        lanes.starts(&[*call]).wait(1);
        if at % 3 == 0 {
            lanes.wait(20);
        }
    }

    let mut steps = Story::open();
    steps.join([tool("calculator", "math", 1.0), tool("search", "web", 1.0)]);
    steps.queue(&[("count", None)]);
    steps.start(1);
    for step in 1..=10_000 {
        let from = if step == 1 { "start" } else { "calculator" };
        steps.step(1, step, from);
        steps.call(1, step, call("calculator"));
    }
    for (what, story) in [("tools", &tools), ("lanes", &lanes), ("steps", &steps)] {
        let mut stage = Stage::of(story);
        for (width, height) in [(80, 24), (120, 40), (200, 60), (500, 200)] {
            stage = stage.sized(width, height);
            // Read with `cargo test thousand -- --nocapture`.
            println!("{what} at {width}x{height}\n{}", stage.text());
            assert_aligned(&stage, &format!("a thousand {what} at {width}x{height}"));
        }
        look_at_all(&mut stage.sized(120, 40), &format!("a thousand {what}"));
    }
    let mut stage = Stage::of(&lanes).sized(120, 40);
    stage.press("6 end");
    assert!(stage.shows("1000 in flight") && stage.shows("#1000 "), "{}", stage.text());
    let mut stage = Stage::of(&steps).sized(120, 40);
    assert!(stage.shows("step 10000") || stage.shows("step 10,000"), "{}", stage.text());
    stage.press("2 home end");
    assert_aligned(&stage, "the transcript");
}
