//! Told sessions in which a planner wrote down all calls.

use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::domain::{
    Boundary, By, ChangeEvent, ControlEvent, EffectId, EvidenceId, FaultEvent, Knob, Lane,
    MenuItem, MenuReason, NullReason, Outcome, PlanEvent, Role, TaskEvent, TaskId, ToolCallEvent,
    ToolError, ToolErrorKind, ToolOutput,
};

use crate::story::{self, Story, effect};

/// Plans of every shape: calls side by side, a model as worker, a chain, and calls that wait for several.
pub const PLAN: &str = "\
Plan: Ask all encyclopedias which city is the twin of Lyra, since none of them is always there.
#E1 = wikipedia[twin city of Lyra]
#E2 = search_web[twin city of Lyra]
#E3 = nothing_found[twin city of Lyra]
Plan: Take out its name.
#E4 = LLM[Which city is the twin of Lyra, given #E1 and #E2? The name only.]
Plan: How many people live there, and how is the weather?
#E5 = population[#E4]
#E6 = weather[#E4]
#E7 = slow_lookup[history of Lyra]
Plan: Compare.
#E8 = calculator[#E5 / 2]
#E9 = summarize[#E6 #E8]";

impl Story {
    /// A session whose roles are all played, with the demo's tools and one task.
    pub fn of_workers() -> Self {
        let mut story = Story::opened("workers", toolyard::domain::rates::Rates::default());
        for role in [Role::Planner, Role::Solver, Role::Classifier] {
            let (model, was) = ("sim".into(), "sim".into());
            story.tell(ChangeEvent::RoleBound { role, model, was, by: By::Engine });
        }
        story.join(story::TOOLS.map(|(name, class, cost)| story::tool(name, class, cost)));
        story.queue(&[("How many people live in half of the twin city of Lyra?", Some("24100"))]);
        story
    }

    pub fn draw(&mut self, task: u32, plan: &str) -> &mut Self {
        let plan = Arc::new(toolyard::papers::plan::parse(plan, &Default::default()).unwrap());
        self.tell(PlanEvent::PlanWritten { task: TaskId(task), plan })
    }

    /// A call for a piece of evidence is wanted.
    pub fn want(&mut self, evidence: u32, tool: &str, query: &str) -> EffectId {
        self.seek(1, (1, Some(evidence)), tool, json!({"query": query}))
    }

    pub fn starts(&mut self, calls: &[EffectId]) -> &mut Self {
        for call in calls {
            self.tell(ToolCallEvent::ToolCallStarted { effect: effect(*call) });
        }
        self
    }

    pub fn finds(&mut self, evidence: u32, call: EffectId, text: &str, nulled: Option<NullReason>) {
        let output = ToolOutput::of(text).into();
        self.tell(ToolCallEvent::ToolCallFinished { effect: effect(call), output });
        self.found(evidence, None, nulled);
    }

    pub fn fails(&mut self, evidence: u32, call: EffectId, error: ToolError) {
        self.tell(ToolCallEvent::ToolCallFailed { effect: effect(call), error });
        self.found(evidence, None, Some(NullReason::Failed));
    }

    pub fn found(&mut self, evidence: u32, text: Option<&str>, nulled: Option<NullReason>) {
        let saved = if nulled.is_some() { 12 } else { 0 };
        let (task, evidence, text) = (TaskId(1), EvidenceId(evidence), text.map(str::to_owned));
        self.tell(PlanEvent::EvidenceFound { task, evidence, text, nulled, saved });
    }

    fn menu(&mut self) {
        let item = |name: &str| MenuItem { tool: name.into(), weight: None, why: MenuReason::All };
        let menu = story::TOOLS.map(|(name, ..)| item(name)).into();
        self.tell(TaskEvent::StepStarted { task: TaskId(1), step: 1, from: "start".into(), menu });
    }
}

/// The planner was asked twice and its workers are at work: evidence is found, null, failed by a fault,
/// cancelled, asked of a model, running, stopped by the user, and waiting.
pub fn working() -> Story {
    let mut story = begun();
    let query = "twin city of Lyra";
    let (first, second) = (story.want(1, "wikipedia", query), story.want(2, "search_web", query));
    let third = story.want(3, "nothing_found", query);
    let slow = story.want(7, "slow_lookup", "history of Lyra");
    story.starts(&[first, second, third]);
    let fault = *story.state().faults.keys().next().unwrap();
    story.tell(FaultEvent::FaultFired { fault, effect: effect(second) }).wait(30);
    story.fails(2, second, ToolError::new(ToolErrorKind::Failed, "503 Service Unavailable"));
    story.starts(&[slow]).wait(50);
    let pattern = Some(NullReason::Pattern("nothing found".into()));
    story.finds(3, third, "nothing found for: twin city of Lyra", pattern);
    story.wait(150);
    story.finds(1, first, "Lyra is twinned with Ostra since 1961.", None);
    let ask = story.ask_for(1, Role::Actor, Some(4));
    story.answer(ask, "Ostra", 240);
    story.found(4, Some("Ostra"), None);
    let weather = story.want(6, "weather", "Ostra");
    let people = story.want(5, "population", "Ostra");
    let lane = Lane::Effect(weather);
    story.starts(&[people]).tell(ControlEvent::LanePaused { lane, by: By::User });
    story.tell(ControlEvent::Held { lane, boundary: Boundary::BeforeToolCall }).wait(60);
    let error = ToolError::new(ToolErrorKind::Cancelled, "the call was cancelled by the user");
    story.fails(7, slow, error);
    story.wait(180);
    story
}

/// Up to the plan: the first one was refused.
fn begun() -> Story {
    let mut story = Story::of_workers();
    story.break_tool("search_web");
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Concurrency,
        value: 3.0.into(),
        was: 8.0.into(),
        by: By::User,
    });
    story.start(1).menu();
    let ask = story.ask(1, Role::Planner);
    story.answer(ask, "Plan: guess.\n#E1 = oracle[#E7]", 300);
    let why = "#E1: there is no tool oracle; #E1: there is no #E7".to_owned();
    story.tell(PlanEvent::PlanRefused { task: TaskId(1), why });
    let ask = story.ask(1, Role::Planner);
    story.answer(ask, PLAN, 420).draw(1, PLAN);
    story
}

/// The same at its end.
pub fn worked() -> Story {
    let mut story = working();
    let calls = |story: &Story, tool: &str| {
        let mut calls = story.state().tool_calls.iter();
        calls.find(|call| call.tool.as_str() == tool).map(|call| call.id).unwrap()
    };
    let (people, weather) = (calls(&story, "population"), calls(&story, "weather"));
    story.finds(5, people, "48,200 (2024)", None);
    let half = story.want(8, "calculator", "48200 / 2");
    story.starts(&[half]).wait(12);
    story.finds(8, half, "24100", None);
    let lane = Lane::Effect(weather);
    story
        .tell(ControlEvent::LaneResumed { lane, by: By::User })
        .tell(ControlEvent::Released { lane });
    story.starts(&[weather]).wait(90);
    story.finds(6, weather, "sunny, 21 °C", None);
    let last = story.want(9, "summarize", "sunny, 21 °C 24100");
    story.starts(&[last]).wait(140);
    story.finds(9, last, "24,100 people in the sun", None);
    let ask = story.ask(1, Role::Solver);
    story.answer(ask, "Answer: 24100", 310);
    story.tell(TaskEvent::TaskFinished {
        task: TaskId(1),
        outcome: Outcome::Answered,
        answer: Some("24100".into()),
        correct: Some(true),
        caveats: Vec::new(),
    });
    story
}

/// A plan of so many calls, every second of which needs the one before it; half of them have run.
pub fn many(calls: u32) -> Story {
    let mut story = Story::of_workers();
    story.start(1);
    let mut plan = String::new();
    for call in 1..=calls {
        let input = if call.is_multiple_of(2) { format!("#E{}", call - 1) } else { "x".into() };
        plan.push_str(&format!("Plan: number {call}\n#E{call} = calculator[{input}]\n"));
    }
    story.draw(1, &plan);
    for evidence in 1..=calls / 2 {
        let call = story.seek(1, (1, Some(evidence)), "calculator", Value::Null);
        story.starts(&[call]).wait(7);
        story.finds(evidence, call, "a result of some words", None);
    }
    story
}
