//! The way of a connection through the proxy: opened, or passed on unread.

use std::error::Error;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::header::{HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, Response, StatusCode};
use tokio::io::{AsyncWriteExt, copy_bidirectional};
use tokio::sync::oneshot;
use tokio::task::spawn_local;

use super::connections::{self, Left, Upgrade};
use super::own_answer::plain;
use super::shared::ListenerState;
use super::{AnswerResult, Outgoing, door, service};
use crate::intercept::{Intercepted, Intercepting};
use crate::model::relay::ListenerNews;

/// Answers a request for a connection to another host.
///
/// # Errors
/// None: what fails is an answer.
pub fn connect(shared: &Rc<ListenerState>, parts: &Parts) -> AnswerResult {
    let Some(intercepting) = &shared.intercepting else {
        let text = "toolyard is no proxy for other addresses; set the base URL of the client to it";
        return Ok(plain(StatusCode::METHOD_NOT_ALLOWED, text));
    };
    if !is_allowed(&parts.headers, &intercepting.token) {
        let text = "this proxy is for the agent of the session alone";
        let mut refused = plain(StatusCode::PROXY_AUTHENTICATION_REQUIRED, text);
        let scheme = HeaderValue::from_static("Basic realm=\"toolyard\"");
        refused.headers_mut().insert(PROXY_AUTHENTICATE, scheme);
        return Ok(refused);
    }
    let target = parts.uri.authority().map(|it| (it.host(), it.port_u16().unwrap_or(443)));
    let (Some((host, port)), Some(upgrade)) = (target, parts.extensions.get::<Upgrade>()) else {
        return Ok(plain(StatusCode::BAD_REQUEST, "expected CONNECT HOST:PORT"));
    };
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    spawn_local(go(Rc::clone(shared), Intercepted { host, port }, upgrade.ask()));
    let mut response: Response<Outgoing> = plain(StatusCode::OK, "");
    response.headers_mut().clear();
    Ok(response)
}

/// Whether a request has the password of the proxy.
fn is_allowed(headers: &HeaderMap, token: &str) -> bool {
    let basic = |value: &HeaderValue| {
        let text = value.to_str().ok()?.strip_prefix("Basic ")?.trim().to_owned();
        String::from_utf8(STANDARD.decode(text).ok()?).ok()
    };
    let given = headers.get(PROXY_AUTHORIZATION).and_then(basic);
    given.is_some_and(|login| {
        login.split_once(':').is_some_and(|(_, given)| door::is_same(given, token))
    })
}

async fn go(shared: Rc<ListenerState>, to: Intercepted, client: oneshot::Receiver<Left>) {
    let Ok((client, begun)) = client.await else { return };
    let Some(intercepting) = &shared.intercepting else { return };
    let went = match intercepting.hosts.opens(&to.host) && begun.is_empty() {
        true => open(&shared, intercepting, &to, client).await,
        false => pass(&shared, &to, client, begun).await,
    };
    if let Err(why) = went
        && shared.complained.borrow_mut().insert(to.host.clone())
    {
        let text = format!("{}:{}: {why}", to.host, to.port);
        // A session that has ended needs no news.
        let _ = shared.news.send(ListenerNews::Noticed(text));
    }
}

/// Opens a connection, and answers its requests as those of the listener.
///
/// # Errors
/// The client does not trust the certificate, or speaks no TLS.
async fn open(
    shared: &Rc<ListenerState>,
    intercepting: &Intercepting,
    to: &Intercepted,
    client: Box<dyn connections::ClientStream>,
) -> Result<(), Box<dyn Error>> {
    let acceptor = intercepting.authority.acceptor(&to.host)?;
    let opened = acceptor.accept(client).await.map_err(|why| {
        format!("the agent does not take toolyard's certificate, so its requests there are not seen ({why})")
    })?;
    let answer = |mut request: Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(to.clone());
        service::answer(Rc::clone(shared), request)
    };
    connections::serve_opened(Box::new(opened), answer).await;
    Ok(())
}

/// Passes a connection on unread, through the proxy of the environment if there is one.
///
/// # Errors
/// The host cannot be reached.
async fn pass(
    shared: &Rc<ListenerState>,
    to: &Intercepted,
    mut client: Box<dyn connections::ClientStream>,
    begun: Bytes,
) -> Result<(), Box<dyn Error>> {
    let clients = shared.clients.as_ref().map_err(String::as_str)?;
    let what = format!("CONNECT {}:{}", to.host, to.port);
    if shared.complained.borrow_mut().insert(what.clone()) {
        let _ = shared.news.send(ListenerNews::Passed { what, why: None });
    }
    let host = if to.host.contains(':') { format!("[{}]", to.host) } else { to.host.clone() };
    let uri = format!("https://{host}:{}", to.port).parse()?;
    let reached = clients.tunnel(uri).await;
    let mut upstream = reached.map_err(|why| format!("cannot be reached: {why}"))?;
    upstream.write_all(&begun).await?;
    // Either side may break a connection at its end.
    let _ = copy_bidirectional(&mut client, &mut upstream).await;
    Ok(())
}
