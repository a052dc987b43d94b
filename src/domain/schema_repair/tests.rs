//! Schemas that servers write.

use super::*;

fn property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"e": schema}})
}

/// The property as a validator gets it, and the number of remarks.
fn checked(schema: Value) -> (Value, usize) {
    let (schema, remarks) = mended(&property(schema));
    (schema["properties"]["e"].clone(), remarks.len())
}

fn sent(schema: Value) -> Value {
    sendable(&property(schema)).unwrap()["properties"]["e"].clone()
}

#[test]
fn words_of_other_languages_are_those_of_json_schema() {
    for (wrong, right) in [
        (json!({"type": "any"}), json!({})),
        (json!({"type": ["any", "null"]}), json!({})),
        (json!({"type": null}), json!({})),
        (json!({"type": []}), json!({})),
        (json!({"type": "STRING"}), json!({"type": "string"})),
        (json!({"type": ["int", "null"]}), json!({"type": ["integer", "null"]})),
        (json!({"type": "float", "minimum": "1"}), json!({"type": "number"})),
        (json!({"enum": []}), json!({})),
        (json!({"enum": null, "type": "string"}), json!({"type": "string"})),
        (json!({"type": "string", "required": true}), json!({"type": "string"})),
        (json!({"type": "string", "required": "no"}), json!({"type": "string"})),
        (json!({"properties": [], "anyOf": []}), json!({})),
        (json!({"minLength": "1", "description": 7}), json!({})),
        (json!({"$ref": "#/$defs/Lost"}), json!({})),
        (json!("string"), json!({"type": "string"})),
        (json!(["a"]), json!({})),
    ] {
        let (mended, remarks) = checked(wrong.clone());
        assert_eq!(mended, right, "{wrong}");
        assert!(remarks > 0, "{wrong}");
        assert_eq!(sent(wrong), right);
    }
    let nested = json!({"type": "array", "items": {"anyOf": [{"type": "any"}, {"type": "dict"}]}});
    let (mended, remarks) = checked(nested);
    assert_eq!(mended["items"], json!({"anyOf": [{}, {"type": "object"}]}));
    assert_eq!(remarks, 2);
}

#[test]
fn a_right_schema_stays_the_same() {
    let right = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"required": {"type": ["string", "null"], "enum": ["a", null]},
            "e": {"$ref": "#/$defs/E"}, "type": {"type": "integer", "enum": [1, 2.0]}, "x": true},
        "required": ["e"], "$defs": {"E": {"exclusiveMinimum": 1, "type": "number"}}});
    assert_eq!(mended(&right), (right.clone(), Vec::new()));
    assert_eq!(sendable(&right), Some(right));
}

#[test]
fn older_drafts_are_the_newest_one() {
    let old = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object",
        "properties": {"e": {"minimum": 1, "exclusiveMinimum": true},
            "f": {"type": "array", "items": [{"type": "string"}]}}});
    let (new, remarks) = mended(&old);
    let right = json!({"type": "object", "properties": {"e": {"exclusiveMinimum": 1},
        "f": {"type": "array", "prefixItems": [{"type": "string"}]}}});
    assert_eq!((new, remarks), (right, Vec::new()));
    let switch = json!({"properties": {"a": {"type": "string", "required": true}, "b": {"required": false}}});
    assert_eq!(mended(&switch).0["required"], json!(["a"]));
    let twice = json!({"required": ["a", "a", 7]});
    assert_eq!(mended(&twice).0["required"], json!(["a"]));
}

#[test]
fn an_enum_of_another_type_is_read_as_that_type() {
    for (wrong, checks, sends) in [
        (
            json!({"type": "integer", "enum": ["1", "2"]}),
            json!({"enum": [1, 2, "1", "2"]}),
            json!({"type": "integer", "enum": [1, 2]}),
        ),
        (
            json!({"type": "string", "enum": [1, true]}),
            json!({"enum": ["1", "true", 1, true]}),
            json!({"type": "string", "enum": ["1", "true"]}),
        ),
        (json!({"type": "integer", "enum": ["a"]}), json!({"enum": ["a"]}), json!({"enum": ["a"]})),
        (
            json!({"type": "integer", "enum": ["1", 2]}),
            json!({"type": "integer", "enum": [2]}),
            json!({"type": "integer", "enum": [2]}),
        ),
    ] {
        assert_eq!(checked(wrong.clone()), (checks, 1), "{wrong}");
        assert_eq!(sent(wrong), sends);
    }
}

#[test]
fn what_is_sent_is_an_object_with_properties() {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let (a, b) =
        (object(json!({"a": {"type": "string"}})), object(json!({"b": {"type": "integer"}})));
    let both = object(json!({"a": {"type": "string"}, "b": {"type": "integer"}}));
    for (schema, right) in [
        (json!({}), object(json!({}))),
        (json!({"type": "object"}), object(json!({}))),
        (json!({"type": ["object", "null"]}), object(json!({}))),
        (json!({"properties": null}), object(json!({}))),
        (json!({"anyOf": [a, b]}), both.clone()),
        (json!({"oneOf": [a, {"type": "null"}]}), a.clone()),
        (json!({"allOf": [a, b]}), both.clone()),
        (
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, b]}),
            both.clone(),
        ),
        (json!({"type": "object", "not": {}, "enum": [1], "const": {}}), object(json!({}))),
        (
            json!({"required": ["x"]}),
            json!({"type": "object", "properties": {"x": {}}, "required": ["x"]}),
        ),
        (json!(true), object(json!({}))),
    ] {
        assert_eq!(sendable(&schema), Some(right), "{schema}");
    }
    assert_eq!(sent(json!({"type": "array"})), json!({"type": "array", "items": {}}));
    for schema in [
        json!({"type": "string"}),
        json!({"type": ["array", "null"]}),
        json!(false),
        json!({"anyOf": [{"type": "string"}]}),
        json!({"allOf": [a, {"type": "string"}]}),
        json!({"$ref": "#/$defs/Lost"}),
        json!({"$ref": "#"}),
        json!({"$ref": "https://example.com/x"}),
    ] {
        assert_eq!(sendable(&schema), None, "{schema}");
    }
}

#[test]
fn references_and_choices_at_the_root_are_joined() {
    let schema = json!({"$ref": "#/$defs/In", "$defs": {
        "In": {"type": "object", "properties": {"city": {"type": "string"}, "in": {"$ref": "#/$defs/In"}}, "required": ["city"]}}});
    let sent = sendable(&schema).unwrap();
    assert_eq!(sent["properties"]["city"], json!({"type": "string"}));
    assert_eq!((&sent["required"], sent.get("$ref")), (&json!(["city"]), None));
    assert!(sent["$defs"]["In"].is_object());
    let of = |kind: &str, more: &str| {
        json!({"type": "object", "properties": {"kind": {"const": kind}, (more): {}},
        "required": ["kind", more]})
    };
    let choice = json!({"oneOf": [of("a", "x"), of("b", "y"), of("a", "x")]});
    let sent = sendable(&choice).unwrap();
    assert_eq!(sent["properties"]["kind"], json!({"anyOf": [{"const": "a"}, {"const": "b"}]}));
    assert_eq!((&sent["required"], sent.get("oneOf")), (&json!(["kind"]), None));
}

#[test]
fn a_schema_that_names_itself_ends() {
    let twice = |name: &str| json!({"anyOf": [{"$ref": name}, {"$ref": name}]});
    let mut defs: Map<String, Value> =
        (0..60).map(|n| (n.to_string(), twice(&format!("#/$defs/{}", n + 1)))).collect();
    defs.insert("60".to_owned(), json!({"type": "object"}));
    let schema = json!({"$ref": "#/$defs/0", "$defs": defs});
    drop((sendable(&schema), mended(&schema)));
}
