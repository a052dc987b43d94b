//! The events of a plausible session.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::{
    By, EffectClass, EffectId, EffectRef, Event, Finish, GraphEvent, MenuItem, MenuReason, Message,
    ModelCallEvent, Outcome, Record, Reply, Request, Role, SessionEvent, Task, TaskEvent, TaskId,
    ToolCallEvent, ToolName, ToolOutput, ToolSpec, ToolVerdict, Usage,
};

const TOOLS: u32 = 20;

fn tool(i: u32) -> ToolName {
    ToolName::new(format!("tool_{}", i % TOOLS))
}

fn spec(i: u32) -> Arc<ToolSpec> {
    Arc::new(ToolSpec {
        name: tool(i),
        description: "does what it does".into(),
        parameters: json!({"type": "object"}).into(),
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
    })
}

/// Ten events for each task: one step with one ask and one call, an evaluation and an end.
pub fn session(events: usize) -> Vec<Record> {
    let tasks = u32::try_from(events / 10).unwrap_or(u32::MAX);
    let queue = (1..=tasks).map(|i| Task::from_text(format!("task {i}"))).collect();
    let mut all = vec![
        Event::Session(SessionEvent::ToolsAdded { tools: (0..TOOLS).map(spec).collect() }),
        Event::Task(TaskEvent::TasksQueued { first: TaskId(1), tasks: queue, by: By::Engine }),
    ];
    let request = Arc::new(Request {
        tools: vec![].into(),
        stop: vec![],
        ..Request::new(Role::Actor, vec![Message::user("Task: bench")])
    });
    let reply = Arc::new(Reply {
        finish: Finish::Calls,
        usage: Usage { tokens_in: 100, tokens_out: 10, ..Usage::default() },
        ..Reply::of_text("I call")
    });
    for i in 1..=tasks {
        let task = TaskId(i);
        let of = |id| EffectRef::new(EffectId(id), EffectClass::Read);
        let (ask, call) = (of(2 * i - 1), of(2 * i));
        let menu =
            vec![
                MenuItem { tool: tool(i), weight: Some(0.5.into()), why: MenuReason::Successor };
                8
            ]
            .into();
        let verdict = ToolVerdict { tool: tool(i), score: 1, reason: "helped".into() };
        let output = Arc::new(ToolOutput::of("result"));
        let request = Arc::clone(&request);
        let reply = Arc::clone(&reply);
        all.extend([
            Event::Task(TaskEvent::TaskStarted { task }),
            Event::Task(TaskEvent::StepStarted { task, step: 1, from: ToolName::start(), menu }),
            Event::ModelCall(ModelCallEvent::ModelCallRequested {
                effect: ask,
                task,
                role: Role::Actor,
                model: "m".into(),
                request,
                evidence: None,
            }),
            Event::ModelCall(ModelCallEvent::ModelCallStarted { effect: ask }),
            Event::ModelCall(ModelCallEvent::ModelCallFinished {
                effect: ask,
                reply,
                dollars: Some(0.01.into()),
            }),
            Event::ToolCall(ToolCallEvent::ToolCallRequested {
                effect: call,
                task,
                step: 1,
                tool: tool(i),
                arguments: json!({"q": i}),
                evidence: None,
                by: By::Engine,
                wire_id: None,
            }),
            Event::ToolCall(ToolCallEvent::ToolCallStarted { effect: call }),
            Event::ToolCall(ToolCallEvent::ToolCallFinished { effect: call, output }),
            Event::Graph(GraphEvent::Evaluated { task, verdicts: vec![verdict], learned: true }),
            Event::Task(TaskEvent::TaskFinished {
                task,
                outcome: Outcome::Answered,
                answer: Some("x".into()),
                correct: Some(true),
                caveats: Vec::new(),
            }),
        ]);
    }
    let numbered = all.into_iter().zip(1u64..);
    numbered.map(|(event, n)| Record::new(n, n * 100, event)).collect()
}
