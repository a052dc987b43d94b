//! `toolyard completions` and `toolyard man`: the command line in the formats of shells and `man`.

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{out, trouble::Trouble};
use crate::domain::words;
use crate::start::CommandLine;

#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command, such as `run` or `graph learn`.
    pub command: Vec<String>,
}

/// Prints the completions of commands and options for a shell.
pub fn completions<C: CommandLine>(shell: Shell) -> Result<(), Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut C::command(), C::NAME, &mut script);
    out::print(&*String::from_utf8_lossy(&script))
}

/// Prints a manual page in the format of `man`.
pub fn man<C: CommandLine>(args: &ManArgs) -> Result<(), Trouble> {
    let mut page = Vec::new();
    Man::new(named::<C>(&args.command)?).render(&mut page).map_err(Trouble::failed)?;
    out::print(&*String::from_utf8_lossy(&page))
}

/// The command of these words; without words, the program's.
///
/// # Errors
/// There is no such command.
pub fn named<C: CommandLine>(words: &[String]) -> Result<Command, Trouble> {
    let mut command = C::command();
    // Gives the commands below their full names, such as `toolyard-graph-learn`.
    command.build();
    words.iter().try_fold(&command, |above, name| below(above, name)).cloned()
}

fn below<'a>(above: &'a Command, name: &str) -> Result<&'a Command, Trouble> {
    above.find_subcommand(name).ok_or_else(|| {
        let known: Vec<_> = above.get_subcommands().map(Command::get_name).collect();
        let near = words::expected(name, known.into_iter());
        Trouble::Usage(format!("{} has no command {name:?}; {near}", above.get_name()))
    })
}
