//! A frame at 200×60 with 16,000 tools and more than 1,000 calls (the target is under 2 ms), each pane
//! on the whole screen, and the time from a key to its frame.

use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use ratatui::{
    buffer::Buffer,
    crossterm::event::{Event as Input, KeyEvent},
    layout::Rect,
};
use serde_json::json;
use toolyard::ui::{
    key::Key,
    keymap::Keymap,
    pane::PaneId,
    screen::{Screen, Setup},
    theme::Theme,
    view::GraphView,
};

#[path = "../tests/suite/story.rs"]
#[expect(dead_code, reason = "the tests tell more kinds of stories")]
mod story;

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

fn screen(story: &Story) -> Screen {
    let mut screen = Screen::new(Setup {
        title: "bench".into(),
        read_only: None,
        keymap: Keymap::default(),
        themes: vec![Theme::default()],
        strategies: vec!["toolnet".into()],
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
    assert!(screen.live().calls.len() > 1000 && screen.live().tools.len() == TOOLS);

    let mut group = c.benchmark_group("frame/200x60/16000-tools");
    for view in [GraphView::Focus, GraphView::Map, GraphView::Matrix] {
        screen.view.graph = view;
        group.bench_function(BenchmarkId::new("all-panes", view.name()), |b| {
            b.iter(|| screen.draw(SIZE, &mut buf, now));
        });
    }
    screen.view.graph = GraphView::Focus;
    for pane in PaneId::ALL {
        screen.view.zoom = Some(pane);
        group.bench_function(BenchmarkId::new("zoomed", pane.name()), |b| {
            b.iter(|| screen.draw(SIZE, &mut buf, now));
        });
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
    for pane in PaneId::ALL {
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

criterion_group!(benches, frames, keys);
criterion_main!(benches);
