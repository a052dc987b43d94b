//! Expectations that hold for a whole session and for one task alike.

use serde::Serialize;

use crate::domain::ToolName;
use crate::files::toml_file::{TomlField, TomlFields};

/// The largest number of a limit.
const MOST: i64 = 1_000_000_000_000;

/// Limits on an agent: the tools that it uses, and the most that it takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Tools that are called at least once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<ToolName>,
    /// Tools that are never called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_used: Vec<ToolName>,
    /// Tool calls, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Model calls, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_calls: Option<u64>,
    /// Tokens in and out, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Credits, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credits: Option<f64>,
    /// US dollars, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars: Option<f64>,
}

impl Limits {
    /// Reads the given limits.
    pub(super) fn read(fields: &mut TomlFields<'_>) -> Self {
        let mut limits = Self::default();
        fields.put("used", &mut limits.used, tools);
        fields.put("not_used", &mut limits.not_used, tools);
        fields.put("calls", &mut limits.calls, |field| count(field).map(Some));
        fields.put("model_calls", &mut limits.model_calls, |field| count(field).map(Some));
        fields.put("tokens", &mut limits.tokens, |field| count(field).map(Some));
        fields.put("credits", &mut limits.credits, |field| amount(field).map(Some));
        fields.put("dollars", &mut limits.dollars, |field| amount(field).map(Some));
        if let Some(both) = limits.used.iter().find(|tool| limits.not_used.contains(tool)) {
            fields.refuse(format!("{both} cannot be in both `used` and `not_used`"));
        }
        limits
    }

    /// The named tools, each with the path of its field.
    pub(super) fn tools(&self) -> impl Iterator<Item = (String, &ToolName)> {
        let used = self.used.iter().enumerate().map(|(at, tool)| (format!("used[{at}]"), tool));
        let not_used = self.not_used.iter().enumerate();
        used.chain(not_used.map(|(at, tool)| (format!("not_used[{at}]"), tool)))
    }
}

/// A number of things, at least 0.
pub(super) fn count(field: &TomlField<'_>) -> Option<u64> {
    u64::try_from(field.whole(0, MOST)?).ok()
}

fn amount(field: &TomlField<'_>) -> Option<f64> {
    field.number(0.0, MOST as f64)
}

fn tools(field: &TomlField<'_>) -> Option<Vec<ToolName>> {
    let names = field.list()?;
    if names.is_empty() {
        field.wrong("a list of at least one tool");
        return None;
    }
    let name = |name: &TomlField<'_>| name.filled("the name of a tool").map(ToolName::from);
    names.iter().map(name).collect()
}
