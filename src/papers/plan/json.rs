//! The structured form, for models with native structured output.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{MOST, Unreadable, parse::spelled};
use crate::domain::{Evidence, EvidenceId, Plan, PlanStep, words};

/// Characters up to which an error is shown.
const SHOWN: usize = 300;

/// The JSON Schema of a plan that calls these tools, as narrow as endpoints accept: all fields
/// required, no others allowed, no bounds (which strict endpoints refuse). [`parse_json`] checks
/// the bounds.
pub fn schema<'t>(tools: impl IntoIterator<Item = &'t str>) -> Value {
    let tools: Vec<&str> = tools.into_iter().collect();
    let text = |description: &str| json!({"type": "string", "description": description});
    let mut tool = text("the tool that is called");
    // An empty list of choices is not a valid schema.
    if !tools.is_empty() {
        tool["enum"] = json!(tools);
    }
    let evidence = object(json!({
        "id": text("E1, E2, … in order, each once"),
        "tool": tool,
        "input": text("the tool's input: its only argument, or all as JSON; may name other evidence as #E1"),
    }));
    let step = object(json!({
        "text": text("what is to be done in this step"),
        "evidence": {"type": "array", "description": "the calls of this step", "items": evidence},
    }));
    object(json!({"plans": {"type": "array", "items": step}}))
}

fn object(properties: Value) -> Value {
    let names: Vec<&String> =
        properties.as_object().into_iter().flat_map(|all| all.keys()).collect();
    json!({
        "type": "object",
        "required": names,
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Reads the structured form. Also accepts the output of models that are not held to the schema: a
/// bare list of plans, `plan` for `text`, arguments as an object.
///
/// # Errors
/// Where it is something else, too large or without plans.
pub fn parse_json(text: &str) -> Result<Plan, Unreadable> {
    if text.len() > super::LONGEST {
        return Err(Unreadable::TooLong { bytes: text.len() });
    }
    from_value(serde_json::from_str(text).map_err(refused)?)
}

pub(super) fn from_value(value: Value) -> Result<Plan, Unreadable> {
    let value = if value.is_array() { json!({ "plans": value }) } else { value };
    let written: Written = serde_path_to_error::deserialize(value).map_err(refused)?;
    let steps: Vec<PlanStep> = written.steps.into_iter().map(PlanStep::from).collect();
    if steps.len() > MOST {
        return Err(Unreadable::TooMany { what: "plans" });
    }
    if steps.iter().map(|step| step.evidence.len()).sum::<usize>() > MOST {
        return Err(Unreadable::TooMany { what: "calls" });
    }
    if steps.iter().all(|step| step.text.is_empty() && step.evidence.is_empty()) {
        return Err(Unreadable::NoPlan);
    }
    Ok(spelled(Plan { steps }))
}

fn refused(error: impl std::fmt::Display) -> Unreadable {
    Unreadable::Json { why: words::clipped(&error.to_string(), SHOWN) }
}

#[derive(Deserialize)]
struct Written {
    #[serde(rename = "plans", alias = "plan", alias = "steps")]
    steps: Vec<WrittenPlan>,
}

#[derive(Deserialize)]
struct WrittenPlan {
    #[serde(default, alias = "plan", alias = "description")]
    text: String,
    #[serde(default, alias = "calls")]
    evidence: Vec<WrittenEvidence>,
}

#[derive(Deserialize)]
struct WrittenEvidence {
    id: EvidenceId,
    tool: String,
    #[serde(default, alias = "arguments", alias = "args")]
    input: Value,
}

impl From<WrittenPlan> for PlanStep {
    /// On one line, as in the text form.
    fn from(step: WrittenPlan) -> Self {
        let words: Vec<&str> = step.text.split_whitespace().collect();
        let evidence = step.evidence.into_iter().map(Evidence::from).collect();
        Self { text: words.join(" "), evidence }
    }
}

impl From<WrittenEvidence> for Evidence {
    fn from(evidence: WrittenEvidence) -> Self {
        let input = match evidence.input {
            Value::Null => String::new(),
            Value::String(text) => text.trim().to_owned(),
            other => other.to_string(),
        };
        Self { id: evidence.id, tool: evidence.tool.trim().to_owned(), input }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_schema_takes_is_read_and_its_choices_are_the_tools() {
        let schema = schema(["Wikipedia", "Calculator"]);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let step = |tool: &str| json!({"plans": [{"text": "a", "evidence": [{"id": "E1", "tool": tool, "input": "x"}]}]});
        assert!(validator.is_valid(&step("Calculator")));
        assert!(!validator.is_valid(&step("Google")));
        assert!(!validator.is_valid(&json!({"plans": [{"text": "a"}]})));
        let plan = parse_json(&step("Calculator").to_string()).unwrap();
        assert_eq!(serde_json::to_value(&plan.steps).unwrap(), step("Calculator")["plans"]);
        assert!(super::schema([])["properties"]["plans"]["items"].is_object());
    }
}
