//! A JSON object of which some fields change. All others keep their text, so that numbers stay as they were spelled.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde_json::Value;

use crate::node::{JsonFields, JsonNode};

/// An object, and its new fields.
pub(crate) struct JsonObject<'a> {
    /// The fields as they came.
    pub came: JsonFields<'a>,
    /// The JSON of the fields that differ.
    new: BTreeMap<&'static str, String>,
}

impl<'a> JsonObject<'a> {
    /// The object that fills this text; `None` if that is something else.
    pub fn of(text: &'a str) -> Option<Self> {
        let came = JsonNode::of(text).ok()?.fields()?;
        Some(Self { came, new: BTreeMap::new() })
    }

    /// Sets a field to this JSON, or adds it.
    pub fn set(&mut self, name: &'static str, json: impl Display) {
        let json = json.to_string();
        if self.came.get(name).is_none_or(|known| known.raw() != json) {
            self.new.insert(name, json);
        }
    }

    /// Sets a field to this JSON, unless the object lacks it.
    pub fn replace(&mut self, name: &'static str, json: impl Display) {
        if self.came.get(name).is_some() {
            self.set(name, json);
        }
    }

    /// Changes a field that is an object.
    pub fn change(&mut self, name: &'static str, change: impl FnOnce(&mut JsonObject<'a>)) {
        let object = self.came.get(name).and_then(|field| JsonObject::of(field.raw()));
        if let Some(mut object) = object {
            change(&mut object);
            object.text().into_iter().for_each(|text| self.set(name, text));
        }
    }

    /// Changes the objects of a list, leaves out those for which `change` returns false, and adds further items. A list
    /// that is missing is added with them.
    pub fn change_items(
        &mut self,
        name: &'static str,
        mut change: impl FnMut(usize, &mut JsonObject<'a>) -> bool,
        more: &[Value],
    ) {
        let came = self.came.items(name);
        let changed = came.iter().enumerate().filter_map(|(at, item)| {
            let Some(mut object) = JsonObject::of(item.raw()) else {
                return Some(item.raw().to_owned());
            };
            let is_kept = change(at, &mut object);
            is_kept.then(|| object.text().unwrap_or_else(|| item.raw().to_owned()))
        });
        let items: Vec<String> = changed.chain(more.iter().map(Value::to_string)).collect();
        if !came.iter().map(|item| item.raw()).eq(items.iter().map(String::as_str)) {
            self.set(name, format!("[{}]", items.join(",")));
        }
    }

    /// The changed text; `None` if nothing changes.
    pub fn text(&self) -> Option<String> {
        if self.new.is_empty() {
            return None;
        }
        let new = |name: &str| self.new.get(name).map(String::as_str);
        let came = self.came.iter().map(|(name, it)| (name, new(name).unwrap_or(it.raw())));
        let is_added = |name: &str| self.came.iter().all(|(known, _)| known != name);
        let added = self.new.iter().map(|(name, json)| (*name, json.as_str()));
        let fields = came.chain(added.filter(|(name, _)| is_added(name)));
        let fields: Vec<String> =
            fields.map(|(name, json)| format!("{}:{json}", quoted(name))).collect();
        Some(format!("{{{}}}", fields.join(",")))
    }
}

/// A text as JSON.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OBJECT: &str = r#" {"n": 1.00, "n": 12345678901234567890123, "a\u0062": {"e": 1E5, "x": "\u0041"},
        "list": [{"a": 1}, 2e0, {"a": 3.0, "b": null}]} "#;

    fn changed(change: impl FnOnce(&mut JsonObject<'_>)) -> Option<String> {
        let mut object = JsonObject::of(OBJECT).unwrap();
        change(&mut object);
        object.text()
    }

    #[test]
    fn fields_that_nobody_changes_keep_their_text() {
        let n = r#""n":1.00,"n":12345678901234567890123"#;
        let list = r#""list":[{"a": 1}, 2e0, {"a": 3.0, "b": null}]"#;
        let nested = changed(|object| object.change("ab", |field| field.set("x", quoted("\""))));
        assert_eq!(nested.unwrap(), format!(r#"{{{n},"ab":{{"e":1E5,"x":"\""}},{list}}}"#));
        let ab = r#""ab":{"e": 1E5, "x": "\u0041"}"#;
        let items = changed(|object| {
            let change = |at: usize, item: &mut JsonObject<'_>| {
                item.set("b", at);
                at > 0
            };
            object.change_items("list", change, &[json!({"c": []})]);
        });
        let new = r#""list":[2e0,{"a":3.0,"b":2},{"c":[]}]"#;
        assert_eq!(items.unwrap(), format!("{{{n},{ab},{new}}}"));
        let added = changed(|object| {
            object.change_items("more", |_, _| true, &[json!(1)]);
            object.set("n", 2);
        });
        let n = r#""n":2,"n":2"#;
        assert_eq!(added.unwrap(), format!(r#"{{{n},{ab},{list},"more":[1]}}"#));
    }

    #[test]
    fn an_object_with_its_old_values_does_not_change() {
        let same = changed(|object| {
            object.set("n", "12345678901234567890123");
            object.replace("none", 1);
            object.change("ab", |field| field.set("e", "1E5"));
            object.change("list", |field| field.set("e", 1));
            object.change_items("list", |_, _| true, &[]);
            object.change_items("none", |_, _| false, &[]);
        });
        assert_eq!(same, None);
        assert!(JsonObject::of("[1]").is_none() && JsonObject::of("{").is_none());
    }
}
