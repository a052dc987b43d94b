//! A session under test: a model that follows a script, two tools, and time that passes only when
//! nothing else can happen.

use std::pin::Pin;
use std::{cell::RefCell, collections::VecDeque, rc::Rc, sync::Arc, time::Duration};

use futures::{FutureExt, future::LocalBoxFuture};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, UnboundedSender};
use tokio::sync::watch;
use toolyard::app::session::{SessionSpec, TaskSource};
use toolyard::domain::probe::Probe;
use toolyard::domain::state::Keeps;
use toolyard::domain::{
    BudgetEvent, Command, EffectClass, Event, FewShot, Finish, Knob, Message, Mode, ModelError,
    ModelErrorKind, ModelSpec, Opening, Prompts, Rates, Record, Reply, Request, Role,
    SamplingOfRoles, SessionEvent, State, Task, ToolCall, ToolError, ToolMode, ToolOutput,
    ToolSpec, Usage,
};
use toolyard::engine::{
    self, Beginning, ClassBook, Inbox, Keep, Memory, Ranker, SchemaBook, Setup,
};
use toolyard::model::{About, Model, ModelProgress, Reachability};
use toolyard::store::journal::Journal;
use toolyard::tool::{Invocation, Tool, ToolBox, provider::Provider};

/// Answers from a list, in order; then finishes with `done`.
struct Script {
    spec: Arc<ModelSpec>,
    pub replies: RefCell<VecDeque<Result<Reply, ModelError>>>,
    pub delay: Duration,
}

impl Script {
    fn new(replies: Vec<Result<Reply, ModelError>>) -> Self {
        let spec = ModelSpec {
            name: "script".into(),
            source: "test".into(),
            simulated: true,
            mode: ToolMode::Native,
            structured: false,
            price_in: Some(1.0.into()),
            price_out: Some(2.0.into()),
            price_cached: None,
            price_written: None,
            price_from: None,
            listed: false,
            context: None,
        };
        Self { spec: Arc::new(spec), replies: RefCell::new(replies.into()), delay: Duration::ZERO }
    }

    fn take_tools(&mut self, mode: ToolMode, structured: bool) {
        self.spec = Arc::new(ModelSpec { mode, structured, ..(*self.spec).clone() });
    }
}

/// The last result in a request, as the agent reads it.
pub fn observed(request: &Request) -> String {
    let mut results = request.messages.iter().filter_map(|message| match message {
        Message::Tool { text, .. } => Some(text.clone()),
        _ => None,
    });
    results.next_back().unwrap_or_default()
}

impl Model for Script {
    fn spec(&self) -> &Arc<ModelSpec> {
        &self.spec
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        progress: &'a mut dyn FnMut(ModelProgress),
    ) -> LocalBoxFuture<'a, Result<Reply, ModelError>> {
        async move {
            tokio::time::sleep(self.delay).await;
            progress(ModelProgress::Text("thinking".into()));
            // Too soon to be told.
            progress(ModelProgress::Text(" about it".into()));
            if request.role == Role::Evaluator {
                return Ok(say(r#"{"scores":[{"tool":"echo","score":2,"reason":"helped"}]}"#));
            }
            let next = self.replies.borrow_mut().pop_front();
            next.unwrap_or_else(|| Ok(calls(&[("Finish", json!({"answer": "done"}))])))
        }
        .boxed_local()
    }

    /// The second model cannot be reached, which takes its time.
    fn reachable(&self) -> LocalBoxFuture<'_, Result<Reachability, ModelError>> {
        async move {
            if self.spec.name.as_str() == "second" {
                tokio::time::sleep(Duration::from_secs(3)).await;
                return Err(ModelError::new(ModelErrorKind::Connection, "nobody is there"));
            }
            Ok(Reachability { is_sure: true, text: "here".into(), about: About::default() })
        }
        .boxed_local()
    }
}

pub fn say(text: &str) -> Reply {
    let usage = Usage { tokens_in: 1_000_000, tokens_out: 500_000, ..Usage::default() };
    Reply { usage, ..Reply::of_text(text) }
}

pub fn calls(calls: &[(&str, Value)]) -> Reply {
    let calls = calls.iter().enumerate().map(|(i, (tool, arguments))| ToolCall {
        id: format!("c{i}"),
        tool: (*tool).into(),
        arguments: arguments.clone(),
    });
    Reply { calls: calls.collect(), finish: Finish::Calls, ..say("I call.") }
}

/// Answers with its argument after a while; `hang` never does.
pub struct Echo {
    spec: Arc<ToolSpec>,
    running: Rc<RefCell<(usize, usize)>>,
    /// The texts of the calls that were made to the end.
    made: Rc<RefCell<Vec<String>>>,
}

impl Echo {
    pub fn new(name: &str, class: &str, running: Rc<RefCell<(usize, usize)>>) -> Self {
        let spec = ToolSpec {
            name: name.into(),
            description: format!("{name} says what it is told"),
            parameters: json!({
                "type": "object",
                "properties": {"text": {"type": "string"}, "ms": {"type": "integer"}},
                "required": ["text"],
            })
            .into(),
            class: class.into(),
            cost: Some(2.0.into()),
            effect: EffectClass::Read,
            timeout_ms: 10_000,
            source: "test".into(),
            examples: vec![],
            disabled: None,
            proposed: None,
            served_as: None,
            returns: None,
            request: None,
        };
        Self { spec: Arc::new(spec), running, made: Rc::default() }
    }

    /// With these parameters.
    pub fn taking(self, parameters: Value) -> Self {
        let spec = ToolSpec { parameters: parameters.into(), ..(*self.spec).clone() };
        Self { spec: Arc::new(spec), ..self }
    }
}

impl Tool for Echo {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn call<'a>(
        &'a self,
        invocation: &'a Invocation,
    ) -> LocalBoxFuture<'a, Result<ToolOutput, ToolError>> {
        async move {
            if self.spec.name.as_str() == "hang" {
                std::future::pending::<()>().await;
            }
            {
                let mut running = self.running.borrow_mut();
                running.0 += 1;
                running.1 = running.1.max(running.0);
            }
            let ms = invocation.arguments.get("ms").and_then(Value::as_u64).unwrap_or(0);
            tokio::time::sleep(Duration::from_millis(ms)).await;
            self.running.borrow_mut().0 -= 1;
            let text = invocation.arguments["text"].as_str().unwrap_or_default().to_owned();
            self.made.borrow_mut().push(text.clone());
            Ok(ToolOutput::of(text))
        }
        .boxed_local()
    }
}

/// A session under test: what it is told, and what it has said so far.
pub struct Yard {
    pub commands: UnboundedSender<Command>,
    pub state: Rc<RefCell<State>>,
    pub records: Rc<RefCell<Vec<Arc<Record>>>>,
    pub most_at_once: Rc<RefCell<(usize, usize)>>,
    pub session: tokio::task::JoinHandle<State>,
}

pub struct Trial {
    pub replies: Vec<Result<Reply, ModelError>>,
    /// What a model named `second` answers, which plays no role at first.
    pub second: Vec<Result<Reply, ModelError>>,
    pub strategy: &'static str,
    pub names: &'static [&'static str],
    /// The declared class of all tools.
    pub class: &'static str,
    pub classes: Option<ClassBook>,
    pub tasks: usize,
    /// The strategies of runs beside the first; `None`: that of the session.
    pub runs: Vec<Option<&'static str>>,
    /// What each of them asks for.
    pub task: &'static str,
    /// Before them all tools are probed.
    pub probe: bool,
    /// Watched agents act.
    pub watched: bool,
    pub schemas: SchemaBook,
    pub paused: bool,
    pub stay: bool,
    /// Whether an attached screen controls the session.
    pub attached: Option<watch::Receiver<bool>>,
    /// How long a breakpoint holds without a person.
    pub hold: Option<Duration>,
    pub knobs: Vec<(Knob, f64)>,
    pub faults: Vec<&'static str>,
    pub breakpoints: Vec<&'static str>,
    pub delay: Duration,
    pub tools: ToolMode,
    /// The model can be held to a schema.
    pub structured: bool,
    /// The model's context window in tokens.
    pub context: Option<u64>,
    pub journal: Option<Journal>,
    pub rates: Rates,
    /// The limit of real money, which the models cost where there is one.
    pub max_dollars: Option<f64>,
    pub prompts: Prompts,
    pub sampling: SamplingOfRoles,
    pub few_shots: Vec<FewShot>,
    pub memory: Option<Memory>,
    pub ranker: Option<Rc<dyn Ranker>>,
    pub keep: Option<Keep>,
    /// The details that the session keeps of ended tasks.
    pub keeps: Keeps,
    pub providers: Vec<Rc<dyn Provider>>,
    pub beginning: Beginning,
    pub inbox: Option<Inbox>,
    /// How far a screen is.
    pub taken: Option<watch::Receiver<u64>>,
    /// What all tools do to the world.
    pub effect: EffectClass,
    /// The texts of the calls that were made to the end.
    pub made: Rc<RefCell<Vec<String>>>,
}

impl Default for Trial {
    fn default() -> Self {
        Self {
            replies: vec![Ok(calls(&[("echo", json!({"text": "hello"}))]))],
            second: vec![],
            strategy: "toolnet",
            names: &["echo", "hang"],
            class: "Test",
            classes: None,
            tasks: 1,
            runs: vec![],
            task: "Say hello.",
            probe: false,
            watched: false,
            schemas: SchemaBook::default(),
            paused: false,
            stay: false,
            attached: None,
            hold: None,
            knobs: vec![],
            faults: vec![],
            breakpoints: vec![],
            delay: Duration::ZERO,
            tools: ToolMode::Native,
            structured: false,
            context: None,
            journal: None,
            rates: Rates::default(),
            max_dollars: None,
            prompts: Prompts::default(),
            sampling: SamplingOfRoles::new(),
            few_shots: vec![],
            memory: None,
            ranker: None,
            keep: None,
            keeps: Keeps::All,
            providers: vec![],
            beginning: Beginning::New,
            inbox: None,
            taken: None,
            effect: EffectClass::Read,
            made: Rc::default(),
        }
    }
}

impl Trial {
    pub fn start(self) -> Yard {
        let (commands, wishes) = mpsc::unbounded_channel();
        let state = Rc::new(RefCell::new(State::default()));
        let records = Rc::new(RefCell::new(Vec::new()));
        let most_at_once = Rc::new(RefCell::new((0, 0)));
        let mut tools = ToolBox::default();
        for name in self.names.iter().copied() {
            let mut echo = Echo::new(name, self.class, Rc::clone(&most_at_once));
            echo.made = Rc::clone(&self.made);
            echo.spec = Arc::new(ToolSpec { effect: self.effect, ..(*echo.spec).clone() });
            tools.join(Rc::new(echo));
        }
        let mut second = Script::new(self.second);
        second.spec = Arc::new(ModelSpec { name: "second".into(), ..(*second.spec).clone() });
        let mut model = Script::new(self.replies);
        model.delay = self.delay;
        model.take_tools(self.tools, self.structured);
        let simulated = self.max_dollars.is_none();
        let spec = ModelSpec { context: self.context, simulated, ..(*model.spec).clone() };
        model.spec = Arc::new(spec);
        let task = Task { gold: Some("done".into()), ..Task::from_text(self.task) };
        let probe = self.probe.then(|| Task::of_probe(Probe::default()));
        let tasks = probe.into_iter().chain(vec![task; self.tasks]).collect();
        let spec = SessionSpec {
            workspace: Some("test".into()),
            strategy: Some(self.strategy.parse().unwrap()),
            knobs: self.knobs.into_iter().collect(),
            tasks: TaskSource::List(tasks),
            faults: self.faults.iter().map(|spec| spec.parse().unwrap()).collect(),
            breakpoints: self.breakpoints.iter().map(|spec| spec.parse().unwrap()).collect(),
            paused: self.paused,
            stay: self.stay,
            ..SessionSpec::default()
        };
        let setup = spec.setup_with(vec![Rc::new(model), Rc::new(second)], tools).unwrap();
        let setup = Setup {
            opening: Opening {
                watched: self.watched,
                rates: self.rates,
                max_dollars: self.max_dollars.map(Into::into),
                prompts: self.prompts,
                sampling: self.sampling,
                few_shots: self.few_shots,
                ..setup.opening
            },
            runs: self.runs.iter().map(|run| run.map(|it| it.parse().unwrap())).collect(),
            journal: self.journal,
            classes: self.classes,
            schemas: self.schemas,
            memory: self.memory,
            ranker: self.ranker,
            keep: self.keep,
            keeps: self.keeps,
            providers: self.providers,
            beginning: self.beginning,
            inbox: self.inbox,
            taken: self.taken,
            attached: self.attached,
            hold: self.hold,
            ..setup
        };
        let (fold, seen) = (Rc::clone(&state), Rc::clone(&records));
        let listener = Box::new(move |record: &Arc<Record>| {
            fold.borrow_mut().apply(record);
            seen.borrow_mut().push(Arc::clone(record));
        });
        let session =
            tokio::task::spawn_local(
                async move { engine::run(setup, wishes, listener).await.unwrap() },
            );
        Yard { commands, state, records, most_at_once, session }
    }
}

impl Yard {
    pub fn wish(&self, command: Command) {
        self.commands.send(command).unwrap();
    }

    /// Lets the session go on until this holds; fails if it never does.
    pub async fn until(&self, what: &str, holds: impl Fn(&State) -> bool) {
        for _ in 0..20_000 {
            if holds(&self.state.borrow()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("never {what}: {:#?}", self.kinds());
    }

    /// Lets the session do whatever it can do now.
    pub async fn settle(&self) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    pub fn kinds(&self) -> Vec<String> {
        self.records.borrow().iter().map(|record| record.event.kind().to_owned()).collect()
    }

    pub fn refusals(&self) -> Vec<String> {
        let records = self.records.borrow();
        let whys = records.iter().filter_map(|record| match &record.event {
            Event::Session(SessionEvent::CommandRefused { why, .. }) => Some(why.clone()),
            _ => None,
        });
        whys.collect()
    }

    /// Why plans were made, in order.
    pub fn planned(&self) -> Vec<String> {
        let records = self.records.borrow();
        let whys = records.iter().filter_map(|record| match &record.event {
            Event::Budget(BudgetEvent::BudgetPlanned { why, .. }) => Some(why.clone()),
            _ => None,
        });
        whys.collect()
    }

    pub fn mode(&self) -> Mode {
        self.state.borrow().control.mode
    }

    pub fn held(&self) -> Vec<&'static str> {
        self.state.borrow().control.held.iter().map(|hold| hold.boundary.name()).collect()
    }
}

/// Runs a test on one thread, with time that passes only when nothing else can happen.
pub fn on_paused_time(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    // A session that waits for what never comes is found at once: no time passes here.
    let limit = Duration::from_secs(24 * 3600);
    // Behind a pointer, so that the runtime is compiled once and not for each test.
    let test: Pin<Box<dyn Future<Output = ()>>> = Box::pin(test);
    let test = async move { tokio::time::timeout(limit, test).await };
    tokio::task::LocalSet::new().block_on(&runtime, test).expect("the session never ends");
}
