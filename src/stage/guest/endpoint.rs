//! An endpoint on this machine: the simulated model answers chat completions.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::rc::Rc;
use std::time::Duration;
use std::{cell::Cell, io, thread};

use bytes::Bytes;
use futures::stream::{self, LocalBoxStream, StreamExt};
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

use super::MODEL;
use crate::domain::markers::{FINISH, TASK};
use crate::domain::{Finish, Message, Messages, ModelSpec, Reply, Task};
use crate::files::toml_file::Problems;
use crate::model::Model;
use crate::sample::Sample;
use crate::simulated::{Simulated, SimulatedSettings};
use crate::store::tasks;
use crate::wire::{AnswerForm, Answering, FunctionNames, IncomingRequest, WireFormat};

/// The time until an answer begins, and between its parts, at speed 1.
const THINKS: Duration = Duration::from_millis(1400);
const BETWEEN: Duration = Duration::from_millis(50);

/// The most bytes of a request.
const LARGEST: usize = 16 << 20;

/// The prices of the demo, in US dollars per million tokens.
const PRICE_IN: f64 = 1.0;
const PRICE_OUT: f64 = 8.0;

/// The answer if the simulated model gives up.
const GIVES_UP: &str = "I cannot find that out.";

type EventBody = StreamBody<LocalBoxStream<'static, Result<Frame<Bytes>, Infallible>>>;

/// The model of the endpoint, as a session describes it.
pub fn spec(model: &str, endpoint: &str) -> ModelSpec {
    ModelSpec {
        simulated: true,
        price_in: Some(PRICE_IN.into()),
        price_out: Some(PRICE_OUT.into()),
        price_from: Some("the demo".to_owned()),
        ..ModelSpec::new(model, format!("simulated: no language model, at {endpoint}"))
    }
}

/// Serves the endpoint on a thread of its own until the program ends. Returns its address.
///
/// # Errors
/// This machine has no port or no thread left.
pub fn serve(pace: f64) -> io::Result<String> {
    let tasks = known().map_err(|problems| io::Error::other(problems.to_string()))?;
    let listener = StdListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    listener.set_nonblocking(true)?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = move || {
        let settings = SimulatedSettings {
            skill: 1.0,
            // A broken tool costs two calls each, and some may be made concurrently.
            patience: 8,
            parallel: true,
            latency: THINKS.div_f64(pace),
            ..SimulatedSettings::default()
        };
        let model = Simulated::new(MODEL.into(), settings, 1, tasks);
        let served = Served { model, pace, answers: Cell::new(0) };
        LocalSet::new().block_on(&runtime, accept(listener, Rc::new(served)));
    };
    thread::Builder::new().name("endpoint".to_owned()).spawn(work)?;
    Ok(url)
}

/// The tasks whose solutions the model knows.
fn known() -> Result<Vec<Task>, Problems> {
    let mut known = Sample::General.tasks()?;
    known.extend(tasks::parse_toml("src/stage/guest/tasks.toml", include_str!("tasks.toml"))?);
    Ok(known)
}

async fn accept(listener: StdListener, served: Rc<Served>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let served = Rc::clone(&served);
        let answer = service_fn(move |request| {
            let served = Rc::clone(&served);
            async move { Ok::<_, Infallible>(served.answer(request).await) }
        });
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
        // A client that hangs up needs no answer.
        tokio::task::spawn_local(async move { drop(connection.await) });
    }
}

struct Served {
    model: Simulated,
    pace: f64,
    /// The number of answers so far; it makes their ids and those of their calls.
    answers: Cell<u64>,
}

impl Served {
    async fn answer(&self, request: Request<Incoming>) -> Response<EventBody> {
        let is_chat = request.uri().path().ends_with("/chat/completions");
        let body = Limited::new(request.into_body(), LARGEST).collect().await;
        let asked = match body {
            Ok(body) if is_chat => WireFormat::Chat.read_request(&body.to_bytes()).ok(),
            _ => None,
        };
        let Some(asked) = asked else {
            let refused = WireFormat::Chat.write_error(400, "expected a chat completion");
            return self.response(400, "application/json", vec![refused]);
        };
        let mut request = asked.request.clone();
        request.messages = marked(&request.messages);
        match self.model.ask(&request, &mut |_| ()).await {
            Ok(reply) => self.written(self.spoken(reply), &asked),
            Err(error) => {
                let failed = WireFormat::Chat.write_error(500, &error.text);
                self.response(500, "application/json", vec![failed])
            }
        }
    }

    /// An answer as a chat model gives it: it ends with a text and no call, and its calls have their own ids.
    fn spoken(&self, mut reply: Reply) -> Reply {
        let answer = self.answers.get() + 1;
        self.answers.set(answer);
        if let Some(call) = reply.calls.iter().find(|call| call.tool.as_str() == FINISH) {
            let text = call.arguments["answer"].as_str().filter(|text| !text.is_empty());
            reply.text = text.unwrap_or(GIVES_UP).to_owned();
            (reply.calls, reply.finish) = (Vec::new(), Finish::Stop);
        }
        for (at, call) in reply.calls.iter_mut().enumerate() {
            call.id = format!("call_{answer}_{at}");
        }
        reply
    }

    fn written(&self, reply: Reply, asked: &IncomingRequest) -> Response<EventBody> {
        let answering = Answering {
            id: &format!("chatcmpl-{}", self.answers.get()),
            model: &asked.model,
            names: &FunctionNames::of(&asked.request),
            created: jiff::Timestamp::now().as_second(),
        };
        let written =
            WireFormat::Chat.write_answer(&reply, &answering, AnswerForm::of_stream(asked.streams));
        match asked.streams {
            true => {
                let frames = written.split_inclusive("\n\n").map(str::to_owned).collect();
                self.response(200, "text/event-stream", frames)
            }
            false => self.response(200, "application/json", vec![written]),
        }
    }

    fn response(&self, status: u16, kind: &'static str, parts: Vec<String>) -> Response<EventBody> {
        let between = BETWEEN.div_f64(self.pace);
        let frames =
            stream::iter(parts.into_iter().enumerate()).then(move |(at, part)| async move {
                if at > 0 {
                    tokio::time::sleep(between).await;
                }
                Ok(Frame::data(Bytes::from(part)))
            });
        let mut response = Response::new(StreamBody::new(frames.boxed_local()));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        response
    }
}

/// The messages with the markers of the simulated model, for facts that a language model would understand: a user's
/// question is a task, and some results are failures.
fn marked(messages: &Messages) -> Messages {
    let mark = |message: &Message| match message.clone() {
        Message::User { text, blocks } => Message::User { text: format!("{TASK}{text}"), blocks },
        Message::Tool { id, tool, text, blocks, failed } if failed || is_failure(&text) => {
            Message::Tool { id, tool, text: format!("Error: {text}"), blocks, failed }
        }
        other => other,
    };
    messages.iter().map(mark).collect()
}

/// Whether a result is the line of an HTTP status that is an error, or reports an error.
fn is_failure(text: &str) -> bool {
    let status = text.split_once(' ').and_then(|(code, rest)| {
        let status = StatusCode::from_bytes(code.as_bytes()).ok()?;
        let is_error = status.is_client_error() || status.is_server_error();
        Some(is_error && rest.starts_with(status.canonical_reason()?))
    });
    status == Some(true) || ["timed out", "the program failed"].iter().any(|it| text.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_the_results_of_faults_as_failures() {
        for text in ["503 Service Unavailable", "429 Too Many Requests. It asks to wait 5 s."] {
            assert!(is_failure(text), "{text}");
        }
        for text in ["525 minutes", "404", "200 OK", "1. Lake Hollow (lake): it is 503 metres deep"]
        {
            assert!(!is_failure(text), "{text}");
        }
    }
}
