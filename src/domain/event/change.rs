//! Changes of settings by a person.

use super::{By, family::family};
use crate::finite::Finite;
use crate::id::{ModelName, ToolName};
use crate::{chat::Role, knob::Knob, strategy::Strategy};

family! {
    /// Changes of settings by a person.
    pub enum ChangeEvent {
        KnobTurned {
            knob: Knob,
            value: Finite,
            was: Finite,
            by: By,
        },
        RoleBound {
            role: Role,
            model: ModelName,
            was: ModelName,
            by: By,
        },
        StrategyChosen {
            strategy: Strategy,
            was: Strategy,
            by: By,
        },
        /// The seed of all randomness from here on.
        SeedChosen {
            seed: u64,
            was: u64,
            by: By,
        },
        /// A tool was taken off every menu, or put back.
        ToolSwitched {
            tool: ToolName,
            on: bool,
            by: By,
        },
    }
}
