//! `[models.NAME]`: the simulated model's settings, and endpoints.

use std::{path::Path, time::Duration};

use reqwest::Url;
use serde_json::{Map, Value};

use super::keys::{NO_KEYS, headers, key};
use super::{Config, ModelConfig, SIMULATED, read::path, removed_names};
use crate::domain::{ModelName, ToolMode};
use crate::files::toml_file::{TomlField, TomlFields};
use crate::model::{hosted::Hosted, http::Endpoint};
use crate::net::client::holds_a_key;
use crate::stage;
use crate::wire::WireFormat;

/// US dollars per million tokens, higher than any real price.
const DEAREST: f64 = 1e6;
pub(super) const LONGEST_NAME: usize = 64;
const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy)]
enum ModelKind {
    Simulated,
    Hosted(WireFormat),
}

/// The kinds of models, by their names in the file.
fn kinds() -> Vec<(&'static str, ModelKind)> {
    let hosted = WireFormat::ALL.map(|format| (format.codec().kind, ModelKind::Hosted(format)));
    // Completions have no tools, so that no kind of models has them.
    let hosted = hosted.into_iter().filter(|(kind, _)| !kind.is_empty());
    [("simulated", ModelKind::Simulated)].into_iter().chain(hosted).collect()
}

/// Reads every model; [`SIMULATED`] is already there.
pub(super) fn models(fields: &TomlFields<'_>, folder: &Path, config: &mut Config) {
    for (name, field) in fields.all() {
        if !is_name(name) {
            let text =
                format!("a model's name is 1 to {LONGEST_NAME} letters, digits, `_`, `.`, `-`");
            field.refuse(text);
        }
        if field.is_text() {
            // It may be a key, so it is not repeated.
            field.refuse(format!(
                "expected a table: write [models.{name}] and its settings below it"
            ));
        } else if let Some(fields) = field.table() {
            if is_gone(&fields) {
                config.gone.notices.push(field.problem(removed_names::NO_LOCAL));
                if name != SIMULATED {
                    config.gone.models.push(ModelName::new(name));
                }
            } else if let Some(model) = model(name, fields, folder) {
                config.models.insert(ModelName::new(name), model);
            }
        }
    }
}

fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_in_name)
}

/// Whether a model's name in the file may have this character.
pub(super) fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.-".contains(c)
}

/// Whether this table has a kind of models that no longer exists.
fn is_gone(fields: &TomlFields<'_>) -> bool {
    let kind = fields.all().into_iter().find(|(key, _)| *key == "kind");
    kind.is_some_and(|(_, kind)| kind.is_text() && kind.text() == Some(removed_names::LOCAL))
}

fn model(name: &str, mut fields: TomlFields<'_>, folder: &Path) -> Option<ModelConfig> {
    let advice = "kind = \"openai\" for an OpenAI-compatible endpoint; kind = \"anthropic\", \
                  \"responses\", \"gemini\" or \"ollama\" for those APIs; or kind = \"simulated\"";
    let kind = fields.need("kind", advice)?;
    let model = match kind.one_of(&kinds())? {
        ModelKind::Simulated => stage::read(&kind, &mut fields).map(ModelConfig::Simulated),
        ModelKind::Hosted(_) if name == SIMULATED => {
            kind.refuse("this name belongs to the built-in model; choose another name");
            return None;
        }
        ModelKind::Hosted(format) => {
            endpoint(name, format, &mut fields, folder).map(ModelConfig::Hosted)
        }
    };
    fields.finish();
    model
}

/// An endpoint. Relative paths start at `folder`.
pub(super) fn endpoint(
    name: &str,
    format: WireFormat,
    fields: &mut TomlFields<'_>,
    folder: &Path,
) -> Option<Endpoint> {
    let url = fields.need("url", &format!("url = {:?}", format.codec().address));
    let model = fields.need("model", "model = \"the endpoint's own name of the model\"");
    let base = url.as_ref().and_then(TomlField::text);
    let model = model.and_then(|field| field.filled("the endpoint's own name of the model"));
    let mut endpoint = Endpoint::new(name, base.unwrap_or_default(), model.unwrap_or_default());
    endpoint.format = format;
    endpoint.key = key(fields).unwrap_or_default();
    fields.put("headers", &mut endpoint.headers, |field| Some(headers(field)));
    fields.put("extra", &mut endpoint.extra, extra);
    fields.put("tools", &mut endpoint.mode, mode);
    wire(fields, &mut endpoint);
    if let Some(field) = fields.get("ca_file") {
        endpoint.ca_file = path(&field, folder);
    }
    prices(fields, &mut endpoint);
    fields.forbid(holds_a_key, NO_KEYS);
    let url = url?;
    if let Some(fault) = fault(&endpoint) {
        url.refuse(fault);
    }
    model.map(|_| endpoint)
}

/// Returns the fault in an endpoint's address, if any. The client itself makes most of the checks.
pub(super) fn fault(endpoint: &Endpoint) -> Option<String> {
    let url = Url::parse(&endpoint.base_url);
    if url.is_ok_and(|url| url.query_pairs().any(|(name, _)| holds_a_key(&name))) {
        return Some(NO_KEYS.to_owned());
    }
    Hosted::new(endpoint.clone()).err().map(|why| why.text)
}

/// Any further fields for the endpoint, except keys.
fn extra(field: &TomlField<'_>) -> Option<Map<String, Value>> {
    let mut fields = field.table()?;
    fields.forbid(holds_a_key, NO_KEYS);
    match field.json()? {
        Value::Object(map) => Some(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

fn mode(field: &TomlField<'_>) -> Option<ToolMode> {
    field.one_of(&[("native", ToolMode::Native), ("text", ToolMode::Text)])
}

/// Options of the connection.
fn wire(fields: &mut TomlFields<'_>, endpoint: &mut Endpoint) {
    fields.put("structured", &mut endpoint.structured, TomlField::flag);
    fields.put("stream", &mut endpoint.stream, TomlField::flag);
    let time = |field: &TomlField<'_>| field.duration(MILLISECOND, HOUR);
    fields.put("connect_timeout", &mut endpoint.connect_timeout, time);
    fields.put("silence_timeout", &mut endpoint.silence_timeout, time);
    fields.put("call_timeout", &mut endpoint.call_timeout, time);
    fields.put("answer_limit", &mut endpoint.answer_limit, |field| {
        field.whole(1, i64::from(i32::MAX)).map(i64::unsigned_abs)
    });
    fields.put("retries", &mut endpoint.max_retries, |field| field.whole(0, 20)?.try_into().ok());
    if endpoint.format == WireFormat::Chat {
        fields.put("max_tokens_field", &mut endpoint.max_tokens_field, |field| {
            let names = ["max_tokens", "max_completion_tokens"].map(|name| (name, name));
            field.one_of(&names).map(str::to_owned)
        });
    }
    if endpoint.format == WireFormat::Messages {
        fields.put("cache_marks", &mut endpoint.caches, TomlField::flag);
    } else {
        fields.put("allowed_tools", &mut endpoint.allowed_tools, TomlField::flag);
    }
    fields.put("proxy", &mut endpoint.proxy, |field| proxy(field).map(Some));
}

fn proxy(field: &TomlField<'_>) -> Option<String> {
    let text = field.text()?;
    if text == "none" {
        return Some(text.to_owned());
    }
    let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];
    let url = Url::parse(text).ok().filter(|url| schemes.contains(&url.scheme()) && url.has_host());
    match url {
        Some(url) if url.username().is_empty() && url.password().is_none() => Some(text.to_owned()),
        Some(_) => {
            field.refuse(
                "a password must not be in a file: remove `proxy` and set the environment \
                 variable HTTPS_PROXY",
            );
            None
        }
        None => {
            field.refuse("expected \"none\" or a URL such as \"http://proxy.example:3128\"");
            None
        }
    }
}

fn prices(fields: &mut TomlFields<'_>, endpoint: &mut Endpoint) {
    let price = |field: &TomlField<'_>| field.number(0.0, DEAREST).map(Some);
    fields.put("price_in", &mut endpoint.price_in, price);
    fields.put("price_out", &mut endpoint.price_out, price);
    fields.put("price_cached", &mut endpoint.price_cached, price);
    if endpoint.format == WireFormat::Messages {
        fields.put("price_written", &mut endpoint.price_written, price);
    }
    let priced = endpoint.price_in.or(endpoint.price_out).or(endpoint.price_cached);
    endpoint.price_from = priced.map(|_| "configuration".to_owned());
    let provider = "the provider's name in the price table, such as \"openai\"";
    fields.put("provider", &mut endpoint.provider, |field| {
        field.filled(provider).map(|name| Some(name.to_owned()))
    });
    fields.put("context", &mut endpoint.context, |field| {
        field.whole(1, i64::from(i32::MAX)).map(|tokens| Some(tokens.unsigned_abs()))
    });
}
