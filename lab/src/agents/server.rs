//! The endpoint of the agents: chat completions on this machine, until the program ends.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::{io, thread};

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::{Request, Response, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::seen::ParsedRequest;
use crate::domain::{Chance, Task};

/// The most bytes of a request.
const LARGEST: usize = 16 << 20;

/// Serves the agents, for these tasks, on a thread of its own. Returns the address of the endpoint, to
/// which a session adds its seed.
///
/// # Errors
/// This machine has no port or no thread left.
pub fn serve(tasks: impl IntoIterator<Item = Task>) -> io::Result<String> {
    let tasks = tasks.into_iter().map(|task| (task.text.clone(), task));
    let tasks: Arc<HashMap<String, Task>> = Arc::new(tasks.collect());
    let listener = std::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}", listener.local_addr()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let work = move || {
        runtime.block_on(async move {
            let Ok(listener) = TcpListener::from_std(listener) else { return };
            while let Ok((stream, _)) = listener.accept().await {
                let tasks = Arc::clone(&tasks);
                let answer = service_fn(move |request| answer(request, Arc::clone(&tasks)));
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
                // A client that hangs up needs no answer.
                tokio::spawn(async move { drop(served.await) });
            }
        });
    };
    thread::Builder::new().name("agents".to_owned()).spawn(work)?;
    Ok(url)
}

async fn answer(
    request: Request<Incoming>,
    tasks: Arc<HashMap<String, Task>>,
) -> hyper::Result<Response<Full<Bytes>>> {
    let seed = request.uri().path().split('/').nth(1).and_then(|seed| seed.parse().ok());
    let chance = Chance::new(seed.unwrap_or_default());
    let body = Limited::new(request.into_body(), LARGEST).collect().await;
    let body = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    let (status, answer) = match body.as_ref().and_then(|body| reply(body, &tasks, chance)) {
        Some(answer) => (200, answer),
        None => (400, json!({ "error": { "message": "expected a chat completion of an agent" } })),
    };
    let mut response = Response::new(Full::from(answer.to_string()));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    Ok(response)
}

/// The reply of the agent whose model the request names.
fn reply(body: &Value, tasks: &HashMap<String, Task>, chance: Chance) -> Option<Value> {
    let agent = super::named(body["model"].as_str()?)?;
    let seen = ParsedRequest::of(body);
    let said = agent.reply(&seen, tasks.get(seen.task), chance);
    let mut message = json!({ "role": "assistant", "content": said.text });
    let mut finish = "stop";
    if let Some((name, arguments)) = said.call {
        let count = body["messages"].as_array().map_or(0, Vec::len);
        let function = json!({ "name": name, "arguments": arguments.to_string() });
        message["tool_calls"] =
            json!([{ "id": format!("call{count:05}"), "type": "function", "function": function }]);
        finish = "tool_calls";
    }
    // A token has about four bytes.
    let tokens = |value: &Value| value.to_string().len() / 4;
    let usage = json!({
        "prompt_tokens": tokens(&body["messages"]) + tokens(&body["tools"]),
        "completion_tokens": tokens(&message),
    });
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish });
    Some(
        json!({ "object": "chat.completion", "model": agent.name, "choices": [choice], "usage": usage }),
    )
}
