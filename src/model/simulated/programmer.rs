//! The programmer: a program from the reference chain.

use serde_json::Value;

use crate::domain::{ChainStep, Task};

/// A program that makes the calls of the chain as far as their arguments are known before the first one, and prints
/// what the last of them returns. Tools that answer in sentences give a program no values to go on with.
pub(super) fn write(chain: Option<&Task>) -> String {
    let steps = chain.map_or(&[][..], |task| &task.chain);
    let known = steps.iter().enumerate().take_while(|(i, step)| is_known(step, &steps[..*i]));
    let mut lines: Vec<String> = known.filter_map(|(i, step)| line(i + 1, step)).collect();
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

fn line(number: usize, step: &ChainStep) -> Option<String> {
    let tool = step.tools.first()?;
    let arguments = step.arguments.as_object().into_iter().flatten();
    let arguments: Vec<String> =
        arguments.map(|(name, value)| format!("{name}={}", literal(value))).collect();
    Some(format!("r{number} = {tool}({})", arguments.join(", ")))
}

/// A JSON value as Python writes it.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key:?}: {}", literal(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Value::Number(_) | Value::String(_) => value.to_string(),
    }
}
