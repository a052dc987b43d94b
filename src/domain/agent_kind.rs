//! Kinds of agents in a session, and the matters that a person controls only for toolyard's own agents.

use std::{fmt, str::FromStr};

use serde::{Serialize, Serializer};

use crate::knob::Knob;
use crate::strategy::Strategy;

/// Kind of agent that acts in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Acting {
    /// An agent of toolyard.
    Own(Strategy),
    /// Watched agents, whose calls are watched.
    Foreign,
}

impl Acting {
    /// The word shown for watched agents in place of a strategy.
    pub const WATCHED: &str = "watched";
}

impl From<Strategy> for Acting {
    fn from(strategy: Strategy) -> Self {
        Acting::Own(strategy)
    }
}

impl fmt::Display for Acting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Acting::Own(strategy) => strategy.fmt(f),
            Acting::Foreign => f.write_str(Self::WATCHED),
        }
    }
}

impl Serialize for Acting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Acting {
    type Err = <Strategy as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == Self::WATCHED { Ok(Acting::Foreign) } else { text.parse().map(Acting::Own) }
    }
}

/// A matter that a person controls only for toolyard's own agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    Strategy,
    /// The models of roles.
    Models,
    Knob(Knob),
    /// The tools that are offered and planned, and their classes.
    Menus,
    /// Tool calls that the agent has not requested.
    Tools,
    /// The queue of tasks, and the end of a task.
    Tasks,
    /// Copies of the session that run beside it.
    Copies,
}
