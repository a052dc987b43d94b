//! The beginning of every HTTP client, and the names of headers and settings that carry keys.

use std::sync::Once;

use reqwest::{Client, ClientBuilder, Url, redirect};

/// Headers that carry keys: their values must not be in a file.
const KEY_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

/// Words of names whose values are keys.
const KEY_WORDS: [&str; 13] = [
    "key",
    "token",
    "secret",
    "auth",
    "authorization",
    "bearer",
    "sig",
    "signature",
    "pass",
    "password",
    "passwd",
    "passphrase",
    "subscription",
];
/// A word of names whose values are no keys: clients make a new one for each request, and each key that is hidden
/// slows the search for all of them.
const NO_KEY: &str = "idempotency";

/// A client that names this program and follows no redirect, because a redirect would send key headers to any server.
pub fn builder() -> ClientBuilder {
    nameless().user_agent(concat!("toolyard/", env!("CARGO_PKG_VERSION")))
}

/// The same for requests of other programs, to which it adds no name.
pub fn nameless() -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // An error means that another part of the program installed one, which works as well.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder().redirect(redirect::Policy::none())
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

/// Whether the value of a header, a parameter, an option or a variable of this name is hidden as a key: a word of the
/// name says so, or its end, as in `apitoken` and `API_KEY_2`. Names such as `max_tokens` and `author` do not.
pub fn names_a_key(name: &str) -> bool {
    let is_word = |word: &str| KEY_WORDS.iter().any(|key| word.eq_ignore_ascii_case(key));
    let end = name.trim_end_matches(|c: char| !c.is_ascii_alphabetic()).as_bytes();
    let is_end = |key: &&str| {
        let last = end.len().checked_sub(key.len()).and_then(|start| end.get(start..));
        last.is_some_and(|last| last.eq_ignore_ascii_case(key.as_bytes()))
    };
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    !words.clone().any(|word| word.eq_ignore_ascii_case(NO_KEY))
        && (KEY_WORDS.iter().any(is_end) || words.any(is_word))
}

/// Whether a setting of this name would contain a key itself, in any spelling.
pub fn holds_a_key(name: &str) -> bool {
    let letters: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let letters = letters.to_ascii_lowercase();
    let whole = ["key", "token", "authorization", "bearer"];
    let ends = ["apikey", "accesstoken", "authtoken", "secret", "password"];
    whole.contains(&letters.as_str()) || ends.iter().any(|end| letters.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_whether_their_values_are_keys() {
        for name in [
            "Authorization",
            "x-api-key",
            "X-Auth-Token",
            "Ocp-Apim-Subscription-Key",
            "CF-Access-Client-Secret",
            "x-custom-auth",
            "x-amz-signature",
            "sig",
            "accessToken",
            "subscriptionkey",
            "--db-password",
            "API_KEY_2",
            "SECRET_KEY_BASE",
        ] {
            assert!(names_a_key(name), "{name}");
        }
        for name in [
            "",
            "_",
            "max_tokens",
            "keywords",
            "x-author",
            "GIT_AUTHOR_NAME",
            "design",
            "PWD",
            "session-id",
            "x-portkey-trace-id",
            "Idempotency-Key",
        ] {
            assert!(!names_a_key(name), "{name}");
        }
    }
}
