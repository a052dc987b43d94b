//! Finds the endpoint and the format of a request.

use hyper::{HeaderMap, Method};
use reqwest::Url;

use crate::intercept::Intercepted;
use crate::net::known::{adds_key, remember_address, without_keys};
use crate::wire::{AddressFacts, RequestAddress, WireFormat};

/// The versions in paths of Anthropic's API and of Gemini's; a path without one means the first.
const ANTHROPIC: [&str; 1] = ["/v1"];
const GEMINI: [&str; 3] = ["/v1beta", "/v1", "/v1alpha"];
/// Methods behind the colon in paths of Gemini's API.
const GEMINI_METHODS: [&str; 7] = [
    "generateContent",
    "streamGenerateContent",
    "countTokens",
    "embedContent",
    "batchEmbedContents",
    "predict",
    "predictLongRunning",
];
/// Paths below the version of Anthropic's API. The Vercel AI SDK expects the version in the address.
const RESOURCES: [&str; 4] = ["/messages", "/models", "/files", "/skills"];

/// The addresses that requests are sent on to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstreams<A = String> {
    /// With its version: `https://api.openai.com/v1`. Requests that no other upstream matches go here.
    pub openai: A,
    /// With its version or without: `https://api.anthropic.com`.
    pub anthropic: A,
    /// For `/api/…`.
    pub ollama: A,
    /// Further ones, each for the paths that begin with its own: `/mistral/v1`.
    pub others: Vec<(String, A)>,
    /// For `/v1beta/…`, and for paths that end like those of Gemini's API. With its version or without.
    pub gemini: A,
    /// Whether `openai` is where clients go by themselves. Some behave differently if a variable names an address.
    pub openai_is_usual: bool,
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
            openai_is_usual: false,
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
            openai_is_usual: self.openai_is_usual,
            others: {
                let others = self.others.iter();
                others
                    .map(|(path, text)| Ok((path.clone(), read(text)?)))
                    .collect::<Result<_, _>>()?
            },
        })
    }
}

impl Upstreams<Url> {
    /// Whether one of the addresses has a key, which requests then get.
    pub(super) fn add_key(&self) -> bool {
        let named = [&self.openai, &self.anthropic, &self.ollama, &self.gemini];
        named.into_iter().chain(self.others.iter().map(|(_, url)| url)).any(adds_key)
    }
}

/// The destination of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub url: Url,
    /// The format of a request that can be read; `None` for one that passes unread.
    pub format: Option<WireFormat>,
    /// The facts that the address of such a request has.
    pub facts: AddressFacts,
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
    // A model's name may have a colon, too.
    let is_gemini = path.starts_with("/v1beta/")
        || path.rsplit_once(':').is_some_and(|(_, method)| GEMINI_METHODS.contains(&method));
    let rest = without(path, &ANTHROPIC).0;
    let is_anthropic = headers.contains_key("anthropic-version")
        || rest.len() < path.len() && below(rest, "/messages").is_some();
    let address = RequestAddress { path, query, is_anthropic };
    let found = (method == Method::POST).then(|| WireFormat::addressed(&address)).flatten();
    let errors = match &found {
        Some((format, _)) => *format,
        None if is_anthropic => WireFormat::Messages,
        None if path.starts_with("/api/") => WireFormat::Ollama,
        None if is_gemini => WireFormat::Gemini,
        None => WireFormat::Chat,
    };
    let others = upstreams.others.iter().filter_map(|(own, base)| Some((base, below(path, own)?)));
    let at = |base: &Url, rest: &str| format!("{}{rest}", base.path().trim_end_matches('/'));
    let (base, path_there) = if let Some((base, rest)) = others.min_by_key(|(_, rest)| rest.len()) {
        (base, at(base, rest))
    } else if is_anthropic {
        let lacks = RESOURCES.iter().any(|resource| below(path, resource).is_some());
        (&upstreams.anthropic, versioned(upstreams.anthropic.path(), path, &ANTHROPIC, lacks))
    } else if path.starts_with("/api/") {
        (&upstreams.ollama, at(&upstreams.ollama, path))
    } else if is_gemini {
        let lacks = path.starts_with("/models/");
        (&upstreams.gemini, versioned(upstreams.gemini.path(), path, &GEMINI, lacks))
    } else {
        (&upstreams.openai, at(&upstreams.openai, below(path, "/v1").unwrap_or(path)))
    };
    let mut url = base.clone();
    url.set_path(&path_there);
    let queries: Vec<&str> = base.query().into_iter().chain(query).collect();
    url.set_query((!queries.is_empty()).then(|| queries.join("&")).as_deref());
    let name = base.host_str().unwrap_or_default();
    let host = base.port().map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
    Route {
        url,
        format: found.as_ref().map(|(format, _)| *format),
        facts: found.map(|(_, facts)| facts).unwrap_or_default(),
        errors,
        endpoint: format!("{host}{}", base.path().trim_end_matches('/')),
        host,
    }
}

/// The route of a request on a connection that was opened: it goes where the agent sends it. `None` if the host is none.
pub fn opened(
    to: &Intercepted,
    method: &Method,
    (path, query): (&str, Option<&str>),
    headers: &HeaderMap,
) -> Option<Route> {
    let host = if to.host.contains(':') { format!("[{}]", to.host) } else { to.host.clone() };
    let mut url = Url::parse(&format!("https://{host}:{}", to.port)).ok()?;
    url.set_path(path);
    url.set_query(query);
    let is_anthropic = headers.contains_key("anthropic-version");
    let address = RequestAddress { path, query, is_anthropic };
    let found = (method == Method::POST).then(|| WireFormat::addressed(&address)).flatten();
    let usual = if is_anthropic { WireFormat::Messages } else { WireFormat::Chat };
    Some(Route {
        format: found.as_ref().map(|(format, _)| *format),
        errors: found.as_ref().map_or(usual, |(format, _)| *format),
        facts: found.map(|(_, facts)| facts).unwrap_or_default(),
        endpoint: host.clone(),
        host,
        url,
    })
}

/// The path at an endpoint whose address may have a version or lack it, as the paths of its clients may: it is there
/// once. A path that names none gets one if it `lacks` it.
fn versioned(own: &str, path: &str, versions: &[&'static str], lacks: bool) -> String {
    let own = own.trim_end_matches('/');
    let (rest, named) = without(path, versions);
    if named.is_none() && !lacks {
        return format!("{own}{path}");
    }
    let of_own = versions.iter().find_map(|version| Some((own.strip_suffix(version)?, *version)));
    let (own, by_own) = of_own.map_or((own, None), |(own, version)| (own, Some(version)));
    let version = named.or(by_own).or(versions.first().copied()).unwrap_or_default();
    format!("{own}{version}{rest}")
}

/// A path without the versions at its beginning, and the last of these.
fn without<'p>(path: &'p str, versions: &[&'static str]) -> (&'p str, Option<&'static str>) {
    let (mut rest, mut named) = (path, None);
    let next = |rest: &'p str| {
        versions.iter().find_map(|version| Some((below(rest, version)?, Some(*version))))
    };
    while let Some(found) = next(rest) {
        (rest, named) = found;
    }
    (rest, named)
}

/// The rest of a path that begins with the segments of another one.
fn below<'p>(path: &'p str, start: &str) -> Option<&'p str> {
    path.strip_prefix(start).filter(|rest| rest.is_empty() || rest.starts_with('/'))
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
            ("/api/chat", None, "http://127.0.0.1:11434/api/chat", Some(WireFormat::Ollama)),
            ("/api/tags", None, "http://127.0.0.1:11434/api/tags", None),
            ("/v1/models/qwen:7b", None, "https://api.openai.com/v1/models/qwen:7b", None),
            (
                "/v1/models/m:generateContent",
                Some("key=k"),
                "https://generativelanguage.googleapis.com/v1/models/m:generateContent?key=k",
                Some(WireFormat::Gemini),
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
    fn a_version_is_there_once_wherever_it_is_named() {
        let anthropic = || {
            let name = "anthropic-version".parse().unwrap();
            HeaderMap::from_iter([(name, HeaderValue::from_static("2023-06-01"))])
        };
        let own = ["https://a", "https://a/", "https://a/v1", "https://a/v1/"];
        for (own, there) in own.map(|own| (own, "https://a/v1")).into_iter().chain([
            ("https://a/gate", "https://a/gate/v1"),
            ("https://a/gate/v1", "https://a/gate/v1"),
        ]) {
            for (path, end) in [
                ("/messages", "/messages"),
                ("/v1/messages", "/messages"),
                ("/v1/v1/messages", "/messages"),
                ("/messages/count_tokens", "/messages/count_tokens"),
                ("/v1/v1/messages/count_tokens", "/messages/count_tokens"),
                ("/models", "/models"),
                ("/v1/models/m", "/models/m"),
            ] {
                let upstreams = Upstreams { anthropic: own.to_owned(), ..Upstreams::default() };
                let upstreams = upstreams.read().unwrap();
                let found = route(&upstreams, &Method::POST, (path, None), &anthropic());
                assert_eq!(found.url.as_str(), format!("{there}{end}"), "{own} {path}");
                let is_asking = end == "/messages";
                assert_eq!(found.format == Some(WireFormat::Messages), is_asking, "{path}");
                assert_eq!(found.errors, WireFormat::Messages, "{path}");
            }
        }
        let upstreams = Upstreams::default().read().unwrap();
        let to = |path, headers: &HeaderMap| {
            route(&upstreams, &Method::POST, (path, None), headers).url.to_string()
        };
        assert_eq!(
            to("/v1/v1/messages", &HeaderMap::new()),
            "https://api.anthropic.com/v1/messages"
        );
        assert_eq!(to("/messages", &HeaderMap::new()), "https://api.openai.com/v1/messages");
        assert_eq!(to("/api/hello", &anthropic()), "https://api.anthropic.com/api/hello");
        for (own, path, there) in [
            ("https://g", "/models/m:generateContent", "/v1beta/models/m:generateContent"),
            ("https://g", "/v1/models/m:countTokens", "/v1/models/m:countTokens"),
            ("https://g/v1beta", "/models/m:embedContent", "/v1beta/models/m:embedContent"),
            ("https://g/v1beta/", "/v1beta/models", "/v1beta/models"),
            ("https://g/v1", "/models/m:generateContent", "/v1/models/m:generateContent"),
            (
                "https://g/v1",
                "/v1beta/models/m:generateContent",
                "/v1beta/models/m:generateContent",
            ),
            ("https://g/x", "/v1beta/v1beta/models/m", "/x/v1beta/models/m"),
            ("https://g", "/v1beta/openai/chat/completions", "/v1beta/openai/chat/completions"),
        ] {
            let upstreams = Upstreams { gemini: own.to_owned(), ..Upstreams::default() };
            let upstreams = upstreams.read().unwrap();
            let found = route(&upstreams, &Method::POST, (path, None), &HeaderMap::new());
            assert_eq!(found.url.as_str(), format!("https://g{there}"), "{own} {path}");
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
