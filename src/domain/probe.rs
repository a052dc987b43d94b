//! Probing: tools are called to learn what they return (ATC, section 4.3).

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::ToolName;
use crate::result_schema::{Drift, Schema, SchemaMode};

/// Tools that a task probes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Empty: all tools that change nothing and have no learned schema. A named tool is probed again, even if it may
    /// change something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolName>,
}

impl Probe {
    /// Returns the title of the task.
    pub fn title(&self) -> String {
        match &self.tools[..] {
            [] => "Probe all tools without a learned schema".to_owned(),
            [tool] => format!("Probe {tool}"),
            tools => format!("Probe {} tools", tools.len()),
        }
    }
}

/// Schema of a tool's results, as learned by probing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedSchema {
    pub schema: Schema,
    pub mode: SchemaMode,
    /// The question that the tool was called for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub question: String,
    /// The arguments of the call that was answered.
    pub arguments: Value,
    /// The tools whose results have values of these arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<ToolName>,
    /// Programs that were run for it, in all passes.
    pub samples: u32,
    /// The pass that learned it; 0: without other tools.
    pub pass: u32,
    /// Tokens that it took, in and out.
    pub tokens: u64,
    /// The program that made this call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// Result of the call, or its beginning.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// The results that the schema was learned from, in order; only those later results that differed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Merged>,
}

/// A result that became part of a schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Merged {
    pub arguments: Value,
    /// Number of fields of the result, at all levels.
    pub fields: usize,
    /// Differences from the schema that was known before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<Drift>,
}

impl LearnedSchema {
    /// The most results that are listed for a schema.
    const MERGED: usize = 16;

    /// Notes that a result has become part of the schema.
    pub fn note(&mut self, merged: Merged) {
        if self.merged.len() < Self::MERGED {
            self.merged.push(merged);
        }
    }
}

/// Where a learned schema is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSource {
    /// A probing of this session has learned it.
    Probed,
    /// An earlier session has learned it.
    Kept,
}

/// How a program that probes a tool ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeEnd {
    /// The tool was called and returned something.
    Answered,
    /// Reason for the failure.
    Failed(String),
    /// No program was written: no further tool is known that could help.
    Skipped(String),
}

/// The progress of a probing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Probing {
    /// The pass at work or the last one; 0: without other tools.
    pub pass: u32,
    pub rows: indexmap::IndexMap<ToolName, ProbeRow>,
}

/// The progress of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRow {
    /// Reason why the tool is not probed at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Last pass that probed the tool.
    pub pass: u32,
    /// Programs that were run for it, in all passes.
    pub samples: u32,
    /// The tools that its last program could use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helpers: Vec<ToolName>,
    pub tokens: u64,
    /// How its last program ended; `None`: it has had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ProbeEnd>,
}

impl ProbeRow {
    pub fn is_answered(&self) -> bool {
        self.end == Some(ProbeEnd::Answered)
    }
}

impl Probing {
    /// How many tools have returned something, and how many are probed.
    pub fn reached(&self) -> (usize, usize) {
        let probed = self.rows.values().filter(|row| row.refused.is_none());
        let answered = probed.clone().filter(|row| row.is_answered());
        (answered.count(), probed.count())
    }
}

/// A learned schema, and the tool's differing results since then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownSchema {
    pub learned: Arc<LearnedSchema>,
    pub source: SchemaSource,
    /// Later results that differed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub drifts: u32,
    /// How the last one of them differed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Drift>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
