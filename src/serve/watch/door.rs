//! Checks who may send requests, and reads the marks in their paths.
//!
//! A web page can make a browser send requests to this machine. Such requests have an `Origin`, or a foreign `Host`.

use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;

use hyper::header::{HOST, HeaderValue, ORIGIN};
use hyper::{HeaderMap, StatusCode};

/// The header by which a client tells its token that would show other users its address, as one on a command line.
pub const TOKEN: &str = "x-toolyard-door";

/// The path of a request without its marks.
#[derive(Debug, PartialEq, Eq)]
pub struct Entered {
    /// The path for the upstream; empty for the root.
    pub path: String,
    /// The session that the path names.
    pub session: Option<String>,
}

/// The status of a refused request, and the reason for the log of an agent.
pub type Refusal = (StatusCode, &'static str);

/// A random token for addresses that only this user may know.
///
/// # Errors
/// The system has no random numbers.
pub fn new_token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Checks a request at the entrance. `is_open`: requests of this machine may enter without a token.
///
/// # Errors
/// The request is refused.
pub fn enter(
    path: &str,
    headers: &HeaderMap,
    token: Option<&str>,
    is_open: bool,
) -> Result<Entered, Refusal> {
    if !is_own_origin(headers) || is_of_page(headers) {
        return refused(
            "toolyard takes no requests of web pages (Origin or Sec-Fetch-Site says so)",
        );
    }
    if leaves(path) {
        return Err((StatusCode::BAD_REQUEST, "a path may not have `..`, `.` or `\\` as a part"));
    }
    let mut entered = Entered { path: path.to_owned(), session: None };
    let header = headers.get(TOKEN).and_then(|token| token.to_str().ok());
    let mut given = header.filter(|token| !token.is_empty()).map(str::to_owned);
    for _ in 0..2 {
        if given.is_none()
            && let Some((text, rest)) = mark(&entered.path, "/t/")
        {
            given = Some(text.to_owned());
            entered.path = rest.to_owned();
        } else if entered.session.is_none()
            && let Some((text, rest)) = mark(&entered.path, "/s/")
        {
            entered.session = Some(text.to_owned());
            entered.path = rest.to_owned();
        }
    }
    let is_known = given.as_deref().zip(token).map(|(given, token)| is_same(given, token));
    match is_known {
        Some(true) => Ok(entered),
        Some(false) => refused("wrong token in the path (/t/TOKEN/…), or in x-toolyard-door"),
        None if !is_open => refused("a token is missing in the path (/t/TOKEN/…)"),
        None if is_loopback(headers) => Ok(entered),
        None => refused("toolyard listens on loopback only; the Host header names another machine"),
    }
}

fn refused(why: &'static str) -> Result<Entered, Refusal> {
    Err((StatusCode::FORBIDDEN, why))
}

/// Whether a browser says that a page of another address sends the request.
fn is_of_page(headers: &HeaderMap) -> bool {
    let own: [&[u8]; 2] = [b"none", b"same-origin"];
    headers.get_all("sec-fetch-site").iter().any(|site| !own.contains(&site.as_bytes()))
}

/// Whether a path has a part that an endpoint, or a library on the way, would resolve: it could leave the base path.
fn leaves(path: &str) -> bool {
    let plain =
        path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "\\");
    plain.contains('\\') || plain.split('/').any(|part| matches!(part, "." | ".."))
}

/// The text after a mark at the beginning of a path, and the rest of the path.
fn mark<'a>(path: &'a str, mark: &str) -> Option<(&'a str, &'a str)> {
    let rest = path.strip_prefix(mark)?;
    let end = rest.find('/').unwrap_or(rest.len());
    Some(rest.split_at(end)).filter(|(text, _)| !text.is_empty())
}

/// Compares all bytes, so that the time reveals nothing about the token.
pub(crate) fn is_same(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    given.len() == token.len() && given.iter().zip(token).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// Whether a request comes from no page, or names this very address as its origin, which has no pages. Official clients of
/// the tool protocol may do so.
fn is_own_origin(headers: &HeaderMap) -> bool {
    let own = headers.get(HOST).filter(|_| is_loopback(headers)).map(HeaderValue::as_bytes);
    let is_own = |origin: &HeaderValue| origin.as_bytes().strip_prefix(b"http://") == own;
    headers.get_all(ORIGIN).iter().all(|origin| own.is_some() && is_own(origin))
}

/// Whether a request names this machine as its host. A request without a host is not from a browser.
fn is_loopback(headers: &HeaderMap) -> bool {
    headers.get_all(HOST).iter().all(|host| host.to_str().is_ok_and(is_loopback_host))
}

/// Whether this host is the machine itself, which containers name differently.
fn is_loopback_host(host: &str) -> bool {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or_default(),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
        && (name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))])
    }

    #[test]
    fn marks_are_taken_from_the_path_once_and_in_any_order() {
        for (path, expected, session) in [
            ("/v1/messages", "/v1/messages", None),
            ("/s/a/v1/messages", "/v1/messages", Some("a")),
            ("/t/secret/s/a/v1", "/v1", Some("a")),
            ("/s/a/t/secret/v1", "/v1", Some("a")),
            ("/s/a/s/b/v1", "/s/b/v1", Some("a")),
            ("/s/a", "", Some("a")),
            ("/t/secret", "", None),
            ("/s//v1", "/s//v1", None),
        ] {
            let entered = enter(path, &headers("localhost:1"), Some("secret"), true).unwrap();
            let found = (entered.path.as_str(), entered.session.as_deref());
            assert_eq!(found, (expected, session), "{path}");
        }
    }

    #[test]
    fn only_this_machine_may_enter_without_a_token() {
        for host in ["127.0.0.1", "127.0.0.1:80", "LOCALHOST:1", "[::1]:8080", "[::1]"] {
            assert!(enter("/v1", &headers(host), None, true).is_ok(), "{host}");
            assert!(enter("/v1", &headers(host), Some("secret"), false).is_err(), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "localhost:x.evil.example",
            "localhost:",
            "[::1]x",
            "[::1",
            "127.0.0.1.nip.io",
            "10.0.0.1",
            "",
        ] {
            assert!(enter("/v1", &headers(host), None, true).is_err(), "{host}");
            let open = enter("/t/secret/v1", &headers(host), Some("secret"), false);
            assert_eq!(open.unwrap().path, "/v1", "{host}");
            for (token, enters) in [("secret", true), ("secreT", false), ("", false)] {
                let mut headers = headers(host);
                headers.insert(TOKEN, HeaderValue::from_static(token));
                let entered = enter("/v1", &headers, Some("secret"), false);
                assert_eq!(entered.is_ok(), enters, "{token}");
            }
        }
        assert!(enter("/t/secreT/v1", &headers("localhost"), Some("secret"), true).is_err());
        assert!(enter("/v1", &HeaderMap::new(), None, true).is_ok());
    }

    #[test]
    fn requests_of_pages_and_paths_that_leave_the_base_are_refused() {
        for (site, enters) in [("cross-site", false), ("same-site", false), ("none", true)] {
            let mut headers = headers("localhost");
            headers.insert("sec-fetch-site", HeaderValue::from_static(site));
            assert_eq!(enter("/v1", &headers, None, true).is_ok(), enters, "{site}");
        }
        for path in [
            "/v1/../../x",
            "/v1/%2e%2E/x",
            "/v1/.%2e",
            "/v1/a%2f..%2fx",
            "/v1\\..\\x",
            "/v1/%5Cx",
            "/./x",
        ] {
            let refused = enter(path, &headers("localhost"), None, true).unwrap_err();
            assert_eq!(refused.0, StatusCode::BAD_REQUEST, "{path}");
        }
        for path in ["/v1/a..b", "/v1/.well-known/x", "/v1/models/x%2Fy", "/v1/x%20y", "/v1/..."] {
            assert_eq!(enter(path, &headers("localhost"), None, true).unwrap().path, path);
        }
    }

    #[test]
    fn only_this_very_address_may_be_an_origin() {
        for (host, origin, is_own) in [
            ("localhost:80", "http://localhost:80", true),
            ("[::1]:80", "http://[::1]:80", true),
            ("localhost:80", "http://localhost:81", false),
            ("localhost:80", "http://127.0.0.1:80", false),
            ("localhost:80", "https://localhost:80", false),
            ("localhost:80", "null", false),
            ("evil.example", "http://evil.example", false),
        ] {
            let mut page = headers(host);
            page.insert(ORIGIN, HeaderValue::from_static(origin));
            assert_eq!(
                enter("/t/secret/v1", &page, Some("secret"), true).is_ok(),
                is_own,
                "{origin}"
            );
            page.append(ORIGIN, HeaderValue::from_static("http://evil.example"));
            assert!(enter("/t/secret/v1", &page, Some("secret"), true).is_err(), "{origin}");
        }
    }
}
