//! The body of a request: a JSON value or a form, with places for arguments.

use serde_json::{Map, Value};

use crate::domain::http_request::{Template, Unfilled, Variables, encoded, given, pairs};

/// A body with places.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `application/json`.
    Json(JsonTemplate),
    /// `application/x-www-form-urlencoded`: names and values.
    Form(Vec<(String, Template)>),
}

/// A JSON value with places in its texts. A text that is a single place `{name}` becomes the argument with its own
/// type. A field or an element with an argument that is not given is left out.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTemplate {
    Fixed(Value),
    Text(Template),
    List(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    /// Reads the places of a value.
    ///
    /// # Errors
    /// Which text cannot be read, and why.
    pub fn parse(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => JsonTemplate::Text(Template::parse(text)?),
            Value::Array(parts) => {
                JsonTemplate::List(parts.iter().map(Self::parse).collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let field =
                    |(name, value): (&String, &Value)| Ok((name.clone(), Self::parse(value)?));
                JsonTemplate::Object(fields.iter().map(field).collect::<Result<_, String>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => JsonTemplate::Fixed(value.clone()),
        })
    }

    /// The value for these arguments; `None` if it is an argument that is not given.
    fn fill(&self, arguments: &Value, variables: Variables<'_>) -> Result<Option<Value>, Unfilled> {
        match self {
            JsonTemplate::Fixed(value) => Ok(Some(value.clone())),
            JsonTemplate::Text(template) => match template.slot() {
                Some(slot) => Ok(given(arguments, &slot.name).cloned()),
                None => match template.fill(arguments, variables, str::to_owned) {
                    Ok(text) => Ok(Some(Value::String(text))),
                    Err(Unfilled::Argument(_)) => Ok(None),
                    Err(why) => Err(why),
                },
            },
            JsonTemplate::List(parts) => {
                let parts =
                    parts.iter().filter_map(|part| part.fill(arguments, variables).transpose());
                Ok(Some(Value::Array(parts.collect::<Result<_, _>>()?)))
            }
            JsonTemplate::Object(fields) => {
                let mut object = Map::new();
                for (name, field) in fields {
                    if let Some(value) = field.fill(arguments, variables)? {
                        object.insert(name.clone(), value);
                    }
                }
                Ok(Some(Value::Object(object)))
            }
        }
    }

    fn templates(&self) -> Vec<&Template> {
        match self {
            JsonTemplate::Fixed(_) => Vec::new(),
            JsonTemplate::Text(template) => vec![template],
            JsonTemplate::List(parts) => parts.iter().flat_map(Self::templates).collect(),
            JsonTemplate::Object(fields) => {
                fields.iter().flat_map(|(_, field)| field.templates()).collect()
            }
        }
    }
}

impl Body {
    /// Its type and its bytes; `None` if it is one argument that is not given.
    pub(super) fn fill(
        &self,
        arguments: &Value,
        variables: Variables<'_>,
    ) -> Result<Option<(&'static str, Vec<u8>)>, Unfilled> {
        match self {
            Body::Json(template) => {
                let value = template.fill(arguments, variables)?;
                Ok(value.map(|value| ("application/json", value.to_string().into_bytes())))
            }
            Body::Form(fields) => {
                let variables = |name: &str| variables(name).map(|value| encoded(&value));
                let pairs = pairs(fields, arguments, &variables, encoded)?;
                let pairs: Vec<_> = pairs
                    .iter()
                    .map(|(name, value)| format!("{}={value}", encoded(name)))
                    .collect();
                Ok(Some(("application/x-www-form-urlencoded", pairs.join("&").into_bytes())))
            }
        }
    }

    pub(super) fn templates(&self) -> Vec<&Template> {
        match self {
            Body::Json(template) => template.templates(),
            Body::Form(fields) => fields.iter().map(|(_, template)| template).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(body: &Body, arguments: &Value) -> Option<String> {
        let (_, bytes) = body.fill(arguments, &|name| Ok(format!("<{name}>"))).unwrap()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn json_keeps_types_and_leaves_out_what_is_not_given() {
        let template = json!({
            "n": "{n}", "text": "no. {n}", "deep": {"list": ["{a}", "{gone}", 1, null]}, "gone": "{gone}",
            "also": "x{gone}", "key": "${KEY}",
        });
        let body = Body::Json(JsonTemplate::parse(&template).unwrap());
        let arguments = json!({"n": 3, "a": {"b": [true]}, "gone": null});
        assert_eq!(
            filled(&body, &arguments).as_deref(),
            Some(r#"{"n":3,"text":"no. 3","deep":{"list":[{"b":[true]},1,null]},"key":"<KEY>"}"#)
        );
        let whole = Body::Json(JsonTemplate::parse(&json!("{a}")).unwrap());
        assert_eq!(filled(&whole, &arguments).as_deref(), Some(r#"{"b":[true]}"#));
        assert_eq!(filled(&whole, &json!({})), None);
        assert!(JsonTemplate::parse(&json!([{"a": "{"}])).is_err());
    }

    #[test]
    fn a_form_is_encoded() {
        let template = |text: &str| Template::parse(text).unwrap();
        let body = Body::Form(vec![
            ("a b".into(), template("{a}")),
            ("k".into(), template("${KEY}")),
            ("gone".into(), template("{gone}")),
        ]);
        let arguments = json!({"a": "ü&=+"});
        assert_eq!(filled(&body, &arguments).as_deref(), Some("a%20b=%C3%BC%26%3D%2B&k=%3CKEY%3E"));
    }
}
