//! Sends requests on, and receives answers.

use std::error::Error;
use std::io::ErrorKind;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::header::{
    AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, EXPECT, HOST, HeaderName,
};
use hyper::{HeaderMap, Method, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reqwest::{Body, Client, Response, Url};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::TcpStream;
use tokio::time::{error::Elapsed, timeout};
use tower_service::Service;

use super::{door, envelope};
use crate::domain::ModelError;
use crate::model::hosted::Overheard;
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
/// How long an endpoint may take to accept a connection. Agents have such limits too, but their own connections end at
/// this machine.
const CONNECTING: Duration = Duration::from_secs(10);

/// The clients for all upstreams.
pub struct Clients {
    /// Adds no header to a request.
    direct: legacy::Client<Connector, Body>,
    /// For upstreams behind a proxy of the environment. It adds `Accept: */*` to a request without one.
    proxied: Client,
    proxies: Matcher,
}

impl Clients {
    /// # Errors
    /// The system's certificates cannot be read.
    pub fn new() -> Result<Self, Box<dyn Error>> {
        // The clients of agents speak HTTP/1.1 and open a connection for each concurrent request. An HTTP/2 connection
        // limits its requests, so that further ones would wait for each other.
        let proxied = client::nameless().http1_only().tcp_nodelay(true);
        let proxied = proxied.pool_idle_timeout(IDLE).connect_timeout(CONNECTING).build()?;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let tls = ClientConfig::builder().with_platform_verifier()?.with_no_client_auth();
        let https = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let direct = legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .build(Connector(https.enable_http1().wrap_connector(http)));
        Ok(Self { direct, proxied, proxies: Matcher::from_system() })
    }

    /// A connection to a host, through the proxy of the environment if there is one.
    ///
    /// # Errors
    /// There is no connection in time.
    pub async fn tunnel(&self, to: Uri) -> Result<TcpStream, Box<dyn Error>> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        let reached = async {
            let Some(proxy) = self.proxies.intercept(&to) else {
                return Ok::<_, Box<dyn Error>>(http.call(to).await?);
            };
            let mut tunnel = Tunnel::new(proxy.uri().clone(), http);
            if let Some(login) = proxy.basic_auth() {
                tunnel = tunnel.with_auth(login.clone());
            }
            Ok(tunnel.call(to).await?)
        };
        Ok(timeout(CONNECTING, reached).await??.into_inner())
    }
}

/// Connects within a limited time, the handshake of TLS included.
#[derive(Clone)]
struct Connector(Https);

type Https = HttpsConnector<HttpConnector>;
type Failure = Box<dyn Error + Send + Sync>;

impl Service<Uri> for Connector {
    type Response = <Https as Service<Uri>>::Response;
    type Error = Failure;
    type Future = BoxFuture<'static, Result<Self::Response, Failure>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let connected = self.0.call(to);
        Box::pin(async { timeout(CONNECTING, connected).await? })
    }
}

/// The headers to pass on, in their order.
pub fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|names| names.to_str().ok());
    let named: Vec<String> =
        named.flat_map(|names| names.split(',')).map(|name| name.trim().to_lowercase()).collect();
    // A client that signs its headers has signed the one of toolyard, too.
    let is_signed = envelope::is_signed(headers);
    let goes = |name: &HeaderName| {
        !OF_CONNECTION.contains(&name.as_str())
            && !named.iter().any(|other| other == name.as_str())
            && ![HOST, EXPECT].contains(name)
            && (name != SESSION || is_signed)
            && name != door::TOKEN
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
    body: Option<Body>,
) -> Result<Response, Unanswered> {
    let proxied = Unanswered::Proxied;
    // The builder makes a header of the name and the password.
    let mut request = clients.proxied.request(method, url).build().map_err(proxied)?;
    if let Some(login) = request.headers_mut().remove(AUTHORIZATION) {
        headers.entry(AUTHORIZATION).or_insert(login);
    }
    let is_direct =
        |uri: &Uri| client::is_local(request.url()) || clients.proxies.intercept(uri).is_none();
    let uri = request.url().as_str().parse().ok().filter(is_direct);
    let Some(uri) = uri else {
        *request.headers_mut() = headers;
        *request.body_mut() = body;
        return clients.proxied.execute(request).await.map_err(proxied);
    };
    let mut direct = hyper::Request::new(body.unwrap_or_default());
    (*direct.method_mut(), *direct.uri_mut()) = (request.method().clone(), uri);
    *direct.headers_mut() = headers;
    let came = clients.direct.request(direct).await.map_err(Unanswered::Direct)?;
    Ok(came.map(Body::wrap).into())
}

/// Why a request got no answer.
pub enum Unanswered {
    Direct(legacy::Error),
    Proxied(reqwest::Error),
}

impl Unanswered {
    /// The error of this endpoint.
    pub fn told(self, overheard: &Overheard) -> ModelError {
        let error = match self {
            Self::Proxied(error) => return overheard.failed(error),
            Self::Direct(error) => error,
        };
        let mut causes = std::iter::successors(error.source(), |error| Error::source(*error));
        let is_late = |error: &std::io::Error| error.kind() == ErrorKind::TimedOut;
        let is_timeout =
            causes.any(|error| error.is::<Elapsed>() || error.downcast_ref().is_some_and(is_late));
        overheard.unanswered(&error, is_timeout, error.is_connect())
    }
}

/// An answer, some bytes of whose body may have been read.
pub struct Came {
    pub status: StatusCode,
    pub headers: HeaderMap,
    /// The most bytes of a chunk.
    pub most: usize,
    /// Bytes of the body that were read before.
    read: Option<Bytes>,
    response: Response,
}

impl From<Response> for Came {
    fn from(response: Response) -> Self {
        let headers = response.headers().clone();
        Self { status: response.status(), headers, most: usize::MAX, read: None, response }
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
        let chunk = match self.read.take() {
            Some(bytes) => Some(bytes),
            None => self.response.chunk().await?,
        };
        Ok(chunk.map(|mut chunk| {
            let rest = chunk.split_off(self.most.min(chunk.len()));
            self.read = (!rest.is_empty()).then_some(rest);
            chunk
        }))
    }

    /// Replaces bytes that were looked at.
    pub fn replace(&mut self, bytes: Bytes) {
        self.read = Some(bytes);
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
