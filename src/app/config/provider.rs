//! Providers that speak OpenAI's chat API, by the names that people give them.

use reqwest::Url;

/// Who offers models behind OpenAI's chat API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// As in `openai:gpt-5-mini`.
    pub name: &'static str,
    /// The address without /chat/completions.
    pub url: &'static str,
    /// The environment variable that usually holds the key; `None`: a local server, which takes none.
    pub key: Option<&'static str>,
    /// The field for the longest answer, where it is not `max_tokens`.
    pub max_tokens_field: Option<&'static str>,
}

/// All known ones: hosted ones first, those on this machine last.
pub const PROVIDERS: [Provider; 17] = [
    Provider {
        max_tokens_field: Some("max_completion_tokens"),
        ..hosted("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
    },
    hosted("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    hosted("anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    hosted("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    hosted("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    hosted("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    hosted("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    hosted("together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    hosted("fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    hosted("cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    hosted("xai", "https://api.x.ai/v1", "XAI_API_KEY"),
    hosted("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    hosted("deepinfra", "https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    hosted("nvidia", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY"),
    local("ollama", "http://localhost:11434/v1"),
    local("lmstudio", "http://localhost:1234/v1"),
    local("llamacpp", "http://localhost:8080/v1"),
];

const fn hosted(name: &'static str, url: &'static str, key: &'static str) -> Provider {
    Provider { name, url, key: Some(key), max_tokens_field: None }
}

const fn local(name: &'static str, url: &'static str) -> Provider {
    Provider { name, url, key: None, max_tokens_field: None }
}

impl Provider {
    /// The provider of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
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

#[cfg(test)]
mod tests {
    use super::*;

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
