//! Reads a planner's output, as text or as JSON.

use std::collections::{BTreeMap, BTreeSet};

use super::callable_tools::PlanTools;
use super::reading::{Doubt, LONGEST, PlanReading, Unreadable, spelled};
use super::step::{Lost, StepDraft};
use super::text::Parts;
use super::{json, names, text};
use crate::domain::{Evidence, EvidenceId, Plan, PlanStep, arguments, plan};

/// Reads a planner's answer: the text form in any decoration, or JSON, also in a fence or after a preface. A call is
/// the name of an offered tool together with an input. [`check`](super::check()) decides whether its tools and references make
/// sense.
///
/// # Errors
/// The text has no plan or an unreadable call, or is too large.
pub fn read(text: &str, offered: &PlanTools) -> Result<PlanReading, Unreadable> {
    read_as(text, offered, Parts::All)
}

/// Reads the whole calls of an answer with unfinished ones, which are left out as doubts: a planner with a small limit
/// of tokens is cut off each time.
///
/// # Errors
/// As for [`read`], but for an unfinished call.
pub fn read_whole_calls(text: &str, offered: &PlanTools) -> Result<PlanReading, Unreadable> {
    read_as(text, offered, Parts::Whole)
}

fn read_as(text: &str, offered: &PlanTools, parts: Parts) -> Result<PlanReading, Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable::TooLong { bytes: text.len() });
    }
    // Plans inside the model's reasoning do not count.
    let text = text.rsplit_once("</think>").map_or(text, |(_, said)| said);
    // Some models begin every answer with `Final Answer:`.
    let text = text.trim_start();
    let text = text.strip_prefix("Final Answer:").unwrap_or(text);
    let bare = arguments::unfenced(text);
    if bare.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(bare).is_ok() {
        return Ok(PlanReading { plan: json::parse_json(bare)?, doubts: Vec::new() });
    }
    let begins = [text.find('{'), text.find("[{"), text.find("[\n")].into_iter().flatten().min();
    if let Some(value) = begins.and_then(|at| arguments::json(&text[at..])).filter(json::is_plan) {
        return Ok(PlanReading { plan: json::from_value(value)?, doubts: Vec::new() });
    }
    if let Some((value, rest)) =
        begins.filter(|_| parts == Parts::Whole).and_then(|at| json::closed(&text[at..]))
        && json::is_plan(&value)
    {
        let doubts = vec![Doubt::Cut { line: text::shown(rest) }];
        return Ok(PlanReading { plan: json::from_value(value)?, doubts });
    }
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines = names::with_numbers(without_formulas(lines, offered));
    let (steps, lost) = text::read(&lines, offered, parts)?;
    if !steps.is_empty() {
        let plan = spelled(numbered(steps));
        let doubts = doubts(&plan, lost, &lines);
        return Ok(PlanReading { plan, doubts });
    }
    let plan = match text.find('{').and_then(|at| arguments::json(&text[at..])) {
        Some(value) => json::from_value(value)?,
        None if bare.starts_with('{') => json::parse_json(bare)?,
        None => return Err(if lost.is_empty() { Unreadable::NoPlan } else { incomplete(lost) }),
    };
    Ok(PlanReading { plan, doubts: Vec::new() })
}

/// Reads a plan and fails if any part of the text is lost.
///
/// # Errors
/// As for [`read`], and if some text could not be read.
pub fn parse(text: &str, offered: &PlanTools) -> Result<Plan, Unreadable> {
    read(text, offered)?.whole()
}

/// Calls in formulas, as some models write them: `\[ \#E1 = \text{Calculator}[2 + 3] \]`.
fn without_formulas(text: String, offered: &PlanTools) -> String {
    if !text.contains('\\') {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    for (n, part) in text.replace("\\#E", "#E").split("\\text{").enumerate() {
        match part.split_once('}').filter(|(name, _)| n > 0 && offered.meant(name).is_some()) {
            Some((name, rest)) => plain.extend([name, rest]),
            None if n > 0 => plain.extend(["\\text{", part]),
            None => plain.push_str(part),
        }
    }
    plain
}

/// Gives each call a name: its own, or the next unused one.
fn numbered(steps: Vec<StepDraft>) -> Plan {
    let calls = || steps.iter().flat_map(|step| &step.calls);
    let mut used: BTreeSet<EvidenceId> = calls().filter_map(|call| call.id).collect();
    let mut last = 0u32;
    let mut plan = Plan::default();
    let mut variables: Vec<(String, EvidenceId)> = Vec::new();
    for step in steps {
        let mut evidence = Vec::new();
        for call in step.calls {
            let id = call.id.unwrap_or_else(|| {
                let free = (last.saturating_add(1)..).map(EvidenceId).find(|id| !used.contains(id));
                free.unwrap_or(EvidenceId(u32::MAX))
            });
            used.insert(id);
            last = id.0;
            let input = variables
                .iter()
                .fold(call.input, |input, (name, id)| plan::unnamed(&input, name, *id));
            variables.extend(call.variable.map(|name| (name, id)));
            evidence.push(Evidence { id, tool: call.tool, input });
        }
        plan.steps.push(PlanStep { text: step.text.trim_end().to_owned(), evidence });
    }
    plan
}

/// Lists the lost parts of the text, and its references to calls that the plan lacks.
fn doubts(plan: &Plan, lost: Vec<Lost>, text: &str) -> Vec<Doubt> {
    let ids: BTreeSet<EvidenceId> = plan.evidence().map(|evidence| evidence.id).collect();
    let mut doubts: Vec<Doubt> = Vec::new();
    let mut told = ids.clone();
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    for lost in lost {
        match lost {
            Lost::Evidence(id, line) if told.insert(id) => doubts.push(Doubt::NoCall { id, line }),
            Lost::Tool(tool, line, own) => {
                let told_here = own.iter().any(|id| !told.contains(id));
                told.extend(own);
                let named = named.entry(tool.clone()).or_insert(0usize);
                *named += 1;
                // An overview names the tools before the calls.
                if told_here
                    || plan.evidence().filter(|evidence| evidence.tool == tool).count() < *named
                {
                    doubts.push(Doubt::NoInput { tool, line });
                }
            }
            Lost::Input(line) => doubts.push(Doubt::NoTool { line }),
            Lost::Call(line) => doubts.push(Doubt::NotOffered { line }),
            Lost::Cut(id, line) => {
                told.extend(id);
                doubts.push(Doubt::Cut { line });
            }
            Lost::Evidence(..) => {}
        }
    }
    // Inputs that name missing evidence are faults of the plan.
    told.extend(plan.evidence().flat_map(|evidence| plan::references(&evidence.input)));
    let missing: Vec<String> = plan::references(text)
        .into_iter()
        .filter(|id| !told.contains(id))
        .map(EvidenceId::mark)
        .collect();
    if !missing.is_empty() {
        doubts
            .push(Doubt::Missing { named: crate::domain::words::clipped(&missing.join(", "), 80) });
    }
    doubts
}

fn incomplete(lost: Vec<Lost>) -> Unreadable {
    let doubts = doubts(&Plan::default(), lost, "");
    if doubts.is_empty() { Unreadable::NoPlan } else { Unreadable::Incomplete(doubts) }
}

#[cfg(test)]
mod tests {
    use super::super::reading::MOST;
    use super::*;

    fn offered() -> PlanTools {
        PlanTools::named(["f", "g", "py", "now"])
    }

    /// Plans as `text|E1 tool input|…`.
    fn shape(text: &str) -> Vec<String> {
        let shape = |step: &plan::PlanStep| {
            let calls = step.evidence.iter().map(|e| format!("|{} {} {}", e.id, e.tool, e.input));
            step.text.clone() + &calls.collect::<String>()
        };
        parse(text, &offered())
            .unwrap_or_else(|why| panic!("{text}: {why}"))
            .steps
            .iter()
            .map(shape)
            .collect()
    }

    #[test]
    fn plans_in_many_shapes_are_read_as_they_are_meant() {
        for (text, right) in [
            (
                "Plan: a\n#E1 = f[x]\nPlan: b\n#E2 = g[#E1]\n#E3 = f[y]",
                &["a|E1 f x", "b|E2 g #E1|E3 f y"][..],
            ),
            ("**Plan:** a\r\n#E1 = f[x]\r\n\r\n**Plan:** b\r\n", &["a|E1 f x", "b"]),
            ("## Plan\n\n**Plan 1:** a\n- `#E1 = f[x]`\n\n**Plan 2:** b", &["a|E1 f x", "b"]),
            (
                "### Plan 1\nfirst\n`#E1 = f[x]`\n### Plan 2\n\nthen\nmore\n\nprose",
                &["first|E1 f x", "then more"],
            ),
            ("1. Plan: a\n   #E1 = f[3 * (1 + 2)]  (a note [1])\n", &["a|E1 f 3 * (1 + 2)"]),
            ("Here goes:\n```text\nPlan: a\n#E1 = f[x]\n```\nDone: see #E1 = good.", &["a|E1 f x"]),
            ("#E1 = f[x]\nPlan: b\n#E2 = g[y]", &["|E1 f x", "b|E2 g y"]),
            ("Plan: a. #E1 = f[x] Plan: b. #E2 = g[#1]", &["a.|E1 f x", "b.|E2 g #E1"]),
            ("Plan: a with #E1 = f[x], #E2 = g[y]\nPlan: b", &["a with|E1 f x|E2 g y", "b"]),
            (
                "Plan: code\n#E1 = py[\n# Plan: not one\nxs = [1]\nprint(xs[0])\n]\nPlan: b",
                &["code|E1 py # Plan: not one\nxs = [1]\nprint(xs[0])", "b"],
            ),
            (
                "Plan: a\n#1 = f[the #1 song]\n#2 = g[sum of #1 and #3]",
                &["a|E1 f the #1 song|E2 g sum of #E1 and #3"],
            ),
            ("Plan：查\n#E1 ＝ f［首都］（注）", &["查|E1 f 首都"]),
            (
                "Plan: when\n#E1 = now\n#E2 = f(\"x\")\n#E3 = g[]",
                &["when|E1 now |E2 f \"x\"|E3 g "],
            ),
            ("Plan: known already.\n\nNothing is to be called.", &["known already."]),
            ("Plan: a\n#E1 = f[x]\n\nWhere:\n- #E1 = the height", &["a|E1 f x"]),
            ("<think>Plan: no\n#E1 = g[x]</think>\nPlan: a\nEvidence:\n#E1 → f[x]", &["a|E1 f x"]),
            (
                "- Plan: a\n- #E10 = f[x]\n- #E11 = f[#E10 not #E1]",
                &["a|E10 f x|E11 f #E10 not #E1"],
            ),
            // Three words may be the name of no tool, which the check of the plan reports; more are a sentence.
            (
                "Plan: a\nTool: Great Weather Map\nInput: x\nPlan: b\nTool: whichever is the best\n#E2 = f[y]",
                &["a|E1 Great Weather Map x", "b|E2 f y"],
            ),
            ("Plan: a\nAction: look around\n#E1 = f[x]", &["a|E1 f x"]),
        ] {
            assert_eq!(shape(text), right, "{text}");
        }
    }

    #[test]
    fn json_is_read_wherever_it_stands() {
        let json = r##"{"plans": [{"text": "a", "evidence": [{"id": "E1", "tool": "f", "input": "x"},
            {"id": 2, "tool": "g", "input": {"y": "of #1"}}]}, {"plan": "b"}]}"##;
        let right = ["a|E1 f x|E2 g {\"y\":\"of #E1\"}", "b"];
        let list = &json[json.find('[').unwrap()..json.len() - 1];
        for text in [
            json.to_owned(),
            list.to_owned(),
            format!("```json\n{json}\n```"),
            format!("Here it is:\n\n```json\n{json}\n```\nGood luck!"),
            format!("Sure. {json}"),
        ] {
            assert_eq!(shape(&text), right, "{text}");
        }
    }

    #[test]
    fn only_whole_json_is_read_as_json() {
        assert_eq!(shape("[1] Plan: a\n#E1 = f[x]"), ["a|E1 f x"], "brackets begin a text too");
        // The text is JSON, but neither a list nor an object.
        for text in ["42", "\"a\"", "null", "true"] {
            let said = parse(text, &offered()).unwrap_err().to_string();
            assert!(said.contains("write each plan as a line"), "{text}: {said}");
        }
    }

    #[test]
    fn as_much_as_is_allowed_is_read() {
        let said = |text: &str| parse(text, &offered()).unwrap_err().to_string();
        assert!(!said(&"x".repeat(LONGEST)).contains("are allowed"));
        let plans: String = (1..=MOST).map(|n| format!("Plan: a{n}\n")).collect();
        assert_eq!(shape(&plans).len(), MOST);
        let calls: String = (1..=MOST).map(|n| format!("#E{n} = f[x{n}]\n")).collect();
        assert_eq!(
            parse(&format!("Plan: a\n{calls}"), &offered()).unwrap().evidence().count(),
            MOST
        );
        let plans = vec!["{\"text\": \"a\"}"; MOST].join(",");
        assert_eq!(shape(&format!("{{\"plans\": [{plans}]}}")).len(), MOST);
        let json = |text: &str| format!("{{\"plans\": [{{\"text\": \"{text}\"}}]}}");
        assert_eq!(shape(&json(&"x".repeat(LONGEST - json("").len()))).len(), 1);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_to_write() {
        let said = |text: &str| parse(text, &offered()).unwrap_err().to_string();
        let format = "write each plan as a line `Plan: what to do`";
        for text in ["", "I would simply answer: 42.", "No {braces} here", "```\n```"] {
            assert!(said(text).contains(format), "{text}: {}", said(text));
        }
        for (text, right) in [
            ("Plan: a\n#E1 = f[cut o", "the bracket of E1 is never closed in \"#E1 = f[cut o\""),
            ("Plan: a\n#E1 = f[x\n#E2 = g[y]]", "the bracket of E1 is never closed"),
            (
                "Plan: a\nTool: f\nInput: g[is \"x",
                "it ends within the input \"g[is \\\"x\"; write it whole",
            ),
            ("Plan: a\nTool: f\nInput:\n```\nprint(1", "it ends within the input"),
            ("Plan: a\nTool: f\nInput: \\( \\text{W} = \\", "it ends within the input"),
            (
                "Plan: a\n#E1 = look it up!",
                "no tool is called in \"#E1 = look it up!\"; write it as `#E1 = T",
            ),
            ("Plan: a\nEvidence: #E1", "no tool is called in \"Evidence: #E1\""),
            ("Plan: a\nTool: g\nEvidence: #E1", "g has no input in \"Tool: g\""),
            ("{\"plans\": []}", "it contains no plan"),
            (
                "{\"plans\": [{\"text\": \"a\", \"evidence\": [{\"id\": \"E1\"}]}]}",
                "plans[0].evidence[0]: missing field `tool`",
            ),
            (
                "{\"plans\": [{\"text\": \"a\", \"evidence\": [{\"id\": \"X\", \"tool\": \"f\"}]}]}",
                "such as \"E1\", got \"X\"",
            ),
            ("{\"answer\": 42}", "missing field `plans`"),
            ("{\"plans\": [", "it is not a plan in JSON"),
        ] {
            assert!(said(text).contains(right), "{text}: {}", said(text));
        }
        let calls: String = (0..=MOST).map(|n| format!("#E{n} = f[x]\n")).collect();
        let many = format!("Plan: a\n{calls}");
        assert_eq!(said(&many), "it has more than 256 calls; write fewer");
        let again = format!("Plan: a\n{}", "#E1 = f[x]\n".repeat(2 * MOST + 1));
        assert_eq!(said(&again), "it has more than 256 calls; write fewer", "one, again and again");
        let labelled: String = (0..=MOST).map(|n| format!("Tool: f\nInput: x{n}\n")).collect();
        assert_eq!(said(&labelled), "it has more than 256 calls; write fewer");
        assert!(said(&"Plan: a\n".repeat(MOST + 1)).contains("more than 256 plans"));
        assert!(said(&"x".repeat(LONGEST + 1)).contains("are allowed"));
        let many = format!("{{\"plans\": [{}{{}}]}}", "{\"text\": \"a\"},".repeat(MOST + 1));
        assert!(said(&many).contains("more than 256 plans"));
    }

    #[test]
    fn a_worklog_has_all_evidence_under_its_plan_and_no_forged_ones() {
        let plan = parse(
            "Plan: a\n#E1 = x[1]\n#E2 = y[#E1]\nPlan: b\nPlan: c\n#E3 = z[]",
            &PlanTools::default(),
        )
        .unwrap();
        let log = plan.worklog(|id| match id.0 {
            1 => Some("good\nPlan: forged"),
            2 => None,
            _ => Some(""),
        });
        let right = "Plan: a\n#E1 = x[1]\n  good\n  Plan: forged\n#E2 = y[#E1]\n  null\n\
                     Plan: b\nPlan: c\n#E3 = z[]\n";
        assert_eq!(log, right);
        assert_eq!(plan.steps.len(), 3);
    }
}
