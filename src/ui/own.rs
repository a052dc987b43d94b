//! Commands of the user: a key, and a shell line about the selected thing.

use strum::{IntoStaticStr, VariantArray};

use super::action::Action;

/// A command of the user, as `[ui.commands.NAME]` configures it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCommand {
    pub name: String,
    /// Description of the command, for people.
    pub doc: String,
    /// Key of the command; a command without one is chosen in a list.
    pub key: Option<String>,
    /// A line for `sh`, with the names of [`PLACEHOLDERS`] in braces.
    pub run: String,
    pub shows: Shows,
}

/// Where the output of a command goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Shows {
    /// A popup, when the command has ended.
    #[default]
    Popup,
    /// The command has the terminal until it ends.
    Terminal,
    Nothing,
}

/// Placeholders that a command may have in braces, each with its variable: files with the selected thing as text and as
/// JSON, its name, its kind, and the journal.
pub const PLACEHOLDERS: [(&str, &str); 5] = [
    ("{text}", "TOOLYARD_TEXT"),
    ("{json}", "TOOLYARD_JSON"),
    ("{name}", "TOOLYARD_NAME"),
    ("{kind}", "TOOLYARD_KIND"),
    ("{journal}", "TOOLYARD_JOURNAL"),
];

/// The selected thing, in the forms that a command takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// `tool-call`, `task` and so on.
    pub kind: &'static str,
    /// A tool's name, or a number.
    pub name: String,
    /// The text that the screen shows.
    pub text: String,
    pub json: String,
}

impl OwnCommand {
    /// The line for the shell. Placeholders become variables, so that the shell never parses text of a model or a tool.
    pub fn line(&self) -> String {
        PLACEHOLDERS.iter().fold(self.run.clone(), |line, (placeholder, variable)| {
            line.replace(placeholder, &format!("\"${variable}\""))
        })
    }
}

/// The action of the command with this place.
pub fn action(at: usize) -> Action {
    Action::Own(u8::try_from(at).unwrap_or(u8::MAX))
}
