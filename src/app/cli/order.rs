//! The order of the arguments: options may come before the command, and a word that looks like a command
//! is not taken for a task.

use std::ffi::OsString;

use clap::{Command, CommandFactory};

use super::{Cli, laboratory, trouble::Trouble};

/// Longest command name for which only one typo is accepted.
const SHORT: usize = 5;

/// The arguments with the command first: `toolyard --config X doctor` becomes
/// `toolyard doctor --config X`. Without a command, a request for help becomes `toolyard help`, and other arguments stay as
/// they are.
///
/// # Errors
/// The first word is not a command, but looks like one.
pub fn command_first(mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Trouble> {
    #[cfg(not(feature = "nats"))]
    if arguments.iter().skip(1).take_while(|it| *it != "--").any(|it| it == "--nats") {
        let text = "this toolyard has no sessions on other machines: build it with `cargo install --path . --features nats`";
        return Err(Trouble::Usage(text.to_owned()));
    }
    let mut cli = Cli::command();
    cli.build();
    let Some(at) = first_word(&cli, &arguments) else { return Ok(or_help(arguments)) };
    let Some(word) = arguments[at].to_str() else { return Ok(or_help(arguments)) };
    let inner = arguments.get(at + 1).and_then(|next| next.to_str());
    if let Some(trouble) = laboratory::elsewhere(word, inner) {
        return Err(trouble);
    }
    let Some(command) = cli.find_subcommand(word) else {
        if word == "call" {
            let text = "`toolyard call` is now `toolyard tools call`";
            return Err(Trouble::Usage(text.to_owned()));
        }
        let meant = match nearest(&cli, word) {
            Some(name) => format!("did you mean `{name}`?"),
            None if is_name(word) => "`toolyard --help` lists the commands.".to_owned(),
            None => return Ok(or_help(arguments)),
        };
        return Err(Trouble::Usage(format!(
            "unknown command `{word}`; {meant} To give the agent this task, write: toolyard -- {word}"
        )));
    };
    if inner == Some("help") && command.has_subcommands() {
        arguments.swap(at, at + 1);
        arguments[1..=at].rotate_left(at - 1);
        return Ok(arguments);
    }
    let is_nested = inner.is_some_and(|next| command.find_subcommand(next).is_some());
    let end = if is_nested { at + 2 } else { at + 1 };
    arguments[1..end].rotate_left(at - 1);
    Ok(arguments)
}

/// The arguments, or `toolyard help` if they have an option for it.
fn or_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    if options.any(|option| option == "--help" || option == "-h") {
        arguments.truncate(1);
        arguments.push("help".into());
    }
    arguments
}

/// The index of the first argument that is neither an option nor the value of one.
fn first_word(cli: &Command, arguments: &[OsString]) -> Option<usize> {
    let takes_value = |name: &str| {
        let option = cli.get_arguments().find(|arg| arg.get_long() == Some(name));
        option.is_some_and(|arg| arg.get_action().takes_values())
    };
    let mut at = 1;
    loop {
        let argument = arguments.get(at)?.to_string_lossy();
        if argument == "--" {
            return None;
        }
        let Some(option) = argument.strip_prefix("--") else {
            return (!argument.starts_with('-')).then_some(at);
        };
        at += if !option.contains('=') && takes_value(option) { 2 } else { 1 };
    }
}

/// Whether a word could be the name of a command: a task has more words, a capital letter or a mark at its end. A
/// command of another version or program must not start a session that costs money.
fn is_name(word: &str) -> bool {
    let is_of_name =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(is_of_name)
}

/// The command that a word is most likely a typo of.
fn nearest<'c>(cli: &'c Command, word: &str) -> Option<&'c str> {
    let names = cli.get_subcommands().map(Command::get_name);
    let typos = names.map(|name| (strsim::damerau_levenshtein(word, name), name));
    let near = typos.filter(|(typos, name)| *typos <= if name.len() > SHORT { 2 } else { 1 });
    near.min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(line: &str) -> Result<String, String> {
        let arguments = line.split(' ').map(OsString::from).collect();
        let sorted = command_first(arguments).map_err(|trouble| trouble.text().to_owned())?;
        Ok(sorted.join(" ".as_ref()).into_string().unwrap())
    }

    #[test]
    fn options_move_behind_the_command() {
        for (line, right) in [
            ("t --config c doctor --json", "t doctor --config c --json"),
            ("t --seed=3 --fresh run --json", "t run --seed=3 --fresh --json"),
            ("t --log l graph learn g", "t graph learn --log l g"),
            ("t run --task run", "t run --task run"),
            ("t --tasks run", "t --tasks run"),
            ("t --seed 3 -- run", "t --seed 3 -- run"),
            ("t -- hello", "t -- hello"),
            ("t --seed 3 --help", "t help"),
            ("t Why? -h", "t help"),
            ("t run --help", "t run --help"),
            ("t -- --help", "t -- --help"),
            ("t --log l graph help learn", "t help --log l graph learn"),
            ("t", "t"),
        ] {
            assert_eq!(sorted(line), Ok(right.to_owned()), "{line}");
        }
    }

    #[test]
    fn a_word_that_looks_like_a_command_is_not_a_task() {
        for (word, command) in [
            ("rnu", "run"),
            ("runn", "run"),
            ("docter", "doctor"),
            ("comprae", "compare"),
            ("hlep", "help"),
        ] {
            let why = sorted(&format!("t --fresh {word}")).unwrap_err();
            assert!(why.contains(&format!("did you mean `{command}`?")), "{why}");
        }
        for word in ["serve", "list-tools", "explain"] {
            let why = sorted(&format!("t --fresh {word}")).unwrap_err();
            let says = format!(
                "toolyard --help` lists the commands. To give the agent this task, write: toolyard -- {word}"
            );
            assert!(why.contains(&says), "{why}");
        }
        for (line, there) in [
            ("bench papers", "toolyard-lab bench."),
            ("cotools train question", "toolyard-lab cotools train."),
            ("import qa x.csv", "toolyard-lab import qa."),
            ("compare btp", "toolyard-lab compare btp."),
            ("program run p.py", "toolyard-lab program."),
        ] {
            let why = sorted(&format!("t --fresh {line}")).unwrap_err();
            assert!(why.contains(there), "{why}");
        }
        assert!(sorted("t cotools encode").is_ok());
        assert!(sorted("t --fresh call calculator").unwrap_err().contains("toolyard tools call"));
        for task in ["Why?", "man", "Explain", "17*23", "weather?", "天気"] {
            assert!(sorted(&format!("t {task}")).is_ok(), "{task}");
        }
    }
}
