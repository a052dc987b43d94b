//! Reads a request: its body, the facts about its sender, and its keys.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming};
use hyper::header::USER_AGENT;
use memchr::memmem;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::room::Room;
use super::upstream::SESSION;
use crate::model::relay::Caller;
use crate::net::{known, learn};

/// The header by which clients say how long they wait for the next bytes.
const READ_TIMEOUT: &str = "x-stainless-read-timeout";
/// The name of the messages in a body, and what follows it in those of LangChain.
const MESSAGES: &[u8] = b"\"messages\"";
const FIRST: &[u8] = b":[{\"content\":";

/// The body of a request that may be read.
pub enum Posted {
    /// A whole body, with the room that it takes.
    Whole(Bytes, Room),
    /// A body that is not kept, and is sent on while it comes; with the reason, for people.
    Long(reqwest::Body, &'static str),
}

/// Reads a body of at most `longest` bytes.
///
/// # Errors
/// The client hung up.
pub async fn read(mut body: Incoming, longest: usize) -> hyper::Result<Posted> {
    let (mut read, mut room) = (BytesMut::new(), Room::default());
    let told = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut length = told;
    let why = loop {
        if length > longest {
            break "its body is too large to be kept";
        }
        if !room.wait(length).await {
            break "other large bodies take all the room";
        }
        read.reserve(told.saturating_sub(read.len()));
        let Some(frame) = body.frame().await else {
            return Ok(Posted::Whole(read.freeze(), room));
        };
        // A whole body does not need trailers.
        let Ok(chunk) = frame?.into_data() else { continue };
        read.extend_from_slice(&chunk);
        length = told.max(read.len());
    };
    if read.is_empty() {
        return Ok(Posted::Long(reqwest::Body::wrap(body), why));
    }
    let first = stream::iter([Ok(read.freeze())]);
    let all = first.chain(body.into_data_stream());
    Ok(Posted::Long(reqwest::Body::wrap_stream(all), why))
}

/// Reads from a request who sent it. `session` is from its path.
pub fn caller(
    headers: &HeaderMap,
    session: Option<String>,
    endpoint: String,
    body: &[u8],
) -> Caller {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let seconds = |name: &str| Duration::try_from_secs_f64(text(name)?.parse().ok()?).ok();
    let named = || text(SESSION).filter(|it| !it.is_empty()).map(str::to_owned);
    Caller {
        session: session.or_else(named).or_else(|| session_in(body)),
        retries: text("x-stainless-retry-count").and_then(|n| n.parse().ok()).unwrap_or(0),
        patience: seconds(READ_TIMEOUT).or_else(|| seconds("x-stainless-timeout")),
        endpoint,
        fixed: None,
    }
}

/// Whether a client that does not ask for the usage of a stream would ask for it if no variable named an address. So does
/// LangChain for Python. Its requests are those of OpenAI's SDK, but tell no time-out, and their messages begin with the
/// content. A client that only looks like it would get a chunk that it may not understand.
pub fn would_ask_for_usage(headers: &HeaderMap, body: &[u8]) -> bool {
    let agent = headers.get(USER_AGENT).map_or(&b""[..], |agent| agent.as_bytes());
    let is_langchain = |at: usize| {
        let rest = body.get(at + MESSAGES.len()..).unwrap_or_default();
        let rest = rest.iter().filter(|byte| !byte.is_ascii_whitespace());
        rest.take(FIRST.len()).eq(FIRST)
    };
    memmem::find(agent, b"OpenAI/Python").is_some()
        && !headers.contains_key(READ_TIMEOUT)
        && memmem::find(body, b"\"stream_options\"").is_none()
        && memmem::find_iter(body, MESSAGES).any(is_langchain)
}

/// Whether the client gives up between two events however many comments come. So does Codex.
pub fn counts_events(headers: &HeaderMap) -> bool {
    let agent = headers.get(USER_AGENT).and_then(|agent| agent.as_bytes().get(..5));
    agent.is_some_and(|name| name.eq_ignore_ascii_case(b"codex"))
}

/// Fields by which clients name their session.
#[derive(Deserialize)]
struct Marks<'a> {
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_cache_key: Option<&'a RawValue>,
}

/// The session that a body names, in the form of Claude Code or of Codex.
fn session_in(body: &[u8]) -> Option<String> {
    // Most bodies name none, and parsing a long one takes time.
    let names = |field: &str| memmem::find(body, field.as_bytes()).is_some();
    if !names("metadata") && !names("prompt_cache_key") {
        return None;
    }
    let marks: Marks<'_> = serde_json::from_slice(body).ok()?;
    let of_metadata = || {
        let metadata: Value = serde_json::from_str(marks.metadata?.get()).ok()?;
        let user = metadata["user_id"].as_str()?;
        match serde_json::from_str::<Value>(user) {
            Ok(user) => user["session_id"].as_str().map(str::to_owned),
            // The older form.
            Err(_) => user.rsplit_once("_session_").map(|(_, session)| session.to_owned()),
        }
    };
    let of_cache = || serde_json::from_str::<String>(marks.prompt_cache_key?.get()).ok();
    of_metadata().or_else(of_cache).filter(|session| !session.is_empty())
}

/// Hides the keys of a request from now on.
pub fn hide_keys(headers: &HeaderMap, url: &Url) {
    for (name, value) in headers {
        let Ok(value) = str::from_utf8(value.as_bytes()) else { continue };
        learn::header(name.as_str(), value, true);
    }
    if url.query().is_some() {
        known::remember_request(url);
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let all = all
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        all.collect()
    }

    #[test]
    fn the_session_is_the_first_that_is_named() {
        let claude = r#"{"metadata":{"user_id":"{\"session_id\":\"c\"}"},"prompt_cache_key":"p"}"#;
        let old = r#"{"metadata":{"user_id":"user_1_account_2_session_o"}}"#;
        let codex = r#"{"prompt_cache_key":"p","metadata":{"user_id":"someone"}}"#;
        let header = headers(&[(SESSION, "h")]);
        let none = HeaderMap::new();
        for (headers, path, body, expected) in [
            (&header, Some("s"), claude, Some("s")),
            (&header, None, claude, Some("h")),
            (&none, None, claude, Some("c")),
            (&none, None, old, Some("o")),
            (&none, None, codex, Some("p")),
            (&none, None, r#"{"metadata":null,"prompt_cache_key":3}"#, None),
            (&none, None, "no JSON", None),
        ] {
            let path = path.map(str::to_owned);
            let caller = caller(headers, path, String::new(), body.as_bytes());
            assert_eq!(caller.session.as_deref(), expected, "{body}");
        }
    }

    #[test]
    fn clients_say_how_often_and_how_long() {
        let headers =
            headers(&[("x-stainless-retry-count", "2"), ("x-stainless-read-timeout", "1.5")]);
        let found = caller(&headers, None, "h".to_owned(), b"");
        assert_eq!((found.retries, found.patience), (2, Some(Duration::from_millis(1500))));
        assert_eq!(caller(&HeaderMap::new(), None, "h".to_owned(), b"").retries, 0);
    }

    #[test]
    fn only_codex_does_not_hear_comments() {
        for (agent, counts) in [
            ("codex_exec/0.171.0", true),
            ("Codex Desktop/0.146.0", true),
            ("OpenAI/Python 3.57.0", false),
            ("my codex", false),
            ("co", false),
        ] {
            assert_eq!(counts_events(&headers(&[("user-agent", agent)])), counts, "{agent}");
        }
        assert!(!counts_events(&headers(&[])));
    }

    #[test]
    fn only_langchain_would_ask_for_the_usage() {
        let langchain = r#"{"model":"m","stream":true,"tools":[{"p":{"messages":{}}}],"messages":[{"content":"hi","role":"user"}]}"#;
        let spaced = r#"{"messages" : [ {"content": "hi", "role": "user"}]}"#;
        let other = r#"{"messages":[{"role":"user","content":"\"messages\":[{\"content\":1}]"}]}"#;
        let asks = langchain.replacen('{', r#"{"stream_options":{"include_usage":false},"#, 1);
        let sdk = headers(&[("user-agent", "OpenAI/Python 3.57.0")]);
        let beside = headers(&[("user-agent", "AsyncOpenAI/Python 1.0.0")]);
        let told =
            headers(&[("user-agent", "OpenAI/Python 3.57.0"), ("x-stainless-read-timeout", "600")]);
        let node = headers(&[("user-agent", "OpenAI/JS 6.49.0")]);
        for (headers, body, expected) in [
            (&sdk, langchain, true),
            (&beside, spaced, true),
            (&sdk, other, false),
            (&sdk, &asks, false),
            (&told, langchain, false),
            (&node, langchain, false),
            (&HeaderMap::new(), langchain, false),
            (&sdk, r#"{"messages"#, false),
            (&sdk, r#"{"messages":[{"#, false),
        ] {
            assert_eq!(would_ask_for_usage(headers, body.as_bytes()), expected, "{body}");
        }
    }

    #[test]
    fn keys_are_hidden_wherever_they_stand() {
        let url = "http://h/v1?key=qu3ry-key-watch".parse().unwrap();
        let headers = headers(&[
            ("authorization", "Bearer b3arer-key-watch"),
            ("x-api-key", "4pi-key-watch"),
            ("cookie", "a=c00kie-key-watch; b=x"),
        ]);
        hide_keys(&headers, &url);
        let text = "qu3ry-key-watch b3arer-key-watch 4pi-key-watch c00kie-key-watch";
        assert_eq!(known::without_known(text), "[key] [key] [key] [key]");
    }

    #[test]
    fn keys_are_hidden_by_the_names_of_their_headers_and_parameters() {
        let url = "http://h/v1?token=t0ken-of-query&sig=s1g-of-query&model=m0del-of-query";
        // `me:b4sic-of-header`
        let basic = "Basic bWU6YjRzaWMtb2YtaGVhZGVy";
        let headers = headers(&[
            ("x-auth-token", "auth-t0ken-of-header"),
            ("ocp-apim-subscription-key", "subscr1ption-of-header"),
            ("cf-access-client-secret", "cl1ent-secret-of-header"),
            ("x-custom-auth", "cust0m-of-header"),
            ("authorization", basic),
            ("idempotency-key", "once-0nly-of-header"),
            ("x-request-id", "r3quest-of-header"),
        ]);
        hide_keys(&headers, &url.parse().unwrap());
        for hidden in [
            "t0ken-of-query",
            "s1g-of-query",
            "auth-t0ken-of-header",
            "subscr1ption-of-header",
            "cl1ent-secret-of-header",
            "cust0m-of-header",
            "b4sic-of-header",
            &basic[6..],
        ] {
            assert_eq!(known::without_known(hidden), "[key]", "{hidden}");
        }
        for shown in ["m0del-of-query", "once-0nly-of-header", "r3quest-of-header"] {
            assert_eq!(known::without_known(shown), shown);
        }
    }
}
