//! Search for a key that a program missed, in the schemas of the tools. No model is called.

use std::collections::VecDeque;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Schema;
use super::path::{element, field, plain, resolve};
use crate::words::nearest;

/// The most places of a key that are found in one schema.
const PLACES: usize = 16;
/// The most tools that a sentence names.
const TOOLS: usize = 6;
/// The most keys that a sentence lists.
const KEYS: usize = 12;

impl Schema {
    /// The paths at which an object has this key, those of the upper levels first, at most 16.
    pub fn find_key(&self, key: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = VecDeque::from([(String::new(), self)]);
        while let Some((path, schema)) = open.pop_front() {
            for (name, value) in schema.fields.iter().flatten() {
                let path = field(&path, name);
                if name == key && found.len() < PLACES {
                    found.push(path.clone());
                }
                open.push_back((path, value));
            }
            open.extend(schema.elements.as_deref().map(|elements| (element(&path), elements)));
        }
        found
    }

    /// The paths of values that an argument of this name may take, those of the upper levels first: its own name, and
    /// for `network_id` the `id` of a `network` or of an element of `networks`.
    pub fn find_argument(&self, argument: &str) -> Vec<String> {
        let mut found = self.find_key(argument);
        let about = argument.strip_suffix("_id").map(|stem| [stem.to_owned(), format!("{stem}s")]);
        let objects = about.iter().flatten().flat_map(|name| self.find_key(name));
        for path in objects {
            let elements = element(&path);
            let object = [path, elements]
                .into_iter()
                .find(|path| self.keys_at(path).is_some_and(|keys| keys.contains(&"id")));
            found.extend(object.map(|object| field(&object, "id")));
        }
        found
    }

    /// The keys of the object at a path such as `results[]`, in their order; `None` where no object is.
    pub fn keys_at(&self, path: &str) -> Option<Vec<&str>> {
        let fields = resolve(self, path)?.fields.as_ref()?;
        Some(fields.keys().map(String::as_str).collect())
    }
}

/// Result of the search for a key that a result does not have. Its text is a sentence for models and people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elsewhere {
    pub key: String,
    /// The tool whose result lacks the key.
    pub tool: String,
    /// The keys that the result has instead.
    pub has: Vec<String>,
    /// The key of `has` that is most similar, if any is similar.
    pub nearest: Option<String>,
    /// The tools whose results have the key, and the first place in each; the tool itself first.
    pub places: Vec<(String, String)>,
}

/// Looks up a missing key. `has` are the keys that were really there, or those of the schema at this place; `schemas`
/// are the schemas of the offered tools by name, in the order in which they are listed.
pub fn who_has(key: &str, tool: &str, has: &[&str], schemas: &[(&str, &Schema)]) -> Elsewhere {
    let place = |(name, schema): &(&str, &Schema)| {
        let path = schema.find_key(key).into_iter().next()?;
        Some(((*name).to_owned(), path))
    };
    let mut places: Vec<(String, String)> = schemas.iter().filter_map(place).collect();
    places.sort_by_key(|(name, _)| name != tool);
    Elsewhere {
        key: key.to_owned(),
        tool: tool.to_owned(),
        has: has.iter().map(|key| (*key).to_owned()).collect(),
        nearest: nearest(key, has.iter().copied()).map(str::to_owned),
        places,
    }
}

impl fmt::Display for Elsewhere {
    /// Writes, for example, `crew is not in get_movie (has: id, title); it is in get_credits at crew`, with marks
    /// around keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not in {}", shown(&self.key), self.tool)?;
        match &self.has[..] {
            [] => write!(f, " (has no keys)")?,
            has => write!(f, " (has: {})", list(has, KEYS, |key| plain(key)))?,
        }
        if let Some(nearest) = &self.nearest {
            write!(f, "; did you mean {}?", shown(nearest))?;
        }
        match &self.places[..] {
            [] => write!(f, "; no known result has it"),
            places => {
                let place = |(tool, path): &(String, String)| format!("{tool} at `{path}`");
                write!(f, "; it is in {}", list(places, TOOLS, place))
            }
        }
    }
}

/// The first items, and the number of further ones.
fn list<T>(all: &[T], most: usize, text: impl Fn(&T) -> String) -> String {
    let mut shown: Vec<String> = all.iter().take(most).map(text).collect();
    if all.len() > most {
        shown.push(format!("… {} more", all.len() - most));
    }
    shown.join(", ")
}

fn shown(key: &str) -> String {
    format!("`{}`", plain(key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::SchemaMode;
    use super::*;

    fn schema(response: serde_json::Value) -> Schema {
        Schema::of(SchemaMode::Merged, &[response])
    }

    #[test]
    fn keys_are_found_from_the_top_and_paths_lead_to_them() {
        let response = json!({
            "results": [{"id": 1, "a b": {"id": 2, "": 3}, "lists": [[{"id": 4}]]}], "id": 5, "x.y": {"z": 6},
        });
        let schema = schema(response);
        let paths = ["id", "results[].id", "results[][\"a b\"].id", "results[].lists[][].id"];
        assert_eq!(schema.find_key("id"), paths);
        assert_eq!(schema.find_key("z"), ["[\"x.y\"].z"]);
        assert_eq!(schema.find_argument("list_id"), [""; 0], "a list of lists has no id");
        assert_eq!(schema.find_argument("result_id"), ["results[].id"]);
        assert_eq!(schema.find_argument("id"), schema.find_key("id"));
        assert_eq!(schema.find_key("nowhere"), [""; 0]);
        assert_eq!(schema.keys_at("").unwrap(), ["results", "id", "x.y"]);
        assert_eq!(schema.keys_at("results[][\"a b\"]").unwrap(), ["id", ""]);
        assert_eq!(schema.keys_at("results[].lists[][]").unwrap(), ["id"]);
        for none in ["results", "id", "nothing", ".results[]", "results[]x", "["] {
            assert_eq!(schema.keys_at(none), None, "{none}");
        }
    }

    #[test]
    fn the_sentence_says_what_is_there_and_who_has_the_key() {
        let movie = schema(json!({"id": 1, "title": "A"}));
        let credits = schema(json!({"id": 1, "crew": [{"job": "B"}]}));
        let schemas = [("get_movie", &movie), ("get_credits", &credits)];
        let found = |key, tool, has: &[&str]| who_has(key, tool, has, &schemas).to_string();
        let has = movie.keys_at("").unwrap();
        assert_eq!(
            found("crew", "get_movie", &has),
            "`crew` is not in get_movie (has: id, title); it is in get_credits at `crew`"
        );
        assert_eq!(
            found("titel", "get_movie", &has),
            "`titel` is not in get_movie (has: id, title); did you mean `title`?; no known result has it"
        );
        assert_eq!(
            found("job", "get_credits", &["id", "crew"]),
            "`job` is not in get_credits (has: id, crew); it is in get_credits at `crew[].job`"
        );
        assert_eq!(
            found("a\nb", "get_movie", &[]),
            "`\"a\\nb\"` is not in get_movie (has no keys); no known result has it"
        );
    }

    #[test]
    fn a_sentence_stays_short() {
        let wide = schema(json!({"key": 1}));
        let names: Vec<String> = (0..40).map(|n| format!("tool_{n}")).collect();
        let schemas: Vec<_> = names.iter().map(|name| (name.as_str(), &wide)).collect();
        let keys: Vec<&str> = names.iter().map(String::as_str).collect();
        let said = who_has("key", "tool_3", &keys, &schemas).to_string();
        assert!(said.starts_with("`key` is not in tool_3 (has: tool_0, "), "{said}");
        assert!(
            said.contains("tool_11, … 28 more); it is in tool_3 at `key`, tool_0 at"),
            "{said}"
        );
        assert!(said.ends_with("tool_5 at `key`, … 34 more"), "{said}");
    }
}
