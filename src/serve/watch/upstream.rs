//! Sends requests on, and receives answers.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderName,
};
use hyper::{HeaderMap, Method, StatusCode};
use reqwest::{Client, Response, Url};

use crate::net::client;

/// Headers of one connection, which are not passed on.
const OF_CONNECTION: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];
/// The header by which a client names its session.
pub const SESSION: &str = "x-toolyard-session";

/// How long an idle connection is kept. Many servers close idle ones after five seconds, and a request on a closing
/// connection fails. The clients of agents do not wait longer either.
const IDLE: Duration = Duration::from_secs(4);
/// How long an endpoint may take to accept a connection, including TLS. Agents have such limits too, but their own
/// connections end at this machine.
const CONNECTING: Duration = Duration::from_secs(10);

/// The clients for all upstreams.
pub struct Clients {
    /// With the proxies of the environment.
    far: Client,
    /// For upstreams on this machine, which no proxy can reach.
    near: Client,
}

impl Clients {
    /// # Errors
    /// The system's certificates cannot be read.
    pub fn new() -> reqwest::Result<Self> {
        // The clients of agents speak HTTP/1.1 and open a connection for each concurrent request. An HTTP/2 connection
        // limits its requests, so that further ones would wait for each other.
        let builder = || {
            let plain = client::builder().http1_only().tcp_nodelay(true);
            plain.pool_idle_timeout(IDLE).connect_timeout(CONNECTING)
        };
        Ok(Self { far: builder().build()?, near: builder().no_proxy().build()? })
    }
}

/// The headers to pass on, in their order.
pub fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|names| names.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|names| names.split(',')).map(|name| name.trim().to_lowercase()).collect();
    let goes = |name: &HeaderName| {
        !OF_CONNECTION.contains(&name.as_str())
            && !named.iter().any(|other| other == name.as_str())
            && ![HOST, EXPECT].contains(name)
            && name != SESSION
    };
    // Removing headers would change the order of the others.
    let kept = headers.iter().filter(|(name, _)| goes(name));
    let mut forwarded = HeaderMap::with_capacity(headers.len());
    for (name, value) in kept {
        forwarded.append(name, value.clone());
    }
    forwarded
}

/// The headers for a changed body, which is not compressed.
pub fn with_length(mut headers: HeaderMap, length: usize) -> HeaderMap {
    headers.remove(CONTENT_ENCODING);
    headers.insert(CONTENT_LENGTH, length.into());
    headers
}

/// Sends a request. Its answer comes with its headers; the body follows. The name and the password of the address are
/// sent with a request that has no authorization of its own.
///
/// # Errors
/// There is no connection, or it broke before an answer.
pub async fn send(
    clients: &Clients,
    (method, url): (Method, Url),
    mut headers: HeaderMap,
    body: Option<reqwest::Body>,
) -> reqwest::Result<Response> {
    let client = if client::is_local(&url) { &clients.near } else { &clients.far };
    // The builder makes a header of the name and the password.
    let mut request = client.request(method, url).build()?;
    if let Some(login) = request.headers_mut().remove(AUTHORIZATION) {
        headers.entry(AUTHORIZATION).or_insert(login);
    }
    *request.headers_mut() = headers;
    *request.body_mut() = body;
    client.execute(request).await
}

/// An answer, some bytes of whose body may have been read.
pub struct Came {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// Bytes of the body that were read before.
    read: Option<Bytes>,
    response: Response,
}

impl From<Response> for Came {
    fn from(response: Response) -> Self {
        let headers = response.headers().clone();
        Self { status: response.status(), headers, read: None, response }
    }
}

impl Came {
    /// Whether the body is known to be empty.
    pub fn is_empty(&self) -> bool {
        self.read.is_none() && self.response.content_length() == Some(0)
    }

    /// The next bytes.
    ///
    /// # Errors
    /// The connection broke.
    pub async fn chunk(&mut self) -> reqwest::Result<Option<Bytes>> {
        match self.read.take() {
            Some(bytes) => Ok(Some(bytes)),
            None => self.response.chunk().await,
        }
    }

    /// Reads at most this many bytes of the body, without consuming them.
    pub async fn look(&mut self, most: usize) -> Bytes {
        let mut body = Vec::new();
        // If the connection breaks, the next chunk says so.
        while body.len() < most
            && let Ok(Some(chunk)) = self.chunk().await
        {
            body.extend_from_slice(&chunk);
        }
        let body = Bytes::from(body);
        self.read = (!body.is_empty()).then(|| body.clone());
        body
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn headers_of_one_connection_stay_and_the_others_keep_their_order() {
        let headers = [
            ("host", "h"),
            ("b", "1"),
            ("connection", "keep-alive, X-Own"),
            ("x-own", "2"),
            ("te", "trailers"),
            ("a", "3"),
            ("expect", "100-continue"),
            ("x-toolyard-session", "s"),
            ("b", "4"),
            ("proxy-authorization", "k"),
            ("c", "5"),
        ];
        let headers = headers
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(name, value);
        }
        let forwarded = forwarded(&all);
        let names: Vec<&str> = forwarded.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["b", "b", "a", "c"]);
    }
}
