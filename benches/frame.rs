//! A frame at 200×60 with 16,000 tools and more than 1,000 calls (the target is under 2 ms), each pane
//! on the whole screen, and the time from a key to its frame; the same with a plan over all the tools and
//! a search of 200 nodes, and with plans of 64 and 256 calls.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a bench that cannot begin stops at once"
)]

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ratatui::crossterm::event::{Event as Input, KeyEvent};
use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::json;
use toolyard::domain::{BudgetEvent, BudgetPlan, NodeEnd, PlannedTool, SearchEvent, TaskId};
use toolyard::ui::needle::Needle;
use toolyard::ui::pane_search::PaneSearch;
use toolyard::ui::screen::{Screen, Setup};
use toolyard::ui::view::{GraphView, Round};
use toolyard::ui::{key::Key, keymap::Keymap, pane::PaneId, theme::Theme};

#[path = "../tests/suite/story.rs"]
#[expect(dead_code, reason = "the tests tell more kinds of stories")]
mod story;

#[path = "../tests/suite/working.rs"]
#[expect(dead_code, reason = "the tests tell more kinds of plans")]
mod working;

use story::Story;

const TOOLS: usize = 16_000;
const TASKS: u32 = 400;
const SIZE: Rect = Rect::new(0, 0, 200, 60);

/// Tasks of three calls each, with verdicts, over thousands of tools; the last one is at work.
fn session() -> Story {
    let mut story = Story::open();
    story.join((0..TOOLS).map(|i| story::tool(&format!("tool_{i}"), "Class", 1.0)));
    let texts: Vec<String> = (0..=TASKS).map(|i| format!("Question number {i}, is it?")).collect();
    let tasks: Vec<_> = texts.iter().map(|text| (text.as_str(), Some("42"))).collect();
    story.queue(&tasks);
    for task in 1..=TASKS {
        let names = [0, 1, 2].map(|i| format!("tool_{}", (task as usize * 7 + i * 13) % 500));
        let calls: Vec<_> = names
            .iter()
            .map(|name| {
                let call = (name.as_str(), json!({"query": "what is it"}), Ok("an answer"), 40);
                ("I should look it up.", call)
            })
            .collect();
        let verdicts: Vec<_> = names.iter().map(|name| (name.as_str(), 1, "it helped")).collect();
        story.task(task, &calls, ("42", true), &verdicts);
    }
    story.start(TASKS + 1).step(TASKS + 1, 1, "tool_3");
    story
}

/// The task at work searches under a plan: 200 nodes, two at each point, of every kind of end.
fn searching() -> Story {
    let (mut story, task) = (session(), TaskId(TASKS + 1));
    for why in ["planned", "budget 40.00 → 20.00"] {
        let tools = (0..TOOLS).map(planned).collect();
        let plan = BudgetPlan { tools, ..BudgetPlan::empty(20.0, 0.0, 1.0) };
        story.tell(BudgetEvent::BudgetPlanned { task, why: why.to_owned(), plan: Arc::new(plan) });
    }
    for node in 1..=200 {
        story.tell(SearchEvent::NodeOpened { task, node, parent: node / 2 });
        story.step(task.0, node, "start");
        let call = ("tool_3", json!({"query": "what is it"}), Ok("an answer"), 40);
        story.call(task.0, node, call);
        let how = if node.is_multiple_of(3) { NodeEnd::GaveUp } else { NodeEnd::Exhausted };
        story.tell(SearchEvent::NodeClosed { task, node, how });
    }
    story
}

fn planned(i: usize) -> PlannedTool {
    PlannedTool {
        tool: format!("tool_{i}").as_str().into(),
        cost: (1.0 + (i % 10) as f64).into(),
        value: 0.5.into(),
        limit: 3,
        uses: u32::from(i.is_multiple_of(400)),
        experience: 9,
        set: false,
        why: "too dear beside the others".to_owned(),
    }
}

fn screen(story: &Story) -> Screen {
    let mut screen = Screen::new(Setup {
        title: "bench".into(),
        read_only: None,
        keymap: Keymap::default(),
        themes: vec![Theme::default()],
        charset: toolyard::ui::symbols::Charset::Unicode,
        layouts: toolyard::ui::layout::Saved::default(),
        journal: None,
        ..Setup::default()
    });
    for record in &story.records {
        screen.receive(Arc::new(record.clone()));
    }
    screen
}

fn frames(c: &mut Criterion) {
    let story = session();
    let mut screen = screen(&story);
    let now = story.now();
    let mut buf = Buffer::empty(SIZE);
    assert!(screen.live().tool_calls.len() > 1000 && screen.live().tools.len() == TOOLS);

    let mut group = c.benchmark_group("frame/200x60/16000-tools");
    for view in [GraphView::Focus, GraphView::Map, GraphView::Matrix] {
        screen.view.graph = view;
        group.bench_function(BenchmarkId::new("all-panes", view.name()), |b| {
            b.iter(|| screen.draw(SIZE, &mut buf, now));
        });
    }
    screen.view.graph = GraphView::Focus;
    for pane in PaneId::ALL.iter().copied() {
        screen.view.zoom = Some(pane);
        group.bench_function(BenchmarkId::new("zoomed", pane.name()), |b| {
            b.iter(|| screen.draw(SIZE, &mut buf, now));
        });
    }
    for pane in [PaneId::Graph, PaneId::Tools, PaneId::Transcript] {
        screen.view.zoom = Some(pane);
        screen.view.find = Some(PaneSearch::new(pane, Needle::new("77 tool")));
        group.bench_function(BenchmarkId::new("searched", pane.name()), |b| {
            b.iter(|| screen.draw(SIZE, &mut buf, now));
        });
    }
    group.finish();
}

fn searches(c: &mut Criterion) {
    let story = searching();
    let mut screen = screen(&story);
    let now = story.now();
    let mut buf = Buffer::empty(SIZE);
    let mut group = c.benchmark_group("frame/200x60/16000-planned-200-nodes");
    for pane in [None, Some(PaneId::Budget), Some(PaneId::Search)] {
        screen.view.zoom = pane;
        group.bench_function(pane.map_or("all-panes", PaneId::name), |b| {
            b.iter(|| screen.draw(SIZE, &mut buf, now));
        });
    }
    group.finish();
}

/// A plan of 64 calls, half of which have run; then one of as many as a plan may have.
fn plans(c: &mut Criterion) {
    let mut buf = Buffer::empty(SIZE);
    let mut group = c.benchmark_group("frame/200x60/plan");
    for calls in [64, 256] {
        let story = working::many(calls);
        let mut screen = screen(&story);
        for pane in [None, Some(PaneId::Calls), Some(PaneId::Plan)] {
            screen.view.zoom = pane;
            let name = pane.map_or("all-panes", PaneId::name);
            group.bench_function(BenchmarkId::new(name, calls), |b| {
                b.iter(|| screen.draw(SIZE, &mut buf, story.now()));
            });
        }
    }
    group.finish();
}

fn keys(c: &mut Criterion) {
    let story = session();
    let mut screen = screen(&story);
    let now = story.now();
    let mut buf = Buffer::empty(SIZE);
    let mut press = |screen: &mut Screen, key: &str| {
        let key: Key = key.parse().expect("the bench's keys are keys");
        screen.handle(&Input::Key(KeyEvent::from(key)));
        screen.draw(SIZE, &mut buf, now);
    };
    let mut group = c.benchmark_group("key-to-frame/16000-tools");
    for pane in PaneId::ALL.iter().copied() {
        screen.view.focus = pane;
        group.bench_function(BenchmarkId::new("down-and-up", pane.name()), |b| {
            b.iter(|| {
                press(&mut screen, "down");
                press(&mut screen, "up");
            });
        });
    }
    group.bench_function("one-event-back-and-live", |b| {
        b.iter(|| {
            press(&mut screen, ",");
            press(&mut screen, "$");
        });
    });
    group.bench_function("palette-and-back", |b| {
        b.iter(|| {
            press(&mut screen, ":");
            press(&mut screen, "esc");
        });
    });
    group.finish();
}

criterion_group!(benches, frames, searches, plans, keys);
criterion_main!(benches);
