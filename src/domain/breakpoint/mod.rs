//! Breakpoints: a place, and the conditions under which the agent stops there. Pure: the engine asks which ones match,
//! and holds the lanes.

mod grammar;
mod hits;
mod place;
mod python;
mod template;
mod trouble;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::expression::Expression;

pub use grammar::BREAKPOINT_HELP;
pub use hits::Hits;
pub use place::{At, BreakpointPlace};
pub use python::Python;
pub use template::Template;
pub use trouble::Trouble;

/// Before a call, or after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum When {
    Before,
    After,
}

impl When {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// On which sides of a call a breakpoint holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BreakpointSide {
    #[default]
    Before,
    After,
    Both,
}

impl BreakpointSide {
    pub const ALL: [BreakpointSide; 3] =
        [BreakpointSide::Before, BreakpointSide::After, BreakpointSide::Both];

    pub fn name(self) -> &'static str {
        self.into()
    }

    fn has(self, when: When) -> bool {
        match self {
            BreakpointSide::Both => true,
            BreakpointSide::Before => when == When::Before,
            BreakpointSide::After => when == When::After,
        }
    }

    fn is_before(&self) -> bool {
        *self == BreakpointSide::Before
    }
}

fn is_false(is: &bool) -> bool {
    !is
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakpointSpec {
    pub place: BreakpointPlace,
    #[serde(default, skip_serializing_if = "BreakpointSide::is_before")]
    pub side: BreakpointSide,
    /// Must be true for a hit.
    #[serde(default, rename = "if", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Expression>,
    /// The hits at which the breakpoint holds; `None`: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hits: Option<Hits>,
    /// Whether the breakpoint switches itself off after it has held.
    #[serde(default, skip_serializing_if = "is_false")]
    pub once: bool,
    /// Whether only the call that hits the breakpoint is held; all others run on.
    #[serde(default, skip_serializing_if = "is_false")]
    pub alone: bool,
    /// Text for the transcript. A breakpoint with such a text holds nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<Template>,
    /// Condition and text of a place within a program, in place of `if` and `log`.
    #[serde(default, skip_serializing_if = "Python::is_empty")]
    pub python: Python,
}

impl BreakpointSpec {
    pub fn at(place: BreakpointPlace) -> Self {
        Self {
            place,
            side: BreakpointSide::default(),
            condition: None,
            hits: None,
            once: false,
            alone: false,
            log: None,
            python: Python::default(),
        }
    }

    /// Whether the breakpoint may hold at this call.
    pub fn matches(&self, at: &At<'_>) -> bool {
        match self.place {
            // A problem has no side: it counts as soon as it is known.
            BreakpointPlace::Trouble(_) => self.place.is_at(at),
            _ => self.side.has(at.when) && self.place.is_at(at),
        }
    }

    /// Whether the breakpoint holds at its nth hit, from 1.
    pub fn holds_at(&self, nth: u32) -> bool {
        self.log.is_none() && self.python.log.is_none() && self.is_due(nth)
    }

    /// Whether the breakpoint does anything at its nth hit, from 1.
    pub fn is_due(&self, nth: u32) -> bool {
        self.hits.is_none_or(|hits| hits.holds(nth))
    }
}

#[cfg(test)]
mod tests;
