//! Expectations that hold for a whole session and for one task alike.

use serde::Serialize;

use super::expected_call::ExpectedCall;
use crate::files::toml_file::{TomlField, TomlFields};

/// The largest number of a limit.
const MOST: i64 = 1_000_000_000_000;

/// Limits on an agent: the tools that it uses, and the most that it takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// Tools that are called at least once, each with the arguments that are given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<ExpectedCall>,
    /// Tools that are never called, or never with these arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_used: Vec<ExpectedCall>,
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
        let is_excluded = |used: &&ExpectedCall| {
            let tool = ExpectedCall::Tool(used.tool().clone());
            limits.not_used.contains(used) || limits.not_used.contains(&tool)
        };
        if let Some(both) = limits.used.iter().find(is_excluded) {
            fields.refuse(format!("{both} cannot be in both `used` and `not_used`; remove one"));
        }
        limits
    }

    /// The named calls, each with the path of its field.
    pub(super) fn called(&self) -> impl Iterator<Item = (String, &ExpectedCall)> {
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

fn tools(field: &TomlField<'_>) -> Option<Vec<ExpectedCall>> {
    let calls = field.list()?;
    if calls.is_empty() {
        field.wrong("a list of at least one tool");
        return None;
    }
    calls.iter().map(ExpectedCall::read).collect()
}
