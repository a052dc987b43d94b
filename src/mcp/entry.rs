//! Entry of a server in a configuration.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

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

/// The headers of an entry, for requests.
pub fn header_values(
    named: &[(String, Secret)],
) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    named.iter().filter_map(|(name, value)| {
        let name = HeaderName::try_from(name.as_str()).ok()?;
        let mut value = HeaderValue::try_from(value.expose()).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    })
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

/// Filter of a server's tools, by the server's own names. A `*` in a name stands for any text.
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
        let is_in = |names: &[String]| names.iter().any(|name| is_like(name, tool));
        self.only.as_deref().is_none_or(is_in) && !is_in(&self.without)
    }

    /// The names of the filter that fit none of these tools.
    pub fn unused(&self, tools: &[impl AsRef<str>]) -> Vec<&str> {
        let named = self.only.iter().flatten().chain(&self.without);
        let fits = |name: &&String| !tools.iter().any(|tool| is_like(name, tool.as_ref()));
        named.filter(fits).map(String::as_str).collect()
    }

    /// The line of an answer to `tools/list` without the tools that are not offered; `None` if it stays.
    pub fn listed(&self, line: &[u8]) -> Option<Vec<u8>> {
        if *self == Self::default() {
            return None;
        }
        let mut answer: Value = serde_json::from_slice(line).ok()?;
        let tools = answer.pointer_mut("/result/tools")?.as_array_mut()?;
        let all = tools.len();
        tools.retain(|tool| tool["name"].as_str().is_none_or(|name| self.includes(name)));
        let is_less = tools.len() < all;
        is_less.then(|| format!("{answer}\n").into_bytes())
    }
}

/// Whether a name is like a pattern, in which `*` stands for any text.
fn is_like(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(mut name) = name.strip_prefix(first).and_then(|name| name.strip_suffix(last)) else {
        return false;
    };
    middle.split('*').all(|part| {
        let found = name.split_once(part);
        name = found.map_or(name, |(_, after)| after);
        found.is_some()
    })
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

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, is) in [
            ("*", "", true),
            ("*", "odd", true),
            ("o*", "odd", true),
            ("*d", "odd", true),
            ("o*d*d", "odd", true),
            ("*d*", "odd", true),
            ("*x*", "odd", false),
            ("od*dd", "odd", false),
            ("o", "odd", false),
            ("Odd", "odd", false),
        ] {
            assert_eq!(is_like(pattern, name), is, "{pattern} {name}");
        }
        let without = vec!["od*".to_owned(), "gone".to_owned()];
        let offered = OfferedTools { only: None, without };
        assert_eq!(offered.unused(&["odd", "weather"]), ["gone"]);
    }

    #[test]
    fn a_list_is_passed_on_without_tools_that_are_switched_off() {
        let offered = OfferedTools { only: None, without: vec!["odd".to_owned()] };
        let line =
            r#"{"id":1,"result":{"tools":[{"name":"odd"},{"name":"weather"}],"nextCursor":"2"}}"#;
        let listed =
            |line: &str| Some(String::from_utf8(offered.listed(line.as_bytes())?).unwrap());
        let expected =
            "{\"id\":1,\"result\":{\"tools\":[{\"name\":\"weather\"}],\"nextCursor\":\"2\"}}";
        assert_eq!(listed(line).as_deref(), Some(&*format!("{expected}\n")));
        for same in
            ["x", "{}", expected, r#"{"result":{"tools":7}}"#, r#"{"params":{"tools":["odd"]}}"#]
        {
            assert_eq!(listed(same), None, "{same}");
        }
        assert_eq!(OfferedTools::default().listed(line.as_bytes()), None);
    }
}
