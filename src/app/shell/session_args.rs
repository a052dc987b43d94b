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
    /// Use this configuration file instead of the default one.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// The options of a session. The first paragraph of each is a line of `toolyard --help`; options of experiments are only in
/// `toolyard run --help` and `toolyard help --all`.
#[derive(Clone, Debug, Default, Args)]
pub struct SessionArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Folder with tools/, tasks, graph.json and learned scores.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Start the MCP servers of this file, such as .mcp.json.
    ///
    /// The agent can call their tools in addition to those of the workspace.
    #[arg(long, value_name = "FILE")]
    pub mcp: Vec<PathBuf>,
    /// Use this embedded sample instead of the strategy's default.
    #[arg(long, value_name = "SAMPLE", conflicts_with = "workspace", hide_short_help = true)]
    pub sample: Option<Sample>,
    /// Strategy of the agent, such as react, toolnet or workers+btp.
    ///
    /// Write direct, react, toolnet, dfsdt, tot-dfs, rewoo, workers, atc or cotools, followed by any of +prompt, +btp and
    /// +reflexion. The last three also take +toolnet.
    #[arg(long, value_name = "S")]
    pub strategy: Option<String>,
    /// Credits per task; +btp enforces the limit.
    ///
    /// Reports of other strategies compare their spending with it.
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = number)]
    pub budget: Option<f64>,
    /// Lowest expected value for which +btp plans a tool, 0 to 1.
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = number, hide_short_help = true)]
    pub tau: Option<f64>,
    /// Model for every role: a configured one, PROVIDER:MODEL or an address.
    ///
    /// Examples: `openai:gpt-5-mini`, `http://localhost:8080/v1`. Add #MODEL to an address that serves several models.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// Model that writes the plans of rewoo and workers.
    ///
    /// `compare` accepts several, separated by commas.
    #[arg(long, value_name = "M")]
    pub planner: Option<String>,
    /// Model that writes the answers of rewoo and workers.
    ///
    /// `compare` accepts several, separated by commas.
    #[arg(long, value_name = "M")]
    pub solver: Option<String>,
    /// Seed of all randomness; the same seed gives the same run.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u64>)]
    pub seed: Option<u64>,
    /// Read tasks from a .toml, .jsonl or .txt file.
    ///
    /// By default they come from the workspace.
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Run N tasks; repeat them if there are fewer.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>)]
    pub tasks_limit: Option<usize>,
    /// Make a tool or model fail, for example `search_web:error:p=0.5`.
    ///
    /// The end of `toolyard run --help` lists targets, kinds and keys.
    #[arg(long, value_name = "SPEC")]
    pub fault: Vec<FaultSpec>,
    /// Set a breakpoint, for example `search_web:after:if=ms > 500`.
    ///
    /// Without a screen, a breakpoint only counts and logs its hits. The end of `toolyard run --help` lists places and
    /// options.
    #[arg(long = "break", value_name = "SPEC")]
    pub breakpoint: Vec<BreakpointSpec>,
    /// Allow calls of a tool without asking, for example `effect:write`.
    ///
    /// Write a tool, effect:NAME, class:NAME, mcp:NAME or tools; add `:if=EXPRESSION` for a condition. Without a rule, a
    /// tool with an undeclared effect needs your consent on the screen; `run` refuses its calls.
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<Rule>,
    /// Set a knob, for example `alpha=0.8` or `learn=off`.
    ///
    /// config.example.toml and the screen's Knobs pane (4) explain all knobs.
    #[arg(long, value_name = "NAME=VALUE")]
    pub knob: Vec<String>,
    /// Write the journal to this file instead of the data folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<PathBuf>,
    /// Write no journal.
    #[arg(long)]
    pub no_journal: bool,
    /// Repeat a session from its journal.
    ///
    /// The journal answers model and tool calls while they match. Then the session continues live. Add --fresh if the
    /// recorded session had it.
    #[arg(long, value_name = "FILE")]
    pub recorded: Option<PathBuf>,
    /// With --recorded: continue live after this event (a fork).
    ///
    /// Then --fault and --break act from that event on.
    #[arg(long, value_name = "EVENT", requires = "recorded", hide_short_help = true)]
    pub fork_at: Option<u64>,
    /// Number of agents that work on tasks at the same time.
    ///
    /// Each has its own tasks, budget and steps.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64), hide_short_help = true)]
    pub runs: Option<u16>,
    /// File of learned scores and edges, instead of the workspace's learned.json.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub learned: Option<PathBuf>,
    /// Do not load or save learned scores and edges.
    #[arg(long, conflicts_with = "learned")]
    pub fresh: bool,
    /// File of past uses, instead of the workspace's experience.sqlite.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub experience: Option<PathBuf>,
    /// Ignore past uses of the identical task, as a benchmark must.
    #[arg(long, hide_short_help = true)]
    pub leak_guard: bool,
    /// Draw the cost of every tool from this range of whole credits.
    ///
    /// The seed decides; declared costs are ignored. BTP's experiments use `1..10`.
    #[arg(long, value_name = "LOW..HIGH", hide_short_help = true)]
    pub costs: Option<CostRange>,
    /// Offer only N tools per task.
    ///
    /// These are the tools of the task's reference chain, and then tools that match its words. BTP's experiments use five.
    #[arg(long, value_name = "N", value_parser = value::positive, hide_short_help = true)]
    pub task_tools: Option<NonZeroUsize>,
    /// Add made-up tools that no task needs, up to N tools in all.
    #[arg(long, value_name = "N", value_parser = value::positive, hide_short_help = true)]
    pub tools_total: Option<NonZeroUsize>,
    /// Stop before the session costs more than N US dollars; default: 5.
    ///
    /// The screen pauses before that model call; `run` ends with exit code 3.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = number)]
    pub max_dollars: Option<f64>,
}
