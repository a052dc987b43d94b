//! Descriptions of APIs in other forms than OpenAPI 3, and imports into the folder of an earlier one.

use serde_json::json;
use toolyard::tool::builtin;
use toolyard::tool::manifest::{Loaded, load_dir};

use crate::import_cases::Api;
use crate::program::{Home, text};

#[tokio::test]
async fn swagger_2_is_read() {
    let document = json!({
        "swagger": "2.0",
        "host": "slack.example",
        "basePath": "/api",
        "consumes": ["application/x-www-form-urlencoded", "application/json"],
        "securityDefinitions": { "slackAuth": { "type": "oauth2", "flow": "accessCode" }, "b": { "type": "basic" } },
        "parameters": { "Shared": { "name": "shared", "in": "query", "type": "string", "enum": ["a"] } },
        "definitions": { "D": { "type": "object", "properties": { "n": { "type": "integer", "x-nullable": true } } } },
        "paths": {
            "/chat.postMessage": { "post": {
                "operationId": "chat_postMessage",
                "security": [{ "slackAuth": [] }],
                "parameters": [
                    { "name": "token", "in": "header", "required": true, "type": "string" },
                    { "name": "text", "in": "formData", "required": true, "type": "string", "description": "What." },
                    { "name": "users", "in": "formData", "type": "array", "items": { "type": "string" } },
                    { "name": "multi", "in": "formData", "type": "array", "collectionFormat": "multi", "items": { "type": "string" } },
                ],
                "responses": { "200": { "description": "", "schema": { "$ref": "#/definitions/D" } } },
            } },
            "/list/{ids}": {
                "parameters": [{ "name": "ids", "in": "path", "required": true, "type": "array", "items": { "type": "integer" } }],
                "get": { "parameters": [
                    { "$ref": "#/parameters/Shared" },
                    { "name": "csv", "in": "query", "type": "array", "items": { "type": "string" } },
                    { "name": "pipes", "in": "query", "type": "array", "collectionFormat": "pipes", "items": { "type": "string" } },
                    { "name": "n", "in": "query", "type": "integer", "maximum": 5, "exclusiveMaximum": true },
                ] },
                "put": { "consumes": ["application/json"], "parameters": [
                    { "name": "body", "in": "body", "required": true, "schema": { "$ref": "#/definitions/D" } },
                ] },
                "post": { "parameters": [{ "name": "file", "in": "formData", "type": "file" }] },
                "patch": { "parameters": [{ "name": "t", "in": "query", "type": "array", "collectionFormat": "tsv", "items": {} }] },
            },
        },
    });
    let api = Api::of("a.json", &document.to_string()).await;
    assert_eq!(api.names(), ["GET_list_ids", "PUT_list_ids", "chat_postMessage"]);
    let chat = api.tool("chat_postMessage");
    assert!(chat.spec.request.as_ref().unwrap().url.to_string().ends_with("/v1/chat.postMessage"));
    assert_eq!(
        chat.spec.returns.as_ref().unwrap().schema["properties"]["n"]["type"],
        json!(["integer", "null"])
    );
    assert_eq!(
        chat.spec.parameters["properties"]["text"],
        json!({ "type": "string", "description": "What." })
    );
    let arguments =
        json!({ "ids": [1, 2], "shared": "a", "csv": ["x", "y"], "pipes": ["p", "q"], "n": 4 });
    assert_eq!(
        api.address("GET_list_ids", arguments).await,
        "/list/1,2?shared=a&csv=x,y&pipes=p%7Cq&n=4"
    );
    assert!(api.call("GET_list_ids", json!({ "ids": [1], "n": 5 })).await.is_err());
    let sent = api.sent("PUT_list_ids", json!({ "ids": [1], "n": null })).await;
    assert_eq!((sent.address().as_str(), sent.body().as_str()), ("/list/1", "{\"n\":null}"));
    let all = api.remarks.join("\n");
    assert!(all.contains("POST /list/{ids} is left out: its body is multipart/form-data"), "{all}");
    assert!(
        all.contains("PATCH /list/{ids} is left out: its parameter \"t\" has the style \"tsv\""),
        "{all}"
    );
}

#[tokio::test]
async fn a_postman_collection_is_read() {
    let document = json!({
        "info": { "name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
        "variable": [{ "key": "baseUrl", "value": "https://shop.example/v3" }],
        "auth": { "type": "apikey", "apikey": [{ "key": "key", "value": "X-API-Key" }, { "key": "value", "value": "{{k}}" }] },
        "item": [
            { "name": "Items", "item": [
                { "name": "Get an item", "request": {
                    "method": "GET",
                    "header": [{ "key": "X-Version", "value": "7" }, { "key": "X-Trace", "value": "{{trace}}", "disabled": true }],
                    "url": {
                        "raw": "{{baseUrl}}/items/:id?lang=en&lang=de", "host": ["{{baseUrl}}"], "path": ["items", ":id"],
                        "query": [{ "key": "lang", "value": "en", "description": "Its language." }],
                        "variable": [{ "key": "id", "value": "i1", "description": "Which." }],
                    },
                } },
                { "name": "Change an item", "request": {
                    "method": "POST",
                    "header": [],
                    "auth": { "type": "noauth" },
                    "url": "{{baseUrl}}/items/{{item}}",
                    "body": { "mode": "raw", "raw": "{\"name\": \"a{{x}}\", \"price\": 3, \"tags\": [\"t\"], \"n\": {{n}} }" },
                } },
            ] },
            { "name": "Log in", "request": {
                "method": "POST",
                "url": { "raw": "{{baseUrl}}/login" },
                "body": { "mode": "urlencoded", "urlencoded": [{ "key": "user", "value": "me" }] },
            } },
            { "name": "Upload", "request": { "method": "POST", "url": "{{baseUrl}}/up", "body": { "mode": "formdata" } } },
            { "name": "Nowhere", "request": { "method": "GET" } },
        ],
    });
    let api = Api::of("a.json", &document.to_string()).await;
    assert_eq!(api.names(), ["Change_an_item", "Get_an_item", "Log_in"]);
    let arguments =
        json!({ "name": "b", "price": 2.5, "tags": [], "n": [1], "more": true, "item": "i/1" });
    let sent = api.sent("Change_an_item", arguments).await;
    assert_eq!(sent.address(), "/items/i%2F1");
    assert_eq!(sent.body(), "{\"name\":\"b\",\"price\":2.5,\"tags\":[],\"n\":[1],\"more\":true}");
    let get = api.tool("Get_an_item");
    assert_eq!(
        get.spec.parameters["properties"]["lang"]["description"],
        "Its language. Such as \"en\"."
    );
    let line = get.spec.request.as_ref().unwrap().line(&json!({ "id": "1", "lang": "de" }));
    assert!(line.ends_with("/v1/items/1?lang=de"), "{line}");
    let all = api.remarks.join("\n");
    assert!(all.contains("POST /up is left out: its body is multipart/form-data"), "{all}");
    assert!(
        all.contains("request \"Nowhere\" is left out: expected an address in `request.url`"),
        "{all}"
    );
}

#[tokio::test]
async fn properties_may_be_those_of_another_schema() {
    let schema =
        json!({ "type": "object", "properties": { "$ref": "#/components/schemas/S/properties" } });
    let content = json!({ "application/json": { "schema": schema } });
    let document = json!({
        "openapi": "3.0.0",
        "paths": { "/a": { "post": { "requestBody": { "required": true, "content": content } } } },
        "components": { "schemas": { "S": { "properties": { "n": { "type": "integer" }, "$ref": { "type": "string" } } } } },
    });
    let api = Api::of("a.json", &document.to_string()).await;
    let sent = api.sent("POST_a", json!({ "n": 1, "ref": "r" })).await;
    assert_eq!(sent.body(), "{\"n\":1,\"$ref\":\"r\"}");
}

#[tokio::test]
async fn an_object_that_fits_several_open_alternatives_is_sent() {
    let part = |name: &str| json!({ "type": "object", "properties": { "name": { "type": "string" }, name: { "type": "integer" } } });
    let schema = json!({ "type": "object", "properties": { "runner": { "oneOf": [part("a"), part("b")] } } });
    let content = json!({ "application/json": { "schema": schema } });
    let api = Api::paths(
        json!({ "/a": { "put": { "requestBody": { "required": true, "content": content } } } }),
    )
    .await;
    let sent = api.sent("PUT_a", json!({ "runner": { "name": "n" } })).await;
    assert_eq!(sent.body(), "{\"runner\":{\"name\":\"n\"}}");
    assert!(api.call("PUT_a", json!({ "runner": { "name": 1 } })).await.is_err());
}

/// The workspace of an import by method and path, as it was before operations' ids named tools.
#[test]
fn an_import_into_an_earlier_one_leaves_one_tool_of_each_operation() {
    let home = Home::new();
    let document = json!({
        "openapi": "3.0.0",
        "paths": {
            "/a": { "get": { "operationId": "list-a", "summary": "New words" } },
            "/b": { "get": { "operationId": "mine" } },
        },
    });
    home.write("a.json", document.to_string());
    home.write("w/workspace.toml", "format = 1\nkind = \"openapi\"\nfrom = \"a.json\"\n");
    let manifest = |name: &str, operation: &str| {
        format!(
            "name = \"{name}\"\ndescription = \"Old.\"\neffect = \"read\"\n[source]\nmethod = \"GET\"\nurl = \"http://h/a\"\n{operation}"
        )
    };
    home.write("w/tools/GET_a.toml", manifest("GET_a", "operation = \"GET /a\"\n"));
    home.write("w/tools/own.toml", manifest("mine", ""));
    let out = home.succeed(&[
        "import",
        "openapi",
        text(&home.path("a.json")),
        "--out",
        "w",
        "--base",
        "http://h",
    ]);
    assert!(out.contains("1 tool of an earlier import: the names stay"), "{out}");
    let loaded = load_dir(&home.path("w/tools"), builtin::none).and_then(Loaded::whole).unwrap();
    let tools: Vec<_> = loaded
        .iter()
        .map(|tool| (tool.spec.name.as_str(), tool.spec.description.as_str()))
        .collect();
    assert_eq!(tools, [("GET_a", "New words."), ("mine_2", "GET /b"), ("mine", "Old.")]);
}

/// Versions and codes look like numbers in YAML, but their parameter is a text.
#[tokio::test]
async fn values_of_texts_are_texts_as_they_are_written() {
    let yaml = "openapi: 3.0.3\npaths:\n  /v:\n    get:\n      parameters:\n      - name: version\n        in: query\n        \
        schema: {type: string, nullable: true, enum: [1, 2.0, 1.10, true], default: 2.0}\n      - name: codes\n        \
        in: query\n        schema: {type: array, items: {type: string, enum: [010, 0x10]}}\n      \
        - {name: n, in: query, schema: {type: number, enum: [1.10]}}\n";
    let api = Api::of("a.yaml", yaml).await;
    let parameters = &api.parameters("GET_v")["properties"];
    assert_eq!(parameters["version"]["enum"], json!(["1", "2.0", "1.10", "true"]));
    assert_eq!(parameters["codes"]["items"]["enum"], json!(["010", "0x10"]));
    assert_eq!(parameters["n"]["enum"], json!([1.1]));
    let arguments = json!({ "version": "1.10", "codes": ["010"] });
    assert_eq!(api.address("GET_v", arguments).await, "/v?version=1.10&codes=010");
    let paths = "{\"/v\": {\"get\": {\"parameters\": [{\"name\": \"version\", \"in\": \"query\",
        \"schema\": {\"type\": \"string\", \"enum\": [1.10, false]}}]}}}";
    let api = Api::of("a.json", &format!("{{\"openapi\": \"3.1.0\", \"paths\": {paths}}}")).await;
    let version = &api.parameters("GET_v")["properties"]["version"];
    assert_eq!(version["enum"], json!(["1.10", "false"]));
}
