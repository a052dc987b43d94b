//! The help of the command line: short at first, and whole if all of it is asked for.

use clap::{Command, CommandFactory};
use toolyard::app::cli::Cli;

use crate::program::Home;

/// The long names of the options in lines of help.
fn options(lines: &str) -> Vec<&str> {
    let lines = lines.lines().filter(|line| line.trim_start().starts_with('-'));
    let names = lines.filter_map(|line| line.split_once("--"));
    names.filter_map(|(_, name)| name.split([' ', ',']).next()).collect()
}

/// The lines from this title on, up to the next blank line.
fn below<'a>(text: &'a str, title: &str) -> &'a str {
    let at = text.find(&format!("\n{title}:\n")).unwrap_or_else(|| panic!("{title}: {text}"));
    let rest = &text[at + title.len() + 3..];
    rest.split("\n\n").next().unwrap()
}

#[test]
fn the_first_help_is_short_and_names_the_way_to_the_rest() {
    let home = Home::new();
    let first = home.succeed(&["--help"]);
    let (lines, options) = (first.lines().count(), options(below(&first, "Options")).len());
    println!("toolyard --help: {lines} lines, {options} options");
    assert!(lines <= 60 && options <= 25, "{lines} lines, {options} options:\n{first}");
    assert!(first.contains("`toolyard help --all` lists all commands and options."), "{first}");
    let commands = below(&first, "Commands");
    assert_eq!(commands.lines().count(), 10, "{first}");
    let watch = "Run your agent and watch its model and tool calls; your code does not change";
    assert!(commands.lines().next().unwrap().ends_with(watch), "{first}");
    for other in [&["-h"][..], &["help"], &["--seed", "3", "--help"], &["Why?", "--help"]] {
        assert_eq!(home.succeed(other), first, "{other:?}");
    }
}

#[test]
fn all_commands_and_options_are_in_the_help_of_all() {
    let home = Home::new();
    let all = home.succeed(&["help", "--all"]);
    let cli = Cli::command();
    for command in cli.get_subcommands() {
        let line = format!("\n  {:<11}  {}\n", command.get_name(), command.get_about().unwrap());
        assert_eq!(all.matches(&line).count(), 1, "{line}");
    }
    let listed = options(below(&all, "Options"));
    for option in cli.get_arguments().filter_map(|argument| argument.get_long()) {
        assert!(listed.contains(&option), "--{option} is missing:\n{all}");
    }
    let run = home.succeed(&["help", "run"]);
    assert_eq!(run, home.succeed(&["run", "--help"]));
    for option in listed.iter().filter(|option| **option != "version") {
        assert!(run.contains(&format!("--{option}")), "run lacks --{option}: {run}");
    }
    let call = home.succeed(&["tools", "call", "--help"]);
    assert_eq!(home.succeed(&["tools", "help", "call"]), call);
}

/// Every command, argument and option has a short line that speaks of the reader's agent.
#[test]
fn each_line_of_help_is_short_and_speaks_of_your_agent() {
    fn look(command: &Command, wrong: &mut Vec<String>) {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let long = command.get_long_about().map(ToString::to_string).unwrap_or_default();
        let mut lines = vec![(name.to_owned(), about, long)];
        lines.extend(command.get_arguments().map(|it| {
            let [help, long] = [it.get_help(), it.get_long_help()]
                .map(|text| text.map(ToString::to_string).unwrap_or_default());
            (format!("{name} {}", it.get_id()), help, long)
        }));
        for (place, line, long) in lines {
            let is_long = line.chars().count() > 100;
            let is_foreign = ["foreign", "somebody else"]
                .iter()
                .any(|word| (line.clone() + &long).contains(word));
            if is_long || is_foreign {
                wrong.push(format!("{place}: {line}"));
            }
        }
        // The options of a comparison are those of papers.
        let below = command.get_subcommands().filter(|below| below.get_name() != "compare");
        below.for_each(|command| look(command, wrong));
    }
    let mut wrong = Vec::new();
    look(&Cli::command(), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
