//! A recorded model call, asked again: several times, of its own model or of others. Nothing goes on from a reply: no
//! tool is called, and no session continues.
//!
//! ```text
//! records ──► RecordedCall ──► Candidate, one for each model ──► ask ──► AskedReply ──► AskTally
//! ```
//!
//! Only [`asking`] has effects: it calls models, as many at once as it is told. Everything else is pure.

use toolyard_domain as domain;
use toolyard_model as model;
use toolyard_wire as wire;

pub mod asking;
pub mod candidate;
pub mod choice;
pub mod recorded_call;
pub mod tally;
mod unsent;
