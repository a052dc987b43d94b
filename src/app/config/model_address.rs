//! Models that need no configuration file: `openai:gpt-5-mini`, or the address of an endpoint.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use reqwest::Url;

use super::model::{LONGEST_NAME, fault, is_in_name};
use super::provider::{PROVIDERS, Provider};
use super::{Config, ModelConfig};
use crate::domain::{ModelName, words};
use crate::model::secret::KeySource;
use crate::model::{hosted::Hosted, http::Endpoint};
use crate::ui::text;

/// The most models of an endpoint that an error names.
const NAMED: usize = 20;

impl Config {
    /// The model that `text` means: a configured one, PROVIDER:MODEL, or an address, which is added.
    ///
    /// # Errors
    /// There is no such model, with the nearest name; or the endpoint does not say which model it has.
    pub(super) fn known(&mut self, text: &str) -> Result<ModelName, String> {
        if let Some((name, _)) = self.models.get_key_value(text) {
            return Ok(name.clone());
        }
        if text.contains("://") {
            return self.add(at(text)?);
        }
        if let Some((provider, model)) = text.split_once(':')
            && let Some(provider) = Provider::named(provider)
        {
            return self.add(of(provider, model)?);
        }
        let (what, expected) = match text.split_once(':') {
            Some((provider, _)) => {
                let known = PROVIDERS.iter().map(|provider| provider.name);
                (format!("provider {provider:?}"), words::expected(provider, known))
            }
            None => {
                let known = self.models.keys().map(ModelName::as_str);
                (format!("model {text:?} in [models]"), words::expected(text, known))
            }
        };
        Err(format!(
            "no {what}; {expected}; without a file, write PROVIDER:MODEL such as \
             openai:gpt-5-mini, or an address such as http://localhost:8080/v1"
        ))
    }

    /// Adds an endpoint, unless it exists already, and finds its prices.
    fn add(&mut self, mut endpoint: Endpoint) -> Result<ModelName, String> {
        self.look_price_up(&mut endpoint).map_err(|problem| problem.to_string())?;
        let place = || Url::parse(&endpoint.base_url).ok();
        while let Some(other) = self.models.get(endpoint.name.as_str()) {
            if *other == ModelConfig::Hosted(endpoint.clone()) {
                return Ok(endpoint.name);
            }
            // Two endpoints may have models of the same name.
            let place = place().map(|url| url.authority().to_owned()).unwrap_or_default();
            endpoint.name = ModelName::new(format!("{}@{place}", endpoint.name));
        }
        let name = endpoint.name.clone();
        self.models.insert(name.clone(), ModelConfig::Hosted(endpoint));
        Ok(name)
    }
}

/// A model of a provider.
fn of(provider: &Provider, model: &str) -> Result<Endpoint, String> {
    let name = format!("{}:{model}", provider.name);
    if model.trim().is_empty() {
        return Err(format!("{name}: which model? Write {}:MODEL", provider.name));
    }
    let address = provider.address(&|name| std::env::var_os(name));
    let mut endpoint = Endpoint::new(name, address, model);
    of_provider(&mut endpoint, provider)?;
    Ok(endpoint)
}

fn of_provider(endpoint: &mut Endpoint, provider: &Provider) -> Result<(), String> {
    endpoint.format = provider.format;
    if let Some(field) = provider.max_tokens_field {
        field.clone_into(&mut endpoint.max_tokens_field);
    }
    let Some(variable) = provider.key else { return Ok(()) };
    if std::env::var_os(variable).is_none_or(|value| value.is_empty()) {
        let name = provider.name;
        return Err(format!("{name} needs a key: set the environment variable {variable}"));
    }
    endpoint.key = KeySource::Env(variable.to_owned());
    Ok(())
}

/// The model at an address; `#MODEL` at its end says which one.
fn at(text: &str) -> Result<Endpoint, String> {
    let (address, model) = text.split_once('#').unwrap_or((text, ""));
    let wrong = || "expected an address such as http://localhost:8080/v1".to_owned();
    let mut url = Url::parse(address).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(wrong());
    }
    if url.path() == "/" {
        url.set_path("/v1");
    }
    let mut endpoint = Endpoint::new("endpoint", url.as_str(), model);
    if let Some(fault) = fault(&endpoint) {
        return Err(fault);
    }
    if let Some(provider) = Provider::at(&url) {
        of_provider(&mut endpoint, provider)?;
    }
    if model.is_empty() {
        endpoint.model = only_model(&endpoint)?;
    }
    let plain = |c: char| if is_in_name(c) { c } else { '-' };
    let name: String = endpoint.model.chars().map(plain).take(LONGEST_NAME).collect();
    endpoint.name = ModelName::new(name);
    Ok(endpoint)
}

/// The model of an endpoint with only one. Each endpoint is asked once, however many sessions use it.
fn only_model(endpoint: &Endpoint) -> Result<String, String> {
    static FOUND: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = found.get(&endpoint.base_url) {
        return Ok(model.clone());
    }
    let model = the_one(&endpoint.base_url, &listed(endpoint)?)?;
    found.insert(endpoint.base_url.clone(), model.clone());
    Ok(model)
}

/// The ids that an endpoint lists. Configurations are read outside and inside of runtimes, so the
/// request has a thread of its own.
fn listed(endpoint: &Endpoint) -> Result<Vec<String>, String> {
    let endpoint = endpoint.clone();
    let ask = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let model = Hosted::new(endpoint).map_err(|error| error.text)?;
        runtime.block_on(model.list()).map_err(|error| error.text)
    };
    let asked = thread::spawn(ask).join();
    asked.unwrap_or_else(|_| Err("cannot read the list of models".to_owned()))
}

/// The only chat model among these ids. Servers also list models that only embed.
fn the_one(address: &str, ids: &[String]) -> Result<String, String> {
    let chats: Vec<_> = ids.iter().filter(|id| !id.to_lowercase().contains("embed")).collect();
    match chats[..] {
        [one] => Ok(one.clone()),
        [] if ids.len() == 1 => Ok(ids[0].clone()),
        [] => Err(format!(
            "{address} does not list its models: write the name after #, such as \
             {address}#MODEL"
        )),
        [first, ..] => {
            let shown: Vec<_> = chats.iter().take(NAMED).map(|id| text::clean(id)).collect();
            let more = if chats.len() > NAMED { ", …" } else { "" };
            Err(format!(
                "{address} has {} models: {}{more}; write the name of one after #, such as \
                 {address}#{}",
                chats.len(),
                shown.join(", "),
                text::clean(first),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ids: &[&str]) -> Result<String, String> {
        let ids: Vec<_> = ids.iter().map(|id| (*id).to_owned()).collect();
        the_one("http://h/v1", &ids)
    }

    #[test]
    fn the_only_model_that_chats_is_meant() {
        assert_eq!(names(&["qwen"]), Ok("qwen".to_owned()));
        assert_eq!(names(&["nomic-embed-text", "qwen"]), Ok("qwen".to_owned()));
        assert_eq!(names(&["my-embedder"]), Ok("my-embedder".to_owned()));
        let many = names(&["a", "b\u{1b}[2J"]).unwrap_err();
        assert!(many.contains("has 2 models: a, b") && many.contains("http://h/v1#a"), "{many}");
        assert!(!many.contains('\u{1b}'), "{many}");
        assert!(names(&[]).unwrap_err().contains("http://h/v1#MODEL"));
    }

    #[test]
    fn an_address_with_a_model_asks_nobody() {
        let mut config = Config::default();
        config.bind_all("http://localhost:9#org/m 1").unwrap();
        let name = &config.roles[&crate::domain::Role::Actor];
        assert_eq!(name.as_str(), "org-m-1");
        let ModelConfig::Hosted(endpoint) = &config.models[name] else { panic!("{config:?}") };
        assert_eq!(endpoint.base_url, "http://localhost:9/v1");
        assert_eq!((&*endpoint.model, &endpoint.key), ("org/m 1", &KeySource::None));

        // The same one again, and another one with the same model.
        config.bind_all("http://localhost:9/v1#org/m 1").unwrap();
        assert_eq!(config.models.len(), 2);
        config.bind_all("http://other:8/v1#org/m 1").unwrap();
        assert_eq!(config.roles[&crate::domain::Role::Actor].as_str(), "org-m-1@other:8");
        config.bind_all("ollama:qwen3:8b").unwrap();
        let ModelConfig::Hosted(endpoint) = &config.models["ollama:qwen3:8b"] else {
            panic!("{config:?}")
        };
        assert_eq!(endpoint.base_url, "http://localhost:11434/v1");
        assert_eq!(endpoint.model, "qwen3:8b");
    }

    #[test]
    fn what_means_no_model_is_refused_without_secrets() {
        let refused = |text: &str| Config::default().bind_all(text).unwrap_err();
        for (text, says) in [
            ("opnai:gpt-5", "did you mean `openai`"),
            ("ollama:", "Write ollama:MODEL"),
            ("ftp://h/v1#m", "expected an address"),
            ("http://", "expected an address"),
            ("http://u:hunter22@h/v1#m", "password"),
            ("http://h/v1?api_key=hunter22#m", "a key must not be in"),
            ("simulatd", "did you mean `simulated`"),
        ] {
            let why = refused(text);
            assert!(why.contains(says) && !why.contains("hunter22"), "{text}: {why}");
        }
    }
}
