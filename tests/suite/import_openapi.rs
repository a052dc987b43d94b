//! OpenAPI files as workspaces: what becomes of each part, and what is said of files that cannot be read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolyard::domain::EffectClass;
use toolyard::files::toml_file::Problems;
use toolyard::store::import::OpenApi;
use toolyard::tool::builtin;
use toolyard::tool::manifest::{Loaded, Manifest, load_dir};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::program::{Home, Ran, text};
use crate::shared;
use crate::sitting::Sitting;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/openapi").join(name)
}

/// Reads a manifest as a session would.
pub fn checked(file: &str, text: &str, folder: &Path) -> Result<(), Problems> {
    Manifest::parse(file, text, folder, builtin::none).map(drop)
}

/// The tools of a file by name, and what the import said.
pub fn imported(
    file: &Path,
    base: Option<&str>,
) -> (BTreeMap<String, Manifest>, String, Vec<String>) {
    let out = tempfile::tempdir().unwrap();
    let imported = OpenApi::read(file).unwrap().write(base, out.path(), false, &checked).unwrap();
    let tools = load_dir(&out.path().join("tools"), builtin::none).and_then(Loaded::whole).unwrap();
    assert_eq!(tools.len(), imported.tools);
    let tools = tools.into_iter().map(|tool| (tool.spec.name.to_string(), tool)).collect();
    (tools, imported.to_string(), imported.remarks)
}

/// What a call would ask for.
fn line(tool: &Manifest, arguments: Value) -> String {
    tool.spec.request.as_ref().unwrap().line(&arguments)
}

#[test]
fn version_3_0_in_json() {
    let (tools, said, remarks) = imported(&data("shop-3.0.json"), Some("https://own.example/x/"));
    let effects: Vec<_> =
        tools.iter().map(|(name, tool)| (name.as_str(), tool.spec.effect.name())).collect();
    assert_eq!(
        effects,
        [
            ("DELETE_items_item_id", "idempotent"),
            ("GET_items_item_id", "read"),
            ("HEAD_items_item_id", "read"),
            ("PATCH_items", "write"),
            ("POST_login", "write"),
            ("PUT_items_item_id", "idempotent"),
        ]
    );
    assert_eq!(
        said,
        "6 tools, of which 2 only read; 2 operations left out\nset SHOP_API_KEY: the key\nset SHOP_BASIC: user:password in Base64"
    );
    let circle = "parts of its arguments refer in a circle or are too large; they allow anything";
    assert_eq!(
        remarks,
        [
            format!("PUT /items/{{item-id}}: {circle}"),
            "OPTIONS /items/{item-id} is left out: its method is not supported".to_owned(),
            "POST /items is left out: its body is multipart/form-data, which cannot be sent".to_owned(),
            format!("PATCH /items: {circle}"),
            "operationId \"item\" is that of GET /items/{item-id} and PUT /items/{item-id}; these tools are named by \
             method and path"
                .to_owned(),
        ]
    );
    let get = &tools["GET_items_item_id"];
    assert_eq!(get.spec.description, "One item. Says what an item is and costs.");
    assert_eq!(get.spec.disabled, None);
    assert_eq!(
        *get.spec.parameters,
        json!({
            "type": "object",
            "required": ["item_id"],
            "properties": {
                "item_id": { "type": "integer", "exclusiveMinimum": 0, "description": "Its number." },
                "X_Trace": { "type": "string" },
                "id": { "type": ["string", "null"], "enum": ["a", "b"], "default": "a" },
            },
            "additionalProperties": false,
        })
    );
    let asked = line(get, json!({ "item_id": 7, "id": "b", "X_Trace": "t" }));
    assert_eq!(asked, "GET https://own.example/x/items/7?id=b");
    let request = get.spec.request.as_ref().unwrap();
    assert_eq!(
        (request.operation.as_str(), request.operation_id.as_str()),
        ("GET /items/{item-id}", "item")
    );
    let returns = get.spec.returns.as_ref().unwrap();
    assert_eq!(returns.example, "{\"id\":1,\"parts\":[1,2]}");
    assert_eq!(returns.schema["required"], json!(["name", "id", "price"]));
    assert_eq!(returns.schema["properties"]["parent"], json!({ "description": "Item, as above" }));
    // A field of the body has the name of a part of the path, and one that only comes back is not sent.
    let put = &tools["PUT_items_item_id"].spec;
    assert!(put.description.ends_with(" (deprecated)"), "{}", put.description);
    assert_eq!(put.parameters["required"], json!(["item_id", "name", "price"]));
    let names: Vec<_> = put.parameters["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["item_id", "X_Trace", "name", "links", "item_id_2", "price", "parent"]);
}

#[test]
fn version_3_1_in_yaml() {
    let (tools, said, remarks) = imported(&data("films-3.1.yaml"), None);
    assert_eq!(
        said,
        "3 tools, of which 3 only read\nset FILM_OFFICE_TOKEN: the token\nthe tools are disabled: no --base URL was \
         given; the file names https://eu.films.example/v2"
    );
    assert!(remarks.is_empty(), "{remarks:?}");
    let search = &tools["GET_search_kind"];
    let why = "no --base URL was given; the file names https://eu.films.example/v2";
    assert_eq!(search.spec.disabled.as_deref(), Some(why));
    let arguments = json!({
        "kind": "film", "page": 2, "vote_gte": 7.5, "from_": "2020-01-01", "tags": ["a", "b"], "years": [1, 2],
        "filter": {"by": "x"}, "session": "s",
    });
    assert_eq!(
        line(search, arguments),
        "GET https://eu.films.example/v2/search/film?page=2&vote.gte=7.5&from=2020-01-01&tags=a&tags=b&years=1,2\
         &filter%5Bby%5D=x"
    );
    let properties = &search.spec.parameters["properties"];
    assert_eq!(properties["page"], json!({ "type": ["integer", "null"], "exclusiveMinimum": 0 }));
    assert_eq!(
        properties["kind"],
        json!({ "enum": ["film", "series"], "description": "film or series" })
    );
    assert_eq!(search.spec.parameters["required"], json!(["kind", "from_", "session"]));
    let film = &search.spec.returns.as_ref().unwrap().schema["properties"]["results"]["items"]["properties"];
    assert!(film["title"]["type"] == "string" && film.get("secret").is_none(), "{film}");
    // Parts of a path that nobody declares, and a name that is taken.
    let parts = json!({ "id": "1", "part": "cast" });
    assert_eq!(
        line(&tools["GET_films_id_part"], parts),
        "GET https://eu.films.example/v2/films/1/cast"
    );
    assert_eq!(
        tools["GET_search_kind_2"].spec.request.as_ref().unwrap().operation,
        "GET /search/{kind}/"
    );
}

#[test]
fn files_that_are_no_openapi_get_one_line_that_says_why() {
    let cases = [
        (
            "swagger.json:1",
            "swagger: expected OpenAPI of version 3.0, 3.1 or 3.2, Swagger 2.0, or a Postman",
        ),
        ("no-paths.yaml:3", "paths: has no paths; expected at least one operation in `paths`"),
        (
            "version.json:1",
            "openapi: expected OpenAPI of version 3.0, 3.1 or 3.2, Swagger 2.0, or a Postman collection of version 2, got version 4.0.0",
        ),
        (
            "no-version.json",
            "expected OpenAPI of version 3.0, 3.1 or 3.2, Swagger 2.0, or a Postman collection of version 2, got one without a field `openapi`",
        ),
        ("broken.json:3", "not JSON: key must be a string"),
        ("broken.yaml:2", "not YAML that can be read: mismatched bracket"),
        (
            "list.yaml",
            "expected OpenAPI of version 3.0, 3.1 or 3.2, Swagger 2.0, or a Postman collection of version 2, which is an object with",
        ),
        (
            "parameters.yaml:6",
            "paths./a.get.parameters: no operation can be a tool: expected a list of parameters, got 3",
        ),
        (
            "circle.yaml:6",
            "paths./a.get.parameters.0: no operation can be a tool: its references lead in a circle at \"#/components/parameters/",
        ),
        (
            "elsewhere.yaml:6",
            "paths./a.get.parameters.0: no operation can be a tool: \"other.yaml#/components/parameters/A\" leads to another file",
        ),
        ("bomb.yaml:8", "repeats or nests too much to be read; write it without aliases"),
        ("deep.json:1", "not JSON: recursion limit exceeded"),
        ("missing.yaml", "no such file; expected an OpenAPI file (.json, .yaml or .yml)"),
    ];
    let out = tempfile::tempdir().unwrap();
    for (place, text) in cases {
        let name = place.split(':').next().unwrap();
        let read = OpenApi::read(&data("bad").join(name));
        let error = read
            .and_then(|api| api.write(None, out.path(), false, &checked))
            .map(drop)
            .unwrap_err();
        let error = error.to_string();
        assert!(error.contains(&format!("{place}: {text}")), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let all = std::fs::read_dir(data("bad")).unwrap().count();
    assert_eq!(all, cases.len() - 1, "each bad file has its message");
    assert_eq!(out.path().read_dir().unwrap().count(), 0, "nothing was written");
}

#[test]
fn a_large_schema_is_cut_and_said_so() {
    let field = |i: usize| (format!("f{i}"), json!({ "type": "string", "description": "x" }));
    let fields: serde_json::Map<_, _> = (0..3000).map(field).collect();
    let schema = json!({ "type": "object", "properties": fields });
    let content = json!({ "application/json": { "schema": { "type": "object", "properties": { "one": schema, "two": schema } } } });
    let document = json!({
        "openapi": "3.1.0",
        "paths": { "/a": { "post": {
            "requestBody": { "content": content },
            "responses": { "200": { "description": "", "content": content } },
        } } },
    });
    let home = Home::new();
    home.write("a.json", document.to_string());
    let (tools, _, remarks) = imported(&home.path("a.json"), Some("http://h"));
    assert_eq!(remarks.len(), 1);
    assert!(remarks[0].contains("or are too large; they allow anything"), "{remarks:?}");
    let spec = &tools["POST_a"].spec;
    let lines = serde_json::to_string_pretty(&spec.returns.as_ref().unwrap().schema)
        .unwrap()
        .lines()
        .count();
    assert!(lines <= 200, "{lines}");
    assert!(spec.parameters.to_string().len() < 400_000);
}

/// Schemas that all refer to many others: written out in full, one would have 20^12 parts.
#[test]
fn a_net_of_references_stays_small() {
    let reference = |i: usize| json!({ "$ref": format!("#/components/schemas/S{}", i % 60) });
    let schema = |i: usize| {
        let fields = (0..20).map(|j| (format!("p{j}"), reference(i * 7 + j)));
        json!({ "type": "object", "properties": fields.collect::<serde_json::Map<_, _>>() })
    };
    let schemas: serde_json::Map<_, _> = (0..60).map(|i| (format!("S{i}"), schema(i))).collect();
    let content = json!({ "application/json": { "schema": reference(0) } });
    let document = json!({
        "openapi": "3.0.0",
        "paths": { "/a": { "put": { "requestBody": { "content": content }, "responses": {} } } },
        "components": { "schemas": schemas },
    });
    let home = Home::new();
    home.write("a.json", document.to_string());
    let (tools, ..) = imported(&home.path("a.json"), Some("http://h"));
    let properties = &tools["PUT_a"].spec.parameters["properties"];
    assert_eq!(properties.as_object().unwrap().len(), 20);
    assert!(properties.to_string().len() < 100_000, "{}", properties.to_string().len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any parameter of any place makes a manifest that loads, with one argument.
    #[test]
    fn parameters_of_any_name_make_manifests_that_load(
        name in "[a-zA-Z0-9_.\\[\\]$ü-]{1,12}",
        place in prop::sample::select(vec!["path", "query"]),
        schema in prop::sample::select(vec![
            json!({"type": "string", "pattern": "(?<a>x"}),
            json!({"type": "integer", "enum": [1, null], "default": null}),
            json!({"type": "array", "items": {"type": "string", "nullable": true}}),
            json!({"multipleOf": 0, "type": "number"}),
            json!({"oneOf": [{"type": "string"}, {"$ref": "#/components/schemas/No"}]}),
            json!(true),
        ]),
    ) {
        let path = if place == "path" { format!("/a/{{{name}}}") } else { "/a".to_owned() };
        let parameter = json!({ "name": name, "in": place, "required": true, "schema": schema });
        let document = json!({
            "openapi": "3.0.1",
            "paths": { path: { "get": { "parameters": [parameter], "responses": {} } } },
        });
        let home = Home::new();
        home.write("a.json", document.to_string());
        let (tools, ..) = imported(&home.path("a.json"), Some("http://h"));
        let tool = tools.values().next().unwrap();
        prop_assert_eq!(tool.spec.parameters["properties"].as_object().unwrap().len(), 1);
        prop_assert_eq!(tool.spec.effect, EffectClass::Read);
        let own = tool.spec.parameters["required"][0].as_str().unwrap();
        let asked = line(tool, json!({ own: "v" }));
        prop_assert!(asked.ends_with("/v") || asked.ends_with("=v"), "{}", asked);
    }
}

#[test]
fn the_address_is_given_by_the_user_or_agreed_to() {
    let home = Home::new();
    let file = data("shop-3.0.json");
    let import = |more: &[&str]| {
        home.run(&[&["import", "openapi", text(&file), "--out", "w"], more].concat())
    };
    for (base, why) in [
        (
            "ftp://h",
            "--base: expected an address such as https://api.example.org/v1, got \"ftp://h\"",
        ),
        ("h", "--base: expected an address such as https://api.example.org/v1, got \"h\": "),
        (
            "http://u:p4ssword@h",
            "--base: expected an address such as https://api.example.org/v1, without a password",
        ),
        (
            "http://h/?a=1",
            "--base: expected an address such as https://api.example.org/v1, without `?`, `#` and",
        ),
    ] {
        let ran = import(&["--base", base]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(why) && !ran.err.contains("p4ssword"), "{ran:?}");
    }
    // Nobody is asked where nobody answers.
    let ran = import(&[]);
    assert!(ran.out.contains("the tools are disabled: no --base URL was given"), "{ran:?}");
    home.write("other/file", "");
    let ran = home.run(&["import", "openapi", text(&file), "--out", "other"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not empty and not an earlier import"), "{ran:?}");
    // An earlier import is replaced.
    for (answer, is_disabled) in [("\r", true), ("y\r", false)] {
        let words =
            [env!("CARGO_BIN_EXE_toolyard"), "import", "openapi", text(&file), "--out", "w"];
        let mut sitting = Sitting::of(&home, 120, 30, &words, &[]);
        sitting.wait("The file names the server https://shop.example/api. Call it? [y/N]");
        sitting.press(answer);
        let (status, _) = sitting.end();
        assert_eq!(status.exit_code(), 0);
        let manifest = home.read("w/tools/POST_login.toml");
        assert_eq!(manifest.contains("\ndisabled = "), is_disabled, "{manifest}");
        assert!(manifest.contains("url = \"https://shop.example/api/login\""), "{manifest}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_imported_tool_is_called_with_its_key_and_its_body() {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(200).set_body_json(json!({ "ok": true }));
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let home = Home::new();
    let file = data("shop-3.0.json");
    let base = format!("{}/v1", server.uri());
    home.succeed(&["import", "openapi", text(&file), "--out", "w", "--base", &base]);
    let call = |arguments: &[&str]| {
        let words = [&["tools", "call"], arguments, &["--workspace", "w"]].concat();
        let mut command = home.command(&words);
        command.env("SHOP_BASIC", "dXNlcjpwYXNzd29yZA==").env("SHOP_API_KEY", "sh0p-k3y-12345");
        let ran = Ran::of(command.output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (0, "{\"ok\":true}\n"), "{ran:?}");
    };
    call(&["POST_login", "user=Ève & co", "class_=a"]);
    call(&[
        "PUT_items_item_id",
        r#"{"item_id": "a/b", "item_id_2": "c", "name": "n", "price": 2, "parent": {"x": 1}}"#,
    ]);
    call(&["DELETE_items_item_id", "item_id=7"]);
    let received = server.received_requests().await.unwrap();
    let [login, put, delete] = received.as_slice() else { panic!("{received:?}") };
    assert_eq!(login.url.path(), "/v1/login");
    assert_eq!(login.headers["authorization"], "Basic dXNlcjpwYXNzd29yZA==");
    assert_eq!(login.body, b"user=%C3%88ve%20%26%20co&class=a");
    assert_eq!((put.method.as_str(), put.url.path()), ("PUT", "/v1/items/a%2Fb"));
    assert!(!put.headers.contains_key("x-shop-key"), "this operation needs no key");
    let body: Value = serde_json::from_slice(&put.body).unwrap();
    assert_eq!(body, json!({ "name": "n", "item-id": "c", "price": 2, "parent": { "x": 1 } }));
    assert_eq!(delete.headers["x-shop-key"], "sh0p-k3y-12345");
}

/// The name of an operation by the rule, in the plainest way: every other character is a space, and words are joined.
fn by_the_rule(operation: &str) -> String {
    let words: String =
        operation.chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { ' ' }).collect();
    words.split_whitespace().collect::<Vec<_>>().join("_")
}

#[test]
fn the_film_database_becomes_54_tools() {
    let Some(file) = shared("data/restbench/tmdb_oas.json") else { return };
    let (tools, said, remarks) = imported(&file, Some("http://127.0.0.1:4712/3"));
    assert_eq!(said, "54 tools, of which 54 only read\nset API_KEY: the key");
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(tools.len(), 54);
    for (name, tool) in &tools {
        assert_eq!(*name, by_the_rule(&tool.spec.request.as_ref().unwrap().operation));
        assert!(tool.spec.returns.is_some(), "{name}");
    }
    let discover = &tools["GET_discover_movie"];
    assert_eq!(
        line(discover, json!({ "vote_average_gte": 8, "with_cast": "1,2" })),
        "GET http://127.0.0.1:4712/3/discover/movie?vote_average.gte=8&with_cast=1%2C2&api_key=${API_KEY}"
    );
}
