//! Keywords of JSON Schema in the parameters of tools.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::domain::schema_words::change_inside;

/// Removes these keywords from the parameters of all tools.
pub fn leave_out(body: &mut Map<String, Value>, words: &BTreeSet<String>) {
    if words.is_empty() {
        return;
    }
    let tools = body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten();
    // Gemini's are lists of functions.
    let functions = tools.flat_map(|tool| match tool.get("functionDeclarations") {
        Some(_) => tool["functionDeclarations"].as_array_mut().into_iter().flatten().collect(),
        None => vec![tool],
    });
    for tool in functions {
        let places =
            ["/function/parameters", "/parameters", "/parametersJsonSchema", "/input_schema"];
        let schema = places.into_iter().find(|place| tool.pointer(place).is_some());
        if let Some(schema) = schema.and_then(|place| tool.pointer_mut(place)) {
            strip(schema, words);
        }
    }
}

fn strip(schema: &mut Value, words: &BTreeSet<String>) {
    let Some(schema) = schema.as_object_mut() else { return };
    schema.retain(|word, _| !words.contains(word));
    for (word, value) in schema {
        change_inside(word, value, |_, schema| strip(schema, words));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn words_are_left_out_wherever_they_are_words() {
        let schema = json!({"$schema": "s", "properties": {"const": {"const": 1}, "not": {"format": "date"},
            "all": {"type": "array", "items": {"oneOf": [{"exclusiveMinimum": 0}, {"enum": ["if"]}]}}}});
        let tools = [
            json!({"function": {"parameters": schema}}),
            json!({"parameters": schema}),
            json!({"input_schema": schema}),
        ];
        let mut body = json!({"tools": tools});
        let words = ["const", "not", "exclusiveMinimum", "$schema"].map(str::to_owned);
        leave_out(body.as_object_mut().unwrap(), &words.into());
        let expected = json!({"properties": {"const": {}, "not": {"format": "date"},
            "all": {"type": "array", "items": {"oneOf": [{}, {"enum": ["if"]}]}}}});
        for place in
            ["/tools/0/function/parameters", "/tools/1/parameters", "/tools/2/input_schema"]
        {
            assert_eq!(body.pointer(place), Some(&expected), "{place}");
        }
    }
}
