//! The body of a request. Most of it is a few long lists of objects; these are read together with the body, so that its
//! text is scanned once.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::NotRead;
use crate::node::{JsonFields, JsonItem, JsonNode, JsonText, Raws};

/// The long lists of all formats.
const LISTS: [&str; 4] = ["messages", "input", "contents", "tools"];

/// An object whose long lists are read.
pub struct RequestBody<'a> {
    pub fields: JsonFields<'a>,
    lists: Vec<(Cow<'a, str>, Vec<JsonItem<'a>>)>,
}

impl<'a> RequestBody<'a> {
    /// Reads a body.
    ///
    /// # Errors
    /// The body is not JSON, or not an object.
    pub fn read(text: &'a str) -> Result<Self, NotRead> {
        if let Ok(top) = serde_json::from_str::<Top<'a>>(text)
            && let Some(body) = top.placed(text)
        {
            return Ok(body);
        }
        // The body has something unusual, so each value is read on its own.
        let fields =
            JsonNode::of(text)?.fields().ok_or(NotRead::NoRequest("expected an object"))?;
        Ok(Self { fields, lists: Vec::new() })
    }

    /// The items of the list of this name; `None` if it is not a list.
    pub fn list(&mut self, name: &str) -> Option<Vec<JsonItem<'a>>> {
        let read = self.lists.iter_mut().rev().find(|(known, _)| known == name);
        match read {
            Some((_, items)) => Some(std::mem::take(items)),
            None => {
                let items = self.fields.get(name)?.items()?;
                Some(items.into_iter().map(JsonItem::from).collect())
            }
        }
    }

    /// Whether the body has this list or field.
    pub fn has(&self, name: &str) -> bool {
        self.lists.iter().any(|(known, _)| known == name) || self.fields.get(name).is_some()
    }
}

/// A body before places are known.
struct Top<'a> {
    fields: Raws<'a>,
    lists: Vec<(Cow<'a, str>, Vec<Raws<'a>>)>,
}

impl<'a> Top<'a> {
    /// The body with the place of each object; `None` if a place cannot be determined.
    fn placed(self, text: &'a str) -> Option<RequestBody<'a>> {
        let list = |(name, objects): (Cow<'a, str>, Vec<Raws<'a>>)| {
            let items = objects.into_iter().map(|object| object.item(text));
            items.collect::<Option<Vec<_>>>().map(|items| (name, items))
        };
        let lists = self.lists.into_iter().map(list).collect::<Option<_>>()?;
        Some(RequestBody { fields: self.fields.placed(text), lists })
    }
}

impl<'de> Deserialize<'de> for Top<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;
        impl<'de> Visitor<'de> for OfObject {
            type Value = Top<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Top<'de>, A::Error> {
                let (mut fields, mut lists) = (Vec::new(), Vec::new());
                while let Some(JsonText(name)) = map.next_key()? {
                    if LISTS.contains(&name.as_ref()) {
                        lists.push((name, map.next_value::<Vec<Raws<'de>>>()?));
                    } else {
                        fields.push((name, map.next_value::<&RawValue>()?));
                    }
                }
                Ok(Top { fields: Raws(fields), lists })
            }
        }
        deserializer.deserialize_map(OfObject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_in_either_way() {
        let usual =
            r#" {"model": "m", "messages": [ { "a": 1 , "b": [2] } ,{"c":{}}], "tools": []}"#;
        // An empty object, a text in a list, and a name with an escape are read on their own.
        let others = [
            r#"{"messages": [{}, {"a": 1}]}"#,
            r#"{"messages": ["x", {"a": 1}]}"#,
            r#"{"messages": [{"\u0061": 2}, {"a": 1}]}"#,
        ];
        let mut body = RequestBody::read(usual).unwrap();
        let items = body.list("messages").unwrap();
        let raws: Vec<_> = items.iter().map(|item| item.node.raw()).collect();
        assert_eq!(raws, [r#"{ "a": 1 , "b": [2] }"#, r#"{"c":{}}"#]);
        assert_eq!(&usual[items[0].fields.as_ref().unwrap().get("b").unwrap().range()], "[2]");
        assert_eq!(body.fields.string("model").unwrap(), "m");
        assert!(body.has("tools") && body.list("tools").unwrap().is_empty() && !body.has("input"));
        for text in others {
            let mut body = RequestBody::read(text).unwrap();
            let items = body.list("messages").unwrap();
            assert_eq!((items.len(), items[1].node.raw()), (2, r#"{"a": 1}"#), "{text}");
        }
        assert!(RequestBody::read(r#"{"input": "text"}"#).unwrap().list("input").is_none());
    }
}
