//! The program: its command line, its configuration, and the sessions made from them. The only room
//! that prints.

use toolyard_ask as ask;
use toolyard_domain as domain;
use toolyard_engine as engine;
use toolyard_files as files;
use toolyard_mcp as mcp;
use toolyard_model as model;
use toolyard_net as net;
use toolyard_papers as papers;
use toolyard_process as process;
use toolyard_program as program;
use toolyard_reader as reader;
use toolyard_report as report;
use toolyard_serve as serve;
use toolyard_store as store;
use toolyard_tool as tool;
use toolyard_ui as ui;
use toolyard_wire as wire;

pub mod cli;
pub mod compare;
pub mod config;
pub mod doctor;
pub mod encoder;
pub mod fault_search;
pub mod init;
pub mod learned;
#[cfg(feature = "nats")]
pub mod machines;
pub mod runner;
pub mod scenario;
pub mod score;
pub mod servers;
pub mod session;
pub mod shell;
pub mod stage;
pub mod start;
pub mod sweep;
pub mod trial;
pub mod trust_answers;
pub mod workspace;

use std::{ffi::OsString, process::ExitCode};

use clap::Parser;

use self::cli::{Cli, Command, journal_end::JournalEnd, run::RunEnd, watch::WatchEnd};
use self::shell::{log::LogArgs, trouble::Trouble};
use self::start::CommandLine;
use crate::ui::EndReason;
use crate::ui::next::NextSession;

/// Runs the program `toolyard`.
pub fn main() -> ExitCode {
    start::start::<Cli>()
}

impl CommandLine for Cli {
    const NAME: &str = "toolyard";

    fn log(&self) -> &LogArgs {
        &self.log
    }

    fn in_order(arguments: Vec<OsString>) -> Result<Vec<OsString>, Trouble> {
        cli::order::command_first(arguments)
    }

    fn obey(self) -> Result<ExitCode, Trouble> {
        obey(self)
    }
}

fn obey(cli: Cli) -> Result<ExitCode, Trouble> {
    match cli.command {
        None => {
            let mut session = cli.session;
            cli::project::complete(&mut session)?;
            let spec = session.spec(cli.task.as_deref())?;
            return after_the_screen(cli::live::live(spec)?);
        }
        #[cfg(feature = "stage")]
        Some(Command::Demo(args)) => return after_the_screen(cli::demo::demo(&args)?),
        Some(Command::Run(mut args)) => {
            if args.scenario.is_empty() {
                cli::project::complete(&mut args.session)?;
            }
            return cli::run::run(&args).map(after_run);
        }
        Some(Command::Watch(args)) => {
            return match cli::watch::watch(&args)? {
                WatchEnd::Code(code) => Ok(code),
                WatchEnd::Next(next) => after_the_screen(EndReason::For(next)),
            };
        }
        Some(Command::Mcp(args)) => return cli::mcp::mcp(&args),
        Some(Command::Resume(args)) => return after_journal(cli::resume::resume(&args)?),
        Some(Command::Fork(args)) => return after_journal(cli::fork::fork(&args)?),
        Some(Command::Tools(command)) => {
            let is_well = cli::tools::tools(&command)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Some(Command::Compare(args)) => cli::compare::compare(&args)?,
        Some(Command::Sweep(args)) => cli::sweep::sweep(&args)?,
        #[cfg(feature = "nats")]
        Some(Command::Nats(command)) => cli::nats::obey(&command)?,
        Some(Command::SearchFaults(args)) => return cli::search_faults::search_faults(&args),
        Some(Command::Score(args)) => cli::score::score(&args)?,
        Some(Command::Attach(args)) => return after_the_screen(cli::attach::attach(&args)?),
        Some(Command::Follow(args)) => return after_the_screen(cli::attach::follow(&args)?),
        Some(Command::Replay(args)) => return after_the_screen(cli::past::replay(&args)?),
        Some(Command::Ask(args)) => return cli::ask::ask(&args).map(ExitCode::from),
        Some(Command::Report(args)) => cli::report::report(&args)?,
        Some(Command::Sessions(args)) => cli::sessions::sessions(&args)?,
        Some(Command::Journal(command)) => cli::journal::journal(&command)?,
        Some(Command::Trust(args)) => cli::trust::trust(&args)?,
        Some(Command::Plan(args)) => cli::plan::plan(&args)?,
        Some(Command::Graph(command)) => cli::graph::graph(&command)?,
        Some(Command::Import(command)) => cli::graph::import(&command)?,
        Some(Command::Experience(command)) => cli::experience::experience(&command)?,
        Some(Command::Probe(args)) => {
            let is_well = cli::probe::probe(&args)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Some(Command::Cotools(command)) => shell::cotools::cotools(&command)?,
        Some(Command::Shot(args)) => cli::past::shot(&args)?,
        Some(Command::Keys(args)) => cli::past::keys(&args)?,
        Some(Command::Prompts(args)) => cli::prompts::prompts(&args)?,
        Some(Command::Completions { shell }) => shell::describe::completions::<Cli>(shell)?,
        Some(Command::Man(args)) => shell::describe::man::<Cli>(&args)?,
        Some(Command::Help(args)) => cli::help::help(&args)?,
        Some(Command::Init(args)) => cli::init::init(&args)?,
        Some(Command::Doctor(mut args)) => {
            args.config.config = cli::project::config(args.config.config)?;
            let is_well = cli::doctor::doctor(&args)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn after_journal(ended: JournalEnd) -> Result<ExitCode, Trouble> {
    match ended {
        JournalEnd::OnScreen(ended) => after_the_screen(ended),
        JournalEnd::Headless(ended) => Ok(after_run(ended)),
        JournalEnd::Agent(code) => Ok(code),
    }
}

fn after_run(ended: RunEnd) -> ExitCode {
    match ended {
        RunEnd::Answered | RunEnd::AsExpected => ExitCode::SUCCESS,
        RunEnd::NotAnswered | RunEnd::NotAsExpected => ExitCode::from(1),
        RunEnd::OutOfDollars => ExitCode::from(3),
        RunEnd::ModelUnusable => ExitCode::from(4),
        RunEnd::BySignal(signal) => after_signal(signal),
    }
}

/// A program ended by a signal reports the signal, as shells expect. A watched session that was chosen on the screen runs as
/// one of a command line does.
fn after_the_screen(ended: EndReason) -> Result<ExitCode, Trouble> {
    match ended {
        EndReason::BySignal(signal) => Ok(after_signal(signal)),
        EndReason::For(NextSession::Watch(words)) => {
            let words = ["toolyard", "watch"].into_iter().map(str::to_owned).chain(words);
            obey(Cli::try_parse_from(words).map_err(Trouble::usage)?)
        }
        EndReason::For(next) => after_the_screen(cli::next::show(next)?),
        EndReason::ByUser => Ok(ExitCode::SUCCESS),
    }
}

/// The exit code that a shell reports for a signal.
fn after_signal(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
}
