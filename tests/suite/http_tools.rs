//! Tools over HTTP: what reaches the server, what comes back, where a redirect may lead, and where secrets never are.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use toolyard::tool::builtin;
use toolyard::tool::manifest::Manifest;
use toolyard::tool::{Invocation, Tool, ToolError, ToolErrorKind, ToolOutput};
use wiremock::matchers::{any, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::fake_endpoint::{Fake, Step, gzipped, json as document, response, send};
use crate::program::{Home, Ran};

const SECRET: &str = "pl4nted-0f-http-t00ls";
const TIME: Duration = Duration::from_secs(20);

/// A manifest with this source, whose arguments may be anything.
fn manifest(parameters: &[&str], required: &[&str], source: &str) -> Result<Manifest, String> {
    let properties: String =
        parameters.iter().map(|name| format!("[parameters.properties.{name:?}]\n")).collect();
    let text = format!(
        "name = \"t\"\ndescription = \"d\"\neffect = \"read\"\n[parameters]\nrequired = {required:?}\n{properties}\
         [source]\n{source}"
    );
    Manifest::parse("t.toml", &text, Path::new(""), builtin::none)
        .map_err(|problems| problems.to_string())
}

async fn call(tool: &Manifest, arguments: Value) -> Result<ToolOutput, ToolError> {
    let invocation = Invocation { arguments, seed: 0 };
    timeout(TIME, tool.call(&invocation)).await.expect("the call ends")
}

/// The result of a GET of this address.
async fn get(url: &str, more: &str) -> Result<ToolOutput, ToolError> {
    let tool = manifest(&[], &[], &format!("url = {url:?}\n{more}")).unwrap();
    call(&tool, json!({})).await
}

async fn answering(template: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(template).mount(&server).await;
    server
}

#[tokio::test]
async fn each_argument_goes_to_its_place() {
    let server = answering(ResponseTemplate::new(200).set_body_string("done\n")).await;
    let source = format!(
        "method = \"POST\"\nurl = \"{}/movie/{{id}}/x\"\nquery = {{ \"vote.gte\" = \"{{votes}}\", tag = \"{{tags*}}\", \
         page = 2, gone = \"{{gone}}\" }}\nheaders = {{ X-Name = \"n {{name}}\", X-Gone = \"{{gone}}\" }}\n\
         [source.body]\ntitle = \"{{name}}\"\nparts = [\"{{tags}}\", \"{{gone}}\"]\n",
        server.uri()
    );
    let all = ["id", "votes", "tags", "name", "gone"];
    let tool = manifest(&all, &["id"], &source).unwrap();
    let arguments = json!({"id": "a/b ü?#", "votes": 7.5, "tags": ["x&y", "z"], "name": "Ève"});
    assert_eq!(call(&tool, arguments).await.unwrap().text, "done");
    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(request.url.path(), "/movie/a%2Fb%20%C3%BC%3F%23/x");
    assert_eq!(request.url.query(), Some("vote.gte=7.5&tag=x%26y&tag=z&page=2"));
    assert_eq!(request.headers["x-name"].as_bytes(), "n Ève".as_bytes());
    assert!(!request.headers.contains_key("x-gone"));
    assert_eq!(request.headers["content-type"], "application/json");
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    assert_eq!(body, json!({"title": "Ève", "parts": [["x&y", "z"]]}));
}

#[tokio::test]
async fn values_that_fit_nowhere_are_refused_before_anything_is_sent() {
    let server = answering(ResponseTemplate::new(200)).await;
    let source = format!("url = \"{}/a/{{id}}\"\nheaders = {{ X-A = \"{{h}}\" }}\n", server.uri());
    let tool = manifest(&["id", "h"], &["id"], &source).unwrap();
    for (arguments, text) in [
        (json!({"id": ".."}), "arguments: `.` and `..` cannot be parts of a path"),
        (json!({"id": ""}), "arguments.id: expected a part of the path, got nothing"),
        (
            json!({"id": 1, "h": "a\r\nX-Evil: 1"}),
            "the header X-A cannot carry this value, such as a line break",
        ),
    ] {
        let error = call(&tool, arguments).await.unwrap_err();
        assert_eq!((error.kind, error.text.as_str()), (ToolErrorKind::Arguments, text));
    }
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

#[tokio::test]
async fn an_answer_is_text_as_it_came_or_an_error_that_says_what_it_is() {
    let whole = "{ \"a\":  1.50 }";
    let texts: [(&str, &[u8], &str); 5] = [
        ("application/json", whole.as_bytes(), whole),
        ("application/hal+json; charset=utf-8", b"[]", "[]"),
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/csv", b"a,b\n1,2\n", "a,b\n1,2"),
        ("", b"plain", "plain"),
    ];
    for (kind, bytes, text) in texts {
        let kind =
            if kind.is_empty() { String::new() } else { format!("content-type: {kind}\r\n") };
        let head = format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\n{kind}content-length: {}\r\n\r\n",
            bytes.len()
        );
        let fake = Fake::start(vec![vec![send(&head), Step::Send(bytes.to_vec())]]).await;
        assert_eq!(get(&fake.url, "").await.unwrap().text, text, "{kind}");
    }
    let image = response("200 OK", "content-type: image/png\r\n", "\u{1}\u{2}");
    let fake = Fake::start(vec![image]).await;
    let error = get(&fake.url, "").await.unwrap_err();
    assert!(error.text.ends_with(" is image/png, not text"), "{error}");
    let unnamed =
        b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n\xff\xfe".to_vec();
    let fake = Fake::start(vec![vec![Step::Send(unnamed)]]).await;
    let error = get(&fake.url, "").await.unwrap_err();
    assert!(error.text.ends_with("is not text, and does not name its type"), "{error}");
}

#[tokio::test]
async fn a_long_answer_is_cut_and_a_very_long_one_is_an_error() {
    let server = answering(ResponseTemplate::new(200).set_body_string("ä".repeat(500))).await;
    let output = get(&server.uri(), "max_output = 101\n").await.unwrap();
    assert_eq!(output.cut_from, Some(1000));
    assert!(output.text.ends_with("ä\n[cut: the first 100 of 1000 bytes]"), "{}", output.text);
    let server = answering(ResponseTemplate::new(200).set_body_string("x".repeat(17 << 20))).await;
    let error = get(&server.uri(), "").await.unwrap_err();
    assert!(error.text.ends_with("is longer than 16 MiB; ask for less"), "{error}");
}

#[tokio::test]
async fn an_unsuccessful_status_is_an_error_with_the_beginning_of_its_text() {
    let scripts = vec![
        document("404 Not Found", "{\"status_message\": \"no such film\"}"),
        response(
            "429 Too Many Requests",
            "retry-after: 30\r\ncontent-type: text/plain\r\n",
            "slow down",
        ),
        response("500 Internal Server Error", "content-type: text/html\r\n", &"x".repeat(9000)),
        response("502 Bad Gateway", "content-type: image/png\r\n", "\u{1}"),
        response("302 Found", "", ""),
    ];
    let fake = Fake::start(scripts).await;
    for (begin, most) in [
        ("HTTP 404 Not Found from 127.0.0.1:", 200),
        ("HTTP 429 Too Many Requests from 127.0.0.1:", 200),
        ("HTTP 500 Internal Server Error from 127.0.0.1:", 2300),
        ("HTTP 502 Bad Gateway from 127.0.0.1:", 60),
        ("HTTP 302 from http://127.0.0.1:", 100),
    ] {
        let error = get(&fake.url, "").await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Failed);
        assert!(error.text.starts_with(begin) && error.text.len() < most, "{error}");
        let said = match begin.split_whitespace().nth(1).unwrap() {
            "404" => ": {\"status_message\": \"no such film\"}",
            "429" => ". It asks to wait 30 s: slow down",
            "500" => "xxxx\n[cut: the first 2048 of 9000 bytes]",
            "302" => "without a place to go to",
            _ => "",
        };
        assert!(error.text.ends_with(said), "{error}");
    }
    // Nobody listens where a server was.
    drop(fake);
    let error = get("http://127.0.0.1:9", "").await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Unavailable);
    assert!(error.text.starts_with("127.0.0.1:9 cannot be reached: "), "{error}");
}

#[tokio::test]
async fn a_compressed_answer_is_unpacked_or_the_reason_is_said() {
    let text = "content-type: text/plain\r\n";
    let unknown = "content-type: text/plain\r\ncontent-encoding: br\r\n";
    let mut cut = gzipped("200 OK", text, &"sunny ".repeat(900));
    let Some(Step::Send(body)) = cut.last_mut() else { panic!("a body") };
    let length = body.len();
    body[length / 2..].fill(0xff);
    let scripts = vec![
        gzipped("200 OK", text, "sunny"),
        gzipped("404 Not Found", text, "no such city"),
        response("200 OK", unknown, "???"),
        cut,
    ];
    let fake = Fake::start(scripts).await;
    assert_eq!(get(&fake.url, "").await.unwrap().text, "sunny");
    for said in [
        "no such city",
        "not understood: br, the coding of its body; the request asked for no compression",
        "its compressed data is damaged; the request asked for no compression",
    ] {
        let error = get(&fake.url, "").await.unwrap_err();
        assert!(error.text.ends_with(said), "{error}");
    }
}

#[tokio::test]
async fn redirects_are_followed_to_a_limit() {
    let server = MockServer::start().await;
    for hop in 0..7 {
        let next = ResponseTemplate::new(302).insert_header("location", format!("/{}", hop + 1));
        Mock::given(path(format!("/{hop}"))).respond_with(next).mount(&server).await;
    }
    let arrived = ResponseTemplate::new(200).set_body_string("arrived");
    Mock::given(path("/7")).respond_with(arrived).mount(&server).await;
    assert_eq!(get(&format!("{}/2", server.uri()), "").await.unwrap().text, "arrived");
    let error = get(&format!("{}/1", server.uri()), "").await.unwrap_err();
    assert!(error.text.starts_with("more than 5 redirects; the last one led to "), "{error}");
}

#[tokio::test]
async fn another_server_gets_no_headers_and_no_body() {
    let other = answering(ResponseTemplate::new(200).set_body_string("other")).await;
    let server = MockServer::start().await;
    for (from, status) in [("/see", 303), ("/keep", 307)] {
        let to =
            ResponseTemplate::new(status).insert_header("location", format!("{}/x", other.uri()));
        Mock::given(path(from)).respond_with(to).mount(&server).await;
    }
    let own = ResponseTemplate::new(307).insert_header("location", "/end");
    Mock::given(path("/own")).respond_with(own).mount(&server).await;
    Mock::given(path("/end"))
        .and(method("POST"))
        .respond_with(ResponseTemplate::new(200))
        .mount(&server)
        .await;
    let post = |path: &str| {
        let source = format!(
            "method = \"POST\"\nurl = \"{}{path}\"\nheaders = {{ X-Api-Key = \"{{key}}\" }}\nbody = \"{{key}}\"\n",
            server.uri()
        );
        manifest(&["key"], &[], &source).unwrap()
    };
    let arguments = json!({"key": "k3y"});
    assert_eq!(call(&post("/see"), arguments.clone()).await.unwrap().text, "other");
    let error = call(&post("/keep"), arguments.clone()).await.unwrap_err();
    assert!(error.text.contains("redirects this POST to another server"), "{error}");
    let received = other.received_requests().await.unwrap();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].method.as_str(), "GET");
    assert!(received[0].body.is_empty() && !received[0].headers.contains_key("x-api-key"));
    // The same server gets both again.
    call(&post("/own"), arguments).await.unwrap();
    let received = server.received_requests().await.unwrap();
    let end = received.iter().find(|request| request.url.path() == "/end").unwrap();
    assert_eq!(
        (&end.body[..], &end.headers["x-api-key"]),
        (&b"\"k3y\""[..], &"k3y".parse().unwrap())
    );
}

#[tokio::test]
async fn metadata_addresses_are_refused_also_behind_a_redirect() {
    let place = "http://169.254.169.254/latest/meta-data";
    let to = ResponseTemplate::new(302).insert_header("location", place);
    let server = answering(to).await;
    for url in [place, &server.uri()] {
        let error = get(url, "").await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::Unavailable);
        assert!(
            error.text.starts_with("169.254.169.254 is not called: 169.254.169.254 is a"),
            "{error}"
        );
        assert!(error.text.contains("`any_address = true`"), "{error}");
    }
}

#[tokio::test]
async fn a_dropped_call_closes_its_connection() {
    let fake = Fake::start(vec![vec![Step::Hang]]).await;
    let tool = manifest(&[], &[], &format!("url = {:?}\n", fake.url)).unwrap();
    let invocation = Invocation { arguments: json!({}), seed: 0 };
    let ended = timeout(Duration::from_millis(300), tool.call(&invocation)).await;
    assert!(ended.is_err(), "the server answers nothing");
    timeout(TIME, fake.left.notified()).await.expect("the server sees the client go");
}

#[test]
fn wrong_sources_are_refused_with_their_line() {
    let cases = [
        (
            "url = \"ftp://h/x\"",
            "source.url: expected an address that begins with http:// or https:// and a host",
        ),
        (
            "url = \"http://{a}/x\"",
            "source.url: the host must be fixed; only the path can have {arguments}",
        ),
        ("url = \"http://u:p@h/x\"", "source.url: an address must not have a password"),
        ("url = \"http://h/${KEY}\"", "source.url: an address is shown, so it has no secret"),
        ("url = \"http://h/?a=1\"", "source.url: expected an address without `?` and `#`"),
        ("url = \"http://h/{\"", "source.url: a brace without its other half"),
        ("url = \"http://h/{a}\"", "`a` is a part of the address; name it in parameters.required"),
        (
            "url = \"http://h\"\nquery = { q = \"{b}\" }",
            "the source names the argument `b`; declare it in",
        ),
        ("url = \"http://h\"\nmethod = \"PUSH\"", "source.method: \"PUSH\" is not a valid value"),
        ("url = \"http://h\"\nquery = { api_key = \"abc123\" }", "a key must not be in a file"),
        (
            "url = \"http://h\"\nheaders = { Authorization = \"Bearer abc\" }",
            "a key must not be in a file",
        ),
        (
            "url = \"http://h\"\nheaders = { Host = \"x\" }",
            "this header is made by the client; leave it out",
        ),
        ("url = \"http://h\"\nheaders = { \"a b\" = \"x\" }", "not the name of an HTTP header"),
        ("url = \"http://h\"\nbody = 1\nform = { }", "source.form: conflicts with `body`"),
        (
            "url = \"http://h\"\ncommand = [\"x\"]",
            "source: expected one of `builtin`, `command`, `recorded`, `url`, got 2",
        ),
        (
            "url = \"http://h\"\nhedaers = { }",
            "source.hedaers: unknown key; did you mean `headers`?",
        ),
    ];
    for (source, text) in cases {
        let error = manifest(&["a"], &[], source).unwrap_err();
        assert!(error.starts_with("t.toml:") && error.contains(text), "{source}: {error}");
        assert!(error.lines().count() == 1 && !error.contains("abc"), "{error}");
    }
}

/// A workspace with a tool that needs a key, at this address.
fn home(url: &str) -> Home {
    let home = Home::new();
    home.write(
        "w/tools/film.toml",
        format!(
            "name = \"film\"\ndescription = \"Looks a film up.\"\neffect = \"read\"\n[parameters]\n\
             required = [\"id\"]\n[parameters.properties.id]\ntype = \"integer\"\n[source]\n\
             url = \"{url}/film/{{id}}\"\nquery = {{ api_key = \"${{FILM_KEY}}\" }}\n\
             headers = {{ Authorization = \"Bearer ${{FILM_KEY}}\" }}\n"
        ),
    );
    home.write("w/tasks.txt", "Which film is 7?\n");
    home
}

fn run(home: &Home, arguments: &[&str], key: Option<&str>) -> Ran {
    let mut command = home.command(arguments);
    if let Some(key) = key {
        command.env("FILM_KEY", key);
    }
    Ran::of(command.output().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_reaches_the_server_and_nothing_else() {
    let server = MockServer::start().await;
    let echo = ResponseTemplate::new(200).set_body_string(format!("you sent {SECRET}"));
    Mock::given(path("/film/7")).respond_with(echo).mount(&server).await;
    let refused = ResponseTemplate::new(401).set_body_string(format!("bad key {SECRET}"));
    Mock::given(path("/film/8")).respond_with(refused).mount(&server).await;
    let home = home(&server.uri());
    let call = ["tools", "call", "film", "--workspace", "w"];
    let (good, bad) = ([&call[..], &["id=7"]].concat(), [&call[..], &["id=8", "--json"]].concat());
    let ran = run(&home, &good, Some(SECRET));
    assert_eq!((ran.code, ran.out.as_str()), (0, "you sent [key]\n"), "{ran:?}");
    let ran = run(&home, &bad, Some(SECRET));
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("HTTP 401 Unauthorized from 127.0.0.1"), "{ran:?}");
    assert!(ran.out.contains("The key comes from FILM_KEY: bad key [key]"), "{ran:?}");
    assert!(!format!("{ran:?}").contains(SECRET), "{ran:?}");
    let session =
        ["run", "--workspace", "w", "--journal", "j.jsonl", "--json", "--report", "r.json"];
    let ran = run(&home, &session, Some(SECRET));
    assert!(!ran.out.contains(SECRET) && !ran.err.contains(SECRET), "{ran:?}");
    assert!(!home.read("j.jsonl").contains(SECRET) && !home.read("r.json").contains(SECRET));
    for request in server.received_requests().await.unwrap() {
        assert_eq!(request.headers["authorization"].to_str().unwrap(), format!("Bearer {SECRET}"));
        assert_eq!(request.url.query(), Some(format!("api_key={SECRET}").as_str()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_variable_is_named_by_the_call_and_by_the_doctor() {
    let server = answering(ResponseTemplate::new(200)).await;
    let home = home(&server.uri());
    let ran = run(&home, &["tools", "call", "film", "id=7", "--workspace", "w"], None);
    assert_eq!(ran.code, 1);
    let text = "a secret of this tool is missing: set the environment variable FILM_KEY";
    assert!(ran.err.contains(text), "{ran:?}");
    let ran = run(&home, &["doctor", "--workspace", "w"], None);
    let text = "warn  tools over HTTP: the environment variable FILM_KEY is not set; needed by 1 tool (film)";
    assert!(ran.out.contains(text), "{ran:?}");
    assert_eq!(server.received_requests().await.unwrap().len(), 0);
}

/// The steps of a session at which the tool is on the menu.
fn menus_with_film(home: &Home) -> usize {
    let ran = run(home, &["run", "--workspace", "w", "--json", "--no-journal"], Some(SECRET));
    let steps = ran.lines().into_iter().filter(|record| record["kind"] == "StepStarted");
    steps.filter(|step| step["data"]["menu"].to_string().contains("\"film\"")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disabled_tool_is_there_and_is_not_called() {
    let server = answering(ResponseTemplate::new(200)).await;
    let home = home(&server.uri());
    assert!(menus_with_film(&home) > 0);
    let before = server.received_requests().await.unwrap().len();
    let text = home.read("w/tools/film.toml");
    home.write("w/tools/film.toml", format!("disabled = \"not paid for\"\n{text}"));
    let ran = run(&home, &["tools", "call", "film", "id=7", "--workspace", "w"], Some(SECRET));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("film failed: it is disabled: not paid for"), "{ran:?}");
    let ran = run(&home, &["doctor", "--workspace", "w"], Some(SECRET));
    assert!(ran.out.contains("warn  disabled tools: 1 tool (film): not paid for"), "{ran:?}");
    assert_eq!(menus_with_film(&home), 0);
    assert_eq!(server.received_requests().await.unwrap().len(), before);
}
