//! Decisions of a scripted agent, made by its habits.

use serde_json::{Value, json};

use super::chain::{self, NextStep};
use super::seen::{Done, ParsedRequest};
use crate::domain::Task;

/// A scripted agent.
pub struct Habits {
    /// The name of its model.
    pub name: &'static str,
    /// Description for a legend.
    pub about: &'static str,
    /// Number of equal calls to one tool before the agent calls another one.
    tries: usize,
    /// Whether it prefers cheap tools, where costs are stated; without this it takes the first offered one.
    is_thrifty: bool,
    /// Whether it has another tool check the last result.
    checks: bool,
    words: AgentWords,
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

/// An agent that calls each tool once, takes the first one offered, and answers immediately.
pub(super) const CLERK: Habits = Habits {
    name: "clerk",
    about: "takes the first tool, asks it once, answers at once",
    tries: 1,
    is_thrifty: false,
    checks: false,
    words: AgentWords::Need,
};

/// An agent that calls a tool twice, prefers cheap tools, and has another tool check the last result.
pub(super) const SCOUT: Habits = Habits {
    name: "scout",
    about: "prefers cheap tools, asks twice, has another one check the end",
    tries: 2,
    is_thrifty: true,
    checks: true,
    words: AgentWords::Ahead,
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
    /// Replies to a request. `task`: the task with its steps, if the agent can do it.
    pub(super) fn reply(&self, seen: &ParsedRequest<'_>, task: Option<&Task>) -> AgentReply {
        if seen.is_evaluation() {
            return AgentReply { text: self.scores(seen), call: None };
        }
        let Some(task) = task.filter(|_| !seen.offered.is_empty() || !seen.done.is_empty()) else {
            return give_up("That is beyond me.".to_owned());
        };
        match chain::way(task, &seen.done) {
            NextStep::Step { at, arguments } => self.step(seen, task, at, arguments),
            NextStep::End { results } => {
                let check = self.check(seen, task, &results);
                check.unwrap_or_else(|| {
                    let answer = json!({ "answer": chain::answer(task, &results) });
                    let text = "That settles it.".to_owned();
                    AgentReply { text, call: Some(("Finish".to_owned(), answer)) }
                })
            }
        }
    }

    fn step(
        &self,
        seen: &ParsedRequest<'_>,
        task: &Task,
        at: usize,
        arguments: Value,
    ) -> AgentReply {
        let text = self.wants(task, at, &arguments);
        let tried = |tool: &str| {
            let same = |done: &&Done| done.tool == tool && done.arguments == arguments;
            seen.done.iter().filter(same).count()
        };
        let step = &task.chain[at];
        let fits = seen.offered.iter().copied().filter(|tool| {
            step.tools.iter().any(|own| own.as_str() == *tool) && tried(tool) < self.tries
        });
        match self.choose(seen, fits) {
            Some(tool) => AgentReply { text, call: Some((tool.to_owned(), arguments)) },
            None if seen.may_lack() => give_up(text),
            None => give_up("Here I am stuck.".to_owned()),
        }
    }

    fn choose<'s>(
        &self,
        seen: &ParsedRequest<'s>,
        mut fits: impl Iterator<Item = &'s str>,
    ) -> Option<&'s str> {
        if !self.is_thrifty {
            return fits.next();
        }
        let cost = |tool: &&str| seen.costs.get(tool).copied().unwrap_or(f64::MAX);
        fits.min_by(|one, other| cost(one).total_cmp(&cost(other)))
    }

    /// Repeats the last step with another tool, unless that has already happened.
    fn check(
        &self,
        seen: &ParsedRequest<'_>,
        task: &Task,
        results: &[&Done],
    ) -> Option<AgentReply> {
        let (step, last) = (task.chain.last()?, results.last().filter(|_| self.checks)?);
        let same = |done: &&Done| chain::is_of(step, done) && done.arguments == last.arguments;
        let asked: Vec<&str> =
            seen.done.iter().filter(same).map(|done| done.tool.as_str()).collect();
        if asked.iter().any(|tool| *tool != last.tool) {
            return None;
        }
        let other = seen.offered.iter().copied().filter(|tool| {
            step.tools.iter().any(|own| own.as_str() == *tool) && !asked.contains(tool)
        });
        let other = self.choose(seen, other)?;
        let text = "Let me hear a second opinion.".to_owned();
        Some(AgentReply { text, call: Some((other.to_owned(), last.arguments.clone())) })
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

    /// Scores of tools: by the last call of each, or by all of them.
    fn scores(&self, seen: &ParsedRequest<'_>) -> String {
        let account: Vec<Done> = seen.account().collect();
        let mut scores: Vec<Value> = Vec::new();
        for done in &account {
            if scores.iter().any(|score| score["tool"] == done.tool.as_str()) {
                continue;
            }
            let own = account.iter().filter(|other| other.tool == done.tool);
            let good = own.clone().filter(|done| done.is_of_use()).count();
            let all = own.clone().count();
            let is_good = if self.checks {
                2 * good > all
            } else {
                own.clone().next_back().is_some_and(Done::is_of_use)
            };
            let (score, reason) =
                if is_good { (2, "gave what was asked") } else { (-2, "no help") };
            scores.push(json!({ "tool": done.tool, "score": score, "reason": reason }));
        }
        json!({ "scores": scores }).to_string()
    }
}

fn give_up(text: String) -> AgentReply {
    AgentReply { text, call: Some(("Finish".to_owned(), json!({ "answer": "", "gave_up": true }))) }
}
