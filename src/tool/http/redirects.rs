//! Sends a request, and follows redirects by the same rules as the first address.

use std::error::Error;

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};

use crate::domain::words::clipped;
use crate::net::guard::{self, REDIRECTS, RefusedAddress};
use crate::{ToolError, ToolErrorKind};

/// The most characters of an address that a message shows.
const SHOWN: usize = 200;

/// A request with all its values.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    /// The type and the bytes of the body.
    pub body: Option<(&'static str, Vec<u8>)>,
}

/// The response after the last redirect. Its status may be any other one.
///
/// # Errors
/// An address is refused, a server is not reached, or redirects lead nowhere.
pub(super) async fn send(
    client: &Client,
    mut outgoing: Outgoing,
    any_address: bool,
) -> Result<Response, ToolError> {
    for _ in 0..=REDIRECTS {
        if !any_address {
            guard::check(&outgoing.url).map_err(|why| refused(&why))?;
        }
        let response = once(client, &outgoing).await?;
        if !is_redirect(response.status()) {
            return Ok(response);
        }
        outgoing = redirected(outgoing, &response)?;
    }
    Err(failed(format!(
        "more than {REDIRECTS} redirects; the last one led to {}",
        shown(&outgoing.url)
    )))
}

async fn once(client: &Client, outgoing: &Outgoing) -> Result<Response, ToolError> {
    let Outgoing { method, url, headers, body } = outgoing;
    let mut request = client.request(method.clone(), url.clone()).headers(headers.clone());
    if let Some((kind, bytes)) = body {
        if !headers.contains_key(CONTENT_TYPE) {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static(kind));
        }
        request = request.body(bytes.clone());
    }
    request.send().await.map_err(|error| unanswered(&error, url))
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// The request that a redirect requires (RFC 9110 § 15.4). Another server gets none of the manifest's headers, which
/// may be secrets, and no body.
fn redirected(from: Outgoing, response: &Response) -> Result<Outgoing, ToolError> {
    let Outgoing { method, url, mut headers, mut body } = from;
    let status = response.status().as_u16();
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let next = location.and_then(|location| url.join(location).ok());
    let next = next.filter(|next| matches!(next.scheme(), "http" | "https"));
    let Some(next) = next else {
        return Err(failed(format!("HTTP {status} from {} without a place to go to", shown(&url))));
    };
    let method = match status {
        303 if method != Method::HEAD => Method::GET,
        301 | 302 if method == Method::POST => Method::GET,
        _ => method,
    };
    if method == Method::GET {
        body = None;
        headers.remove(CONTENT_TYPE);
    }
    if next.origin() != url.origin() {
        if body.is_some() {
            let text = format!(
                "HTTP {status}: it redirects this {method} to another server, {}, which would get the arguments; \
                 if that is right, change `url` in the manifest's [source]",
                place(&next)
            );
            return Err(failed(text));
        }
        headers.clear();
    }
    Ok(Outgoing { method, url: next, headers, body })
}

/// The error if no answer came.
fn unanswered(error: &reqwest::Error, url: &Url) -> ToolError {
    let mut cause: &dyn Error = error;
    loop {
        if let Some(why) = cause.downcast_ref::<RefusedAddress>() {
            return refused(why);
        }
        match cause.source() {
            Some(source) => cause = source,
            None => break,
        }
    }
    let host = place(url);
    match (error.is_timeout(), error.is_connect()) {
        (true, _) => {
            let text = format!("{host} did not accept a connection in time");
            ToolError::new(ToolErrorKind::Timeout, text)
        }
        (false, true) => unavailable(format!("{host} cannot be reached: {cause}")),
        (false, false) => failed(format!("{host} broke the connection off: {cause}")),
    }
}

fn refused(why: &RefusedAddress) -> ToolError {
    unavailable(format!("{why}; `any_address = true` in the manifest's [source] allows it"))
}

/// Host and port, for people.
pub(super) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// An address without its query, which may have a secret.
fn shown(url: &Url) -> String {
    clipped(&format!("{}://{}{}", url.scheme(), place(url), url.path()), SHOWN)
}

fn unavailable(text: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::Unavailable, text)
}

pub(super) fn failed(text: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::Failed, text)
}
