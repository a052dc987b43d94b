//! The hosts whose connections are opened.

/// Hosts of providers of models.
const PROVIDERS: [&str; 24] = [
    "api.anthropic.com",
    "api.cerebras.ai",
    "api.cohere.com",
    "api.deepinfra.com",
    "api.deepseek.com",
    "api.fireworks.ai",
    "api.groq.com",
    "api.mistral.ai",
    "api.moonshot.ai",
    "api.openai.com",
    "api.perplexity.ai",
    "api.together.xyz",
    "api.x.ai",
    "api.z.ai",
    "chatgpt.com",
    "codestral.mistral.ai",
    "dashscope.aliyuncs.com",
    "generativelanguage.googleapis.com",
    "integrate.api.nvidia.com",
    "inference.baseten.co",
    "ollama.com",
    "openrouter.ai",
    "router.huggingface.co",
    "ai-gateway.vercel.sh",
];
/// The ends of such hosts, where each customer or region has one.
const ENDS: [&str; 3] =
    [".openai.azure.com", ".services.ai.azure.com", "aiplatform.googleapis.com"];
/// The beginning and the end of the hosts of Bedrock.
const BEDROCK: (&str, &str) = ("bedrock-runtime.", ".amazonaws.com");

/// The hosts to open: those of known providers, and further ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedHosts {
    further: Vec<String>,
}

/// A text that is no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no host; expected one like llm.example.com, or .example.com for all hosts below it"
)]
pub struct BadHost(String);

impl OpenedHosts {
    /// Adds hosts to those of known providers. One that begins with a dot stands for all below it.
    ///
    /// # Errors
    /// One of them is no host.
    pub fn with(further: &[String]) -> Result<Self, BadHost> {
        let read = |text: &String| {
            let name = text.trim_start_matches('.');
            let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
            let is_host = !name.is_empty() && name.chars().all(is_letter);
            is_host.then(|| text.to_ascii_lowercase()).ok_or_else(|| BadHost(text.clone()))
        };
        Ok(Self { further: further.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Whether connections to this host are opened.
    pub fn opens(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let is_below = |end: &str| host.len() > end.len() && host.ends_with(end);
        let is_further = |other: &String| {
            if other.starts_with('.') { is_below(other) } else { *other == host }
        };
        PROVIDERS.contains(&host.as_str())
            || ENDS.iter().any(|end| is_below(end))
            || host.starts_with(BEDROCK.0) && host.ends_with(BEDROCK.1)
            || self.further.iter().any(is_further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hosts_of_the_list_are_opened() {
        let further = ["LLM.example.com".to_owned(), ".corp.example".to_owned()];
        let hosts = OpenedHosts::with(&further).unwrap();
        for host in [
            "api.openai.com",
            "API.anthropic.com",
            "me.openai.azure.com",
            "europe-west1-aiplatform.googleapis.com",
            "bedrock-runtime.eu-west-1.amazonaws.com",
            "llm.example.com",
            "a.corp.example",
        ] {
            assert!(hosts.opens(host), "{host}");
        }
        for host in [
            "auth.openai.com",
            "console.anthropic.com",
            "api.openai.com.evil.example",
            "corp.example",
            ".openai.azure.com",
            "s3.amazonaws.com",
            "example.com",
            "",
        ] {
            assert!(!hosts.opens(host), "{host}");
        }
        for bad in ["", ".", "https://x", "a b", "x/y"] {
            assert!(OpenedHosts::with(&[bad.to_owned()]).is_err(), "{bad}");
        }
    }
}
