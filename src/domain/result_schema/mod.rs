//! The schema of a tool's answers, learned from its results.
//!
//! Two modes: `paper` reads the first response, and of each list the first element, as the authors do. `merged` reads
//! all elements of all responses; it knows optional fields and unions.
//!
//! A schema is bounded: a result of any size adds at most [`FIELDS`] fields in all, [`DEEPEST`] levels deep.

mod drift;
mod find;
mod json;
mod path;
mod text;

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::drift::Drift;
pub use self::drift::Drifted;
pub use self::find::who_has;

/// Fields that a schema keeps in all. Further fields of an object are only counted.
pub const FIELDS: usize = 2_000;
/// Levels that a schema keeps. Each level needs two levels of JSON, whose reader accepts 128.
pub const DEEPEST: usize = 48;
/// Bytes of the longest key that a schema keeps; a field with a longer one is left out.
pub const LONGEST_KEY: usize = 200;

/// How a schema is learned and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaMode {
    /// The authors' rule: the first response, and the first element of each list.
    Paper,
    /// All elements of all responses.
    Merged,
}

/// The type of a value without parts, by Python's name. `Null` is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scalar {
    Bool,
    Float,
    Int,
    Null,
    Str,
}

/// Schema of a value: all types that the value has had. The elements of an empty list are unknown.
///
/// Equality ignores the order of fields, which is the order in which they were seen first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The scalar types of the value. An int beside a float counts as float.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    scalars: BTreeSet<Scalar>,
    /// The elements of all lists; `None`: the value was never a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    elements: Option<Box<Schema>>,
    /// The fields of all objects; `None`: the value was never an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fields: Option<IndexMap<String, Schema>>,
    /// The fields that all those objects have; the others are optional.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    required: BTreeSet<String>,
    /// The largest number of fields of one object that are not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    left_out: usize,
    /// Whether the value had parts below the deepest level that is kept.
    #[serde(default, skip_serializing_if = "is_false")]
    has_more_below: bool,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

fn is_false(is: &bool) -> bool {
    !*is
}

/// The remaining bounds of a schema while a value is read into it.
struct Room {
    fields: usize,
    levels: usize,
    mode: SchemaMode,
}

impl Schema {
    /// The schema of responses of a tool, in order. `Paper` reads the first one only.
    pub fn of(mode: SchemaMode, responses: &[Value]) -> Self {
        let read = match mode {
            SchemaMode::Paper => &responses[..responses.len().min(1)],
            SchemaMode::Merged => responses,
        };
        let mut schema = Self::default();
        read.iter().for_each(|response| schema.learn(response, mode));
        schema
    }

    /// Reads a tool's result as a value: JSON, or else a text.
    pub fn value(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
    }

    /// Learns from one more response, in the mode `merged`.
    pub fn widen(&mut self, response: &Value) {
        self.learn(response, SchemaMode::Merged);
    }

    /// Whether nothing is known: no response, or the elements of empty lists.
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// The number of fields at all levels.
    pub fn size(&self) -> usize {
        let fields = self.fields.iter().flatten().map(|(_, field)| 1 + field.size());
        fields.sum::<usize>() + self.elements.as_ref().map_or(0, |elements| elements.size())
    }

    fn learn(&mut self, response: &Value, mode: SchemaMode) {
        let fields = FIELDS.saturating_sub(self.size());
        self.read(response, &mut Room { fields, levels: DEEPEST, mode });
    }

    fn read(&mut self, value: &Value, room: &mut Room) {
        match value {
            Value::Array(_) | Value::Object(_) if room.levels == 0 => self.has_more_below = true,
            Value::Array(list) => {
                room.levels -= 1;
                self.read_list(list, room);
                room.levels += 1;
            }
            Value::Object(object) => {
                room.levels -= 1;
                self.read_object(object, room);
                room.levels += 1;
            }
            scalar => self.add(Scalar::of(scalar)),
        }
    }

    fn add(&mut self, scalar: Option<Scalar>) {
        self.scalars.extend(scalar);
        if self.scalars.contains(&Scalar::Float) {
            self.scalars.remove(&Scalar::Int);
        }
    }

    fn read_list(&mut self, list: &[Value], room: &mut Room) {
        let read = match room.mode {
            SchemaMode::Paper => &list[..list.len().min(1)],
            SchemaMode::Merged => list,
        };
        let elements = self.elements.get_or_insert_default();
        read.iter().for_each(|element| elements.read(element, room));
    }

    fn read_object(&mut self, object: &Map<String, Value>, room: &mut Room) {
        let is_first = self.fields.is_none();
        let fields = self.fields.get_or_insert_default();
        if !is_first {
            self.required.retain(|name| object.contains_key(name));
        }
        let mut left_out = 0;
        for (name, value) in object {
            if let Some(field) = fields.get_mut(name) {
                field.read(value, room);
            } else if room.fields == 0 || name.len() > LONGEST_KEY {
                left_out += 1;
            } else {
                room.fields -= 1;
                fields.entry(name.clone()).or_default().read(value, room);
                if is_first {
                    self.required.insert(name.clone());
                }
            }
        }
        self.left_out = self.left_out.max(left_out);
    }
}

impl Scalar {
    /// The type of a value; `None` for a list or an object.
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_f64() => Self::Float,
            Value::Number(_) => Self::Int,
            Value::String(_) => Self::Str,
            Value::Array(_) | Value::Object(_) => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Float => "float",
            Self::Int => "int",
            Self::Null => "null",
            Self::Str => "str",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// JSON values with few keys, so that responses share some.
    pub(super) fn values() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(json!(null)),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            (-3.0_f64..3.0).prop_map(Value::from),
            "[a-c]{0,2}".prop_map(Value::from),
        ];
        scalar.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d .]{1,2}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn a_hostile_response_adds_a_bounded_schema() {
        let keys = |n: u32| (0..n).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>();
        let mut schema = Schema::of(SchemaMode::Merged, &[Value::Object(keys(100_000))]);
        assert_eq!((schema.size(), schema.left_out), (FIELDS, 98_000));
        schema.widen(&json!({"other": 1}));
        assert_eq!((schema.size(), schema.left_out), (FIELDS, 98_000));
        let deep = (0..500).fold(json!(1), |inner, _| json!([{"a": inner}]));
        let schema = Schema::of(SchemaMode::Merged, &[deep]);
        assert_eq!(schema.size(), DEEPEST / 2);
        let long = json!({"k".repeat(LONGEST_KEY + 1): 1});
        assert_eq!(Schema::of(SchemaMode::Merged, &[long]).size(), 0);
    }

    #[test]
    fn the_deepest_schema_is_read_again_also_within_a_record() {
        let deep = (0..500).fold(json!(1), |inner, _| json!({"a": inner}));
        let schema = Schema::of(SchemaMode::Merged, &[deep]);
        let written = json!({"data": {"learned": [{"schema": schema}]}}).to_string();
        let read: Value = serde_json::from_str(&written).unwrap();
        let read: Schema =
            serde_json::from_value(read["data"]["learned"][0]["schema"].clone()).unwrap();
        assert_eq!(read, schema);
    }

    #[test]
    fn many_objects_after_one_with_many_fields_are_read_at_once() {
        let full: Map<_, _> = (0..2_000).map(|n| (format!("k{n}"), json!(n))).collect();
        let list: Vec<Value> =
            std::iter::once(Value::Object(full)).chain((0..100_000).map(|_| json!({}))).collect();
        let schema = Schema::of(SchemaMode::Merged, &[Value::Array(list)]);
        assert_eq!(schema.size(), FIELDS);
        assert_eq!(schema.elements.unwrap().required, BTreeSet::new());
    }

    proptest! {
        #[test]
        fn the_order_of_responses_changes_only_the_order_of_fields(
            values in prop::collection::vec(values(), 0..5),
        ) {
            let forward = Schema::of(SchemaMode::Merged, &values);
            let backward: Vec<Value> = values.iter().rev().cloned().collect();
            prop_assert_eq!(&forward, &Schema::of(SchemaMode::Merged, &backward));
            let mut widened = Schema::default();
            values.iter().for_each(|value| widened.widen(value));
            prop_assert_eq!(&forward, &widened);
            values.iter().for_each(|value| widened.widen(value));
            prop_assert_eq!(&forward, &widened, "what is known already changes nothing");
        }

        #[test]
        fn a_schema_is_read_as_it_was_written(values in prop::collection::vec(values(), 0..3)) {
            let schema = Schema::of(SchemaMode::Merged, &values);
            let written = serde_json::to_string(&schema).unwrap();
            let read: Schema = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), written);
            prop_assert_eq!(read, schema);
        }
    }
}
