//! Passes on the server's answers. The answer to one request is read and may be held.

use bytes::Bytes;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::Response;

use super::call::HttpCall;
use super::events::{Events, data, of_data, with_data};
use super::listen::HttpRelay;
use super::out::Out;
use crate::mcp::relay::{Id, NOTICE, learnt, read, returned};
use crate::tool::relayed::RelayNews;
use crate::tool::{ToolError, ToolErrorKind};
use crate::watch::upstream::forwarded;

/// The most bytes of an answer that are read.
const LONGEST: usize = 64 << 20;
/// Why a call has no result.
const UNREAD: &str = "the server's answer has no result of this call that could be read";

/// The request whose answer is read.
pub enum Of {
    Call(Box<HttpCall>),
    /// The list of tools.
    List(Id),
}

impl Of {
    fn id(&self) -> &Id {
        match self {
            Of::Call(call) => &call.asked.id,
            Of::List(id) => id,
        }
    }
}

/// Passes the server's answer to the client.
pub async fn pass(shared: &HttpRelay, response: Response, of: &mut Of, out: &mut Out) {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    match kind.unwrap_or_default().starts_with("text/event-stream") {
        true => stream(shared, response, of, out).await,
        false => whole(shared, response, of, out).await,
    }
    // Report the answer if no message has reported it yet.
    if let Of::Call(call) = of {
        call.tell(Err(ToolError::new(ToolErrorKind::Failed, UNREAD)));
    }
}

async fn whole(shared: &HttpRelay, mut response: Response, of: &mut Of, out: &mut Out) {
    let (status, headers) = (response.status(), forwarded(response.headers()));
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(error) => {
                // The client gets the part that came, without an end.
                out.begin(status, headers);
                out.send(body).await;
                return out.fail(error.into()).await;
            }
        }
        if body.len() > LONGEST {
            out.begin(status, headers);
            out.send(std::mem::take(&mut body)).await;
            return rest(response, out).await;
        }
    }
    match heard(shared, &body, of, out).await {
        Some(line) => out.answer(&line).await,
        None => out.end(status, headers, body.into()).await,
    }
}

async fn stream(shared: &HttpRelay, mut response: Response, of: &mut Of, out: &mut Out) {
    // An event may be replaced.
    let mut headers = forwarded(response.headers());
    headers.remove(CONTENT_LENGTH);
    out.begin(response.status(), headers);
    let mut events = Events::default();
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(error) => return out.fail(error.into()).await,
        };
        for event in events.take(&chunk) {
            let data = data(&event).unwrap_or_default();
            match heard(shared, data.as_bytes(), of, out).await {
                Some(line) => {
                    out.send(with_data(&event, &String::from_utf8_lossy(&line))).await;
                }
                None => out.send(event).await,
            }
        }
    }
    out.send(events.rest()).await;
}

async fn rest(mut response: Response, out: &Out) {
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => out.send(chunk).await,
            Ok(None) => return,
            Err(error) => return out.fail(error.into()).await,
        }
    }
}

/// Reads a message of the server. Returns the answer that the client gets instead, if that differs.
async fn heard(shared: &HttpRelay, line: &[u8], of: &mut Of, out: &mut Out) -> Option<Vec<u8>> {
    let (_, message) = read(line)?;
    if message.method.is_some() || message.id().as_ref() != Some(of.id()) {
        return None;
    }
    match of {
        Of::List(_) => {
            let changed = shared.listing.borrow().line(line);
            let (_, message) = read(changed.as_deref().unwrap_or(line))?;
            let (server, tools) = (shared.key.clone(), learnt(&shared.key, &message));
            shared.listing.borrow_mut().learn(&tools);
            let _ = shared.news.send(RelayNews::Offered { server, tools });
            changed
        }
        Of::Call(call) => {
            let returned = returned(&message);
            call.structure.see(&message, returned.is_ok());
            call.tell(returned);
            let answer = call.after(out).await;
            if let Some(change) = call.relist
                && shared.listing.borrow_mut().set(&call.asked.tool, change)
            {
                out.begin_events();
                out.send(of_data(NOTICE)).await;
            }
            Some(call.line(&answer?))
        }
    }
}

/// Answers the client if the server cannot be reached.
pub async fn unreached(call: Option<&mut HttpCall>, out: &mut Out, error: &reqwest::Error) {
    let text = format!("the server cannot be reached: {error}");
    match call {
        Some(call) => {
            call.tell(Err(ToolError::new(ToolErrorKind::Failed, &text)));
            let answer = call.after(out).await;
            let answer = answer.unwrap_or(crate::tool::relayed::RelayAnswer {
                returned: Err(ToolError::new(ToolErrorKind::Unavailable, text)),
                ends_server: false,
            });
            let line = call.line(&answer);
            out.answer(&line).await;
        }
        None => {
            let status = hyper::StatusCode::BAD_GATEWAY;
            out.end(status, Default::default(), Bytes::from(text)).await;
        }
    }
}
