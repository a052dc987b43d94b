//! Decisions of a scripted agent, made by its habits.

use std::cmp::Ordering::Equal;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::chain::{self, NextStep};
use super::seen::{Done, ParsedRequest};
use crate::domain::{Chance, Task, ToolName};

/// A scripted agent.
pub struct Habits {
    /// The name of its model.
    pub name: &'static str,
    /// Description for a legend.
    pub about: &'static str,
    /// Number of equal calls to one tool before the agent calls another one.
    tries: usize,
    choice: Choice,
    words: AgentWords,
}

/// How an agent chooses among the tools that do a step. None of them depends on the order of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The usual tool of the capability, as the task names them.
    Usual,
    /// By habits: each tool has a weight, drawn by seed, and each step a draw by these weights.
    Habit,
    /// The cheapest one, where costs are stated; else by habits.
    Cheapest,
    /// The first one of an order that is drawn by seed.
    First,
}

/// The words of an agent beside a call.
enum AgentWords {
    /// The need of the step, and the task.
    Need,
    /// The need of the step and the task, and what it will need after this step.
    Ahead,
    /// Only the values that the step needs.
    Values,
}

/// An agent that calls the usual tool of a capability.
pub(super) const REGULAR: Habits = Habits {
    name: "regular",
    about: "takes the usual tool of a capability",
    tries: 1,
    choice: Choice::Usual,
    words: AgentWords::Values,
};

/// An agent that calls a tool by habits.
pub(super) const ROVER: Habits = Habits {
    name: "rover",
    about: "draws a tool of the capability by its habits",
    choice: Choice::Habit,
    ..REGULAR
};

/// An agent that prefers cheap tools, and asks each twice.
pub(super) const SCOUT: Habits = Habits {
    name: "scout",
    about: "prefers cheap tools where costs are told, else goes by habits, and asks twice",
    tries: 2,
    choice: Choice::Cheapest,
    words: AgentWords::Ahead,
};

/// An agent that calls the first fitting tool.
pub(super) const CLERK: Habits = Habits {
    name: "clerk",
    about: "takes the first fitting tool, in an order drawn by seed",
    tries: 1,
    choice: Choice::First,
    words: AgentWords::Need,
};

/// An agent whose words find no tool.
pub(super) const MUMBLER: Habits = Habits {
    name: "mumbler",
    about: "says only the values that it needs, not what for",
    words: AgentWords::Values,
    ..CLERK
};

/// A reply of the agent: a text, and a tool call.
pub(super) struct AgentReply {
    pub text: String,
    pub call: Option<(String, Value)>,
}

impl Habits {
    /// Whether it takes other tools where the prompt states costs.
    pub fn reads_costs(&self) -> bool {
        self.choice == Choice::Cheapest
    }

    /// Replies to a request. `task`: the task with its steps, if the agent can do it. `chance`: the draws of its session.
    pub(super) fn reply(
        &self,
        seen: &ParsedRequest<'_>,
        task: Option<&Task>,
        chance: Chance,
    ) -> AgentReply {
        if seen.is_evaluation() {
            return AgentReply { text: scores(seen), call: None };
        }
        let Some(task) = task.filter(|_| !seen.offered.is_empty() || !seen.done.is_empty()) else {
            return give_up("That is beyond me.".to_owned());
        };
        match chain::way(task, &seen.done) {
            NextStep::Step { at, arguments } => self.step(seen, (task, at), arguments, chance),
            NextStep::End { results } => {
                let answer = json!({ "answer": chain::answer(task, &results) });
                let text = "That settles it.".to_owned();
                AgentReply { text, call: Some(("Finish".to_owned(), answer)) }
            }
        }
    }

    fn step(
        &self,
        seen: &ParsedRequest<'_>,
        (task, at): (&Task, usize),
        arguments: Value,
        chance: Chance,
    ) -> AgentReply {
        let text = self.wants(task, at, &arguments);
        let tried = |tool: &str| {
            let same = |done: &&Done| done.tool == tool && done.arguments == arguments;
            seen.done.iter().filter(same).count()
        };
        let own = task.chain[at].tools.iter().map(ToolName::as_str);
        let fits = own.filter(|tool| seen.offered.contains(tool) && tried(tool) < self.tries);
        let of_step = chance.with(task.text.as_bytes()).with(&at.to_le_bytes());
        let chosen = match self.choice {
            Choice::Usual => fits.into_iter().next(),
            Choice::First => least(fits, |tool| (chance.with(tool.as_bytes()).unit(), 0.0)),
            Choice::Habit => least(fits, |tool| (drawn(tool, chance, of_step), 0.0)),
            Choice::Cheapest => least(fits, |tool| {
                let cost = seen.costs.get(tool).copied().unwrap_or(f64::MAX);
                (cost, drawn(tool, chance, of_step))
            }),
        };
        match chosen {
            Some(tool) => AgentReply { text, call: Some((tool.to_owned(), arguments)) },
            None if seen.may_lack() => give_up(text),
            None => give_up("Here I am stuck.".to_owned()),
        }
    }

    /// The text of a step: the need of the step, and its purpose.
    fn wants(&self, task: &Task, at: usize, arguments: &Value) -> String {
        let now = chain::need(task, at, Some(arguments));
        match self.words {
            AgentWords::Need => return format!("Looking for: {now}. It is for: {}", task.text),
            AgentWords::Values => return now,
            AgentWords::Ahead => {}
        }
        let then = (at + 1 < task.chain.len()).then(|| chain::need(task, at + 1, None));
        let then = then.map_or_else(String::new, |then| format!(" Later I will ask about {then}."));
        format!("My question is {}. So I have to find out {now}.{then}", task.text)
    }
}

/// The tool with the least first number; of equal ones that with the least second one.
fn least<'t>(
    tools: impl Iterator<Item = &'t str>,
    of: impl Fn(&str) -> (f64, f64),
) -> Option<&'t str> {
    tools
        .map(|tool| (of(tool), tool))
        .min_by(|(a, _), (b, _)| a.partial_cmp(b).unwrap_or(Equal))
        .map(|(_, tool)| tool)
}

/// A number from 0 to 1 for a tool in a step: the least one is drawn, in proportion to the tools' weights.
fn drawn(tool: &str, chance: Chance, of_step: Chance) -> f64 {
    let weight = chance.with(b"habit").with(tool.as_bytes()).unit().max(0.05);
    1.0 - (1.0 - of_step.with(tool.as_bytes()).unit()).powf(1.0 / weight)
}

/// Scores of tools, by the last call of each.
fn scores(seen: &ParsedRequest<'_>) -> String {
    let mut last: IndexMap<String, bool> = IndexMap::new();
    for done in seen.account() {
        let is_good = done.is_of_use();
        last.insert(done.tool, is_good);
    }
    let scores: Vec<Value> = last
        .into_iter()
        .map(|(tool, is_good)| {
            let (score, reason) =
                if is_good { (2, "gave what was asked") } else { (-2, "no help") };
            json!({ "tool": tool, "score": score, "reason": reason })
        })
        .collect();
    json!({ "scores": scores }).to_string()
}

fn give_up(text: String) -> AgentReply {
    AgentReply { text, call: Some(("Finish".to_owned(), json!({ "answer": "", "gave_up": true }))) }
}
