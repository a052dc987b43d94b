//! What planners write: golden values, every shape a plan can have, and texts made to break the reader.

use std::{collections::BTreeSet, time::Instant};

use proptest::prelude::*;
use serde_json::Value;
use toolyard::domain::{Evidence, EvidenceId, Plan, PlanStep, ToolName};
use toolyard::papers::plan::{self, LONGEST, PlanTools, Unreadable};

use crate::vectors;

#[test]
fn golden_plans_are_read_as_they_should_be() {
    let text = vectors("plans.jsonl");
    let mut seen = 0;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let evidence = |all: &Value| -> Vec<Evidence> {
            let each = all.as_array().unwrap().iter().map(|one| Evidence {
                id: one[0].as_str().unwrap().parse().unwrap(),
                tool: one[1].as_str().unwrap().to_owned(),
                input: one[2].as_str().unwrap().to_owned(),
            });
            each.collect()
        };
        let steps = case["plans"].as_array().unwrap().iter().map(|plan| PlanStep {
            text: plan["text"].as_str().unwrap().to_owned(),
            evidence: evidence(&plan["evidence"]),
        });
        // Without plans it is an error, which the user sees.
        let steps = parse(case["text"].as_str().unwrap())
            .map_or(vec![], |read| read.steps)
            .into_iter()
            .map(Some)
            .eq(steps.map(Some));
        assert!(steps, "{case}: {:?}", parse(case["text"].as_str().unwrap()));
        seen += 1;
    }
    assert_eq!(seen, 10);
}

/// Reads a plan of which only the text is known.
fn parse(text: &str) -> Result<Plan, Unreadable> {
    toolyard::papers::plan::parse(text, &PlanTools::named(["f", "LLM"]))
}

/// Any shape: plans with none, one or several calls, the first perhaps without a text, evidence in any
/// numbering, inputs with brackets, quotes, lines and references of their own.
fn any_blueprint() -> impl Strategy<Value = Plan> {
    let input = prop::collection::vec(
        prop::sample::select(vec![
            "Acme",
            "city=\"Oslo\"",
            "[1, [2]]",
            "(a)",
            "it's",
            "#E1 ",
            "#E12",
            "5 ",
            "# ",
            "\nx = 1\n",
            "：",
            "\"]\"",
            "{\"a\": 1}",
            "a#1",
        ]),
        0..5,
    )
    .prop_map(|parts| parts.concat().trim().to_owned());
    let tool = prop::sample::select(vec!["Wikipedia", "web_search", "f", "Web Search", "a.b/c-d"]);
    let plan = ("([A-Za-z][a-z,.]{2,8} ){1,8}", prop::collection::vec((tool, input), 0..4));
    (prop::collection::vec(plan, 1..6), any::<bool>(), 1u32..30).prop_map(|(steps, bare, first)| {
        let mut next = first;
        let mut steps: Vec<PlanStep> = steps
            .into_iter()
            .map(|(text, calls)| {
                let evidence = |(tool, input): (&str, String)| {
                    next += 1;
                    Evidence { id: EvidenceId(next), tool: tool.into(), input }
                };
                let evidence = calls.into_iter().map(evidence).collect();
                PlanStep { text: text.trim().to_owned(), evidence }
            })
            .collect();
        if bare && !steps[0].evidence.is_empty() {
            steps[0].text.clear();
        }
        Plan { steps }
    })
}

/// The same plan, as some model dresses it up.
fn dressed(plan: &Plan, dress: usize) -> String {
    let (head, before, after) = [
        ("Plan:", "", ""),
        ("**Plan:**", "", ""),
        ("### Plan:", "`", "`"),
        ("1. **Plan**:", "   - ", "  (a note)"),
        ("- Plan 3:", "- **", "**"),
        ("> plan 2 -", "> ", " and so [on]"),
    ][dress];
    let mut text = String::from("Sure! Here it is.\n\n");
    for PlanStep { text: said, evidence } in &plan.steps {
        if !said.is_empty() {
            text.push_str(&format!("{head} {said}\n"));
        }
        for evidence in evidence {
            text.push_str(&format!("{before}{evidence}{after}\n"));
        }
        text.push('\n');
    }
    text + "That should do it.\n"
}

/// Which evidence stands under which plan of a worklog, by its lines alone.
fn under_plans(log: &str) -> Vec<(String, Vec<String>)> {
    let mut steps: Vec<(String, Vec<String>)> = Vec::new();
    for line in log.lines() {
        if let Some(text) = line.strip_prefix("Plan:") {
            steps.push((text.trim().to_owned(), Vec::new()));
        } else if let Some(result) = line.strip_prefix("  got ") {
            steps.last_mut().unwrap().1.push(result.to_owned());
        }
    }
    steps
}

/// Pieces of which planners' texts, and texts made to break readers, consist.
fn soup() -> impl Strategy<Value = String> {
    let pieces = vec![
        "Plan:",
        "Plan",
        "#E1",
        "#E2 = ",
        "#E3 = f[",
        "E4: g(",
        "]",
        ")",
        "[",
        "\n",
        "\n\n",
        "\r\n",
        "**",
        "`",
        "```",
        "#",
        "1. ",
        "- ",
        "\"",
        "'",
        "\\",
        "text",
        " ",
        "＃E5＝",
        "【",
        "】",
        "{\"plans\":",
        "[{",
        "}]",
        "}",
        "\"text\": \"a\"",
        "é",
        "null",
        "#99999999999",
        "=",
        "：",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back_in_every_dress(plan in any_blueprint(), dress in 0usize..6) {
        prop_assert_eq!(&parse(&plan.to_string()).unwrap(), &plan);
        prop_assert_eq!(&parse(&dressed(&plan, dress)).unwrap(), &plan);
        let windows = dressed(&plan, dress).replace('\n', "\r\n");
        prop_assert_eq!(&parse(&windows).unwrap(), &plan);
        let json = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(&parse(&json).unwrap(), &plan);
        prop_assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), plan);
    }

    #[test]
    fn all_evidence_reaches_the_solver_once_and_under_its_own_plan(
        plan in any_blueprint(), dress in 0usize..6,
    ) {
        let right: Vec<(String, Vec<String>)> = plan.steps.iter()
            .map(|plan| (plan.text.clone(), plan.evidence.iter().map(|e| e.id.to_string()).collect()))
            .collect();
        let read = parse(&dressed(&plan, dress)).unwrap();
        let results: Vec<(EvidenceId, String)> =
            read.evidence().map(|e| (e.id, format!("got {}", e.id))).collect();
        let result = |id| results.iter().find(|(own, _)| *own == id).map(|(_, text)| text.as_str());
        prop_assert_eq!(under_plans(&read.worklog(result)), right);
    }

    #[test]
    fn everything_runs_once_in_an_order_that_its_needs_allow(plan in any_blueprint()) {
        let tools = ["Wikipedia", "web_search", "f", "Web Search", "a.b/c-d"].map(ToolName::from);
        let sound = plan::check(&plan, tools.iter()).is_ok();
        let mut done = BTreeSet::new();
        loop {
            let ready = plan::ready(&plan, &done);
            if ready.is_empty() {
                break;
            }
            done.extend(ready);
        }
        let all: BTreeSet<EvidenceId> = plan.evidence().map(|e| e.id).collect();
        prop_assert!(!sound || done == all);
        if sound {
            let path = plan::critical_path(&plan, |_| 1);
            prop_assert_eq!(path.len(), plan::levels(&plan).len());
            prop_assert_eq!(plan::levels(&plan).concat().len(), all.len());
        }
    }

    #[test]
    fn nothing_that_is_written_breaks_the_reader(text in soup(), other in "\\PC{0,200}") {
        for text in [text, other] {
            let Ok(plan) = parse(&text) else { continue };
            _ = plan::check(&plan, [ToolName::from("f")].iter());
            plan::levels(&plan);
            plan::critical_path(&plan, |id| u64::from(id.0));
            plan.worklog(|_| None);
            let json = serde_json::to_string(&plan).unwrap();
            prop_assert_eq!(parse(&json).unwrap(), plan);
        }
    }
}

/// Reading takes time in proportion to the length. A reader that went over the rest once for each piece
/// would need minutes for these parts of what is accepted, so that a slow machine is no matter.
#[test]
fn long_and_nasty_texts_are_read_in_a_moment() {
    let pieces = [
        "#",
        "#E",
        "#E1",
        "#E1 = f",
        "#E1 = f[",
        "#E1 = f[]",
        "#E1 = f[\n",
        "#E1 = f[\"] ",
        "#E1 = f['a ] ",
        "[",
        "]",
        "* ",
        "*",
        "- ",
        "1. ",
        "Plan: ",
        "Plan:\n",
        "Plan",
        "`",
        "```\n",
        "'a ",
        "\"",
        "\\\"",
        "{",
        "[{",
        "\n",
        "é",
        "{\"plans\": ",
        "#E1 = aaaaaaaaaaaaaaaa ",
        "＃E1",
        "_ ",
    ];
    for begin in ["", "Plan: a\n", "#E1 = f[", "#E1 = f['", "#E1 = f[#E2 "] {
        for piece in pieces {
            let count = LONGEST / 8 / piece.len();
            let text = format!("{begin}{}", piece.repeat(count));
            let start = Instant::now();
            if let Ok(plan) = parse(&text) {
                _ = plan::check(&plan, [ToolName::from("f")].iter());
            }
            let took = start.elapsed();
            assert!(took.as_secs() < 5, "{begin:?} and {count} times {piece:?} took {took:?}");
        }
    }
}

#[test]
fn what_looks_like_a_call_below_an_input_belongs_to_the_input() {
    let plan = "Plan: look it up\nTool: f\n  Input: the docs say\n    LLM[who is it?]\nPlan: answer\n#E2 = LLM[#E1]\n";
    let read = parse(plan).unwrap();
    let calls: Vec<_> = read.steps.iter().flat_map(|step| &step.evidence).collect();
    let calls: Vec<_> =
        calls.iter().map(|call| (call.tool.as_str(), call.input.as_str())).collect();
    assert_eq!(calls, [("f", "the docs say\nLLM[who is it?]"), ("LLM", "#E1")]);
    // A fence that is not closed ends with the next call.
    let open = "Plan: look\nTool: f\nInput:\n```\nwho is it?\n#E2 = LLM[#E1]\n";
    let read = parse(open).unwrap();
    let calls: Vec<_> = read.steps.iter().flat_map(|step| &step.evidence).collect();
    let inputs: Vec<_> = calls.iter().map(|call| call.input.as_str()).collect();
    assert_eq!(inputs, ["who is it?", "#E1"]);
    let read = parse("Plan: look it up\nTool:\n    f[who is it?]\n").unwrap();
    assert_eq!(read.steps[0].evidence[0].input, "who is it?");
}
