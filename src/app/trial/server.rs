//! The program that serves a model. Each program has its own switches.

use reqwest::Url;

use crate::config::{PROVIDERS, Provider};

/// A program that serves models behind OpenAI's chat API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    LlamaCpp,
    Ollama,
    LmStudio,
    Vllm,
    Other,
}

impl Server {
    /// The server at an address: by its name in its list of models, else by its port.
    pub fn at(url: &str, owner: Option<&str>) -> Self {
        match owner {
            Some("llamacpp") => Self::LlamaCpp,
            Some("library") => Self::Ollama,
            Some("organization_owner") => Self::LmStudio,
            Some("vllm") => Self::Vllm,
            _ => Self::of_port(url),
        }
    }

    fn of_port(url: &str) -> Self {
        let port = |url: &str| Url::parse(url).ok()?.port();
        let is_usual = |provider: &&Provider| {
            provider.key.is_none() && port(url).is_some() && port(provider.url) == port(url)
        };
        match PROVIDERS.iter().find(is_usual).map(|provider| provider.name) {
            Some("llamacpp") => Self::LlamaCpp,
            Some("ollama") => Self::Ollama,
            Some("lmstudio") => Self::LmStudio,
            Some("vllm") => Self::Vllm,
            _ => Self::Other,
        }
    }

    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::Vllm => "vLLM",
            Self::Other => "the server",
        }
    }

    /// Advice on making the server recognize a model's calls.
    pub(super) fn for_calls(self) -> &'static str {
        match self {
            Self::LlamaCpp => {
                "start llama-server with --jinja and --chat-template-file FILE, a template that has tools and puts \
                 each call into tags"
            }
            Self::Ollama => {
                "use a model for which `ollama show MODEL` lists the capability `tools`"
            }
            Self::LmStudio => "load a model that LM Studio marks as trained for tool use",
            Self::Vllm => {
                "start vLLM with --enable-auto-tool-choice and the --tool-call-parser of this model, such as hermes"
            }
            Self::Other => {
                "see how the server finds tool calls: a chat template or a parser of tool calls"
            }
        }
    }

    /// Advice on giving the server a longer window.
    pub(super) fn for_window(self) -> &'static str {
        match self {
            Self::LlamaCpp => "start llama-server with a larger window, such as -c 16384",
            Self::Ollama => {
                "start Ollama with a larger window: OLLAMA_CONTEXT_LENGTH=16384 ollama serve"
            }
            Self::LmStudio => "load the model with a larger Context Length, such as 16384",
            Self::Vllm => "start vLLM with a larger --max-model-len, such as 16384",
            Self::Other => "give the model a larger window, such as 16384 tokens",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_known_by_what_it_calls_itself_and_else_by_its_port() {
        let at = |url: &str, owner| Server::at(url, owner);
        assert_eq!(at("http://localhost:8000/v1", Some("llamacpp")), Server::LlamaCpp);
        assert_eq!(at("http://box:9/v1", Some("vllm")), Server::Vllm);
        assert_eq!(at("http://localhost:8000/v1", None), Server::Vllm);
        assert_eq!(at("http://[::1]:11434/v1", Some("someone")), Server::Ollama);
        assert_eq!(at("http://localhost/v1", None), Server::Other);
        assert_eq!(at("no address", None), Server::Other);
    }
}
