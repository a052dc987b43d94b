//! `[models.NAME]`: the simulated model's settings, and endpoints.

use std::time::Duration;

use indexmap::IndexMap;
use reqwest::Url;
use serde_json::{Map, Value};

use super::keys::{NO_KEYS, headers, holds_a_key, key};
use super::{ModelConfig, SIMULATED, read::set};
use crate::domain::{ModelName, ToolMode};
use crate::files::toml_file::{Field, Fields};
use crate::model::{http::Endpoint, openai::OpenAi, simulated};

/// US dollars per million tokens that nobody asks for.
const DEAREST: f64 = 1e6;
const LONGEST_NAME: usize = 64;
const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Clone, Copy)]
enum Kind {
    Simulated,
    OpenAi,
}

/// Reads every model into its place; [`SIMULATED`] is there before.
pub(super) fn models(fields: &Fields<'_>, models: &mut IndexMap<ModelName, ModelConfig>) {
    for (name, field) in fields.all() {
        if !is_name(name) {
            let text =
                format!("a model's name is 1 to {LONGEST_NAME} letters, digits, `_`, `.`, `-`");
            field.refuse(text);
        }
        if field.is_text() {
            // It may be a key, and is not repeated.
            field.refuse(format!(
                "expected a table: write [models.{name}] and its settings below it"
            ));
        } else if let Some(model) = field.table().and_then(|fields| model(name, fields)) {
            models.insert(ModelName::new(name), model);
        }
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(allowed)
}

fn model(name: &str, mut fields: Fields<'_>) -> Option<ModelConfig> {
    let advice = "kind = \"openai\" for an OpenAI-compatible endpoint, or kind = \"simulated\"";
    let kind = fields.need("kind", advice)?;
    match kind.one_of(&[("simulated", Kind::Simulated), ("openai", Kind::OpenAi)])? {
        Kind::Simulated => Some(ModelConfig::Simulated(simulated(fields))),
        Kind::OpenAi if name == SIMULATED => {
            kind.refuse("the model of this name is the built-in one; give yours another name");
            None
        }
        Kind::OpenAi => endpoint(name, fields).map(ModelConfig::OpenAi),
    }
}

fn simulated(mut fields: Fields<'_>) -> simulated::Settings {
    let mut settings = simulated::Settings::default();
    set(&mut settings.skill, fields.get("skill").and_then(|f| f.number(0.0, 1.0)));
    set(&mut settings.sensitivity, fields.get("sensitivity").and_then(|f| f.number(0.0, 20.0)));
    set(&mut settings.habit, fields.get("habit").and_then(|f| f.number(1.0, 100.0)));
    set(
        &mut settings.latency,
        fields.get("latency").and_then(|f| f.duration(Duration::ZERO, HOUR)),
    );
    set(&mut settings.price_in, fields.get("price_in").and_then(|f| f.number(0.0, DEAREST)));
    set(&mut settings.price_out, fields.get("price_out").and_then(|f| f.number(0.0, DEAREST)));
    fields.finish();
    settings
}

pub(super) fn endpoint(name: &str, mut fields: Fields<'_>) -> Option<Endpoint> {
    let url = fields.need("url", "url = \"http://localhost:11434/v1\"");
    let model = fields.need("model", "model = \"the endpoint's own name of the model\"");
    let base = url.as_ref().and_then(Field::text);
    let model = model.and_then(|field| field.filled("the endpoint's own name of the model"));
    let mut endpoint = Endpoint::new(name, base.unwrap_or_default(), model.unwrap_or_default());
    set(&mut endpoint.key, key(&mut fields));
    if let Some(field) = fields.get("headers") {
        endpoint.headers = headers(&field);
    }
    if let Some(field) = fields.get("extra") {
        set(&mut endpoint.extra, extra(&field));
    }
    set(&mut endpoint.mode, fields.get("tools").and_then(|field| mode(&field)));
    wire(&mut fields, &mut endpoint);
    prices(&mut fields, &mut endpoint);
    fields.forbid(holds_a_key, NO_KEYS);
    fields.finish();
    check(&url?, &endpoint);
    model.map(|_| endpoint)
}

/// Has the client itself judge the address.
fn check(field: &Field<'_>, endpoint: &Endpoint) {
    let url = Url::parse(&endpoint.base_url);
    if url.is_ok_and(|url| url.query_pairs().any(|(name, _)| holds_a_key(&name))) {
        field.refuse(NO_KEYS);
    } else if let Err(why) = OpenAi::new(endpoint.clone()) {
        field.refuse(why.text);
    }
}

/// Anything that the endpoint takes besides, but no key.
fn extra(field: &Field<'_>) -> Option<Map<String, Value>> {
    let mut fields = field.table()?;
    fields.forbid(holds_a_key, NO_KEYS);
    match field.json()? {
        Value::Object(map) => Some(map),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            None
        }
    }
}

fn mode(field: &Field<'_>) -> Option<ToolMode> {
    field.one_of(&[("native", ToolMode::Native), ("text", ToolMode::Text)])
}

/// How to talk to it.
fn wire(fields: &mut Fields<'_>, endpoint: &mut Endpoint) {
    set(&mut endpoint.structured, fields.get("structured").and_then(|field| field.flag()));
    set(&mut endpoint.stream, fields.get("stream").and_then(|field| field.flag()));
    let time = |field: Field<'_>| field.duration(MILLISECOND, HOUR);
    set(&mut endpoint.connect_timeout, fields.get("connect_timeout").and_then(time));
    set(&mut endpoint.silence_timeout, fields.get("silence_timeout").and_then(time));
    let retries = fields.get("retries").and_then(|field| field.whole(0, 20));
    set(&mut endpoint.max_retries, retries.and_then(|retries| retries.try_into().ok()));
    let limit = fields.get("max_tokens_field").and_then(|field| {
        field.one_of(&["max_tokens", "max_completion_tokens"].map(|name| (name, name)))
    });
    set(&mut endpoint.max_tokens_field, limit.map(str::to_owned));
    if let Some(proxy) = fields.get("proxy") {
        endpoint.proxy = self::proxy(&proxy);
    }
}

fn proxy(field: &Field<'_>) -> Option<String> {
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
                "a password must not stand in a file: leave `proxy` out and set the environment \
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

fn prices(fields: &mut Fields<'_>, endpoint: &mut Endpoint) {
    let price = |field: Field<'_>| field.number(0.0, DEAREST);
    endpoint.price_in = fields.get("price_in").and_then(price);
    endpoint.price_out = fields.get("price_out").and_then(price);
    endpoint.price_cached = fields.get("price_cached").and_then(price);
    let priced = endpoint.price_in.or(endpoint.price_out).or(endpoint.price_cached);
    endpoint.price_from = priced.map(|_| "configuration".to_owned());
    let expected = "the provider's name in the price table, such as \"openai\"";
    let provider = fields.get("provider").and_then(|field| field.filled(expected));
    endpoint.provider = provider.map(str::to_owned);
    let context = fields.get("context").and_then(|field| field.whole(1, i64::from(i32::MAX)));
    endpoint.context = context.map(i64::unsigned_abs);
}
