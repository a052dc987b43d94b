//! A tool's manifest as TOML, easy to read and edit.

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use crate::domain::EffectClass;

#[derive(Serialize)]
pub struct Manifest<'a> {
    pub name: &'a str,
    pub description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub class: &'a str,
    pub effect: EffectClass,
    pub timeout: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<&'a str>,
    pub source: ManifestSource<'a>,
    pub parameters: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<&'a Returns>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum ManifestSource<'a> {
    Recorded {
        /// The file of recorded answers, next to the manifest.
        recorded: &'a str,
    },
    Http(&'a HttpSource),
}

/// A request: texts with places for arguments, `{name}`, and for environment variables, `${NAME}`.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct HttpSource {
    pub method: String,
    pub url: String,
    pub operation: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operation_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional_body: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rest: bool,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub query: IndexMap<String, String>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub headers: IndexMap<String, String>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub cookies: IndexMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<IndexMap<String, String>>,
}

/// The form of a result.
#[derive(Debug, PartialEq, Serialize)]
pub struct Returns {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub example: String,
    pub schema: Value,
}
