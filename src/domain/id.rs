//! Names and numbers of things. They are newtypes, so that a task's number is never taken for a
//! call's. They are not indexes: a lookup by id stays right when a list is sorted or cut.

use std::{borrow::Borrow, fmt, sync::Arc};

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $id(Arc<str>);

        impl $id {
            pub fn new(name: impl AsRef<str>) -> Self {
                Self(Arc::from(name.as_ref()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $id {
            fn from(name: &str) -> Self {
                Self::new(name)
            }
        }

        impl From<String> for $id {
            fn from(name: String) -> Self {
                Self(Arc::from(name))
            }
        }

        impl Borrow<str> for $id {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }
    };
}

macro_rules! number {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $id(pub u32);

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

name!(
    /// A tool, as the agent and the user call it. Also the two special nodes of the graph,
    /// [`ToolName::START`] and [`ToolName::END`].
    ToolName
);
name!(
    /// A configured model (the key in the configuration, not the endpoint's own name for it).
    ModelName
);
number!(
    /// A task of this session, counted from 1.
    TaskId
);
number!(
    /// A run of this session: one agent at work, counted from 1.
    RunId
);
number!(
    /// An effect of this session: a model call, a tool call or an embedding, counted from 1 over all of them.
    EffectId
);
number!(
    /// A fault of this session, armed or not, counted from 1.
    FaultId
);
number!(
    /// A breakpoint of this session, counted from 1; the number of a deleted one is not used again.
    BreakpointId
);

impl RunId {
    /// The run that every session has.
    pub const FIRST: RunId = RunId(1);

    pub fn is_first(&self) -> bool {
        *self == RunId::FIRST
    }

    pub fn first() -> Self {
        RunId::FIRST
    }
}

impl ToolName {
    /// The node before the first call (ToolNet, section 3).
    pub const START: &'static str = "start";
    /// The node after the last call; a menu shows it as `Finish`.
    pub const END: &'static str = "end";

    pub fn start() -> Self {
        Self::new(Self::START)
    }

    pub fn end() -> Self {
        Self::new(Self::END)
    }

    /// Whether this is `start` or `end`; no tool may have these names.
    pub fn is_special(&self) -> bool {
        matches!(self.as_str(), Self::START | Self::END)
    }
}
