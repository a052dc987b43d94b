//! A guided session: the tour presses keys in place of the person, with a line that says what happens. The person can
//! take over at any moment.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::{key::Key, view::View};
use crate::domain::State;

/// Guide of a tour: presses the keys, and says what happens.
pub trait Guide {
    /// The name in the command that repeats the tour.
    fn name(&self) -> &str;

    /// Returns the next step at this moment.
    fn turn(&mut self, now: Instant, state: &State, view: &View) -> TourStep;

    /// Ends the present wait, since the person does not want to wait any longer.
    fn skip(&mut self, now: Instant);

    /// Line that is shown now: `3/7  search_web has failed 3 times`.
    fn line(&self, state: &State, view: &View) -> Option<String>;

    /// Last line of the guide.
    fn verdict(&self, state: &State, view: &View) -> Option<String>;
}

/// Next step in a tour.
#[derive(Debug, PartialEq)]
pub enum TourStep {
    /// Wait until this moment, or until something happens.
    Wait(Option<Instant>),
    Press(Key),
    Over,
}

/// A tour that runs.
pub struct Tour {
    pub guide: Box<dyn Guide>,
    /// Whether the screen ends with the tour.
    pub leaves: bool,
    /// Whether a picture and a recording are written at its end.
    pub keeps: bool,
    pub told: Arc<Mutex<TourOutcome>>,
}

/// Outcome of a tour, printed after the screen has ended.
#[derive(Clone, Debug, Default)]
pub struct TourOutcome {
    /// The last line of the tour, if it came to its end.
    pub verdict: Option<String>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Why a file could not be written.
    pub failed: Option<String>,
}
