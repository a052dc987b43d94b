//! The programmer: a program from the reference chain.

use crate::domain::{ChainStep, Task, ToolName};
use crate::papers::atc::literal::literal;

/// A program that makes the calls of the chain as far as their arguments are known before the first one and a function
/// is offered for them, and prints what the last of them returns. Tools that answer in sentences give a program no
/// values to go on with.
pub(super) fn write(chain: Option<&Task>, account: &str) -> String {
    let steps = chain.map_or(&[][..], |task| &task.chain);
    let known = steps.iter().enumerate().take_while(|(i, step)| is_known(step, &steps[..*i]));
    let mut lines: Vec<String> = known.map_while(|(i, step)| line(i + 1, step, account)).collect();
    let last = lines.len();
    lines.push(if last == 0 { "print(\"unknown\")".to_owned() } else { format!("print(r{last})") });
    format!("```python\n{}\n```", lines.join("\n"))
}

/// Whether no argument holds what an earlier step finds.
fn is_known(step: &ChainStep, before: &[ChainStep]) -> bool {
    let arguments = step.arguments.to_string();
    let mut found = before.iter().filter_map(|step| step.finds.as_deref());
    !found.any(|found| arguments.contains(found))
}

/// The call of the most usual tool that is offered for a step.
fn line(number: usize, step: &ChainStep, account: &str) -> Option<String> {
    let is_offered = |tool: &&ToolName| account.contains(&format!("\ndef {tool}("));
    let tool = step.tools.iter().find(is_offered)?;
    let arguments = step.arguments.as_object().into_iter().flatten();
    let arguments: Vec<String> =
        arguments.map(|(name, value)| format!("{name}={}", literal(value))).collect();
    Some(format!("r{number} = {tool}({})", arguments.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn it_calls_only_what_is_offered_and_what_it_can_know() {
        let step = |tools: &[&str], arguments: Value, finds: &str| ChainStep {
            tools: tools.iter().map(|tool| ToolName::from(*tool)).collect(),
            arguments,
            finds: Some(finds.to_owned()),
        };
        let chain = vec![
            step(&["web", "archive"], json!({"q": "the \"Dusk\"", "n": null}), "Orsino"),
            step(&["people"], json!({"name": "Orsino"}), "Nightwell"),
        ];
        let task = Task { chain, ..Task::from_text("Where?") };
        let functions =
            "Functions:\n\ndef archive(q: str):\n    \"\"\"\"\"\"\n\ndef people(name: str):\n";
        let written = write(Some(&task), functions);
        assert_eq!(
            written,
            "```python\nr1 = archive(q=\"the \\\"Dusk\\\"\", n=None)\nprint(r1)\n```"
        );
        assert_eq!(write(Some(&task), "Functions:\n\n"), "```python\nprint(\"unknown\")\n```");
    }
}
