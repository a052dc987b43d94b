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
/// How often the terminal is asked for an answer while frames follow each other.
const ASKS: Duration = Duration::from_secs(1);
/// The same for a terminal that did not answer.
const ASKS_AGAIN: Duration = Duration::from_secs(10);
/// Bytes a second of frames that nobody waits for, where a network is in between and nothing tells how fast it is.
const RATE: u64 = 18_000;
/// The longest wait for the bytes of the last frame at that rate.
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

/// How soon a terminal answers a question that comes after a frame: only when it has read the frame, however far it is.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    /// The time of the last answer; `None`: it has not answered, or no longer answers.
    took: Option<Duration>,
    /// When it was asked; `None`: it has been answered since.
    asked: Option<Instant>,
    /// When to ask again.
    next: Option<Instant>,
}

/// The properties of a terminal that are known before the first frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerminalKind {
    /// Whether terminals of this name answer questions.
    pub answers: bool,
    /// Whether there is a network in between (ssh).
    pub is_far: bool,
}

/// When the last frame was, and how soon after it the next one is wanted.
#[derive(Debug, Default)]
pub struct Pace {
    terminal: TerminalKind,
    answers: Answers,
    last: Option<Instant>,
    /// `None`: nothing has changed.
    wait: Option<Duration>,
}

impl Pace {
    pub fn of(terminal: TerminalKind) -> Self {
        Self { terminal, ..Self::default() }
    }

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
        let due = last + wait.max(SHARE * taken.took);
        let read = match self.answers {
            // An answer, or that none comes, is noticed before that.
            Answers { took: Some(_), asked: Some(asked), .. } => asked + ASKS_AGAIN,
            Answers { took: Some(took), asked: None, .. } => last + took,
            Answers { took: None, .. } if self.terminal.is_far => {
                let sent = Duration::from_micros(taken.bytes as u64 * 1_000_000 / RATE);
                last + sent.min(OLDEST)
            }
            Answers { took: None, .. } => last,
        };
        Some(due.max(read).max(now))
    }

    /// A frame was drawn. True if the terminal is to be asked for an answer now: frames follow each other for which
    /// no person waits.
    pub fn drawn(&mut self, now: Instant) -> bool {
        let follows = self.last.is_some_and(|last| now.saturating_duration_since(last) < TICK);
        let is_awaited = self.wait == Some(FLOOD) || !follows;
        (self.last, self.wait) = (Some(now), None);
        let is_time = self.answers.next.is_none_or(|next| next <= now);
        self.terminal.answers && is_time && !is_awaited && self.answers.asked.is_none()
    }

    /// The terminal was asked for an answer.
    pub fn asked(&mut self, now: Instant) {
        (self.answers.asked, self.answers.next) = (Some(now), Some(now + ASKS));
    }

    /// The terminal has answered, or its time for that is over.
    pub fn answered(&mut self, now: Instant, is_answer: bool) {
        let Some(asked) = self.answers.asked.take() else { return };
        self.answers.took = is_answer.then(|| now.saturating_duration_since(asked));
        if !is_answer {
            self.answers.next = Some(now + ASKS_AGAIN);
        }
    }

    /// Whether the terminal owes an answer.
    pub fn is_asking(&self) -> bool {
        self.answers.asked.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: Taken = Taken { bytes: 0, took: Duration::ZERO };

    #[test]
    fn a_slow_terminal_gets_fewer_frames_but_for_keys() {
        let now = Instant::now();
        let mut pace = Pace::of(TerminalKind { answers: false, is_far: true });
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
        let mut near = Pace::default();
        near.drawn(now);
        near.soon();
        for (bytes, took, wait) in [(50_000, 0, 33), (50_000, 10, 33), (1_800, 300, 600)] {
            let taken = Taken { bytes, took: ms(took) };
            assert_eq!(near.due(now, None, taken), Some(now + ms(wait)), "{taken:?}");
        }
    }

    #[test]
    fn frames_follow_the_answers_of_a_terminal() {
        let (now, ms) = (Instant::now(), Duration::from_millis);
        let mut pace = Pace::of(TerminalKind { answers: true, is_far: true });
        assert!(!pace.drawn(now), "no frame was before the first");
        pace.soon();
        assert!(pace.drawn(now) && !pace.is_asking());
        pace.asked(now);
        assert!(!pace.drawn(now), "it is asked once at a time");
        pace.answered(now + ms(5), true);
        let large = Taken { bytes: 50_000, took: Duration::ZERO };
        pace.soon();
        assert_eq!(pace.due(now, None, large), Some(now + FRAME), "it answers soon");
        assert!(!pace.drawn(now + ms(33)), "a moment later it need not be asked");
        pace.soon();
        let later = now + ms(1_100);
        assert!(!pace.drawn(later), "no frame was shortly before");
        assert!(pace.drawn(later));
        pace.asked(later);
        pace.soon();
        assert!(pace.due(later, None, large) > Some(later + ms(2_000)), "it still reads");
        pace.at_once();
        assert_eq!(pace.due(later, None, large), Some(later + FLOOD), "a person waits");
        pace.wait = None;
        pace.soon();
        pace.answered(later + ms(700), true);
        assert_eq!(pace.due(later, None, large), Some(later + ms(700)), "it is slow");
        let last = later + ms(1_500);
        pace.drawn(last);
        assert!(pace.drawn(last));
        pace.asked(last);
        pace.answered(last + ms(3_000), false);
        pace.soon();
        assert_eq!(pace.due(last, None, large), Some(last + OLDEST), "nothing is known again");
        assert!(!pace.drawn(last + ms(4_000)) && !pace.is_asking());
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
