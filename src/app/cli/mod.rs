//! The command line: arguments, and the commands that run them.

use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Parser, Subcommand, builder::PossibleValuesParser};
use clap_complete::Shell;

use self::ask::args::AskArgs;
use self::compare::CompareArgs;
#[cfg(feature = "stage")]
use self::demo::DemoArgs;
use self::doctor::DoctorArgs;
use self::fork_args::ForkArgs;
use self::journal::JournalCommand;
use self::journal_args::{AttachArgs, FollowArgs};
use self::journal_args::{ReplayArgs, ReportArgs, ResumeArgs, SessionsArgs, ShotArgs};
use self::mcp::McpArgs;
use self::probe_args::ProbeArgs;
use self::search_faults::SearchFaultsArgs;
use self::sweep::SweepArgs;
use self::tools::args::ToolsCommand;
use self::trust::TrustArgs;
use self::watch::WatchArgs;
use self::{help::HelpArgs, init_args::InitArgs};
use crate::domain::{Estimation, knob::KnobChoice};
use crate::shell::cotools::CotoolsCommand;
use crate::shell::log::LogArgs;
use crate::shell::openapi::OpenApiArgs;
use crate::shell::value::{number, whole};
use crate::shell::{ConfigArgs, ManArgs, NatsArgs, SessionArgs};
// The commands name these often.
use crate::shell::{colour, describe, openapi, out, question, runtime, stopping, trouble, value};

mod agent_fork;
pub mod ask;
pub mod attach;
mod away;
mod beside;
mod call;
mod call_args;
mod call_commands;
pub mod compare;
#[cfg(feature = "stage")]
pub mod demo;
pub mod doctor;
mod examples;
pub mod experience;
pub mod fork;
mod fork_args;
mod fork_table;
mod found_servers;
pub mod graph;
pub mod help;
pub mod init;
mod init_args;
pub mod journal;
mod journal_args;
pub mod journal_end;
pub mod laboratory;
pub mod live;
mod live_journal;
pub mod mcp;
#[cfg(feature = "nats")]
pub mod nats;
pub mod next;
pub mod order;
pub mod past;
pub mod plan;
pub mod plan_task;
pub mod prices;
pub mod probe;
mod probe_args;
pub mod project;
pub mod prompts;
pub mod report;
pub mod resume;
pub mod run;
mod save;
pub mod score;
mod screen_sweep;
pub mod search_faults;
pub mod sessions;
mod spec_trust;
pub mod sweep;
pub mod tools;
pub mod trust;
mod twin;
pub mod version;
pub mod watch;

/// A terminal workbench for tool-using LLM agents.
///
/// Without a command, toolyard opens the screen on TASK, or on the workspace's tasks. Without a workspace and a
/// configuration, it opens the embedded demo with the simulated model and the strategy workers+toolnet+btp. Otherwise the
/// strategy is toolnet, unless --strategy or the configuration names another one.
#[derive(Debug, Parser)]
#[command(
    name = "toolyard",
    version,
    // Otherwise help would name the program by its file.
    bin_name = "toolyard",
    args_conflicts_with_subcommands = true,
    // `help` is a command of its own.
    disable_help_subcommand = true,
    disable_version_flag = true,
    after_help = examples::TOOLYARD
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The agent's task.
    #[arg(conflicts_with = "tasks")]
    pub task: Option<String>,
    #[command(flatten)]
    pub session: SessionArgs,
    #[command(flatten)]
    pub log: LogArgs,
    /// Print version; with --json also commit, target, features and profile.
    #[arg(short = 'V', long, action = ArgAction::Version)]
    pub version: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a project: a configuration, a first tool and first tasks.
    ///
    /// The configuration names the models found on this machine. Existing files stay unchanged.
    #[command(after_help = examples::INIT)]
    Init(InitArgs),
    /// Watch a guided demo; it needs no key and no network.
    #[cfg(feature = "stage")]
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Run tasks without a screen.
    #[command(after_help = examples::run())]
    Run(Box<RunArgs>),
    /// Run your agent and watch its model and tool calls; your code does not change.
    ///
    /// The agent can use any language and framework. Its model calls pass through a proxy on this machine.
    #[command(after_help = examples::WATCH)]
    Watch(Box<WatchArgs>),
    /// Watch the tool calls between an MCP server and its client.
    ///
    /// Hold, change or fail each call before the server gets it. The calls appear in the running session of `toolyard
    /// watch`. Without such a session, this command starts one.
    #[command(after_help = examples::MCP)]
    Mcp(Box<McpArgs>),
    /// List, show, call and check tools, and add MCP servers.
    #[command(after_help = examples::TOOLS, subcommand)]
    Tools(Box<ToolsCommand>),
    /// Compare strategies and settings on one list of tasks, or break a tool.
    #[command(after_help = examples::COMPARE)]
    Compare(Box<CompareArgs>),
    /// Search for a smallest set of faults under which a scenario fails.
    ///
    /// A fault is tried only on a tool that a run has called: first alone, then on what the agent called instead. Each run
    /// begins fresh, and its tools run for real.
    #[command(after_help = examples::SEARCH_FAULTS)]
    SearchFaults(Box<SearchFaultsArgs>),
    /// Score how well an agent recovers from a fixed suite of faults.
    ///
    /// A scenario runs without faults, and with each fault of the suite on the tools that it called. Tools run for real.
    #[command(after_help = examples::SCORE)]
    Score(Box<score::ScoreArgs>),
    /// Try values of one or two settings on the same tasks, as a curve or a heat map.
    #[command(after_help = examples::SWEEP)]
    Sweep(Box<SweepArgs>),
    #[cfg(feature = "nats")]
    #[command(flatten)]
    Nats(nats::NatsCommand),
    /// Resume a session that was killed, crashed or quit.
    ///
    /// The journal answers finished calls. An interrupted call that may have changed something needs your consent to run
    /// again.
    #[command(after_help = examples::RESUME)]
    Resume(ResumeArgs),
    /// Go on from a moment of a session, with something changed there.
    ///
    /// The journal answers all calls up to that event. What does not see the change is answered by it after that, too.
    #[command(after_help = examples::FORK)]
    Fork(Box<ForkArgs>),
    /// Open the screen of a session that runs in another terminal.
    ///
    /// One screen controls a session, and the others watch. The session continues after you quit.
    #[command(after_help = examples::ATTACH)]
    Attach(AttachArgs),
    /// Follow a growing journal on the screen, or print its events with --json.
    #[command(after_help = examples::FOLLOW)]
    Follow(FollowArgs),
    /// Open a journal on the screen, or print its state with --json.
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArgs),
    /// Ask a recorded model call again: several times, of its own model or of others.
    ///
    /// The replies are counted and priced, and nothing goes on from them: no tool is called. The journal may be of any
    /// agent.
    #[command(after_help = examples::ASK)]
    Ask(AskArgs),
    /// Print the report of a session as JSON or as one HTML page.
    #[command(after_help = examples::REPORT)]
    Report(ReportArgs),
    /// List recorded sessions, or delete old ones.
    #[command(after_help = examples::SESSIONS)]
    Sessions(SessionsArgs),
    /// Print the lines of a journal, or convert old journals to the newest format.
    #[command(after_help = examples::JOURNAL, subcommand)]
    Journal(JournalCommand),
    /// List or forget your answers about which folders, MCP files and addresses to trust.
    #[command(after_help = examples::TRUST)]
    Trust(TrustArgs),
    /// Plan how often each tool may be used within a budget (BTP).
    #[command(after_help = examples::PLAN)]
    Plan(PlanArgs),
    /// Learn tool graphs.
    #[command(after_help = examples::GRAPH, subcommand)]
    Graph(GraphCommand),
    /// Import an API as a workspace, or prices of models.
    #[command(after_help = examples::IMPORT, subcommand)]
    Import(ImportCommand),
    /// Manage past uses of tools, the basis of budget plans.
    #[command(after_help = examples::EXPERIENCE, subcommand)]
    Experience(ExperienceCommand),
    /// Call tools to learn the schemas of their results (ATC).
    ///
    /// Inputs come from the results of other tools. The workspace keeps the schemas, and prompts include them.
    #[command(after_help = examples::PROBE)]
    Probe(Box<ProbeArgs>),
    /// Find tools with a small local model (CoTools).
    #[command(after_help = examples::COTOOLS, subcommand)]
    Cotools(Box<CotoolsCommand>),
    /// Draw a moment of a journal as an SVG picture.
    #[command(after_help = examples::SHOT)]
    Shot(ShotArgs),
    /// Print every action of the screen with its keys, as a Markdown table.
    Keys(ConfigArgs),
    /// List the prompts, print one, or copy them into a workspace to edit them.
    #[command(after_help = examples::PROMPTS)]
    Prompts(PromptsArgs),
    /// Check configuration, workspace, tools, terminal and models, and suggest fixes.
    #[command(after_help = examples::DOCTOR)]
    Doctor(DoctorArgs),
    /// Print shell completions for commands and options.
    Completions { shell: Shell },
    /// Print the manual page of toolyard or of a command.
    Man(ManArgs),
    /// Print the help of a command, or list all commands and options with --all.
    Help(HelpArgs),
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub session: SessionArgs,
    /// The agent's task, instead of a list of tasks.
    #[arg(value_name = "TASK", conflicts_with_all = ["task", "tasks"])]
    pub words: Option<String>,
    /// The same as TASK.
    #[arg(long, value_name = "TEXT", conflicts_with = "tasks")]
    pub task: Option<String>,
    /// Run the session of this file and check its expectations.
    ///
    /// Several files, and those of a folder, run one after the other. The exit code is 1 if any expectation fails. --config, --model, --planner,
    /// --solver, --seed, --max-dollars, --no-journal and --keep-going override the file; other session options do not
    /// apply.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        conflicts_with_all = [
            "words", "task", "workspace", "strategy", "budget", "tau", "tasks", "tasks_limit", "fault",
            "breakpoint", "allow", "knob", "journal", "recorded", "learned", "fresh", "experience",
            "leak_guard", "costs", "task_tools", "tools_total", "report", "state",
        ],
    )]
    pub scenario: Vec<PathBuf>,
    /// Run each scenario K times, with the seeds from its own on; each run begins fresh.
    ///
    /// It passes if all runs do, or as many as `at_least` in its [expect] says.
    #[arg(long, value_name = "K", requires = "scenario", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: u32,
    /// Run this many scenarios at the same time; their tasks are then not printed. Each begins fresh.
    #[arg(long, value_name = "N", requires = "scenario", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub nats: NatsArgs,
    /// Write the results of the scenarios to this file, as JUnit XML.
    #[arg(long, value_name = "FILE", requires = "scenario")]
    pub junit: Option<PathBuf>,
    /// Continue with the next task when a model is unusable.
    ///
    /// A model is unusable if it does not answer, refuses the key, has no credit left or does not exist. By default the run
    /// then ends with exit code 4.
    #[arg(long)]
    pub keep_going: bool,
    /// Print every event as a line of JSON.
    #[arg(long)]
    pub json: bool,
    /// Name the measures of BTP in the summary: AC, PR, PBC, RFBC.
    #[arg(long, conflicts_with_all = ["json", "scenario"])]
    pub papers: bool,
    /// Write the report as one JSON object to this file.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the final state as one JSON object to this file.
    ///
    /// A replay of the journal prints the same state.
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("for").required(true).args(["tools", "task"]))]
pub struct PlanArgs {
    /// JSON file of tools: [{"name": TEXT, "cost": CREDITS, "value": NUMBER, "limit": USES}, …].
    ///
    /// Of two plans with equal value and cost, the one that uses earlier tools more is chosen.
    #[arg(long, value_name = "FILE")]
    pub tools: Option<PathBuf>,
    /// Plan for this task, with the workspace's tools and their past uses.
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    #[command(flatten)]
    pub of_task: PlanTaskArgs,
    /// Credits for all uses together.
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = number)]
    pub budget: f64,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// How to choose and value the tools of a task.
#[derive(Debug, Args)]
pub struct PlanTaskArgs {
    /// Folder with the tools, and with experience.sqlite unless another file is configured.
    #[arg(long, value_name = "DIR", requires = "task")]
    pub workspace: Option<PathBuf>,
    /// File of past uses, instead of the workspace's.
    #[arg(long, value_name = "FILE", requires = "task")]
    pub experience: Option<PathBuf>,
    /// Lowest value of a tool in the plan, 0 to 1; default: the knob `tau`.
    #[arg(long, value_name = "T", requires = "task", allow_negative_numbers = true)]
    pub tau: Option<String>,
    /// How values are estimated; default: the knob `estimate`.
    #[arg(long, requires = "task", value_parser = PossibleValuesParser::new(Estimation::NAMES))]
    pub estimate: Option<String>,
    /// Number of candidate tools; default: the knob `candidates`.
    #[arg(long, value_name = "N", requires = "task", allow_negative_numbers = true)]
    pub candidates: Option<String>,
    /// Ignore past uses of the identical task, as a benchmark must.
    #[arg(long, requires = "task")]
    pub leak_guard: bool,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub enum GraphCommand {
    /// Learn a graph from trajectories (ToolNet, eq. 5).
    Learn {
        /// jsonl: one {"task": TEXT, "tools": [NAME…]} per line; api-bank: dialogues.
        #[arg(long, value_parser = ["jsonl", "api-bank"])]
        format: String,
        /// Files of trajectories.
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// Write the graph to this file.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Import OpenAPI 3, Swagger 2.0 or a Postman collection; each operation becomes a tool.
    Openapi(OpenApiArgs),
    /// Import LiteLLM's price table (model_prices_and_context_window.json).
    Prices {
        /// File of the table.
        file: PathBuf,
        /// Write the prices to this file instead of the configured one.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// The file of past uses.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// File of past uses, instead of the workspace's.
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// The workspace of the file, unless the configuration sets one file for all.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub enum ExperienceCommand {
    /// Add uses from a file of JSON lines.
    ///
    /// One {"query": TEXT, "tool": NAME, "parameters": JSON, "result": TEXT or JSON, "helpful":
    /// true or false} per line, optionally with "at" (a time such as 2026-11-21T12:00:00Z) and
    /// "source".
    Import {
        /// File of JSON lines.
        lines: PathBuf,
        /// Source of uses that name none; default: the name of the file.
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Write all uses as JSON lines.
    Export {
        /// Write to this file instead of standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Delete recorded uses that match all of the given filters.
    #[command(group = ArgGroup::new("which").required(true).multiple(true)
        .args(["older_than", "keep", "tool", "source", "all"]))]
    Prune {
        /// Delete uses older than this many days.
        #[arg(long, value_name = "DAYS", allow_negative_numbers = true, value_parser = whole::<u32>)]
        older_than: Option<u32>,
        /// Keep the N most recent uses of each tool.
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
        keep: Option<u32>,
        /// Delete uses of this tool.
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// Delete uses from this session or import.
        #[arg(long, value_name = "NAME")]
        source: Option<String>,
        /// Delete all uses.
        #[arg(long, conflicts_with_all = ["older_than", "keep", "tool", "source"])]
        all: bool,
        /// Print the number of uses, and delete nothing.
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Embed past queries that have no embedding yet, with the configured model.
    Embed {
        /// Embed at most this many, the latest first; default: all.
        #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<u32>)]
        most: Option<u32>,
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Count uses, how many helped, and different queries, by tool.
    Show {
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        store: StoreArgs,
    },
}

#[derive(Debug, Args)]
pub struct PromptsArgs {
    /// Print only this prompt, such as `actor`.
    pub name: Option<String>,
    /// Folder whose prompts/NAME.md override built-in prompts.
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Write the built-in text to DIR/prompts/NAME.md; existing files are not changed.
    #[arg(long, value_name = "DIR", conflicts_with = "workspace")]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub config: ConfigArgs,
}
