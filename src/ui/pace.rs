//! When to draw. Handlers request a frame and never draw. One frame shows all changes since the last; without a request
//! there is none.

use std::time::{Duration, Instant};

/// The shortest time between two frames without a key press: 30 a second.
pub const FRAME: Duration = Duration::from_millis(33);
/// The shortest time between any two frames: keys that come in a flood, as from the wheel or from unmarked pastes, are
/// shown together. The first of them does not wait.
pub const FLOOD: Duration = Duration::from_millis(8);
/// A terminal spends at most one part in this many of its time on reading.
const SHARE: u32 = 2;
/// Bytes a second of frames that nobody waits for, since a slow network may be in between.
const RATE: u64 = 18_000;
/// The longest wait for the bytes of the last frame: a screen is never older.
const OLDEST: Duration = Duration::from_millis(400);
/// How often running times are redrawn.
pub const TICK: Duration = Duration::from_millis(250);

/// Cost of the last frame for the terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    pub bytes: usize,
    /// How long the terminal took for it.
    pub took: Duration,
}

/// When the last frame was, and how soon after it the next one is wanted.
#[derive(Debug, Default)]
pub struct Pace {
    last: Option<Instant>,
    /// `None`: nothing has changed.
    wait: Option<Duration>,
}

impl Pace {
    /// Requests a frame for a change that no person waits for.
    pub fn soon(&mut self) {
        self.wait = self.wait.or(Some(FRAME));
    }

    /// Requests a frame at once, for a change that a person waits to see.
    pub fn at_once(&mut self) {
        self.wait = Some(FLOOD);
    }

    /// The time of the next frame; `None`: none is requested. `ticks`: how often something on the screen changes by
    /// time alone. `taken`: the cost of the last frame; the terminal gets as much time again to catch up, unless a
    /// person waits.
    pub fn due(&self, now: Instant, ticks: Option<Duration>, taken: Taken) -> Option<Instant> {
        let Some(last) = self.last else { return Some(now) };
        let wait = self.wait.or(ticks)?;
        if wait == FLOOD {
            return Some((last + wait).max(now));
        }
        let sent = Duration::from_micros(taken.bytes as u64 * 1_000_000 / RATE).min(OLDEST);
        Some((last + wait.max(SHARE * taken.took).max(sent)).max(now))
    }

    /// A frame was drawn.
    pub fn drawn(&mut self, now: Instant) {
        *self = Self { last: Some(now), wait: None };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Taken = Taken { bytes: 0, took: Duration::ZERO };

    #[test]
    fn a_slow_terminal_gets_fewer_frames_but_for_keys() {
        let now = Instant::now();
        let mut pace = Pace::default();
        pace.drawn(now);
        pace.soon();
        let ms = Duration::from_millis;
        for (bytes, took, wait) in
            [(500, 0, 33), (1_800, 0, 100), (50_000, 0, 400), (1_800, 300, 600)]
        {
            let taken = Taken { bytes, took: ms(took) };
            assert_eq!(pace.due(now, None, taken), Some(now + ms(wait)), "{taken:?}");
        }
        pace.at_once();
        let taken = Taken { bytes: 50_000, took: ms(300) };
        assert_eq!(pace.due(now, None, taken), Some(now + FLOOD));
    }

    #[test]
    fn the_first_frame_is_due_at_once_and_then_none() {
        let now = Instant::now();
        let mut pace = Pace::default();
        assert_eq!(pace.due(now, None, FAST), Some(now));
        pace.drawn(now);
        assert_eq!(pace.due(now + TICK, None, FAST), None);
        assert_eq!(pace.due(now, Some(TICK), FAST), Some(now + TICK));
    }

    #[test]
    fn a_flood_is_drawn_thirty_times_a_second_and_keys_at_once() {
        let start = Instant::now();
        let mut pace = Pace::default();
        let mut frames = 0;
        for ms in 0..1000 {
            let now = start + Duration::from_millis(ms);
            pace.soon();
            if pace.due(now, None, FAST).is_some_and(|due| due <= now) {
                pace.drawn(now);
                frames += 1;
            }
        }
        assert!((29..=31).contains(&frames), "{frames}");
        let now = start + Duration::from_secs(2);
        pace.at_once();
        pace.soon();
        assert_eq!(pace.due(now, None, FAST), Some(now), "the first key does not wait");
        pace.drawn(now);
        pace.at_once();
        assert_eq!(
            pace.due(now, None, FAST),
            Some(now + FLOOD),
            "those right behind it are shown together"
        );
    }
}
