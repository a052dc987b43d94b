//! Programs: one that is run again over 500 recorded calls (the target is under 50 ms), in the process that runs programs
//! and with all that goes to and from it; and the time from a step key to its frame (under 16 ms): the key, the engine,
//! the program's next statement, its event, and a frame at 200×60.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a bench that cannot begin stops at once"
)]

use std::rc::Rc;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use futures::{FutureExt, future::LocalBoxFuture};
use ratatui::crossterm::event::{Event as Input, KeyEvent};
use ratatui::{buffer::Buffer, layout::Rect};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::LocalSet;
use toolyard::app::session::{SessionSpec, TaskSource};
use toolyard::domain::program::{
    Again, CallAnswer, Function, Heard, HeardCall, Interpreter, Pause, ProgramLimits, ProgramStart,
    Stops, Until,
};
use toolyard::domain::{
    Boundary, Command, ModelError, ModelSpec, Record, Reply, Request, Task, Usage,
};
use toolyard::engine;
use toolyard::model::{Model, ModelProgress};
use toolyard::program::Child;
use toolyard::tool::ToolBox;
use toolyard::ui::request::ScreenRequest;
use toolyard::ui::screen::{Screen, Setup};
use toolyard::ui::{key::Key, keymap::Keymap, theme::Theme};

const CALLS: usize = 500;
const SIZE: Rect = Rect::new(0, 0, 200, 60);

/// Each call has a result of some size, and something is done with it.
const LOOP: &str = "names = []
def look(n):
    found = search(query=str(n))
    best = found[\"results\"][0]
    return best[\"title\"]
for n in range(500):
    title = look(n)
    names.append(title)
print(len(names))
";

fn result() -> String {
    let row = |n: u32| json!({"id": n, "title": format!("Title {n}"), "year": 1990 + n % 30});
    let results: Vec<Value> = (0..20).map(row).collect();
    json!({"total": 20, "results": results}).to_string()
}

fn again(until: Until) -> Again {
    let call = |n: usize| {
        let query = ("query".to_owned(), json!(n.to_string()));
        let (tool, arguments) = ("search".to_owned(), [query].into_iter().collect());
        HeardCall { tool, arguments, answer: CallAnswer::Result(result()) }
    };
    let heard = Heard { calls: (0..CALLS).map(call).collect(), clocks: Vec::new() };
    let parameters = vec!["query".to_owned()];
    let functions = vec![Function { name: "search".to_owned(), parameters, takes_more: false }];
    let limits = ProgramLimits { calls: CALLS, ..ProgramLimits::default() };
    let text = LOOP.to_owned();
    let start = ProgramStart { text, functions, limits, stoppable: true, extras: Vec::new() };
    Again { start, heard, until, ..Again::default() }
}

fn runtime() -> tokio::runtime::Runtime {
    toolyard::process::set_reaper(env!("CARGO_BIN_EXE_toolyard").into());
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn over_a_record(c: &mut Criterion) {
    let runtime = runtime();
    let mut child = Child::default();
    let mut group = c.benchmark_group("program");
    group.sample_size(20);
    for (name, until) in [
        ("again_over_500_calls", Until::Record),
        ("again_to_the_last_of_500_calls", Until::Call(CALLS - 1)),
        ("again_to_the_middle_of_500_calls", Until::Statement(5 * CALLS as u64 / 2)),
    ] {
        let again = again(until);
        group.bench_function(name, |b| {
            b.iter(|| {
                let reached = runtime.block_on(child.again(&again));
                assert!(!reached.parted && reached.calls >= CALLS / 3, "{:?}", reached.pause);
                reached.statements
            });
        });
    }
    // As it runs the first time: each call goes out of the process and its answer comes back.
    let Again { start, .. } = again(Until::Record);
    for (name, stoppable) in [("500_calls", false), ("500_calls_stoppable", true)] {
        let start = ProgramStart { stoppable, ..start.clone() };
        let (none, answer) = (Stops::default(), result());
        group.bench_function(name, |b| {
            b.iter(|| {
                runtime.block_on(async {
                    let mut pause = child.start(&start, &none).await;
                    while matches!(pause, Pause::Call(_)) {
                        pause = child.answer(vec![CallAnswer::Result(answer.clone())], &none).await;
                    }
                    assert!(matches!(pause, Pause::Ended(_)));
                });
            });
        });
    }
    group.finish();
}

/// Writes a program that goes on for long.
struct Programmer(Arc<ModelSpec>);

impl Model for Programmer {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.0
    }

    fn ask<'a>(
        &'a self,
        _: &'a Request,
        _: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        let text = "```python\nrows = [{\"id\": n, \"title\": str(n) * 40} for n in range(40)]\n\
                    for n in range(1000000):\n    row = rows[n % 40]\n    name = row[\"title\"]\n```";
        let usage = Usage { tokens_in: 900, tokens_out: 60, ..Usage::default() };
        let reply = Reply { usage, ..Reply::of_text(text) };
        async move { Ok(reply) }.boxed_local()
    }
}

/// A session whose program is held, and the screen that shows it.
struct Sitting {
    screen: Screen,
    records: UnboundedReceiver<Arc<Record>>,
    commands: UnboundedSender<Command>,
    buf: Buffer,
}

impl Sitting {
    fn begin(local: &LocalSet) -> Self {
        let spec = ModelSpec {
            simulated: true,
            price_in: Some(0.0.into()),
            price_out: Some(0.0.into()),
            ..ModelSpec::new("instant", "bench")
        };
        let session = SessionSpec {
            strategy: Some("atc".parse().unwrap()),
            tasks: TaskSource::List(vec![Task::from_text("Go on for long.")]),
            paused: true,
            stay: true,
            ..SessionSpec::default()
        };
        let model: Rc<dyn Model> = Rc::new(Programmer(Arc::new(spec)));
        let setup = session.setup_with(vec![model], ToolBox::default()).expect("a session");
        let (tell, records) = mpsc::unbounded_channel();
        let (commands, wishes) = mpsc::unbounded_channel();
        let listener = Box::new(move |record: &Arc<Record>| drop(tell.send(Arc::clone(record))));
        local.spawn_local(async move { drop(engine::run(setup, wishes, listener).await) });
        let themes = vec![Theme::default()];
        let screen = Screen::new(Setup { keymap: Keymap::default(), themes, ..Setup::default() });
        Self { screen, records, commands, buf: Buffer::empty(SIZE) }
    }

    /// From a step key to the frame that shows where the program is held now.
    async fn step(&mut self) {
        let key: Key = "n".parse().unwrap();
        let before = self.screen.live().n;
        for request in self.screen.handle(&Input::Key(KeyEvent::from(key))) {
            if let ScreenRequest::Send(command) = request {
                self.commands.send(command).unwrap();
            }
        }
        loop {
            let record = self.records.recv().await.expect("the session goes on");
            self.screen.receive(record);
            let live = self.screen.live();
            if live.n > before + 1 && !live.control.held.is_empty() {
                break;
            }
        }
        self.buf.reset();
        let at = self.screen.live().at;
        self.screen.draw_whole(SIZE, &mut self.buf, at);
    }
}

fn step_key(c: &mut Criterion) {
    let (runtime, local) = (runtime(), LocalSet::new());
    let mut sitting = Sitting::begin(&local);
    local.block_on(&runtime, async {
        while sitting.screen.live().control.held.is_empty() {
            let record = sitting.records.recv().await.expect("the session opens");
            sitting.screen.receive(record);
        }
        while !sitting.screen.live().control.is_held_at(Boundary::ProgramLine) {
            sitting.step().await;
        }
    });
    c.bench_function("program/step_key_to_frame", |b| {
        b.iter(|| local.block_on(&runtime, sitting.step()));
    });
    assert!(sitting.screen.live().control.is_held_at(Boundary::ProgramLine));
}

criterion_group!(benches, over_a_record, step_key);
criterion_main!(benches);
