//! `toolyard help`: ten commands and the options that most people need, or all of them.

use std::fmt::Write;

use clap::{Args, Command};

use super::{Cli, colour::Painted, describe, out, trouble::Trouble};

/// Arguments of `toolyard help`.
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// List all commands and options.
    #[arg(long, conflicts_with = "command")]
    pub all: bool,
    /// A command, such as `run` or `graph learn`.
    pub command: Vec<String>,
}

/// A title, and the commands below it.
type CommandGroup = (&'static str, &'static [&'static str]);

/// The commands that `toolyard --help` lists.
const FIRST: CommandGroup = (
    "Commands",
    &["watch", "run", "demo", "init", "replay", "sessions", "report", "resume", "tools", "doctor"],
);

/// All commands, as `toolyard help --all` lists them.
const ALL: &[CommandGroup] = &[
    ("Your agent", &["watch", "mcp", "attach"]),
    ("Agents of toolyard", &["run", "search-faults", "score", "sweep", "demo", "init", "prompts"]),
    #[cfg(feature = "nats")]
    ("Many machines", &["worker", "jobs"]),
    (
        "Records",
        &["replay", "sessions", "report", "resume", "fork", "follow", "ask", "journal", "shot"],
    ),
    ("Tools", &["tools", "import"]),
    ("Papers", &["compare", "plan", "graph", "experience", "probe", "cotools"]),
    ("Program", &["doctor", "trust", "keys", "completions", "man", "help"]),
];

/// Prints the help of a command, or of the program.
///
/// # Errors
/// There is no such command, or the help cannot be printed.
pub fn help(args: &HelpArgs) -> Result<(), Trouble> {
    let mut command = describe::named::<Cli>(&args.command)?;
    if !args.command.is_empty() {
        return out::print(Painted::from(&command.render_long_help()));
    }
    let form = match args.all {
        true => {
            form(&command, ALL, "`toolyard COMMAND --help` explains a command and its options.")
        }
        false => form(&command, &[FIRST], "`toolyard help --all` lists all commands and options."),
    };
    let mut command = command.help_template(form).mut_args(|arg| match arg.get_id().as_str() {
        "help" => arg.help("Print help"),
        _ if args.all => arg.hide_short_help(false),
        _ => arg,
    });
    out::print(Painted::from(&command.render_help()))
}

/// A template of help: a line for each of these commands, the options, and where to find more.
fn form(command: &Command, groups: &[CommandGroup], more: &str) -> String {
    let head = command.get_styles().get_header();
    let mut form = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in groups {
        let _ = writeln!(form, "\n{head}{title}:{head:#}");
        for command in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let (name, about) = (command.get_name(), command.get_about());
            let _ = writeln!(form, "  {name:<11}  {}", about.cloned().unwrap_or_default());
        }
    }
    let _ = write!(form, "\n{more}\n\n{head}Arguments:{head:#}\n{{positionals}}\n\n");
    let _ = write!(form, "{head}Options:{head:#}\n{{options}}{{after-help}}");
    form
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_command_is_in_one_group_of_the_help() {
        let cli = Cli::command();
        let mut known: Vec<_> = cli.get_subcommands().map(Command::get_name).collect();
        let mut listed: Vec<_> = ALL.iter().flat_map(|(_, names)| *names).copied().collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
        assert!(FIRST.1.iter().all(|name| known.contains(name)));
    }
}
