//! The beginning of every HTTP client, and the names of headers and settings that carry keys.

use std::sync::Once;

use reqwest::{Client, ClientBuilder, Url, redirect};

/// Headers that carry keys: their values must not be in a file.
const KEY_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

/// A client that names this program and follows no redirect, because a redirect would send key headers to any server.
pub fn builder() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // An error means that another part of the program installed one, which works as well.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
        .user_agent(concat!("toolyard/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
}

/// Whether an address belongs to this machine. No proxy of the environment can reach it.
pub fn is_local(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let ip: Option<std::net::IpAddr> = host.parse().ok();
    host == "localhost" || ip.is_some_and(|ip| ip.is_loopback())
}

/// Whether the value of this header is a key.
pub fn carries_key(header: &str) -> bool {
    KEY_HEADERS.iter().any(|key| header.eq_ignore_ascii_case(key))
}

/// Whether a setting of this name would contain a key itself, in any spelling.
pub fn holds_a_key(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    let whole = ["key", "token", "authorization", "bearer"];
    let ends = ["apikey", "accesstoken", "authtoken", "secret", "password"];
    whole.contains(&letters.as_str()) || ends.iter().any(|end| letters.ends_with(end))
}
