//! The texts for the reader. Training and queries use the same ones: the published code trains KAMEL and STQuestions
//! without the template of its queries.

use serde::{Deserialize, Serialize};

/// How a question is written for the query encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryTemplate {
    /// `Question: …\nAnswer: The answer is…`, of KAMEL and STQuestions. Also ours for any question.
    Knowledge,
    /// `… Let's think step by step.…`, of GSM8K-XL.
    StepByStep,
    /// `Q: …\nA: …`, of FuncQA.
    Short,
}

impl QueryTemplate {
    /// The text of a question and the answer so far, to which the reader appends END.
    pub fn text(self, question: &str, answer: &str) -> String {
        match self {
            Self::Knowledge => format!("Question: {question}\nAnswer: The answer is{answer}"),
            Self::StepByStep => format!("{question} Let's think step by step.{answer}"),
            Self::Short => format!("Q: {question}\nA: {answer}"),
        }
    }
}

/// The text of a tool, to which the reader appends END. The description may be empty.
pub fn tool_text(name: &str, description: &str) -> String {
    if description.is_empty() {
        format!("tool name: {name}")
    } else {
        format!("tool name: {name}, tool description: {description}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_paper() {
        for (template, right) in [
            (QueryTemplate::Knowledge, "Question: Who?\nAnswer: The answer is it"),
            (QueryTemplate::StepByStep, "Who? Let's think step by step. it"),
            (QueryTemplate::Short, "Q: Who?\nA:  it"),
        ] {
            assert_eq!(template.text("Who?", " it"), right);
        }
        assert_eq!(tool_text("add", "Adds."), "tool name: add, tool description: Adds.");
        assert_eq!(tool_text("add", ""), "tool name: add");
    }
}
