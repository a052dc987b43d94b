//! What shells and `man` are told of the command line names every command.

use clap::CommandFactory;
use toolyard::app::cli::Cli;

use crate::program::Home;

/// The names of all commands.
fn commands() -> Vec<String> {
    let names = Cli::command().get_subcommands().map(|one| one.get_name().to_owned()).collect();
    assert!(Vec::len(&names) > 10, "{names:?}");
    names
}

#[test]
fn every_shell_completes_every_command() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = home.succeed(&["completions", shell]);
        for command in commands() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        assert!(script.contains("tasks-limit"), "{shell} knows no option of run");
    }
    let ran = home.run(&["completions", "tcsh"]);
    assert!(ran.code == 2 && ran.err.contains("powershell"), "{ran:?}");
}

#[test]
fn the_manual_page_names_every_command_and_each_has_its_own() {
    let home = Home::new();
    let page = home.succeed(&["man"]);
    assert!(page.contains(".TH toolyard 1"), "{page}");
    for command in commands() {
        let escaped = command.replace('-', "\\-");
        let name = format!("toolyard\\-{escaped}(1)");
        assert!(page.contains(&name), "{name} is not in the page");
        let own = home.succeed(&["man", &command]);
        assert!(own.contains(&format!("toolyard\\-{escaped}")), "{own}");
    }
    let below = home.succeed(&["man", "graph", "learn"]);
    assert!(
        below.contains("toolyard\\-graph\\-learn") && below.contains("trajectories"),
        "{below}"
    );
}

#[test]
fn a_page_of_a_command_that_there_is_not_names_those_that_there_are() {
    let ran = Home::new().run(&["man", "rum"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("toolyard has no command \"rum\"") && ran.err.contains("run"),
        "{ran:?}"
    );
    // An option before a command would make a task of it.
    let ran = Home::new().run(&["--seed", "3", "man"]);
    assert!(ran.code == 2 && ran.err.contains("toolyard man"), "{ran:?}");
}
