//! Checks a call's arguments against the tool's schema. Its errors help a model to fix them: the
//! path, the expected value, the given value. It runs before a call, so that a tool never runs with
//! undeclared arguments.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator, paths::LocationSegment};
use serde_json::Value;

use crate::domain::schema_repair::mended;
use crate::domain::words::{clipped, nearest};
use crate::{ToolError, ToolErrorKind};

/// The most violations in an error. More would bury the first; a hostile answer can violate a schema a thousand times.
const VIOLATIONS: usize = 5;
/// The most characters of one violation.
const LENGTH: usize = 240;
/// The most characters of a value that is shown.
const SHOWN: usize = 60;

/// A compiled schema.
pub struct Checker {
    schema: Value,
    /// The error of the compilation, if it failed.
    validator: Result<Validator, String>,
}

impl Checker {
    /// Compiles a schema: some 50 µs, so it is done once and only for tools that are called. A wrong word of it checks
    /// nothing, so that one does not make the tool useless.
    pub fn new(schema: &Value) -> Self {
        let (schema, _) = mended(schema);
        let validator =
            jsonschema::validator_for(&schema).map_err(|error| clipped(&error.to_string(), LENGTH));
        Self { schema, validator }
    }

    /// The fault of the schema itself, if it has one.
    pub fn fault(&self) -> Option<&str> {
        self.validator.as_ref().err().map(String::as_str)
    }

    /// # Errors
    /// [`ToolErrorKind::Arguments`] with up to five violations; [`ToolErrorKind::Unavailable`] if
    /// the schema itself is invalid.
    pub fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        let validator = self.validator.as_ref().map_err(|why| {
            let text = format!("the tool's own schema cannot be used: {why}");
            ToolError::new(ToolErrorKind::Unavailable, text)
        })?;
        if let Value::String(raw) = arguments {
            return Err(self.not_json(raw));
        }
        let mut errors = validator.iter_errors(arguments);
        let mut lines: Vec<String> =
            errors.by_ref().take(VIOLATIONS).map(|error| self.line(&error)).collect();
        if lines.is_empty() {
            return Ok(());
        }
        // Counting to the end could take long on a huge argument.
        if errors.next().is_some() {
            lines.push("and more".into());
        }
        Err(ToolError::new(ToolErrorKind::Arguments, lines.join("\n")))
    }

    fn not_json(&self, raw: &str) -> ToolError {
        let why = match serde_json::from_str::<Value>(raw) {
            Ok(_) => "is a text".to_owned(),
            Err(error) => format!("is not valid JSON ({error})"),
        };
        let wanted = self.property_names().join(", ");
        let wanted =
            if wanted.is_empty() { "{}".into() } else { format!("one with the keys: {wanted}") };
        let text = format!(
            "arguments: expected a JSON object, {wanted}; the input {why}: {:?}",
            clipped(raw, SHOWN)
        );
        ToolError::new(ToolErrorKind::Arguments, text)
    }

    fn line(&self, error: &ValidationError<'_>) -> String {
        let mut path = String::from("arguments");
        for segment in error.instance_path() {
            match segment {
                LocationSegment::Property(name) => {
                    path.push('.');
                    path.push_str(&name);
                }
                LocationSegment::Index(index) => path.push_str(&format!("[{index}]")),
            }
        }
        clipped(&format!("{path}{}", self.violation(error)), LENGTH)
    }

    /// The text after the path. Violations that explain themselves keep the library's words.
    fn violation(&self, error: &ValidationError<'_>) -> String {
        let got = || clipped(&error.instance().to_string(), SHOWN);
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                format!(".{name}: missing")
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let name = unexpected.first().map_or("", String::as_str);
                let known = self.property_names();
                let advice = match nearest(name, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known: {}", known.join(", ")),
                };
                format!(".{}: not a parameter; {advice}", clipped(name, SHOWN))
            }
            ValidationErrorKind::Type { kind } => {
                format!(": expected {}, got {}", types(kind), got())
            }
            ValidationErrorKind::Enum { options } => {
                format!(": expected one of {}, got {}", clipped(&options.to_string(), 120), got())
            }
            ValidationErrorKind::Minimum { limit } => {
                format!(": expected at least {limit}, got {}", got())
            }
            ValidationErrorKind::Maximum { limit } => {
                format!(": expected at most {limit}, got {}", got())
            }
            ValidationErrorKind::Pattern { pattern } => {
                format!(": expected a text like {pattern}, got {}", got())
            }
            // This covers the library's own enumeration, which grows: its text has the details of other violations.
            _ => format!(": {}", error.masked_with(got())),
        }
    }

    fn property_names(&self) -> Vec<&str> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several.into_iter().map(|kind| kind.to_string()).collect();
            names.join(" or ")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(schema: Value, arguments: Value) -> String {
        let error = Checker::new(&schema).check(&arguments).unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Arguments);
        error.text
    }

    fn search() -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": { "type": "string" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 9 },
                "tags": { "type": "array", "items": { "enum": ["a", "b"] } },
            },
            "required": ["query"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn good_arguments_pass() {
        let checker = Checker::new(&search());
        assert_eq!(checker.check(&json!({ "query": "x", "limit": 3, "tags": ["a"] })), Ok(()));
    }

    #[test]
    fn each_violation_has_its_path_expectation_and_value() {
        let cases = [
            (json!({ "query": 7 }), "arguments.query: expected string, got 7"),
            (json!({}), "arguments.query: missing"),
            (json!({ "query": "x", "limit": 0 }), "arguments.limit: expected at least 1, got 0"),
            (
                json!({ "query": "x", "tags": ["a", "c"] }),
                "arguments.tags[1]: expected one of [\"a\",\"b\"], got \"c\"",
            ),
            (
                json!({ "query": "x", "limt": 3 }),
                "arguments.limt: not a parameter; did you mean `limit`?",
            ),
            (json!(null), "arguments: expected object, got null"),
        ];
        for (arguments, text) in cases {
            assert_eq!(refusal(search(), arguments), text);
        }
    }

    #[test]
    fn several_violations_are_listed_and_a_thousand_are_not() {
        let text = refusal(search(), json!({ "limit": 99 }));
        assert_eq!(text.lines().count(), 2, "{text}");
        let schema = json!({ "properties": { "a": { "items": { "type": "string" } } } });
        let text = refusal(schema, json!({ "a": (0..1000).collect::<Vec<_>>() }));
        assert_eq!(text.lines().count(), VIOLATIONS + 1);
        assert!(text.ends_with("and more"));
    }

    #[test]
    fn a_huge_value_is_not_repeated() {
        let text = refusal(search(), json!({ "query": { "x": "y".repeat(1_000_000) } }));
        assert!(text.chars().count() <= LENGTH + 1, "{}", text.len());
    }

    #[test]
    fn text_that_is_no_json_says_so() {
        let text = refusal(search(), json!("{\"query\": \"x"));
        assert!(text.starts_with("arguments: expected a JSON object"), "{text}");
        assert!(text.contains("keys: query, limit, tags"), "{text}");
        assert!(text.contains("not valid JSON (EOF"), "{text}");
    }

    #[test]
    fn a_wrong_word_of_a_schema_checks_nothing() {
        let city = |more: Value| json!({"type": "object", "properties": {"city": more}});
        for (schema, good, bad) in [
            (city(json!({"type": "any"})), json!("x"), None),
            (city(json!({"type": "string", "required": true})), json!("x"), Some(json!(7))),
            (city(json!({"enum": []})), json!("x"), None),
            (city(json!({"$ref": "#/$defs/Lost"})), json!("x"), None),
            (city(json!({"type": "integer", "enum": ["1", "2"]})), json!(1), Some(json!(3))),
            (city(json!({"type": "integer", "enum": ["1", "2"]})), json!("2"), Some(json!("3"))),
        ] {
            let checker = Checker::new(&schema);
            assert_eq!(checker.check(&json!({"city": good})), Ok(()), "{schema}");
            if let Some(bad) = bad {
                assert!(checker.check(&json!({"city": bad})).is_err(), "{schema}");
            }
        }
        let missing = refusal(city(json!({"type": "string", "required": true})), json!({}));
        assert_eq!(missing, "arguments.city: missing");
    }

    #[test]
    fn a_schema_that_cannot_be_used_makes_the_tool_unavailable() {
        let checker = Checker::new(&json!({ "$ref": "https://example.com/schema.json" }));
        assert!(checker.fault().is_some());
        let error = checker.check(&json!({})).unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Unavailable);
    }
}
