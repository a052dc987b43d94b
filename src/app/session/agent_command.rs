//! The command of a watched agent, as its journal keeps it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::store::kept_tree::KeptTree;

/// The command that started a watched agent. It has no known keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The folder in which it ran.
    pub folder: PathBuf,
    /// The names of the variables with keys that it had.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<String>,
    /// The files as they were at the beginning, if they were kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree: Option<KeptTree>,
    /// Options of `toolyard watch` without which it runs differently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}
