//! The output of a planner: plans, and under each the calls that gather evidence for it. ReWOO
//! calls the whole a blueprint (Xu et al. 2023).
//!
//! ```text
//! Plan: Ask both encyclopedias how high the mountain is.
//! #E1 = Wikipedia[Mount Elbrus]
//! #E2 = Google[height of Mount Elbrus]
//! Plan: Convert the height.
//! #E3 = Calculator[#E1 in feet]
//! ```
//!
//! Evidence belongs to the plan that it follows and is stored only there. So no list has to be
//! matched with another by position, which loses evidence as soon as a plan has two pieces.
//!
//! This module contains all that needs no I/O: parsing (`papers::plan::parse`), checking (`papers::plan::check`), the
//! order of calls (`papers::plan::ready`), the arguments of a call ([`Evidence::arguments`]), and the
//! solver's input ([`Plan::worklog`]).

mod id;
mod reference;

use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::{
    id::DIGITS,
    reference::{spelled, unnamed},
};
pub use self::{
    id::EvidenceId,
    reference::{references, substitute},
};
use crate::arguments;

/// Replaces empty or missing evidence, in inputs and for the solver.
pub const NULL: &str = "null";

/// The planner's whole output. It may request no calls at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub steps: Vec<PlanStep>,
}

/// Step of a plan, together with the calls made for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The instruction, one line as `papers::plan::parse` reads it. Empty for evidence that follows no plan.
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// Call of a plan, and the name by which others use its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    pub id: EvidenceId,
    /// As the planner wrote it; `papers::plan::resolve` finds the tool.
    pub tool: String,
    /// As written between the brackets; may name other evidence, always as `#E1`.
    pub input: String,
}

impl Plan {
    /// All evidence, in written order.
    pub fn evidence(&self) -> impl Iterator<Item = &Evidence> {
        self.steps.iter().flat_map(|step| &step.evidence)
    }

    /// The evidence of this name; the first of duplicates.
    pub fn get(&self, id: EvidenceId) -> Option<&Evidence> {
        self.evidence().find(|evidence| evidence.id == id)
    }

    /// The plans with all their evidence, for the solver: under each call its result, or [`NULL`]
    /// where `result` has none. Lines of results are indented, so that no result can pass for a
    /// plan.
    pub fn worklog<'r>(&self, mut result: impl FnMut(EvidenceId) -> Option<&'r str>) -> String {
        let mut log = String::new();
        for step in &self.steps {
            push_step(&mut log, step);
            for evidence in &step.evidence {
                log.push_str(&evidence.to_string());
                for line in result(evidence.id).unwrap_or(NULL).lines() {
                    log.push_str("\n  ");
                    log.push_str(line);
                }
                log.push('\n');
            }
        }
        log
    }
}

fn push_step(text: &mut String, step: &PlanStep) {
    text.push_str("Plan:");
    if !step.text.is_empty() {
        text.push(' ');
        text.push_str(&step.text);
    }
    text.push('\n');
}

impl Evidence {
    /// The arguments of the call, for a tool whose arguments have this schema; `text` is the text of
    /// the evidence that the input names.
    ///
    /// If possible, the input is parsed before evidence is inserted: a quote or a comma in a result
    /// must not end an argument, and a result must not be able to add one. An argument that is
    /// exactly one piece of evidence takes the schema's type.
    pub fn arguments(&self, schema: &Value, mut text: impl FnMut(EvidenceId) -> String) -> Value {
        match arguments::read(&self.input, schema) {
            Value::Object(mut fields) => {
                for (name, value) in &mut fields {
                    fill(value, &schema["properties"][name], &mut text);
                }
                Value::Object(fields)
            }
            // It is not JSON before evidence is inserted, such as `{"days": #E1}`.
            _ => arguments::read(&substitute(&self.input, text), schema),
        }
    }
}

fn fill(value: &mut Value, schema: &Value, text: &mut impl FnMut(EvidenceId) -> String) {
    match value {
        Value::String(input) => {
            let whole = input.parse::<EvidenceId>().ok().filter(|id| *input == id.mark());
            *value = match whole.filter(|_| !arguments::is_text(schema)) {
                Some(id) => arguments::value(&text(id), schema),
                None => Value::String(substitute(input, text)),
            };
        }
        Value::Array(list) => {
            list.iter_mut().for_each(|value| fill(value, &schema["items"], text));
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                fill(value, &schema["properties"][name], text);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text form that a model has to write; `papers::plan::parse` reads it back if plans are one line and
/// brackets in inputs come in pairs.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        for step in &self.steps {
            push_step(&mut text, step);
            for evidence in &step.evidence {
                writeln!(text, "{evidence}")?;
            }
        }
        f.write_str(&text)
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} = {}[{}]", self.id, self.tool, self.input)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(input: &str) -> Evidence {
        Evidence { id: EvidenceId(9), tool: "weather".into(), input: input.into() }
    }

    #[test]
    fn results_cannot_change_the_shape_of_a_call() {
        let schema = json!({"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "integer"}}},
            "required": ["city", "days"]});
        let text = |id: EvidenceId| match id.0 {
            1 => "Ky\"oto\", days=99".to_owned(),
            4 => "\"quoted\"".to_owned(),
            _ => "3".to_owned(),
        };
        let city = "Ky\"oto\", days=99";
        for (input, right) in [
            ("city=#E1, days=#E2", json!({"city": city, "days": 3})),
            ("{\"city\": \"#E1\", \"days\": 2}", json!({"city": city, "days": 2})),
            ("{\"city\": \"x\", \"days\": #E2}", json!({"city": "x", "days": 3})),
            ("city=to #E2, days=2", json!({"city": "to 3", "days": 2})),
            ("{\"city\": \"#E2\", \"tags\": [\"#E2\", 1]}", json!({"city": "3", "tags": [3, 1]})),
            ("of #E2", json!("of 3")),
        ] {
            assert_eq!(one(input).arguments(&schema, text), right, "{input}");
        }
        let single = json!({"properties": {"query": {"type": "string"}}});
        assert_eq!(one("#E1").arguments(&single, text), json!({"query": city}));
        assert_eq!(one("#E4").arguments(&single, text), json!({"query": "\"quoted\""}));
    }
}
