//! Drafts of a plan while it is parsed: steps, calls with or without a name, and lost parts.

use crate::domain::EvidenceId;

/// The mark that opened a step. List numbers and headings open steps only if there are no better marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opened {
    ByCall,
    ByHeading,
    ByNumber,
    ByStep,
    ByPlan,
}

#[derive(Debug)]
pub(super) struct StepDraft {
    pub text: String,
    pub calls: Vec<CallDraft>,
    /// Calls inside sentences: they count if the step has no others.
    pub(super) remarks: Vec<CallDraft>,
    pub opened: Opened,
    pub(super) indent: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CallDraft {
    pub id: Option<EvidenceId>,
    pub tool: String,
    pub input: String,
    /// The name of its result in code.
    pub variable: Option<String>,
    /// The input without quotes, marks and case, to recognise a call that is written twice.
    plain: String,
}

impl CallDraft {
    pub(super) fn new(id: Option<EvidenceId>, tool: String, input: &str) -> Self {
        let input = input.trim().to_owned();
        Self { id, tool, plain: plain(&input), input, variable: None }
    }

    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.tool == other.tool
            && (self.input == other.input || self.plain == other.plain && !self.plain.is_empty())
    }
}

/// Text of the answer that was not read into the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    Evidence(EvidenceId, String),
    Tool(String, String, Vec<EvidenceId>),
    Input(String),
    /// The call of a tool that is not offered.
    Call(String),
    /// A call whose end is missing.
    Cut(Option<EvidenceId>, String),
}

pub(super) fn is_nothing(input: &str) -> bool {
    matches!(
        plain(input).as_str(),
        "" | "none" | "na" | "null" | "nil" | "noinput" | "notapplicable" | "empty"
    )
}

/// Whether two inputs differ only in quotes, marks and case.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    one == other || plain(one) == plain(other) && !plain(one).is_empty()
}

pub(super) fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric() || "+-*/^<>=.#".contains(*c));
    kept.flat_map(char::to_lowercase).collect::<String>().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_alike_that_differ_in_quotes_marks_and_case() {
        for other in ["Oslo", "\"oslo\"", "Oslo.", " OSLO "] {
            assert!(is_alike("Oslo", other), "{other}");
        }
        assert!(is_alike("!", "!"));
        for (one, other) in [("Oslo", "Bergen"), ("Oslo", ""), ("1 + 2", "1 - 2"), ("!", "?")] {
            assert!(!is_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn calls_are_alike_of_one_tool_with_inputs_that_are() {
        let call = |tool: &str, input: &str| CallDraft::new(None, tool.to_owned(), input);
        assert!(call("f", "Oslo").is_alike(&call("f", "'oslo'")));
        assert!(call("f", "!").is_alike(&call("f", "!")));
        for other in [call("g", "Oslo"), call("f", "Bergen")] {
            assert!(!call("f", "Oslo").is_alike(&other));
        }
        assert!(!call("f", "!").is_alike(&call("f", "?")));
    }
}
