//! Finds the endpoint and the format of a request.

use hyper::{HeaderMap, Method};
use reqwest::Url;

use crate::net::known::{remember_address, without_keys};
use crate::wire::WireFormat;

/// The addresses that requests are sent on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstreams<A = String> {
    /// With its version: `https://api.openai.com/v1`. Requests that no other upstream matches go here.
    pub openai: A,
    /// Without its version: `https://api.anthropic.com`.
    pub anthropic: A,
    /// For `/api/…`.
    pub ollama: A,
    /// Further ones, each for the paths that begin with its own: `/mistral/v1`.
    pub others: Vec<(String, A)>,
    /// For `/v1beta/…` and paths that end in `:generateContent` or `:streamGenerateContent`.
    pub gemini: A,
}

/// An upstream that is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the address of an endpoint; expected one like https://api.openai.com/v1")]
pub struct BadUpstream(String);

impl Default for Upstreams {
    fn default() -> Self {
        Self {
            openai: "https://api.openai.com/v1".to_owned(),
            anthropic: "https://api.anthropic.com".to_owned(),
            ollama: "http://127.0.0.1:11434".to_owned(),
            gemini: "https://generativelanguage.googleapis.com".to_owned(),
            others: Vec::new(),
        }
    }
}

impl Upstreams {
    /// Parses the addresses, and hides their keys. One without a scheme is `http`, as clients of Ollama write it.
    ///
    /// # Errors
    /// One of them is not an address.
    pub(super) fn read(&self) -> Result<Upstreams<Url>, BadUpstream> {
        let read = |text: &String| {
            let whole = if text.contains("://") { text.clone() } else { format!("http://{text}") };
            let url = Url::parse(whole.trim()).ok();
            let url = url.filter(|it| it.has_host() && matches!(it.scheme(), "http" | "https"));
            url.iter().for_each(remember_address);
            // The text may have a password in it.
            url.ok_or_else(|| BadUpstream(without_keys(text)))
        };
        Ok(Upstreams {
            openai: read(&self.openai)?,
            anthropic: read(&self.anthropic)?,
            ollama: read(&self.ollama)?,
            gemini: read(&self.gemini)?,
            others: {
                let others = self.others.iter();
                others
                    .map(|(path, text)| Ok((path.clone(), read(text)?)))
                    .collect::<Result<_, _>>()?
            },
        })
    }
}

/// The destination of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub url: Url,
    /// The format of a request that can be read; `None` for one that passes unread.
    pub format: Option<WireFormat>,
    /// The format of the endpoint's errors.
    pub errors: WireFormat,
    /// Host and port.
    pub host: String,
    /// Host and path of the endpoint, as a person knows it: `api.openai.com/v1`.
    pub endpoint: String,
}

/// The route of a request with this path, whose marks are already removed.
pub fn route(
    upstreams: &Upstreams<Url>,
    method: &Method,
    (path, query): (&str, Option<&str>),
    headers: &HeaderMap,
) -> Route {
    let is_gemini = path.starts_with("/v1beta/")
        || path.ends_with(":generateContent")
        || path.ends_with(":streamGenerateContent");
    let is_anthropic = path == "/v1/messages"
        || path.starts_with("/v1/messages/")
        || headers.contains_key("anthropic-version");
    let others = upstreams.others.iter().filter_map(|(own, base)| {
        let rest = path.strip_prefix(own.as_str())?;
        (rest.is_empty() || rest.starts_with('/')).then_some((base, rest))
    });
    let (base, rest) = if let Some(other) = others.min_by_key(|(_, rest)| rest.len()) {
        other
    } else if is_anthropic {
        (&upstreams.anthropic, path)
    } else if path.starts_with("/api/") {
        (&upstreams.ollama, path)
    } else if is_gemini {
        (&upstreams.gemini, path)
    } else {
        let rest = path.strip_prefix("/v1").filter(|it| it.is_empty() || it.starts_with('/'));
        (&upstreams.openai, rest.unwrap_or(path))
    };
    let own = base.path().trim_end_matches('/');
    let mut url = base.clone();
    url.set_path(&format!("{own}{rest}"));
    let queries: Vec<&str> = base.query().into_iter().chain(query).collect();
    url.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
    let name = base.host_str().unwrap_or_default();
    let host = base.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
    Route {
        url,
        format: (method == Method::POST).then(|| format(path, is_anthropic)).flatten(),
        errors: if is_anthropic { WireFormat::Messages } else { WireFormat::Chat },
        endpoint: format!("{host}{own}"),
        host,
    }
}

/// Returns the format of requests that are posted to this path.
fn format(path: &str, is_anthropic: bool) -> Option<WireFormat> {
    if path.ends_with("/chat/completions") {
        Some(WireFormat::Chat)
    } else if path.ends_with("/responses") {
        Some(WireFormat::Responses)
    } else if is_anthropic && path.ends_with("/messages") {
        Some(WireFormat::Messages)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn routed(path: &str, query: Option<&str>) -> (String, Option<WireFormat>) {
        let upstreams = Upstreams::default().read().unwrap();
        let route = route(&upstreams, &Method::POST, (path, query), &HeaderMap::new());
        (route.url.to_string(), route.format)
    }

    #[test]
    fn every_path_has_its_endpoint() {
        for (path, query, url, format) in [
            (
                "/v1/chat/completions",
                None,
                "https://api.openai.com/v1/chat/completions",
                Some(WireFormat::Chat),
            ),
            (
                "/chat/completions",
                None,
                "https://api.openai.com/v1/chat/completions",
                Some(WireFormat::Chat),
            ),
            (
                "/v1/responses",
                Some("a=%20b"),
                "https://api.openai.com/v1/responses?a=%20b",
                Some(WireFormat::Responses),
            ),
            ("/v1/responses/x/cancel", None, "https://api.openai.com/v1/responses/x/cancel", None),
            ("/v1/responses/compact", None, "https://api.openai.com/v1/responses/compact", None),
            ("/v1/embeddings", None, "https://api.openai.com/v1/embeddings", None),
            ("/v1x", None, "https://api.openai.com/v1/v1x", None),
            (
                "/v1/messages",
                Some("beta=true"),
                "https://api.anthropic.com/v1/messages?beta=true",
                Some(WireFormat::Messages),
            ),
            (
                "/v1/messages/count_tokens",
                None,
                "https://api.anthropic.com/v1/messages/count_tokens",
                None,
            ),
            ("/v1/threads/x/messages", None, "https://api.openai.com/v1/threads/x/messages", None),
            ("/api/chat", None, "http://127.0.0.1:11434/api/chat", None),
            (
                "/v1/models/m:generateContent",
                Some("key=k"),
                "https://generativelanguage.googleapis.com/v1/models/m:generateContent?key=k",
                None,
            ),
            (
                "/v1beta/models",
                None,
                "https://generativelanguage.googleapis.com/v1beta/models",
                None,
            ),
        ] {
            assert_eq!(routed(path, query), (url.to_owned(), format), "{path}");
        }
    }

    #[test]
    fn a_header_and_a_method_decide_too() {
        let headers = HeaderMap::from_iter([(
            "anthropic-version".parse().unwrap(),
            HeaderValue::from_static("x"),
        )]);
        let upstreams = Upstreams {
            openai: "gateway:4000/openai?api-version=1".to_owned(),
            ..Upstreams::default()
        };
        let upstreams = upstreams.read().unwrap();
        let to = |method, path, headers| route(&upstreams, &method, (path, Some("b=2")), headers);
        let models = to(Method::GET, "/v1/models", &headers);
        assert_eq!(models.url.as_str(), "https://api.anthropic.com/v1/models?b=2");
        let read = to(Method::GET, "/v1/responses", &HeaderMap::new());
        assert_eq!(read.url.as_str(), "http://gateway:4000/openai/responses?api-version=1&b=2");
        for bad in ["", "file:///x", "https://"] {
            let upstreams = Upstreams { openai: bad.to_owned(), ..Upstreams::default() };
            assert!(upstreams.read().is_err(), "{bad}");
        }
        assert_eq!((read.format, read.endpoint.as_str()), (None, "gateway:4000/openai"));
    }
}
