//! Tools that are requests over HTTP. A manifest has the address, and the place of each argument; a call fills it in,
//! sends it, and returns the text of the answer.
//!
//! Secrets come from the environment at each call, and are hidden in all records and output from then on. A call
//! reaches no address that [`guard`](crate::net::guard) refuses, unless its manifest allows that.

mod answer;
mod body;
mod client;
mod redirects;

use std::sync::Arc;
use std::time::Instant;

use reqwest::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tracing::info;

pub use self::body::{BodyTemplate, Content, JsonTemplate};
use self::redirects::Outgoing;
use crate::domain::HttpRequest;
use crate::domain::http_request::{Template, Unfilled, encoded, pairs};
use crate::net::secret::Secret;
use crate::{ToolError, ToolErrorKind, ToolOutput};

/// The `Accept` header, if a manifest sets none.
const ACCEPTED: &str = "application/json, text/*;q=0.9, */*;q=0.5";

/// The request of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpSource {
    /// Method, address and query.
    pub request: Arc<HttpRequest>,
    /// Headers; a header with a missing argument is left out.
    pub headers: Vec<(String, Template)>,
    /// Cookies; a cookie with a missing argument is left out.
    pub cookies: Vec<(String, Template)>,
    pub body: Option<BodyTemplate>,
    /// The most bytes of the answer that are kept.
    pub max_output: usize,
    /// Whether it may also reach addresses that are otherwise refused, and use a proxy, which resolves names itself.
    pub any_address: bool,
}

impl HttpSource {
    /// Sends the request with these arguments, and returns the text of its answer.
    ///
    /// # Errors
    /// [`ToolErrorKind::Arguments`] if a value does not fit its place; [`ToolErrorKind::Unavailable`] if a variable is
    /// not set, an address is refused or the server is not reached; [`ToolErrorKind::Failed`] for a status from 300 on,
    /// an answer that is not text, and one that is too long.
    pub async fn run(&self, arguments: &Value) -> Result<ToolOutput, ToolError> {
        let outgoing = self.outgoing(arguments)?;
        let client = client::of(self.any_address)?;
        let (method, host) = (outgoing.method.clone(), redirects::place(&outgoing.url));
        let started = Instant::now();
        let response = redirects::send(&client, outgoing, self.any_address).await?;
        let (status, ms) = (response.status().as_u16(), started.elapsed().as_millis() as u64);
        info!(%method, host, status, ms, "a server answered");
        answer::read(response, method, self.max_output, &self.variables()).await
    }

    /// The names of the environment variables that the request needs, each once.
    pub fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.templates().flat_map(Template::variables).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names of the arguments that the request uses; a name may occur several times.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        self.templates().flat_map(Template::arguments)
    }

    /// Whether undeclared arguments are sent, too.
    pub fn takes_more(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.rest)
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.around().chain(self.body.iter().flat_map(BodyTemplate::templates))
    }

    /// All places except those of the body.
    fn around(&self) -> impl Iterator<Item = &Template> {
        let named = self.request.query.iter().chain(&self.headers).chain(&self.cookies);
        [&self.request.url].into_iter().chain(named.map(|(_, template)| template))
    }

    fn outgoing(&self, arguments: &Value) -> Result<Outgoing, ToolError> {
        let address = self.request.address(arguments, &secret).map_err(unfilled)?;
        let url = Url::parse(&address)
            .map_err(|why| wrong(format!("the address is not a URL: {why}")))?;
        let method = Method::from_bytes(self.request.method.as_bytes())
            .map_err(|_| wrong("the method is not an HTTP method"))?;
        let mut headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(ACCEPTED))]);
        for (name, template) in &self.headers {
            match template.fill(arguments, &secret, str::to_owned) {
                Ok(text) => put(&mut headers, name, &text)?,
                Err(Unfilled::Argument(_)) => {}
                Err(why) => return Err(unfilled(why)),
            }
        }
        self.put_cookies(arguments, &mut headers)?;
        let body = match &self.body {
            Some(body) => {
                let elsewhere: Vec<&str> = self.around().flat_map(Template::arguments).collect();
                body.fill(arguments, &secret, &elsewhere).map_err(unfilled)?
            }
            None => None,
        };
        if body.is_none() {
            headers.remove(CONTENT_TYPE);
        }
        Ok(Outgoing { method, url, headers, body })
    }

    fn put_cookies(&self, arguments: &Value, headers: &mut HeaderMap) -> Result<(), ToolError> {
        let cookies = pairs(&self.cookies, arguments, &secret, encoded).map_err(unfilled)?;
        let fixed = headers.get(COOKIE).and_then(|cookies| cookies.to_str().ok());
        let fixed = fixed.map(str::to_owned).into_iter();
        let all = cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let all: Vec<String> = fixed.chain(all).collect();
        if all.is_empty() { Ok(()) } else { put(headers, "cookie", &all.join("; ")) }
    }
}

fn put(headers: &mut HeaderMap, name: &str, text: &str) -> Result<(), ToolError> {
    let header =
        HeaderName::try_from(name).map_err(|_| wrong(format!("{name} is not a header name")))?;
    let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| {
        wrong(format!("the header {name} cannot carry this value, such as a line break"))
    })?;
    value.set_sensitive(true);
    headers.insert(header, value);
    Ok(())
}

/// The value of an environment variable.
fn secret(name: &str) -> Result<String, String> {
    Secret::from_env(name, "a secret of this tool").map(|secret| secret.expose().to_owned())
}

fn unfilled(why: Unfilled) -> ToolError {
    let kind = match &why {
        Unfilled::Variable(_) => ToolErrorKind::Unavailable,
        Unfilled::Argument(_) | Unfilled::Value(_) => ToolErrorKind::Arguments,
    };
    ToolError::new(kind, why.to_string())
}

fn wrong(text: impl Into<String>) -> ToolError {
    ToolError::new(ToolErrorKind::Arguments, text)
}
