//! Input from the terminal: keys and the like go to the screen; answers about its colours change the theme.

use std::io;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::Event as Input;

use super::Loop;
use crate::inputs::{Inputs, TerminalEvent};
use crate::source::EndReason;
use crate::theme::{Rgb, detect};
use crate::view::Tone;

/// How long the first key of a sequence waits before the keys that may follow are shown.
const HINT: Duration = Duration::from_millis(300);

impl Loop {
    /// Takes in all arrived events of the terminal; returns how the screen ends, if an input ends it.
    pub(super) async fn inputs(
        &mut self,
        first: TerminalEvent,
        inputs: &mut Inputs,
    ) -> io::Result<Option<EndReason>> {
        let had_tour = self.guided.tour.is_some();
        let mut next = Some(first);
        while let Some(news) = next {
            match news {
                TerminalEvent::Input(input) => {
                    if let Some(end) = self.input(&input).await? {
                        return Ok(Some(end));
                    }
                }
                TerminalEvent::Ground(ground) => self.suit(ground)?,
                TerminalEvent::Answered | TerminalEvent::Silent => {
                    self.held = None;
                    self.pace.answered(Instant::now(), news == TerminalEvent::Answered);
                }
            }
            next = inputs.ready()?;
        }
        if had_tour && self.guided.tour.is_none() {
            let text = "the tour has ended: you control the session";
            self.front.screen.tell(Tone::Plain, text);
        }
        Ok(None)
    }

    /// Handles a key, a mouse event or a paste; returns how the screen ends, if the input ends it.
    async fn input(&mut self, input: &Input) -> io::Result<Option<EndReason>> {
        self.notice_focus(input);
        if !self.is_for_tour(input) {
            for effect in self.front.screen.handle(input) {
                if let Some(end) = self.effect(effect).await? {
                    return Ok(Some(end));
                }
            }
        }
        self.awaited = true;
        let waits = !self.front.screen.view.pending.is_empty() && !self.front.screen.view.hinted;
        self.hint = waits.then(|| Instant::now() + HINT);
        self.pace.at_once();
        Ok(None)
    }

    /// Gives a new message its time, after which the last line shows the keys again.
    pub(super) fn time_message(&mut self) {
        let view = &self.front.screen.view;
        if view.tells != self.hushed.0 {
            let stays = view.message().map(|message| message.tone.stays());
            self.hushed = (view.tells, stays.map(|stays| Instant::now() + stays));
        }
    }

    /// Gives the last line back to the keys.
    pub(super) fn hush(&mut self) {
        self.hushed.1 = None;
        self.front.screen.view.told = false;
        self.pace.at_once();
    }

    /// Takes the theme that suits the terminal's background.
    fn suit(&mut self, ground: Rgb) -> io::Result<()> {
        if !self.asks_ground {
            return Ok(());
        }
        let name = detect::suiting(ground);
        if let Some(behind) = &mut self.behind {
            behind.screen.suit(name);
        }
        if !self.front.screen.suit(name) {
            return Ok(());
        }
        self.pace.at_once();
        self.owned.redraw()
    }
}
