//! The body of a request: a JSON value, a form or a text, with places for arguments.

use serde_json::{Map, Value};

use crate::domain::http_request::{Template, Unfilled, Variables, encoded, pairs, rest};

/// A body with places.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyTemplate {
    pub content: Content,
    /// Whether the body is missing if the call gives none of its arguments.
    pub optional: bool,
    /// Whether arguments without a place in the request become fields of the body.
    pub rest: bool,
}

/// The content of a body, by its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// `application/json`, unless a header sets another type.
    Json(JsonTemplate),
    /// `application/x-www-form-urlencoded`: names and values.
    Form(Vec<(String, Template)>),
    /// `text/plain`, unless a header sets another type.
    Text(Template),
}

/// A JSON value with places in its texts. A text that is a single place `{name}` becomes the argument with its own
/// type, even null. A field or an element with a missing argument is left out.
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
    /// A text that cannot be read, with the reason.
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

    /// The value for these arguments; `None` if it is a missing argument.
    fn fill(&self, arguments: &Value, variables: Variables<'_>) -> Result<Option<Value>, Unfilled> {
        match self {
            JsonTemplate::Fixed(value) => Ok(Some(value.clone())),
            JsonTemplate::Text(template) => match template.slot() {
                Some(slot) => Ok(arguments.get(&slot.name).cloned()),
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

impl BodyTemplate {
    /// Returns the body's usual type and its bytes; `None` if all of its arguments are missing and it is optional.
    /// `elsewhere` are the names of the arguments that other parts of the request have.
    pub(super) fn fill(
        &self,
        arguments: &Value,
        variables: Variables<'_>,
        elsewhere: &[&str],
    ) -> Result<Option<(&'static str, Vec<u8>)>, Unfilled> {
        let own: Vec<&str> = self.templates().into_iter().flat_map(Template::arguments).collect();
        let more = match self.rest {
            true => rest(arguments, &[&own, elsewhere].concat()),
            false => Map::new(),
        };
        let is_given = |name: &&str| arguments.get(*name).is_some();
        if self.optional && more.is_empty() && !own.iter().any(is_given) {
            return Ok(None);
        }
        match &self.content {
            Content::Json(template) => {
                let Some(mut value) = template.fill(arguments, variables)? else { return Ok(None) };
                for (name, field) in more {
                    if value.get(&name).is_some() {
                        return Err(twice(&name));
                    }
                    if let Some(fields) = value.as_object_mut() {
                        fields.insert(name, field);
                    }
                }
                Ok(Some(("application/json", value.to_string().into_bytes())))
            }
            Content::Form(fields) => {
                let variables = |name: &str| variables(name).map(|value| encoded(&value));
                let all = fields.iter().cloned();
                let all = all.chain(more.keys().map(|name| (name.clone(), Template::place(name))));
                let all: Vec<_> = all.collect();
                let pairs = pairs(&all, arguments, &variables, encoded)?;
                let pairs: Vec<_> = pairs
                    .iter()
                    .map(|(name, value)| format!("{}={value}", encoded(name)))
                    .collect();
                Ok(Some(("application/x-www-form-urlencoded", pairs.join("&").into_bytes())))
            }
            Content::Text(template) => match template.fill(arguments, variables, str::to_owned) {
                Ok(text) => Ok(Some(("text/plain; charset=utf-8", text.into_bytes()))),
                Err(Unfilled::Argument(_)) => Ok(None),
                Err(why) => Err(why),
            },
        }
    }

    pub(super) fn templates(&self) -> Vec<&Template> {
        match &self.content {
            Content::Json(template) => template.templates(),
            Content::Form(fields) => fields.iter().map(|(_, template)| template).collect(),
            Content::Text(template) => vec![template],
        }
    }
}

fn twice(name: &str) -> Unfilled {
    let text = format!("arguments.{name}: the body has a field of this name from another argument");
    Unfilled::Value(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(body: &BodyTemplate, arguments: &Value) -> Option<String> {
        let variables = |name: &str| Ok(format!("<{name}>"));
        let (_, bytes) = body.fill(arguments, &variables, &["path"]).unwrap()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    fn whole(content: Content) -> BodyTemplate {
        BodyTemplate { content, optional: false, rest: false }
    }

    fn json_of(template: Value) -> BodyTemplate {
        whole(Content::Json(JsonTemplate::parse(&template).unwrap()))
    }

    #[test]
    fn json_keeps_types_and_leaves_out_what_is_not_given() {
        let template = json!({
            "n": "{n}", "text": "no. {n}", "deep": {"list": ["{a}", "{gone}", 1, null]}, "gone": "{gone}",
            "also": "x{gone}", "key": "${KEY}",
        });
        let body = json_of(template);
        let arguments = json!({"n": 3, "a": {"b": [true]}});
        assert_eq!(
            filled(&body, &arguments).as_deref(),
            Some(r#"{"n":3,"text":"no. 3","deep":{"list":[{"b":[true]},1,null]},"key":"<KEY>"}"#)
        );
        let whole = json_of(json!("{a}"));
        assert_eq!(filled(&whole, &arguments).as_deref(), Some(r#"{"b":[true]}"#));
        assert_eq!(filled(&whole, &json!({})), None);
        assert!(JsonTemplate::parse(&json!([{"a": "{"}])).is_err());
    }

    #[test]
    fn a_form_is_encoded() {
        let template = |text: &str| Template::parse(text).unwrap();
        let body = whole(Content::Form(vec![
            ("a b".into(), template("{a}")),
            ("k".into(), template("${KEY}")),
            ("gone".into(), template("{gone}")),
        ]));
        let arguments = json!({"a": "ü&=+"});
        assert_eq!(filled(&body, &arguments).as_deref(), Some("a%20b=%C3%BC%26%3D%2B&k=%3CKEY%3E"));
    }

    #[test]
    fn an_explicit_null_is_sent() {
        let body = json_of(json!({"due": "{due}", "t": "{t}", "list": ["{due}"]}));
        let sent = filled(&body, &json!({"due": null, "t": "x"}));
        assert_eq!(sent.as_deref(), Some(r#"{"due":null,"t":"x","list":[null]}"#));
    }

    #[test]
    fn an_optional_body_is_there_if_an_argument_of_it_is_given() {
        let body = BodyTemplate { optional: true, ..json_of(json!({"a": "{a}", "fixed": 1})) };
        assert_eq!(filled(&body, &json!({"path": "p"})), None);
        assert_eq!(filled(&body, &json!({"a": null})).as_deref(), Some(r#"{"a":null,"fixed":1}"#));
    }

    #[test]
    fn other_arguments_become_fields_where_the_body_takes_them() {
        let body = BodyTemplate { rest: true, ..json_of(json!({"name": "{name}"})) };
        let sent = filled(&body, &json!({"name": "n", "extra": [1], "path": "p"}));
        assert_eq!(sent.as_deref(), Some(r#"{"name":"n","extra":[1]}"#));
        let renamed = BodyTemplate { rest: true, ..json_of(json!({"item-id": "{item_id}"})) };
        let both = json!({"item_id": 1, "item-id": 2});
        let why = renamed.fill(&both, &|_| Ok(String::new()), &[]).unwrap_err().to_string();
        assert!(why.starts_with("arguments.item-id: the body has a field of this name"), "{why}");
        let name = |text: &str| ("name".to_owned(), Template::parse(text).unwrap());
        let form = BodyTemplate { rest: true, ..whole(Content::Form(vec![name("{name}")])) };
        let sent = filled(&form, &json!({"name": "n", "a b": "c", "path": "p"}));
        assert_eq!(sent.as_deref(), Some("name=n&a%20b=c"));
    }

    #[test]
    fn a_text_is_sent_as_it_is() {
        let body = whole(Content::Text(Template::parse("{body}").unwrap()));
        assert_eq!(filled(&body, &json!({"body": "# ü & \"x\""})).as_deref(), Some("# ü & \"x\""));
    }
}
