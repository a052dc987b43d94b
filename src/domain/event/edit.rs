//! Interventions of a person in a call in flight.

use super::{By, EffectRef, family::family};
use crate::edit::Edit;

family! {
    /// Interventions of a person in a call in flight.
    pub enum EditEvent {
        /// A person changed the input of a call, or its outcome.
        CallEdited {
            effect: EffectRef,
            edit: Box<Edit>,
            was: Box<Edit>,
            /// For arguments: the model remembers the edited call, not its own.
            shown: bool,
            /// For a result: the model of a watched agent has read it, and reads the new text from its next request on.
            #[serde(default, skip_serializing_if = "std::ops::Not::not")]
            past: bool,
            by: By,
        },
        /// A person answers in place of the model or the tool.
        CallAnswered {
            effect: EffectRef,
            text: String,
            by: By,
        },
        /// The call is made again, and the agent sees only the new outcome.
        CallRepeated {
            effect: EffectRef,
            by: By,
        },
    }
}
