//! The moment of a screen whose record plays.

use std::time::Instant;

use super::screen::Screen;

impl Screen {
    /// Goes to the moment that is due now, if the record plays. Returns when to look again.
    pub fn beat(&mut self, now: Instant) -> Option<Instant> {
        let (last, moment) = (self.live().n, self.view.moment);
        let history = &self.history;
        let micros = |n| history.at(n).map(|record| record.at);
        let mut play = self.view.play;
        let due = moment.and_then(|moment| play.goes_on(moment, last, now, micros));
        if self.view.play.is_on() {
            let n = due.map(|(n, _)| n);
            if std::mem::replace(&mut self.view.moment, n) != n {
                self.look();
            }
        }
        if due.is_none() {
            play.stop();
        }
        self.view.play = play;
        due.map(|(_, due)| due)
    }
}
