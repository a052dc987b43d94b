//! Where a live result differs from the schema that was learned of its tool.

use std::fmt;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::path::{element, field};
use super::{Scalar, Schema};

/// The most differences that are reported for one result.
pub const MOST: usize = 64;

/// Difference between a result and the schema at one place. Its text is such as `crew[].job is missing`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Drift {
    /// The place, such as `crew[].job`; empty for the whole result.
    pub path: String,
    pub how: Drifted,
}

/// How a result differs at a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drifted {
    /// All known results have this field; this one does not.
    Missing,
    /// No known result has this field.
    New,
    /// The value has a type that no known result has. Both are types in words, such as `null|str` and `list`.
    Type { known: String, found: String },
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the result" } else { &self.path };
        match &self.how {
            Drifted::Missing => write!(f, "{path} is missing"),
            Drifted::New => write!(f, "{path} is new"),
            Drifted::Type { known, found } => write!(f, "{path} is {found}, not {known}"),
        }
    }
}

/// Differences by place: the elements of a list share one, and the first is kept.
type DriftMap = IndexMap<String, Drifted>;

impl Schema {
    /// The differences of a result, at most [`MOST`] places in the order of the result. Empty for every result that the
    /// schema was learned from. An optional field may be absent, and an int is accepted where a float is known.
    pub fn drift(&self, result: &Value) -> Vec<Drift> {
        let mut found = DriftMap::new();
        if !self.is_unknown() {
            self.compare("", result, &mut found);
        }
        found.into_iter().map(|(path, how)| Drift { path, how }).collect()
    }

    fn compare(&self, path: &str, value: &Value, found: &mut DriftMap) {
        if found.len() >= MOST {
            return;
        }
        match value {
            Value::Array(_) | Value::Object(_) if self.has_more_below => {}
            Value::Array(list) if self.elements.is_some() => {
                self.compare_elements(&element(path), list, found);
            }
            Value::Object(object) if self.fields.is_some() => {
                self.compare_fields(path, object, found);
            }
            scalar if self.takes(scalar) => {}
            other => note(found, path, || self.other_type(other)),
        }
    }

    fn compare_elements(&self, path: &str, list: &[Value], found: &mut DriftMap) {
        let Some(elements) = &self.elements else { return };
        match list.first() {
            Some(first) if elements.is_unknown() => {
                note(found, path, || elements.other_type(first));
            }
            _ => list.iter().for_each(|element| elements.compare(path, element, found)),
        }
    }

    fn compare_fields(&self, path: &str, object: &Map<String, Value>, found: &mut DriftMap) {
        for name in self.required.iter().filter(|name| !object.contains_key(*name)) {
            note(found, &field(path, name), || Drifted::Missing);
        }
        for (name, value) in object {
            match self.fields.as_ref().and_then(|fields| fields.get(name)) {
                Some(known) => known.compare(&field(path, name), value, found),
                // The field may be one of those that are not kept.
                None if self.left_out > 0 => {}
                None => note(found, &field(path, name), || Drifted::New),
            }
            if found.len() >= MOST {
                break;
            }
        }
    }

    fn takes(&self, value: &Value) -> bool {
        Scalar::of(value).is_some_and(|scalar| {
            let is_float = scalar == Scalar::Int && self.scalars.contains(&Scalar::Float);
            is_float || self.scalars.contains(&scalar)
        })
    }

    fn other_type(&self, value: &Value) -> Drifted {
        let found = match value {
            Value::Array(_) => "list",
            Value::Object(_) => "object",
            scalar => Scalar::of(scalar).map_or("any", Scalar::name),
        };
        Drifted::Type { known: self.kinds(), found: found.to_owned() }
    }

    /// The known types of the value, in words.
    fn kinds(&self) -> String {
        let object = self.fields.is_some().then_some("object");
        let list = self.elements.is_some().then_some("list");
        let scalars = self.scalars.iter().map(|scalar| scalar.name());
        let kinds: Vec<&str> = object.into_iter().chain(list).chain(scalars).collect();
        if kinds.is_empty() { "unknown".to_owned() } else { kinds.join("|") }
    }
}

fn note(found: &mut DriftMap, path: &str, how: impl FnOnce() -> Drifted) {
    if found.len() < MOST && !found.contains_key(path) {
        found.insert(path.to_owned(), how());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::SchemaMode;
    use super::super::tests::values;
    use super::*;

    fn drift(known: &[Value], result: &Value) -> Vec<String> {
        let schema = Schema::of(SchemaMode::Merged, known);
        schema.drift(result).iter().map(Drift::to_string).collect()
    }

    #[test]
    fn differences_are_named_by_place_and_once_for_all_elements() {
        let known =
            [json!({"id": 1, "crew": [{"job": "a", "n": 1.5}, {"job": "b", "n": 2, "x": 1}]})];
        let other = json!({"id": null, "crew": [{"n": 7}, {"n": "7"}, 3], "a b": 1});
        assert_eq!(
            drift(&known, &other),
            [
                "id is null, not int",
                "crew[].job is missing",
                "crew[].n is str, not float",
                "crew[] is int, not object",
                "[\"a b\"] is new",
            ]
        );
        assert_eq!(drift(&known, &json!([])), ["the result is list, not object"]);
        assert_eq!(drift(&[json!({"l": []})], &json!({"l": [1]})), ["l[] is int, not unknown"]);
        assert_eq!(drift(&[], &json!(1)), [""; 0], "nothing is known");
    }

    #[test]
    fn a_hostile_result_has_few_differences() {
        let object = |n: u32| (0..n).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>();
        let schema = Schema::of(SchemaMode::Merged, &[json!({})]);
        assert_eq!(schema.drift(&Value::Object(object(100_000))).len(), MOST);
        let full = Value::Object(object(100_000));
        let schema = Schema::of(SchemaMode::Merged, std::slice::from_ref(&full));
        assert_eq!(schema.drift(&full), []);
        let deep = (0..500).fold(json!(1), |inner, _| json!({"a": inner}));
        let schema = Schema::of(SchemaMode::Merged, std::slice::from_ref(&deep));
        assert_eq!(schema.drift(&deep), []);
    }

    proptest! {
        #[test]
        fn a_merged_schema_takes_every_response_and_what_drifts_widens_it(
            known in prop::collection::vec(values(), 1..4), other in values(),
        ) {
            let mut schema = Schema::of(SchemaMode::Merged, &known);
            for response in &known {
                prop_assert_eq!(schema.drift(response), []);
            }
            let before = schema.clone();
            let drift = schema.drift(&other);
            schema.widen(&other);
            prop_assert_eq!(schema.drift(&other), []);
            prop_assert!(drift.is_empty() || schema != before, "{:?}", drift);
        }
    }
}
