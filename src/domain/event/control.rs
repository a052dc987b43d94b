//! Whether the agent runs, and where it is held.

use super::{Boundary, By, Lane, Resume, family::family};

family! {
    /// Whether the agent runs, and where it is held.
    pub enum ControlEvent {
        /// The agent goes on.
        Resumed {
            how: Resume,
            by: By,
        },
        /// It will hold at the next boundary of every lane; what runs is not killed.
        PauseRequested {
            by: By,
        },
        /// Every lane holds.
        Paused {},
        /// A lane came to a boundary and waits.
        Held {
            lane: Lane,
            boundary: Boundary,
        },
        Released {
            lane: Lane,
        },
        /// The user holds one lane back: it waits at its next boundary whatever the others do.
        LanePaused {
            lane: Lane,
            by: By,
        },
        /// It may go on with the others.
        LaneResumed {
            lane: Lane,
            by: By,
        },
    }
}
