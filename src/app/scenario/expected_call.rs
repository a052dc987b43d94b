//! Calls that an expectation names: all calls of a tool, or only those with certain arguments.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::ToolName;
use crate::domain::chance::canonical;
use crate::domain::words::{clipped, counted};
use crate::files::toml_file::TomlField;

/// The most characters that are shown of arguments.
const SHOWN: usize = 120;

/// Calls of a tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ExpectedCall {
    Tool(ToolName),
    /// Only the calls that have these values in their arguments, among others.
    With {
        tool: ToolName,
        args: Map<String, Value>,
    },
}

impl ExpectedCall {
    /// Reads the name of a tool, or a table with the name and arguments.
    pub(super) fn read(field: &TomlField<'_>) -> Option<Self> {
        const NAME: &str = "the name of a tool";
        if !field.is_table() {
            let expected = "the name of a tool, or { tool = \"NAME\", args = { … } }";
            return field.filled(expected).map(|name| Self::Tool(name.into()));
        }
        let mut fields = field.table()?;
        let tool = fields.need("tool", "tool = \"NAME\"").and_then(|tool| tool.filled(NAME));
        let advice = "args = { day = \"2026-12-04\" }, or only the tool's name in quotes";
        let args = fields.need("args", advice);
        fields.finish();
        let args = args.and_then(|args| match args.json()? {
            Value::Object(known) if !known.is_empty() => Some(known),
            _ => {
                args.wrong("a table with at least one argument, such as { day = \"2026-12-04\" }");
                None
            }
        });
        Some(Self::With { tool: tool?.into(), args: args? })
    }

    pub fn tool(&self) -> &ToolName {
        match self {
            Self::Tool(tool) | Self::With { tool, .. } => tool,
        }
    }
}

/// The tool, and the arguments if some are expected: `book_room {"room":"N12"}`.
impl fmt::Display for ExpectedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(tool) => write!(f, "{tool}"),
            Self::With { tool, args } => write!(f, "{tool} {}", canonical(&args.clone().into())),
        }
    }
}

/// The calls of a tool, compared with expected arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedCalls {
    /// Calls that have the arguments.
    pub calls: u64,
    /// The first call with the fewest differences: their number, and its arguments.
    nearest: Option<(usize, String)>,
}

impl ComparedCalls {
    /// Takes in the arguments of a call.
    pub(super) fn take(&mut self, expected: &Map<String, Value>, arguments: &Value) {
        let nothing = Map::new();
        let given = arguments.as_object().unwrap_or(&nothing);
        let differences = differences(expected, given);
        self.calls += u64::from(differences == 0);
        if self.nearest.as_ref().is_none_or(|(least, _)| differences < *least) {
            // The end may be cut, so the expected arguments come first.
            let (first, last): (Vec<_>, Vec<_>) =
                given.iter().partition(|(name, _)| expected.contains_key(*name));
            let sorted = first.into_iter().chain(last).map(|(name, it)| (name.clone(), it.clone()));
            let sorted = Value::Object(sorted.collect());
            let shown = if arguments.is_object() { &sorted } else { arguments };
            self.nearest = Some((differences, clipped(&shown.to_string(), SHOWN)));
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.calls += more.calls;
        let least = |of: &Self| of.nearest.as_ref().map_or(usize::MAX, |(least, _)| *least);
        if least(more) < least(self) {
            self.nearest.clone_from(&more.nearest);
        }
    }

    /// The number of such calls, with the arguments of one of them or of the nearest other call.
    pub(super) fn found(&self) -> String {
        match (&self.nearest, self.calls) {
            (None, _) => "the tool is not called".to_owned(),
            (Some((_, nearest)), 0) => format!("no such call; the nearest one has {nearest}"),
            (Some((_, first)), calls) => format!("{} with {first}", counted(calls, "call")),
        }
    }
}

/// How many of the expected values are missing or different. In nested tables only the expected names count.
fn differences(expected: &Map<String, Value>, given: &Map<String, Value>) -> usize {
    expected.iter().map(|(name, value)| differs(value, given.get(name))).sum()
}

fn differs(expected: &Value, given: Option<&Value>) -> usize {
    match (expected, given) {
        (Value::Object(expected), Some(Value::Object(given))) => differences(expected, given),
        (Value::Array(expected), Some(Value::Array(given))) if expected.len() == given.len() => {
            expected.iter().zip(given).map(|(one, other)| differs(one, Some(other))).sum()
        }
        // A model may write 100.0 for 100.
        (Value::Number(one), Some(Value::Number(other))) if one.is_f64() != other.is_f64() => {
            usize::from(one.as_f64() != other.as_f64())
        }
        _ => usize::from(given != Some(expected)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn expected_arguments_are_a_part_of_those_of_a_call() {
        let expected = json!({"day": "a", "n": 100, "of": {"x": [1, {"y": true}]}});
        for (given, differences) in [
            (json!({"more": 1, "day": "a", "n": 100, "of": {"x": [1, {"y": true}]}}), 0),
            (json!({"day": "a", "n": 100.0, "of": {"z": 0, "x": [1, {"y": true, "z": 2}]}}), 0),
            (json!({"day": "A", "n": "100", "of": {"x": [1, {"y": false}]}}), 3),
            (json!({"day": "a", "n": 101, "of": {"x": [1]}}), 2),
            (json!({"day": null, "of": null}), 3),
            (json!({}), 3),
        ] {
            let found = super::differences(&object(expected.clone()), &object(given.clone()));
            assert_eq!(found, differences, "{given}");
        }
    }

    #[test]
    fn the_nearest_call_is_shown_with_the_expected_arguments_first() {
        let expected = object(json!({"day": "4", "to": "BER"}));
        let mut compared = ComparedCalls::default();
        assert_eq!(compared.found(), "the tool is not called");
        compared.take(&expected, &json!("day 4"));
        assert_eq!(compared.found(), "no such call; the nearest one has \"day 4\"");
        let mut other = ComparedCalls::default();
        other.take(&expected, &json!({"class": "x".repeat(200), "to": "BER", "day": "3"}));
        compared.add(&other);
        let found = compared.found();
        let begins =
            "no such call; the nearest one has {\"to\":\"BER\",\"day\":\"3\",\"class\":\"xx";
        assert!(found.starts_with(begins) && found.ends_with("x…"), "{found}");
        compared.take(&expected, &json!({"day": "4", "to": "BER", "\n": "\u{1b}"}));
        let first = "{\"day\":\"4\",\"to\":\"BER\",\"\\n\":\"\\u001b\"}";
        assert_eq!(compared.found(), format!("1 call with {first}"));
        compared.take(&expected, &json!({"to": "BER", "day": "4"}));
        assert_eq!(compared.found(), format!("2 calls with {first}"));
    }

    #[test]
    fn an_expected_call_has_one_text_whatever_the_order_of_its_arguments() {
        let with = |args| ExpectedCall::With { tool: "a".into(), args: object(args) }.to_string();
        assert_eq!(with(json!({"y": 2, "x": 1})), "a {\"x\":1,\"y\":2}");
    }
}
