//! The server behind a relay, and the address by which clients reach it.

use std::io;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use reqwest::{Client, Method, Request, Url};

use crate::net::known::{adds_key, remember_address};
use crate::watch::{Bound, new_token};

/// A server that is reached by streamable HTTP.
#[derive(Debug)]
pub struct RelayTarget {
    url: Url,
    /// Whether it may be at an address that [`crate::net::guard`] refuses.
    pub any_address: bool,
    /// Headers that the relay adds to each request.
    headers: HeaderMap,
    /// The token that clients must know, where the relay adds a key.
    pub token: Option<String>,
}

impl RelayTarget {
    /// # Errors
    /// The system has no random numbers for the token.
    pub fn new(url: Url, any_address: bool, headers: HeaderMap) -> io::Result<Self> {
        remember_address(&url);
        // Every user of this machine can reach the relay, but not every user may use this key.
        let needs_token = adds_key(&url) || !headers.is_empty();
        let token = needs_token.then(new_token).transpose()?;
        Ok(Self { url, any_address, headers, token })
    }

    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The path that clients ask for.
    pub fn path(&self) -> String {
        let token = self.token.as_ref().map(|token| format!("/t/{token}"));
        token.unwrap_or_default() + self.url.path()
    }

    /// The address that clients get instead of the server's.
    pub fn address_at(&self, socket: &Bound) -> String {
        format!("http://{}{}", socket.address, self.path())
    }

    /// A request for the server with a client's query and headers. Those of the entry replace the client's.
    ///
    /// # Errors
    /// The address takes no requests.
    pub fn request(
        &self,
        client: &Client,
        method: Method,
        query: Option<&str>,
        mut headers: HeaderMap,
    ) -> reqwest::Result<Request> {
        let mut url = self.url.clone();
        url.set_query(query.or(self.url.query()));
        // The builder makes a header of a name and a password in the address.
        let mut request = client.request(method, url).build()?;
        if let Some(login) = request.headers_mut().remove(AUTHORIZATION) {
            headers.entry(AUTHORIZATION).or_insert(login);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        *request.headers_mut() = headers;
        Ok(request)
    }
}
