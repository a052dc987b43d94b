//! The entry for asking a recorded model call again: options of `toolyard ask`.

use super::entry_popup::{Accepted, EntryKind, EntryLook, EntryPopup};
use super::{PopupKeys, Reply, entry::TextEntry};
use crate::action::{Action, KeyLayer};
use crate::domain::{EffectId, ModelCallState};
use crate::own::{OwnCommand, Selection, Shows};
use crate::request::{ScreenRequest, World};
use crate::{cx::Cx, keymap::Hint, view::View};

/// Columns and rows of the box.
const SIZE: (usize, usize) = (76, 8);
const NOTE: &str =
    "--model a,b asks other models · --set \"prompt=TEXT\" changes the request · no tool is called";

/// The entry for the options.
pub type AskEntry = EntryPopup<AskedCall>;

/// A recorded model call.
#[derive(Debug)]
pub struct AskedCall(EffectId);

impl AskEntry {
    pub fn of(call: &ModelCallState) -> Self {
        let options = format!("--times 5 --model {}", shell_words::quote(call.model.as_str()));
        Self { kind: AskedCall(call.id), entry: TextEntry::line(&options) }
    }
}

impl EntryKind for AskedCall {
    fn keys(&self) -> PopupKeys {
        const ASK: &[Hint] = &[(&[Action::Accept], "ask"), (&[Action::Leave], "leave")];
        (KeyLayer::Form, ASK)
    }

    fn accept(&mut self, entry: &TextEntry, _: &World<'_>, _: &mut View) -> Accepted {
        let options = shell_words::split(&entry.text())
            .map_err(|error| format!("not options of a command: {error}"))?;
        let program = std::env::current_exe()
            .map_err(|error| format!("where this program is cannot be told: {error}"))?;
        let words = [program.to_string_lossy().into_owned(), "ask".to_owned()];
        let words: Vec<_> =
            words.into_iter().map(|word| shell_words::quote(&word).into_owned()).collect();
        let run = format!(
            "{} {{journal}} --call {} {}",
            words.join(" "),
            self.0,
            shell_words::join(options)
        );
        let name = format!("ask call {}", self.0);
        let command = OwnCommand { name, run, shows: Shows::Popup, ..OwnCommand::default() };
        let selection = Selection {
            kind: "model-call",
            name: self.0.to_string(),
            text: String::new(),
            json: "null".to_owned(),
        };
        Ok(Reply::Done(vec![ScreenRequest::RunOwn(Box::new((command, selection)))]))
    }

    fn look(&self, _: &str, _: &Cx<'_>) -> EntryLook<'_> {
        EntryLook {
            title: format!("Ask call {} again", self.0).into(),
            size: SIZE,
            note: NOTE.into(),
        }
    }
}
