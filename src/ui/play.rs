//! A record that plays: the moment looked at goes on by itself, in the time that passed then, or faster.

use std::time::{Duration, Instant};

/// The longest wait for an event: a person may have thought for minutes.
const LONGEST: Duration = Duration::from_secs(2);
/// The least time between two frames.
const BEAT: Duration = Duration::from_millis(33);
/// The speeds are 2 to the power of these.
const SLOWEST: i32 = -2;
const FASTEST: i32 = 6;
/// The most events between two looks at the keyboard.
const AT_ONCE: usize = 4096;

/// The playing of a record, and its speed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Play {
    exponent: i32,
    from: Option<PlayPlace>,
}

/// An event, its time in the record, and when it was shown.
#[derive(Clone, Copy, Debug)]
struct PlayPlace {
    n: u64,
    micros: u64,
    shown: Instant,
}

impl Play {
    pub fn is_on(&self) -> bool {
        self.from.is_some()
    }

    /// The speed, as `×4`.
    pub fn speed(&self) -> String {
        match self.exponent {
            slow @ ..0 => format!("×1/{}", 1_u64 << slow.unsigned_abs().min(31)),
            fast => format!("×{}", 1_u64 << fast.unsigned_abs().min(31)),
        }
    }

    /// Stops it; false if it did not play.
    pub fn stop(&mut self) -> bool {
        self.from.take().is_some()
    }

    /// Plays on from this event, which was at this time of the record.
    pub fn start(&mut self, n: u64, micros: u64, shown: Instant) {
        self.from = Some(PlayPlace { n, micros, shown });
    }

    /// Doubles the speed so many times.
    pub fn turn(&mut self, by: i32) {
        self.exponent = (self.exponent + by).clamp(SLOWEST, FASTEST);
    }

    /// The event that is due now, and when the next one is due. `None`: it does not play, or nothing comes after `moment`.
    /// `micros`: the time of an event in the record.
    pub fn goes_on(
        &mut self,
        moment: u64,
        last: u64,
        now: Instant,
        micros: impl Fn(u64) -> Option<u64>,
    ) -> Option<(u64, Instant)> {
        let mut place = self.from?;
        // A person has gone elsewhere.
        if place.n != moment {
            place = PlayPlace { n: moment, micros: micros(moment)?, shown: now };
        }
        let factor = 2_f64.powi(-self.exponent);
        for _ in 0..AT_ONCE {
            let next = place.n + 1;
            let at = if next <= last { micros(next)? } else { return None };
            let wait = Duration::from_micros(at.saturating_sub(place.micros)).mul_f64(factor);
            let due = place.shown + wait.min(LONGEST);
            if due > now {
                self.from = Some(place);
                return Some((place.n, due.max(now + BEAT)));
            }
            place = PlayPlace { n: next, micros: at, shown: due };
        }
        self.from = Some(PlayPlace { shown: now, ..place });
        Some((place.n, now + BEAT))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each event comes once and in order, whatever the times are, and none before its time has passed.
        #[test]
        fn a_record_plays_each_event_in_its_time(
            times in prop::collection::vec(0_u64..5_000_000, 2..60),
            exponent in SLOWEST..=FASTEST,
            beats in prop::collection::vec(1_u64..400, 1..200),
        ) {
            let last = times.len() as u64;
            let micros = |n: u64| times.get(usize::try_from(n).unwrap() - 1).copied();
            let begun = Instant::now();
            let from = PlayPlace { n: 1, micros: times[0], shown: begun };
            let mut play = Play { exponent, from: Some(from) };
            let (mut moment, mut now) = (1, begun);
            for beat in beats {
                now += Duration::from_millis(beat);
                let Some((n, due)) = play.goes_on(moment, last, now, micros) else { break };
                prop_assert!(n >= moment && due > now);
                let passed: Duration = (2..=n).map(|n| {
                    let wait = micros(n).unwrap().saturating_sub(micros(n - 1).unwrap());
                    Duration::from_micros(wait).mul_f64(2_f64.powi(-exponent)).min(LONGEST)
                }).sum();
                prop_assert!(passed <= now - begun + Duration::from_micros(1));
                moment = n;
            }
        }
    }

    #[test]
    fn it_ends_after_the_last_event_and_goes_on_where_a_person_went() {
        let now = Instant::now();
        let from = PlayPlace { n: 1, micros: 0, shown: now };
        let mut play = Play { exponent: 0, from: Some(from) };
        let micros = |n: u64| Some(n * 1_000_000);
        assert_eq!(play.goes_on(7, 9, now, micros).map(|(n, _)| n), Some(7));
        let later = now + Duration::from_secs(1);
        assert_eq!(play.goes_on(7, 9, later, micros).map(|(n, _)| n), Some(8));
        assert_eq!(play.goes_on(9, 9, later, micros), None);
        for (turns, speed) in [(0, "×1"), (2, "×4"), (9, "×64"), (-99, "×1/4")] {
            let mut play = Play::default();
            play.turn(turns);
            assert_eq!(play.speed(), speed);
        }
    }
}
