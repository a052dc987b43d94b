//! Commands that are in the laboratory, which is a program of its own.

use super::trouble::Trouble;

/// The commands of the laboratory; without a second word, all commands below the first.
const COMMANDS: [(&str, Option<&str>); 6] = [
    ("bench", None),
    ("retrieval", None),
    ("cotools", Some("train")),
    ("cotools", Some("eval")),
    ("import", Some("api-bank")),
    ("import", Some("qa")),
];

/// Says where a command of the laboratory is; `None`: it has no such command.
pub fn elsewhere(word: &str, inner: Option<&str>) -> Option<Trouble> {
    let (word, inner) = COMMANDS
        .into_iter()
        .find(|(own, below)| *own == word && (below.is_none() || *below == inner))?;
    let command = [Some(word), inner].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(Trouble::Usage(format!(
        "`toolyard {command}` is a command of the laboratory now; write: toolyard-lab {command}. In the sources, \
         `cargo install --path src/lab` installs it and `cargo run --release --bin toolyard-lab` runs it"
    )))
}
