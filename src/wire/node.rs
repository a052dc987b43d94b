//! JSON that is read without being copied, so that each value knows its place in the text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// A value of a text.
#[derive(Clone, Copy, Debug)]
pub struct JsonNode<'a> {
    text: &'a str,
    raw: &'a str,
}

/// The fields of an object, in their order.
pub struct JsonFields<'a>(Vec<(Cow<'a, str>, JsonNode<'a>)>);

/// An item of a list, with its fields if it is an object.
pub struct JsonItem<'a> {
    pub node: JsonNode<'a>,
    pub fields: Option<JsonFields<'a>>,
}

impl<'a> From<JsonNode<'a>> for JsonItem<'a> {
    fn from(node: JsonNode<'a>) -> Self {
        Self { node, fields: node.fields() }
    }
}

pub(crate) fn has_role_of_assistant(item: &JsonItem<'_>) -> bool {
    let role = item.fields.as_ref().and_then(|fields| fields.string("role"));
    role.as_deref() == Some("assistant")
}

impl<'a> JsonNode<'a> {
    /// The value that fills this text.
    ///
    /// # Errors
    /// The text is not JSON.
    pub fn of(text: &'a str) -> Result<Self, serde_json::Error> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self { text, raw: raw.get() })
    }

    /// The place of the value in the text, in bytes.
    pub fn range(&self) -> Range<usize> {
        // Both are parts of one text, so the difference of their addresses is a place in it.
        let start = self.raw.as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + self.raw.len()
    }

    /// The text of the value, unchanged.
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// A copy of the value; null if it is nested too deeply to be copied.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.raw).unwrap_or_default()
    }

    /// The string, if the value is one.
    pub fn string(&self) -> Option<Cow<'a, str>> {
        if !self.raw.starts_with('"') {
            return None;
        }
        serde_json::from_str::<JsonText<'a>>(self.raw).ok().map(|text| text.0)
    }

    pub fn bool(&self) -> Option<bool> {
        serde_json::from_str(self.raw).ok()
    }

    pub fn u64(&self) -> Option<u64> {
        serde_json::from_str(self.raw).ok()
    }

    pub fn i64(&self) -> Option<i64> {
        serde_json::from_str(self.raw).ok()
    }

    /// A number that is finite.
    pub fn f64(&self) -> Option<f64> {
        serde_json::from_str(self.raw).ok()
    }

    pub fn is_null(&self) -> bool {
        self.raw == "null"
    }

    /// The items, if the value is a list.
    pub fn items(&self) -> Option<Vec<JsonNode<'a>>> {
        if !self.raw.starts_with('[') {
            return None;
        }
        let items: Vec<&RawValue> = serde_json::from_str(self.raw).ok()?;
        Some(items.into_iter().map(|raw| JsonNode { text: self.text, raw: raw.get() }).collect())
    }

    /// The items with their fields, if the value is a list. A list of objects is scanned once.
    pub fn objects(&self) -> Option<Vec<JsonItem<'a>>> {
        // For another kind of value, the error would copy all of it.
        if !self.raw.starts_with('[') {
            return None;
        }
        let objects = serde_json::from_str::<Vec<Raws<'a>>>(self.raw).ok();
        let item = |object: Raws<'a>| object.item(self.text);
        let items = objects.and_then(|list| list.into_iter().map(item).collect());
        items.or_else(|| Some(self.items()?.into_iter().map(JsonItem::from).collect()))
    }

    /// The fields, if the value is an object.
    pub fn fields(&self) -> Option<JsonFields<'a>> {
        if !self.raw.starts_with('{') {
            return None;
        }
        let raws: Raws<'a> = serde_json::from_str(self.raw).ok()?;
        Some(raws.placed(self.text))
    }
}

impl<'a> JsonFields<'a> {
    /// The field of this name, unless it is null. If a name occurs twice, the last counts, as everywhere.
    pub fn get(&self, name: &str) -> Option<JsonNode<'a>> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, node)| *node).filter(|node| !node.is_null())
    }

    pub fn string(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(|node| node.string())
    }

    /// A whole number that is not negative.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(|node| node.u64())
    }

    /// An id. Some clients write it as a number.
    pub fn id(&self, name: &str) -> String {
        let Some(node) = self.get(name) else { return String::new() };
        node.string().map_or_else(|| node.raw().to_owned(), Cow::into_owned)
    }

    pub fn items(&self, name: &str) -> Vec<JsonNode<'a>> {
        self.get(name).and_then(|node| node.items()).unwrap_or_default()
    }

    pub fn fields(&self, name: &str) -> Option<JsonFields<'a>> {
        self.get(name).and_then(|node| node.fields())
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, JsonNode<'a>)> {
        self.0.iter().map(|(name, node)| (name.as_ref(), *node))
    }
}

/// A text that is borrowed where it has no escapes.
pub(crate) struct JsonText<'a>(pub Cow<'a, str>);

impl<'de> Deserialize<'de> for JsonText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfText;
        impl<'de> Visitor<'de> for OfText {
            type Value = JsonText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(OfText)
    }
}

/// The fields of an object as they are in the text.
pub(crate) struct Raws<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Raws<'a> {
    /// The fields in this text.
    pub fn placed(self, text: &'a str) -> JsonFields<'a> {
        let node =
            |(name, raw): (Cow<'a, str>, &'a RawValue)| (name, JsonNode { text, raw: raw.get() });
        JsonFields(self.0.into_iter().map(node).collect())
    }

    /// The object itself, from the brace before its first name to the one after its last value. `None` if it is empty,
    /// or if its first name is a copy, so that its place is not known.
    pub fn item(self, text: &'a str) -> Option<JsonItem<'a>> {
        let at = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let Cow::Borrowed(first) = self.0.first()?.0 else { return None };
        let start = text[..at(first)].strip_suffix('"')?.trim_end().strip_suffix('{')?.len();
        let last = self.0.last()?.1.get();
        let rest = &text[at(last) + last.len()..];
        let end = text.len() - rest.trim_start().strip_prefix('}')?.len();
        Some(JsonItem {
            node: JsonNode { text, raw: &text[start..end] },
            fields: Some(self.placed(text)),
        })
    }
}

impl<'de> Deserialize<'de> for Raws<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;
        impl<'de> Visitor<'de> for OfObject {
            type Value = Raws<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raws<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some((JsonText(name), raw)) = map.next_entry()? {
                    fields.push((name, raw));
                }
                Ok(Raws(fields))
            }
        }
        deserializer.deserialize_map(OfObject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_knows_where_it_stands() {
        let text = " {\"a\\u0062\": [1.00, \"x\\ny\"], \"ab\": {\"c\": null}, \"d\": [[]]} ";
        let fields = JsonNode::of(text).unwrap().fields().unwrap();
        let first = fields.0[0].1;
        assert_eq!(fields.0[0].0, "ab");
        let items = first.items().unwrap();
        assert_eq!(&text[items[0].range()], "1.00");
        assert_eq!(items[1].string().unwrap(), "x\ny");
        assert_eq!(&text[items[1].range()], "\"x\\ny\"");
        let last = fields.fields("ab").unwrap();
        assert!(last.get("c").is_none() && fields.get("none").is_none());
        assert_eq!(fields.items("d").len(), 1);
    }

    #[test]
    fn deep_and_broken_texts_do_no_harm() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        let node = JsonNode::of(&deep).unwrap();
        assert_eq!(node.value(), Value::Null);
        assert_eq!(node.items().unwrap().len(), 1);
        for broken in ["", "{", "{\"a\":}", "nix", "{}{}"] {
            assert!(JsonNode::of(broken).is_err(), "{broken}");
        }
    }
}
