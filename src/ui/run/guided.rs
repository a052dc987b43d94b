//! A tour on the screen: it presses keys. The person may skip a wait or take over. At its end it writes a picture and a
//! recording.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use ratatui::crossterm::event::{Event as Input, KeyCode};

use super::Loop;
use crate::cast::Cast;
use crate::source::EndReason;
use crate::terminal::{self, SharedCast};
use crate::tour::{Tour, TourOutcome, TourStep};
use crate::view::Tone;

/// A tour, and its recording.
#[derive(Default)]
pub(super) struct Guided {
    pub tour: Option<Tour>,
    /// The time of the tour's next step.
    pub beat: Option<Instant>,
    cast: Option<SharedCast>,
    /// The size of the terminal at the start.
    size: (u16, u16),
}

impl Guided {
    /// Creates the guide, with a recording if there is a tour.
    pub fn new(tour: Option<Tour>) -> Self {
        let cast = tour.as_ref().map(|_| Arc::new(Mutex::new(Cast::begin())));
        Self { tour, beat: None, cast, size: terminal::size().unwrap_or_default() }
    }

    pub fn cast(&self) -> Option<SharedCast> {
        self.cast.clone()
    }
}

impl Loop {
    /// Presses the keys that are due in the tour; returns how the screen ends, if the tour ends it.
    pub(super) async fn guide(&mut self) -> io::Result<Option<EndReason>> {
        while let Some(tour) = &mut self.guided.tour {
            let screen = &mut self.front.screen;
            let turn = tour.guide.turn(Instant::now(), screen.live(), &screen.view);
            let said = tour.guide.line(screen.live(), &screen.view);
            screen.view.is_toured = true;
            if said != screen.view.caption {
                screen.view.caption = said;
                self.pace.soon();
            }
            match turn {
                TourStep::Wait(until) => {
                    self.guided.beat = until;
                    return Ok(None);
                }
                TourStep::Press(key) => {
                    for effect in self.front.screen.handle(&Input::Key(key.into())) {
                        if let Some(end) = self.effect(effect).await? {
                            return Ok(Some(end));
                        }
                    }
                    self.pace.at_once();
                }
                TourStep::Over => return Ok(self.end_tour()?.then_some(EndReason::ByUser)),
            }
        }
        Ok(None)
    }

    /// Whether the tour takes this input: enter skips a wait. Any other key ends the tour.
    pub(super) fn is_for_tour(&mut self, input: &Input) -> bool {
        let guided = &mut self.guided;
        if let (Input::Resize(columns, rows), Some(Ok(mut cast))) =
            (input, guided.cast.as_ref().map(|cast| cast.lock()))
        {
            cast.resized(*columns, *rows);
        }
        let Input::Key(key) = input else { return false };
        match &mut guided.tour {
            Some(tour) if key.code == KeyCode::Enter => {
                tour.guide.skip(Instant::now());
                return true;
            }
            Some(_) => (guided.tour, guided.beat) = (None, None),
            None => {}
        }
        // The last line of a tour stays until the next key.
        self.front.screen.view.caption = None;
        self.front.screen.view.is_toured = false;
        false
    }

    /// Writes the picture and the recording of a finished tour; true if the screen ends with it.
    fn end_tour(&mut self) -> io::Result<bool> {
        let Some(tour) = self.guided.tour.take() else { return Ok(false) };
        let screen = &mut self.front.screen;
        let verdict = tour.guide.verdict(screen.live(), &screen.view);
        screen.view.caption.clone_from(&verdict);
        screen.view.is_toured = false;
        // It ends the tour, so nothing is asked after it.
        self.pace.at_once();
        self.frame()?;
        let mut told = TourOutcome { verdict, ..TourOutcome::default() };
        let written = if tour.keeps { self.keep(&tour, &mut told) } else { Ok(()) };
        if let Err(error) = written {
            told.failed = Some(format!("{}: {error}", self.shots.display()));
        }
        let screen = &mut self.front.screen;
        match (&told.failed, told.files.first()) {
            (Some(why), _) => screen.tell(Tone::Bad, format!("no files written: {why}")),
            (None, Some(file)) => {
                let (file, name) = (file.display(), tour.guide.name());
                let text = format!("written: {file} and .cast · again: toolyard demo {name}");
                screen.tell(Tone::Good, text);
            }
            (None, None) => {
                screen.tell(Tone::Good, format!("again: toolyard demo {}", tour.guide.name()))
            }
        }
        let leaves = tour.leaves;
        if let Ok(mut all) = tour.told.lock() {
            *all = told;
        }
        Ok(leaves)
    }
    /// Writes the last picture and the recording.
    fn keep(&mut self, tour: &Tour, told: &mut TourOutcome) -> io::Result<()> {
        let picture = self.picture()?;
        let cast = picture.with_extension("cast");
        told.files.push(picture);
        if let Some(Ok(recording)) = self.guided.cast.as_ref().map(|cast| cast.lock()) {
            recording.write(
                &cast,
                &format!("toolyard demo {}", tour.guide.name()),
                self.guided.size,
            )?;
            told.files.push(cast);
        }
        Ok(())
    }
}
