//! Commands that are in the laboratory, which is a program of its own.

use super::trouble::Trouble;

/// The commands of the laboratory; without a second word, all commands below the first.
const COMMANDS: [(&str, Option<&str>); 17] = [
    ("bench", None),
    ("compare", Some("atc")),
    ("compare", Some("btp")),
    ("compare", Some("budgets")),
    ("compare", Some("pairs")),
    ("compare", Some("taus")),
    ("compare", Some("toolnet")),
    ("cotools", Some("eval")),
    ("cotools", Some("judge")),
    ("cotools", Some("tools")),
    ("cotools", Some("train")),
    ("graph", Some("show")),
    ("graph", Some("weights")),
    ("import", Some("api-bank")),
    ("import", Some("qa")),
    ("program", None),
    ("retrieval", None),
];

/// Says where a command of the laboratory is; `None`: it has no such command.
pub fn elsewhere(word: &str, inner: Option<&str>) -> Option<Trouble> {
    let (word, inner) = COMMANDS
        .into_iter()
        .find(|(own, below)| *own == word && (below.is_none() || *below == inner))?;
    let command = [Some(word), inner].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(Trouble::Usage(format!(
        "`toolyard {command}` is a command of the laboratory now; write: toolyard-lab {command}. In the sources, \
         `cargo install --path lab` installs it"
    )))
}
