//! The structured content of answers that replace a server's. Clients check it by the schema that the tool declares, so
//! a text alone may be refused.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::message::Message;

/// The form of a tool's structured content, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Structure {
    /// An unknown form: a JSON object is structured content, too.
    #[default]
    Unknown,
    /// The tool has none.
    None,
    /// An object of many fields, or of one that is no text.
    Object,
    /// An object whose only field is a text, such as `{"result": "…"}`.
    Text(String),
}

impl Structure {
    /// The form that a tool with this schema of results declares.
    pub fn of_schema(schema: Option<&Value>) -> Self {
        let Some(schema) = schema else { return Structure::None };
        let properties = schema.get("properties").and_then(Value::as_object);
        let only = properties.filter(|fields| fields.len() == 1).and_then(|it| it.iter().next());
        match only.filter(|(_, field)| field.get("type").and_then(Value::as_str) == Some("string"))
        {
            Some((name, _)) => Structure::Text(name.clone()),
            None => Structure::Object,
        }
    }

    /// Notes the form of a server's answer. A failure has no structured content, so its form says nothing.
    pub fn see(&mut self, message: &Message<'_>, has_succeeded: bool) {
        let seen = Self::of_answer(message);
        if has_succeeded || seen != Structure::None {
            *self = seen;
        }
    }

    fn of_answer(message: &Message<'_>) -> Self {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default, rename = "structuredContent")]
            structure: Option<Map<String, Value>>,
        }
        let answer = message.result.and_then(|result| {
            // Most answers have none, and may be long.
            result.get().contains("\"structuredContent\"").then_some(())?;
            serde_json::from_str::<Answer>(result.get()).ok()?.structure
        });
        let Some(fields) = answer else { return Structure::None };
        let only = (fields.len() == 1).then(|| fields.into_iter().next()).flatten();
        match only.filter(|(_, value)| value.is_string()) {
            Some((name, _)) => Structure::Text(name),
            None => Structure::Object,
        }
    }

    /// The structured content of an answer with this text; `None` if it has none.
    pub fn content(&self, text: &str) -> Option<Value> {
        if *self == Structure::None {
            return None;
        }
        let object = serde_json::from_str::<Map<String, Value>>(text).ok();
        match (object, self) {
            (Some(object), _) => Some(Value::Object(object)),
            (None, Structure::Text(name)) => {
                Some(Map::from_iter([(name.clone(), Value::from(text))]).into())
            }
            (None, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::message::read;
    use super::*;

    #[test]
    fn a_made_up_text_takes_the_form_that_clients_check() {
        let of = |schema: Value| Structure::of_schema(Some(&schema));
        let text = of(json!({"properties": {"result": {"type": "string"}}}));
        assert_eq!(text.content("closed"), Some(json!({"result": "closed"})));
        assert_eq!(text.content("{\"result\": \"a\"}"), Some(json!({"result": "a"})));
        let two = of(json!({"properties": {"a": {"type": "string"}, "b": {}}}));
        assert_eq!((&two, two.content("closed")), (&Structure::Object, None));
        assert_eq!(of(json!({"properties": {"n": {"type": "integer"}}})), Structure::Object);
        assert_eq!(Structure::of_schema(None).content("{}"), None);
        assert_eq!(Structure::Unknown.content("{\"a\": 1}"), Some(json!({"a": 1})));
        assert_eq!(Structure::Unknown.content("[1]"), None);
    }

    #[test]
    fn an_answer_shows_the_form() {
        let of = |result: &str| {
            let line = format!("{{\"id\":1,\"result\":{result}}}");
            Structure::of_answer(&read(line.as_bytes()).unwrap().1)
        };
        let text = "{\"content\":[],\"structuredContent\":{\"result\":\"3\"}}";
        assert_eq!(of(text), Structure::Text("result".to_owned()));
        let number = "{\"content\":[],\"structuredContent\":{\"result\":3}}";
        assert_eq!(of(number), Structure::Object);
        assert_eq!(of("{\"content\":[]}"), Structure::None);
        assert_eq!(of("{\"content\":[],\"structuredContent\":null}"), Structure::None);
    }
}
