//! Sessions under a budget and of a search, told by hand.

use std::sync::Arc;

use serde_json::json;
use toolyard::domain::{
    BudgetEvent, BudgetPlan, By, ChangeEvent, EffectId, Knob, Marginal, MenuItem, MenuReason,
    NodeEnd, Outcome, PlannedTool, Rates, Refusal, Role, SearchEvent, TaskEvent, TaskId,
    ToolCallEvent,
};

use crate::story::{self, Story, effect};

/// A candidate: tool, cost, value, limit, uses, past uses, why.
pub type Candidate<'a> = (&'a str, f64, f64, u32, u32, u32, &'a str);

/// A plan of these candidates, with `spent` spent of 20 and 1 kept back.
pub fn plan(spent: f64, candidates: &[Candidate<'_>]) -> BudgetPlan {
    let tools: Vec<_> = candidates
        .iter()
        .map(|(tool, cost, value, limit, uses, experience, why)| PlannedTool {
            tool: (*tool).into(),
            cost: (*cost).into(),
            value: (*value).into(),
            limit: *limit,
            uses: *uses,
            experience: *experience,
            set: false,
            why: (*why).into(),
        })
        .collect();
    let sum = |part: fn(&PlannedTool) -> f64| -> f64 {
        tools.iter().map(|tool| part(tool) * f64::from(tool.uses)).sum()
    };
    let (value, cost) = (sum(|tool| *tool.value), sum(|tool| *tool.cost));
    let known = Vec::new();
    BudgetPlan {
        budget: 20.0.into(),
        spent: spent.into(),
        reserve: 1.0.into(),
        tools,
        known,
        value: value.into(),
        cost: cost.into(),
        gap: None,
        marginal: None,
    }
}

impl Story {
    pub fn planned(&mut self, task: u32, why: &str, plan: BudgetPlan) -> &mut Self {
        self.tell(BudgetEvent::BudgetPlanned {
            task: TaskId(task),
            why: why.into(),
            plan: Arc::new(plan),
        })
    }

    pub fn judge(&mut self, call: EffectId, helpful: bool, why: &str) -> &mut Self {
        self.tell(BudgetEvent::Judged { call, verdict: None, helpful, why: why.into() })
    }

    pub fn refused(&mut self, task: u32, step: u32, tool: &str, reason: Refusal, why: &str) {
        let call = self.request_call(task, step, tool, json!({"query": "x"}));
        self.tell(ToolCallEvent::ToolCallRefused { effect: effect(call), why: why.into(), reason });
    }

    /// A thought of a model of unknown price.
    fn think(&mut self, task: u32, thought: &str) -> &mut Self {
        let ask = self.ask(task, Role::Actor);
        self.answer(ask, thought, 500)
    }

    fn finish(&mut self, task: u32, answer: &str) -> &mut Self {
        self.tell(TaskEvent::TaskFinished {
            task: TaskId(task),
            outcome: Outcome::Answered,
            answer: Some(answer.into()),
            correct: Some(true),
            caveats: Vec::new(),
        })
    }
}

const CANDIDATES: [Candidate<'static>; 7] = [
    ("search_web", 3.0, 0.42, 3, 3, 12, "0.42 for 3, as far as its limit"),
    ("population", 1.5, 0.8, 1, 1, 31, "the most value for its cost"),
    ("wikipedia", 2.0, 0.1, 1, 1, 0, "no experience: tried once"),
    ("calculator", 1.1, 0.3, 2, 0, 9, "nothing is left for it"),
    ("weather", 6.5, 0.6, 1, 0, 4, "too expensive beside search_web"),
    ("translate", 1.5, 0.05, 0, 0, 8, "value 0.05 is below tau 0.15"),
    ("mystery", 2.0, 0.1, 1, 0, 0, ""),
];

/// Four tasks with plans: three done, one of them over its budget; the fourth was planned three times,
/// since tau was turned and the user set uses. Something was refused, banned, judged and spent on every
/// cause; a call is in flight.
pub fn btp() -> Story {
    let rates =
        Rates { credits_per_second: 0.5.into(), unknown_ask: 0.75.into(), ..Rates::default() };
    let mut story = Story::opened("react+btp", rates);
    story.tell(ChangeEvent::RoleBound {
        role: Role::Actor,
        model: "local".into(),
        was: "sim".into(),
        by: By::User,
    });
    let mut mystery = story::tool("mystery", "", 0.0);
    mystery.cost = None;
    story.join(story::TOOLS.map(|(name, class, cost)| story::tool(name, class, cost)));
    story.join([mystery]);
    let texts = ["How high is Mount Orla?", "Who founded Port Sel?", "When did Lyra burn?"];
    let tasks: Vec<_> = texts.iter().map(|text| (*text, None)).collect();
    story.queue(&tasks);
    story.queue(&[("How many people live in the twin city of Lyra?", None)]);
    for task in 1..=3 {
        earlier(&mut story, task);
    }
    current(&mut story);
    story
}

fn earlier(story: &mut Story, task: u32) {
    story.start(task).planned(task, "the task begins", plan(0.0, &CANDIDATES));
    story.step(task, 1, "start");
    story.think(task, "Search for it.");
    // The second task did not keep to its plan: tools of unknown cost turned out to be dear.
    let calls = if task == 2 { 9 } else { task };
    for _ in 0..calls {
        let arguments = json!({"query": "it"});
        story.call(task, 1, ("search_web", arguments, Ok("found"), 400));
    }
    story.finish(task, "found");
}

fn current(story: &mut Story) {
    let query = |query: &str| json!({"query": query});
    story.wait(100).start(4).planned(4, "the task begins", plan(0.0, &CANDIDATES));
    story.step(4, 1, "start");
    story.think(4, "I need the twin city first.");
    let call = ("search_web", query("twin city of Lyra"), Ok("Lyra is twinned with Ostra."), 420);
    let call = story.call(4, 1, call);
    story.judge(call, true, "it names the city");
    story.step(4, 2, "search_web");
    story.think(4, "Ostra; look it up.");
    let call = story.call(4, 2, ("wikipedia", query("Ostra"), Ok("nothing found"), 230));
    story.judge(call, false, "nothing found");
    let (task, tool) = (TaskId(4), "wikipedia".into());
    story.tell(BudgetEvent::ToolBlacklisted { task, tool, why: "nothing found".into() });
    let mut second = CANDIDATES;
    (second[0].4, second[2].4, second[3].4) = (2, 0, 1);
    let spent = story.state().task(TaskId(4)).unwrap().credits();
    story.planned(4, "wikipedia is blacklisted", plan(spent, &second));
    story.step(4, 3, "wikipedia");
    story.think(4, "Try that again.");
    story.refused(4, 3, "wikipedia", Refusal::Blacklisted, "wikipedia is forbidden");
    story.refused(4, 3, "weather", Refusal::TooDear, "weather costs 6.50, and 4 are left");
    story.tell(ChangeEvent::KnobTurned {
        knob: Knob::Tau,
        value: 0.3.into(),
        was: 0.15.into(),
        by: By::User,
    });
    story.tell(BudgetEvent::UsesSet {
        task: TaskId(4),
        tool: "calculator".into(),
        uses: 2,
        was: 1,
        by: By::User,
    });
    let mut third = second;
    (third[0].4, third[3].4) = (1, 2);
    let spent = story.state().task(TaskId(4)).unwrap().credits();
    let mut plan = plan(spent, &third);
    plan.tools[3].set = true;
    plan.tools[3].why = "set by you".into();
    let changes = vec![("search_web".into(), 1), ("calculator".into(), -1)];
    plan.marginal = Some(Marginal { credits: 1.5.into(), value: 0.12.into(), changes });
    story.planned(4, "tau: 0.15 → 0.30", plan);
    story.step(4, 4, "wikipedia");
    story.think(4, "Its population, then.");
    let call = story.request_call(4, 4, "population", json!({"city": "Ostra"}));
    story.tell(ToolCallEvent::ToolCallStarted { effect: effect(call) }).wait(90);
}

/// A node of a told search: number, parent, thought, and what the tool gave, if one was called.
type Node<'a> = (u32, u32, &'a str, Option<(&'a str, Result<&'a str, &'a str>)>);

impl Story {
    pub fn node(&mut self, task: u32, (node, parent, thought, call): Node<'_>) -> &mut Self {
        let task_id = TaskId(task);
        self.tell(SearchEvent::NodeOpened { task: task_id, node, parent });
        let menu = vec![MenuItem { tool: "search_web".into(), weight: None, why: MenuReason::All }];
        self.tell(TaskEvent::StepStarted {
            task: task_id,
            step: node,
            from: "start".into(),
            menu: menu.into(),
        });
        let ask = self.ask(task, Role::Actor);
        self.answer(ask, thought, 150);
        if let Some((tool, end)) = call {
            self.call(task, node, (tool, json!({"query": thought}), end, 80));
        }
        self
    }

    pub fn close(&mut self, task: u32, node: u32, how: NodeEnd) -> &mut Self {
        self.tell(SearchEvent::NodeClosed { task: TaskId(task), node, how })
    }

    pub fn enter(&mut self, task: u32, node: u32) -> &mut Self {
        self.tell(SearchEvent::NodeEntered { task: TaskId(task), node })
    }
}

/// A search that went wrong twice, ranked the children of a node, and is about to answer.
pub fn search() -> Story {
    let mut story = Story::opened("tot-dfs", Rates::default());
    story.join(story::TOOLS.map(|(name, class, cost)| story::tool(name, class, cost)));
    story.queue(&[("How old was the founder of Port Sel?", Some("41"))]).start(1);
    let found = |tool, text| Some((tool, Ok(text)));
    story.node(1, (1, 0, "Look for the founder.", found("search_web", "Ada Sel, born 1830")));
    story.node(1, (2, 0, "Ask the weather.", Some(("weather", Err("no such city")))));
    let votes = vec![(1, 2), (2, 0)];
    story.tell(SearchEvent::NodesRanked { task: TaskId(1), votes });
    story.enter(1, 1);
    story.node(1, (3, 1, "Perhaps a page says it.", found("read_page", "nothing of use")));
    story.node(1, (4, 3, "Read on.", Some(("read_page", Err("404")))));
    story.close(1, 4, NodeEnd::GaveUp).close(1, 3, NodeEnd::Exhausted).enter(1, 1);
    story.node(1, (5, 1, "The year of the founding.", found("wikipedia", "founded in 1871")));
    story.node(1, (6, 5, "1871 - 1830 = 41", None));
    story
}

/// The same, at its end.
pub fn searched() -> Story {
    let mut story = search();
    story.close(1, 6, NodeEnd::Answered).finish(1, "41");
    story
}
