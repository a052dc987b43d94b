//! Real sockets: an agent, the listener, a session and an endpoint.

mod agent;
mod background;
mod bedrock;
mod breaks;
mod early_answers;
mod endpoint;
mod failures;
mod holds;
mod load;
mod passage;
mod session;
mod socket;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver};

use self::agent::Agent;
use self::endpoint::Endpoint;
use super::{Listener, Listening, Upstreams, bind, listen};
use crate::domain::{Reply, Request, Role, Usage};
use crate::model::relay::{Arrival, Holds, ListenerNews, Release};
use crate::wire::{AnswerForm, Answering, Feed, FunctionNames, Report, WireFormat};

/// The most time that anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A listener before an endpoint, and its news.
struct Yard {
    listener: Listener,
    news: UnboundedReceiver<ListenerNews>,
}

impl Yard {
    fn before(endpoint: SocketAddr) -> Self {
        Self::before_host(&endpoint.to_string())
    }

    /// `host` may have a name and a password.
    fn before_host(host: &str) -> Self {
        Self::with(Self::upstreams(host))
    }

    /// A listener whose session may have a record.
    fn over(endpoint: SocketAddr, has_record: bool) -> Self {
        Self::of(Self::upstreams(&endpoint.to_string()), has_record)
    }

    fn upstreams(host: &str) -> Upstreams {
        Upstreams {
            openai: format!("http://{host}/v1"),
            anthropic: format!("http://{host}"),
            gemini: format!("http://{host}"),
            ollama: format!("http://{host}"),
            ..Upstreams::default()
        }
    }

    fn with(upstreams: Upstreams) -> Self {
        Self::of(upstreams, false)
    }

    fn of(upstreams: Upstreams, has_record: bool) -> Self {
        let (tell, news) = mpsc::unbounded_channel();
        let address = "127.0.0.1:0".parse().unwrap();
        let socket = bind(address).unwrap();
        // Where an address has a key, only those who know a token may enter.
        let token = upstreams.openai.contains('@').then(|| "y4rd".to_owned());
        let settings = Listening {
            socket,
            token,
            upstreams,
            intercepting: None,
            has_record,
            login: None,
            news: tell,
        };
        Self { listener: listen(settings).unwrap(), news }
    }

    fn agent(&self) -> Agent {
        Agent::at(self.listener.address())
    }

    fn news(&mut self) -> ListenerNews {
        within(self.news.recv()).unwrap()
    }

    fn arrival(&mut self) -> Arrival {
        match self.news() {
            ListenerNews::Arrived(arrival) => *arrival,
            other => panic!("{other:?}"),
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

/// Runs a future that must end within [`PATIENCE`].
fn within<T>(future: impl Future<Output = T>) -> T {
    block_on(async { tokio::time::timeout(PATIENCE, future).await.unwrap() })
}

/// The path of a format.
fn path(format: WireFormat, streams: bool) -> &'static str {
    match format {
        WireFormat::Gemini if streams => "/v1beta/models/m-1:streamGenerateContent?alt=sse",
        WireFormat::Gemini => "/v1beta/models/m-1:generateContent",
        WireFormat::Ollama => "/api/chat",
        WireFormat::Generate => "/api/generate",
        WireFormat::Chat => "/v1/chat/completions",
        WireFormat::Responses => "/v1/responses",
        WireFormat::Messages => "/v1/messages?beta=true",
    }
}

/// A request of a format, with an unusual order, extra spaces and an unknown field.
fn body(format: WireFormat, streams: bool) -> String {
    let messages = r#""messages" : [ {"content":"h\u00e9llo","role":"user"} ]"#;
    let rest = match format {
        WireFormat::Chat => format!(r#"{messages},"stream_options":{{"include_usage":true}}"#),
        WireFormat::Responses => r#""input": [{"role":"user","content":"hi"}]"#.to_owned(),
        WireFormat::Messages => format!(r#"{messages}, "max_tokens": 1.0e1"#),
        WireFormat::Gemini => {
            return r#"{"hologram":[1.00], "contents" : [ {"parts":[{"text":"h\u00e9llo"}],"role":"user"} ]}"#.to_owned();
        }
        WireFormat::Ollama => messages.to_owned(),
        WireFormat::Generate => r#""prompt":"h\u00e9llo""#.to_owned(),
    };
    format!(r#"{{"hologram":[1.00], "stream":{streams},{rest}, "model":"m-1"}}"#)
}

/// An answer of an endpoint that says hello.
fn answer(format: WireFormat, streams: bool) -> String {
    let usage = Usage { tokens_in: 11, tokens_out: 3, ..Usage::default() };
    let reply = Reply { usage, ..Reply::of_text("Hello.") };
    let names = FunctionNames::default();
    let answering = Answering { id: "x1", model: "m-1", names: &names, created: 1 };
    let form = if streams { format.codec().streamed } else { AnswerForm::Whole };
    format.write_answer(&reply, &answering, form)
}

/// The reply that an agent reads in these bytes.
fn read(format: WireFormat, answer: &[u8]) -> Reply {
    let mut feed = Feed::new(format.begin(&Arc::default(), Report::default()));
    feed.feed(answer, &mut |_| {}).unwrap();
    let request = Request::new(Role::Actor, Vec::new());
    feed.end(&mut |_| {}).unwrap().reply(&request, "").0
}
