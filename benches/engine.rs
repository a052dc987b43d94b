//! The engine's own work: sessions of many steps with a model and a tool that take no time, journaled
//! and not, on a menu of sixteen tools and on one of thousands.

use std::{rc::Rc, sync::Arc};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures::{FutureExt, future::LocalBoxFuture};
use serde_json::json;
use tokio::sync::mpsc;
use toolyard::app::session::{SessionSpec, TaskSource};
use toolyard::domain::{
    BreakpointSpec, EffectClass, Finish, Knob, ModelError, ModelSpec, Reply, Request, Task,
    ToolCall, ToolError, ToolName, ToolOutput, ToolSpec, Usage,
};
use toolyard::engine::{self, Setup};
use toolyard::model::{Model, ModelProgress};
use toolyard::store::journal::{Header, Journal};
use toolyard::tool::{Invocation, Tool, ToolBox};

const STEPS: usize = 20;
const TASKS: usize = 5;

struct Instant(Arc<ModelSpec>);

impl Model for Instant {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.0
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        _progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        let tool = request.tools.first().map_or("tool_0".into(), |tool| tool.name.clone());
        let call = ToolCall { id: "c".into(), tool, arguments: json!({"query": "bench"}) };
        let reply = Reply {
            calls: vec![call],
            finish: Finish::Calls,
            usage: Usage { tokens_in: 900, tokens_out: 30, ..Usage::default() },
            ..Reply::of_text("I need tool 3 for this.")
        };
        async move { Ok(reply) }.boxed_local()
    }
}

struct Nothing(Arc<ToolSpec>);

impl Tool for Nothing {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    fn call<'a>(&'a self, _: &'a Invocation) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        async { Ok(ToolOutput::of("something")) }.boxed_local()
    }
}

fn tool(i: usize) -> Rc<dyn Tool> {
    Rc::new(Nothing(Arc::new(ToolSpec {
        name: ToolName::new(format!("tool_{i}")),
        description: format!("Tool number {i} looks things up and says what it found."),
        parameters: json!({
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        })
        .into(),
        class: "Bench".into(),
        cost: Some(1.0.into()),
        effect: EffectClass::Read,
        timeout_ms: 1000,
        source: "bench".into(),
        examples: vec![],
        disabled: None,
        proposed: None,
        served_as: None,
        returns: None,
        request: None,
    })))
}

fn setup(tools: usize, journal: Option<Journal>) -> Option<Setup> {
    let spec = ModelSpec {
        simulated: true,
        price_in: Some(0.0.into()),
        price_out: Some(0.0.into()),
        ..ModelSpec::new("instant", "bench")
    };
    let mut tool_box = ToolBox::default();
    for i in 0..tools {
        tool_box.join(tool(i));
    }
    let session = SessionSpec {
        knobs: [(Knob::MaxSteps, STEPS as f64)].into(),
        tasks: TaskSource::List(vec![
            Task::from_text("Find out what there is to find out.");
            TASKS
        ]),
        ..SessionSpec::default()
    };
    let setup = session.setup_with(vec![Rc::new(Instant(Arc::new(spec)))], tool_box).ok()?;
    Some(Setup { journal, ..setup })
}

fn steps(c: &mut Criterion) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
        return;
    };
    let Ok(folder) = tempfile::tempdir() else { return };
    let mut group = c.benchmark_group("engine");
    // One element is one step: a menu, an ask, a call, their events.
    group.throughput(Throughput::Elements((STEPS * TASKS) as u64));
    group.sample_size(20);
    let mut files = 0u32;
    for (tools, journaled) in [(16, false), (16, true), (1000, false)] {
        let name = if journaled { "steps_journaled" } else { "steps" };
        group.bench_function(BenchmarkId::new(name, tools), |b| {
            b.iter_batched(
                || {
                    files += 1;
                    let path = folder.path().join(format!("{files}.jsonl"));
                    let header = Header::at(jiff::Timestamp::UNIX_EPOCH);
                    setup(tools, journaled.then(|| Journal::create(&path, &header).ok()).flatten())
                },
                |setup| {
                    let (_commands, wishes) = mpsc::unbounded_channel();
                    let listener = Box::new(|_: &Arc<_>| {});
                    runtime.block_on(async { engine::run(setup?, wishes, listener).await.ok() })
                },
                criterion::BatchSize::PerIteration,
            );
        });
    }
    // Each step has four boundaries, and at each every condition is evaluated.
    for conditions in [1, 10_000] {
        group.bench_function(BenchmarkId::new("steps_with_breakpoints", conditions), |b| {
            b.iter_batched(
                || Some(Setup { breakpoints: breakpoints(conditions), ..setup(16, None)? }),
                |setup| {
                    let (_commands, wishes) = mpsc::unbounded_channel();
                    let listener = Box::new(|_: &Arc<_>| {});
                    runtime.block_on(async { engine::run(setup?, wishes, listener).await.ok() })
                },
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// Breakpoints on every call, whose conditions never hold.
fn breakpoints(count: usize) -> Vec<(BreakpointSpec, bool)> {
    let spec = |n: usize| format!("any:both:if=tool == \"missing_{n}\" && ms > 500").parse().ok();
    (0..count).filter_map(|n| Some((spec(n)?, true))).collect()
}

criterion_group!(benches, steps);
criterion_main!(benches);
