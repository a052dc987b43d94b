//! The command line: what can be said, and what each word does.

use std::path::PathBuf;

use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, builder::PossibleValuesParser};
use clap_complete::Shell;
use tokio::runtime::{Builder, Runtime};

use self::{compare::CompareArgs, log::LogArgs, trouble::Trouble};
use crate::app::session::CostRange;
use crate::domain::{Estimation, FaultSpec, fault::FAULT_SYNTAX, knob::Choice};

pub mod compare;
pub mod describe;
pub mod doctor;
pub mod experience;
pub mod graph;
pub mod live;
pub mod log;
pub mod out;
pub mod past;
pub mod plan;
pub mod plan_task;
pub mod prices;
pub mod prompts;
pub mod run;
mod spec;
pub mod trouble;

/// A terminal workbench for tool-using LLM agents.
///
/// Without a command it opens the screen: on TASK, or on the workspace's tasks. Without a workspace
/// and a configuration that is the embedded demo, driven by the built-in simulated model.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What the agent is to do.
    #[arg(conflicts_with = "tasks")]
    pub task: Option<String>,
    #[command(flatten)]
    pub session: SessionArgs,
    #[command(flatten)]
    pub log: LogArgs,
}

impl Cli {
    /// `toolyard --seed 3 run` would be taken for the task "run".
    ///
    /// # Errors
    /// That the task is the name of a command.
    pub fn refuse_late_command(&self) -> Result<(), Trouble> {
        let Some(task) = &self.task else { return Ok(()) };
        if Self::command().find_subcommand(task).is_none() {
            return Ok(());
        }
        let text = format!("a command comes first, and its options after it: toolyard {task} …");
        Err(Trouble::Usage(text))
    }
}

/// A runtime for a command that waits for something.
///
/// # Errors
/// What the system says.
pub fn runtime() -> Result<Runtime, Trouble> {
    Builder::new_current_thread().enable_all().build().map_err(Trouble::failed)
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run tasks without a screen.
    Run(Box<RunArgs>),
    /// Run combinations of strategies and settings over one list of tasks, and print papers' tables.
    Compare(Box<CompareArgs>),
    /// Look at a journal: on the screen, or with --json as its state.
    Replay(ReplayArgs),
    /// Plan how often each tool may be used within a budget (BTP).
    Plan(PlanArgs),
    /// Learn, weigh and convert tool graphs.
    #[command(subcommand)]
    Graph(GraphCommand),
    /// Bring in a data set as a workspace, or prices of models.
    #[command(subcommand)]
    Import(ImportCommand),
    /// Keep, look at and prune past uses of tools, from which plans are made.
    #[command(subcommand)]
    Experience(ExperienceCommand),
    /// Draw a moment of a journal as an SVG picture.
    Shot(ShotArgs),
    /// Print every action of the screen with its keys, as a Markdown table.
    Keys(ConfigArgs),
    /// List what models are told, print one prompt, or write prompts into a workspace to change them there.
    Prompts(PromptsArgs),
    /// Check configuration, workspace, tools, terminal and models, and say what to do.
    Doctor(DoctorArgs),
    /// Print what makes a shell complete commands and options.
    Completions { shell: Shell },
    /// Print the manual page of toolyard, or of a command.
    Man(ManArgs),
}

/// Where settings come from.
#[derive(Clone, Debug, Args)]
pub struct ConfigArgs {
    /// The configuration file, instead of the one in the platform's folder.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// What a session is made of.
#[derive(Clone, Debug, Args)]
pub struct SessionArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// The folder with tools/, tasks, graph.json and what was learned.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// direct, react, toolnet, dfsdt, tot-dfs, rewoo or workers, and behind it any of +prompt, +btp and
    /// +reflexion; +toolnet behind the last two.
    #[arg(long, value_name = "S")]
    pub strategy: Option<String>,
    /// Credits that a task may cost; +btp holds to it, other strategies are measured against it.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub budget: Option<f64>,
    /// +btp plans no tool whose expected value is below this, 0 to 1.
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub tau: Option<f64>,
    /// The configured model that plays every role.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// The configured model that writes the plans of rewoo and workers; `compare` takes several, with
    /// commas between.
    #[arg(long, value_name = "M")]
    pub planner: Option<String>,
    /// The configured model that answers from their evidence; `compare` takes several, too.
    #[arg(long, value_name = "M")]
    pub solver: Option<String>,
    /// Decides all chance; the same seed gives the same run.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Tasks from a file (.toml, .jsonl or .txt), instead of the workspace's.
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// So many tasks: fewer than there are, or more by going over them again.
    #[arg(long, value_name = "N")]
    pub tasks_limit: Option<usize>,
    #[arg(long, value_name = "SPEC", help = format!("Arm a fault: {FAULT_SYNTAX}"))]
    pub fault: Vec<FaultSpec>,
    /// Turn a knob before the start, as `alpha=0.8` or `learn=off`; all are in
    /// config.example.toml, and among the knobs (4) of the screen with what they do.
    #[arg(long, value_name = "NAME=VALUE")]
    pub knob: Vec<String>,
    /// Where the journal is written, instead of the platform's data folder.
    #[arg(long, value_name = "FILE", conflicts_with = "no_journal")]
    pub journal: Option<PathBuf>,
    /// Write no journal.
    #[arg(long)]
    pub no_journal: bool,
    /// Run a session again from its journal: calls of models and tools are answered from it as long as they
    /// fit, then the session goes on live. Use --fresh if the session was.
    #[arg(long, value_name = "FILE")]
    pub recorded: Option<PathBuf>,
    /// Where learned scores and edges are kept, instead of the workspace's learned.json.
    #[arg(long, value_name = "FILE")]
    pub learned: Option<PathBuf>,
    /// Neither load nor keep what was learned in earlier sessions.
    #[arg(long, conflicts_with = "learned")]
    pub fresh: bool,
    /// Where past uses of tools are kept, instead of the workspace's experience.sqlite.
    #[arg(long, value_name = "FILE")]
    pub experience: Option<PathBuf>,
    /// Plan without what is known of the very same task, as a benchmark must.
    #[arg(long)]
    pub leak_guard: bool,
    /// Let every tool cost a whole number of credits in this range, drawn by the seed, whatever it
    /// declares; `1..10` is the range of BTP's experiments.
    #[arg(long, value_name = "LOW..HIGH")]
    pub costs: Option<CostRange>,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub session: SessionArgs,
    /// What the agent is to do, instead of a list of tasks.
    #[arg(long, value_name = "TEXT", conflicts_with = "tasks")]
    pub task: Option<String>,
    /// Write every event to standard output as a line of JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the report, one JSON object, to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the last state, one JSON object, to this file; a replay of the journal gives the same.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReplayArgs {
    pub journal: PathBuf,
    /// The state after this event, instead of after the last.
    #[arg(long, value_name = "N")]
    pub at: Option<u64>,
    /// Print the state as JSON instead of opening the screen.
    #[arg(long)]
    pub json: bool,
    /// Write the report, one JSON object, to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("for").required(true).args(["tools", "task"]))]
pub struct PlanArgs {
    /// [{"name": TEXT, "cost": CREDITS, "value": NUMBER, "limit": USES}, …]; of plans that are equal
    /// in value and cost, earlier tools are used more.
    #[arg(long, value_name = "FILE")]
    pub tools: Option<PathBuf>,
    /// Plan for this task, with the workspace's tools and what is known of them from past uses.
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    #[command(flatten)]
    pub of_task: PlanTaskArgs,
    /// Credits that all uses together may cost.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub budget: f64,
    /// As JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// How the tools of a task are chosen and valued.
#[derive(Debug, Args)]
pub struct PlanTaskArgs {
    /// The folder with the tools, and with experience.sqlite unless another file is configured.
    #[arg(long, value_name = "DIR", requires = "task")]
    pub workspace: Option<PathBuf>,
    /// The file of past uses, instead of that of sessions on the workspace.
    #[arg(long, value_name = "FILE", requires = "task")]
    pub experience: Option<PathBuf>,
    /// The least value that a tool must have, 0 to 1; by default the knob `tau`.
    #[arg(long, value_name = "T", requires = "task", allow_negative_numbers = true)]
    pub tau: Option<String>,
    /// How values are estimated; by default the knob `estimate`.
    #[arg(long, requires = "task", value_parser = PossibleValuesParser::new(Estimation::NAMES))]
    pub estimate: Option<String>,
    /// How many tools the plan is made of; by default the knob `candidates`.
    #[arg(long, value_name = "N", requires = "task", allow_negative_numbers = true)]
    pub candidates: Option<String>,
    /// Leave out the past of this very task, as a benchmark must.
    #[arg(long, requires = "task")]
    pub leak_guard: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    /// Learn a graph from trajectories (ToolNet, eq. 5).
    Learn {
        /// jsonl: a line is {"task": TEXT, "tools": [NAME…]}; api-bank: dialogues.
        #[arg(long, value_parser = ["jsonl", "api-bank"])]
        format: String,
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Weigh a graph's edges by scores (ToolNet, eq. 6–8).
    Weights {
        graph: PathBuf,
        /// {"tool": number, …}
        #[arg(long, value_name = "FILE")]
        scores: Option<PathBuf>,
        /// Speed of learning, at least 0.
        #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
        alpha: f64,
        /// Trust in the prior, 0 to 1.
        #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
        beta: f64,
        /// As JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Print a graph in a format that other programs read.
    Show {
        graph: PathBuf,
        #[arg(long, default_value = "json", value_parser = ["json", "dot", "mermaid", "graphml"])]
        format: String,
    },
}

#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// API-Bank: dialogues become tools with recorded answers, tasks and a learned graph.
    ApiBank {
        dir: PathBuf,
        #[arg(long, value_name = "WORKSPACE")]
        out: PathBuf,
        /// Replace what is in a workspace that is there already.
        #[arg(long)]
        force: bool,
    },
    /// LiteLLM's price table (model_prices_and_context_window.json): models get their prices from it.
    Prices {
        file: PathBuf,
        /// Where the prices are kept, instead of where the configuration looks for them.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// Which file of past uses is meant.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// The file, instead of the one that sessions on the workspace add to.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The workspace whose file it is, unless the configuration names one for all.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub enum ExperienceCommand {
    /// Add uses from a file of JSON lines.
    ///
    /// A line is {"query": TEXT, "tool": NAME, "parameters": JSON, "result": TEXT or JSON, "helpful": true
    /// or false}, and may have "at" (a time such as 2026-11-21T12:00:00Z) and "source".
    Import {
        /// The lines.
        lines: PathBuf,
        /// Where uses are from that do not say it; by default the name of the file of lines.
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Write all uses as JSON lines.
    Export {
        /// To this file instead of to standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Take uses out: those to which all applies that is said.
    #[command(group = ArgGroup::new("which").required(true).multiple(true)
        .args(["older_than", "keep", "tool", "source", "all"]))]
    Prune {
        /// From more than so many days ago.
        #[arg(long, value_name = "DAYS")]
        older_than: Option<u32>,
        /// Not among the latest N of their tool.
        #[arg(long, value_name = "N")]
        keep: Option<u32>,
        /// Of this tool.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Known from this session or import.
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        /// All there are.
        #[arg(long, conflicts_with_all = ["older_than", "keep", "tool", "source"])]
        all: bool,
        /// Only say how many they are.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Have the configured embedding model read past queries that it has not read yet.
    Embed {
        /// At most so many, the latest first; without it, all.
        #[arg(long, value_name = "N")]
        most: Option<u32>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Count uses, how many helped, and different queries, by tool.
    Show {
        /// As JSON instead of a table.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
}

#[derive(Debug, Args)]
pub struct PromptsArgs {
    /// One prompt, such as `actor`, instead of all.
    pub name: Option<String>,
    /// The folder whose prompts/NAME.md override built-in prompts.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Write the built-in text to DIR/prompts/NAME.md; a file that is there stays as it is.
    #[arg(long, value_name = "DIR", conflicts_with = "workspace")]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct ShotArgs {
    pub journal: PathBuf,
    /// The moment after this event, instead of after the last.
    #[arg(long, value_name = "N")]
    pub at: Option<u64>,
    /// Columns and rows.
    #[arg(long, default_value = "160x48", value_name = "COLSxROWS")]
    pub size: String,
    /// A theme by name, or a theme file.
    #[arg(long, value_name = "T")]
    pub theme: Option<String>,
    #[arg(long, value_name = "FILE.svg")]
    pub out: PathBuf,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Args)]
pub struct DoctorArgs {
    #[command(flatten)]
    pub config: ConfigArgs,
    /// The folder with tools/, tasks, graph.json and what was learned.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The configured model that plays every role.
    #[arg(long, value_name = "M")]
    pub model: Option<String>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command, such as `run` or `graph learn`.
    pub command: Vec<String>,
}
