//! A tool's manifest as TOML, easy to read and edit.

use serde::Serialize;
use serde_json::Value;

use crate::domain::EffectClass;

#[derive(Serialize)]
pub(super) struct Manifest<'a> {
    pub name: &'a str,
    pub description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub class: &'a str,
    pub effect: EffectClass,
    pub timeout: &'a str,
    pub parameters: &'a Value,
    pub source: Source<'a>,
}

#[derive(Serialize)]
pub(super) struct Source<'a> {
    /// The file of recorded answers, next to the manifest.
    pub recorded: &'a str,
}
