//! How a value is written at its place: the styles of parameters in OpenAPI, which are those of RFC 6570.

use serde_json::{Map, Value};
use strum::{EnumString, IntoStaticStr};

use super::template::{Escape, plain};

/// A style that is named at a place, such as `{ids:pipeDelimited}`. A place without one writes texts and numbers as
/// they are, lists with commas, and objects as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "camelCase")]
pub enum Style {
    /// `a,b`; an object is `x,1,y,2`, or `x=1,y=2` where it is exploded.
    Simple,
    /// `.a.b`
    Label,
    /// `;ids=a,b`
    Matrix,
    /// `ids=a,b`, or `ids=a&ids=b` where it is exploded.
    Form,
    /// `ids=a%20b`
    SpaceDelimited,
    /// `ids=a%7Cb`
    PipeDelimited,
    /// `ids[0]=a`, `at[x]=1`, at any depth.
    DeepObject,
    /// The value as JSON text.
    Json,
}

impl Style {
    /// The name, as OpenAPI has it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A value in a path or a header. `name` is the name that the server knows, which the style `matrix` writes.
pub(super) fn written(
    style: Option<Style>,
    each: bool,
    name: &str,
    value: &Value,
    escaped: Escape,
) -> String {
    let between = |separator: &str| parts(value, each, escaped).join(separator);
    match style {
        None => joined(value, escaped),
        Some(Style::Json) => escaped(&value.to_string()),
        Some(Style::Label) if each => format!(".{}", between(".")),
        Some(Style::Label) => format!(".{}", between(",")),
        Some(Style::Matrix) if each => match value {
            Value::Array(items) => {
                items.iter().map(|item| matrix(name, &escaped(&plain(item)))).collect()
            }
            Value::Object(_) => {
                parts(value, true, escaped).iter().map(|part| format!(";{part}")).collect()
            }
            _ => matrix(name, &between(",")),
        },
        Some(Style::Matrix) => matrix(name, &between(",")),
        Some(Style::SpaceDelimited) => between(&escaped(" ")),
        Some(Style::PipeDelimited) => between(&escaped("|")),
        Some(Style::Simple | Style::Form | Style::DeepObject) => between(","),
    }
}

/// A value in a query, a form or a cookie, as pairs of names and values.
pub(super) fn pairs_of(
    style: Option<Style>,
    each: bool,
    name: &str,
    value: &Value,
    escaped: Escape,
) -> Vec<(String, String)> {
    let pair = |name: &str, value: &Value| (name.to_owned(), escaped(&plain(value)));
    match (style, value) {
        (Some(Style::DeepObject), Value::Array(_) | Value::Object(_)) => {
            let mut pairs = Vec::new();
            deep(name, value, escaped, &mut pairs);
            pairs
        }
        (None | Some(Style::Form), Value::Array(items)) if each => {
            items.iter().map(|item| pair(name, item)).collect()
        }
        (None | Some(Style::Form), Value::Object(fields)) if each => {
            fields.iter().map(|(field, value)| pair(field, value)).collect()
        }
        (None, Value::Object(fields)) => {
            fields.iter().map(|(field, value)| pair(&format!("{name}[{field}]"), value)).collect()
        }
        _ => vec![(name.to_owned(), written(style, each, name, value, escaped))],
    }
}

/// A value as a text: parts of a list with commas between them, an object as JSON.
fn joined(value: &Value, escaped: Escape) -> String {
    match value {
        Value::Array(_) => parts(value, false, escaped).join(","),
        _ => escaped(&plain(value)),
    }
}

fn matrix(name: &str, value: &str) -> String {
    if value.is_empty() { format!(";{name}") } else { format!(";{name}={value}") }
}

/// The parts of a list or an object; those of an object are names and values in turn, or `name=value`.
fn parts(value: &Value, is_paired: bool, escaped: Escape) -> Vec<String> {
    let field = |(name, value): (&String, &Value)| {
        let (name, value) = (escaped(name), escaped(&plain(value)));
        if is_paired { vec![format!("{name}={value}")] } else { vec![name, value] }
    };
    match value {
        Value::Array(items) => items.iter().map(|item| escaped(&plain(item))).collect(),
        Value::Object(fields) => fields.iter().flat_map(field).collect(),
        _ => vec![escaped(&plain(value))],
    }
}

fn deep(name: &str, value: &Value, escaped: Escape, pairs: &mut Vec<(String, String)>) {
    let mut below = |at: &str, value: &Value| deep(&format!("{name}[{at}]"), value, escaped, pairs);
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| below(&at.to_string(), item));
        }
        Value::Object(fields) => fields.iter().for_each(|(field, value)| below(field, value)),
        _ => pairs.push((name.to_owned(), escaped(&plain(value)))),
    }
}

/// Whether the style can write each part of a value: only `deepObject` and JSON can write nested parts.
pub(super) fn has_places(style: Option<Style>, value: &Value) -> bool {
    let is_flat = |value: &Value| !value.is_array() && !value.is_object();
    match (style, value) {
        (None | Some(Style::DeepObject | Style::Json), _) => true,
        (_, Value::Array(items)) => items.iter().all(is_flat),
        (_, Value::Object(fields)) => fields.values().all(is_flat),
        _ => true,
    }
}

/// The arguments of a call that are not among these names.
pub fn rest(arguments: &Value, named: &[&str]) -> Map<String, Value> {
    let all = arguments.as_object().into_iter().flatten();
    all.filter(|(name, _)| !named.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::http_request::encoded;

    #[test]
    fn every_style_writes_lists_and_objects_as_openapi_does() {
        let list = json!(["blue", "b c"]);
        let object = json!({"R": 100, "G": 200});
        let cases: [(Style, bool, &str, &str); 8] = [
            (Style::Simple, false, "blue,b%20c", "R,100,G,200"),
            (Style::Simple, true, "blue,b%20c", "R=100,G=200"),
            (Style::Label, false, ".blue,b%20c", ".R,100,G,200"),
            (Style::Label, true, ".blue.b%20c", ".R=100.G=200"),
            (Style::Matrix, false, ";color=blue,b%20c", ";color=R,100,G,200"),
            (Style::Matrix, true, ";color=blue;color=b%20c", ";R=100;G=200"),
            (Style::PipeDelimited, false, "blue%7Cb%20c", "R%7C100%7CG%7C200"),
            (Style::SpaceDelimited, false, "blue%20b%20c", "R%20100%20G%20200"),
        ];
        for (style, each, of_list, of_object) in cases {
            let write = |value| written(Some(style), each, "color", value, encoded);
            assert_eq!((write(&list).as_str(), write(&object).as_str()), (of_list, of_object));
        }
        assert_eq!(written(Some(Style::Matrix), false, "c", &json!(""), encoded), ";c");
    }

    #[test]
    fn every_style_makes_its_pairs() {
        let pairs = |style, each, value: &Value| {
            let pairs = pairs_of(style, each, "c", value, str::to_owned);
            pairs
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join("&")
        };
        let (list, object) = (json!(["a", 2]), json!({"R": 1, "G": true}));
        for (style, each, of_list, of_object) in [
            (Some(Style::Form), true, "c=a&c=2", "R=1&G=true"),
            (Some(Style::Form), false, "c=a,2", "c=R,1,G,true"),
            (Some(Style::DeepObject), true, "c[0]=a&c[1]=2", "c[R]=1&c[G]=true"),
            (Some(Style::PipeDelimited), false, "c=a|2", "c=R|1|G|true"),
            (Some(Style::Json), false, "c=[\"a\",2]", "c={\"R\":1,\"G\":true}"),
            (None, false, "c=a,2", "c[R]=1&c[G]=true"),
        ] {
            assert_eq!(
                (pairs(style, each, &list), pairs(style, each, &object)),
                (of_list.into(), of_object.into())
            );
        }
        let deep = json!({"a": [{"b": 1}]});
        assert_eq!(pairs(Some(Style::DeepObject), true, &deep), "c[a][0][b]=1");
        assert!(
            has_places(Some(Style::DeepObject), &deep) && !has_places(Some(Style::Form), &deep)
        );
    }
}
