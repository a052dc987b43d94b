//! The planner: writes down all calls before the first one. Like the actor it knows a task's needs from its reference
//! chain, and like any planner it does not know results: an argument that depends on them is requested from the worker
//! that is a model ([`super::reader`]).

mod choice;
mod write;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::choice::MOST;
use self::write::{input, made_up};
use super::blank::{about, blanks, line};
use super::{
    SimulatedSettings, choose::pick, guess::guess, improvise::suits, prompt_tools::PlannerPrompt,
    reader, request_parser::MenuTool, step_needs::need,
};
use crate::domain::markers::{KEEPING, LACKING, LLM};
use crate::domain::{Chance, Evidence, EvidenceId, Plan, PlanStep, Request, Task, ToolName};

/// The plan, in the text form.
pub(super) fn plan(
    request: &Request,
    text: &str,
    chain: Option<&Task>,
    settings: SimulatedSettings,
    chance: Chance,
) -> String {
    let offered = PlannerPrompt::read(request);
    let mut planner = Planner {
        menu: offered.menu(),
        offered: &offered,
        settings,
        chance,
        uses: BTreeMap::new(),
        last: 0,
        steps: Vec::new(),
    };
    if let Some(lacks) = chain.and_then(|task| planner.lacks(task)) {
        return lacks;
    }
    match chain {
        Some(task) => planner.follow(task),
        None => planner.improvise(text),
    }
    Plan { steps: planner.steps }.to_string()
}

struct Planner<'o> {
    offered: &'o PlannerPrompt,
    menu: Vec<MenuTool<'o>>,
    settings: SimulatedSettings,
    chance: Chance,
    /// Calls of each tool so far.
    uses: BTreeMap<ToolName, usize>,
    /// The number of the last piece of evidence.
    last: u32,
    steps: Vec<PlanStep>,
}

impl Planner<'_> {
    /// States the needs of steps without a tool in the list, and the listed tools for the other steps. `None` if no
    /// step lacks a tool, or if the planner may not make such a statement.
    fn lacks(&self, task: &Task) -> Option<String> {
        let fits = |at: &usize| {
            let step = &task.chain[*at];
            self.left().any(|tool| step.tools.contains(&tool.def.name))
        };
        let (met, lacking): (Vec<_>, Vec<_>) = (0..task.chain.len()).partition(fits);
        if !self.offered.may_lack || lacking.is_empty() {
            return None;
        }
        let lines = lacking.into_iter().map(|at| format!("{LACKING} {}", need(task, at)));
        let kept = self.left().map(|choice| &choice.def.name);
        let kept = kept.filter(|tool| met.iter().any(|at| task.chain[*at].tools.contains(tool)));
        let kept: Vec<_> = kept.map(ToolName::as_str).collect();
        Some(lines.chain([format!("{KEEPING} {}", kept.join(", "))]).collect::<Vec<_>>().join("\n"))
    }

    /// A plan for each step of a reference chain.
    fn follow(&mut self, task: &Task) {
        let mut found: Vec<Vec<EvidenceId>> = Vec::new();
        for at in 0..task.chain.len() {
            let ids = self.step(task, at, &found);
            found.push(ids);
        }
    }

    /// Plans one step; `found` is the evidence of those before it. Returns the evidence with its
    /// result.
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
        self.steps.push(PlanStep { text, evidence });
        ids
    }

    /// A plan for something other than the step: after a slip, or without a tool for the step.
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
        self.steps.push(PlanStep { text, evidence });
        ids
    }

    /// Adds one step, with the tools whose words match the task best.
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
        self.steps.push(PlanStep { text, evidence });
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::ChainStep;
    use crate::{
        domain::chat::{Message, Role},
        domain::markers::TOOLS,
    };

    const TEXT: &str = "How old was the inventor of the tide clock in 1900?";

    fn task() -> Task {
        let step = |tools: &[&str], arguments, finds: &str| ChainStep {
            tools: tools.iter().map(|tool| (*tool).into()).collect(),
            arguments,
            finds: Some(finds.to_owned()),
            takes: None,
        };
        let search = ["web", "books"];
        let chain = vec![
            step(&search, json!({"query": "inventor of the tide clock"}), "Mira Lanthe"),
            step(&search, json!({"query": "birth year of Mira Lanthe"}), "1866"),
            step(&["sum"], json!({"expression": "1900 - 1866"}), "34"),
        ];
        Task { chain, ..Task::from_text(TEXT) }
    }

    fn asked(system: &str, tools: &str) -> Request {
        let text = format!("Task: {TEXT}\n\n{TOOLS}{tools}- LLM(question): answers");
        Request::new(Role::Planner, vec![Message::system(system), Message::user(text)])
    }

    fn planned(tools: &str, chain: Option<&Task>, skill: f64) -> String {
        let request = asked("", tools);
        let settings = SimulatedSettings { skill, ..SimulatedSettings::default() };
        let text = plan(&request, TEXT, chain, settings, Chance::new(1));
        // The planner's output can always be parsed.
        assert_eq!(
            crate::papers::plan::parse(&text, &crate::papers::plan::PlanTools::default())
                .unwrap()
                .to_string(),
            text
        );
        text
    }

    const CLASSED: &str = "Task Completion:\n- sum(expression): Adds.\nInformation Retrieval:\n\
        - web(query): Finds.\n- books(query): Finds.\n- music(query): Plays the tide clock.\n";

    #[test]
    fn tools_of_a_class_are_asked_together_and_results_are_left_open() {
        let text = planned(CLASSED, Some(&task()), 1.0);
        let right = "Plan: Ask web for: inventor of the tide clock\n\
            #E1 = web[inventor of the tide clock]\n#E2 = books[inventor of the tide clock]\n\
            Plan: Ask web for: birth year of ___\n\
            #E3 = LLM[Step 2 needs the query for web: fill in \"birth year of ___\" from #E1 and #E2. \
            Reply with all of it and nothing else.]\n#E4 = web[#E3]\n#E5 = books[#E3]\n\
            Plan: Ask sum for: 1900 - ___\n\
            #E6 = LLM[Step 3 needs the expression for sum: fill in \"1900 - ___\" from #E4 and #E5. \
            Reply with all of it and nothing else.]\n#E7 = sum[#E6]\n";
        assert_eq!(text, right);
    }

    #[test]
    fn one_tool_is_asked_where_tools_are_not_listed_by_class() {
        let unclassed = CLASSED.replace("Task Completion:\n", "");
        let unclassed = unclassed.replace("Information Retrieval:\n", "");
        let text = planned(&unclassed, Some(&task()), 1.0);
        assert_eq!(text.matches("\n#E").count(), 5, "{text}");
    }

    #[test]
    fn uses_are_kept_for_later_steps() {
        let few = CLASSED.replace("): Finds", "): (calls left: 1) Finds");
        let text = planned(&few, Some(&task()), 1.0);
        for tool in ["web", "books", "sum"] {
            assert_eq!(text.matches(&format!("= {tool}[")).count(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_lacking_is_said_without_results_that_are_not_there_yet() {
        let tools = "- web(query): Finds.\n";
        let request = asked(LACKING, tools);
        let said =
            plan(&request, TEXT, Some(&task()), SimulatedSettings::default(), Chance::new(1));
        assert_eq!(said, "Lacking: 1900 - that result\nKeeping: web");
    }

    #[test]
    fn slips_ask_other_tools_or_forget_that_a_result_is_needed() {
        let text = planned(CLASSED, Some(&task()), 0.0);
        assert!(!text.contains("LLM["), "{text}");
        assert!(text.contains("See what helps with"), "{text}");
    }

    #[test]
    fn without_a_chain_it_takes_what_suits_the_words() {
        let text = planned(CLASSED, None, 1.0);
        let right = format!("Plan: I look for a tool that suits: {TEXT}\n#E1 = music[{TEXT}]\n");
        assert_eq!(text, right);
    }

    proptest! {
        /// A `#` before a number would name evidence.
        #[test]
        fn whatever_a_task_says_its_words_come_to_the_tool(text in "[ -\"$-~\n\té…【］]{0,60}") {
            let chance = Chance::new(1);
            let tools = "- music(query): Plays.\n";
            let request = asked("", tools);
            let plan = plan(&request, &text, None, SimulatedSettings::default(), chance);
            let plan = crate::papers::plan::parse(&plan, &crate::papers::plan::PlanTools::default()).unwrap();
            let evidence: Vec<_> = plan.evidence().collect();
            let schema = json!({"properties": {"query": {"type": "string"}}, "required": ["query"]});
            prop_assert_eq!(evidence.len(), 1);
            let arguments = evidence[0].arguments(&schema, |_| String::new());
            prop_assert_eq!(arguments, json!({ "query": text }), "{}", plan);
        }
    }
}
