//! `toolyard-lab program`: programs and replies over tools, and their outcome for people and scripts.

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::program::Home;

fn one(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn case_13_4_a_missing_builtin_says_which_there_are() {
    let home = Home::new();
    for (name, instead) in [
        ("eval", "write the expression itself"),
        ("exec", "write the statements themselves"),
        ("compile", "write the statements themselves"),
    ] {
        for program in
            [format!("print({name}('1 + 1'))\n"), format!("f = {name}\nprint(f('1 + 1'))\n")]
        {
            home.write("p.py", &program);
            let ran = home.run(&["program", "run", "p.py"]);
            let said = format!("NameError: name '{name}' is not defined ({instead}");
            assert!(ran.code != 0 && ran.out.contains(&said), "{program}: {ran:?}");
            assert!(ran.out.contains("there are int and float for texts"), "{program}: {ran:?}");
        }
    }
}

#[test]
fn a_program_prints_its_calls_its_text_and_its_error_with_its_place() {
    let home = Home::new();
    home.write("fine.py", "x = calculator(expression='2 + 3')\nprint(x + 1)\n");
    let done = one(&home.succeed(&["program", "run", "fine.py", "--json"]));
    let call = json!({"tool": "calculator", "arguments": {"expression": "2 + 3"}, "line": 1, "outcome": "ok"});
    assert_eq!(
        done,
        json!({"calls": [call], "printed": "6\n", "value": null, "error": null, "how": "fine"})
    );
    home.write("wrong.py", "x = calculator(expression='2 + 3')\nprint(x['no'])\n");
    let ran = home.run(&["program", "run", "wrong.py"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("   2  print(x['no'])\n            ~~~~~~~\n"), "{}", ran.out);
    assert!(ran.out.ends_with("TypeError: 'int' object is not subscriptable\n"), "{}", ran.out);
    let stops = home.succeed(&["program", "run", "fine.py", "--json", "--stop-at", "every-line"]);
    let lines: Vec<Value> = stops.lines().map(one).collect();
    let reached: Vec<_> = lines.iter().filter_map(|line| line["stop"]["line"].as_u64()).collect();
    assert_eq!(reached, [1, 2]);
    assert_eq!(lines[1]["stop"]["set"], json!([{"line": 1, "name": "x", "value": 5}]));
}

#[test]
fn replies_come_back_in_their_order_also_those_without_a_program() {
    let home = Home::new();
    let replies = [
        json!({"id": "a", "reply": "```python\nprint('one')\n```"}),
        json!({"id": 2, "reply": "I cannot."}),
        json!({"id": 3, "reply": "```python\nimport requests\nprint(nothing())\n```"}),
        json!({"id": 4, "reply": "```python\nprint('four')\n```"}),
    ];
    home.write("replies.jsonl", replies.map(|reply| reply.to_string()).join("\n"));
    let ran = home.run(&["program", "run", "--replies", "replies.jsonl", "--json"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let lines = ran.lines();
    let told =
        |line: &Value| json!([line["id"], line["printed"], line["error"]["type"], line["how"]]);
    assert_eq!(
        lines.iter().map(told).collect::<Vec<_>>(),
        [
            json!(["a", "one\n", null, "fine"]),
            json!([2, "", "NoProgram", "failed"]),
            json!([3, "", "ModuleNotFoundError", "refused"]),
            json!([4, "four\n", null, "fine"]),
        ]
    );
    assert_eq!(lines[2]["more"][0]["type"], "NameError");
    home.write("broken.jsonl", "{\"id\": 1, \"reply\": \"x\"}\n{\"id\": 1}\n");
    let wrong = home.run(&["program", "check", "--replies", "broken.jsonl"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("broken.jsonl:2: missing field `reply`"), "{}", wrong.err);
}

#[tokio::test]
async fn the_operations_of_an_openapi_file_are_functions() {
    let server = MockServer::start().await;
    let found = ResponseTemplate::new(200).set_body_json(json!({"title": "Mars", "year": 1999}));
    Mock::given(method("GET")).and(path("/movie/7")).respond_with(found).mount(&server).await;
    let home = Home::new();
    let parameter =
        json!({"name": "movie_id", "in": "path", "required": true, "schema": {"type": "integer"}});
    let get = json!({"parameters": [parameter], "responses": {"200": {"description": "the film"}}});
    let api = json!({
        "openapi": "3.0.0",
        "info": {"title": "films", "version": "1"},
        "paths": {"/movie/{movie_id}": {"get": get}},
    });
    home.write("films.json", api.to_string());
    home.write("film.py", "print(GET_movie_movie_id(movie_id=7)['title'])\n");
    let uri = server.uri();
    let arguments =
        ["program", "run", "film.py", "--openapi", "films.json", "--base", &uri, "--json"];
    let arguments: Vec<String> = arguments.map(str::to_owned).to_vec();
    let ran = tokio::task::spawn_blocking(move || {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        home.run(&arguments)
    });
    let ran = ran.await.unwrap();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(one(&ran.out)["printed"], "Mars\n");
}

#[test]
fn a_program_that_never_ends_stops_a_bounded_number_of_times() {
    let home = Home::new();
    home.write("loop.py", "n = 0\nwhile True:\n    n += 1\n");
    let ran = home.run(&["program", "run", "loop.py", "--stop-at", "every-line", "--json"]);
    let lines = ran.lines();
    assert_eq!((ran.code, lines.len()), (1, 10_001), "{}", ran.err);
    assert_eq!(lines[10_000]["error"]["type"], "TimeoutError");
    assert!(ran.err.contains("10000 stops printed"), "{}", ran.err);
}

#[test]
fn a_program_that_prints_nothing_or_calls_exit_says_so() {
    let home = Home::new();
    for (program, code, remark) in [
        ("x = 1\n", 1, "the program printed nothing"),
        ("", 1, "the program printed nothing"),
        ("exit()\n", 1, "the program called exit() and printed nothing"),
        ("print('a')\nexit('no data')\n", 0, "the program called exit('no data')"),
        ("raise SystemExit(2)\n", 1, "the program called exit(2) and printed nothing"),
    ] {
        home.write("p.py", program);
        let ran = home.run(&["program", "run", "p.py"]);
        assert_eq!(ran.code, code, "{ran:?}");
        assert_eq!(ran.out.lines().last(), Some(remark), "{program:?}: {ran:?}");
        let ran = home.run(&["program", "run", "p.py", "--json"]);
        assert_eq!(one(&ran.out)["remark"], remark, "{program:?}");
    }
}
