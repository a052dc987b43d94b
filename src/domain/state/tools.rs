//! Tools and the totals of their calls.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event::{ClassAssignment, ClassedBy};
use crate::finite::Finite;
use crate::{probe::KnownSchema, spec::ToolSpec, target::Aim};

/// State of a tool, with the totals of its calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolState {
    pub spec: Arc<ToolSpec>,
    /// False once its manifest is gone; the tool stays known, since past events name it.
    pub present: bool,
    /// False while the user excludes it from every menu.
    pub switched_on: bool,
    /// Class of the tool, once assigned.
    pub class: Option<ClassAssignment>,
    /// Calls that ran, ended or not.
    pub started: u32,
    pub succeeded: u32,
    /// Calls that ran and failed.
    pub failed: u32,
    /// Calls that were refused, or cancelled before they ran.
    pub refused: u32,
    /// Own time of all ended calls together, in microseconds.
    pub micros: u64,
    /// Own cost of all calls that ran, in credits.
    pub credits: Finite,
    /// Schema of the tool's results, as learned by probing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<KnownSchema>,
}

impl ToolState {
    pub(super) fn new(spec: Arc<ToolSpec>) -> Self {
        let declared = spec.class.trim();
        let class = (!declared.is_empty()).then(|| ClassAssignment {
            class: declared.to_owned(),
            domain: None,
            by: ClassedBy::Declared,
        });
        Self {
            spec,
            class,
            present: true,
            switched_on: true,
            started: 0,
            succeeded: 0,
            failed: 0,
            refused: 0,
            micros: 0,
            credits: 0.0.into(),
            learned: None,
        }
    }

    /// Notes a class, unless a source of higher precedence has assigned one.
    pub(super) fn classify(&mut self, class: &ClassAssignment) {
        if self.class.as_ref().is_none_or(|known| known.by <= class.by) {
            self.class = Some(class.clone());
        }
    }

    /// The properties of its calls that a fault's target compares.
    pub fn aim(&self) -> Aim<'_> {
        let (tool, effect) = (Some((&self.spec.name, self.class.as_ref())), Some(self.spec.effect));
        let (mcp, served_as) = (self.spec.mcp_server(), self.spec.served_as.as_ref());
        Aim { tool, effect, mcp, served_as, ..Aim::default() }
    }

    /// The mean own time of the calls that ended, in microseconds.
    pub fn mean_micros(&self) -> Option<u64> {
        self.micros.checked_div(u64::from(self.succeeded) + u64::from(self.failed))
    }

    /// Whether it may be on a menu.
    pub fn is_offered(&self) -> bool {
        self.present && self.switched_on && self.spec.disabled.is_none()
    }
}
