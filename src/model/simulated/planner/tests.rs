//! Whole plans, word for word.

use proptest::prelude::*;

use super::*;
use crate::{
    blueprint,
    chat::{Message, Role},
    strategy::prompt::planned::{TOGETHER, TOOLS},
};

const TEXT: &str = "How old was the inventor of the tide clock in 1900?";

fn task() -> Task {
    let step = |tools: &[&str], arguments, finds: &str| ChainStep {
        tools: tools.iter().map(|tool| (*tool).into()).collect(),
        arguments,
        finds: Some(finds.to_owned()),
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
    Request {
        role: Role::Planner,
        messages: vec![Message::system(system), Message::user(text)],
        tools: Vec::new(),
        temperature: None,
        max_tokens: None,
        stop: Vec::new(),
        schema: None,
    }
}

fn planned(system: &str, tools: &str, chain: Option<&Task>, skill: f64) -> String {
    let request = asked(system, tools);
    let settings = Settings { skill, ..Settings::default() };
    let text = plan(&request, TEXT, chain, settings, Chance::new(1));
    // What it writes can always be read.
    assert_eq!(blueprint::parse(&text).unwrap().to_string(), text);
    text
}

const CLASSED: &str = "Task Completion:\n- sum(expression): Adds.\nInformation Retrieval:\n\
    - web(query): Finds.\n- books(query): Finds.\n- music(query): Plays the tide clock.\n";

#[test]
fn tools_of_a_class_are_asked_together_and_results_are_left_open() {
    let text = planned(TOGETHER, CLASSED, Some(&task()), 1.0);
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
fn one_tool_is_asked_where_that_is_wanted_or_no_class_says_more() {
    let unclassed = CLASSED.replace("Task Completion:\n", "");
    let unclassed = unclassed.replace("Information Retrieval:\n", "");
    for (system, tools) in [("", CLASSED), (TOGETHER, unclassed.as_str())] {
        let text = planned(system, tools, Some(&task()), 1.0);
        assert_eq!(text.matches("\n#E").count(), 5, "{text}");
    }
}

#[test]
fn uses_are_kept_for_later_steps() {
    let few = CLASSED.replace("): Finds", "): (at most 1 calls) Finds");
    let text = planned(TOGETHER, &few, Some(&task()), 1.0);
    for tool in ["web", "books", "sum"] {
        assert_eq!(text.matches(&format!("= {tool}[")).count(), 1, "{text}");
    }
}

#[test]
fn slips_ask_other_tools_or_forget_that_a_result_is_needed() {
    let text = planned(TOGETHER, CLASSED, Some(&task()), 0.0);
    assert!(!text.contains("LLM["), "{text}");
    assert!(text.contains("See what helps with"), "{text}");
}

#[test]
fn without_a_chain_it_takes_what_suits_the_words() {
    let text = planned("", CLASSED, None, 1.0);
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
        let plan = plan(&request, &text, None, Settings::default(), chance);
        let blueprint = blueprint::parse(&plan).unwrap();
        let evidence: Vec<_> = blueprint.evidence().collect();
        let schema = json!({"properties": {"query": {"type": "string"}}, "required": ["query"]});
        prop_assert_eq!(evidence.len(), 1);
        let arguments = evidence[0].arguments(&schema, |_| String::new());
        prop_assert_eq!(arguments, json!({ "query": text }), "{}", plan);
    }
}
