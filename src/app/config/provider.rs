//! Providers of models, by the names that people use.

use reqwest::Url;

use super::Environment;
use crate::wire::WireFormat;

/// A provider of models, with the format of its API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Name of the provider, as in `openai:gpt-5-mini`.
    pub name: &'static str,
    /// Format of requests and replies.
    pub format: WireFormat,
    /// The address without the format's own path, such as /chat/completions.
    pub url: &'static str,
    /// The environment variable that usually holds the key; `None`: a local server, which takes none.
    pub key: Option<&'static str>,
    /// Model to begin with, if the provider is not asked for a list.
    pub model: &'static str,
    /// The field for the longest answer, if it is not `max_tokens`.
    pub max_tokens_field: Option<&'static str>,
}

/// All known providers: hosted ones first, those on this machine last.
pub const PROVIDERS: [Provider; 18] = [
    Provider {
        max_tokens_field: Some("max_completion_tokens"),
        ..hosted("openai", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5-mini")
    },
    hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", "openai/gpt-5-mini"),
    Provider {
        format: WireFormat::Messages,
        ..hosted(
            "anthropic",
            "https://api.anthropic.com/v1",
            "ANTHROPIC_API_KEY",
            "claude-haiku-4-5",
        )
    },
    hosted(
        "gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "gemini-2.5-flash",
    ),
    hosted("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", "mistral-small-latest"),
    hosted("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-chat"),
    hosted("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", "llama-3.3-70b-versatile"),
    hosted(
        "together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ),
    hosted(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        "accounts/fireworks/models/llama-v3p3-70b-instruct",
    ),
    hosted("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", "llama-3.3-70b"),
    hosted("xai", "https://api.x.ai/v1", "XAI_API_KEY", "grok-4-fast"),
    hosted("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", "kimi-k2-turbo-preview"),
    hosted(
        "deepinfra",
        "https://api.deepinfra.com/v1/openai",
        "DEEPINFRA_API_KEY",
        "meta-llama/Llama-3.3-70B-Instruct",
    ),
    hosted(
        "nvidia",
        "https://integrate.api.nvidia.com/v1",
        "NVIDIA_API_KEY",
        "meta/llama-3.3-70b-instruct",
    ),
    local("ollama", "http://localhost:11434/v1"),
    local("lmstudio", "http://localhost:1234/v1"),
    local("llamacpp", "http://localhost:8080/v1"),
    local("vllm", "http://localhost:8000/v1"),
];

/// Providers in other formats of their APIs.
const ALSO: [Provider; 4] = [
    hosted(
        "anthropic-chat",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        "claude-haiku-4-5",
    ),
    Provider {
        format: WireFormat::Responses,
        ..hosted("openai-responses", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5-mini")
    },
    Provider {
        format: WireFormat::Gemini,
        ..hosted(
            "gemini-native",
            "https://generativelanguage.googleapis.com/v1beta",
            "GEMINI_API_KEY",
            "gemini-2.5-flash",
        )
    },
    Provider { format: WireFormat::Ollama, ..local("ollama-native", "http://localhost:11434") },
];

const fn hosted(
    name: &'static str,
    url: &'static str,
    key: &'static str,
    model: &'static str,
) -> Provider {
    let format = WireFormat::Chat;
    Provider { name, format, url, key: Some(key), model, max_tokens_field: None }
}

const fn local(name: &'static str, url: &'static str) -> Provider {
    let format = WireFormat::Chat;
    Provider { name, format, url, key: None, model: "", max_tokens_field: None }
}

impl Provider {
    /// The provider of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().chain(&ALSO).find(|provider| provider.name == name)
    }

    /// The address on this machine. Ollama's own variable says where it listens.
    pub fn address(&self, environment: Environment<'_>) -> String {
        let set = (self.name == "ollama").then(|| environment("OLLAMA_HOST")).flatten();
        let set = set.and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty());
        set.and_then(|host| listening(&host)).unwrap_or_else(|| self.url.to_owned())
    }

    /// The hosted provider at this address, which decides the key that is sent there.
    pub fn at(url: &Url) -> Option<&'static Self> {
        let host = url.host_str();
        let hosted = PROVIDERS.iter().filter(|provider| provider.key.is_some());
        hosted.into_iter().find(|provider| {
            let own = Url::parse(provider.url).ok();
            url.scheme() == "https" && own.is_some_and(|own| own.host_str() == host)
        })
    }
}

/// The address of an Ollama server that listens here, such as `0.0.0.0:11434`.
fn listening(host: &str) -> Option<String> {
    let text = if host.contains("://") { host.to_owned() } else { format!("http://{host}") };
    let mut url = Url::parse(&text).ok()?;
    if url.port().is_none() && !host.contains("://") {
        url.set_port(Some(11434)).ok()?;
    }
    if url.host_str() == Some("0.0.0.0") {
        // The server listens on all addresses, so also on this one.
        url.set_host(Some("127.0.0.1")).ok()?;
    }
    url.set_path("/v1");
    Some(url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_is_where_it_listens() {
        let ollama = Provider::named("ollama").unwrap();
        for (set, address) in [
            ("", "http://localhost:11434/v1"),
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("box:8000", "http://box:8000/v1"),
            ("https://box", "https://box/v1"),
        ] {
            assert_eq!(ollama.address(&|_| Some(set.into())), address, "{set}");
        }
    }

    #[test]
    fn a_key_goes_to_its_own_provider_only() {
        let at = |url| Provider::at(&Url::parse(url).unwrap()).map(|provider| provider.name);
        assert_eq!(at("https://api.openai.com/v1"), Some("openai"));
        for other in ["http://api.openai.com/v1", "https://api.openai.com.evil.example/v1"] {
            assert_eq!(at(other), None, "{other}");
        }
        assert_eq!(at("http://localhost:11434/v1"), None);
        for provider in PROVIDERS {
            assert!(Url::parse(provider.url).unwrap().has_host(), "{provider:?}");
        }
    }
}
