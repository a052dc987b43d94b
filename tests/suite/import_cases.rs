//! Descriptions of APIs as they are published: what becomes of each oddity, and what a call then sends.

use serde_json::{Value, json};
use toolyard::store::import::OpenApi;
use toolyard::tool::builtin;
use toolyard::tool::check::Checker;
use toolyard::tool::manifest::{Loaded, Manifest, load_dir};
use toolyard::tool::{Invocation, Tool};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::import_openapi::checked;
use crate::program::Home;

/// An API that was imported, and a server that takes every request.
pub struct Api {
    pub tools: Vec<Manifest>,
    pub remarks: Vec<String>,
    server: MockServer,
}

impl Api {
    /// The tools of a document; its name tells JSON from YAML.
    pub async fn of(name: &str, document: &str) -> Self {
        let server = MockServer::start().await;
        Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&server).await;
        let home = Home::new();
        home.write(name, document);
        let out = home.path("w");
        let api = OpenApi::read(&home.path(name)).unwrap();
        let base = format!("{}/v1", server.uri());
        let imported = api.write(Some(&base), &out, false, &checked).unwrap();
        let tools = load_dir(&out.join("tools"), builtin::none).and_then(Loaded::whole).unwrap();
        assert_eq!(tools.len(), imported.tools);
        Self { tools, remarks: imported.remarks, server }
    }

    /// The tools of these paths, in OpenAPI 3.1.
    pub async fn paths(paths: Value) -> Self {
        Self::of("a.json", &json!({ "openapi": "3.1.0", "paths": paths }).to_string()).await
    }

    pub fn names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.spec.name.as_str()).collect()
    }

    pub fn tool(&self, name: &str) -> &Manifest {
        let found = self.tools.iter().find(|tool| tool.spec.name.as_str() == name);
        found.unwrap_or_else(|| panic!("no {name} in {:?}; {:?}", self.names(), self.remarks))
    }

    pub fn parameters(&self, name: &str) -> &Value {
        &self.tool(name).spec.parameters
    }

    /// What the server gets of a call, or why the call is refused.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Sent, String> {
        let tool = self.tool(name);
        Checker::new(&tool.spec.parameters).check(&arguments).map_err(|error| error.text)?;
        tool.call(&Invocation { arguments, seed: 0 }).await.map_err(|error| error.text)?;
        Ok(Sent(self.server.received_requests().await.unwrap().pop().unwrap()))
    }

    pub async fn sent(&self, name: &str, arguments: Value) -> Sent {
        self.call(name, arguments).await.unwrap()
    }

    /// The address of a call below the server.
    pub async fn address(&self, name: &str, arguments: Value) -> String {
        self.sent(name, arguments).await.address()
    }
}

pub struct Sent(Request);

impl Sent {
    pub fn address(&self) -> String {
        let url = &self.0.url;
        let path = url.path().strip_prefix("/v1").unwrap();
        url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.0.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub fn body(&self) -> String {
        String::from_utf8(self.0.body.clone()).unwrap()
    }
}

/// A parameter of a query without a schema of its own.
fn query(name: &str) -> Value {
    json!({ "name": name, "in": "query", "schema": { "type": "string" } })
}

fn get(parameters: Value) -> Value {
    json!({ "get": { "parameters": parameters } })
}

/// A body of one type.
fn body(kind: &str, schema: Value, required: bool) -> Value {
    json!({ "requestBody": { "required": required, "content": { kind: { "schema": schema } } } })
}

#[tokio::test]
async fn query_and_fragment_of_a_path_are_split() {
    let api = Api::paths(json!({
        "/good": get(json!([query("q")])),
        "/s?kind=full": get(json!([query("q")])),
        "/s": get(json!([])),
        "/s#two": get(json!([query("x")])),
        "/t?Action=Run&id={id}": get(json!([query("Action"), query("id")])),
    }))
    .await;
    assert_eq!(
        api.names(),
        ["GET_good", "GET_s", "GET_s_kind_full", "GET_s_two", "GET_t_Action_Run_id_id"]
    );
    assert_eq!(api.address("GET_s_kind_full", json!({ "q": "a b" })).await, "/s?kind=full&q=a%20b");
    assert_eq!(api.address("GET_good", json!({ "q": "1" })).await, "/good?q=1");
    assert_eq!(api.address("GET_s_two", json!({ "x": "1" })).await, "/s?x=1");
    let action = api.address("GET_t_Action_Run_id_id", json!({ "id": "7&8" })).await;
    assert_eq!(action, "/t?Action=Run&id=7%268");
}

#[tokio::test]
async fn yaml_words_are_those_of_version_1_2() {
    let document = "openapi: 3.0.0\npaths:\n  /a:\n    post:\n      requestBody:\n        required: true\n        content:\n          \
                    application/json:\n            schema:\n              type: object\n              required: [x, y]\n              \
                    properties:\n                x: {type: integer}\n                y: {type: string, enum: [on, off, auto]}\n                \
                    n:\n                  type: array\n                  items:\n                    enum:\n                    - y\n                    - no\n";
    let api = Api::of("a.yaml", document).await;
    let parameters = api.parameters("POST_a");
    assert_eq!(parameters["required"], json!(["x", "y"]));
    assert_eq!(parameters["properties"]["y"]["enum"], json!(["on", "off", "auto"]));
    assert_eq!(parameters["properties"]["n"]["items"]["enum"], json!(["y", "no"]));
}

#[tokio::test]
async fn a_bad_part_costs_its_own_operation_alone() {
    let api = Api::of(
        "a.json",
        &json!({
            "openapi": "3.0.0",
            "paths": {
                "x-note": "text",
                "/a": get(json!([query("q")])),
                "/b": get(json!([{ "name": "b", "in": "body", "schema": {} }])),
                "/c": { "get": { "$ref": "resources/a.yml" } },
                "/d": { "get": 3, "post": { "parameters": {} } },
                "/e": "text",
                "users": get(json!([])),
                "/f": { "get": { "parameters": [
                    { "name": "f", "in": "query", "required": "false", "schema": { "type": "strng", "minLength": 2 } },
                ] } },
                "/g": get(json!([{ "$ref": "#/components/parameters/none" }])),
            },
            "components": { "schemas": { "S": { "type": 7 } }, "parameters": 4 },
        })
        .to_string(),
    )
    .await;
    assert_eq!(api.names(), ["GET_a", "GET_f"]);
    let all = api.remarks.join("\n");
    for remark in [
        "GET /b is left out: its parameter \"b\" is in \"body\"; expected path, query, header or cookie",
        "GET /c is left out: expected an operation, got a reference to \"resources/a.yml\"",
        "GET /d is left out: expected an operation, got 3",
        "POST /d is left out: expected a list of parameters, got an object",
        "/e is left out: expected an object with operations, got \"text\"",
        "GET users is left out: expected a path that begins with `/`",
        "GET /f: required of \"f\": expected true or false, got \"false\", which counts as false",
        "GET /f: parts of its arguments are not a JSON Schema; they allow anything",
        "GET /g is left out: \"#/components/parameters/none\" leads to nothing in this file",
    ] {
        assert!(all.contains(remark), "{remark} is not in\n{all}");
    }
    assert_eq!(api.parameters("GET_f")["properties"]["f"], json!({ "minLength": 2 }));
    assert!(api.parameters("GET_f").get("required").is_none());
}

#[tokio::test]
async fn any_local_pointer_is_followed() {
    let api = Api::paths(json!({
        "/a": { "get": { "parameters": [
            { "name": "p", "in": "query", "schema": { "type": "integer", "maximum": 3 } },
        ] } },
        "/v2/b": { "get": {
            "parameters": [
                { "$ref": "#/paths/~1a/get/parameters/0" },
                { "name": "s", "in": "query", "schema": { "$ref": "#/paths/~1a/get/parameters/0/schema" } },
                { "name": "t", "in": "query", "schema": { "$ref": "a.json#/paths/~1v2~1b/get/parameters/1/schema" } },
            ],
        } },
        "/c": { "$ref": "#/paths/~1v2~1b" },
    }))
    .await;
    let narrow = json!({ "type": "integer", "maximum": 3 });
    for name in ["GET_v2_b", "GET_c"] {
        let properties = &api.parameters(name)["properties"];
        assert_eq!([&properties["p"], &properties["s"], &properties["t"]], [&narrow; 3]);
    }
}

#[tokio::test]
async fn a_body_has_the_type_that_the_file_names() {
    let object = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let operation = |kind: &str| json!({ "patch": body(kind, object.clone(), true) });
    let api = Api::paths(json!({
        "/api": operation("application/vnd.api+json"),
        "/charset": operation("application/json; charset=utf-8"),
        "/merge": operation("application/merge-patch+json"),
        "/any": operation("*/*"),
        "/text": { "post": body("text/plain", json!({ "type": "string" }), true) },
        "/several": { "patch": { "requestBody": { "required": true, "content": {
            "application/json-patch+json": { "schema": { "type": "object" } },
            "application/merge-patch+json": { "schema": object },
        } } } },
    }))
    .await;
    for (name, kind) in [
        ("PATCH_api", "application/vnd.api+json"),
        ("PATCH_charset", "application/json; charset=utf-8"),
        ("PATCH_merge", "application/merge-patch+json"),
        ("PATCH_several", "application/merge-patch+json"),
        ("PATCH_any", "application/json"),
    ] {
        let sent = api.sent(name, json!({ "a": "x" })).await;
        assert_eq!(
            (sent.header("content-type"), sent.body().as_str()),
            (Some(kind), "{\"a\":\"x\"}")
        );
    }
    // In a merge patch null takes a field away.
    assert_eq!(api.sent("PATCH_merge", json!({ "a": null })).await.body(), "{\"a\":null}");
    assert!(api.call("PATCH_any", json!({ "a": null })).await.is_err());
    let sent = api.sent("POST_text", json!({ "body": "# ü {\"a\"}" })).await;
    assert_eq!(sent.header("content-type"), Some("text/plain"));
    assert_eq!(sent.body(), "# ü {\"a\"}");
}

#[tokio::test]
async fn an_explicit_null_is_sent_and_what_is_not_given_is_not() {
    let schema = json!({
        "type": "object",
        "required": ["due"],
        "properties": {
            "due": { "type": "string", "nullable": true },
            "t": { "type": "string" },
            "kind": { "type": "string", "nullable": true, "enum": ["a", null] },
            "ref": { "nullable": true, "allOf": [{ "$ref": "#/components/schemas/S" }] },
        },
    });
    let api = Api::of(
        "a.json",
        &json!({
            "openapi": "3.0.3",
            "paths": { "/a": { "put": body("application/json", schema, true) } },
            "components": { "schemas": { "S": { "type": "string" } } },
        })
        .to_string(),
    )
    .await;
    let sent = api.sent("PUT_a", json!({ "due": null, "t": "x" })).await;
    assert_eq!(sent.body(), "{\"due\":null,\"t\":\"x\"}");
    let sent = api.sent("PUT_a", json!({ "due": "d", "kind": null, "ref": null })).await;
    assert_eq!(sent.body(), "{\"due\":\"d\",\"kind\":null,\"ref\":null}");
    assert!(api.call("PUT_a", json!({ "due": "d", "t": null })).await.is_err());
    assert!(api.call("PUT_a", json!({ "due": "d", "kind": "b" })).await.is_err());
}

#[tokio::test]
async fn every_style_is_sent_as_described() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let object = json!({ "type": "object", "properties": { "x": { "type": "integer" }, "y": { "type": "integer" } } });
    let path = |style: &str, explode: bool, schema: &Value| {
        get(
            json!([{ "name": "p-s", "in": "path", "required": true, "style": style, "explode": explode, "schema": schema }]),
        )
    };
    let query = |style: &str, explode: bool, schema: &Value| {
        get(
            json!([{ "name": "q", "in": "query", "style": style, "explode": explode, "schema": schema }]),
        )
    };
    let (ab, xy) = (json!(["a", "b c"]), json!({ "x": 1, "y": 2 }));
    let cases = [
        ("/m{p-s}", path("matrix", false, &list), &ab, "/m;p-s=a,b%20c"),
        ("/m{p-s}", path("matrix", true, &list), &ab, "/m;p-s=a;p-s=b%20c"),
        ("/m{p-s}", path("matrix", true, &object), &xy, "/m;x=1;y=2"),
        ("/m{p-s}", path("label", false, &list), &ab, "/m.a,b%20c"),
        ("/m{p-s}", path("label", true, &object), &xy, "/m.x=1.y=2"),
        ("/m/{p-s}", path("simple", false, &object), &xy, "/m/x,1,y,2"),
        ("/m/{p-s}", path("simple", true, &object), &xy, "/m/x=1,y=2"),
        ("/q", query("form", true, &list), &ab, "/q?q=a&q=b%20c"),
        ("/q", query("form", false, &list), &ab, "/q?q=a,b%20c"),
        ("/q", query("form", true, &object), &xy, "/q?x=1&y=2"),
        ("/q", query("form", false, &object), &xy, "/q?q=x,1,y,2"),
        ("/q", query("spaceDelimited", false, &list), &ab, "/q?q=a%20b%20c"),
        ("/q", query("pipeDelimited", false, &list), &ab, "/q?q=a%7Cb%20c"),
        ("/q", query("pipeDelimited", true, &list), &ab, "/q?q=a&q=b%20c"),
        ("/q", query("deepObject", true, &object), &xy, "/q?q%5Bx%5D=1&q%5By%5D=2"),
        ("/q", query("deepObject", true, &list), &ab, "/q?q%5B0%5D=a&q%5B1%5D=b%20c"),
    ];
    for (path, item, value, address) in cases {
        let api = Api::paths(json!({ path: item })).await;
        let tool = api.tools[0].spec.name.to_string();
        let own = if path == "/q" { "q" } else { "p_s" };
        assert_eq!(api.address(&tool, json!({ own: value })).await, address, "{item}");
    }
}

#[tokio::test]
async fn headers_and_cookies_are_sent_as_described() {
    let api = Api::paths(json!({ "/a": get(json!([
        { "name": "X-List", "in": "header", "schema": { "type": "array", "items": { "type": "integer" } } },
        { "name": "X-Map", "in": "header", "explode": true, "schema": { "type": "object", "properties": { "a": {} } } },
        { "name": "one", "in": "cookie", "schema": { "type": "string" } },
        { "name": "two", "in": "cookie", "schema": { "type": "string" } },
    ])) }))
    .await;
    let arguments = json!({ "X_List": [1, 2], "X_Map": { "a": 1, "b": "c" }, "two": "2; x" });
    let sent = api.sent("GET_a", arguments).await;
    assert_eq!(sent.header("x-list"), Some("1,2"));
    assert_eq!(sent.header("x-map"), Some("a=1,b=c"));
    assert_eq!(sent.header("cookie"), Some("two=2%3B%20x"));
    assert_eq!(api.sent("GET_a", json!({})).await.header("cookie"), None);
}

#[tokio::test]
async fn a_style_that_cannot_be_sent_leaves_its_operation_out() {
    let of = |style: &str, place: &str, schema: Value| {
        get(
            json!([{ "name": "q", "in": place, "required": true, "style": style, "schema": schema }]),
        )
    };
    let nested = json!({ "type": "array", "items": { "type": "object" } });
    let api = Api::paths(json!({
        "/a/{q}": of("spaceDelimited", "path", json!({})),
        "/b": of("matrix", "query", json!({})),
        "/c": of("form", "query", nested),
        "/d": of("odd", "header", json!({})),
        "/e": get(json!([])),
        "/f": of("form", "query", json!({ "type": "object" })),
    }))
    .await;
    assert_eq!(api.names(), ["GET_e", "GET_f"]);
    assert_eq!(api.remarks.len(), 4, "{:?}", api.remarks);
    // What a schema does not tell is refused before anything is sent.
    let why = api.call("GET_f", json!({ "q": { "x": [1] } })).await.err().unwrap();
    assert!(why.contains("arguments.q: expected texts, numbers or flags within it"), "{why}");
}

#[tokio::test]
async fn a_parameter_with_content_has_its_schema_and_is_json() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let content = json!({ "application/json": { "schema": schema } });
    let api = Api::paths(
        json!({ "/a": get(json!([{ "name": "f", "in": "query", "content": content }])) }),
    )
    .await;
    assert_eq!(api.parameters("GET_a")["properties"]["f"]["required"], json!(["a"]));
    let address = api.address("GET_a", json!({ "f": { "a": 1 } })).await;
    assert_eq!(address, "/a?f=%7B%22a%22%3A1%7D");
    assert!(api.call("GET_a", json!({ "f": { "a": "x" } })).await.is_err());
}

#[tokio::test]
async fn more_fields_of_a_body_are_sent_or_refused() {
    let of = |more: Value| {
        let mut schema =
            json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        if !more.is_null() {
            schema["additionalProperties"] = more;
        }
        json!({ "post": body("application/json", schema, true) })
    };
    let api = Api::paths(json!({
        "/open": of(json!(true)),
        "/numbers": of(json!({ "type": "integer" })),
        "/closed": of(json!(false)),
        "/silent": of(json!(null)),
    }))
    .await;
    let arguments = json!({ "name": "n", "extra": 1 });
    for name in ["POST_open", "POST_numbers"] {
        assert_eq!(api.sent(name, arguments.clone()).await.body(), "{\"name\":\"n\",\"extra\":1}");
    }
    for name in ["POST_closed", "POST_silent"] {
        let why = api.call(name, arguments.clone()).await.err().unwrap();
        assert!(why.contains("arguments.extra: not a parameter"), "{why}");
    }
    assert!(api.call("POST_numbers", json!({ "extra": "x" })).await.is_err());
}

#[tokio::test]
async fn parts_of_all_of_narrow_each_other() {
    let schema = json!({ "allOf": [
        { "type": "object", "properties": { "n": { "type": "integer" } } },
        { "properties": { "n": { "maximum": 5 }, "k": { "allOf": [{ "enum": ["a", "b"] }, { "enum": ["b"] }] } } },
    ] });
    let api = Api::paths(json!({ "/a": { "post": body("application/json", schema, true) } })).await;
    for (arguments, is_good) in [
        (json!({ "n": 5, "k": "b" }), true),
        (json!({ "n": 9 }), false),
        (json!({ "n": 1.5 }), false),
        (json!({ "k": "a" }), false),
    ] {
        assert_eq!(api.call("POST_a", arguments.clone()).await.is_ok(), is_good, "{arguments}");
    }
}

#[tokio::test]
async fn an_empty_optional_body_is_no_body() {
    let closed = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let form = "application/x-www-form-urlencoded";
    let expand = json!({
        "name": "expand", "in": "query", "style": "deepObject", "explode": true,
        "schema": { "type": "array", "items": { "type": "string", "maxLength": 5000 } },
    });
    let mut account = body(form, closed.clone(), false);
    account["parameters"] = json!([expand]);
    let named =
        json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "string" } } });
    let api = Api::paths(json!({
        "/v1/account": { "get": account },
        "/form": { "get": body(form, json!({ "type": "object" }), false) },
        "/json": { "get": body("application/json", closed, false) },
        "/none": { "get": { "requestBody": { "content": {} } } },
        "/some": { "post": body("application/json", named, false) },
    }))
    .await;
    for (name, arguments) in [
        ("GET_v1_account", json!({ "expand": ["a", "b"] })),
        ("GET_form", json!({})),
        ("GET_json", json!({})),
        ("GET_none", json!({})),
        ("POST_some", json!({})),
    ] {
        let sent = api.sent(name, arguments).await;
        assert_eq!((sent.header("content-type"), sent.body().as_str()), (None, ""), "{name}");
    }
    assert_eq!(api.sent("POST_some", json!({ "a": "x" })).await.body(), "{\"a\":\"x\"}");
}

#[tokio::test]
async fn fields_of_a_form_have_their_encoding() {
    let schema = json!({ "type": "object", "properties": {
        "metadata": { "type": "object", "additionalProperties": { "type": "string" } },
        "items": { "type": "array", "items": { "type": "object", "properties": { "n": { "type": "integer" } } } },
        "tags": { "type": "array", "items": { "type": "string" } },
        "plain": { "type": "object" },
    } });
    let deep = json!({ "style": "deepObject", "explode": true });
    let content = json!({ "application/x-www-form-urlencoded": {
        "schema": schema, "encoding": { "metadata": deep, "items": deep },
    } });
    let api = Api::paths(
        json!({ "/a": { "post": { "requestBody": { "required": true, "content": content } } } }),
    )
    .await;
    let arguments = json!({ "metadata": { "k": "v w" }, "items": [{ "n": 1 }], "tags": ["a", "b"], "plain": { "x": 1 } });
    let sent = api.sent("POST_a", arguments).await;
    assert_eq!(
        sent.body(),
        "metadata%5Bk%5D=v%20w&items%5B0%5D%5Bn%5D=1&tags=a&tags=b&plain=%7B%22x%22%3A1%7D"
    );
}

#[tokio::test]
async fn the_id_of_an_operation_names_its_tool() {
    let of = |id: &str| json!({ "get": { "operationId": id } });
    let long = "replaceApiextensionsV1beta2NamespacedCustomResourceDefinitionDummyScaleStatus";
    let api = Api::paths(json!({
        "/repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}/jobs": of("actions/list-jobs-for-workflow-run-attempt"),
        "/long": of(long),
        "/one": of("same"),
        "/two": of("same"),
        "/three": of("Same"),
        "/none": { "get": {} },
        "/end": of("finish"),
    }))
    .await;
    let mut names = api.names();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "GET_none",
            "GET_one",
            "GET_two",
            "Same",
            "actions_list_jobs_for_workflow_run_attempt",
            "finish_",
            "replaceApiextensionsV1beta2NamespacedDefinitionDummyScaleStatus",
        ]
    );
}
