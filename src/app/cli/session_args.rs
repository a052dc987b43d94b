//! Arguments that most commands share: the configuration, and the options of a session.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::Args;

use super::value::{self, number, whole};
use crate::domain::approval::Rule;
use crate::domain::{BreakpointSpec, FaultSpec};
use crate::session::CostRange;
use crate::stage::Sample;

/// The configuration file to use.
#[derive(Clone, Debug, Default, Args)]
pub struct ConfigArgs {
    /// Read this configuration file instead of the one in the platform's folder.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The options of a session.
#[derive(Clone, Debug, Default, Args)]
pub struct SessionArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Folder with tools/, tasks, graph.json and learned scores.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Start the MCP servers of this configuration, such as .mcp.json, and offer their tools, too.
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Without a workspace: use this embedded sample instead of the strategy's default.
    #[arg(long, value_name = "SAMPLE", conflicts_with = "workspace")]
    pub sample: Option<Sample>,
    /// Strategy: direct, react, toolnet, dfsdt, tot-dfs, rewoo, workers, atc or cotools, followed by any of
    /// +prompt, +btp and +reflexion; +toolnet after the last three.
    #[arg(long, value_name = "S")]
    pub strategy: Option<String>,
    /// Credits per task; +btp enforces them, other strategies are measured against them.
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = number)]
    pub budget: Option<f64>,
    /// Lowest expected value for which +btp plans a tool, 0 to 1.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = number)]
    pub tau: Option<f64>,
    /// Model for every role: a configured one; PROVIDER:MODEL, such as openai:gpt-5-mini; or the
    /// address of an endpoint, such as http://localhost:8080/v1, with #MODEL if it has several.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// Model that writes the plans of rewoo and workers; `compare` accepts several, separated by
    /// commas.
    #[arg(long, value_name = "M")]
    pub planner: Option<String>,
    /// Model that writes the answers of rewoo and workers; `compare` accepts several, too.
    #[arg(long, value_name = "M")]
    pub solver: Option<String>,
    /// Seed of all randomness; the same seed gives the same run.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Read tasks from a file (.toml, .jsonl or .txt) instead of the workspace.
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Number of tasks: fewer than available, or more by repeating them.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>)]
    pub tasks_limit: Option<usize>,
    /// Arm a fault, such as `search_web:error:p=0.5`. See the end of `toolyard run --help`.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Set a breakpoint, such as `search_web:after:if=ms > 500`. Without a screen, hits are only counted and
    /// logged.
    #[arg(long = "break", value_name = "SPEC")]
    pub breakpoint: Vec<BreakpointSpec>,
    /// Allow these tool calls without asking: a tool, effect:NAME, class:NAME, mcp:NAME or tools, with
    /// `:if=EXPRESSION` where needed. By default, calls of tools with an undeclared effect need consent on a screen, and are
    /// refused without one.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Set a knob before the start, e.g. `alpha=0.8` or `learn=off`; config.example.toml and the
    /// screen's Knobs pane (4) describe them all.
    #[arg(long, value_name = "NAME=VALUE")]
    pub knob: Vec<String>,
    /// Write the journal to this file instead of the platform's data folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<PathBuf>,
    /// Write no journal.
    #[arg(long)]
    pub no_journal: bool,
    /// Repeat a session from its journal: model and tool calls are answered from it as long as they
    /// match, then the session continues live. Add --fresh if the session had it.
    #[arg(long, value_name = "FILE")]
    pub recorded: Option<PathBuf>,
    /// Use the record up to this event only, and continue live from there: a fork.
    #[arg(long, value_name = "EVENT", requires = "recorded")]
    pub fork_at: Option<u64>,
    /// Agents that work on tasks at the same time, each with its own tasks, budget and steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub runs: Option<u16>,
    /// File of learned scores and edges, instead of the workspace's learned.json.
    #[arg(long, value_name = "FILE")]
    pub learned: Option<PathBuf>,
    /// Neither load nor save learned scores and edges.
    #[arg(long, conflicts_with = "learned")]
    pub fresh: bool,
    /// File of past uses, instead of the workspace's experience.sqlite.
    #[arg(long, value_name = "FILE")]
    pub experience: Option<PathBuf>,
    /// Ignore past uses of the identical task, as a benchmark must.
    #[arg(long)]
    pub leak_guard: bool,
    /// Draw the cost of every tool from this range of whole credits, by the seed, ignoring its
    /// declared cost; BTP's experiments use `1..10`.
    #[arg(long, value_name = "LOW..HIGH")]
    pub costs: Option<CostRange>,
    /// Offer only this many tools per task: those of its reference chain, filled up with tools
    /// that match its words. BTP's experiments use five.
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub task_tools: Option<NonZeroUsize>,
    /// Fill the workspace up to N tools with made-up ones that no task needs.
    #[arg(long, value_name = "N", value_parser = value::positive)]
    pub tools_total: Option<NonZeroUsize>,
    /// Stop before a model call that would bring the session above N US dollars (default 5): the
    /// screen pauses, `run` ends with exit code 3.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub max_dollars: Option<f64>,
}
