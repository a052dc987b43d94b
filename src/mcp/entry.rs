//! Entry of a server in a configuration.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::net::known;
use crate::net::secret::Secret;

/// A server of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerEntry {
    /// Name in the configuration, from which the names of its tools derive: [`crate::name`].
    pub key: String,
    pub transport: Transport,
    /// The file that has the entry.
    pub file: String,
    /// The entry's line, from 1.
    pub line: usize,
    /// Why the server must not be started; `None`: it is enabled.
    pub disabled: Option<String>,
    /// How long the server may take until it answers its first request; `None` if the entry does not set it.
    pub start_timeout: Option<Duration>,
    /// How long one tool call may take; `None` if the entry does not set it.
    pub call_timeout: Option<Duration>,
    /// Whether requests for user input get their defaults; otherwise they are declined.
    pub gives_defaults: bool,
    /// Whether the effects of its tools are those that the server's hints propose.
    pub trusts_hints: bool,
    /// The tools that are offered.
    pub offered: OfferedTools,
}

#[cfg(test)]
impl ServerEntry {
    /// Returns an entry for tests; no server is behind it.
    pub fn testing() -> Self {
        let url = "http://127.0.0.1:1".to_owned();
        Self {
            key: "s".to_owned(),
            transport: Transport::Http { url, headers: Vec::new(), any_address: false },
            file: "f".to_owned(),
            line: 1,
            disabled: None,
            start_timeout: None,
            call_timeout: None,
            gives_defaults: false,
            trusts_hints: false,
            offered: OfferedTools::default(),
        }
    }
}

/// The way to reach a server.
#[derive(Clone, PartialEq)]
pub enum Transport {
    /// A program that communicates over its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Additional variables of its environment. If a name occurs twice, the last value counts.
        env: Vec<(String, Secret)>,
        /// Working directory; `None` if the entry does not set it.
        cwd: Option<PathBuf>,
    },
    /// An endpoint that uses streamable HTTP.
    Http {
        url: String,
        headers: Vec<(String, Secret)>,
        /// Whether it may also be at an address that [`crate::net::guard`] refuses.
        any_address: bool,
    },
}

/// Omits the secrets that an argument or an address may have, too.
impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Transport::Stdio { command, args, env, cwd } => {
                let args: Vec<_> = args.iter().map(|arg| known::without_keys(arg)).collect();
                f.debug_struct("Stdio")
                    .field("command", &known::without_keys(command))
                    .field("args", &args)
                    .field("env", env)
                    .field("cwd", cwd)
                    .finish()
            }
            Transport::Http { url, headers, any_address } => f
                .debug_struct("Http")
                .field("url", &known::without_keys(url))
                .field("headers", headers)
                .field("any_address", any_address)
                .finish(),
        }
    }
}

/// Filter of a server's tools, by the server's own names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfferedTools {
    /// The only tools offered; `None`: all.
    pub only: Option<Vec<String>>,
    /// Tools that are not offered.
    pub without: Vec<String>,
}

impl OfferedTools {
    /// Whether the tool of this name is offered.
    pub fn includes(&self, tool: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|name| name == tool);
        self.only.as_deref().is_none_or(is_in) && !is_in(&self.without)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transport_is_shown_without_its_secrets() {
        let secret = Secret::new("entry-t3st-secret");
        let stdio = Transport::Stdio {
            command: "npx".into(),
            args: vec!["--token=entry-t3st-secret".into()],
            env: vec![("TOKEN".into(), secret.clone())],
            cwd: None,
        };
        let http = Transport::Http {
            url: "https://h/mcp?k=entry-t3st-secret".into(),
            headers: vec![("Authorization".into(), secret)],
            any_address: false,
        };
        let shown = format!("{stdio:?} {http:?}");
        assert!(shown.contains("--token=[key]") && !shown.contains("t3st"), "{shown}");
    }

    #[test]
    fn tools_are_offered_by_both_lists() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let both = OfferedTools { only: Some(list(&["a", "b"])), without: list(&["b"]) };
        assert!(both.includes("a") && !both.includes("b") && !both.includes("c"));
        assert!(OfferedTools::default().includes("a"));
    }
}
