//! The client against servers over HTTP that keep the protocol nearly.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::tempdir;
use toolyard::mcp::client::{McpServer, Stage};
use toolyard::mcp::config::{Configuration, Surroundings};
use toolyard::mcp::trust::Trust;
use toolyard::tool::ToolError;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{call, named, tools};
use crate::fake_endpoint::{Fake, Step, send};

const LOST: &str =
    r#"{"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;

fn page(status: u16, kind: &str, body: &str) -> ResponseTemplate {
    let page = ResponseTemplate::new(status);
    match kind {
        "" => page.set_body_bytes(body),
        kind => page.set_body_raw(body, kind),
    }
}

/// The answer of an ordinary server with a session.
fn ordinary(request: &Request) -> ResponseTemplate {
    let Ok(asked) = serde_json::from_slice::<Value>(&request.body) else {
        return ResponseTemplate::new(405);
    };
    let schema = json!({"type": "object"});
    let result = match asked["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "serverInfo": {"name": "web", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": schema}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "sunny"}]}),
        "server/discover" => return page(400, "application/json", LOST),
        _ => return ResponseTemplate::new(202),
    };
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    ResponseTemplate::new(200).insert_header("mcp-session-id", "one").set_body_json(answer)
}

/// A server that answers requests of this method otherwise, where the number of the request has an answer.
async fn serving(
    method: &'static str,
    odd: impl Fn(u32, &Request) -> Option<ResponseTemplate> + Send + Sync + 'static,
) -> MockServer {
    let (server, count) = (MockServer::start().await, AtomicU32::new(0));
    let respond = move |request: &Request| {
        let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let is_odd = body["method"] == method || method == request.method.as_str();
        let answer = is_odd.then(|| odd(count.fetch_add(1, Ordering::Relaxed), request)).flatten();
        answer.unwrap_or_else(|| ordinary(request))
    };
    Mock::given(any()).respond_with(respond).mount(&server).await;
    server
}

fn start(url: &str, folder: &std::path::Path) -> McpServer {
    let file = folder.join(".mcp.json");
    std::fs::write(&file, json!({"mcpServers": {"w": {"type": "http", "url": url}}}).to_string())
        .unwrap();
    let read = Configuration::load(&file, &Surroundings::of_process(None, folder));
    let trust = Trust::of_workspace(folder).unwrap().into();
    McpServer::start(read.entries.into_iter().next().unwrap(), trust)
}

/// The result of one call, which comes or fails at once.
async fn called(url: &str) -> Result<String, ToolError> {
    let (folder, begun) = (tempdir().unwrap(), Instant::now());
    let server = start(url, folder.path());
    let listed = tools(&server).await;
    assert!(!listed.is_empty(), "{:?}", server.stage());
    let called = call(&*named(&listed, "echo"), json!({})).await;
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    called
}

#[tokio::test]
async fn a_question_that_a_server_does_not_know_is_no_reason_to_give_it_up() {
    for (status, kind, body, is_remembered) in [
        (500, "", "oops", true),
        (500, "application/json", r#"{"error":"x"}"#, true),
        (200, "text/html", "<html>hello</html>", true),
        (200, "application/json", "{}", true),
        (200, "text/event-stream", "data: hello\n\n", true),
        (202, "", "", true),
        (404, "", "not here", false),
    ] {
        let server = serving("server/discover", move |_, _| Some(page(status, kind, body))).await;
        let folder = tempdir().unwrap();
        for _ in 0..2 {
            let client = start(&server.uri(), folder.path());
            assert!(!tools(&client).await.is_empty(), "{status} {body}: {:?}", client.stage());
        }
        let requests = server.received_requests().await.unwrap();
        let asked = requests
            .iter()
            .filter(|it| it.body_json::<Value>().is_ok_and(|it| it["method"] == "server/discover"));
        assert_eq!(asked.count() == 1, is_remembered, "{status} {body}");
    }
}

#[tokio::test]
async fn an_answer_is_read_by_its_body() {
    let good = |request: &Request| {
        let id = &request.body_json::<Value>().unwrap()["id"];
        json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "sunny"}]}}).to_string()
    };
    for (kind, before, after) in [
        ("", "", ""),
        ("text/plain; charset=utf-8", "", ""),
        ("text/html", "", ""),
        ("", "event: message\ndata: ", "\n\n"),
        ("text/event-stream", "event: ping\ndata: 2026-01-01T00:00:00Z\n\ndata: ", "\n\n"),
        (
            "Text/Event-Stream; charset=utf-8",
            "data: alive\n\n: x\n\nevent: message\ndata: ",
            "\n\n",
        ),
        ("text/event-stream", "event: error\ndata: {\"error\": \"x\"}\n\ndata: [", "]\n\n"),
    ] {
        let odd = move |_, request: &Request| {
            Some(page(200, kind, &format!("{before}{}{after}", good(request))))
        };
        let server = serving("tools/call", odd).await;
        assert_eq!(called(&server.uri()).await.unwrap(), "sunny", "{kind} {before}");
    }
}

#[tokio::test]
async fn events_that_are_no_messages_stand_before_a_greeting() {
    let odd = |_, request: &Request| {
        let greeting = json!({"protocolVersion": "2025-11-25", "serverInfo": {"name": "w"}});
        let id = &request.body_json::<Value>().unwrap()["id"];
        let greeting = json!({"jsonrpc": "2.0", "id": id, "result": greeting});
        let before = "event: ping\ndata: 2026-01-01T00:00:00Z\n\nid: 1\ndata:\n\n";
        Some(page(200, "text/event-stream", &format!("{before}data: {greeting}\n\n")))
    };
    let server = serving("initialize", odd).await;
    assert_eq!(called(&server.uri()).await.unwrap(), "sunny");
}

#[tokio::test]
async fn a_refusal_is_told_in_the_words_of_the_server() {
    for (status, kind, body, words) in [
        (
            200,
            "text/event-stream",
            "data: {\"error\":\"Session not found\"}\n\n",
            "error of the server: Session not found",
        ),
        (
            200,
            "text/html",
            "<html><title>Log in</title></html>",
            "its answer cannot be read: Log in",
        ),
        (200, "", "", "HTTP 200 OK, and without a message"),
        (
            400,
            "application/json",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no city"}}"#,
            "error -32602 of the server: no city",
        ),
        (400, "", "bad luck", "HTTP 400 Bad Request: bad luck"),
        (
            403,
            "application/json",
            r#"{"error":{"message":"not you"}}"#,
            "HTTP 403 Forbidden: not you",
        ),
        (
            422,
            "application/json",
            r#"{"detail":[{"loc":["city"],"msg":"no city"}]}"#,
            "HTTP 422 Unprocessable Entity: no city",
        ),
        (
            429,
            "application/json",
            r#"{"error":"slow down"}"#,
            "HTTP 429 Too Many Requests: slow down",
        ),
        (503, "text/html", "<html><title>Closed</title>", "HTTP 503 Service Unavailable: Closed"),
    ] {
        let server = serving("tools/call", move |_, _| Some(page(status, kind, body))).await;
        let failed = called(&server.uri()).await.unwrap_err().text;
        assert!(failed.ends_with(words), "{failed}\nwithout {words}");
    }
}

#[tokio::test]
async fn a_lost_session_is_renewed_once() {
    for (status, kind, body, words) in [
        (400, "application/json", LOST, "No valid session ID provided"),
        (404, "", "Session not found", "Session not found"),
        (404, "", "", "HTTP 404 Not Found"),
        (200, "application/json", r#"{"error":"Session not found"}"#, "Session not found"),
    ] {
        let once =
            serving("tools/call", move |n, _| (n == 0).then(|| page(status, kind, body))).await;
        assert_eq!(called(&once.uri()).await.unwrap(), "sunny", "{status} {body}");
        let always = serving("tools/call", move |_, _| Some(page(status, kind, body))).await;
        let failed = called(&always.uri()).await.unwrap_err().text;
        assert!(failed.ends_with(words), "{failed}");
        let requests = always.received_requests().await.unwrap();
        let of = |method: &str| {
            requests.iter().filter(|it| String::from_utf8_lossy(&it.body).contains(method)).count()
        };
        assert_eq!((of("\"initialize\""), of("tools/call")), (2, 2), "{status} {body}");
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_after_the_wait_that_it_names() {
    let busy = |wait: &'static str| {
        move |n: u32, _: &Request| {
            (n == 0).then(|| page(503, "", "busy").insert_header("retry-after", wait))
        }
    };
    let server = serving("tools/call", busy("1")).await;
    let begun = Instant::now();
    assert_eq!(called(&server.uri()).await.unwrap(), "sunny");
    assert!(begun.elapsed() >= Duration::from_secs(1));
    for wait in ["3600", ""] {
        let server = serving("tools/call", move |n, _| {
            let page = page(429, "", "busy");
            (n == 0).then(|| {
                if wait.is_empty() { page } else { page.insert_header("retry-after", wait) }
            })
        });
        let failed = called(&server.await.uri()).await.unwrap_err().text;
        assert!(failed.ends_with("HTTP 429 Too Many Requests: busy"), "{failed}");
    }
    let always =
        serving("tools/call", |_, _| Some(page(429, "", "busy").insert_header("retry-after", "1")))
            .await;
    assert!(called(&always.uri()).await.unwrap_err().text.ends_with("busy"));
}

#[tokio::test]
async fn the_old_transport_is_named() {
    for status in [404, 405] {
        let server = MockServer::start().await;
        let respond = move |request: &Request| match request.method.as_str() {
            "GET" => page(200, "text/event-stream", "event: endpoint\ndata: /messages?id=1\n\n"),
            _ => page(status, "", "no"),
        };
        Mock::given(any()).respond_with(respond).mount(&server).await;
        let folder = tempdir().unwrap();
        let client = start(&server.uri(), folder.path());
        assert!(tools(&client).await.is_empty());
        let Stage::Down { why, .. } = client.stage() else { panic!("{:?}", client.stage()) };
        assert!(
            why.contains("old transport HTTP+SSE") && why.contains("/mcp instead of /sse"),
            "{why}"
        );
    }
}

#[tokio::test]
async fn cookies_of_a_server_come_back_to_it() {
    let set = |_: u32, request: &Request| {
        let page = ordinary(request).append_header("set-cookie", "LB=node 1; Path=/; HttpOnly");
        let page =
            page.append_header("set-cookie", "gone=1; Max-Age=0").append_header("set-cookie", "=x");
        Some(page.append_header("set-cookie", "b=2; Secure"))
    };
    let server = serving("initialize", set).await;
    assert_eq!(called(&server.uri()).await.unwrap(), "sunny");
    let requests = server.received_requests().await.unwrap();
    let last = requests.iter().rfind(|it| String::from_utf8_lossy(&it.body).contains("tools/call"));
    let cookie = last.unwrap().headers.get("cookie").unwrap().to_str().unwrap();
    assert_eq!(cookie, "LB=node 1; b=2");
}

/// Without `Connection: close`, a client may take the connection for one that can be used again.
#[tokio::test]
async fn a_connection_that_is_closed_after_each_answer_is_no_hindrance() {
    let respond = |request: Value| {
        let answer =
            json!({"jsonrpc": "2.0", "id": request["id"], "result": request["result"]}).to_string();
        let length = answer.len();
        vec![send(&format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
        ))]
    };
    let accepted = || vec![send("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")];
    let init = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    let tool = json!({"name": "echo", "inputSchema": {"type": "object"}});
    let sunny = json!({"content": "sunny"});
    let closed: fn() -> Vec<Step> = Vec::new;
    let fake = Fake::start(vec![
        vec![send("HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\n\r\nno")],
        // A request without effect is sent again where its connection breaks.
        closed(),
        respond(json!({"id": 1, "result": init})),
        accepted(),
        respond(json!({"id": 2, "result": {"tools": [tool]}})),
        respond(json!({"id": 3, "result": sunny})),
    ]);
    let fake = fake.await;
    assert_eq!(called(&fake.url).await.unwrap(), "sunny");
}
