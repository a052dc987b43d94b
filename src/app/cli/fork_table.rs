//! Forks of a watched agent with several models, one after the other, in a table.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use super::beside::{self, SessionRow};
use super::fork_args::ForkArgs;
use super::out::{self, warn};
use super::runtime::runtime;
use super::trouble::Trouble;
use crate::session::spec_of;
use crate::store::journal::folder;

/// Forks with each of these models, as `toolyard fork` does with one. The exit code is 1 if a check fails, or without a check
/// an agent.
///
/// # Errors
/// An option is for one fork only, or a fork does not begin.
pub fn run(args: &ForkArgs, models: &[String]) -> Result<ExitCode, Trouble> {
    if !args.headless || args.own_journal.is_some() || args.report.is_some() {
        let why = "several models: add --headless, and leave out --journal and --report";
        return Err(Trouble::usage(why));
    }
    let mut rows = vec![SessionRow::of_journal("recorded", &args.journal)?];
    let mut are_well = true;
    for model in models {
        warn(&format!("fork with {model}"));
        let journal = free(&args.journal, model);
        let code = fork(model, &journal)?;
        let mut row = SessionRow::of_journal(model, &journal)
            .map_err(|_| Trouble::Failed(format!("the fork with {model} did not begin")))?;
        let own = spec_of(&journal)?.agent.map(|agent| agent.folder);
        row.verified = runtime()?.block_on(args.verify.passes(own.as_deref()))?;
        are_well &= row.verified.unwrap_or(code == Some(0));
        rows.push(row);
    }
    out::print_line(beside::table(&rows))?;
    Ok(if are_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs the fork with this model: the same command line, with one model and without the check. Its output goes to standard
/// error. Returns the exit code; `None`: a signal ended it.
fn fork(model: &str, journal: &Path) -> Result<Option<i32>, Trouble> {
    let mut words = Vec::new();
    let mut given = std::env::args_os().skip(1);
    while let Some(word) = given.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            words.push(word);
            words.extend(given.by_ref());
            break;
        }
        let is_ours = ["--model", "--verify", "--verify-limit"].iter().find_map(|option| {
            let rest = text.strip_prefix(option)?;
            (rest.is_empty() || rest.starts_with('=')).then_some(rest.is_empty())
        });
        match is_ours {
            Some(true) => drop(given.next()),
            Some(false) => {}
            None => words.push(word),
        }
    }
    let at = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let own = ["--model".into(), model.into(), "--journal".into(), journal.as_os_str().to_owned()];
    words.splice(at..at, own);
    let program = std::env::current_exe().map_err(Trouble::failed)?;
    let mut command = Command::new(program);
    let errors = out::errors().try_clone_to_owned().map_err(Trouble::failed)?;
    command.args(words).stdin(Stdio::null()).stdout(errors);
    Ok(command.status().map_err(Trouble::failed)?.code())
}

/// A free name beside this journal for the fork with this model.
fn free(journal: &Path, model: &str) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    let model: String = model.chars().map(plain).collect();
    let stem = format!("{}-{model}", folder::stem(journal));
    let name = |number: u32| match number {
        1 => folder::beside(journal, &stem),
        number => folder::beside(journal, &format!("{stem}-{number}")),
    };
    (1..).map(name).find(|name| !name.exists()).unwrap_or_else(|| journal.to_owned())
}
