//! Code around the commands, common to all programs of these crates: arguments, log, errors and exit codes. A program
//! may also run as a helper process instead of a command.

use std::sync::{Arc, atomic::AtomicBool};
use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use clap::{Parser, error::ErrorKind};
use rustix::process::{Pid, Resource, Rlimit, getppid, getrlimit, setrlimit};
#[cfg(target_os = "linux")]
use rustix::process::{Signal, set_parent_process_death_signal};

use crate::cli::version::Version;
use crate::shell::colour::Painted;
use crate::shell::log::{self, LogArgs};
use crate::shell::{out, trouble::Trouble};
use crate::{config, files::safe_text::visible, process, program};

/// The command line of a program, and its execution.
pub trait CommandLine: Parser {
    /// Name of the program, as users write it.
    const NAME: &str;

    /// Returns the arguments about the log.
    fn log(&self) -> &LogArgs;

    /// The arguments in the order that the parser expects.
    ///
    /// # Errors
    /// The first word is not a command.
    fn in_order(arguments: Vec<OsString>) -> Result<Vec<OsString>, Trouble> {
        Ok(arguments)
    }

    /// Runs the command, and returns the exit code.
    ///
    /// # Errors
    /// The arguments or their files are wrong, or the command failed.
    fn obey(self) -> Result<ExitCode, Trouble>;
}

/// Runs a program: arguments → configuration → a session, live or past → the screen or a report.
/// The only place that prints errors and chooses exit codes.
pub fn start<C: CommandLine>() -> ExitCode {
    out::print_panics();
    survive_large_files();
    leave_no_core();
    if std::env::args_os().nth(1).is_some_and(|argument| argument == process::REAPER) {
        return reap();
    }
    if std::env::args_os().nth(1).is_some_and(|argument| argument == program::WORKER) {
        return work();
    }
    if outlives_launcher() {
        return ExitCode::FAILURE;
    }
    process::reaper::use_huge_pages(false);
    if let Some(program) = own_program() {
        process::set_reaper(program);
    }
    let json = wants_json(std::env::args_os());
    let arguments = match C::in_order(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(trouble) => return report(&trouble, json),
    };
    let parsed = match C::try_parse_from(&arguments) {
        Ok(parsed) => parsed,
        Err(error) => return refuse::<C>(&arguments, error, json),
    };
    for notice in config::ignored_folders() {
        out::warn(&notice);
    }
    let done = parsed.log().start().and_then(|()| {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), "{} started", C::NAME);
        parsed.obey()
    });
    let code = done.unwrap_or_else(|trouble| report(&trouble, json));
    if let Some(why) = log::lost() {
        out::warn(&why);
    }
    // Programs that were asked to end get this long and no longer.
    process::end_all();
    code
}

/// Has the system write no core file of this process or its programs: their memory has keys. A program that wants one
/// can raise the limit again.
fn leave_no_core() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Core);
    // Lowering a limit never fails.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
}

/// Has the system end this program when the launcher of its npm package is killed, which cannot end it itself. Only Linux
/// offers this. Returns whether the launcher is gone already.
fn outlives_launcher() -> bool {
    let launcher = std::env::var("TOOLYARD_LAUNCHER").ok().and_then(|number| number.parse().ok());
    let is_there = || launcher.is_some() && getppid().map(Pid::as_raw_pid) == launcher;
    if !is_there() {
        return false;
    }
    #[cfg(target_os = "linux")]
    if let Err(error) = set_parent_process_death_signal(Some(Signal::TERM)) {
        tracing::warn!(%error, "this program may outlive its launcher");
    }
    !is_there()
}

/// Turns a write beyond the limit of a file's size (`ulimit -f`) into an error, instead of the end of the program.
/// Unlike an ignored signal, a handler is not inherited by started programs.
fn survive_large_files() {
    let seen = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen) {
        tracing::warn!(%error, "a file that grows too large ends the program");
    }
}

/// The running file of this program: an update meanwhile must not bring another reaper.
fn own_program() -> Option<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Some(running) } else { std::env::current_exe().ok() }
}

/// Runs as the process that starts and ends the programs of another toolyard.
fn reap() -> ExitCode {
    let Err(error) = process::reaper::serve() else { return ExitCode::SUCCESS };
    let text = format!("{} is for toolyard itself, which talks to it: {error}", process::REAPER);
    report(&Trouble::Usage(text), false)
}

/// Runs as the process that runs programs for another toolyard.
fn work() -> ExitCode {
    let Err(error) = program::serve() else { return ExitCode::SUCCESS };
    let text = format!("{} is for toolyard itself, which talks to it: {error}", program::WORKER);
    report(&Trouble::Usage(text), false)
}

/// Prints help or version if requested, the version with --json as an object, else the error in the arguments.
fn refuse<C: CommandLine>(arguments: &[OsString], error: clap::Error, json: bool) -> ExitCode {
    if json && error.kind() == ErrorKind::DisplayVersion {
        let printed = out::print_pretty(&Version::of(C::NAME));
        return printed.map_or_else(|trouble| report(&trouble, json), |()| ExitCode::SUCCESS);
    }
    if !error.use_stderr() {
        let printed = out::print(Painted::from(&error.render()));
        return printed.map_or_else(|trouble| report(&trouble, json), |()| ExitCode::SUCCESS);
    }
    // The parser removes apparent escape sequences from its text, so it gets their pictures.
    let shown = arguments.iter().map(|word| visible(&word.to_string_lossy()).into_owned());
    let text = C::try_parse_from(shown).err().unwrap_or(error).to_string();
    if json {
        let text = text.trim_start_matches("error: ").trim_end();
        return report(&Trouble::Usage(text.to_owned()), json);
    }
    out::tell(text);
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
        if out::print_json(&trouble.to_json()).is_err() {
            out::warn(trouble.text());
        }
    } else {
        out::warn(trouble.text());
    }
    ExitCode::from(trouble.exit_code())
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
