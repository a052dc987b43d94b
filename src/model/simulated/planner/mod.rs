//! The planner: everything that is to be called, written down before anything is. It knows what a task
//! needs as the actor does, from its reference chain, and like any planner it does not know results: what
//! an argument takes from them is asked of the worker that is a model ([`super::reader`]).

mod write;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::write::{about, input, made_up};
use super::{
    Settings,
    actor::need,
    blank::{Blank, blank, line},
    choose::pick,
    guess::guess,
    improvise::suits,
    offered::Offered,
    prompted::Choice,
    reader,
};
use crate::{
    blueprint::{Blueprint, Evidence, EvidenceId, Plan},
    chance::Chance,
    chat::Request,
    id::ToolName,
    spec::{ChainStep, Task},
    strategy::prompt::planned::LLM,
};

/// Tools that it calls for one need where it may call several.
const MOST: usize = 3;

/// The blueprint, in the text form.
pub(super) fn plan(
    request: &Request,
    text: &str,
    chain: Option<&Task>,
    settings: Settings,
    chance: Chance,
) -> String {
    let offered = Offered::read(request);
    let mut planner = Planner {
        menu: offered.menu(),
        offered: &offered,
        settings,
        chance,
        uses: BTreeMap::new(),
        last: 0,
        plans: Vec::new(),
    };
    if let Some(lacks) = chain.and_then(|task| planner.lacks(task)) {
        return lacks;
    }
    match chain {
        Some(task) => planner.follow(task),
        None => planner.improvise(text),
    }
    Blueprint { plans: planner.plans }.to_string()
}

struct Planner<'o> {
    offered: &'o Offered,
    menu: Vec<Choice<'o>>,
    settings: Settings,
    chance: Chance,
    /// How often each tool is called so far.
    uses: BTreeMap<ToolName, usize>,
    /// The number of the last piece of evidence.
    last: u32,
    plans: Vec<Plan>,
}

impl Planner<'_> {
    /// What it says where steps have no tool in the list, and it may say so.
    fn lacks(&self, task: &Task) -> Option<String> {
        let fits = |step: &ChainStep| self.left().any(|tool| step.tools.contains(&tool.def.name));
        let lacking = task.chain.iter().filter(|step| self.offered.may_lack && !fits(step));
        let lines: Vec<String> = lacking.map(|step| format!("Lacking: {}", need(step))).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// A plan for each step of a reference chain.
    fn follow(&mut self, task: &Task) {
        let mut found: Vec<Vec<EvidenceId>> = Vec::new();
        for at in 0..task.chain.len() {
            let ids = self.step(task, at, &found);
            found.push(ids);
        }
    }

    /// Plans one step; `found` is the evidence of those before it. The evidence that holds what it finds.
    fn step(&mut self, task: &Task, at: usize, found: &[Vec<EvidenceId>]) -> Vec<EvidenceId> {
        let step = &task.chain[at];
        let chance = self.chance.with(b"step").with(&at.to_le_bytes());
        let blanks = blanks(task, at);
        let slips = chance.with(b"skill").unit() >= self.settings.skill;
        let forgets = slips && !blanks.is_empty() && chance.with(b"forgets").bits() & 1 == 0;
        let tools = if slips && !forgets { Vec::new() } else { self.fit(task, at, chance) };
        let Some(first) = tools.first() else { return self.astray(task, at, chance) };
        let usual = first.as_str().replace('_', " ");
        let text = format!("Ask {usual} for: {}", about(&step.arguments, &blanks));
        let mut evidence = Vec::new();
        let mut known = step.arguments.clone();
        for (name, blank) in &blanks {
            let marks: Vec<String> = blank
                .needs
                .iter()
                .filter_map(|need| found.get(*need))
                .flatten()
                .map(|id| id.mark())
                .collect();
            known[name] = if forgets || marks.is_empty() {
                made_up(name, &step.arguments[name], &task.text)
            } else {
                let asked = reader::question(at, first, name, blank, &marks.join(" and "));
                let id = self.next();
                evidence.push(Evidence { id, tool: LLM.to_owned(), input: asked });
                Value::String(id.mark())
            };
        }
        let calls: Vec<Evidence> =
            tools.into_iter().filter_map(|tool| self.call(&tool, &known)).collect();
        let ids = calls.iter().map(|call| call.id).collect();
        evidence.extend(calls);
        self.plans.push(Plan { text, evidence });
        ids
    }

    /// The tools for a step: the usual one first.
    fn fit(&self, task: &Task, at: usize, chance: Chance) -> Vec<ToolName> {
        let tools = task.chain[at].tools.iter().enumerate();
        let fitting: Vec<(&Choice<'_>, f64)> = tools
            .filter_map(|(place, tool)| {
                let choice = self.left().find(|choice| choice.def.name == *tool)?;
                let usual = self.settings.habit.powi(-i32::try_from(place).unwrap_or(i32::MAX));
                Some((choice, usual))
            })
            .collect();
        // Later steps want some of the uses that are left.
        let tools = &task.chain[at].tools;
        let shares = |step: &&ChainStep| step.tools.iter().any(|tool| tools.contains(tool));
        let later = task.chain[at + 1..].iter().filter(shares).count();
        let uses = fitting.iter().map(|(choice, _)| self.uses_left(choice));
        let room = uses.fold(0, usize::saturating_add).saturating_sub(later);
        self.draw(fitting, room.clamp(1, MOST), chance)
    }

    /// Some of these tools, in their order: several of one class where it may, else one.
    fn draw(
        &self,
        mut choices: Vec<(&Choice<'_>, f64)>,
        most: usize,
        chance: Chance,
    ) -> Vec<ToolName> {
        let class = |choice: &Choice<'_>| self.offered.class(&choice.def.name);
        let first = choices.first().and_then(|(choice, _)| class(choice));
        let together = self.offered.together && first.is_some();
        if together {
            choices.retain(|(choice, _)| class(choice) == first);
        }
        let order: Vec<ToolName> =
            choices.iter().map(|(choice, _)| choice.def.name.clone()).collect();
        let mut drawn = Vec::new();
        for nth in 0..if together { most } else { 1 } {
            let chance = chance.with(&nth.to_le_bytes());
            let Some(choice) = pick(&choices, self.settings, chance) else { break };
            let name = choice.def.name.clone();
            choices.retain(|(choice, _)| choice.def.name != name);
            drawn.push(name);
        }
        order.into_iter().filter(|tool| drawn.contains(tool)).collect()
    }

    /// A plan that does something else than the step: a slip, or there is no tool for it.
    fn astray(&mut self, task: &Task, at: usize, chance: Chance) -> Vec<EvidenceId> {
        let step = &task.chain[at];
        let others = self.left().filter(|choice| !step.tools.contains(&choice.def.name));
        let others: Vec<_> = others.map(|choice| (choice, 1.0)).collect();
        let choice = pick(&others, self.settings, chance.with(b"astray"));
        let call = choice.map(|choice| (choice.def.name.clone(), guess(choice, &task.text)));
        let call = call.and_then(|(tool, arguments)| self.call(&tool, &arguments));
        let evidence: Vec<Evidence> = call.into_iter().collect();
        let text = format!("See what helps with: {}", line(&json!(task.text)));
        let ids = evidence.iter().map(|evidence| evidence.id).collect();
        self.plans.push(Plan { text, evidence });
        ids
    }

    /// One plan, with the tools whose words suit the task.
    fn improvise(&mut self, task: &str) {
        let best = self.left().map(|choice| suits(choice, task)).max().unwrap_or(0);
        let fitting: Vec<_> = self
            .left()
            .filter(|choice| suits(choice, task) == best)
            .map(|choice| (choice, 1.0))
            .collect();
        let drawn = self.draw(fitting, MOST, self.chance);
        let guessed = |tool: &ToolName| {
            let choice = self.menu.iter().find(|choice| choice.def.name == *tool)?;
            Some((tool.clone(), guess(choice, task)))
        };
        let calls: Vec<_> = drawn.iter().filter_map(guessed).collect();
        let evidence = calls.iter().filter_map(|(tool, arguments)| self.call(tool, arguments));
        let evidence = evidence.collect();
        let text = format!("I look for a tool that suits: {}", line(&json!(task)));
        self.plans.push(Plan { text, evidence });
    }

    /// The tools that may still be called.
    fn left(&self) -> impl Iterator<Item = &Choice<'_>> {
        self.menu.iter().filter(|choice| self.uses_left(choice) > 0)
    }

    fn uses_left(&self, choice: &Choice<'_>) -> usize {
        let tool = &choice.def.name;
        let used = self.uses.get(tool).copied().unwrap_or(0);
        self.offered.most(tool).map_or(usize::MAX, |most| most.saturating_sub(used))
    }

    fn call(&mut self, tool: &ToolName, arguments: &Value) -> Option<Evidence> {
        let schema = &self.menu.iter().find(|choice| choice.def.name == *tool)?.def.parameters;
        let input = input(arguments, schema);
        *self.uses.entry(tool.clone()).or_default() += 1;
        Some(Evidence { id: self.next(), tool: tool.to_string(), input })
    }

    fn next(&mut self) -> EvidenceId {
        self.last += 1;
        EvidenceId(self.last)
    }
}

/// What of a step's arguments is not known yet.
fn blanks(task: &Task, at: usize) -> Vec<(String, Blank)> {
    let arguments = task.chain[at].arguments.as_object().into_iter().flatten();
    arguments.filter_map(|(name, value)| Some((name.clone(), blank(task, at, value)?))).collect()
}

#[cfg(test)]
mod tests;
