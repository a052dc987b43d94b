//! The settings of one endpoint, and its HTTP client.

use std::{path::PathBuf, time::Duration};

use indexmap::IndexMap;
use reqwest::{Certificate, Client, NoProxy, Proxy, Url};
use serde_json::{Map, Value};

use crate::domain::{ModelError, ModelErrorKind, ModelName, ModelSpec, ToolMode};
use crate::net::client::{self, carries_key, is_local};
use crate::net::known;
use crate::secret::{HeaderSource, KeySource, from_env};
use crate::wire::{ServicePath, WireFormat};

/// How to reach a model, and the options of its requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Endpoint {
    pub name: ModelName,
    /// The format of its requests and answers.
    pub format: WireFormat,
    /// The address without the wire's own paths, such as `http://127.0.0.1:8080/v1`.
    pub base_url: String,
    /// The endpoint's own name for the model.
    pub model: String,
    pub key: KeySource,
    pub headers: IndexMap<String, HeaderSource>,
    pub mode: ToolMode,
    /// Whether its answers can be constrained to a JSON Schema.
    pub structured: bool,
    /// Whether it accepts a list of the tools that may be called now (`tool_choice` of type `allowed_tools`), besides
    /// the tools that a request defines.
    pub allowed_tools: bool,
    /// Whether requests mark the parts that the endpoint should cache, if the format has marks.
    pub caches: bool,
    /// Whether to stream the answer.
    pub stream: bool,
    /// Time limit for making a connection.
    pub connect_timeout: Duration,
    /// The longest silence of the endpoint: before an answer begins, and inside it.
    pub silence_timeout: Duration,
    /// The longest time of a call with all its retries. Comments and single words end a silence,
    /// but not this.
    pub call_timeout: Duration,
    /// The longest answer in tokens, as far as they can be counted while it arrives.
    pub answer_limit: u64,
    /// Most retries of a request; 0 is never.
    pub max_retries: u32,
    /// The field for the limit of the answer's length: `max_tokens`, or `max_completion_tokens` for
    /// new OpenAI-compatible servers.
    pub max_tokens_field: String,
    /// Fields added to the body of each request, which override others.
    pub extra: Map<String, Value>,
    /// A proxy's URL without a password; `none` for no proxy; empty for the environment's setting.
    pub proxy: Option<String>,
    /// A file of certificates (PEM) that are trusted besides those of the system.
    pub ca_file: Option<PathBuf>,
    /// US dollars per million input tokens, if known.
    pub price_in: Option<f64>,
    /// US dollars per million output tokens, if known.
    pub price_out: Option<f64>,
    /// US dollars per million input tokens from the endpoint's cache; `None`: as any others.
    pub price_cached: Option<f64>,
    /// US dollars per million input tokens that go into the endpoint's cache; `None`: as any others.
    pub price_written: Option<f64>,
    /// The source of the prices, for people.
    pub price_from: Option<String>,
    /// Whether the prices are list prices, since the endpoint is not known to charge them.
    pub listed: bool,
    /// The provider that charges, by its name in a price table; `None`: derived from the address.
    pub provider: Option<String>,
    /// Largest prompt in tokens, if known.
    pub context: Option<u64>,
}

impl Endpoint {
    /// An endpoint with the defaults: streamed, native tool calls, no key, 10 s to connect, 120 s of
    /// silence (a local model reads a long prompt slowly), 10 min for a call, 32,768 tokens for an
    /// answer, 4 retries.
    pub fn new(
        name: impl Into<ModelName>,
        base_url: impl Into<String>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            format: WireFormat::Chat,
            base_url: base_url.into(),
            model: model.into(),
            key: KeySource::None,
            headers: IndexMap::new(),
            mode: ToolMode::Native,
            structured: false,
            allowed_tools: false,
            caches: true,
            stream: true,
            connect_timeout: Duration::from_secs(10),
            silence_timeout: Duration::from_secs(120),
            call_timeout: Duration::from_secs(600),
            answer_limit: 32_768,
            max_retries: 4,
            max_tokens_field: "max_tokens".into(),
            extra: Map::new(),
            proxy: None,
            ca_file: None,
            price_in: None,
            price_out: None,
            price_cached: None,
            price_written: None,
            price_from: None,
            listed: false,
            provider: None,
            context: None,
        }
    }

    /// The model and its address, without a query, which may have a key: the endpoint's name as the source of replies.
    ///
    /// # Errors
    /// The address is invalid.
    pub fn source(&self) -> Result<String, ModelError> {
        Ok(self.source_at(&self.base()?))
    }

    fn source_at(&self, base: &Url) -> String {
        format!("{} at {}{}", self.model, place(base), base.path().trim_end_matches('/'))
    }

    /// The public description of the model.
    pub(super) fn spec(&self, base: &Url) -> ModelSpec {
        ModelSpec {
            name: self.name.clone(),
            source: self.source_at(base),
            simulated: false,
            mode: self.mode,
            structured: self.structured,
            price_in: self.price_in.map(Into::into),
            price_out: self.price_out.map(Into::into),
            price_cached: self.price_cached.map(Into::into),
            price_written: self.price_written.map(Into::into),
            price_from: self.price_from.clone(),
            listed: self.listed,
            context: self.context,
        }
    }

    /// The host of the address, such as `api.openai.com`; `None` if the URL is invalid.
    pub fn server(&self) -> Option<String> {
        Url::parse(&self.base_url).ok().map(|url| place(&url))
    }

    /// The address, checked. A key in it is refused, because addresses are shown and logged.
    pub(super) fn base(&self) -> Result<Url, ModelError> {
        let name = &self.name;
        let url = Url::parse(&self.base_url).map_err(|why| {
            wrong(format!(
                "the address of model {name} is not a URL ({why}); expected https://HOST/v1"
            ))
        })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(wrong(format!(
                "the address of model {name} must begin with http:// or https://"
            )));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong(format!(
                "the address of model {name} contains a password: use an environment variable or a key \
                 command instead"
            )));
        }
        Ok(url)
    }

    /// Refuses keys and passwords that are written into the configuration.
    pub(super) fn check_secrets(&self) -> Result<(), ModelError> {
        let proxy = self.proxy.as_deref().and_then(|proxy| Url::parse(proxy).ok());
        if proxy.is_some_and(|proxy| proxy.password().is_some()) {
            return Err(wrong(format!(
                "proxy of model {} contains a password: set HTTPS_PROXY in the environment instead",
                self.name
            )));
        }
        for (header, source) in &self.headers {
            if carries_key(header) && matches!(source, HeaderSource::Literal(_)) {
                return Err(wrong(format!(
                    "header {header} of model {} carries a key: take its value from an environment \
                     variable",
                    self.name
                )));
            }
        }
        Ok(())
    }

    /// Hides the keys that can be read without running a program, before anything is recorded.
    pub(super) fn remember_secrets(&self, base: &Url) {
        known::remember_address(base);
        let headers = self.headers.values().filter_map(|source| match source {
            HeaderSource::Env(name) => Some(name),
            HeaderSource::Literal(_) => None,
        });
        let key = match &self.key {
            KeySource::Env(name) => Some(name),
            KeySource::None | KeySource::Command(_) => None,
        };
        // Reading a key also remembers it; a missing one is reported when it is needed.
        key.into_iter().chain(headers).for_each(|name| drop(from_env(name, "the key")));
        let proxies = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"];
        let names = proxies.into_iter().flat_map(|name| [name.to_owned(), name.to_lowercase()]);
        let proxies = names.filter_map(|name| Url::parse(&std::env::var(name).ok()?).ok());
        proxies.for_each(|proxy| known::remember_address(&proxy));
    }

    /// The certificates of the configured file; none without one.
    ///
    /// # Errors
    /// The file cannot be read, or has no certificate.
    fn certificates(&self) -> Result<Vec<Certificate>, ModelError> {
        let Some(file) = &self.ca_file else { return Ok(Vec::new()) };
        let bad = |why: String| {
            let (name, file) = (&self.name, file.display());
            wrong(format!("ca_file of model {name}: {file}: {why}"))
        };
        let pem = std::fs::read(file).map_err(|error| bad(error.to_string()))?;
        let expected =
            "expected certificates in PEM form, which begin with -----BEGIN CERTIFICATE-----";
        match Certificate::from_pem_bundle(&pem) {
            Ok(certificates) if !certificates.is_empty() => Ok(certificates),
            Ok(_) | Err(_) => Err(bad(expected.to_owned())),
        }
    }

    /// The client.
    pub(super) fn client(&self, base: &Url) -> Result<Client, ModelError> {
        let builder = client::builder()
            .connect_timeout(self.connect_timeout)
            .tls_certs_merge(self.certificates()?);
        let builder = match self.proxy.as_deref() {
            Some("none") => builder.no_proxy(),
            Some(url) => {
                let proxy = Proxy::all(url).map_err(|_| {
                    // The reason is left out, because it may repeat a password.
                    wrong(format!("proxy of model {} is not a proxy URL", self.name))
                })?;
                builder.proxy(proxy.no_proxy(NoProxy::from_env()))
            }
            // A proxy from the environment is never used for this machine.
            None if is_local(base) => builder.no_proxy(),
            None => builder,
        };
        builder.build().map_err(|why| wrong(format!("cannot create an HTTP client: {why}")))
    }
}

/// Host and port, for people.
pub(super) fn place(base: &Url) -> String {
    let host = base.host_str().unwrap_or_default();
    base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// The address of one of the endpoint's services, with the base's own query (Azure's
/// `api-version`).
pub(super) fn service(base: &Url, path: &ServicePath) -> Url {
    let mut url = base.clone();
    // Only URLs without a host have no path, and those were refused.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(&path.segments);
    }
    if let Some(query) = path.query {
        let all = url.query().map_or_else(|| query.to_owned(), |own| format!("{own}&{query}"));
        url.set_query(Some(&all));
    }
    url
}

fn wrong(text: String) -> ModelError {
    ModelError::new(ModelErrorKind::Refused, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(url: &str) -> Result<Url, String> {
        Endpoint::new("m", url, "x").base().map_err(|error| error.text)
    }

    #[test]
    fn addresses_are_joined_with_their_query() {
        let joined =
            |url| service(&base(url).unwrap(), &ServicePath::of("chat/completions")).to_string();
        assert_eq!(joined("http://h:1/v1"), "http://h:1/v1/chat/completions");
        assert_eq!(joined("http://h:1/v1/"), "http://h:1/v1/chat/completions");
        assert_eq!(joined("https://h"), "https://h/chat/completions");
        assert_eq!(
            joined("https://h/d?api-version=2"),
            "https://h/d/chat/completions?api-version=2"
        );
    }

    #[test]
    fn the_screen_sees_no_query() {
        let endpoint = Endpoint::new("m", "https://h:8443/v1/?token=abc", "gpt-x");
        let spec = endpoint.spec(&endpoint.base().unwrap());
        assert_eq!(spec.source, "gpt-x at h:8443/v1");
    }

    #[test]
    fn bad_settings_are_refused_without_repeating_secrets() {
        assert!(base("not a url").unwrap_err().contains("the address of model m is not a URL"));
        assert!(base("file:///etc").unwrap_err().contains("must begin with http"));
        let error = base("https://u:hunter22@h/v1").unwrap_err();
        assert!(error.contains("contains a password") && !error.contains("hunter22"), "{error}");

        let mut endpoint = Endpoint::new("m", "http://h", "x");
        let literal = HeaderSource::Literal("Bearer hunter22".into());
        endpoint.headers.insert("Authorization".into(), literal);
        let error = endpoint.check_secrets().unwrap_err().text;
        assert!(error.contains("header Authorization") && !error.contains("hunter22"), "{error}");
    }

    #[test]
    fn a_proxy_with_a_password_is_refused() {
        let mut endpoint = Endpoint::new("m", "http://h", "x");
        endpoint.proxy = Some("http://proxy:3128".into());
        assert_eq!(endpoint.check_secrets(), Ok(()));
        endpoint.proxy = Some("http://u:hunter22@proxy:3128".into());
        let error = endpoint.check_secrets().unwrap_err().text;
        assert!(error.contains("HTTPS_PROXY") && !error.contains("hunter22"), "{error}");
    }

    #[test]
    fn this_machine_is_known() {
        for (url, local) in [
            ("http://localhost:1", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:80/v1", true),
            ("http://10.0.0.1", false),
            ("http://localhost.example", false),
        ] {
            assert_eq!(is_local(&base(url).unwrap()), local, "{url}");
        }
    }
}
