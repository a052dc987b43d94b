//! Checks the prerequisites of a session: the findings of `toolyard doctor`, as data. Each check
//! works as a session would, and never shows a key.

mod callable;
mod mcp;
mod models;
mod own_files;
mod prices;
mod reader;
mod servers;
mod settings;
mod terminal;
mod tools;

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

pub use self::terminal::Terminal;
use crate::config::{Config, Environment};
use crate::domain::words::clipped;
use crate::domain::{ToolSpec, schema_repair};
use crate::files::safe_text::visible;

/// The most characters of the remarks about a schema.
const REMARKS: usize = 400;

/// The subject of the checks: a start with these flags, in this environment.
pub struct Subject<'s> {
    pub config: Option<&'s Path>,
    pub workspace: Option<&'s Path>,
    /// Configurations of MCP servers.
    pub mcp: &'s [PathBuf],
    pub model: Option<&'s str>,
    pub environment: Environment<'s>,
    pub terminal: Terminal,
    pub trials: Trials,
}

/// Endpoints that get a trial: one small request with a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Trials {
    /// None.
    None,
    /// Free endpoints: in private networks, without a provider.
    #[default]
    Local,
    /// All endpoints, even if they charge for it.
    All,
}

/// How good a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingLevel {
    Ok,
    /// The subject works, but perhaps not as intended.
    Warn,
    /// The subject does not work.
    Fail,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Subject of the check, such as `configuration`, `terminal` or `model simulated`.
    pub about: String,
    pub verdict: FindingLevel,
    pub text: String,
    /// Advice, if the text does not contain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Finding {
    fn ok(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self { about: about.into(), verdict: FindingLevel::Ok, text: text.into(), advice: None }
    }

    fn warn(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self { verdict: FindingLevel::Warn, ..Self::ok(about, text) }
    }

    fn fail(about: impl Into<String>, text: impl Into<String>) -> Self {
        Self { verdict: FindingLevel::Fail, ..Self::ok(about, text) }
    }

    fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = match self.verdict {
            FindingLevel::Ok => "ok  ",
            FindingLevel::Warn => "warn",
            FindingLevel::Fail => "FAIL",
        };
        write!(f, "{verdict}  {}: {}", self.about, self.text.replace('\n', "\n      "))?;
        match &self.advice {
            Some(advice) => write!(f, "\n      → {advice}"),
            None => Ok(()),
        }
    }
}

/// Findings about the schema of a tool's arguments. Its texts may be a server's.
fn schema_faults(about: &str, spec: &ToolSpec) -> Vec<Finding> {
    let (_, remarks) = schema_repair::mended(&spec.parameters);
    let mut findings = Vec::new();
    if !remarks.is_empty() {
        let text =
            format!("the schema of {}'s arguments is put right: {}", spec.name, remarks.join("; "));
        findings.push(Finding::warn(about, clipped(&visible(&text), REMARKS)));
    }
    if schema_repair::sendable(&spec.parameters).is_none() {
        let text = format!(
            "{} is left out of requests to models: arguments are an object, and no object fits its schema",
            spec.name
        );
        findings.push(Finding::warn(about, text));
    }
    findings
}

/// Whether a session would work: nothing failed.
pub fn is_well(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.verdict != FindingLevel::Fail)
}

/// Runs all checks. If the configuration is invalid, its dependent checks are skipped: a session would not start.
pub async fn examine(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(config) = settings::configuration(subject, &mut findings) else {
        if subject.workspace.is_some() {
            tools::examine(subject.workspace, &Config::default(), &mut findings);
        }
        terminal::examine(subject.terminal, subject.environment, &mut findings);
        let text = "fix the configuration to check journals and models";
        findings.push(Finding::warn("session", text));
        return findings;
    };
    findings.push(settings::journals(&config));
    findings.push(own_files::files(&config));
    prices::table(&config, &mut findings);
    let tools = tools::examine(subject.workspace, &config, &mut findings);
    mcp::examine(&config, subject.mcp, subject.workspace, &mut findings).await;
    terminal::examine(subject.terminal, subject.environment, &mut findings);
    match &config.reader.embeddings {
        Some(endpoint) if config.reader.model.is_none() => {
            let reached = models::reach("reader", "embeddings", endpoint, subject.environment);
            findings.extend(reached.await.0);
        }
        _ => findings.push(reader::of(&config)),
    }
    models::examine(&config, subject, tools, &mut findings).await;
    if !models::uses_endpoint(&config) {
        servers::examine(subject, tools, &mut findings).await;
    }
    findings
}

/// Checks only the tools. If the configuration is invalid, nothing else is checked.
pub async fn examine_tools(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(config) = settings::configuration(subject, &mut findings) {
        tools::examine(subject.workspace, &config, &mut findings);
        mcp::examine(&config, subject.mcp, subject.workspace, &mut findings).await;
    }
    findings
}

/// The set environment variables of toolyard itself.
fn in_force(environment: Environment<'_>) -> Vec<&'static str> {
    let is_set = |name: &&str| environment(name).is_some_and(|value| !value.is_empty());
    Config::VARIABLES.iter().copied().filter(is_set).collect()
}
