//! The program: its command line, its configuration, and the sessions made from them. The only room
//! that prints.

use toolyard_domain as domain;
use toolyard_engine as engine;
use toolyard_files as files;
use toolyard_model as model;
use toolyard_net as net;
use toolyard_papers as papers;
use toolyard_process as process;
use toolyard_program as program;
use toolyard_reader as reader;
use toolyard_serve as serve;
use toolyard_store as store;
use toolyard_strategy as strategy;
use toolyard_tool as tool;
use toolyard_ui as ui;

pub mod cli;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod encoder;
pub mod init;
pub mod learned;
pub mod outside;
pub mod report;
pub mod sample;
pub mod scenario;
pub mod servers;
pub mod session;
pub mod trial;
pub mod workspace;

use std::sync::{Arc, atomic::AtomicBool};
use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::Parser;

use self::cli::colour::{self, Painted};
use self::cli::compare::BenchCommand;
use self::cli::trouble::Trouble;
use self::cli::{Cli, Command, resume::Resumed, run::RunEnd};
use crate::{files::safe_text::visible, ui::EndReason};

/// Runs the program: arguments → configuration → a session, live or past → the screen or a report.
/// The only place that prints errors and chooses exit codes.
pub fn main() -> ExitCode {
    cli::out::print_panics();
    survive_large_files();
    if std::env::args_os().nth(1).is_some_and(|argument| argument == process::REAPER) {
        return reap();
    }
    if std::env::args_os().nth(1).is_some_and(|argument| argument == program::WORKER) {
        return work();
    }
    if let Some(program) = own_program() {
        process::set_reaper(program);
    }
    let json = wants_json(std::env::args_os());
    let arguments = match cli::order::command_first(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(trouble) => return report(&trouble, json),
    };
    let parsed = match Cli::try_parse_from(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => return refuse(&arguments, error, json),
    };
    for notice in config::ignored_folders() {
        cli::out::warn(&notice);
    }
    let done = parsed.log.start().and_then(|()| {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), "toolyard started");
        obey(parsed)
    });
    let code = done.unwrap_or_else(|trouble| report(&trouble, json));
    if let Some(why) = cli::log::lost() {
        cli::out::warn(&why);
    }
    // Programs that were asked to end get this long, and no longer.
    process::end_all();
    code
}

/// Makes a write beyond the limit of a file's size (`ulimit -f`) an error, instead of the end of the program. A handler is
/// not inherited by programs that are started, as an ignored signal would be.
fn survive_large_files() {
    let seen = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen) {
        tracing::warn!(%error, "a file that grows too large ends the program");
    }
}

/// The file of this program, as it is now: an update while it runs must not bring another reaper.
fn own_program() -> Option<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Some(running) } else { std::env::current_exe().ok() }
}

/// Is the process that starts and ends the programs of another toolyard.
fn reap() -> ExitCode {
    let Err(error) = process::reaper::serve() else { return ExitCode::SUCCESS };
    let text = format!("{} is for toolyard itself, which talks to it: {error}", process::REAPER);
    report(&Trouble::Usage(text), false)
}

/// Is the process that runs programs for another toolyard.
fn work() -> ExitCode {
    let Err(error) = program::serve() else { return ExitCode::SUCCESS };
    let text = format!("{} is for toolyard itself, which talks to it: {error}", program::WORKER);
    report(&Trouble::Usage(text), false)
}

/// Prints what the command line asks for instead of a command, or why it is none.
fn refuse(arguments: &[OsString], error: clap::Error, json: bool) -> ExitCode {
    if !error.use_stderr() {
        // Help and version quote no argument.
        let text = error.render();
        let text = if colour::is_shown() { text.ansi().to_string() } else { text.to_string() };
        let printed = cli::out::print(Painted::own(text));
        return printed.map_or_else(|trouble| report(&trouble, json), |()| ExitCode::SUCCESS);
    }
    // The parser removes what it takes for escape sequences from its text, so it gets their pictures.
    let shown = arguments.iter().map(|word| visible(&word.to_string_lossy()).into_owned());
    let text = Cli::try_parse_from(shown).err().unwrap_or(error).to_string();
    if json {
        let text = text.trim_start_matches("error: ").trim_end();
        return report(&Trouble::Usage(text.to_owned()), json);
    }
    cli::out::tell(text);
    ExitCode::from(2)
}

/// Whether errors go to a script as JSON. This reads the raw arguments, since they may be the
/// error. Arguments after `--` are the user's text.
fn wants_json(arguments: impl IntoIterator<Item = OsString>) -> bool {
    arguments.into_iter().take_while(|argument| argument != "--").any(|option| option == "--json")
}

/// Reports an error: to a person on standard error, to a script as a line of its JSON.
fn report(trouble: &Trouble, json: bool) -> ExitCode {
    tracing::error!(why = trouble.text(), "toolyard failed");
    if json {
        // On a full disk only the other stream is left.
        if cli::out::print_json(&trouble.to_json()).is_err() {
            cli::out::warn(trouble.text());
        }
    } else {
        cli::out::warn(trouble.text());
    }
    ExitCode::from(trouble.exit_code())
}

fn obey(cli: Cli) -> Result<ExitCode, Trouble> {
    match cli.command {
        None => {
            let spec = cli.session.spec(cli.task.as_deref())?;
            return Ok(after_the_screen(cli::live::live(spec)?));
        }
        Some(Command::Demo(args)) => return Ok(after_the_screen(cli::demo::demo(&args)?)),
        Some(Command::Run(args)) => {
            return cli::run::run(&args).map(after_run);
        }
        Some(Command::Resume(args)) => {
            return Ok(match cli::resume::resume(&args)? {
                Resumed::OnScreen(ended) => after_the_screen(ended),
                Resumed::Headless(ended) => after_run(ended),
            });
        }
        Some(Command::Call(args)) => cli::call::call(&args)?,
        Some(Command::Compare(args)) => cli::compare::compare(&args)?,
        Some(Command::Bench(BenchCommand::Papers(args))) => cli::compare::papers(&args)?,
        Some(Command::Attach(args)) => return Ok(after_the_screen(cli::attach::attach(&args)?)),
        Some(Command::Follow(args)) => return Ok(after_the_screen(cli::attach::follow(&args)?)),
        Some(Command::Replay(args)) => return Ok(after_the_screen(cli::past::replay(&args)?)),
        Some(Command::Report(args)) => cli::report::report(&args)?,
        Some(Command::Sessions(args)) => cli::sessions::sessions(&args)?,
        Some(Command::Plan(args)) => cli::plan::plan(&args)?,
        Some(Command::Graph(command)) => cli::graph::graph(&command)?,
        Some(Command::Import(command)) => cli::graph::import(&command)?,
        Some(Command::Experience(command)) => cli::experience::experience(&command)?,
        Some(Command::Probe(args)) => {
            let is_well = cli::probe::probe(&args)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Some(Command::Program(command)) => {
            let is_well = cli::program::program(&command)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
        Some(Command::Cotools(command)) => cli::cotools::cotools(&command)?,
        Some(Command::Retrieval(command)) => cli::cotools::retrieval(&command)?,
        Some(Command::Shot(args)) => cli::past::shot(&args)?,
        Some(Command::Keys(args)) => cli::past::keys(&args)?,
        Some(Command::Prompts(args)) => cli::prompts::prompts(&args)?,
        Some(Command::Completions { shell }) => cli::describe::completions(shell)?,
        Some(Command::Man(args)) => cli::describe::man(&args)?,
        Some(Command::Init(args)) => cli::init::init(&args)?,
        Some(Command::Doctor(args)) => {
            let is_well = cli::doctor::doctor(&args)?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::from(1) });
        }
    }
    Ok(ExitCode::SUCCESS)
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

/// A program ended by a signal reports the signal, as shells expect.
fn after_the_screen(ended: EndReason) -> ExitCode {
    match ended {
        EndReason::ByUser => ExitCode::SUCCESS,
        EndReason::BySignal(signal) => after_signal(signal),
        // What the person went on with has been shown.
        EndReason::For(_) => ExitCode::SUCCESS,
    }
}

/// As a shell reports the end of a program by a signal.
fn after_signal(signal: i32) -> ExitCode {
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_the_user_asks_for_no_json() {
        let json = |line: &str| wants_json(line.split(' ').map(OsString::from));
        assert!(json("toolyard run --json") && json("toolyard run --json -- x"));
        assert!(!json("toolyard -- --json") && !json("toolyard run --task=--json"));
    }
}
