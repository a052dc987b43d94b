//! Sessions made by hand, event by event, for tests of the screen: what is on it is known, and every
//! state that it must show can be told without an engine.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use toolyard::domain::{
    By, EffectClass, EffectId, EffectRef, Event, EvidenceId, FaultEvent, FaultId, FaultSpec,
    Finish, GraphEvent, Knobs, MenuItem, MenuReason, Message, ModelCallEvent, ModelName, ModelSpec,
    Opening, Outcome, Record, Reply, Request, Role, SessionEvent, State, Target, Task, TaskEvent,
    TaskId, ToolCallEvent, ToolDef, ToolError, ToolErrorKind, ToolGraph, ToolMode, ToolName,
    ToolOutput, ToolSpec, ToolVerdict, Usage,
};
use toolyard::papers::toolnet::Weights;

#[path = "story_demo.rs"]
mod told;

pub use self::told::*;

/// A session that is being told.
#[derive(Clone, Debug)]
pub struct Story {
    pub records: Vec<Record>,
    state: State,
    at: u64,
}

/// A call of a told step: tool, arguments, what came of it, and how long it took in milliseconds.
pub type Call<'a> = (&'a str, Value, Result<&'a str, &'a str>, u64);

impl Story {
    /// A session that has said nothing yet.
    pub fn unopened() -> Self {
        Self { records: Vec::new(), state: State::default(), at: 0 }
    }

    /// A session that is open: a simulated model and one of unknown price, no tools yet.
    pub fn open() -> Self {
        Self::opened("toolnet", toolyard::domain::rates::Rates::default())
    }

    /// The same with another strategy and another exchange.
    pub fn opened(strategy: &str, rates: toolyard::domain::rates::Rates) -> Self {
        let models = vec![
            model("sim", "simulated", true),
            model("local", "http://127.0.0.1:8080/v1 qwen3-8b", false),
        ];
        Self::opened_with(models, strategy, rates)
    }

    fn opened_with(
        models: Vec<ModelSpec>,
        strategy: &str,
        rates: toolyard::domain::rates::Rates,
    ) -> Self {
        let roles = BTreeMap::from([
            (Role::Actor, "sim".into()),
            (Role::Evaluator, "sim".into()),
            (Role::Reflector, "local".into()),
        ]);
        let strategy = strategy.parse().unwrap();
        Self::of(Opening { models, roles, strategy, rates, ..opening() })
    }

    /// A session that begins so.
    pub fn of(opening: Opening) -> Self {
        let mut story = Self::unopened();
        story.tell(SessionEvent::SessionOpened { opening: Box::new(opening) });
        story
    }

    /// The next event happens, now.
    pub fn tell(&mut self, event: impl Into<Event>) -> &mut Self {
        let record = Record::new(self.state.n + 1, self.at, event);
        self.state.apply(&record);
        self.records.push(record);
        self
    }

    /// Time passes.
    pub fn wait(&mut self, ms: u64) -> &mut Self {
        self.at += ms * 1000;
        self
    }

    /// Microseconds since the session was opened.
    pub fn now(&self) -> u64 {
        self.at
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn join(&mut self, tools: impl IntoIterator<Item = ToolSpec>) -> &mut Self {
        let tools = tools.into_iter().map(Arc::new).collect();
        self.tell(SessionEvent::ToolsAdded { tools })
    }

    /// A graph as its file has it.
    pub fn load(&mut self, graph: &Value) -> &mut Self {
        let graph = ToolGraph::from_json(&graph.to_string()).unwrap();
        self.tell(GraphEvent::GraphLoaded { graph, scores: BTreeMap::new() })
    }

    pub fn queue(&mut self, tasks: &[(&str, Option<&str>)]) -> &mut Self {
        let first = TaskId(self.state.tasks.len() as u32 + 1);
        let tasks = tasks
            .iter()
            .map(|(text, gold)| Task { gold: gold.map(str::to_owned), ..Task::from_text(*text) })
            .collect();
        self.tell(TaskEvent::TasksQueued { first, tasks, by: By::Engine })
    }

    pub fn start(&mut self, task: u32) -> &mut Self {
        self.tell(TaskEvent::TaskStarted { task: TaskId(task) })
    }

    /// A step begins, with the best successors and one tool to explore on the menu.
    pub fn step(&mut self, task: u32, step: u32, from: &str) -> &mut Self {
        let weights = Weights::of(&self.state.learning, &self.state.knobs);
        let why = if from == "start" { MenuReason::Retrieved } else { MenuReason::Successor };
        let mut menu: Vec<MenuItem> = weights
            .top(from, 7)
            .into_iter()
            .map(|choice| MenuItem { tool: choice.to, weight: Some(choice.weight.into()), why })
            .filter(|item| item.tool != ToolName::end())
            .collect();
        let offered = |tool: &ToolName| menu.iter().any(|item| item.tool == *tool);
        let other = self.state.tools.keys().find(|tool| !offered(tool)).cloned();
        menu.extend(other.map(|tool| MenuItem { tool, weight: None, why: MenuReason::Explore }));
        menu.push(MenuItem { tool: ToolName::end(), weight: None, why: MenuReason::Finish });
        self.tell(TaskEvent::StepStarted {
            task: TaskId(task),
            step,
            from: from.into(),
            menu: menu.into(),
        })
    }

    /// The number of the next effect.
    pub fn next_effect(&self) -> EffectId {
        EffectId(self.state.effects_requested() as u32 + 1)
    }

    /// A model is asked, and has not answered yet.
    pub fn ask(&mut self, task: u32, role: Role) -> EffectId {
        self.ask_for(task, role, None)
    }

    /// The same, for a piece of evidence.
    pub fn ask_for(&mut self, task: u32, role: Role, evidence: Option<u32>) -> EffectId {
        let ask = self.request_ask(task, role, evidence);
        self.tell(ModelCallEvent::ModelCallStarted { effect: effect(ask) });
        ask
    }

    /// A model call is wanted.
    pub fn request_ask(&mut self, task: u32, role: Role, evidence: Option<u32>) -> EffectId {
        let ask = self.next_effect();
        let model = self.state.models.roles[&role].model.clone();
        let request = Arc::new(self.request(task, role));
        let (effect, task) = (effect(ask), TaskId(task));
        let evidence = evidence.map(EvidenceId);
        self.tell(ModelCallEvent::ModelCallRequested {
            effect,
            task,
            role,
            model,
            request,
            evidence,
        });
        ask
    }

    fn request(&self, task: u32, role: Role) -> Request {
        let text = self.state.task(TaskId(task)).map_or("", |task| &task.task.text);
        let tools = self.state.tools.values().take(6).map(|tool| ToolDef {
            name: tool.spec.name.clone(),
            description: tool.spec.description.clone(),
            parameters: tool.spec.parameters.clone(),
        });
        Request {
            tools: tools.collect(),
            ..Request::new(
                role,
                vec![Message::system("Solve the task with the tools."), Message::user(text)],
            )
        }
    }

    /// It answers with this text after so many milliseconds.
    pub fn answer(&mut self, ask: EffectId, text: &str, ms: u64) -> &mut Self {
        let role = self.state.model_call(ask).unwrap().role;
        let simulated = self.state.models.of(role).is_some_and(|model| model.spec.simulated);
        let usage =
            Usage { tokens_in: 640, tokens_out: 41, estimated: simulated, ..Usage::default() };
        let reply = Reply { finish: Finish::Calls, usage, ..Reply::of_text(text) };
        let dollars = simulated.then_some(0.0);
        self.wait(ms).tell(ModelCallEvent::ModelCallFinished {
            effect: effect(ask),
            reply: Arc::new(reply),
            dollars: dollars.map(Into::into),
        })
    }

    /// A call is wanted.
    pub fn request_call(&mut self, task: u32, step: u32, tool: &str, arguments: Value) -> EffectId {
        self.seek(task, (step, None), tool, arguments)
    }

    /// The same, of a step, for a piece of evidence.
    pub fn seek(&mut self, task: u32, of: (u32, Option<u32>), tool: &str, with: Value) -> EffectId {
        let call = self.next_effect();
        let (task, tool, (step, evidence)) = (TaskId(task), tool.into(), of);
        let evidence = evidence.map(EvidenceId);
        self.tell(ToolCallEvent::ToolCallRequested {
            effect: effect(call),
            task,
            step,
            tool,
            arguments: with,
            evidence,
            by: By::Engine,
            wire_id: None,
        });
        call
    }

    /// A call runs to its end.
    pub fn call(&mut self, task: u32, step: u32, (tool, arguments, end, ms): Call<'_>) -> EffectId {
        let call = self.request_call(task, step, tool, arguments);
        self.tell(ToolCallEvent::ToolCallStarted { effect: effect(call) });
        let armed = self
            .state
            .faults
            .iter()
            .find(|(_, fault)| fault.armed && fault.spec.target.name() == tool);
        if let (Some((&fault, _)), Err(_)) = (armed, end) {
            self.tell(FaultEvent::FaultFired { fault, effect: effect(call) });
        }
        self.wait(ms).tell(match end {
            Ok(text) => Event::ToolCall(ToolCallEvent::ToolCallFinished {
                effect: effect(call),
                output: ToolOutput::of(text).into(),
            }),
            Err(text) => Event::ToolCall(ToolCallEvent::ToolCallFailed {
                effect: effect(call),
                error: ToolError::new(ToolErrorKind::Failed, text),
            }),
        });
        call
    }

    /// A whole task: a step with thought and call for each of `calls`, then the answer, then verdicts.
    pub fn task(
        &mut self,
        task: u32,
        calls: &[(&str, Call<'_>)],
        answer: (&str, bool),
        verdicts: &[(&str, i8, &str)],
    ) -> &mut Self {
        self.start(task);
        let mut from = "start";
        for (step, (thought, call)) in (1..).zip(calls) {
            self.step(task, step, from);
            let ask = self.ask(task, Role::Actor);
            self.answer(ask, thought, 180);
            self.call(task, step, call.clone());
            from = call.0;
        }
        self.step(task, calls.len() as u32 + 1, from);
        let ask = self.ask(task, Role::Actor);
        self.answer(ask, "I have what I need.", 150);
        self.tell(TaskEvent::TaskFinished {
            task: TaskId(task),
            outcome: Outcome::Answered,
            answer: Some(answer.0.into()),
            correct: Some(answer.1),
            caveats: Vec::new(),
        });
        self.evaluate(task, verdicts)
    }

    pub fn evaluate(&mut self, task: u32, verdicts: &[(&str, i8, &str)]) -> &mut Self {
        let ask = self.ask(task, Role::Evaluator);
        self.answer(ask, "verdicts", 90);
        let verdict = |(tool, score, reason): &(&str, i8, &str)| ToolVerdict {
            tool: (*tool).into(),
            score: *score,
            reason: (*reason).into(),
        };
        let verdicts = verdicts.iter().map(verdict).collect();
        self.tell(GraphEvent::Evaluated { task: TaskId(task), verdicts, learned: true })
    }

    /// The user makes a tool fail, always.
    pub fn break_tool(&mut self, tool: &str) -> FaultId {
        let fault = FaultId(self.state.faults.len() as u32 + 1);
        let spec = FaultSpec::outage(Target::Tool(tool.into()));
        self.tell(FaultEvent::FaultArmed { fault, spec, by: By::User });
        fault
    }
}

/// The beginning of a session without models.
pub fn opening() -> Opening {
    Opening {
        seed: 7,
        workspace: "the samples".into(),
        strategy: "toolnet".parse().unwrap(),
        knobs: Knobs::default(),
        models: Vec::new(),
        roles: BTreeMap::new(),
        paused: false,
        watched: false,
        workers: Default::default(),
        prompts: Default::default(),
        sampling: Default::default(),
        approval: Default::default(),
        few_shots: Vec::new(),
        rates: Default::default(),
        max_dollars: None,
    }
}

/// An effect that changes nothing, as its events name it.
pub fn effect(id: EffectId) -> EffectRef {
    EffectRef::new(id, EffectClass::Read)
}

/// A tool; `class` as its manifest has it.
pub fn tool(name: &str, class: &str, cost: f64) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}}).into(),
        class: class.into(),
        cost: Some(cost.into()),
        effect: EffectClass::Read,
        timeout_ms: 5000,
        source: "builtin".into(),
        examples: Vec::new(),
        disabled: None,
        proposed: None,
        served_as: None,
        returns: None,
        request: None,
    }
}

pub fn model(name: &str, source: &str, simulated: bool) -> ModelSpec {
    ModelSpec {
        name: ModelName::new(name),
        source: source.into(),
        simulated,
        mode: ToolMode::Native,
        structured: false,
        price_in: simulated.then_some(0.0.into()),
        price_out: simulated.then_some(0.0.into()),
        price_cached: None,
        price_written: None,
        price_from: None,
        listed: false,
        context: None,
    }
}
