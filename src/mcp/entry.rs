//! One server as its configuration describes it.

use std::path::PathBuf;
use std::time::Duration;

use crate::net::secret::Secret;

/// One server of a configuration.
#[derive(Clone, Debug)]
pub struct ServerEntry {
    /// Its name in the configuration, the prefix of its tools' names.
    pub key: String,
    pub transport: Transport,
    /// The file that has the entry.
    pub file: String,
    /// The entry's line, from 1.
    pub line: usize,
    /// Why the server must not be started; `None`: it is enabled.
    pub disabled: Option<String>,
    /// How long the server may take until it answers its first request.
    pub start_timeout: Option<Duration>,
    /// How long one tool call may take.
    pub call_timeout: Option<Duration>,
    /// The server's tools that are offered, by the server's own names.
    pub tools: Kept,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A program that speaks over its standard input and output.
    Stdio {
        command: String,
        args: Vec<String>,
        /// Variables that its environment gets in addition.
        env: Vec<(String, Secret)>,
        cwd: Option<PathBuf>,
    },
    /// An endpoint that speaks streamable HTTP.
    Http { url: String, headers: Vec<(String, Secret)> },
}

/// Which tools of a server are offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Only these; `None`: all.
    pub only: Option<Vec<String>>,
    /// All but these.
    pub without: Vec<String>,
}
