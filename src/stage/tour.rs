//! The steps of a guided session. Nothing else is prepared: the agent, the faults and the verdicts are real ones of any
//! session.

use std::time::{Duration, Instant};

use crate::domain::{Speed, State};
use crate::ui::tour::{Guide, TourStep};
use crate::ui::{key::Key, view::View};

/// How long a line is shown before its keys are pressed, and at least after that, at speed 1.
const READ: Duration = Duration::from_millis(3500);
/// The time between two keys, at speed 1.
const BETWEEN: Duration = Duration::from_millis(150);

/// A step of a tour.
pub struct Beat {
    /// Keys to press, as people write them.
    pub keys: &'static str,
    /// The line of text, according to the session's state.
    pub says: fn(&State, &View) -> String,
    /// Whether the beat's condition holds, so that the tour continues.
    pub until: fn(&State, &View) -> bool,
}

/// Steps that are taken one after the other.
pub struct Steps {
    name: &'static str,
    beats: Vec<Beat>,
    at: usize,
    /// Remaining keys of this beat, the next one last.
    keys: Vec<Key>,
    /// Earliest time of the next key or beat.
    due: Instant,
}

impl Steps {
    /// The steps of the demo of this name.
    ///
    /// # Errors
    /// A beat has an invalid key.
    pub fn new(name: &'static str, beats: Vec<Beat>) -> Result<Self, String> {
        let due = Instant::now() + READ;
        let mut steps = Self { name, beats, at: 0, keys: Vec::new(), due };
        steps.keys = steps.pressed(0)?;
        for at in 0..steps.beats.len() {
            steps.pressed(at)?;
        }
        Ok(steps)
    }

    /// The keys of a beat, in reverse order.
    fn pressed(&self, at: usize) -> Result<Vec<Key>, String> {
        let keys = self.beats.get(at).map_or("", |beat| beat.keys);
        keys.split_whitespace().rev().map(str::parse).collect()
    }

    fn go_on(&mut self, now: Instant, state: &State) {
        self.at += 1;
        // The keys were parsed when the tour was made.
        self.keys = self.pressed(self.at).unwrap_or_default();
        self.due = now + scaled(READ, state);
    }
}

impl Guide for Steps {
    fn name(&self) -> &str {
        self.name
    }

    fn turn(&mut self, now: Instant, state: &State, view: &View) -> TourStep {
        loop {
            let Some(beat) = self.beats.get(self.at) else { return TourStep::Over };
            if now < self.due {
                return TourStep::Wait(Some(self.due));
            }
            if let Some(key) = self.keys.pop() {
                let pause = if self.keys.is_empty() { READ } else { BETWEEN };
                self.due = now + scaled(pause, state);
                return TourStep::Press(key);
            }
            if !(beat.until)(state, view) {
                return TourStep::Wait(None);
            }
            self.go_on(now, state);
        }
    }

    fn skip(&mut self, now: Instant) {
        self.due = now;
    }

    fn line(&self, state: &State, view: &View) -> Option<String> {
        let beat = self.beats.get(self.at).or(self.beats.last())?;
        let at = (self.at + 1).min(self.beats.len());
        Some(format!("{at}/{}  {}", self.beats.len(), (beat.says)(state, view)))
    }

    fn verdict(&self, state: &State, view: &View) -> Option<String> {
        self.beats.last().map(|beat| (beat.says)(state, view))
    }
}

fn scaled(time: Duration, state: &State) -> Duration {
    let speed = state.knobs.choice::<Speed>().factor().unwrap_or(16.0);
    time.div_f64(speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tour() -> Steps {
        let beats = vec![
            Beat {
                keys: "a b",
                says: |_, _| "one".to_owned(),
                until: |state, _| state.tasks_done > 0,
            },
            Beat { keys: "", says: |state, _| state.tasks_done.to_string(), until: |_, _| true },
        ];
        Steps::new("test", beats).unwrap()
    }

    #[test]
    fn keys_are_pressed_one_after_the_other_and_then_it_waits() {
        let (mut tour, mut state, view) = (tour(), State::default(), View::default());
        let start = Instant::now();
        let key = |text: &str| TourStep::Press(text.parse().unwrap());
        assert!(matches!(tour.turn(start, &state, &view), TourStep::Wait(Some(_))));
        assert_eq!(tour.line(&state, &view).unwrap(), "1/2  one");
        let later = start + READ;
        assert_eq!(tour.turn(later, &state, &view), key("a"));
        assert_eq!(tour.turn(later + READ, &state, &view), key("b"));
        assert_eq!(tour.turn(later + 3 * READ, &state, &view), TourStep::Wait(None));
        state.tasks_done = 1;
        let last = later + 3 * READ;
        assert!(matches!(tour.turn(last, &state, &view), TourStep::Wait(Some(_))));
        assert_eq!(tour.line(&state, &view).unwrap(), "2/2  1");
        tour.skip(last);
        assert_eq!(tour.turn(last, &state, &view), TourStep::Over);
        assert_eq!(tour.verdict(&state, &view).unwrap(), "1");
    }

    #[test]
    fn a_key_that_is_none_is_told_at_once() {
        let beat = Beat { keys: "a nokey", says: |_, _| String::new(), until: |_, _| true };
        assert!(Steps::new("test", vec![beat]).is_err());
    }
}
