//! The answer of a server, as a tool's output or its error.

use std::time::SystemTime;

use encoding_rs::{Encoding, UTF_8};
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderMap, LAST_MODIFIED};
use reqwest::{Method, Response, StatusCode};

use super::redirects::{failed, place};
use crate::domain::words::clipped;
use crate::net::coding::{Body, BodyFault};
use crate::net::retry_after;
use crate::output::{bounded, from_bytes};
use crate::{ToolError, ToolOutput};

/// The longest answer in bytes. A shorter one may be cut; a longer one is a failure.
const LONGEST: u64 = 16 * 1024 * 1024;
/// The most bytes of a refusal that its error shows.
const REFUSAL: usize = 2 * 1024;
/// Text types other than `text/*` and those that end with `+json`, `+xml` and `+yaml`.
const TEXTS: [&str; 10] = [
    "application/json",
    "application/jsonl",
    "application/x-ndjson",
    "application/json-seq",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/x-www-form-urlencoded",
];

/// Reads the text of a response, of which `most` bytes are kept. `variables` are the variables that provide keys.
///
/// # Errors
/// The status is not a success, or the body is not text, is too long, or breaks off.
pub(super) async fn read(
    response: Response,
    method: Method,
    most: usize,
    variables: &[&str],
) -> Result<ToolOutput, ToolError> {
    let (status, headers) = (response.status(), response.headers().clone());
    let (host, kind) = (place(response.url()), ContentType::of(&headers));
    if !status.is_success() {
        let body = match kind.is_binary {
            true => String::new(),
            false => {
                body(response, REFUSAL).await.map(|body| kind.text(&body).text).unwrap_or_default()
            }
        };
        return Err(failed(refusal(&host, status, &headers, &body, variables)));
    }
    if method == Method::HEAD {
        return Ok(bounded(&head(status, &headers), most));
    }
    if kind.is_binary {
        let text = format!("the answer of {host} is {}, not text", kind.name);
        return Err(failed(text));
    }
    let body = body(response, most).await?;
    if kind.is_unknown() && is_no_text(&body) {
        let text = match &*kind.name {
            "" => format!("the answer of {host} is not text, and does not name its type"),
            name => format!("the answer of {host} is {name}, not text"),
        };
        return Err(failed(text));
    }
    Ok(kind.text(&body))
}

/// The type of bytes of any kind.
const BYTES: &str = "application/octet-stream";

/// The type of an answer.
struct ContentType {
    /// The name in lower case, such as `image/png`; empty if the type is missing.
    name: String,
    is_binary: bool,
    encoding: &'static Encoding,
}

impl ContentType {
    fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(CONTENT_TYPE).and_then(|given| given.to_str().ok());
        let given = given.unwrap_or_default().to_ascii_lowercase();
        let (name, rest) = given.split_once(';').unwrap_or((&given, ""));
        let name = name.trim();
        let label = rest.split(';').find_map(|part| part.trim().strip_prefix("charset="));
        let encoding =
            label.and_then(|label| Encoding::for_label(label.trim_matches('"').as_bytes()));
        let ends = ["+json", "+xml", "+yaml"];
        let is_text = name.is_empty()
            || name == BYTES
            || name.starts_with("text/")
            || TEXTS.contains(&name)
            || ends.iter().any(|end| name.ends_with(end));
        Self { name: clipped(name, 80), is_binary: !is_text, encoding: encoding.unwrap_or(UTF_8) }
    }

    /// Whether the type says nothing: servers send unknown content as bytes. The body then decides, as without a type.
    fn is_unknown(&self) -> bool {
        self.name.is_empty() || self.name == BYTES
    }

    fn text(&self, body: &BodyStart) -> ToolOutput {
        if self.encoding == UTF_8 {
            return from_bytes(&body.kept, body.total);
        }
        let (text, ..) = self.encoding.decode(&body.kept);
        let cut = body.total - body.kept.len() as u64;
        from_bytes(text.as_bytes(), text.len() as u64 + cut)
    }
}

/// The beginning of a body, and its length in bytes.
struct BodyStart {
    kept: Vec<u8>,
    total: u64,
}

async fn body(response: Response, most: usize) -> Result<BodyStart, ToolError> {
    let host = place(response.url());
    let mut body = BodyStart { kept: Vec::new(), total: 0 };
    let mut pieces = Body::of(response);
    loop {
        match pieces.chunk().await {
            Ok(Some(chunk)) => {
                let room = most.saturating_sub(body.kept.len());
                body.kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
                body.total += chunk.len() as u64;
            }
            Ok(None) => return Ok(body),
            Err(fault @ BodyFault::Unread(_)) => {
                return Err(failed(format!("cannot read the answer of {host}: {fault}")));
            }
            Err(BodyFault::Broken(error)) => {
                let text = format!(
                    "the answer of {host} broke off after {} bytes: {}",
                    body.total,
                    error.without_url()
                );
                return Err(failed(text));
            }
        }
        if body.total > LONGEST {
            let most = LONGEST / (1024 * 1024);
            return Err(failed(format!(
                "the answer of {host} is longer than {most} MiB; ask for less"
            )));
        }
    }
}

/// Whether bytes are not UTF-8, apart from a character that is cut at the end.
fn is_no_text(body: &BodyStart) -> bool {
    std::str::from_utf8(&body.kept).is_err_and(|error| error.error_len().is_some())
}

fn refusal(
    host: &str,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
    variables: &[&str],
) -> String {
    let mut text = format!("HTTP {status} from {host}");
    if let Some(wait) = retry_after::asked(headers, SystemTime::now()) {
        text += &format!(". It asks to wait {} s", wait.as_secs_f64().ceil());
    }
    let is_auth = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if is_auth && !variables.is_empty() {
        text += &format!(". The key comes from {}", variables.join(", "));
    }
    match body.trim() {
        "" => text,
        body => format!("{text}: {body}"),
    }
}

/// The text for an answer to HEAD, which has no body: its status and some headers.
fn head(status: StatusCode, headers: &HeaderMap) -> String {
    let mut text = format!("HTTP {status}");
    for name in [CONTENT_TYPE, CONTENT_LENGTH, LAST_MODIFIED, ETAG] {
        if let Some(value) = headers.get(&name).and_then(|value| value.to_str().ok()) {
            text += &format!("\n{name}: {value}");
        }
    }
    text
}
