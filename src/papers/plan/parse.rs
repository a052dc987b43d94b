//! Reads a planner's output, as text or as JSON.

use std::collections::BTreeSet;

use super::{json, text};
use crate::domain::{EvidenceId, Plan, arguments, plan};

/// Bytes of the longest text that is accepted. Plans have a few lines.
pub const LONGEST: usize = 128 * 1024;
/// The most plans, and the most calls, of one plan.
pub const MOST: usize = 256;

/// Why a text contains no plan. The text is for people, and models can act on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error(
        "it contains no plan; write each plan as a line `Plan: what to do`, and each call for it on \
         a line of its own below, as `#E1 = Tool[input]`"
    )]
    NoPlan,
    #[error("it has {bytes} bytes, and {LONGEST} are allowed; write fewer and shorter plans")]
    TooLong { bytes: usize },
    /// `what` is `plans` or `calls`.
    #[error("it has more than {MOST} {what}; write fewer")]
    TooMany { what: &'static str },
    #[error("the bracket of {id} is never closed in {line:?}; write it as `#{id} = Tool[input]`")]
    Unclosed { id: EvidenceId, line: String },
    #[error("no tool is called in {line:?}; write it as `#{id} = Tool[input]`")]
    NoCall { id: EvidenceId, line: String },
    #[error("it is not a plan in JSON: {why}")]
    Json { why: String },
}

/// Reads a planner's answer: the text form in any decoration, or JSON, also in a fence or after a
/// preface. [`Plan::check`] decides whether its tools and references make sense.
///
/// # Errors
/// Where it contains no plan or an unreadable call, or is too large.
pub fn parse(text: &str) -> Result<Plan, Unreadable> {
    if text.len() > LONGEST {
        return Err(Unreadable::TooLong { bytes: text.len() });
    }
    // Plans inside the model's reasoning are not meant.
    let text = text.rsplit_once("</think>").map_or(text, |(_, said)| said);
    let bare = arguments::unfenced(text);
    if bare.starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(bare).is_ok() {
        return json::parse_json(bare);
    }
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let plan = text::read(&lines)?;
    if !plan.steps.is_empty() {
        return Ok(spelled(plan));
    }
    match text.find('{').and_then(|at| arguments::json(&text[at..])) {
        Some(value) => json::from_value(value),
        None if bare.starts_with('{') => json::parse_json(bare),
        None => Err(Unreadable::NoPlan),
    }
}

/// The same with all references in one spelling.
pub(super) fn spelled(mut plan: Plan) -> Plan {
    let mut before = BTreeSet::new();
    let all = plan.steps.iter_mut().flat_map(|step| &mut step.evidence);
    for evidence in all {
        evidence.input = plan::spelled(&evidence.input, &before);
        before.insert(evidence.id);
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plans as `text|E1 tool input|…`.
    fn shape(text: &str) -> Vec<String> {
        let shape = |step: &plan::PlanStep| {
            let calls = step.evidence.iter().map(|e| format!("|{} {} {}", e.id, e.tool, e.input));
            step.text.clone() + &calls.collect::<String>()
        };
        parse(text).unwrap_or_else(|why| panic!("{text}: {why}")).steps.iter().map(shape).collect()
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
    fn what_is_wrong_is_said_with_what_to_write() {
        let said = |text: &str| parse(text).unwrap_err().to_string();
        let format = "write each plan as a line `Plan: what to do`";
        for text in ["", "I would simply answer: 42.", "No {braces} here", "```\n```"] {
            assert!(said(text).contains(format), "{text}: {}", said(text));
        }
        for (text, right) in [
            ("Plan: a\n#E1 = f[cut o", "the bracket of E1 is never closed in \"#E1 = f[cut o\""),
            ("Plan: a\n#E1 = f[x\n#E2 = g[y]]", "the bracket of E1 is never closed"),
            (
                "Plan: a\n#E1 = look it up!",
                "no tool is called in \"#E1 = look it up!\"; write it as `#E1 = T",
            ),
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
        let many = format!("Plan: a\n{}", "#E1 = f[x]\n".repeat(MOST + 1));
        assert_eq!(said(&many), "it has more than 256 calls; write fewer");
        assert!(said(&"Plan: a\n".repeat(MOST + 1)).contains("more than 256 plans"));
        assert!(said(&"x".repeat(LONGEST + 1)).contains("are allowed"));
        let many = format!("{{\"plans\": [{}{{}}]}}", "{\"text\": \"a\"},".repeat(MOST + 1));
        assert!(said(&many).contains("more than 256 plans"));
    }
}
