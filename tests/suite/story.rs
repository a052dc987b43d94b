//! Sessions made by hand, event by event, for tests of the screen: what is on it is known, and every
//! state that it must show can be told without an engine.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use toolyard::domain::{
    chat::{Finish, Message, Reply, Request, Role, ToolDef, Usage},
    error::{ToolError, ToolErrorKind},
    event::{By, Event, MenuItem, Offered, Opening, Outcome, Record, Verdict},
    fault::{FaultKind, FaultSpec, Trigger},
    graph::ToolGraph,
    id::{EffectId, FaultId, ModelName, TaskId, ToolName},
    knob::Knobs,
    output::ToolOutput,
    spec::{EffectClass, ModelSpec, Task, ToolMode, ToolSpec},
    state::State,
};

/// A session that is being told.
#[derive(Clone, Debug)]
pub struct Story {
    pub records: Vec<Record>,
    state: State,
    at: u64,
    asks: u32,
    calls: u32,
}

/// A call of a told step: tool, arguments, what came of it, and how long it took in milliseconds.
pub type Call<'a> = (&'a str, Value, Result<&'a str, &'a str>, u64);

impl Story {
    /// A session that has said nothing yet.
    pub fn unopened() -> Self {
        Self { records: Vec::new(), state: State::default(), at: 0, asks: 0, calls: 0 }
    }

    /// A session that is open: a simulated model and one of unknown price, no tools yet.
    pub fn open() -> Self {
        Self::opened("toolnet", toolyard::domain::rates::Rates::default())
    }

    /// The same with another strategy and another exchange.
    pub fn opened(strategy: &str, rates: toolyard::domain::rates::Rates) -> Self {
        let mut story = Self::unopened();
        story.tell(Event::SessionOpened(Box::new(Opening {
            seed: 7,
            workspace: "the samples".into(),
            strategy: strategy.into(),
            knobs: Knobs::default(),
            models: vec![
                model("sim", "simulated", true),
                model("local", "http://127.0.0.1:8080/v1 qwen3-8b", false),
            ],
            roles: BTreeMap::from([
                (Role::Actor, "sim".into()),
                (Role::Evaluator, "sim".into()),
                (Role::Reflector, "local".into()),
            ]),
            paused: false,
            workers: Default::default(),
            rates,
        })));
        story
    }

    /// The next event happens, now.
    pub fn tell(&mut self, event: Event) -> &mut Self {
        let record = Record { n: self.state.n + 1, at: self.at, event };
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
        self.tell(Event::ToolsAdded { tools })
    }

    /// A graph as its file has it.
    pub fn load(&mut self, graph: &Value) -> &mut Self {
        let graph = ToolGraph::from_json(&graph.to_string()).unwrap();
        self.tell(Event::GraphLoaded { graph, scores: BTreeMap::new() })
    }

    pub fn queue(&mut self, tasks: &[(&str, Option<&str>)]) -> &mut Self {
        let first = TaskId(self.state.tasks.len() as u32 + 1);
        let tasks = tasks
            .iter()
            .map(|(text, gold)| Task {
                name: String::new(),
                text: (*text).into(),
                gold: gold.map(str::to_owned),
                chain: Vec::new(),
            })
            .collect();
        self.tell(Event::TasksQueued { first, tasks, by: By::Engine })
    }

    pub fn start(&mut self, task: u32) -> &mut Self {
        self.tell(Event::TaskStarted { task: TaskId(task) })
    }

    /// A step begins, with the best successors and one tool to explore on the menu.
    pub fn step(&mut self, task: u32, step: u32, from: &str) -> &mut Self {
        let weights = self.state.learning.weights(&self.state.knobs);
        let why = if from == "start" { Offered::Retrieved } else { Offered::Successor };
        let mut menu: Vec<MenuItem> = weights
            .top(from, 7)
            .into_iter()
            .map(|choice| MenuItem { tool: choice.to, weight: Some(choice.weight), why })
            .filter(|item| item.tool != ToolName::end())
            .collect();
        let offered = |tool: &ToolName| menu.iter().any(|item| item.tool == *tool);
        let other = self.state.tools.keys().find(|tool| !offered(tool)).cloned();
        menu.extend(other.map(|tool| MenuItem { tool, weight: None, why: Offered::Explore }));
        menu.push(MenuItem { tool: ToolName::end(), weight: None, why: Offered::Finish });
        self.tell(Event::StepStarted { task: TaskId(task), step, from: from.into(), menu })
    }

    /// A model is asked, and has not answered yet.
    pub fn ask(&mut self, task: u32, role: Role) -> EffectId {
        self.asks += 1;
        let ask = EffectId(self.asks);
        let model = self.state.models.roles[&role].model.clone();
        let request = Arc::new(self.request(task, role));
        self.tell(Event::ModelCallRequested { ask, task: TaskId(task), role, model, request });
        self.tell(Event::ModelCallStarted { ask });
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
            role,
            messages: vec![Message::system("Solve the task with the tools."), Message::user(text)],
            tools: tools.collect(),
            temperature: None,
            max_tokens: None,
            stop: Vec::new(),
            schema: None,
        }
    }

    /// It answers with this text after so many milliseconds.
    pub fn answer(&mut self, ask: EffectId, text: &str, ms: u64) -> &mut Self {
        let role = self.state.ask(ask).unwrap().role;
        let simulated = self.state.models.of(role).is_some_and(|model| model.spec.simulated);
        let usage =
            Usage { tokens_in: 640, tokens_out: 41, estimated: simulated, ..Usage::default() };
        let reply = Reply {
            text: text.into(),
            reasoning: String::new(),
            calls: Vec::new(),
            finish: Finish::Calls,
            usage,
        };
        let dollars = simulated.then_some(0.0);
        self.wait(ms).tell(Event::ModelCallFinished { ask, reply: Arc::new(reply), dollars })
    }

    /// A call is wanted.
    pub fn request_call(&mut self, task: u32, step: u32, tool: &str, arguments: Value) -> EffectId {
        self.seek(task, (step, None), tool, arguments)
    }

    /// The same, of a step, for a piece of evidence.
    pub fn seek(&mut self, task: u32, of: (u32, Option<u32>), tool: &str, with: Value) -> EffectId {
        self.calls += 1;
        let call = EffectId(self.calls);
        let (task, tool, (step, evidence)) = (TaskId(task), tool.into(), of);
        let evidence = evidence.map(toolyard::domain::plan::EvidenceId);
        self.tell(Event::ToolCallRequested { call, task, step, tool, arguments: with, evidence });
        call
    }

    /// A call runs to its end.
    pub fn call(&mut self, task: u32, step: u32, (tool, arguments, end, ms): Call<'_>) -> EffectId {
        let call = self.request_call(task, step, tool, arguments);
        self.tell(Event::ToolCallStarted { call });
        let armed = self
            .state
            .faults
            .iter()
            .find(|(_, fault)| fault.armed && fault.spec.tool.as_str() == tool);
        if let (Some((&fault, _)), Err(_)) = (armed, end) {
            self.tell(Event::FaultFired { fault, call });
        }
        self.wait(ms).tell(match end {
            Ok(text) => Event::ToolCallFinished {
                call,
                output: ToolOutput { text: text.into(), cut_from: None },
            },
            Err(text) => {
                Event::ToolCallFailed { call, error: ToolError::new(ToolErrorKind::Failed, text) }
            }
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
        self.tell(Event::TaskFinished {
            task: TaskId(task),
            outcome: Outcome::Answered,
            answer: Some(answer.0.into()),
            correct: Some(answer.1),
        });
        self.evaluate(task, verdicts)
    }

    pub fn evaluate(&mut self, task: u32, verdicts: &[(&str, i8, &str)]) -> &mut Self {
        let ask = self.ask(task, Role::Evaluator);
        self.answer(ask, "verdicts", 90);
        let verdict = |(tool, score, reason): &(&str, i8, &str)| Verdict {
            tool: (*tool).into(),
            score: *score,
            reason: (*reason).into(),
        };
        let verdicts = verdicts.iter().map(verdict).collect();
        self.tell(Event::Evaluated { task: TaskId(task), verdicts, learned: true })
    }

    /// The user makes a tool fail, always.
    pub fn break_tool(&mut self, tool: &str) -> FaultId {
        let fault = FaultId(self.state.faults.len() as u32 + 1);
        let spec =
            FaultSpec { tool: tool.into(), kind: FaultKind::crash(), trigger: Trigger::default() };
        self.tell(Event::FaultArmed { fault, spec, by: By::User });
        fault
    }
}

/// A tool; `class` as its manifest has it.
pub fn tool(name: &str, class: &str, cost: f64) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: format!("Does {name}."),
        parameters: json!({"type": "object", "properties": {"query": {"type": "string"}}}),
        class: class.into(),
        cost: Some(cost),
        effect: EffectClass::Read,
        timeout_ms: 5000,
        source: "builtin".into(),
        examples: Vec::new(),
    }
}

fn model(name: &str, source: &str, simulated: bool) -> ModelSpec {
    ModelSpec {
        name: ModelName::new(name),
        source: source.into(),
        simulated,
        mode: ToolMode::Native,
        structured: false,
        price_in: simulated.then_some(0.0),
        price_out: simulated.then_some(0.0),
        price_cached: None,
        price_from: None,
        context: None,
    }
}

const SEARCH: &str = "Information Retrieval";
const COMPUTE: &str = "Computing";

/// The tools of [`demo`].
pub const TOOLS: [(&str, &str, f64); 16] = [
    ("search_web", SEARCH, 2.0),
    ("search_backup", SEARCH, 2.0),
    ("wikipedia", SEARCH, 1.0),
    ("read_page", SEARCH, 1.0),
    ("population", SEARCH, 0.5),
    ("weather", SEARCH, 0.5),
    ("nothing_found", SEARCH, 0.0),
    ("slow_lookup", SEARCH, 1.0),
    ("flaky_lookup", SEARCH, 1.0),
    ("calculator", COMPUTE, 0.1),
    ("unit_convert", COMPUTE, 0.1),
    ("currency", COMPUTE, 0.2),
    ("date_diff", COMPUTE, 0.1),
    ("random_calc", COMPUTE, 0.0),
    ("translate", COMPUTE, 0.5),
    ("summarize", COMPUTE, 0.5),
];

/// The graph of [`demo`], as if learned from trajectories: from, to, prior, count.
const EDGES: [(&str, &str, f64, u64); 26] = [
    ("search_web", "read_page", 0.55, 22),
    ("search_web", "calculator", 0.20, 8),
    ("search_web", "search_web", 0.10, 4),
    ("search_web", "end", 0.15, 6),
    ("search_backup", "read_page", 0.60, 6),
    ("search_backup", "end", 0.40, 4),
    ("wikipedia", "calculator", 0.30, 9),
    ("wikipedia", "wikipedia", 0.20, 6),
    ("wikipedia", "date_diff", 0.25, 7),
    ("wikipedia", "end", 0.25, 8),
    ("read_page", "calculator", 0.35, 14),
    ("read_page", "summarize", 0.25, 10),
    ("read_page", "end", 0.40, 16),
    ("population", "calculator", 0.70, 14),
    ("population", "population", 0.30, 6),
    ("weather", "unit_convert", 0.50, 5),
    ("weather", "end", 0.50, 5),
    ("calculator", "unit_convert", 0.20, 6),
    ("calculator", "end", 0.80, 24),
    ("unit_convert", "end", 1.0, 11),
    ("currency", "calculator", 0.50, 3),
    ("currency", "end", 0.50, 3),
    ("date_diff", "end", 1.0, 7),
    ("summarize", "translate", 0.30, 3),
    ("summarize", "end", 0.70, 7),
    ("translate", "end", 1.0, 3),
];

/// A graph file's JSON for these tools and edges.
pub fn graph_json<'a>(
    tools: impl IntoIterator<Item = &'a str>,
    edges: &[(&str, &str, f64, u64)],
) -> Value {
    let edges: Vec<Value> = edges
        .iter()
        .map(|(from, to, prior, count)| {
            json!({"from": from, "to": to, "prior": prior, "count": count})
        })
        .collect();
    json!({"structure": "implied", "nodes": tools.into_iter().collect::<Vec<_>>(), "edges": edges})
}

/// An eventful session of the samples: four tasks done, one at work with a call in flight, a broken
/// tool, an edited score, a pinned weight and a turned knob.
pub fn demo() -> Story {
    let mut story = Story::open();
    story.join(TOOLS.map(|(name, class, cost)| tool(name, class, cost)));
    story.load(&graph_json(TOOLS.map(|(name, ..)| name), &EDGES));
    story.queue(&[
        ("How many people live in the twin city of Lyra?", Some("48200")),
        ("How many years passed from the first flight to the moon landing?", Some("66")),
        ("What is 40% of the height of Mount Orla in feet?", Some("3281")),
        ("Which river does the author of The Glass Orchard live at?", Some("Velm")),
        ("How old was the founder of Port Sel when the lighthouse was built?", Some("41")),
        ("Convert the price of the Ostra bridge to francs.", Some("1200000")),
        ("Write a haiku about graphs.", None),
    ]);
    first_tasks(&mut story);
    interventions(&mut story);
    later_tasks(&mut story);
    story
}

fn first_tasks(story: &mut Story) {
    let search = |query: &str| json!({"query": query});
    story.task(
        1,
        &[
            (
                "I need the twin city first.",
                ("search_web", search("twin city of Lyra"), Ok("Lyra is twinned with Ostra."), 420),
            ),
            (
                "Ostra; now its population.",
                ("population", json!({"city": "Ostra"}), Ok("48,200 (2024)"), 95),
            ),
        ],
        ("48200", true),
        &[
            ("search_web", 2, "found the twin city at once"),
            ("population", 3, "gave the answer itself"),
        ],
    );
    story.task(
        2,
        &[
            (
                "Both dates are well known; look them up.",
                ("wikipedia", search("first flight"), Ok("17 December 1903"), 230),
            ),
            ("Now the other one.", ("wikipedia", search("moon landing"), Ok("20 July 1969"), 210)),
            (
                "The difference in years.",
                (
                    "date_diff",
                    json!({"from": "1903-12-17", "to": "1969-07-20"}),
                    Ok("65.6 years"),
                    12,
                ),
            ),
        ],
        ("65", false),
        &[("wikipedia", 1, "both dates were right"), ("date_diff", -1, "gave a fraction")],
    );
}

fn interventions(story: &mut Story) {
    use toolyard::domain::knob::Knob;
    story.wait(700);
    story.break_tool("search_web");
    story.tell(Event::ScoreSet {
        tool: "search_backup".into(),
        score: 4.0,
        was: 0.0,
        by: By::User,
    });
    let (from, to) = ("read_page".into(), "summarize".into());
    story.tell(Event::WeightPinned { from, to, weight: 0.05, was: None, by: By::User });
    story.tell(Event::KnobTurned { knob: Knob::Beta, value: 0.45, was: 0.5, by: By::User });
    story.tell(Event::ToolSwitched { tool: "random_calc".into(), on: false, by: By::User });
}

fn later_tasks(story: &mut Story) {
    let search = |query: &str| json!({"query": query});
    story.task(
        3,
        &[
            (
                "The height of Mount Orla.",
                ("search_web", search("height of Mount Orla"), Err("503 Service Unavailable"), 30),
            ),
            (
                "That failed; try the other search.",
                ("search_backup", search("height of Mount Orla"), Ok("Mount Orla: 2,500 m"), 610),
            ),
            (
                "40% of it, in feet.",
                ("calculator", json!({"expression": "0.4 * 2500 m to ft"}), Ok("3280.84 ft"), 3),
            ),
        ],
        ("3281", true),
        &[
            ("search_web", -3, "did not answer"),
            ("search_backup", 3, "found the height"),
            ("calculator", 2, "right and quick"),
        ],
    );
    story.task(
        4,
        &[(
            "Who wrote it, and where do they live?",
            (
                "search_backup",
                search("The Glass Orchard author"),
                Ok("Ines Vell, of Velm-on-Sea"),
                480,
            ),
        )],
        ("Velm", true),
        &[("search_backup", 2, "named the place")],
    );
    story.wait(50).start(5).step(5, 1, "start");
    let ask = story.ask(5, Role::Actor);
    story.answer(ask, "When was the lighthouse of Port Sel built?", 170);
    story.call(5, 1, ("wikipedia", search("Port Sel lighthouse"), Ok("built in 1871"), 220));
    story.step(5, 2, "wikipedia");
    let ask = story.ask(5, Role::Actor);
    story.answer(ask, "Now the difference in years.", 160);
    let call = story.request_call(5, 2, "calculator", json!({"expression": "1871 - 1830"}));
    story.tell(Event::ToolCallStarted { call }).wait(310);
}
