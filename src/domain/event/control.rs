//! Whether the agent runs, and where it is held.

use crate::id::RunId;

use super::{Boundary, By, Lane, Resume, family::family};

family! {
    /// Whether the agent runs, and where it is held.
    pub enum ControlEvent {
        /// The agent runs on.
        Resumed {
            how: Resume,
            by: By,
            /// The only run that resumes; `None`: all runs.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            run: Option<RunId>,
        },
        /// Every lane will hold at its next boundary; running effects are not killed.
        PauseRequested {
            by: By,
            /// The only run whose lanes will hold; `None`: all runs.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            run: Option<RunId>,
        },
        /// Every lane holds.
        Paused {
            /// The only run whose lanes hold; `None`: all runs.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            run: Option<RunId>,
        },
        /// A lane reached a boundary and waits.
        Held {
            lane: Lane,
            boundary: Boundary,
        },
        Released {
            lane: Lane,
        },
        /// The user holds one lane: it waits at its next boundary independent of the others.
        LanePaused {
            lane: Lane,
            by: By,
        },
        /// The lane may continue with the others.
        LaneResumed {
            lane: Lane,
            by: By,
        },
    }
}
