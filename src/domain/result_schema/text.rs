//! A schema as a text for prompts: one field on each line, as short as is readable.

use std::fmt::Write;

use super::Schema;
use super::path::plain;
use crate::words::counted;

/// Lines of the longest text.
pub const LINES: usize = 200;
/// Levels of objects that a text shows.
pub const LEVELS: usize = 12;

/// A text under construction.
struct SchemaText {
    text: String,
    lines: usize,
    /// Levels of objects that are shown.
    levels: usize,
    /// How many objects are open.
    level: usize,
    /// Whether a field is left out because there are too many lines.
    is_cut: bool,
}

impl Schema {
    /// The schema in the mode `merged`, at most [`LINES`] lines and [`LEVELS`] levels. Where it is longer, the deeper
    /// levels are left out first, and the fields that are left out are counted.
    ///
    /// ```text
    /// {
    ///   page: int
    ///   results: [{
    ///     name?: str
    ///     poster: null|str
    ///   }]
    ///   … 34 more fields
    /// }
    /// ```
    pub fn to_text(&self) -> String {
        let mut text = SchemaText::of(self, LEVELS);
        for levels in (1..LEVELS).rev() {
            if text.is_cut {
                text = SchemaText::of(self, levels);
            }
        }
        text.text
    }
}

impl SchemaText {
    fn of(schema: &Schema, levels: usize) -> Self {
        let mut text = Self { text: String::new(), lines: 1, levels, level: 0, is_cut: false };
        text.add(schema);
        text
    }

    /// Writes the types that a value can have: an object, a list, scalars.
    fn add(&mut self, schema: &Schema) {
        let mut is_first = true;
        let mut separate = |text: &mut Self| {
            if !std::mem::take(&mut is_first) {
                text.text.push('|');
            }
        };
        if schema.fields.is_some() {
            separate(self);
            self.add_object(schema);
        }
        if let Some(elements) = &schema.elements {
            separate(self);
            self.text.push('[');
            if !elements.is_unknown() {
                self.add(elements);
            }
            self.text.push(']');
        }
        for scalar in &schema.scalars {
            separate(self);
            self.text.push_str(scalar.name());
        }
        if schema.has_more_below || schema.is_unknown() {
            separate(self);
            self.text.push_str("any");
        }
    }

    fn add_object(&mut self, schema: &Schema) {
        let fields = schema.fields.iter().flatten();
        let mut left: usize = fields.clone().map(|(_, field)| 1 + field.size()).sum();
        left += schema.left_out;
        let is_shown = self.level < self.levels;
        if left == 0 || !is_shown || !self.has_room(self.level + 1) {
            let count = counted(left, "field");
            self.text += &if left == 0 { "{}".to_owned() } else { format!("{{… {count}}}") };
            self.is_cut |= left > 0 && is_shown;
            return;
        }
        self.text.push('{');
        self.level += 1;
        for (key, value) in fields {
            if !self.has_room(self.level) {
                self.is_cut = true;
                break;
            }
            left -= 1 + value.size();
            self.begin_line();
            let mark = if schema.required.contains(key) { "" } else { "?" };
            _ = write!(self.text, "{}{mark}: ", plain(key));
            self.add(value);
        }
        if left > 0 {
            self.begin_line();
            _ = write!(self.text, "… {left} more {}", if left == 1 { "field" } else { "fields" });
        }
        self.level -= 1;
        self.begin_line();
        self.text.push('}');
    }

    /// Whether there is a line left for a field, apart from those for the count and the end of each open object.
    fn has_room(&self, open: usize) -> bool {
        self.lines + 1 + 2 * open <= LINES
    }

    fn begin_line(&mut self) {
        self.lines += 1;
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n("  ", self.level));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::super::SchemaMode;
    use super::super::tests::values;
    use super::*;

    fn schema(responses: &[Value]) -> Schema {
        Schema::of(SchemaMode::Merged, responses)
    }

    fn object(n: usize, value: &Value) -> Value {
        Value::Object((0..n).map(|n| (format!("k{n}"), value.clone())).collect::<Map<_, _>>())
    }

    #[test]
    fn a_line_has_one_field() {
        let responses = [
            json!({"page": 1, "results": [{"name": "a", "poster": null}, {"poster": "b"}], "a\nb": [], "e": {}}),
            json!({"page": 1.5, "results": null, "a\nb": [[1]], "e": {}}),
        ];
        let text = "{\n  page: float\n  results: [{\n    name?: str\n    poster: null|str\n  }]|null\n  \
                    \"a\\nb\": [[int]]\n  e: {}\n}";
        assert_eq!(schema(&responses).to_text(), text);
        assert_eq!(schema(&[json!(1), json!("a")]).to_text(), "int|str");
        assert_eq!(Schema::default().to_text(), "any");
    }

    #[test]
    fn deeper_levels_are_left_out_first_and_counted() {
        let long =
            schema(&[json!({"a": object(150, &json!(1)), "b": object(60, &json!({"c": 1}))})]);
        assert_eq!(long.to_text(), "{\n  a: {… 150 fields}\n  b: {… 120 fields}\n}");
        let wide = schema(&[object(1_000, &json!({"c": 1}))]);
        let text = wide.to_text();
        assert_eq!(text.lines().count(), LINES);
        assert!(text.ends_with("  k196: {… 1 field}\n  … 1606 more fields\n}"), "{text}");
        let deep = (0..40).fold(json!(1), |inner, _| json!({"a": inner}));
        assert!(schema(&[deep]).to_text().contains("a: {… 28 fields}"));
    }

    #[test]
    fn objects_in_lists_beside_objects_stay_within_the_lines() {
        for width in 1..120 {
            let inner = object(width, &json!(1));
            let outer = json!({"a": inner, "b": [inner], "c": {"d": inner, "e": [[inner]]}});
            let list = json!({"a": [inner], "b": inner, "c": [outer]});
            let text = schema(&[outer.clone(), list, json!([outer])]).to_text();
            assert!(text.lines().count() <= LINES, "{text}");
            assert_eq!(text.matches('{').count(), text.matches('}').count(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_text_is_short_and_names_every_key_that_is_not_left_out(
            values in prop::collection::vec(values(), 0..4),
        ) {
            let schema = schema(&values);
            let text = schema.to_text();
            prop_assert!(text.lines().count() <= LINES);
            prop_assert_eq!(text.matches(": ").count(), schema.size());
        }
    }
}
