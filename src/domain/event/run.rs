//! Runs: agents at work in one session.

use super::family::family;
use crate::id::RunId;
use crate::strategy::Strategy;

family! {
    /// Runs beside the first, which every session has.
    pub enum RunEvent {
        /// A run joined; its tasks are those that name it.
        RunOpened {
            run: RunId,
            /// Its own strategy; without one, that of the session.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            strategy: Option<Strategy>,
        },
    }
}
