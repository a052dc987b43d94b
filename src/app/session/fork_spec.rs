//! The description of a fork, as plain data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fork_edit::ForkEdit;
use super::spec_fields;
use crate::domain::call_policy::CallPolicy;
use crate::domain::{EffectId, Knob, ModelName, Role, Strategy};

/// The moment of an earlier session from which this one goes on, and what changes there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForkSpec {
    /// The journal of that session.
    pub of: PathBuf,
    /// The number of the event after which the session goes its own way.
    pub at: u64,
    /// The call that is meant, in place of that event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<EffectId>,
    /// Changes, in their order.
    #[serde(with = "spec_fields::texts")]
    pub set: Vec<ForkEdit>,
    /// The source of the answers to calls that come later.
    pub calls: CallPolicy,
    pub strategy: Option<Strategy>,
    /// The seed of all randomness from there on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    pub roles: BTreeMap<Role, ModelName>,
    #[serde(with = "spec_fields::knobs")]
    pub knobs: BTreeMap<Knob, f64>,
}
