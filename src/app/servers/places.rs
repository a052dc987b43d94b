//! Addresses where servers of models are looked for.

use reqwest::Url;

use crate::config::{Environment, PROVIDERS, Provider};
use crate::domain::words;

/// The variable with other addresses than the usual ports, such as `vllm=http://gpu-box:8000/v1`; `none` for none.
pub const PLACES: &str = "TOOLYARD_LOCAL_SERVERS";

/// A place where a server may listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    pub provider: &'static Provider,
    /// The address, without /chat/completions.
    pub url: String,
}

/// The places from [`PLACES`] in the environment, else the usual ports of this machine.
///
/// # Errors
/// The variable names an unknown server, or a part is not an address.
pub fn places(environment: Environment<'_>) -> Result<Vec<ServerAddress>, String> {
    let local = || PROVIDERS.iter().filter(|provider| provider.key.is_none());
    let set = environment(PLACES).filter(|value| !value.is_empty());
    let Some(set) = set else {
        let usual =
            local().map(|provider| ServerAddress { provider, url: provider.address(environment) });
        return Ok(usual.collect());
    };
    let text = set.to_string_lossy();
    let words = text.split([',', ' ']).filter(|word| !matches!(*word, "" | "none"));
    words
        .map(|word| {
            let (name, url) = word.split_once('=').ok_or_else(|| {
                format!(
                    "{PLACES}: expected NAME=URL such as vllm=http://gpu-box:8000/v1, got {word:?}"
                )
            })?;
            let provider = local().find(|provider| provider.name == name).ok_or_else(|| {
                let known = words::expected(name, local().map(|provider| provider.name));
                format!("{PLACES}: unknown server {name:?}; {known}")
            })?;
            let is_address = Url::parse(url).is_ok_and(|url| url.has_host());
            match is_address {
                true => Ok(ServerAddress { provider, url: url.to_owned() }),
                false => Err(format!(
                    "{PLACES}: expected an address such as http://gpu-box:8000/v1, got {url:?}"
                )),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &str) -> Result<Vec<String>, String> {
        let found = places(&|name| (name == PLACES).then(|| set.into()))?;
        Ok(found
            .into_iter()
            .map(|place| format!("{} {}", place.provider.name, place.url))
            .collect())
    }

    #[test]
    fn the_usual_ports_are_those_of_the_known_servers() {
        let usual = [
            "ollama http://localhost:11434/v1",
            "lmstudio http://localhost:1234/v1",
            "llamacpp http://localhost:8080/v1",
            "vllm http://localhost:8000/v1",
        ];
        assert_eq!(read(""), Ok(usual.map(str::to_owned).into()));
    }

    #[test]
    fn a_variable_names_other_places() {
        assert_eq!(read("none"), Ok(Vec::new()));
        let two = read("vllm=http://box:9/v1, ollama=http://[::1]:5/v1").unwrap();
        assert_eq!(two, ["vllm http://box:9/v1", "ollama http://[::1]:5/v1"]);
        assert!(read("vlm=http://box/v1").unwrap_err().contains("did you mean `vllm`?"));
        assert!(read("http://box/v1").unwrap_err().contains("expected NAME=URL"));
        assert!(read("vllm=box").unwrap_err().contains("expected an address"));
    }
}
