//! A tool's class, and the source of that assignment.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The class of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassAssignment {
    pub class: String,
    /// A part of the class, if it has parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    pub by: ClassedBy,
}

impl ClassAssignment {
    /// The class and, if any, its domain.
    pub fn name(&self) -> String {
        match &self.domain {
            Some(domain) => format!("{} / {domain}", self.class),
            None => self.class.clone(),
        }
    }
}

/// Author of a tool's class. Later variants take precedence over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ClassedBy {
    /// The classifier, in an earlier session.
    Kept,
    /// The classifier.
    Model,
    /// The tool's manifest.
    Declared,
    /// The user.
    User,
}

impl ClassedBy {
    pub fn name(self) -> &'static str {
        self.into()
    }
}
